package lower

import (
	"bufio"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// earlyKernel is a kernel around a piece of PTX whose operands a, b, c come from memory and whose results d, dd and operands go back.
const earlyKernel = `.version 8.0
.target sm_75
.address_size 32
.visible .entry k(.param .u32 in)
{
.reg .b32 a, b, c, d, t, p; .reg .b64 dd; .reg .pred q;
ld.param.u32 p, [in];
ld.global.u32 a, [p]; ld.global.u32 b, [p+4]; ld.global.u32 c, [p+8];
BODY
st.global.u32 [p], a; st.global.u32 [p+4], b; st.global.u32 [p+8], c;
RESULT
ret;
}
`

// earlyOpcodes are the opcodes that a body adds to the kernel, without modifiers and copies, in alphabetical order, and how many copies it
// adds. The kernel around it is what remains of one that stores an operand.
func earlyOpcodes(t *testing.T, sm int, body string) (opcodes []string, copies int) {
	t.Helper()
	result, plain := "st.global.u32 [p+16], d;", "st.global.u32 [p+16], a;"
	if strings.Contains(body, " dd,") {
		result, plain = "st.global.u64 [p+16], dd;", "mov.b64 dd, {a, b}; st.global.u64 [p+16], dd;"
	}
	ops := func(body, result string) ([]string, int) {
		text := strings.ReplaceAll(strings.ReplaceAll(earlyKernel, "BODY", body), "RESULT", result)
		m, err := ptx.Parse("k.ptx", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		p, err := Compile(m, "k", testTarget(sm), Options{})
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		copies := 0
		for i := range p.Insts {
			in := &p.Insts[i]
			switch {
			case in.Op == isa.OpMOV, in.Op == isa.OpIMAD && in.Mod.Has(isa.ModMov) && in.Src[2].Flags&isa.Neg == 0:
				copies++
			case in.Op != isa.OpNOP:
				out = append(out, strings.TrimSuffix(in.Op.NameOn(sm), "32I"))
			}
		}
		return out, copies
	}
	out, n := ops(body, result)
	around, m := ops("", plain)
	for _, op := range around {
		if i := slices.Index(out, op); i >= 0 {
			out = slices.Delete(out, i, i+1)
		}
	}
	slices.Sort(out)
	return out, n - m
}

// earlyEqual says that the opcodes are the wanted ones. An IMAD more there is a copy, which the compilers give to either pipe by what else
// the kernel does; only so many can be.
func earlyEqual(got []string, copies int, want []string) bool {
	for len(got) < len(want) && copies > 0 {
		got, copies = append(slices.Clone(got), "IMAD"), copies-1
	}
	slices.Sort(got)
	return slices.Equal(got, want)
}

// TestEarlyTargets compares the lowering for targets before sm_75, which the compiler of the other tests no longer has, with what older
// compilers and NVIDIA's documents say: testdata/early.txt.
func TestEarlyTargets(t *testing.T) {
	f, err := os.Open("testdata/early.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows := 0
	for sc := bufio.NewScanner(f); sc.Scan(); {
		line := strings.TrimSpace(sc.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		part := strings.Split(line, " | ")
		if len(part) < 4 || len(part) > 5 {
			t.Fatalf("%s: %d fields, want targets | PTX | opcodes | source [| opcodes here]", line, len(part))
		}
		want := strings.Fields(part[2])
		slices.Sort(want)
		if len(part) == 5 {
			own := strings.Fields(part[4])
			slices.Sort(own)
			if slices.Equal(own, want) {
				t.Errorf("%s: no difference", line)
			}
			want = own
		}
		for _, name := range strings.Fields(part[0]) {
			if got, copies := earlyOpcodes(t, smOf(t, name), part[1]); !earlyEqual(got, copies, want) {
				t.Errorf("%s: %s gives %v and %d copies, want %v (%s)", name, part[1], got, copies, want, part[3])
			}
			rows++
		}
	}
	if rows < 100 {
		t.Errorf("only %d rows", rows)
	}
}

// smOf is 61 for sm_61.
func smOf(t *testing.T, name string) int {
	t.Helper()
	sm, err := strconv.Atoi(strings.TrimPrefix(name, "sm_"))
	if err != nil {
		t.Fatal(err)
	}
	return sm
}
