// Package sm is the model of one streaming multiprocessor: sub-partitions with their warp schedulers, register files and
// pipes, instruction fetch, barriers, block residency. It executes a program's blocks while it times them.
//
// SM[0] is the Akita component with a clock; its sub-partitions and their pipes are named parts that it steps in one
// fixed order. The load/store unit and the block dispatcher are components behind ports. Cycles in which nothing can
// happen are skipped; Options.NoSkip steps them all and gives the same result.
package sm

import (
	"fmt"
	"slices"

	akita "github.com/sarchlab/akita/v3/sim"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/pipelines"
	"github.com/sarchlab/smsim/sim"
)

// SM is one streaming multiprocessor.
type SM struct {
	*sim.Component
	mach   *machine
	kernel *isa.Kernel
	smsps  []*smsp
	fetch  *fetcher
	consts *pipelines.ConstCache
	mem    *pipelines.MemPath
	shared []*pipelines.Shared // by machine.pipes, nil for pipes of a sub-partition
	lsu    *loadStoreUnit
	disp   *dispatcher

	memPort, blockPort akita.Port
	freeRequests       []*memoryRequest
	awaiting           int
	barrier            barrierUnit
	membarFree         uint64

	policy        int
	issueWidth    int
	issueInterval uint64
	readRelease   int
	signalLatency uint8 // cycles until a taken dependency barrier is seen taken
	cyclesPerNS   float64
	noSkip        bool
	maxCycles     uint64
	progress      func(ended, blocks int, insts uint64)
	ticks         uint64 // stepped cycles
	allBlocks     int

	steps      uint64 // executed warp-instructions
	seq        uint64 // warps started
	unfinished int    // blocks not finished
	blocks     []*residentBlock
	finished   uint64 // cycle after the last warp
	at         *smsp  // sub-partition being stepped, for error reports
}

// residentBlock is one block on the SM.
type residentBlock struct {
	index int
	place int // lowest that no other resident block has
	b     *isa.Block
	slots []int // by warp
	left  int   // warps not ended
}

func (s *SM) clockTime(cycle uint64) akita.VTimeInSec { return s.Engine().Clock.Time(cycle) }

// readReleaseCycles is the distance from an instruction's start in a variable-latency pipe to the release of its
// read barrier: its operands are collected in the cycles right after dispatch.
const readReleaseCycles = 4

// build wires the SM, its load/store unit and its block dispatcher.
func build(e *sim.Engine, a *configs.Arch, m *machine, k *isa.Kernel, path *pipelines.MemPath, opt *Options, blocks []int, resident int) (*SM, error) {
	pol, err := policy(a)
	if err != nil {
		return nil, err
	}
	consts, err := pipelines.NewConstCache(a, opt.Cold)
	if err != nil {
		return nil, err
	}
	s := &SM{mach: m, kernel: k, mem: path, consts: consts, policy: pol, issueWidth: max(1, a.SM.IssueWidth),
		issueInterval: uint64(max(1, a.SM.IssueInterval)), readRelease: readReleaseCycles, signalLatency: uint8(a.SM.SignalLatency),
		cyclesPerNS: float64(e.Clock.Freq()) / 1e9, noSkip: opt.NoSkip, maxCycles: opt.MaxCycles, progress: opt.Progress,
		unfinished: len(blocks), allBlocks: len(blocks)}
	k.Clock = func(*isa.Warp) uint64 { return e.Cycle() }
	k.ClockNS = 1 / s.cyclesPerNS
	const name = "SM[0]"
	s.Component = sim.NewComponent(name, e, false, s.tick)
	s.barrier.InitUnit(name + ".BarrierUnit")
	n := max(1, a.SM.SubPartitions)
	p := k.Program
	s.fetch = newFetcher(&a.Fetch, n, len(p.Insts), int(max(8, p.InstBytes)), !opt.Cold, opt.AllSMsActive)

	shared := make([]*pipelines.Pipe, len(m.pipes))
	s.shared = make([]*pipelines.Shared, len(m.pipes))
	for i, spec := range m.pipes {
		if spec.perSM {
			shared[i] = pipelines.NewPipe(name+"."+unitName(spec.name), spec.queue, spec.stall)
			s.shared[i] = pipelines.NewShared(name + "." + unitName(spec.name) + ".Unit")
		}
	}
	local := (a.Occupancy.MaxWarps + n - 1) / n
	if local > maxLocal {
		return nil, fmt.Errorf("%s: %d warps a sub-partition, at most %d are modelled", a.Name, local, maxLocal)
	}
	depBar := false
	for i := range m.code {
		depBar = depBar || m.code[i].kind == kindDepBar && m.code[i].depCount > 0
	}
	for id := range n {
		q := &smsp{sm: s, id: id, next: sim.Never, farMin: sim.Never, picked: -1, latch: -1, ordered: true, turns: turns{inOrder: a.SM.BlockOrder, lasts: uint64(max(0, a.SM.PassIssues))},
			chunks: newChunkPort(&a.Fetch, int(max(8, p.InstBytes)))}
		sub := fmt.Sprintf("%s.SMSP[%d]", name, id)
		q.InitUnit(sub)
		q.rf = regFile{ports: uint64(max(1, a.RegisterFile.ReadPorts)), queue: uint64(max(0, a.RegisterFile.Queue)), freePorts: a.RegisterFile.FreePorts}
		q.rf.InitUnit(sub + ".RegisterFile")
		q.units = make([]*pipelines.UnitQueue, len(m.pipes))
		for i, spec := range m.pipes {
			if spec.perSM && spec.queue > 0 {
				q.units[i] = pipelines.NewUnitQueue(s.shared[i], spec.queue)
			}
			if spec.perSM {
				q.pipes = append(q.pipes, shared[i])
			} else {
				q.pipes = append(q.pipes, pipelines.NewPipe(sub+"."+unitName(spec.name), spec.queue, spec.stall))
			}
		}
		q.warps = make([]warp, local)
		for i := range q.warps {
			q.warps[i].slot = i*n + id
			if depBar {
				q.warps[i].pending = &outstanding{}
			}
		}
		s.smsps = append(s.smsps, q)
	}
	capacity := a.Occupancy.MaxWarps*s.issueWidth + 1
	s.lsu = newLoadStoreUnit(name+".LSU", e, path, capacity)
	s.memPort = sim.NewPort(s.Component, "LSU", capacity)
	sim.NewLink(name+".LSULink", s.memPort, s.lsu.port)
	s.disp = newDispatcher("Dispatcher", e, a.Launch, blocks, resident)
	s.blockPort = sim.NewPort(s.Component, "Dispatcher", resident+1)
	s.disp.smPort = s.blockPort
	sim.NewLink("DispatcherLink", s.blockPort, s.disp.port)
	return s, nil
}

// observe puts a hook on every part that emits records.
func (s *SM) observe(h akita.Hook) {
	s.AcceptHook(h)
	s.lsu.AcceptHook(h)
	for _, p := range s.smsps {
		p.AcceptHook(h)
	}
}

// NotifyRecv implements Akita's Component. Answers of the load/store unit are looked at when the SM steps next: the warps
// they belong to are in the schedule already.
func (s *SM) NotifyRecv(now akita.VTimeInSec, p akita.Port) {
	if p != s.memPort {
		s.Component.NotifyRecv(now, p)
	}
}

// progressTicks is the number of stepped cycles between two calls of Options.Progress: some ten milliseconds.
const progressTicks = 1 << 15

// tick is one cycle of the SM.
func (s *SM) tick(t uint64) {
	if s.ticks++; s.progress != nil && s.ticks%progressTicks == 0 {
		s.progress(s.allBlocks-s.unfinished, s.allBlocks, s.steps)
	}
	s.answers(t)
	now := s.clockTime(t)
	for m := s.blockPort.Retrieve(now); m != nil; m = s.blockPort.Retrieve(now) {
		s.startBlock(m.(*blockMessage), t)
	}
	if t >= s.maxCycles {
		s.Engine().Fail(s.stuck(t, fmt.Sprintf("cycle limit of %d reached", s.maxCycles)))
		return
	}
	next := uint64(sim.Never)
	for _, p := range s.smsps {
		if p.next <= t || s.noSkip {
			s.at = p
			p.step(t)
		}
		next = min(next, p.next)
	}
	s.at = nil
	if s.Engine().Stopped() {
		return
	}
	if s.noSkip && s.unfinished > 0 {
		next = t + 1
	}
	if next != sim.Never {
		s.WakeAt(max(next, t+1))
	}
}

// startBlock gives a block's warps their slots and start cycles. The first warps of blocks in different places are in different sub-partitions: on
// the H200 the busiest sub-partition executes 1.04 of the mean where the first warp of each of three blocks does half as much again as the others
// (`rakescan`, held out), and `sieve`, the first of whose eight warps does three quarters of a block's work, is evenly spread with eight blocks.
// In which order the places take turns does not follow from that.
func (s *SM) startBlock(m *blockMessage, t uint64) {
	b := s.kernel.NewBlock(m.block)
	lc := &s.mach.arch.Launch
	r := &residentBlock{index: m.block, b: b, left: len(b.Warps), place: s.freePlace()}
	n := len(s.smsps)
	for i, w := range b.Warps {
		p, j := s.freeSlot(r.place + i)
		start := max(m.start, t+1) + uint64(i%n*lc.WarpInterval) + uint64(i/n*lc.GroupInterval)
		x := &p.warps[j]
		s.seq++
		slot, pending := x.slot, x.pending
		pending.reset()
		*x = warp{w: w, block: r, slot: slot, seq: s.seq, idx: int32(w.PC()), prev: -2, line: -1, pending: pending}
		p.resident |= 1 << j
		p.turns.join(r, j)
		p.order()
		p.wakeAt(j, start, t)
		r.slots = append(r.slots, x.slot)
	}
	s.blocks = append(s.blocks, r)
}

// freePlace is the lowest place that no resident block has.
func (s *SM) freePlace() (n int) {
	taken := func(x *residentBlock) bool { return x.place == n }
	for slices.ContainsFunc(s.blocks, taken) {
		n++
	}
	return n
}

// freeSlot is a free slot in the sub-partition with the fewest warps, of several the first from the given one on, in turn.
func (s *SM) freeSlot(from int) (*smsp, int) {
	var best *smsp
	for i := range s.smsps {
		p := s.smsps[(from+i)%len(s.smsps)]
		if p.residents() < len(p.warps) && (best == nil || p.residents() < best.residents()) {
			best = p
		}
	}
	if best == nil {
		panic(invariant("no free warp slot for a block that fits"))
	}
	return best, lowest(^best.resident)
}

// warpDone ends a warp of a block; the last one frees the block's place.
func (s *SM) warpDone(b *residentBlock, t uint64) {
	b.left--
	s.finished = max(s.finished, t)
	if b.left > 0 {
		return
	}
	for i, x := range s.blocks {
		if x == b {
			s.blocks = append(s.blocks[:i], s.blocks[i+1:]...)
			break
		}
	}
	s.kernel.Recycle(b.b)
	s.unfinished--
	if s.unfinished == 0 {
		s.Engine().Stop()
		return
	}
	m := &blockMessage{block: b.index, ended: t}
	m.Src, m.Dst, m.SendTime = s.blockPort, s.disp.port, s.clockTime(t)
	if err := s.blockPort.Send(m); err != nil {
		panic(invariant("the dispatcher's port is full"))
	}
}
