package lower

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// rowKernel is a dynamic programme over a row of cells: each takes the maximum of the cell before it, of its own old value and of the
// old value of the cell before it plus what join adds. Inside a loop around it, the new row is copied back twice.
func rowKernel(cells int, join string) string {
	var sb strings.Builder
	sb.WriteString(".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u32 n)\n{\n" +
		".reg .b32 %h<20>, %v<20>, %t<20>, %u<20>, %n, %i, %j, %x, %w, %y; .reg .b64 %rd<9>; .reg .pred %p<9>;\n" +
		"ld.param.u64 %rd1, [out]; ld.param.u32 %n, [n]; mov.u32 %x, %tid.x; mul.wide.u32 %rd2, %x, 64; add.s64 %rd1, %rd1, %rd2;\nmov.u32 %i, 0;\n")
	for c := range cells {
		fmt.Fprintf(&sb, "mul.lo.s32 %%h%d, %%x, %d;\n", c, 3*c+1)
	}
	sb.WriteString("O:\nmov.u32 %j, 0;\nI:\nmad.lo.s32 %w, %w, 5, %i;\nadd.s32 %w, %w, %j;\nmov.u32 %v0, %w;\n")
	for c := 1; c < cells; c++ {
		fmt.Fprintf(&sb, join+"\nadd.s32 %%u%[1]d, %%h%[1]d, -2;\nmax.s32 %%u%[1]d, %%u%[1]d, %%t%[1]d;\nadd.s32 %%v%[1]d, %%v%[2]d, -2;\nmax.s32 %%v%[1]d, %%v%[1]d, %%u%[1]d;\n", c, c-1)
	}
	copies := ""
	for c := 1; c < cells; c++ {
		copies += fmt.Sprintf("mov.u32 %%h%d, %%v%d;\n", c, c)
	}
	sb.WriteString(copies + "add.s32 %j, %j, 1;\nand.b32 %y, %n, 7;\nsetp.lt.u32 %p2, %j, %y;\n@%p2 bra I;\n" + copies + "add.s32 %i, %i, 1;\nsetp.lt.u32 %p3, %i, %n;\n@%p3 bra O;\n")
	for c := range cells {
		fmt.Fprintf(&sb, "st.global.u32 [%%rd1+%d], %%h%d;\n", 4*c, c)
	}
	return strings.Replace(sb.String(), "mov.u32 %i, 0;", "mov.u32 %i, 0; mov.u32 %w, %x;", 1) + "ret;\n}\n"
}

// TestRowsInPlace: a diagonal with a constant is added before its cell is overwritten, so that no copies are left; one with a word is
// not. The results are those of the code as written.
func TestRowsInPlace(t *testing.T) {
	for _, c := range []struct {
		name, join string
		copies     bool
	}{
		{"constant", "add.s32 %%t%[1]d, %%h%[2]d, 5;", false},
		{"chosen constant", "and.b32 %%t%[1]d, %%w, %[1]d;\nsetp.eq.s32 %%p1, %%t%[1]d, 0;\nselp.b32 %%t%[1]d, 5, -3, %%p1;\nadd.s32 %%t%[1]d, %%h%[2]d, %%t%[1]d;", false},
		{"word", "add.s32 %%t%[1]d, %%h%[2]d, %%w;", true},
	} {
		m, err := ptx.Parse("row.ptx", []byte(rowKernel(9, c.join)))
		if err != nil {
			t.Fatal(err)
		}
		for _, sm := range []int{75, 90, 120} {
			target := testTarget(sm)
			var results [2][]byte
			for k, opt := range []Options{{}, {NoOptimise: true}} {
				p, err := Compile(m, "", target, opt)
				if err != nil {
					t.Fatal(err)
				}
				if results[k], err = runRandom(p, target); err != nil {
					t.Fatal(err)
				}
				if k == 0 && (copiesAtEnd(p) > 3) != c.copies {
					t.Errorf("sm_%d, %s: %d copies in the loops", sm, c.name, copiesAtEnd(p))
				}
			}
			if !bytes.Equal(results[0], results[1]) {
				t.Errorf("sm_%d, %s: %s", sm, c.name, diffWords(results[0], results[1]))
			}
		}
	}
}

// copiesAtEnd counts the copies between registers in a program's loops.
func copiesAtEnd(p *isa.Program) int {
	n := 0
	for i := range p.Insts {
		in := &p.Insts[i]
		if in.Op != isa.OpBRA || in.Src[0].Imm > int64(i) {
			continue
		}
		for k := in.Src[0].Imm; k < int64(i); k++ {
			x := &p.Insts[k]
			if x.Op == isa.OpMOV && x.Src[0].Kind == isa.KindReg && x.Src[0].Reg != isa.RZ || x.Op == isa.OpIMAD && x.Src[0] == rz && x.Src[1] == rz && x.Src[2].Kind == isa.KindReg && x.Src[2].Reg != isa.RZ {
				n++
			}
		}
	}
	return n
}
