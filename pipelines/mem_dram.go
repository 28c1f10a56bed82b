package pipelines

// ownMisses counts L2 misses of a read: how many of the sectors this SM has to get from DRAM itself. When the whole chip runs
// the launch and its data fits L2, each byte comes from DRAM once, for the SM that asks first. So an SM brings in its part of
// the data and no more; the rest of its misses find what others have brought in. (In the NCC kernels on a cold H200, whose
// SMs share the image, that is three misses in five.)
func (m *MemPath) ownMisses(sectors int, t *MemTiming) (own int) {
	own = sectors
	if m.budget >= 0 {
		own = min(own, int(m.budget/int64(m.par.sectorBytes)))
		m.budget -= int64(own) * int64(m.par.sectorBytes)
	}
	t.L2SectorHits += sectors - own
	t.DRAMBytes += own * int(m.par.sectorBytes)
	return own
}

// fromDRAM books DRAM for sectors of a line and returns when the last one arrives at the SM.
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

// evictOld is for sectors that take the place of what the last launch left in L2. As large a part of that was written, and
// has to go to DRAM first, as this launch writes.
func (m *MemPath) evictOld(sectors int, t *MemTiming) {
	if m.stored == 0 {
		return
	}
	m.far.dramFree += ticks(uint64(sectors) * m.stored * uint64(m.par.dramSectorTicks) / m.moved)
	m.oldDirty += uint64(sectors) * m.stored
	if out := m.oldDirty / m.moved; out > 0 {
		m.oldDirty -= out * m.moved
		t.DRAMBytes += int(out) * int(m.par.sectorBytes)
	}
}
