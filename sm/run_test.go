package sm

import (
	"encoding/binary"
	"reflect"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/sim"
)

func arch(t testing.TB, name string, over ...string) *configs.Arch {
	t.Helper()
	var o []configs.Override
	for _, s := range over {
		v, err := configs.ParseOverride(s)
		if err != nil {
			t.Fatal(err)
		}
		o = append(o, v)
	}
	a, err := configs.Load(name, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// code builds a program of one target from instructions; control that a test leaves zero is stall 1, no barriers, greedy.
func code(insts ...isa.Inst) *isa.Program {
	p := &isa.Program{Name: "test", SM: 90, Regs: 64, InstBytes: 16, SourceFile: "test", ParamBase: 0x210}
	for i := range insts {
		in := insts[i]
		in.PC = uint32(i * 16)
		in.Pos = isa.SourcePos{Line: int32(i + 1), Col: 1, CUFile: -1}
		p.Insts = append(p.Insts, in)
	}
	return p
}

var plain = isa.Control{Stall: 1, Yield: true, WriteBar: isa.NoBar, ReadBar: isa.NoBar}

func op(o isa.Op, dst isa.Operand, src ...isa.Operand) isa.Inst {
	in := isa.Inst{Op: o, Ctrl: plain}
	if dst.Kind != isa.KindNone {
		in.NDst, in.Dst[0] = 1, dst
	}
	copy(in.Src[:], src)
	in.NSrc = uint8(len(src))
	return in
}

func (c ctl) on(in isa.Inst) isa.Inst {
	if c.stall > 0 {
		in.Ctrl.Stall = c.stall
	}
	if c.set >= 0 {
		in.Ctrl.WriteBar = uint8(c.set)
	}
	in.Ctrl.WaitMask = c.wait
	if c.off {
		in.Ctrl.Yield = false
	}
	return in
}

// ctl is the control information of a test instruction; set -1 sets no barrier.
type ctl struct {
	stall uint8
	set   int
	wait  uint8
	off   bool // yield bit 0: prefer another warp
}

func stall(n uint8, in isa.Inst) isa.Inst { return ctl{stall: n, set: -1}.on(in) }

var none isa.Operand

func iadd3(d, a, b, c isa.Reg) isa.Inst {
	return op(isa.OpIADD3, isa.R(d), isa.R(a), isa.R(b), isa.R(c))
}
func imad(d, a, b, c isa.Reg) isa.Inst { return op(isa.OpIMAD, isa.R(d), isa.R(a), isa.R(b), isa.R(c)) }
func ffma(d, a, b, c isa.Reg) isa.Inst { return op(isa.OpFFMA, isa.R(d), isa.R(a), isa.R(b), isa.R(c)) }
func nop() isa.Inst                    { return op(isa.OpNOP, none) }
func exit() isa.Inst                   { return op(isa.OpEXIT, none) }
func bar() isa.Inst {
	in := op(isa.OpBAR, none, isa.I(0))
	in.Mod.Sub = isa.SubSync
	return in
}

// issues records the cycle of every issue by slot and the warp states before it.
type issues struct {
	at     map[int][]uint64
	waited map[int][]map[sim.WarpState]uint64
	ends   map[int]uint64
}

func run(t testing.TB, a *configs.Arch, p *isa.Program, grid, threads int, opt Options) (*issues, *sim.Result) {
	t.Helper()
	rec := &issues{at: map[int][]uint64{}, waited: map[int][]map[sim.WarpState]uint64{}, ends: map[int]uint64{}}
	opt.Observers = append(opt.Observers, rec)
	r, err := Run(a, p, launch(grid, threads), opt)
	if err != nil {
		t.Fatal(err)
	}
	return rec, r
}

func launch(grid, threads int) *isa.Launch {
	return &isa.Launch{Grid: isa.Dim3{X: uint32(grid), Y: 1, Z: 1}, Block: isa.Dim3{X: uint32(threads), Y: 1, Z: 1}, Mem: isa.NewMemory(), Params: make([]byte, 64)}
}

// gate runs one warp and returns the distance between the issues of the last two instructions before EXIT, and the states in between.
func gate(t *testing.T, a *configs.Arch, insts ...isa.Inst) (uint64, map[sim.WarpState]uint64) {
	t.Helper()
	p := code(append(insts, exit())...)
	p.SharedBytes = 1024
	rec, _ := run(t, a, p, 1, 32, Options{})
	at := rec.at[0]
	n := len(at) - 2
	return at[n] - at[n-1], rec.waited[0][n]
}

func TestGates(t *testing.T) {
	hopper := arch(t, "sm_90")
	setp := op(isa.OpISETP, isa.P(0), isa.R(0), isa.R(1), isa.P(isa.PT))
	setp.Mod.Cmp = isa.CmpEQ
	never := func(in isa.Inst) isa.Inst { in.Guard = isa.NotP(isa.PT); return in }
	jump := func(to int) isa.Inst { return stall(5, op(isa.OpBRA, none, isa.Label(to))) }
	wide := op(isa.OpIMAD, isa.R(4), isa.R(0), isa.R(1), isa.R(2))
	wide.Mod.Flags |= isa.ModWide
	wideRZ := op(isa.OpIMAD, isa.R(4), isa.R(0), isa.R(1), isa.R(isa.RZ))
	wideRZ.Mod.Flags |= isa.ModWide
	popc := func(set int) isa.Inst { return ctl{stall: 1, set: set}.on(op(isa.OpPOPC, isa.R(4), isa.R(0))) }
	hfma2 := op(isa.OpHFMA2, isa.R(4), isa.R(0), isa.R(1), isa.R(isa.RZ))
	reuse := func(in isa.Inst, slots ...int) isa.Inst {
		for _, s := range slots {
			in.Src[s].Flags |= isa.Reuse
		}
		return in
	}
	idx := func(in isa.Inst) isa.Inst { in.Mod.Sub = isa.SubIdx; return in }
	special := func(r isa.SpecialReg) isa.Inst { return ctl{stall: 2, set: 0}.on(op(isa.OpS2R, isa.R(4), isa.SR(r))) }
	s2ur := ctl{stall: 2, set: 0}.on(op(isa.OpS2UR, isa.Operand{Kind: isa.KindUReg, Reg: 4}, isa.SR(isa.SRCtaidX)))
	ret := stall(5, op(isa.OpRET, none, isa.R(4), isa.I(32)))
	ret.Mod.Flags |= isa.ModREL | isa.ModNoInc
	shflTo := func(bar int, lane isa.Operand) isa.Inst {
		return ctl{stall: 1, set: bar}.on(idx(op(isa.OpSHFL, isa.R(4), isa.R(0), lane, isa.I(0x1f))))
	}
	shfl := func(lane isa.Operand) isa.Inst { return shflTo(0, lane) }
	lds := ctl{stall: 1, set: 0}.on(op(isa.OpLDS, isa.R(4), isa.Mem(isa.RZ, 0, false)))
	lds.Mod.Size = 4
	match := ctl{stall: 2, set: 0}.on(op(isa.OpMATCH, isa.R(4), isa.R(0)))
	match.Mod.Sub = isa.SubAny
	lane := ctl{stall: 2, set: 1}.on(op(isa.OpS2R, isa.R(0), isa.SR(isa.SRLaneID)))
	constant := op(isa.OpIADD3, isa.R(4), isa.R(0), isa.C(0, 0x210), isa.R(isa.RZ))
	fence := op(isa.OpMEMBAR, none)
	fence.Mod.Flags |= isa.ModCTA
	sleep := op(isa.OpNANOSLEEP, none, isa.I(0))
	bssy := op(isa.OpBSSY, isa.Operand{Kind: isa.KindBarrier, Reg: 0}, isa.Label(1))
	bssy.NDst, bssy.NSrc, bssy.Src[0], bssy.Src[1] = 0, 2, isa.Operand{Kind: isa.KindBarrier, Reg: 0}, isa.Label(1)
	bsync := op(isa.OpBSYNC, none, isa.Operand{Kind: isa.KindBarrier, Reg: 0})
	for _, c := range []struct {
		name   string
		insts  []isa.Inst
		cycles uint64 // distance of the last two issues
		state  sim.WarpState
		blames uint64 // cycles in that state
	}{
		{"issue every cycle", []isa.Inst{nop(), nop()}, 1, sim.Wait, 0},
		{"stall count", []isa.Inst{stall(7, nop()), nop()}, 7, sim.Wait, 6},
		{"same pipe", []isa.Inst{iadd3(4, 0, 1, isa.RZ), iadd3(5, 0, 1, isa.RZ)}, 2, sim.MathPipeThrottle, 1},
		{"other pipe", []isa.Inst{iadd3(4, 0, 1, isa.RZ), imad(5, 0, 1, isa.RZ)}, 1, sim.MathPipeThrottle, 0},
		{"second FMA half", []isa.Inst{ffma(4, 0, 1, isa.RZ), ffma(5, 0, 1, isa.RZ)}, 1, sim.MathPipeThrottle, 0},
		{"both FMA halves busy", []isa.Inst{ffma(4, 0, 1, isa.RZ), ffma(5, 0, 1, isa.RZ), ffma(6, 0, 1, isa.RZ)}, 1, sim.MathPipeThrottle, 0},
		{"HFMA2 needs both halves", []isa.Inst{ffma(4, 0, 1, isa.RZ), hfma2}, 2, sim.MathPipeThrottle, 1},
		{"wide multiply holds the warp", []isa.Inst{wideRZ, nop()}, 3, sim.DispatchStall, 2},
		{"second pass lets other ports read at once", []isa.Inst{wide, iadd3(8, 7, isa.RZ, isa.RZ)}, 3, sim.DispatchStall, 2},
		{"second pass holds the port that it reads last", []isa.Inst{wide, iadd3(8, isa.RZ, 7, isa.RZ)}, 4, sim.DispatchStall, 3},
		{"a read through another port is not late", []isa.Inst{wide, iadd3(8, isa.RZ, 6, isa.RZ), wide}, 1, sim.DispatchStall, 0},
		{"a read through a held port is late", []isa.Inst{wide, iadd3(8, 6, isa.RZ, isa.RZ), wide}, 2, sim.DispatchStall, 1},
		{"wide multiply holds the pipe", []isa.Inst{wideRZ, imad(6, 0, 1, isa.RZ)}, 4, sim.MathPipeThrottle, 1},
		{"two-pass multiply reads the previous result in its first pass", []isa.Inst{stall(4, imad(0, 6, 7, isa.RZ)), wideRZ}, 5, sim.Wait, 4},
		{"two-pass multiply reads another register", []isa.Inst{stall(4, imad(10, 6, 7, isa.RZ)), wideRZ}, 4, sim.Wait, 3},
		{"low word of a wide multiply is read", []isa.Inst{stall(5, wideRZ), imad(8, 4, 1, isa.RZ)}, 8, sim.Wait, 5},
		{"high word of a wide multiply is read", []isa.Inst{stall(5, wideRZ), imad(8, 5, 1, isa.RZ)}, 7, sim.Wait, 4},
		{"a load's address is a wide multiply", []isa.Inst{stall(5, wideRZ), op(isa.OpLDS, isa.R(8), isa.Mem(4, 0, false))}, 8, sim.Wait, 5},
		{"three reads of a bank", []isa.Inst{ffma(8, 0, 2, 4), ffma(9, 0, 2, 4)}, 3, sim.DispatchStall, 2},
		{"a register named twice is read once", []isa.Inst{ffma(8, 0, 0, 0), ffma(9, 0, 0, 0)}, 1, sim.DispatchStall, 0},
		{"reuse cache", []isa.Inst{reuse(ffma(8, 0, 2, 4), 0, 1, 2), ffma(9, 0, 2, 4)}, 1, sim.DispatchStall, 0},
		{"reuse cache empty after another instruction", []isa.Inst{reuse(ffma(8, 0, 2, 4), 0, 1, 2), nop(), ffma(9, 0, 2, 4)}, 2, sim.DispatchStall, 1},
		{"opposite majorities overlap", []isa.Inst{ffma(8, 0, 1, 2), ffma(9, 1, 0, 3)}, 1, sim.DispatchStall, 0},
		{"predicated off reads nothing", []isa.Inst{never(ffma(8, 0, 2, 4)), never(ffma(9, 0, 2, 4))}, 1, sim.DispatchStall, 0},
		{"dependency barrier", []isa.Inst{stall(2, popc(0)), ctl{stall: 1, set: -1, wait: 1}.on(nop())}, 17, sim.ShortScoreboard, 15},
		{"barrier not seen taken yet", []isa.Inst{popc(0), ctl{stall: 1, set: -1, wait: 1}.on(nop())}, 1, sim.ShortScoreboard, 0},
		{"other barrier", []isa.Inst{popc(0), ctl{stall: 1, set: -1, wait: 2}.on(nop())}, 1, sim.ShortScoreboard, 0},
		{"transcendental queue takes one", []isa.Inst{popc(0), popc(1)}, 1, sim.MIOThrottle, 0},
		{"transcendental queue is full", []isa.Inst{popc(0), popc(1), popc(2)}, 7, sim.MIOThrottle, 6},
		{"special register of a lane", []isa.Inst{special(isa.SRTidX), ctl{stall: 1, set: -1, wait: 1}.on(nop())}, 23, sim.ShortScoreboard, 21},
		{"special register of a block", []isa.Inst{special(isa.SRCtaidX), ctl{stall: 1, set: -1, wait: 1}.on(nop())}, 25, sim.ShortScoreboard, 23},
		{"special register into a uniform one", []isa.Inst{s2ur, ctl{stall: 1, set: -1, wait: 1}.on(nop())}, 35, sim.ShortScoreboard, 33},
		{"shuffle by a constant", []isa.Inst{shfl(isa.I(1)), shfl(isa.I(1)), shfl(isa.I(1)), stall(2, shflTo(1, isa.I(1))), ctl{stall: 1, set: -1, wait: 2}.on(nop())}, 24 + 3, sim.ShortScoreboard, 25},
		{"shuffle by a register takes the port twice as long", []isa.Inst{shfl(isa.R(7)), shfl(isa.R(7)), shfl(isa.R(7)), stall(2, shflTo(1, isa.R(7))), ctl{stall: 1, set: -1, wait: 2}.on(nop())}, 26 + 9, sim.ShortScoreboard, 33},
		{"shared load", []isa.Inst{stall(2, lds), ctl{stall: 1, set: -1, wait: 1}.on(nop())}, 23, sim.ShortScoreboard, 21},
		{"match of one value", []isa.Inst{stall(2, match), ctl{stall: 1, set: -1, wait: 1}.on(nop())}, 28, sim.ShortScoreboard, 26},
		{"match of 32 values", []isa.Inst{lane, ctl{stall: 2, set: 0, wait: 2}.on(match), ctl{stall: 1, set: -1, wait: 1}.on(nop())}, 28 + 31*11, sim.ShortScoreboard, 26 + 31*11},
		{"constant hits", []isa.Inst{constant, stall(1, constant)}, 2, sim.IMCMiss, 0},
		{"constant misses both levels", []isa.Inst{nop(), constant}, 109, sim.IMCMiss, 108},
		{"taken branch to the next instruction", []isa.Inst{jump(1), nop()}, 10, sim.BranchResolving, 4},
		{"the target of a taken branch is fetched", []isa.Inst{jump(1), nop()}, 10, sim.NoInstruction, 1},
		{"branch not taken", []isa.Inst{never(jump(2)), nop()}, 5, sim.Wait, 4},
		{"taken branch elsewhere", []isa.Inst{jump(2), nop(), nop()}, 10, sim.BranchResolving, 4},
		{"stall count of a taken branch", []isa.Inst{jump(2), nop(), nop()}, 10, sim.Wait, 4},
		{"return to an address in a register", []isa.Inst{ret, nop(), nop()}, 38, sim.BranchResolving, 32},
		{"memory barrier of the chip", []isa.Inst{op(isa.OpMEMBAR, none), nop()}, 266, sim.Membar, 265},
		{"memory barrier of the block", []isa.Inst{fence, nop()}, 9, sim.Membar, 8},
		{"sleep", []isa.Inst{sleep, nop()}, 76, sim.Sleeping, 75},
		{"convergence barrier", []isa.Inst{stall(4, bssy), bsync, nop()}, 14, sim.BranchResolving, 13},
		{"block barrier of one warp", []isa.Inst{bar(), nop()}, 13, sim.Barrier, 12},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, states := gate(t, hopper, c.insts...)
			if got != c.cycles || states[c.state] != c.blames {
				t.Errorf("issues %d cycles later with %d in %s; want %d with %d\nall states: %v", got, states[c.state], c.state, c.cycles, c.blames, states)
			}
		})
	}
}

// TestCopyGroup: a copy to shared memory is waited for through the group that closes after it, as a load is.
func TestCopyGroup(t *testing.T) {
	a := arch(t, "sm_90")
	pointer := op(isa.OpMOV, isa.R(2), isa.C(0, 0x210))
	high := stall(5, op(isa.OpMOV, isa.R(3), isa.C(0, 0x214)))
	copied := stall(2, op(isa.OpLDGSTS, none, isa.Mem(isa.RZ, 0, false), isa.Mem(2, 0, true)))
	copied.Mod.Size = 4
	load := ctl{stall: 2, set: 0}.on(op(isa.OpLDG, isa.R(4), isa.Mem(2, 0, true)))
	load.Mod.Size = 4
	group := ctl{stall: 2, set: 0}.on(op(isa.OpLDGDEPBAR, none))
	wait := op(isa.OpDEPBAR, none, isa.Operand{Kind: isa.KindBarrier, Reg: 0}, isa.I(0))
	wait.Mod.Cmp = isa.CmpLE
	distance := func(insts ...isa.Inst) (uint64, map[sim.WarpState]uint64) {
		p := code(append(append([]isa.Inst{pointer, high}, insts...), exit())...)
		p.SharedBytes = 1024
		la := launch(1, 32)
		b := la.Mem.Alloc("data", 1024)
		binary.LittleEndian.PutUint64(la.Params, b.Addr)
		rec := &issues{at: map[int][]uint64{}, waited: map[int][]map[sim.WarpState]uint64{}, ends: map[int]uint64{}}
		opt := Options{}
		opt.Observers = append(opt.Observers, rec)
		if _, err := Run(a, p, la, opt); err != nil {
			t.Fatal(err)
		}
		return rec.at[0][len(insts)+1] - rec.at[0][2], rec.waited[0][len(insts)+1]
	}
	loaded, _ := distance(load, ctl{stall: 1, set: -1, wait: 1}.on(nop()))
	got, states := distance(copied, group, wait)
	if got < loaded || got > loaded+20 || states[sim.LongScoreboard] == 0 {
		t.Errorf("the group is there %d cycles after the copy; a load %d after it; states %v", got, loaded, states)
	}
	if got, _ := distance(group, wait); got > 10 {
		t.Errorf("an empty group takes %d cycles", got)
	}
}

func TestBarrierOfManyWarps(t *testing.T) {
	for _, warps := range []int{4, 16, 32} {
		rec, _ := run(t, arch(t, "sm_90"), code(bar(), bar(), nop(), exit()), 1, warps*32, Options{})
		// From the second barrier's first arrival to the first NOP: 11 + 2.05 a warp.
		first, next := uint64(sim.Never), uint64(sim.Never)
		for _, at := range rec.at {
			first, next = min(first, at[1]), min(next, at[2])
		}
		if got, want := next-first, uint64(11+2.05*float64(warps)); got != want {
			t.Errorf("%d warps: %d cycles, want %d", warps, got, want)
		}
	}
}

// loop is a mixed kernel with divergence-free loop, shared memory, barriers and variable-latency instructions.
func loop(n uint32) *isa.Program {
	mov := stall(6, op(isa.OpMOV, isa.R(0), isa.I(0)))
	lds := ctl{stall: 1, set: 0}.on(op(isa.OpLDS, isa.R(4), isa.Mem(isa.RZ, 64, false)))
	lds.Mod.Size = 4
	step := stall(6, op(isa.OpIADD3, isa.R(0), isa.R(0), isa.I(1), isa.R(isa.RZ)))
	cmp := stall(13, op(isa.OpISETP, isa.P(0), isa.R(0), isa.I(n), isa.P(isa.PT)))
	cmp.NDst, cmp.Dst[1], cmp.Mod.Cmp = 2, isa.P(isa.PT), isa.CmpLT
	back := stall(5, op(isa.OpBRA, none, isa.Label(1)))
	back.Guard = isa.P(0)
	p := code(mov,
		lds,
		imad(5, 6, 7, 8), ffma(9, 6, 8, 10), iadd3(11, 6, 7, 8),
		ctl{stall: 2, set: 1}.on(op(isa.OpPOPC, isa.R(12), isa.R(6))),
		ctl{stall: 4, set: -1, wait: 3, off: true}.on(iadd3(13, 4, 12, 8)),
		bar(),
		step, cmp, back, exit())
	p.SharedBytes = 1024
	return p
}

// TestSkippingIdleCyclesChangesNothing compares with stepping every cycle, and two runs with each other.
func TestSkippingIdleCyclesChangesNothing(t *testing.T) {
	for _, name := range []string{"sm_90", "sm_86", "sm_61", "sm_35", "sm_20", "sm_13"} {
		for _, policy := range []string{"gty", "gto", "lrr"} {
			a := arch(t, name, "warp_scheduler="+policy)
			p := loop(5)
			if name != "sm_90" {
				p = old()
			}
			p.SM = a.SMNumber()
			rec, skip := run(t, a, p, 7, 192, Options{ResidentBlocks: 2, SampleCycles: 100})
			rec2, all := run(t, a, p, 7, 192, Options{ResidentBlocks: 2, SampleCycles: 100, NoSkip: true})
			rec3, again := run(t, a, p, 7, 192, Options{ResidentBlocks: 2, SampleCycles: 100})
			if !reflect.DeepEqual(skip, all) || !reflect.DeepEqual(rec, rec2) {
				t.Errorf("%s %s: skipping idle cycles: %d cycles, stepping all: %d", name, policy, skip.Cycles, all.Cycles)
			}
			if !reflect.DeepEqual(skip, again) || !reflect.DeepEqual(rec, rec3) {
				t.Errorf("%s %s: two runs differ", name, policy)
			}
		}
	}
}

// old is a program that every generation has.
func old() *isa.Program {
	var list []isa.Inst
	for range 20 {
		list = append(list, op(isa.OpMOV, isa.R(3), isa.R(1)), stall(3, op(isa.OpMOV, isa.R(4), isa.R(2))), bar())
	}
	return code(append(list, exit())...)
}

func TestErrors(t *testing.T) {
	a := arch(t, "sm_90")
	spin := code(stall(5, op(isa.OpBRA, none, isa.Label(0))), exit())
	for _, c := range []struct {
		name string
		p    *isa.Program
		opt  Options
		want string
	}{
		{"endless loop", spin, Options{MaxCycles: 5000}, "cycle limit of 5000 reached (cycle 5000)\n  block 0 warp 0 at BRA (instruction 0, test:1:1)"},
		{"block not in the grid", spin, Options{Blocks: []int{3}}, "kernel test: block 3 is not in the grid of 1 blocks"},
		{"SM without block", spin, Options{NumSMs: 4, SMID: 2}, "kernel test: SM 2 of 4 gets no block of a grid of 1"},
	} {
		_, err := Run(a, c.p, launch(1, 32), c.opt)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant %s", c.name, err, c.want)
		}
	}
}

// TestDualIssue: a stall count of 0 lets the next instruction issue in the same cycle when it needs another pipe.
func TestDualIssue(t *testing.T) {
	a := arch(t, "sm_61")
	add := op(isa.OpIADD, isa.R(4), isa.R(0), isa.R(1))
	other := op(isa.OpIADD, isa.R(5), isa.R(0), isa.R(1))
	pair := func(in isa.Inst) isa.Inst { in.Ctrl.Stall = 0; return in }
	for _, c := range []struct {
		name   string
		insts  []isa.Inst
		cycles uint64
		dual   bool
	}{
		{"another pipe", []isa.Inst{pair(add), nop()}, 0, true},
		{"not allowed by the stall count", []isa.Inst{add, nop()}, 1, false},
		{"waits for a barrier", []isa.Inst{ctl{stall: 2, set: 0}.on(op(isa.OpPOPC, isa.R(6), isa.R(0))), pair(add), ctl{stall: 1, set: -1, wait: 1}.on(nop())}, 1, false},
		{"control instruction", []isa.Inst{pair(add), bar()}, 1, false},
		{"independent addition on a free pipe or not", []isa.Inst{pair(add), other}, 1, false},
	} {
		p := code(append(c.insts, exit())...)
		p.SM, p.ParamBase, p.InstBytes = 61, 0x140, 8
		rec, r := run(t, a, p, 1, 32, Options{})
		at := rec.at[0]
		n := len(c.insts) - 1
		got := at[n] - at[n-1]
		if c.dual && got != c.cycles || !c.dual && got < c.cycles {
			t.Errorf("%s: %d cycles, want %d", c.name, got, c.cycles)
		}
		if want := uint64(len(at)); r.WarpInstructions != want {
			t.Errorf("%s: %d instructions counted, %d issued", c.name, r.WarpInstructions, want)
		}
	}
}

// TestReadsOfTwoWarps measures the distance of two issues in a dependent chain when another warp's instruction waits behind the reads.
func TestReadsOfTwoWarps(t *testing.T) {
	for _, c := range []struct {
		name    string
		warps   int
		a, b, c isa.Reg
		want    uint64
	}{
		{"one warp, two reads of a bank", 1, 24, 17, 18, 4},
		{"two warps in two sub-partitions", 2, 24, 17, 18, 4},
		{"two warps of a sub-partition", 5, 24, 17, 18, 5},
		{"two warps of a sub-partition, one read of each bank", 5, 24, 17, isa.RZ, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			var insts []isa.Inst
			for range 24 {
				insts = append(insts, ctl{stall: 4, set: -1, off: true}.on(ffma(c.a, c.a, c.b, c.c)))
			}
			rec, _ := run(t, arch(t, "sm_90"), code(append([]isa.Inst{bar()}, append(insts, exit())...)...), 1, 32*c.warps, Options{})
			at := rec.at[0]
			if got := at[20] - at[10]; got != 10*c.want {
				t.Errorf("ten links take %d cycles, want %d", got, 10*c.want)
			}
		})
	}
}

// TestIndexedBranch measures an indexed branch to 1 and to 32 targets, each of which branches to the common BSYNC.
func TestIndexedBranch(t *testing.T) {
	const first = 4 // instruction of the first target
	for _, c := range []struct {
		name     string
		index    isa.Operand
		branch   uint64 // BRX to the first target
		newest   uint64 // the first target to the one stored last
		next     uint64 // that and every other target to the next
		targets  int
		override string
	}{
		{"one target", isa.R(isa.RZ), 40, 0, 0, 1, "control_flow.indexed_branch=30"},
		{"a target for each lane", isa.R(0), 40, 64, 64, 32, "control_flow.indexed_branch=30"},
		{"branch unit without that cost", isa.R(0), 10, 25, 25 + 35, 32, "control_flow.indexed_branch=0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b0 := isa.Operand{Kind: isa.KindBarrier, Reg: 0}
			lane := ctl{stall: 2, set: 0}.on(op(isa.OpS2R, isa.R(0), isa.SR(isa.SRLaneID)))
			mad := ctl{stall: 6, set: -1, wait: 1}.on(op(isa.OpIMAD, isa.R(1), c.index, isa.I(16), isa.I(16*first)))
			insts := []isa.Inst{lane, mad, stall(4, op(isa.OpBSSY, none, b0, isa.Label(first+32))), stall(5, op(isa.OpBRX, none, isa.R(1), isa.I(0)))}
			for range 32 {
				insts = append(insts, stall(5, op(isa.OpBRA, none, isa.Label(first+32))))
			}
			rec, _ := run(t, arch(t, "sm_90", c.override), code(append(insts, op(isa.OpBSYNC, none, b0), exit())...), 1, 32, Options{})
			at := rec.at[0]
			if len(at) != first+2*c.targets+1 {
				t.Fatalf("%d issues, want %d", len(at), first+2*c.targets+1)
			}
			if got := at[first] - at[first-1]; got != c.branch {
				t.Errorf("first target after %d cycles, want %d", got, c.branch)
			}
			for i := 1; i < c.targets; i++ {
				want := c.next
				if i == 1 {
					want = c.newest
				}
				if got := at[first+2*i] - at[first+2*i-2]; got != want {
					t.Errorf("target %d after %d cycles, want %d", i, got, want)
				}
			}
		})
	}
}

// TestLaunchPrefetch: in a cold launch code up to the prefetched size runs at the second level's rate, code behind it at that of L2.
func TestLaunchPrefetch(t *testing.T) {
	a := arch(t, "sm_90")
	limit := a.Fetch.LaunchPrefetch / 16
	span := func(n int) float64 {
		body := make([]isa.Inst, n)
		for i := range body {
			body[i] = op(isa.OpFADD, isa.R(isa.Reg(10+i%8)), isa.R(isa.Reg(40)), isa.R(isa.Reg(41)))
		}
		rec, _ := run(t, a, code(append(body, exit())...), 1, 32, Options{Cold: true})
		return float64(rec.at[0][n-1] - rec.at[0][0])
	}
	half, whole, more := span(limit/2), span(limit), span(limit+1024)
	if got := (whole - half) / float64(limit/2); got < 1.95 || got > 2.1 {
		t.Errorf("prefetched code: %.2f cycles an instruction, want 2", got)
	}
	if got := (more - whole) / 1024; got < 4 {
		t.Errorf("code that is not prefetched: %.2f cycles an instruction, want those of L2", got)
	}
}
