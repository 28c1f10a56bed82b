package pipelines

import (
	"fmt"
	"math/bits"

	"github.com/sarchlab/smsim/configs"
)

// ticks is time in 1/64 cycle, for units that move fractions of a sector a cycle.
type ticks uint64

const ticksCycle = 64

// cycle rounds up to whole cycles.
func (t ticks) cycle() uint64 { return (uint64(t) + ticksCycle - 1) / ticksCycle }

// ticksPerByte is the time one byte takes at a bandwidth in bytes a cycle.
func ticksFor(bytes float64, bytesPerCycle float64) ticks {
	return ticks(bytes/bytesPerCycle*ticksCycle + 0.5)
}

// memParams are the architecture's numbers in the form the access path uses, with the rules for those that a
// description leaves out.
type memParams struct {
	subPartitions            int
	queueDepth, lgQueueDepth int

	// Cycles a sub-partition's port is held by an access of 1, 2 and 4 words a lane.
	sharedLoadPort, sharedStorePort, globalLoadPort, globalStorePort [3]uint64
	portCycles                                                       uint64 // without executing lanes
	dataPassTicks                                                    ticks  // data array, one pass of a hit
	missReturnTicks                                                  ticks  // return path, one missed line
	missReturnShare                                                  int    // sub-partitions that share a return path
	sharedBuffer                                                     int    // atomics between the port and the banks, a sub-partition
	readDelay                                                        uint64 // from the port to the release of the source registers
	passSpacing, storeSpacing                                        uint64 // cycles between passes of one instruction, 1/16

	banks, bankShift                                   uint
	halfWarp                                           bool // shared memory serves 16 lanes at a time (16 banks)
	sharedLatency32, sharedLatency64, sharedLatency128 uint64
	sharedAtomicLatency                                uint64
	unitCycles                                         uint64 // of the shared unit a pass takes

	l1Latency, localLatency                    uint64
	cachesGlobal, cachesReadOnly               bool
	fixedSets, storesApart, localStays         bool // ablations
	l1Bytes, l1Ways                            int
	lineBytes                                  int
	lineShift, sectorShift                     uint
	sectorBytes                                uint64
	fullLine                                   uint32 // mask of all sectors of a line
	tagLines                                   uint64 // lines looked up a cycle
	missesInFlight                             int
	firstOldLine, lastOldLine                  int // by count of lines that are new in L1, those that replace one of the launch before
	oldLineCycles                              uint64
	l2Latency, l2LatencyFar                    uint64
	l2Bytes                                    int
	l2Total, l2Near                            uint64
	l2LineShift                                uint
	entry                                      uint64 // cycles from issue to the port
	l2LineBytes                                int
	dramJitter                                 uint64
	l2Jitter                                   uint64
	dramLatency                                uint64
	l2SectorTicks                              ticks // one sector from L2
	array                                      arrayParams
	l2RequestTicks                             ticks // least time of a request, however few sectors
	requestQueues                              int   // queues that this SM's share of L2's slices acts as for requests
	dramSectorTicks                            ticks
	dramQueues                                 int   // queues that this SM's share of DRAM acts as
	dramQueueTicks                             ticks // one sector in one of them
	dramLoneTicks, dramOpenTicks               ticks // more for a request of one atom; for how long after another part of its line it is not alone
	storeSectorTicks                           ticks
	storeBuffer, storeStage                    int
	combineCycles, combineLines                uint64 // see combine
	storeHits                                  uint64 // cycles for which stores to a line count as hits
	atomicLatency                              uint64
	storePasses                                uint64 // cycles of the shared unit a group of lanes takes
	storeHeaderTicks, storeBurstTicks          ticks
	atomicSectorTicks, atomicHeaderTicks       ticks
	reductionSectorTicks, reductionHeaderTicks ticks
	atomicShare                                ticks // SMs that compete for a line that several blocks update
	atomicLineTicks                            ticks // L2's time for one sector of one round on one line
	warm                                       bool
	chip                                       bool // all SMs are active
	footprint                                  uint64
	read                                       uint64  // of these, bytes that are read
	atomSectors, fullL2Line                    uint32  // sectors that DRAM brings at a time; mask of the sectors of an L2 line
	slices                                     int     // L2's atomic units
	atomicRequestTicks                         ticks   // one of them takes for a line of one round, and for each sector of it
	wideHalves                                 bool    // 64-bit atomics take half a warp at a time
	neighbours                                 int64   // see askedByOthers
	dramWrites                                 int     // sectors that a queue of DRAM writes at a time
	dirtySectors                               int     // of this SM that L2 holds at most; 0: no limit
	chipMisses                                 float64 // part of a repeated launch's accesses that miss L2, all SMs active
}

const l2Ways = 16

// newMemParams derives the parameters and reports what an architecture lacks.
func newMemParams(a *configs.Arch, cfg MemConfig) (memParams, error) {
	l, mem := &a.LSU, &a.Memory
	p := memParams{
		subPartitions:   max(a.SM.SubPartitions, 1),
		queueDepth:      l.QueueDepth,
		lgQueueDepth:    l.LGQueueDepth,
		sharedLatency32: uint64(l.SharedLatency),
		l1Latency:       uint64(l.L1Latency),
		localLatency:    uint64(l.LocalLatency),
		cachesGlobal:    l.L1CachesGlobal,
		cachesReadOnly:  l.L1CachesReadOnly,
		fixedSets:       l.L1FixedSets,
		storesApart:     l.StoresApart,
		localStays:      l.LocalStays,
		l1Ways:          l.L1Ways,
		combineCycles:   uint64(max(l.CombineCycles, 0)),
		combineLines:    uint64(max(l.CombineLines, 0)),
		storeHits:       uint64(max(l.StoreHitCycles, 0)),
		lineBytes:       l.L1LineBytes,
		sectorBytes:     uint64(l.SectorBytes),
		missesInFlight:  l.MissesInFlight,
		oldLineCycles:   uint64(l.L1OldLineCycles),
		l2Latency:       uint64(mem.L2Latency),
		l2LatencyFar:    uint64(mem.L2LatencyFar),
		dramLatency:     uint64(mem.DRAMLatency),
		atomicLatency:   uint64(mem.AtomicLatency),
		warm:            cfg.WarmL2,
		chip:            cfg.AllSMsActive,
		footprint:       cfg.FootprintBytes,
		read:            cfg.FootprintBytes,
	}
	if err := p.check(l, mem); err != nil {
		return p, err
	}
	p.ports(l)
	p.sharedMemory(l)
	p.firstLevel(a, cfg)
	p.secondLevel(mem, cfg)
	p.bandwidths(l, mem, cfg)
	p.stores(l)
	p.atomics(mem, cfg)
	p.fromThePort()
	return p, nil
}

// check reports what the access path cannot do without, and completes the sizes of lines and sectors.
func (p *memParams) check(l *configs.LSU, mem *configs.Memory) error {
	for _, need := range []struct {
		key   string
		value float64
	}{
		{"lsu.shared_banks", float64(l.SharedBanks)},
		{"lsu.shared_latency", float64(l.SharedLatency)},
		{"memory.dram_latency", float64(mem.DRAMLatency)},
	} {
		if need.value <= 0 {
			return fmt.Errorf("%s must be given and positive, it is %v", need.key, need.value)
		}
	}
	if l.SharedBanks&(l.SharedBanks-1) != 0 || l.SharedBanks > 64 {
		return fmt.Errorf("lsu.shared_banks must be a power of two up to 64, it is %d", l.SharedBanks)
	}
	p.lineBytes = orInt(p.lineBytes, 128)
	p.sectorBytes = uint64(orInt(int(p.sectorBytes), 32))
	if !powerOfTwo(p.lineBytes) || !powerOfTwo(int(p.sectorBytes)) || int(p.sectorBytes) > p.lineBytes || p.lineBytes/int(p.sectorBytes) > 32 {
		return fmt.Errorf("lsu.l1_line_bytes %d and lsu.sector_bytes %d must be powers of two, line >= sector", p.lineBytes, p.sectorBytes)
	}
	return nil
}

// ports are the queues and ports of the sub-partitions, and the way back into them.
func (p *memParams) ports(l *configs.LSU) {
	p.queueDepth = orInt(p.queueDepth, 8)
	p.lgQueueDepth = orInt(p.lgQueueDepth, p.queueDepth)

	p.unitCycles = uint64(orInt(l.UnitCycles, 1))
	port := uint64(2)
	p.portCycles = port
	p.sharedLoadPort = widths(l.LoadPort, [3]uint64{port, 2 * port, 4 * port})
	p.sharedStorePort = widths(l.StorePort, [3]uint64{2 * port, 4 * port, 8 * port})
	p.globalLoadPort = widths(l.GlobalLoadPort, p.sharedLoadPort)
	p.globalStorePort = widths(l.GlobalStorePort, p.sharedStorePort)
	p.passSpacing = uint64(orInt(l.PassInterval16, 16))
	p.storeSpacing = uint64(orInt(l.StorePassInterval16, int(p.passSpacing)))
	p.missReturnTicks = ticks(orInt(l.MissReturn16, 16)) * ticksCycle / 16
	p.missReturnShare = orInt(l.MissReturnShare, 1)
	p.readDelay = uint64(max(l.ReadLatency, 0))
	p.dataPassTicks = ticksFor(float64(p.lineBytes), orFloat(float64(l.L1BytesCycle), float64(p.lineBytes)))
}

// sharedMemory is the banks and their latencies.
func (p *memParams) sharedMemory(l *configs.LSU) {
	p.banks = uint(l.SharedBanks)
	p.bankShift = log2(orInt(l.BankBytes, 4))
	p.halfWarp = l.SharedBanks == 16
	p.sharedLatency64 = orUint(l.SharedLatency64, p.sharedLatency32)
	p.sharedLatency128 = orUint(l.SharedLatency128, p.sharedLatency64)
	p.sharedAtomicLatency = orUint(l.AtomicLatency, p.sharedLatency32)
	p.sharedBuffer = orInt(l.SharedAtomicBuffer, 1)
}

// firstLevel is the L1 cache.
func (p *memParams) firstLevel(a *configs.Arch, cfg MemConfig) {
	l := &a.LSU
	p.lineShift, p.sectorShift = log2(p.lineBytes), log2(int(p.sectorBytes))
	p.fullLine = uint32(1)<<(p.lineBytes/int(p.sectorBytes)) - 1
	p.tagLines = uint64(orInt(l.L1TagsCycle, 1))
	p.l1Bytes = l1Capacity(a, cfg.SharedCarveout)
	p.l1Ways = orInt(p.l1Ways, 4)
	p.oldLines(l.L1OldLines, &cfg)
	if p.l1Latency == 0 {
		p.l1Latency = p.sharedLatency32
	}
	if p.localLatency == 0 {
		p.localLatency = p.l1Latency
	}
	p.missesInFlight = orInt(p.missesInFlight, 256)
}

// oldLines says which of the lines that are new in L1 replace one that the launch before left there and that takes longer: the first, as many as it left beyond the number n, n at
// most. It is taken to have been the same launch; of the buffers an SM has read its part, or, where they say nothing of it (one SM alone), as many lines as this one will: then the lines
// beyond n are held for it.
func (p *memParams) oldLines(n int, cfg *MemConfig) {
	if !p.warm || p.lineBytes == 0 {
		return
	}
	room := p.l1Bytes / p.lineBytes
	if !cfg.AllSMsActive {
		p.firstOldLine, p.lastOldLine = n, min(2*n, room)
		return
	}
	read := cfg.ReadBytes
	if read == 0 {
		read = cfg.FootprintBytes
	}
	left := int(min(read/uint64(max(cfg.SMs, 1)*p.lineBytes), uint64(room)))
	p.lastOldLine = min(max(left-n, 0), n)
}

// secondLevel is L2 and DRAM: latencies, sizes and what a repeated launch finds there.
func (p *memParams) secondLevel(mem *configs.Memory, cfg MemConfig) {
	if p.l2Latency == 0 { // compute capability 1.x has no L2 for data
		p.l2Latency = p.dramLatency
	}
	p.dramLatency = max(p.dramLatency, p.l2Latency)
	// Latencies are means over lines.
	p.l2Jitter = min(uint64(mem.L2LatencySpread), p.l2Latency)
	p.l2Latency -= p.l2Jitter / 2
	p.l2LatencyFar -= min(p.l2LatencyFar, p.l2Jitter/2)
	p.dramJitter = min(uint64(max(mem.DRAMLatencySpread, 0)), p.dramLatency-p.l2Latency)
	p.dramLatency -= p.dramJitter / 2
	p.l2LineBytes = orInt(mem.L2LineBytes, 128)
	if !powerOfTwo(p.l2LineBytes) || p.l2LineBytes < p.lineBytes {
		p.l2LineBytes = p.lineBytes
	}
	p.l2LineShift = log2(p.l2LineBytes)
	p.l2Total = uint64(max(cfg.L2Bytes, 0))
	p.l2Near = uint64(float64(p.l2Total) * (1 - mem.L2FarShare))
	if p.atomicLatency == 0 {
		p.atomicLatency = p.l2Latency
	}
	p.l2Bytes = cfg.L2ShareBytes
	if p.l2Bytes == 0 {
		p.l2Bytes = orInt(cfg.L2Bytes, unlimitedL2)
		if cfg.AllSMsActive && cfg.L2Bytes > 0 {
			p.l2Bytes /= max(cfg.SMs, 1)
		}
	}
	if cfg.ReadBytes > 0 {
		p.read = min(p.read, cfg.ReadBytes)
	}
	p.chipMisses = p.chipMissPart()
	p.atomSectors = uint32(max(mem.DRAMAtomBytes/int(p.sectorBytes), 1))
	p.fullL2Line = uint32(uint64(1)<<(p.l2LineBytes/int(p.sectorBytes)) - 1)
	p.slices = orInt(mem.L2Slices, 1)
	if share := mem.L2DirtyShare; share > 0 && cfg.AllSMsActive && cfg.L2Bytes > 0 {
		p.dirtySectors = int(share * float64(cfg.L2Bytes) / float64(max(cfg.SMs, 1)) / float64(p.sectorBytes))
	}
}

// bandwidths are the times of a sector from L2 and from DRAM, and to L2.
func (p *memParams) bandwidths(l *configs.LSU, mem *configs.Memory, cfg MemConfig) {
	l2bw, drambw, storebw := mem.L2BytesCycle, mem.DRAMBytesCycle, float64(l.StoreBytesCycle)
	if cfg.AllSMsActive {
		p.l2RequestTicks = ticksFor(mem.L2RequestAll, 1)
		p.requestQueues = mem.L2RequestQueues
		l2bw = orFloat(mem.L2BytesCycleAll, l2bw)
		drambw = orFloat(cfg.DRAMBytesCycle, orFloat(mem.DRAMBytesCycleAll, drambw))
		if mem.L2ArrayBytesAll > 0 {
			p.array = newArrayParams(mem, p.sectorBytes)
		} else {
			storebw = min(orFloat(storebw, l2bw), l2bw)
		}
	}
	l2bw = orFloat(l2bw, 64)
	drambw = min(orFloat(drambw, l2bw), 4*l2bw)
	storebw = orFloat(storebw, l2bw/2)
	p.l2SectorTicks = ticksFor(float64(p.sectorBytes), l2bw)
	p.dramSectorTicks = ticksFor(float64(p.sectorBytes), drambw)
	p.dramQueues = 1
	p.dramWrites = orInt(mem.DRAMWriteBatch, 1)
	p.neighbours = int64(mem.BlockNeighbours)
	p.wideHalves = mem.AtomicHalfWarps
	if cfg.AllSMsActive {
		p.dramQueues = orInt(mem.DRAMQueuesAll, 1)
		p.dramLoneTicks = ticksFor(mem.DRAMLoneAtom, 1) * ticks(p.dramQueues)
		p.dramOpenTicks = ticks(max(mem.DRAMRowOpen, 0)) * ticksCycle
	}
	p.dramQueueTicks = ticksFor(float64(p.sectorBytes)*float64(p.dramQueues), drambw)
	p.storeSectorTicks = ticksFor(float64(p.sectorBytes), storebw)
}

// stores are how stores leave the SM.
func (p *memParams) stores(l *configs.LSU) {
	p.storeBuffer = orInt(l.StoreBuffer, 24)
	p.storeStage = orInt(l.StoreStage, 1)
	p.storeBurstTicks = ticks(l.StoreBurstSectors) * p.storeSectorTicks
	p.storeHeaderTicks = p.storeSectorTicks
	p.storePasses = uint64(orInt(l.StorePasses, 1))
}

// atomics are the times of atomics and reductions.
func (p *memParams) atomics(mem *configs.Memory, cfg MemConfig) {
	p.atomicSectorTicks, p.atomicHeaderTicks = p.storeSectorTicks, p.storeSectorTicks
	p.reductionSectorTicks, p.reductionHeaderTicks = p.storeSectorTicks, p.storeSectorTicks
	p.atomicShare = 1
	p.atomicLineTicks = ticksFor(mem.AtomicLine, 1)
	p.atomicRequestTicks = ticksFor(mem.AtomicRequest, 1)
	if cfg.AllSMsActive {
		p.atomicShare = ticks(max(cfg.SMs, 1))
		if mem.AtomicSectorAll > 0 {
			p.atomicSectorTicks, p.atomicHeaderTicks = ticksFor(mem.AtomicSectorAll, 1), 0
		}
		if mem.ReductionSectorAll > 0 {
			p.reductionSectorTicks, p.reductionHeaderTicks = ticksFor(mem.ReductionSectorAll, 1), 0
		}
	}
}

// fromThePort counts latencies, which are given from issue, from the port on, as the path does.
func (p *memParams) fromThePort() {
	p.entry = portEntry
	for _, v := range []*uint64{&p.sharedLatency32, &p.sharedLatency64, &p.sharedLatency128, &p.sharedAtomicLatency,
		&p.l1Latency, &p.localLatency, &p.l2Latency, &p.l2LatencyFar, &p.dramLatency, &p.atomicLatency} {
		*v -= min(*v, portEntry)
	}
}

// portEntry is the time from issue to the earliest use of the port: on the H200 the eighth store behind a full queue of eight
// issues 3 cycles later than the port's interval alone would have it.
const portEntry = 3

// unlimitedL2 stands for an L2 of unknown size: nothing is thrown out of it by what one SM touches in a run.
const unlimitedL2 = 1 << 29

// l1Capacity is the data cache left beside the shared memory in use. A unified array loses the smallest selectable
// carve-out that holds it; what the array keeps beside the largest carve-out is always cache.
func l1Capacity(a *configs.Arch, carveout int) int {
	l := &a.LSU
	if !l.Unified || l.UnifiedBytes == 0 {
		return l.L1Bytes
	}
	for _, c := range a.Occupancy.SharedCarveouts {
		if c >= carveout {
			carveout = c
			break
		}
	}
	left := l.UnifiedBytes - carveout
	if l.L1Bytes > 0 {
		left = min(left, l.L1Bytes)
	}
	return max(left, l.UnifiedBytes-a.Occupancy.SharedBytes, 4*l.L1LineBytes)
}

// widths takes the cycles for 1, 2 and 4 words from a description's list; a shorter list repeats its last, none gives d.
func widths(list []int, d [3]uint64) [3]uint64 {
	if len(list) == 0 {
		return d
	}
	var w [3]uint64
	for i := range w {
		w[i] = uint64(max(list[min(i, len(list)-1)], 1))
	}
	return w
}

// widthIndex is 0 for up to 4 bytes a lane, 1 for 8, 2 for 16.
func widthIndex(size uint8) int {
	switch {
	case size <= 4:
		return 0
	case size <= 8:
		return 1
	}
	return 2
}

func powerOfTwo(n int) bool { return n > 0 && n&(n-1) == 0 }

func log2(n int) uint { return uint(bits.Len(uint(n))) - 1 }

func orInt(v, d int) int {
	if v > 0 {
		return v
	}
	return d
}

func orUint(v int, d uint64) uint64 {
	if v > 0 {
		return uint64(v)
	}
	return d
}

func orFloat(v, d float64) float64 {
	if v > 0 {
		return v
	}
	return d
}
