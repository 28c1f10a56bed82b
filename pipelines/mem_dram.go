package pipelines

// writeBack books DRAM bandwidth for dirty sectors that L2 throws out.
func (m *MemPath) writeBack(sectors int, t *MemTiming) {
	m.far.dramFree += ticks(sectors) * m.par.dramSectorTicks
	t.DRAMBytes += sectors * int(m.par.sectorBytes)
}
