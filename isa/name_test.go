package isa_test

import (
	"testing"

	"github.com/sarchlab/smsim/isa"
)

// TestNames checks that every opcode and class is found by its name, and names that differ between generations.
func TestNames(t *testing.T) {
	for op := isa.Op(1); op < isa.NumOps; op++ {
		if got, ok := isa.OpByName(op.String()); !ok || got != op {
			t.Errorf("%s: found %v %v", op, got, ok)
		}
	}
	for c := isa.Class(1); c < isa.NumClasses; c++ {
		if got, ok := isa.ClassByName(c.String()); !ok || got != c {
			t.Errorf("%s: found %v %v", c, got, ok)
		}
	}
	for r := range isa.SpecialReg(isa.NumSpecialRegs) {
		if name := isa.SpecialName(r); name == "" {
			t.Errorf("special register %d has no name", r)
		} else if got, ok := isa.SpecialByName(name); !ok || got != r {
			t.Errorf("%s: found %v %v", name, got, ok)
		}
	}
	for _, c := range []struct {
		op   isa.Op
		sm   int
		want string
	}{{isa.OpRED, 86, "RED"}, {isa.OpRED, 90, "REDG"}, {isa.OpCALL, 61, "CAL"}, {isa.OpCALL, 75, "CALL"}, {isa.OpKILL, 35, "KIL"}} {
		if got := c.op.NameOn(c.sm); got != c.want {
			t.Errorf("%v on sm_%d: %s, want %s", c.op, c.sm, got, c.want)
		}
		if op, ok := isa.OpByName(c.want); !ok || op != c.op {
			t.Errorf("%s: found %v", c.want, op)
		}
	}
}

// TestEveryOpcodeRunsOrSaysSo: an opcode is either decoded or reported as not modelled; none is forgotten.
func TestEveryOpcodeRunsOrSaysSo(t *testing.T) {
	for op := isa.Op(1); op < isa.NumOps; op++ {
		// Without operands most opcodes are refused for their form, which is not "TEX is not modelled".
		_, err := isa.Bind(program(86, asm(op, isa.Mod{}, nil, nil)), isa.NewTarget(86),
			&isa.Launch{Grid: isa.Dim3{X: 1, Y: 1, Z: 1}, Block: isa.Dim3{X: 1, Y: 1, Z: 1}, Params: make([]byte, 8)})
		missing := err != nil && err.Error() == "k.ptx:1:1: kernel k, pc 0x0: "+program(86, asm(op, isa.Mod{}, nil, nil)).Insts[0].String()+": "+op.String()+" is not modelled"
		if missing {
			t.Errorf("%s: %v", op, err)
		}
	}
}
