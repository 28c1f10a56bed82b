package pipelines

// fromDRAM books DRAM for sectors of a line that L2 lacks and returns when the last one arrives at the SM.
func (m *MemPath) fromDRAM(line uint64, sectors int, now ticks) ticks {
	p, f := &m.par, &m.far
	f.dramFree = max(now, f.dramFree) + ticks(sectors)*p.dramSectorTicks
	return f.dramFree - p.dramSectorTicks + ticks(p.dramLatency+jitter(line, p.dramJitter))*ticksCycle
}

// writeBack books DRAM for dirty sectors that L2 throws out. Nobody waits for them, but reads behind them do.
func (m *MemPath) writeBack(sectors int, t *MemTiming) {
	m.far.dramFree += ticks(sectors) * m.par.dramSectorTicks
	t.DRAMBytes += sectors * int(m.par.sectorBytes)
}
