package pipelines

import "github.com/sarchlab/smsim/isa"

// cacheLine is one line of a sectored cache.
type cacheLine struct {
	tag     uint64 // line number + 1; 0: empty
	used    uint64 // stamp of the last use
	ready   uint64 // cycle at which the last sector asked for has arrived
	sectors uint32 // sectors present or under way
	dirty   uint32 // sectors written and not yet written back
	asked   ticks  // L2: when DRAM was last asked for a part of it
	block   int32  // L2: block that first updated the line atomically, or lineUntouched, lineShared
}

// Values of cacheLine.block that are no block.
const (
	lineUntouched = -1
	lineShared    = -2
)

// sectorCache is a set-associative cache of lines with sectors, least recently used line replaced. Sets are made
// when they are first touched, so a large cache costs what the footprint needs.
type sectorCache struct {
	ways   int
	sets   uint64
	pages  [][]cacheLine // groups of setsPage sets
	others int           // sets besides its own in which a line may lie
	stamp  uint64
}

const setsPage = 8

// newSectorCache makes a cache of the given bytes; 0 bytes hold nothing.
func newSectorCache(bytes, lineBytes, ways int) sectorCache {
	c := sectorCache{ways: ways}
	if bytes <= 0 {
		return c
	}
	lines := max(bytes/lineBytes, 1)
	c.ways = min(ways, lines)
	c.sets = uint64(lines / c.ways)
	c.pages = make([][]cacheLine, (c.sets+setsPage-1)/setsPage)
	return c
}

// empty is a cache of the same shape that holds nothing.
func (c *sectorCache) empty() sectorCache {
	return sectorCache{ways: c.ways, sets: c.sets, pages: make([][]cacheLine, len(c.pages)), others: c.others}
}

// alternatives are the sets besides its own in which a line of L1 may lie.
const alternatives = 3

// balanced lets a line that finds its set full go to others that have room: the H200's L1 holds as many lines as it has bytes for at any
// distance of a power of two, and blocks of them at any distance, but a walk over more than that loses four lines for each that is too many, as
// sets of three do.
func (c sectorCache) balanced() sectorCache {
	c.others = alternatives
	return c
}

// set is the entries of a set.
func (c *sectorCache) set(n uint64) []cacheLine {
	page := &c.pages[n/setsPage]
	if *page == nil {
		*page = make([]cacheLine, setsPage*c.ways)
	}
	at := int(n%setsPage) * c.ways
	return (*page)[at : at+c.ways]
}

// other is the k-th set besides its own in which a line may lie.
func (c *sectorCache) other(line uint64, k int) uint64 { return hashLine(line) >> (13 * k) % c.sets }

// among looks for a line in a set: its entry, or the one that was used longest ago.
func among(set []cacheLine, line uint64) (hit, oldest *cacheLine) {
	oldest = &set[0]
	for i := range set {
		w := &set[i]
		if w.tag == line+1 {
			return w, nil
		}
		if w.used < oldest.used {
			oldest = w
		}
	}
	return nil, oldest
}

// find returns the line's entry, or nil, and the entry that a new line would replace (nil in a cache of no size).
func (c *sectorCache) find(line uint64) (hit, victim *cacheLine) {
	if c.sets == 0 {
		return nil, nil
	}
	hit, victim = among(c.set(line%c.sets), line)
	for k := 0; k < c.others && hit == nil; k++ {
		there, oldest := among(c.set(c.other(line, k)), line)
		if there != nil {
			hit = there
		} else if victim.used > 0 && c.idle(oldest) && !c.idle(victim) {
			victim = oldest
		}
	}
	if hit == nil {
		return nil, victim
	}
	c.stamp++
	hit.used = c.stamp
	return hit, nil
}

// idle says whether an entry is empty or has not been used for twice as many accesses as the cache has lines.
func (c *sectorCache) idle(e *cacheLine) bool {
	return e.used == 0 || c.stamp-e.used > 2*c.sets*uint64(c.ways)
}

// peek returns the line's entry, or nil, and changes nothing.
func (c *sectorCache) peek(line uint64) *cacheLine {
	if c.sets == 0 || c.pages[line%c.sets/setsPage] == nil {
		return nil
	}
	hit, _ := among(c.set(line%c.sets), line)
	return hit
}

// replace puts the line into the entry, empty, and returns the dirty sectors thrown out.
func (c *sectorCache) replace(v *cacheLine, line uint64) (dirty uint32) {
	dirty = v.dirty
	c.stamp++
	*v = cacheLine{tag: line + 1, used: c.stamp, block: lineUntouched}
	return dirty
}

// accessLoad is a load from global or local memory (also through the texture path and into shared memory).
//
// The data array of L1 has the banks of shared memory: lanes on different lines are served together when their words lie in
// different banks. The tag stage looks up a few lines a cycle, and what misses leaves at a line a cycle.
func (m *MemPath) accessLoad(a MemAccess, t *MemTiming) {
	p, e := &m.par, a.Effect
	m.coalesce(a)
	n := m.co.n
	local := e.Space == isa.SpaceLocal
	banks, groups := uint64(0), laneGroups(e.Exec, widthIndex(e.Size))
	if local {
		banks = groups // the lanes' words interleave over all banks
	} else {
		banks, groups = m.sharedPasses(e.Addr, e.Exec, uint64(max(e.Size, 1)), false, false)
	}
	cached := local || p.cachesGlobal
	if e.Inst != nil && !local {
		cached = (cached || p.cachesReadOnly && e.Inst.Mod.Has(isa.ModConstant)) && !passesL1By(e.Inst)
	}
	missing := m.lookupL1(cached, t)

	tags := (uint64(n) + p.tagLines - 1) / p.tagLines
	passes := max(banks, tags)
	first, last := m.enter(a, p.globalLoadPort[widthIndex(e.Size)], max(passes, uint64(missing)), 16)
	t.SourcesRead, t.SlotFree = first+p.readDelay, first
	t.Wavefronts = int(max(passes, uint64(missing)))
	t.BankConflicts = t.Wavefronts - int(groups)
	t.Level = LevelL1

	if missing < n {
		latency := p.l1Latency
		if local {
			latency = p.localLatency
		}
		// What is found goes on when the last tag has been looked up.
		at, busy := first+tags-1, ticks(groups)*p.dataPassTicks+ticks(banks-min(groups, banks))*ticksCycle+m.replayLoss(banks, first)
		if tags > banks {
			busy = ticks(tags) * p.dataPassTicks
		}
		t.Result = m.hitReturn(a.Slot, at, banks, groups, busy) + latency
	}
	sent := 0
	for i := 0; i < n; i++ {
		l, entry := &m.co.lines[i], m.found[i]
		if m.missing[i] == 0 {
			t.Result = max(t.Result, entry.ready)
			continue
		}
		at := first
		if missing > 1 {
			at += (last - first) * uint64(sent) / uint64(missing-1)
		}
		if m.filled < m.par.lastOldLine && entry != nil && entry.ready == 0 { // a line that was not there
			at = m.replaceOld(at, uint64(sent)%p.tagLines == 0)
		}
		sent++
		done := m.fetch(l.line, m.missing[i], m.missReturn(a.SubPartition, m.missSlot(at)), &a, t)
		m.missReturns(done)
		if entry != nil && entry.tag == l.line+1 { // not thrown out by a later line of the same access
			entry.ready = max(entry.ready, done)
		}
		t.Result = max(t.Result, done)
	}
}

// replaceOld delays a line that takes the place of one that the launch before left in L1, and returns when it is asked for. The tag stage takes longer: first says
// that the line is the first of those that it looks up in one cycle.
//
// Measured on the H200 (launches of phases of 64 to 512 lines, and "mlp_wb"): in a repeated launch the first 512 loads that put a line into L1 take 3 cycles each, the others 1, if the launch
// before brought in 1,024 lines and more; as many fewer as it brought in less, and none after a launch that had nothing in L1 or another carve-out, whatever the distance of the lines, the
// SMs and the time that has passed. Loads of four lines lose no more than loads of one, of 32 lines as much for each four.
func (m *MemPath) replaceOld(at uint64, first bool) uint64 {
	if m.filled++; m.filled <= m.par.firstOldLine || !first {
		return at
	}
	at = max(at, m.replaceFree)
	m.replaceFree = at + 1 + m.par.oldLineCycles
	return at
}

// passesL1By says whether a load has to see what other SMs wrote: strong accesses beyond block scope. ld.global.ca
// (STRONG.SM) is strong for its SM only and is served by L1: 32 cycles a link of a pointer chain on the H200. Copies to shared memory
// with .cg (BYPASS) do not look there either.
func passesL1By(in *isa.Inst) bool { return in.Mod.Has(isa.ModStrong) && !in.Mod.Has(isa.ModCTA) }

// lookupL1 looks the list's lines up, makes room for those that are not there, and returns how many lack a sector. Which
// sectors these are stands in missing, the entries in found (nil without a cache).
func (m *MemPath) lookupL1(cached bool, t *MemTiming) (lines int) {
	for i := 0; i < m.co.n; i++ {
		l := &m.co.lines[i]
		want := sectorCount(l.sectors)
		t.L1Sectors += want
		m.found[i], m.missing[i] = nil, l.sectors
		if cached {
			hit, victim := m.l1.find(l.line)
			if hit != nil {
				m.missing[i] &^= hit.sectors
			} else if victim != nil {
				m.l1.replace(victim, l.line)
				hit = victim
			}
			if hit != nil {
				hit.sectors |= l.sectors
			}
			m.found[i] = hit
		}
		t.L1SectorHits += want - sectorCount(m.missing[i])
		if m.missing[i] != 0 {
			lines++
		}
	}
	return lines
}

// coalesce fills the line list and returns the groups of lanes that take a pass each whatever they touch.
func (m *MemPath) coalesce(a MemAccess) (groups uint64) {
	p, e := &m.par, a.Effect
	size := uint64(max(e.Size, 1))
	if e.Space == isa.SpaceLocal {
		m.co.local(e.Addr, e.Exec, size, localBase+uint64(a.Slot)<<localSlotShift, p.lineShift, p.sectorShift)
	} else {
		m.co.global(e.Addr, e.Exec, size, p.lineShift, p.sectorShift)
	}
	return laneGroups(e.Exec, widthIndex(e.Size))
}

// Local memory of a warp slot: the words of its lanes interleave, each slot has its own range above all global addresses.
const (
	localBase      = 1 << 52
	localSlotShift = 32
)

// laneGroups counts the groups of lanes that have an executing lane: the warp for words, half-warps for 8 bytes a lane,
// quarter-warps for 16.
func laneGroups(mask uint32, width int) uint64 {
	lanes := 32 >> width
	n := uint64(0)
	for ; mask != 0; mask = uint32(uint64(mask) >> lanes) {
		if mask&uint32(uint64(1)<<lanes-1) != 0 {
			n++
		}
	}
	return max(n, 1)
}

// replayLoss is how much longer the data array is busy with the passes of a load whose lanes fall on the same banks, while few warps have such
// loads: a third. Two, three and four warps, 8 to 32 passes, take 1.31 to 1.34 cycles a pass, on one sub-partition or on several; eight warps use
// every cycle, and one alone waits for its own passes, two cycles each. Of up to 4 passes a tenth is lost at most. (`l1conf` in sm/testdata/memory_kernels_h200, made for this.)
func (m *MemPath) replayLoss(passes, at uint64) ticks {
	if passes <= replayFree {
		return 0
	}
	waiting := 1 // this one
	for _, r := range m.ret {
		if r > ticks(at)*ticksCycle {
			waiting++
		}
	}
	if waiting >= replayCrowd {
		return 0
	}
	return ticks(passes-1) * ticksCycle / 3
}

const (
	replayFree  = 4 // passes of a load for which nothing is lost
	replayCrowd = 8 // warps that keep the array busy every cycle
)

// hitReturn books the SM's data array (for the given time) and the way back to the warp for the passes of a hit or of a shared-memory
// read whose first pass is at the given cycle. It returns the cycle from which the latency of an access of the given
// number of groups counts.
//
// A warp takes back a pass every other cycle; another warp of the same sub-partition takes its own beside it (`l1conf`: two warps with
// conflicts take as long on one sub-partition as on two). Lanes that agree save nothing here: merged accesses have fewer passes than groups.
func (m *MemPath) hitReturn(slot int, at, passes, groups uint64, data ticks) uint64 {
	p := &m.par
	back := &m.ret[slot]
	start := max(ticks(at)*ticksCycle, *back)
	start = max(start, m.data)
	m.data = max(m.data, ticks(at)*ticksCycle) + data
	passes = max(passes, groups)
	pass := ticks(p.passSpacing) * ticksCycle / 16
	*back = start + ticks(passes)*pass
	if passes > groups {
		start += ticks(passes-groups) * pass
	}
	return start.cycle()
}

// missReturn books the path by which missed lines come back, shared by neighbouring sub-partitions, and returns the cycle
// from which the miss's latency counts.
func (m *MemPath) missReturn(sp int, at uint64) uint64 {
	r := &m.missRet[sp/m.par.missReturnShare]
	start := max(ticks(at)*ticksCycle, *r)
	*r = start + m.par.missReturnTicks
	return start.cycle()
}

// missSlot delays a miss until fewer than the limit are in flight.
func (m *MemPath) missSlot(at uint64) uint64 { return max(at, m.misses.freeAt()) }

func (m *MemPath) missReturns(at uint64) { m.misses.push(at) }
