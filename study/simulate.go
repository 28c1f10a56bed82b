package study

import (
	"errors"
	"fmt"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/sim"
	"github.com/sarchlab/smsim/sm"
	"github.com/sarchlab/smsim/workloads"
)

// simulate runs the blocks on one SM of the machine. Where other SMs share the grid they are taken as busy too: this one
// gets its share of L2 and DRAM bandwidth.
func simulate(m *machine, p *isa.Program, l *isa.Launch, args []workloads.Arg, blocks []int, s *workloads.Settings, pr *probes,
	progress func(ended, blocks int, insts uint64)) (*sim.Result, error) {
	opt := sm.Options{
		Blocks: blocks, SMID: l.SMID, NumSMs: l.NumSMs, Target: m.target,
		AllSMsActive: fillsChip(l, len(blocks)),
		ClockMHz:     m.board.ClockMHz, Board: m.board.Name,
		Cold:      s.Caches == workloads.CachesCold,
		L2Bytes:   m.board.L2KB << 10,
		MaxCycles: s.CycleLimit, Progress: progress, HotInstructions: pr.hot, SampleCycles: pr.sample,
	}
	if opt.MaxCycles == 0 {
		opt.MaxCycles = DefaultCycleLimit
	}
	opt.WholeBuffers = true
	for _, b := range l.Mem.Buffers() {
		opt.FootprintBytes += uint64(len(b.Data))
	}
	for i := range args {
		if a := &args[i]; a.IsBuffer() && !a.Out {
			opt.ReadBytes += a.Bytes
		}
	}
	if m.board.SMs > 0 && (m.otherBoard || m.arch.Memory.DRAMBytesCycleAll == 0) {
		opt.DRAMBytesCycle = m.board.MemoryGBs * 1000 / m.board.ClockMHz / float64(m.board.SMs)
	}
	if pr.trace != nil {
		opt.Observers = append(opt.Observers, pr.trace)
	}
	r, err := sm.Run(m.arch, p, l, opt)
	var stuck *sm.StuckError
	if errors.As(err, &stuck) && stuck.Cycle >= opt.MaxCycles {
		stuck.Cycle = opt.MaxCycles // the clock may jump over it
		err = fmt.Errorf("%w\n  an endless loop? If the kernel only takes long, raise the limit: --cycle-limit or cycle_limit", err)
	}
	return r, err
}

// fillsChip says whether the rest of the grid keeps the other SMs busy: at least half of them get a block that this SM does
// not run. A smaller grid leaves bandwidth and atomic units to this SM almost alone.
func fillsChip(l *isa.Launch, here int) bool {
	return l.NumSMs > 1 && 2*(l.Grid.Count()-here) >= l.NumSMs-1
}
