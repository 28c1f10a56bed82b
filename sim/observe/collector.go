// Package observe turns what a simulated SM reports (issue, warp and memory records) into a [sim.Result]. The model
// counts nothing itself; everything in a Result is counted here.
package observe

import (
	"errors"
	"fmt"
	"math/bits"

	akita "github.com/sarchlab/akita/v3/sim"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/sim"
)

// Pipe is one pipe of the observed SM.
type Pipe struct {
	Name      string
	Instances int // one a sub-partition, or one
}

// Machine is what the collector has to know of the observed SM and launch.
type Machine struct {
	Arch, Board                         string
	ClockMHz                            float64
	SubPartitions                       int
	IssueInterval                       int
	Pipes                               []Pipe
	Latencies                           sim.Latencies
	DRAMBytesCycle                      float64  // most that DRAM gives this SM; 0: unknown
	L2BytesCycle                        float64  // most that this SM reads from L2; 0: unknown
	LSU                                 int      // pipe whose passes the memory records count; -1: none
	ClassPipe                           []int    // by class: its first pipe, -1 none
	ClassConfidence                     []string // by class: how well its timing is known
	Program                             *isa.Program
	Grid, Block                         isa.Dim3
	Blocks                              int
	SharedBytes                         int
	MaxWarps                            int
	TheoreticalBlocks, TheoreticalWarps int
	OccupancyLimiter                    string
	SampleCycles                        uint64 // width of the time series' samples, 0: none
	Hot                                 int    // instructions listed, 0: 10
}

// instCount is what one static instruction did.
type instCount struct {
	executed uint64
	states   [sim.NumWarpStates]uint64
}

// pipeCount is the load of one pipe. What is booked at an issue may be worked off much later: an instance takes one
// thing after the other, so until says when it is done with all that was booked.
type pipeCount struct {
	insts, busy uint64
	until       []uint64 // by instance
}

// hold books cycles on the instance of a sub-partition.
func (n *pipeCount) hold(sub, subs int, cycle, cycles uint64) {
	n.busy += cycles
	u := &n.until[sub*len(n.until)/subs]
	*u = max(*u, cycle) + cycles
}

// busyBefore is the booked load less what is worked off after the end of the run, such as stores nobody waits for.
func (n *pipeCount) busyBefore(end uint64) uint64 {
	busy := n.busy
	for _, u := range n.until {
		busy -= min(busy, u-min(u, end))
	}
	return busy
}

// subCount is the use of one sub-partition's issue slots.
type subCount struct {
	issued    uint64
	resident  int
	since     uint64 // cycle of the last change of resident
	noWarp    uint64 // cycles without a resident warp
	warpTotal uint64 // resident warp-cycles
}

// Collector is an Akita hook that counts.
type Collector struct {
	m       Machine
	insts   []instCount
	classes [isa.NumClasses]uint64
	pipes   []pipeCount
	subs    []subCount
	states  [sim.NumWarpStates]uint64
	warps   uint64 // issued warp-instructions
	threads uint64

	resident    int    // warps on the SM
	residentAt  uint64 // cycle of the last change
	activeTotal uint64 // cycles with at least one resident warp

	mem     sim.MemoryUse
	request uint64 // global and local requests that reached L1
	samples []sim.Sample
}

// NewCollector is a collector for one run.
func NewCollector(m Machine) *Collector {
	c := &Collector{m: m, insts: make([]instCount, len(m.Program.Insts)), pipes: make([]pipeCount, len(m.Pipes)), subs: make([]subCount, m.SubPartitions)}
	for i, p := range m.Pipes {
		c.pipes[i].until = make([]uint64, p.Instances)
	}
	return c
}

// Issued is the number of issued warp-instructions so far.
func (c *Collector) Issued() uint64 { return c.warps }

// Func implements Akita's Hook.
func (c *Collector) Func(ctx akita.HookCtx) {
	switch r := ctx.Item.(type) {
	case *sim.IssueRecord:
		c.issue(r)
	case *sim.MemoryRecord:
		c.memory(r)
	case *sim.WarpRecord:
		c.warp(r)
	}
}

func (c *Collector) issue(r *sim.IssueRecord) {
	e := r.Effect
	c.warps++
	c.threads += uint64(bits.OnesCount32(e.Exec))
	c.classes[r.Class]++
	n := &c.insts[e.Index]
	n.executed++
	for _, w := range r.Waited {
		n.states[w.State] += w.Cycles
	}
	s := &c.subs[r.SubPartition]
	if !r.Dual {
		n.states[sim.Selected]++
		s.issued++
	}
	if r.Pipe >= 0 {
		c.pipes[r.Pipe].insts++
		c.pipes[r.Pipe].hold(r.SubPartition, len(c.subs), r.Cycle, r.PipeCycles)
		for _, h := range r.Holds {
			c.pipes[h].hold(r.SubPartition, len(c.subs), r.Cycle, r.PipeCycles)
		}
	}
	if r.Shared >= 0 {
		c.pipes[r.Shared].insts++
		c.pipes[r.Shared].hold(r.SubPartition, len(c.subs), r.Cycle, r.SharedCycles)
	}
	if c.m.SampleCycles > 0 {
		c.sample(r)
	}
}

func (c *Collector) sample(r *sim.IssueRecord) {
	s := c.sampleAt(r.Cycle)
	s.Issued++
	s.Resident = c.resident
	if r.Pipe >= 0 {
		s.PipeBusy[r.Pipe] += r.PipeCycles
		for _, h := range r.Holds {
			s.PipeBusy[h] += r.PipeCycles
		}
	}
	if r.Shared >= 0 {
		s.PipeBusy[r.Shared] += r.SharedCycles
	}
}

// sampleAt is the sample that a cycle belongs to. What is booked at an issue counts there, though a pipe may be held beyond.
func (c *Collector) sampleAt(cycle uint64) *sim.Sample {
	i := int(cycle / c.m.SampleCycles)
	for len(c.samples) <= i {
		c.samples = append(c.samples, sim.Sample{Cycle: uint64(len(c.samples)) * c.m.SampleCycles, Width: c.m.SampleCycles,
			PipeBusy: make([]uint64, len(c.pipes)), Resident: c.resident})
	}
	return &c.samples[i]
}

func (c *Collector) warp(r *sim.WarpRecord) {
	s := &c.subs[r.SubPartition]
	if s.resident == 0 {
		s.noWarp += r.Cycle - s.since
	}
	s.warpTotal += uint64(s.resident) * (r.Cycle - s.since)
	s.since = r.Cycle
	if c.resident > 0 {
		c.activeTotal += r.Cycle - c.residentAt
	}
	c.residentAt = r.Cycle
	if !r.End {
		s.resident++
		c.resident++
		return
	}
	s.resident--
	c.resident--
	i := r.Index
	if i < 0 {
		i = 0
	}
	for _, w := range r.States {
		c.insts[i].states[w.State] += w.Cycles
	}
}

func (c *Collector) memory(r *sim.MemoryRecord) {
	m := &c.mem
	if c.m.LSU >= 0 {
		c.pipes[c.m.LSU].insts++
		c.pipes[c.m.LSU].hold(r.SubPartition, len(c.subs), r.Cycle, uint64(r.Wavefronts))
		if c.m.SampleCycles > 0 {
			c.sampleAt(r.Cycle).PipeBusy[c.m.LSU] += uint64(r.Wavefronts)
		}
	}
	if r.Lanes == 0 {
		return
	}
	switch {
	case r.Load && r.Store:
		m.Atomics++
	case r.Space == isa.SpaceShared && r.Load:
		m.SharedLoads++
	case r.Space == isa.SpaceShared:
		m.SharedStores++
	case r.Space == isa.SpaceLocal && r.Load:
		m.LocalLoads++
	case r.Space == isa.SpaceLocal:
		m.LocalStores++
	case r.Load:
		m.GlobalLoads++
	case r.Store:
		m.GlobalStores++
	}
	if r.Space == isa.SpaceShared {
		m.SharedWavefronts += uint64(r.Wavefronts)
		m.BankConflicts += uint64(r.Conflicts)
	} else {
		c.request++
		if r.Space == isa.SpaceGlobal {
			m.GlobalBytes += uint64(r.Lanes * r.Bytes)
		}
	}
	m.L1Sectors += uint64(r.L1Sectors)
	m.L1SectorHits += uint64(r.L1SectorHits)
	m.L2Sectors += uint64(r.L2Sectors)
	m.L2SectorHits += uint64(r.L2SectorHits)
	if r.Load {
		m.L2ReadSectors += uint64(r.L2Sectors)
	}
	m.DRAMBytes += uint64(r.DRAMBytes)
}

// Result is the finished result for a run of the given number of cycles. It fails when the states of
// the warps do not sum to the resident warp-cycles: a bug of the model.
func (c *Collector) Result(cycles uint64) (*sim.Result, error) {
	m := &c.m
	var total, resident uint64
	for i := range c.insts {
		for s, n := range c.insts[i].states {
			c.states[s] += n
			total += n
		}
	}
	for i := range c.subs {
		s := &c.subs[i]
		resident += s.warpTotal
		if s.resident != 0 {
			return nil, fmt.Errorf("broken invariant: sub-partition %d still holds %d warps at the end", i, s.resident)
		}
	}
	if total != resident {
		return nil, fmt.Errorf("broken invariant: warp states sum to %d warp-cycles, warps were resident for %d", total, resident)
	}
	if cycles == 0 {
		return nil, errors.New("broken invariant: a run of no cycles")
	}
	p := m.Program
	r := &sim.Result{Kernel: p.Name, Arch: m.Arch, Board: m.Board, Source: p.SourceFile,
		Grid: [3]uint32{m.Grid.X, m.Grid.Y, m.Grid.Z}, Block: [3]uint32{m.Block.X, m.Block.Y, m.Block.Z},
		BlocksRun: m.Blocks, SharedBytes: m.SharedBytes, Registers: p.Regs, ControlOrigin: "computed",
		Cycles: cycles, TimeUS: float64(cycles) / m.ClockMHz, ClockMHz: m.ClockMHz,
		WarpInstructions: c.warps, ThreadInstructions: c.threads, IPC: float64(c.warps) / float64(cycles),
		Latencies: m.Latencies, MemoryCeiling: m.DRAMBytesCycle, L2Ceiling: m.L2BytesCycle, Check: "none", Notes: append([]string(nil), p.Notes...), Timeline: c.samples}
	if p.Control == isa.ControlDecoded {
		r.ControlOrigin = "decoded"
	}
	c.fillPipes(r)
	c.fillClasses(r)
	for s := sim.WarpState(0); s < sim.NumWarpStates; s++ {
		n := c.states[s]
		r.WarpStates = append(r.WarpStates, sim.StateShare{State: s.String(), WarpCycles: n, Share: ratio(n, total), PerIssue: ratio(n, c.warps)})
	}
	c.fillSlots(r)
	c.fillMemory(r)
	r.Occupancy = sim.Occupancy{TheoreticalWarps: m.TheoreticalWarps, TheoreticalBlocks: m.TheoreticalBlocks, MaxWarps: m.MaxWarps,
		Theoretical: float64(m.TheoreticalWarps) / float64(m.MaxWarps), ActiveCycles: c.activeTotal, AchievedWarps: ratio(resident, c.activeTotal), Limiter: m.OccupancyLimiter}
	r.Occupancy.Achieved = r.Occupancy.AchievedWarps / float64(m.MaxWarps)
	c.fillHot(r, total)
	r.Confidence = c.confidence()
	r.Limiter = Limit(r)
	return r, nil
}

func (c *Collector) fillPipes(r *sim.Result) {
	for i, p := range c.m.Pipes {
		n := &c.pipes[i]
		busy := n.busyBefore(r.Cycles)
		r.Pipes = append(r.Pipes, sim.PipeUse{Name: p.Name, Insts: n.insts, BusyCycles: busy, Instances: p.Instances,
			Utilization: float64(busy) / float64(uint64(p.Instances)*r.Cycles)})
	}
}

func (c *Collector) fillSlots(r *sim.Result) {
	interval := uint64(max(1, c.m.IssueInterval))
	var s sim.IssueSlots
	for i := range c.subs {
		n := &c.subs[i]
		slots := r.Cycles / interval
		noWarp := (n.noWarp + r.Cycles - min(r.Cycles, n.since)) / interval
		noWarp = min(noWarp, slots-min(slots, n.issued))
		s.Total += slots
		s.Issued += n.issued
		s.NoWarp += noWarp
		s.NoEligible += slots - min(slots, n.issued+noWarp)
	}
	s.Utilization = ratio(s.Issued, s.Total)
	r.IssueSlots = s
}

func (c *Collector) fillMemory(r *sim.Result) {
	m := c.mem
	m.L1HitRate = ratio(m.L1SectorHits, m.L1Sectors)
	m.L2HitRate = ratio(m.L2SectorHits, m.L2Sectors)
	m.SectorsPerRequest = ratio(m.L1Sectors, c.request)
	r.Memory = m
}

func ratio(a, b uint64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}
