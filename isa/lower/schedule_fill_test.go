package lower

import (
	"slices"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
)

// TestFillStalls orders blocks of instructions on physical registers: chains take turns, what shares registers or memory
// keeps its order.
func TestFillStalls(t *testing.T) {
	add := func(d, a isa.Reg) isa.Inst {
		return isa.Inst{Op: isa.OpIADD3, NDst: 1, NSrc: 3, Dst: [isa.MaxDst]isa.Operand{isa.R(d)}, Src: [isa.MaxSrc]isa.Operand{isa.R(a), imm(1), rz}}
	}
	address := func(base isa.Reg, offset int64) isa.Operand {
		return isa.Operand{Kind: isa.KindMem, Reg: base, Imm: offset}
	}
	load := func(d, base isa.Reg, offset int64) isa.Inst {
		return isa.Inst{Op: isa.OpLDS, Mod: isa.Mod{Size: 4}, NDst: 1, NSrc: 1, Dst: [isa.MaxDst]isa.Operand{isa.R(d)}, Src: [isa.MaxSrc]isa.Operand{address(base, offset)}}
	}
	store := func(base isa.Reg, offset int64, v isa.Reg) isa.Inst {
		return isa.Inst{Op: isa.OpSTS, Mod: isa.Mod{Size: 4}, NSrc: 2, Src: [isa.MaxSrc]isa.Operand{address(base, offset), isa.R(v)}}
	}
	for _, c := range []struct {
		name  string
		insts []isa.Inst
		want  []int // the instructions' old places in their new order
	}{
		{"two chains", []isa.Inst{add(2, 2), add(2, 2), add(2, 2), add(3, 3), add(3, 3), add(3, 3)}, []int{0, 3, 1, 4, 2, 5}},
		{"a register used twice", []isa.Inst{add(2, 4), add(5, 2), add(2, 6), add(7, 2)}, []int{0, 1, 2, 3}},
		{"the longer chain first", []isa.Inst{add(2, 2), add(3, 3), add(4, 3), add(5, 4)}, []int{1, 0, 2, 3}},
		{"a load before the arithmetic that does not need it", []isa.Inst{add(2, 2), load(3, 8, 0), add(4, 3)}, []int{1, 0, 2}},
		{"a load that may read what is stored", []isa.Inst{add(2, 2), store(9, 0, 2), load(3, 8, 0), add(4, 3)}, []int{0, 1, 2, 3}},
		{"a load of another word", []isa.Inst{add(2, 2), store(8, 4, 2), load(3, 8, 0), add(4, 3)}, []int{2, 0, 1, 3}},
		{"a load of the same word", []isa.Inst{add(2, 2), store(8, 2, 2), load(3, 8, 0), add(4, 3)}, []int{0, 1, 2, 3}},
		{"the base changes between store and load", []isa.Inst{add(2, 2), store(8, 4, 2), add(8, 8), load(3, 8, 0), add(4, 3)}, []int{0, 1, 2, 3, 4}},
	} {
		f := newFn(testTarget(80), nil, nil)
		b := &block{}
		for i := range c.insts {
			c.insts[i].Pos.Line = int32(i)
			fillLayout(&c.insts[i])
		}
		b.insts = slices.Clone(c.insts)
		f.blocks = []*block{b}
		f.fillStalls()
		var got []int
		var sb strings.Builder
		for i := range b.insts {
			got = append(got, int(b.insts[i].Pos.Line))
			sb.WriteString(b.insts[i].String() + "\n")
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: order %v, want %v:\n%s", c.name, got, c.want, sb.String())
		}
	}
}
