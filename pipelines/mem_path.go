// Package pipelines times what an SM's instructions wait for once they have issued: execution pipes and
// the memory path. It knows addresses and classes, not programs or files.
package pipelines

import (
	"fmt"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
)

// MemLevel is the level of the memory hierarchy that gave the last of an access's data.
type MemLevel uint8

// Levels, nearest first.
const (
	LevelNone MemLevel = iota
	LevelShared
	LevelL1
	LevelL2
	LevelDRAM
)

var memLevelNames = [...]string{"none", "shared", "l1", "l2", "dram"}

func (l MemLevel) String() string {
	if int(l) < len(memLevelNames) {
		return memLevelNames[l]
	}
	return fmt.Sprintf("level(%d)", uint8(l))
}

// MemConfig is what the memory path has to know of the launch and the chip around the SM.
type MemConfig struct {
	SharedCarveout int  // bytes that shared memory of the resident blocks takes from the SM's array
	AllSMsActive   bool // the launch fills the chip: this SM gets its share of bandwidth and of L2
	SMs            int  // SMs of the chip; 0 with AllSMsActive is taken as 1
	WarmL2         bool // data of the launch was touched before (a repeated launch): L2 holds what fits
	L2Bytes        int  // the chip's L2; 0: unlimited
	L2ShareBytes   int  // L2 capacity for this SM's lines; 0: L2Bytes, divided by SMs when all are active
	// Bytes of all buffers of the launch, over the whole chip: decides what a warm L2 holds.
	// 0: unknown, everything fits.
	FootprintBytes uint64
	ReadBytes      uint64 // of these, buffers that the launch reads: what a cold L2 gets from DRAM; 0: all
	// The allocations that FootprintBytes counts, if the launch touches each as a whole; empty: not known.
	Buffers []MemBuffer
	// This SM's DRAM bandwidth in bytes a cycle when all SMs are active; 0: the architecture's number.
	DRAMBytesCycle float64
}

// MemAccess is one issued warp-instruction that goes to memory. Calls come in issue order:
// Cycle never falls.
type MemAccess struct {
	Cycle        uint64 // issue
	SubPartition int
	Slot         int // warp slot within the SM, selects the warp's local memory
	Block        int // linear block index: tells atomics of several blocks on one line from those of one
	Class        isa.Class
	Effect       *isa.Effect
	// Everywhere: all blocks of the grid use the same addresses. Gather: the addresses were read from memory, so those of other
	// SMs fall on the same lines by chance.
	Everywhere, Gather bool
	Stride             int64 // bytes from a block's addresses to those of the next, if Strided
	Strided            bool
}

// MemTiming is when things happen to an access, in absolute cycles, and what it touched.
type MemTiming struct {
	SourcesRead uint64 // registers may be overwritten (read dependency barrier)
	Result      uint64 // the destination can be used; for stores the cycle they leave the SM's front end
	SlotFree    uint64 // the entry in the sub-partition's queue is free again
	Left        uint64 // a store has left the SM and what it writes is written: a warp that ends waits for that
	Complete    uint64 // performed at the memory level: what MEMBAR and the end of a block wait for

	Wavefronts    int // passes through the data stage
	BankConflicts int // passes beyond the fewest for this width

	L1Sectors, L1SectorHits int
	L2Sectors, L2SectorHits int
	DRAMBytes               int
	Level                   MemLevel
}

// MemPath is the memory path of one SM: queues, load/store unit, shared memory, L1, and what the SM sees
// of L2 and DRAM. Every resource keeps the absolute cycle at which it is free; an access books its way
// through them when it issues, so nothing has to be ticked. The same calls give the same cycles.
type MemPath struct {
	par           memParams
	queues        []memQueue // one a sub-partition
	lsu           calendar   // the shared unit's cycles
	co            coalescer
	found         [maxLines]*cacheLine // of the present load's lines, see lookupL1
	missing       [maxLines]uint32
	banks         bankTable
	l1            sectorCache
	l2            sectorCache
	near          sectorCache // lines that the near partition of L2 holds, for one SM alone
	ret           []ticks     // next free time of the way back to each warp slot
	missRet       []ticks     // next free time of the return path of misses, one for missReturnShare sub-partitions
	data          ticks       // next free time of the L1 data array
	misses        leaveRing
	filled        int    // lines that loads have put into L1, up to the last that may replace one of the launch before
	replaceFree   uint64 // cycle from which on L1 can replace another of those
	store         storePort
	pending       []pendingWrite // combineSets sets of lines that stores wrote in part
	entered       uint64         // room that packets have taken there so far
	touched       uint64         // and stores, those that joined others too
	moved, stored uint64         // sectors to and from L2, and those of them that were written
	entry         *cacheLine     // of the latest line that was looked up in l2, nil if it has no place there
	oldOut        int            // sectors written back by evictOld
	dirty, clean  int            // sectors in l2 that are marked as written; of these, written back before their time
	oldDirty      uint64         // remainder of evictOld, in sectors x moved
	shares        []coldShare    // by address; empty: all misses are this SM's own
	far           memFar
	drain         uint64 // latest Complete so far
}

// NewMemPath checks the architecture's numbers and builds an empty path (cold L1, L2 as cfg says).
func NewMemPath(a *configs.Arch, cfg MemConfig) (*MemPath, error) {
	if a == nil {
		return nil, fmt.Errorf("memory path: no architecture")
	}
	p, err := newMemParams(a, cfg)
	if err != nil {
		return nil, fmt.Errorf("memory path of %s: %w", a.Name, err)
	}
	m := &MemPath{par: p}
	m.queues = make([]memQueue, p.subPartitions)
	for i := range m.queues {
		m.queues[i] = newMemQueue(p.queueDepth, p.lgQueueDepth, p.sharedBuffer, p.storeStage)
	}
	m.ret = make([]ticks, max(a.Occupancy.MaxWarps, 64))
	m.missRet = make([]ticks, (p.subPartitions+p.missReturnShare-1)/p.missReturnShare)
	m.lsu = newCalendar()
	m.l1 = newSectorCache(p.l1Bytes, p.lineBytes, p.l1Ways)
	if !p.fixedSets {
		m.l1 = m.l1.balanced()
	}
	m.l2 = newSectorCache(p.l2Bytes, p.l2LineBytes, l2Ways)
	if !p.chip && p.l2LatencyFar > p.l2Latency && p.l2Near > 0 {
		m.near = newSectorCache(int(p.l2Near), p.l2LineBytes, l2Ways)
	}
	m.misses = newLeaveRing(p.missesInFlight)
	m.store = newStorePort(&m.par)
	m.shares = newColdShares(&cfg)
	m.far.slices = make([]ticks, max(p.slices, 1))
	m.far.array = newSliceQueues(p.array.queues)
	m.far.input = newSliceQueues(p.array.queues)
	m.far.requests = make([]ticks, max(p.requestQueues, 1))
	m.far.dramFree = make([]ticks, p.dramQueues)
	m.far.toWrite = make([]int, p.dramQueues)
	m.pending = make([]pendingWrite, combineSets*combineWays)
	for i := range m.pending {
		m.pending[i].line = noLine
	}
	return m, nil
}

// Access books one memory instruction and says when its parts happen. Effect.Addr must be set for the lanes
// of Effect.Exec. An instruction whose guard is false in all lanes passes the queue and the port only.
func (m *MemPath) Access(a MemAccess) MemTiming {
	sp := a.SubPartition
	if uint(sp) >= uint(len(m.queues)) {
		panic(fmt.Sprintf("pipelines: sub-partition %d of %d", sp, len(m.queues)))
	}
	var t MemTiming
	e := a.Effect
	if e.Exec == 0 || e.Addr == nil {
		m.accessNothing(a, &t)
	} else if e.Space == isa.SpaceShared {
		m.accessShared(a, &t)
	} else {
		switch a.Class {
		case isa.ClassATOMG, isa.ClassRED:
			m.accessAtomic(a, &t)
		default:
			if e.Store && e.Load {
				m.accessAtomic(a, &t)
			} else if e.Store {
				m.accessStore(a, &t)
			} else {
				m.accessLoad(a, &t)
			}
		}
	}
	if t.Complete < t.Result {
		t.Complete = t.Result
	}
	if t.Complete > m.drain {
		m.drain = t.Complete
	}
	return t
}

// accessNothing is an instruction without executing lanes.
func (m *MemPath) accessNothing(a MemAccess, t *MemTiming) {
	start, _ := m.enter(a, m.par.portCycles, 1, 16)
	t.SourcesRead, t.SlotFree = start+m.par.readDelay, start
	t.Result = start + uint64(m.par.sharedLatency32)
}

// enter takes the access through its queue, the sub-partition's port (held for port cycles) and the shared unit (held for
// passes cycles, spacing sixteenths apart), and returns the cycles of its first and last pass.
func (m *MemPath) enter(a MemAccess, port, passes, spacing uint64) (first, last uint64) {
	return m.enterUnit(a, port, passes*m.par.unitCycles, spacing)
}

// enterUnit is enter for an access that takes the given cycles of the shared unit.
func (m *MemPath) enterUnit(a MemAccess, port, cycles, spacing uint64) (first, last uint64) {
	q := &m.queues[a.SubPartition]
	first, last = m.lsu.take(max(a.Cycle+m.par.entry, q.port), cycles, spacing)
	q.port = max(first+port, last+1)
	q.push(isLocalGlobal(a.Class), first)
	return first, last
}

// enterAtomicUnit is enter for atomics on shared memory: behind the port they wait for their turns in a buffer, so lanes on
// one address hold up the queue only when that is full. left is the cycle at which the queue is left.
func (m *MemPath) enterAtomicUnit(a MemAccess, port, passes uint64) (left, first, last uint64) {
	q := &m.queues[a.SubPartition]
	left = max(a.Cycle+m.par.entry, q.port, q.behind.freeAt())
	first, last = m.lsu.take(max(left, q.unitFree), passes*m.par.unitCycles, 16)
	q.unitFree = last + 1
	q.behind.push(last)
	q.port = left + port
	q.push(false, left)
	return left, first, last
}

// Drained is the cycle at which everything accessed so far has been performed.
func (m *MemPath) Drained() uint64 { return m.drain }
