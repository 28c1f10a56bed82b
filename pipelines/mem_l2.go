package pipelines

import "math/bits"

// memFar is what an SM sees of L2 and DRAM: two servers with this SM's share of bandwidth.
type memFar struct {
	l2Free   ticks
	dramFree []ticks // next free time of each queue of DRAM, see memParams.dramQueues
}

// fetch reads sectors of a line from L2 or DRAM; the request leaves the SM at the given cycle. It returns when the last
// sector arrives.
func (m *MemPath) fetch(line uint64, sectors uint32, at uint64, t *MemTiming) uint64 {
	p, f := &m.par, &m.far
	n := sectorCount(sectors)
	hits, latency := m.lookupL2(line, sectors, false, t)
	now := ticks(at) * ticksCycle
	start := max(now, f.l2Free)
	f.l2Free = start + max(ticks(n)*p.l2SectorTicks, p.l2RequestTicks)
	done := start + ticks(n-1)*p.l2SectorTicks + ticks(latency+jitter(line, p.l2Jitter))*ticksCycle
	if own := m.ownMisses(n-hits, t); own > 0 {
		t.Level = max(t.Level, LevelDRAM)
		done = max(done, m.fromDRAM(line, own, now))
	} else {
		t.Level = max(t.Level, LevelL2)
	}
	return done.cycle()
}

// lookupL2 looks the sectors up and brings in what is missing. It returns how many were there and the latency of a hit.
func (m *MemPath) lookupL2(line uint64, sectors uint32, write bool, t *MemTiming) (hits int, latency uint64) {
	p := &m.par
	n := sectorCount(sectors)
	t.L2Sectors += n
	l2line := line
	if k := p.l2LineShift - p.lineShift; k > 0 {
		sectors <<= (line & (1<<k - 1)) << (p.lineShift - p.sectorShift)
		l2line >>= k
	}
	latency = p.l2Latency
	hit, victim := m.l2.find(l2line)
	missing := sectors
	switch {
	case hit != nil:
		missing &^= hit.sectors
	case victim != nil:
		if dirty := m.l2.replace(victim, l2line); dirty != 0 {
			m.writeBack(l2line, sectorCount(dirty), t)
		}
		hit = victim
	}
	if missing != 0 && p.warm {
		if there, far := p.warmIn(l2line); there {
			missing = 0
			if far {
				latency = p.l2LatencyFar
			}
		} else {
			m.evictOld(l2line, sectorCount(missing), t)
		}
	}
	m.moved += uint64(n)
	if write {
		m.stored += uint64(n)
	}
	if hit != nil {
		hit.sectors |= sectors
		if write {
			hit.dirty |= sectors
		}
	}
	hits = n - sectorCount(missing)
	t.L2SectorHits += hits
	return hits, latency
}

// warmIn says whether a line of a launch that ran before is still in L2 and whether only the far partition has it.
// A cyclic walk over a footprint just above the capacity keeps a part: measured on the H200, hits fall to nothing
// when the footprint exceeds the capacity by warmSpread.
func (p *memParams) warmIn(line uint64) (there, far bool) {
	if p.footprint == 0 || p.l2Total == 0 {
		return true, false
	}
	h := hashLine(line)
	footprint := p.footprint
	over := func(capacity uint64, spread float64) bool { // line is among those thrown out of this capacity
		if footprint <= capacity {
			return false
		}
		excess := float64(footprint-capacity) / (spread * float64(capacity))
		return float64(h&0xffff)/0x10000 < excess
	}
	if p.chip && p.l2Near > 0 {
		footprint += p.read / 2
		return !over(uint64(chipFull*float64(p.l2Total)), chipSpread), false
	}
	if over(p.l2Total, warmSpread) {
		return false, false
	}
	return true, p.l2LatencyFar > p.l2Latency && p.l2Near > 0 && over(p.l2Near, warmSpread)
}

// How far above a capacity, as a part of it, hits fall to nothing: walks of one SM and kernels on the whole H200.
//
// With the whole chip at work a line that an SM reads is in that SM's partition and in its own: every second line read is there
// twice, written lines once. Repeated launches keep everything up to chipFull of the capacity in such copies, nothing from (1 +
// chipSpread) times that (both are fits: launches of scan, transpose, saxpyi, funnelcopy, hist and conv1d keep 100, 75, 65, 50, 0, 0, 0 % at
// 36, 44, 49, 54, 65, 68, 69 MB of copies; residual 10 points).
const (
	warmSpread = 0.2
	chipFull   = 0.625
	chipSpread = 0.75
)

// jitter spreads a latency over lines, evenly from 0 to below the spread: L2 slices lie at different distances, DRAM banks are
// in different states.
func jitter(line, spread uint64) uint64 {
	if spread == 0 {
		return 0
	}
	return hashLine(line) >> 20 % spread
}

// hashLine mixes a line number (multiplication by the golden ratio, as in Fibonacci hashing).
func hashLine(line uint64) uint64 {
	h := line * 0x9e3779b97f4a7c15
	return h ^ h>>32
}

func sectorCount(mask uint32) int { return bits.OnesCount32(mask) }
