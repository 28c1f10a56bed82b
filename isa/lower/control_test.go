package lower

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
)

// op makes an instruction for the control tests.
func op(o isa.Op, mod isa.Mod, dst []isa.Operand, src ...isa.Operand) isa.Inst {
	in := isa.Inst{Op: o, Mod: mod, NDst: uint8(len(dst)), NSrc: uint8(len(src))}
	copy(in.Dst[:], dst)
	copy(in.Src[:], src)
	fillLayout(&in)
	return in
}

// d is a list of destinations.
func d(o ...isa.Operand) []isa.Operand { return o }

// TestControlGates: a dependent instruction issues when its source is ready and not a cycle before.
func TestControlGates(t *testing.T) {
	target := testTarget(90)
	add := func(dst, a, b isa.Reg) isa.Inst {
		return op(isa.OpIADD3, isa.Mod{}, d(isa.R(dst)), isa.R(a), isa.R(b), rz)
	}
	mul := func(dst, a, b isa.Reg) isa.Inst {
		return op(isa.OpIMAD, isa.Mod{Type: isa.S32}, d(isa.R(dst)), isa.R(a), isa.R(b), rz)
	}
	exit := op(isa.OpEXIT, isa.Mod{}, nil)
	load := op(isa.OpLDG, isa.Mod{Size: 4}, d(isa.R(4)), isa.Mem(2, 0, true))
	setp := op(isa.OpISETP, isa.Mod{Type: isa.S32, Cmp: isa.CmpLT}, d(isa.P(0)), isa.R(4), isa.R(5))
	guarded := add(6, 4, 5)
	guarded.Guard = isa.P(0)
	branch := op(isa.OpBRA, isa.Mod{}, nil, isa.Label(0))
	branch.Guard = isa.P(0)
	store := op(isa.OpSTG, isa.Mod{Size: 4}, nil, isa.Mem(2, 0, true), isa.R(4))
	for _, c := range []struct {
		name  string
		insts []isa.Inst
		want  string // stalls, then wait masks of each instruction
	}{
		{"same pipe", []isa.Inst{add(4, 2, 3), add(5, 4, 3), exit}, "4 1 5 / 0 0 0"},
		{"independent on one pipe: issue interval", []isa.Inst{add(4, 2, 3), add(5, 2, 3), exit}, "2 1 5 / 0 0 0"},
		{"independent on two pipes", []isa.Inst{add(4, 2, 3), mul(5, 2, 3), exit}, "1 1 5 / 0 0 0"},
		{"across pipes: one more cycle", []isa.Inst{add(4, 2, 3), mul(5, 4, 3), exit}, "5 1 5 / 0 0 0"},
		{"one instruction between", []isa.Inst{add(4, 2, 3), mul(8, 2, 3), add(5, 4, 3), exit}, "1 3 1 5 / 0 0 0 0"},
		{"predicate to guard", []isa.Inst{setp, guarded, exit}, "6 1 5 / 0 0 0"},
		{"predicate to branch", []isa.Inst{setp, branch, exit}, "13 5 5 / 0 0 0"},
		{"load: its barrier is waited for, two cycles later at least", []isa.Inst{load, add(5, 4, 3), exit}, "2 1 5 / 0 1 0"},
		{"store reads its operand before it is overwritten", []isa.Inst{store, add(4, 6, 7), exit}, "2 1 5 / 0 1 0"},
		{"store whose operands stay needs no barrier", []isa.Inst{store, add(9, 6, 7), exit}, "1 1 5 / 0 0 0"},
	} {
		p := &isa.Program{Name: c.name, SM: 90, Insts: append([]isa.Inst(nil), c.insts...), InstBytes: 16}
		if err := AddControl(p, target); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var stalls, masks []string
		for i := range p.Insts {
			stalls = append(stalls, fmt.Sprint(p.Insts[i].Ctrl.Stall))
			masks = append(masks, fmt.Sprint(p.Insts[i].Ctrl.WaitMask))
		}
		if got := strings.Join(stalls, " ") + " / " + strings.Join(masks, " "); got != c.want {
			t.Errorf("%s: stalls / waits are %s, want %s", c.name, got, c.want)
		}
	}
}

// TestControlHazards walks the straight-line code of every bundled kernel and checks the invariants of its control
// information: fixed latencies have passed, and barriers were waited for, before a result is read.
func TestControlHazards(t *testing.T) {
	for _, sm := range []int{61, 86, 90, 120} {
		target := testTarget(sm)
		for _, l := range readLaunches(t) {
			p, err := Compile(parseKernel(t, l.file), l.kernel, target, Options{})
			if err != nil {
				t.Fatal(err)
			}
			checkHazards(t, fmt.Sprintf("sm_%d %s", sm, l.kernel), p, target)
		}
	}
}

func checkHazards(t *testing.T, name string, p *isa.Program, target *isa.Target) {
	c := newController(p, target)
	for b := range c.succs {
		ready := map[int16]int{}
		pending := map[int16]uint8{}
		now := 0
		for i := c.start[b]; i < c.start[b+1]; i++ {
			in := &p.Insts[i]
			for r, bar := range pending {
				if in.Ctrl.WaitMask>>bar&1 != 0 {
					delete(pending, r)
				}
			}
			for _, r := range c.uses[i] {
				if bar, ok := pending[r]; ok {
					t.Errorf("%s: instruction %d (%s) reads register %d before barrier %d", name, i, in, r, bar)
				}
				if now < ready[r] {
					t.Errorf("%s: instruction %d (%s) reads register %d %d cycles early", name, i, in, r, ready[r]-now)
				}
			}
			for _, r := range c.defs[i] {
				delete(ready, r)
				delete(pending, r)
				if in.Ctrl.WriteBar != isa.NoBar {
					pending[r] = in.Ctrl.WriteBar
				} else if !c.variable(in) && in.Class() != isa.ClassULDC {
					ready[r] = now + target.Latency[in.Class()]
				}
			}
			if in.Ctrl.Stall > 15 || in.Ctrl.WriteBar > 5 && in.Ctrl.WriteBar != isa.NoBar {
				t.Errorf("%s: instruction %d has stall %d, barrier %d", name, i, in.Ctrl.Stall, in.Ctrl.WriteBar)
			}
			now += int(in.Ctrl.Stall)
		}
	}
}

// TestControlOfBadBranch: a label outside the program is an error, not a panic.
func TestControlOfBadBranch(t *testing.T) {
	p := &isa.Program{Name: "k", SM: 90, Insts: []isa.Inst{op(isa.OpBRA, isa.Mod{}, nil, isa.Label(7))}}
	if err := AddControl(p, testTarget(90)); err == nil {
		t.Error("no error")
	}
}
