package lower

import (
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// TestReciprocals counts the reciprocals of a kernel and says whether one stands in its loop: blocks that predication makes one
// share it, a loop's divisor is computed before the loop unless the loop calls a routine.
func TestReciprocals(t *testing.T) {
	loop := "mov.u32 %i, 0;\nL:\nmad.lo.s32 %a, %a, 5, %i;\nrem.u32 %c, %a, %n;\nxor.b32 %b, %b, %c;\n%s\nadd.s32 %i, %i, 1;\nsetp.ne.s32 %p, %i, %b;\n@%p bra L;\n"
	for _, c := range []struct {
		name, body string
		count      int
		inside     bool
	}{
		{"two blocks that become one", "rem.u32 %c, %a, %n;\nsetp.eq.s32 %p, %c, 3;\n@%p bra S;\nadd.s32 %b, %b, 7;\nS:\nrem.u32 %i, %b, %n;\nadd.s32 %b, %i, %c;\n", 1, false},
		{"two blocks", "rem.u32 %c, %a, %n;\nsetp.eq.s32 %p, %c, 3;\n@%p bra S;\nst.volatile.global.u32 [%q+12], %b;\nbar.sync 0;\nS:\nrem.u32 %i, %b, %n;\nadd.s32 %b, %i, %c;\n", 2, false},
		{"loop", strings.Replace(loop, "%s", "", 1), 1, false},
		{"loop with a call", strings.Replace(loop, "%s", "cvt.u64.u32 %w, %a; mul.lo.s64 %w, %w, %q; rem.u64 %w, %w, %q; cvt.u32.u64 %c, %w; xor.b32 %b, %b, %c;", 1), 2, true},
	} {
		m, err := ptx.Parse("t.ptx", []byte(".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 P, .param .u32 N)\n{ .reg .b64 %q, %w; .reg .b32 %a, %b, %c, %i, %n; .reg .pred %p;\n"+
			"ld.param.u64 %q, [P]; ld.param.u32 %n, [N]; ld.global.u32 %a, [%q]; ld.global.u32 %b, [%q+4];\n"+c.body+"\nst.global.u32 [%q+8], %b; ret; }\n"))
		if err != nil {
			t.Fatal(err)
		}
		p, err := Compile(m, "k", isa.NewTarget(90), Options{})
		if err != nil {
			t.Fatal(err)
		}
		count, inside := 0, false
		for i := range p.Insts {
			if p.Insts[i].Op != isa.OpMUFU {
				continue
			}
			count++
			for k := range p.Insts[i:] {
				in := &p.Insts[i+k]
				inside = inside || in.Op == isa.OpBRA && in.Guard.Kind == isa.KindPred && in.Src[0].Imm <= int64(i)
			}
		}
		if count < c.count || c.count == 1 && count != 1 || inside != c.inside {
			t.Errorf("%s: %d reciprocals, in the loop: %v; want %d, %v", c.name, count, inside, c.count, c.inside)
		}
	}
}

// TestLoadedByte: a byte that was loaded into a half needs no sign for a comparison of halves.
func TestLoadedByte(t *testing.T) {
	for _, c := range []struct {
		load  string
		signs int
	}{{"ld.global.u8", 0}, {"ld.global.s8", 0}, {"ld.global.u16", 1}} {
		m, err := ptx.Parse("t.ptx", []byte(".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 P)\n{ .reg .b64 %q; .reg .b16 %h; .reg .b32 %a; .reg .pred %p;\n"+
			"ld.param.u64 %q, [P]; "+c.load+" %h, [%q]; setp.lt.s16 %p, %h, 200; selp.b32 %a, 1, 0, %p; st.global.u32 [%q+8], %a; ret; }\n"))
		if err != nil {
			t.Fatal(err)
		}
		p, err := Compile(m, "k", isa.NewTarget(90), Options{})
		if err != nil {
			t.Fatal(err)
		}
		signs := 0
		for i := range p.Insts {
			if p.Insts[i].Op == isa.OpPRMT {
				signs++
			}
		}
		if signs != c.signs {
			t.Errorf("%s: %d PRMT, want %d", c.load, signs, c.signs)
		}
	}
}
