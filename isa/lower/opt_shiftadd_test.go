package lower

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// TestShiftedSums compares the arithmetic of short bodies with ptxas's.
func TestShiftedSums(t *testing.T) {
	text, err := os.ReadFile("testdata/shiftadd.txt")
	if err != nil {
		t.Fatal(err)
	}
	cases := 0
	for _, line := range strings.Split(string(text), "\n") {
		body, want, ok := strings.Cut(line, " => ")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		cases++
		m, err := ptx.Parse("t.ptx", []byte(".version 8.0\n.target sm_75\n.address_size 64\n.entry k(.param .u64 in, .param .u64 out, .param .u32 n, .param .u32 m)\n{\n"+
			".reg .b32 %r<99>; .reg .b64 %rd<9>;\nld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [m];\n"+
			"mov.u32 %r3, %tid.x; mul.wide.u32 %rd3, %r3, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;\n"+
			"ld.global.u32 %r4,[%rd4]; ld.global.u32 %r5,[%rd4+4096]; ld.global.u32 %r6,[%rd4+8192];\n"+body+"\nret;\n}\n"))
		if err != nil {
			t.Fatal(err)
		}
		for _, sm := range []int{75, 86, 90, 120} {
			p, err := Compile(m, "k", isa.NewTarget(sm), Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range p.Insts {
				if name := arithmetic(&p.Insts[i]); name != "" {
					got = append(got, name)
				}
			}
			slices.Sort(got)
			if g := strings.Join(got, " "); g != want {
				t.Errorf("sm_%d: %s\n got  %s\n want %s", sm, body, g, want)
			}
		}
	}
	if cases < 40 {
		t.Errorf("only %d cases", cases)
	}
}

// arithmetic is the mnemonic of an instruction that is neither a move nor part of an address; additions and shifts on the
// multiplier are additions and shifts.
func arithmetic(in *isa.Inst) string {
	switch {
	case in.Op == isa.OpIMAD && in.Mod.Has(isa.ModWide), in.Op == isa.OpMOV, in.Op == isa.OpCS2R, in.Op == isa.OpHFMA2:
		return ""
	case in.Op == isa.OpIMAD && in.Mod.Has(isa.ModMov):
		return ""
	case in.Op == isa.OpIMAD && isImm(in.Src[1], 1), in.Op == isa.OpVIADD, in.Op == isa.OpIADD3, in.Op == isa.OpIADD:
		return "IADD"
	case in.Op == isa.OpIMAD && isZero(in.Src[2]):
		return "SHF"
	case in.Op == isa.OpIMAD, in.Op == isa.OpLEA, in.Op == isa.OpSHF, in.Op == isa.OpLOP3:
		return in.Op.String()
	}
	return ""
}
