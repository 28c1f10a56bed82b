package sm

import (
	"errors"
	"fmt"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/lower"
	"github.com/sarchlab/smsim/pipelines"
	"github.com/sarchlab/smsim/sim"
	"github.com/sarchlab/smsim/sim/observe"
)

// Run executes this SM's blocks of a launch and times them. It returns the result without a functional check (Check
// is "none"); the launch's memory holds what the blocks stored.
//
// Errors: a launch or program that the architecture cannot run, an error of the executed program
// (*ExecutionError), a deadlock or the cycle limit (*StuckError), a bug of the model (*sim.Fault).
func Run(a *configs.Arch, p *isa.Program, l *isa.Launch, opt Options) (*sim.Result, error) {
	t := opt.Target
	if t == nil {
		t = a.Target()
	}
	k, err := isa.Bind(p, t, l)
	if err != nil {
		return nil, err
	}
	blocks, err := opt.blockList(l)
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", p.Name, err)
	}
	occ := a.ResidentBlocks(l.Block.Count(), p.Regs, p.SharedBytes+l.DynamicShared)
	if occ.Blocks < 1 {
		return nil, fmt.Errorf("kernel %s cannot run on %s: a block of %d threads with %d registers a thread and %d bytes of shared memory exceeds the limit of %s",
			p.Name, a.Name, l.Block.Count(), p.Regs, p.SharedBytes+l.DynamicShared, occ.Limiter)
	}
	resident := occ.Blocks
	if opt.ResidentBlocks > 0 {
		resident = min(resident, opt.ResidentBlocks)
	}
	m, err := newMachine(a, p, l.Params)
	if err != nil {
		return nil, err
	}
	for i, s := range lower.BlockStrides(p, l, t.BlockDimBase) {
		m.code[i].stride = s
	}
	cfg := pipelines.MemConfig{SharedCarveout: occ.CarveoutBytes, AllSMsActive: opt.AllSMsActive,
		SMs: max(opt.NumSMs, l.NumSMs, 1), WarmL2: !opt.Cold, L2Bytes: opt.L2Bytes, FootprintBytes: opt.FootprintBytes, ReadBytes: opt.ReadBytes, DRAMBytesCycle: opt.DRAMBytesCycle}
	if opt.WholeBuffers {
		for _, b := range l.Mem.Buffers() {
			cfg.Buffers = append(cfg.Buffers, pipelines.MemBuffer{Addr: b.Addr, Bytes: uint64(len(b.Data))})
		}
	}
	path, err := pipelines.NewMemPath(a, cfg)
	if err != nil {
		return nil, err
	}
	if opt.ClockMHz <= 0 {
		opt.ClockMHz = 1000
	}
	if opt.MaxCycles == 0 {
		opt.MaxCycles = 1e9
	}
	e := sim.NewEngine(sim.NewClock(opt.ClockMHz))
	k.Clock = func(*isa.Warp) uint64 { return e.Cycle() }
	k.ClockNS = 1000 / opt.ClockMHz
	s, err := build(e, a, m, k, path, &opt, blocks, resident)
	if err != nil {
		return nil, err
	}
	col := observe.NewCollector(s.describe(a, p, l, &opt, &occ, len(blocks)))
	s.observe(col)
	for _, h := range opt.Observers {
		s.observe(h)
	}
	s.disp.WakeAt(0)
	if err := sim.Run(e, s.where); err != nil {
		if errors.Is(err, sim.ErrIdle) {
			err = s.stuck(e.Cycle(), "deadlock: no warp can ever continue")
		}
		return nil, err
	}
	if s.steps != col.Issued() {
		return nil, errors.New(invariant("observers saw %d of %d issued instructions", col.Issued(), s.steps))
	}
	return col.Result(s.finished + uint64(max(a.Launch.Exit, 0)))
}

// describe tells the collector what it observes.
func (s *SM) describe(a *configs.Arch, p *isa.Program, l *isa.Launch, opt *Options, occ *configs.OccupancyResult, blocks int) observe.Machine {
	d := observe.Machine{Arch: a.Name, Board: opt.Board, ClockMHz: opt.ClockMHz, SubPartitions: len(s.smsps), IssueInterval: int(s.issueInterval),
		Program: p, Grid: l.Grid, Block: l.Block, Blocks: blocks, SharedBytes: p.SharedBytes + l.DynamicShared,
		MaxWarps: occ.MaxWarps, TheoreticalBlocks: occ.Blocks, TheoreticalWarps: occ.Warps, OccupancyLimiter: occ.Limiter,
		SampleCycles: opt.SampleCycles, Hot: opt.HotInstructions, LSU: s.mach.lsu}
	for _, spec := range s.mach.pipes {
		n := len(s.smsps)
		if spec.perSM {
			n = 1
		}
		d.Pipes = append(d.Pipes, observe.Pipe{Name: spec.name, Instances: n})
	}
	d.Latencies = sim.Latencies{L1: a.LSU.L1Latency, L2: a.Memory.L2Latency, DRAM: a.Memory.DRAMLatency}
	d.DRAMBytesCycle, d.L2BytesCycle = a.Memory.DRAMBytesCycle, a.Memory.L2BytesCycle
	if opt.AllSMsActive {
		if a.Memory.L2BytesCycleAll > 0 {
			d.L2BytesCycle = a.Memory.L2BytesCycleAll
		}
		d.DRAMBytesCycle = a.Memory.DRAMBytesCycleAll
		if opt.DRAMBytesCycle > 0 {
			d.DRAMBytesCycle = opt.DRAMBytesCycle
		}
	}
	d.ClassPipe = make([]int, isa.NumClasses)
	d.ClassConfidence = make([]string, isa.NumClasses)
	for c := isa.Class(1); c < isa.NumClasses; c++ {
		d.ClassPipe[c] = -1
		row, ok := a.Classes[c.String()]
		if !ok {
			continue
		}
		d.ClassConfidence[c] = string(row.Confidence)
		for i, spec := range s.mach.pipes {
			if len(row.Pipe) > 0 && spec.name == row.Pipe[0] {
				d.ClassPipe[c] = i
			}
		}
	}
	return d
}
