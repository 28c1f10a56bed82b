package lower

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// TestUniformValues: what all lanes share goes to uniform registers if those who read it have a place for one; what depends on the
// lane, or stands beside another operand that is no general register, does not.
func TestUniformValues(t *testing.T) {
	const frame = ".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 P, .param .u32 N, .param .u32 M)\n{ .reg .b64 %q; .reg .b32 %r<9>, %i, %n, %m, %t, %u, %b, %d; .reg .pred %p, %s;\n" +
		"ld.param.u64 %q, [P]; ld.param.u32 %n, [N]; ld.param.u32 %m, [M]; mov.u32 %t, %tid.x; ld.global.u32 %r3, [%q]; mov.u32 %i, 0;\n"
	const down = "add.u32 %i, %i, -1; setp.ne.u32 %p, %i, 77; @%p bra $L;" // beside a literal: the counter stays general
	const up = "add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra $L;"
	for _, c := range []struct {
		name, before, loop, end string
		uniform                 string // opcodes of the uniform datapath, loads left out
	}{
		{"sum and product of parameters", "add.u32 %u, %m, 12345; mul.lo.u32 %u, %u, %m;", "xor.b32 %r3, %r3, %u; shl.b32 %r3, %r3, 1;", up, "UMOV UIADD3 UIMAD UIADD3"},
		{"of the lane", "add.u32 %u, %m, %t;", "xor.b32 %r3, %r3, %u; shl.b32 %r3, %r3, 1;", down, ""},
		{"beside an immediate", "add.u32 %u, %m, 12345;", "mad.lo.u32 %r3, %u, 77, %r3;", down, ""},
		{"not in the loop", "add.u32 %u, %m, 12345; xor.b32 %r3, %r3, %u;", "mad.lo.u32 %r3, %r3, 77, %i;", up, "UIADD3"},
		{"counter of one block, compared with a parameter", "", "mad.lo.u32 %r3, %r3, 77, %r3;", up, "UMOV UIADD3"},
		{"counter compared with a parameter that is read before", "xor.b32 %r3, %r3, %n;", "mad.lo.u32 %r3, %r3, 77, %r3;", up, ""},
		{"counter of several blocks", "", "setp.gt.u32 %s, %r3, 99; @%s bra $M; mul.wide.u32 %q, %r3, 4; st.global.u32 [%q], %r3; ld.global.u32 %r3, [%q+4]; $M: mad.lo.u32 %r3, %r3, 77, %r3;", up, "UMOV UIADD3"},
		{"countdown", "mov.u32 %i, 64;", "mad.lo.u32 %r3, %r3, 77, %r3;", "add.u32 %i, %i, -1; setp.ne.u32 %p, %i, 0; @%p bra $L;", ""},
		{"block index named first", "mov.u32 %b, %ctaid.x; mov.u32 %d, %ntid.x; mad.lo.u32 %r3, %b, %d, %t;", "mad.lo.u32 %r3, %r3, 77, %r3;", down, "S2UR"},
		{"block index and parameter", "mov.u32 %b, %ctaid.x;", "mad.lo.u32 %r3, %b, %m, %r3;", down, "S2UR"},
		{"block index times rounds plus round", "mov.u32 %b, %ctaid.x; mul.lo.u32 %u, %b, %n;", "add.u32 %d, %u, %i; mad.lo.u32 %r3, %r3, 77, %d;", up, "S2UR"},
		{"block size named first", "mov.u32 %d, %ntid.x; mov.u32 %b, %ctaid.x; mad.lo.u32 %r3, %b, %d, %t;", "mad.lo.u32 %r3, %r3, 77, %r3;", down, ""},
	} {
		p := compileText(t, frame+c.before+"\n$L:\n.pragma \"nounroll\";\n"+c.loop+" "+c.end+"\nst.global.u32 [%q], %r3; ret; }\n", 90)
		var got, text []string
		for i := range p.Insts {
			text = append(text, p.Text(i))
			switch in := &p.Insts[i]; in.Class() {
			case isa.ClassUALU, isa.ClassS2UR:
				got = append(got, in.Op.String())
			}
		}
		if s := strings.Join(got, " "); s != c.uniform {
			t.Errorf("%s: instructions of the uniform datapath %q, want %q:\n%s", c.name, s, c.uniform, strings.Join(text, "\n"))
		}
	}
}

// TestUniformBranches: from compute capability 10.0 on branches on what all lanes share are BRA.U, where the lanes are together and only
// branches read the predicate.
func TestUniformBranches(t *testing.T) {
	const frame = ".version 8.8\n.target sm_100\n.address_size 64\n.entry k(.param .u64 P, .param .u32 N, .param .u32 M)\n{ .reg .b64 %q; .reg .b32 %r<9>, %i, %n, %m, %t; .reg .pred %p, %s;\n" +
		"ld.param.u64 %q, [P]; ld.param.u32 %n, [N]; ld.param.u32 %m, [M]; mov.u32 %t, %tid.x; ld.global.u32 %r3, [%q]; mov.u32 %i, 0;\n"
	const loop = "$L:\n.pragma \"nounroll\";\nmad.lo.u32 %r3, %r3, 77, %r3; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra $L;\n"
	const long = "div.u32 %r3, %r3, %t; div.u32 %r3, %r3, %t;"
	for _, c := range []struct {
		name, body string
		want       string
	}{
		{"loop", loop, "BRA.U UP0"},
		{"if on a word that stands beside a literal", "setp.gt.u32 %p, %n, 5; @%p bra $A; " + long + "$A: mad.lo.u32 %r3, %r3, %n, 77;", "BRA"},
		{"if on a parameter", "setp.gt.u32 %p, %n, 5; @%p bra $A; " + long + "$A:", "BRA.U UP0"},
		{"if on the lane", "setp.gt.u32 %p, %t, 5; @%p bra $A; " + long + "$A:", "BRA"},
		{"loop that some lanes enter", "setp.gt.u32 %p, %t, 5; @%p bra $A; " + loop + "$A:", "BRA BRA"},
		{"predicate also selected by", "setp.gt.u32 %p, %n, 5; selp.u32 %r4, %t, %r3, %p; @%p bra $A; " + long + "$A: add.u32 %r3, %r3, %r4;", "BRA"},
		{"both of two", "setp.gt.u32 %p, %n, 5; setp.lt.and.u32 %p, %m, 7, %p; @%p bra $A; " + long + "$A:", "BRA"},
	} {
		p := compileText(t, frame+c.body+"\nst.global.u32 [%q], %r3; ret; }\n", 100)
		var got, text []string
		for i := range p.Insts {
			text = append(text, p.Text(i))
			if p.Insts[i].Op == isa.OpBRA { // without guard and target
				b := strings.Fields(p.Text(i))
				got = append(got, strings.TrimSuffix(strings.Join(slices.DeleteFunc(b, func(s string) bool { return s[0] == '@' || s[0] == '0' }), " "), ","))
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: branches %q, want %q:\n%s", c.name, s, c.want, strings.Join(text, "\n"))
		}
	}
}

// TestManyUniformValues: where there are too many values for the uniform registers and none moves there, branches on them stay general.
func TestManyUniformValues(t *testing.T) {
	for _, n := range []int{maxDatapath / 2, maxDatapath + 10} {
		var b strings.Builder
		b.WriteString(".version 8.8\n.target sm_100\n.address_size 64\n.entry k(.param .u64 P, .param .u32 N, .param .u32 M)\n{ .reg .b64 %q; .reg .b32 %x<99>, %i, %n, %m, %b, %t; .reg .pred %p;\n" +
			"ld.param.u64 %q, [P]; ld.param.u32 %n, [N]; ld.param.u32 %m, [M]; mov.u32 %b, %ctaid.x; mov.u32 %t, %tid.x; mov.u32 %i, 0;\n")
		for k := range n {
			fmt.Fprintf(&b, "mad.lo.u32 %%x%d, %%b, %%n, %d;\n", k, k*k+3)
		}
		b.WriteString("$L:\n.pragma \"nounroll\";\n")
		for k := range n {
			fmt.Fprintf(&b, "xor.b32 %%t, %%t, %%x%d; mul.lo.u32 %%t, %%t, 77;\n", k)
		}
		b.WriteString("add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %x2; @%p bra $L;\nst.global.u32 [%q], %t; ret; }\n")
		p := compileText(t, b.String(), 100)
		tests := 0
		for i := range p.Insts {
			in := &p.Insts[i]
			if in.Op != isa.OpUISETP {
				continue
			}
			tests++
			for _, o := range in.Src[:in.NSrc] {
				if o.Kind == isa.KindReg {
					t.Errorf("%d values: %s reads a general register", n, p.Text(i))
				}
			}
		}
		if want := n <= maxDatapath; want != (tests > 0) {
			t.Errorf("%d values: %d comparisons on the uniform datapath, want some: %v", n, tests, want)
		}
	}
}

// TestFirstWrites: variables that both arms of an if write, predicated, do not live through the loop around.
func TestFirstWrites(t *testing.T) {
	var b strings.Builder
	b.WriteString(".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 P, .param .u32 N)\n{ .reg .b64 %q; .reg .b32 %x<40>, %i, %n; .reg .pred %p<40>;\n" +
		"ld.param.u64 %q, [P]; ld.param.u32 %n, [N]; ld.global.u32 %x0, [%q]; mov.u32 %i, 0;\n$L:\n.pragma \"nounroll\";\n")
	const steps = 30
	for k := range steps {
		fmt.Fprintf(&b, "setp.gt.s32 %%p%d, %%x%d, %d; @%%p%d bra $A%d; add.u32 %%x%d, %%x%d, %d; bra $B%d; $A%d: sub.u32 %%x%d, %%x%d, %d; $B%d:\n", k, k, k, k, k, k+1, k, 3*k+7, k, k, k+1, k, 5*k+1, k)
	}
	fmt.Fprintf(&b, "mov.u32 %%x0, %%x%d; add.u32 %%i, %%i, 1; setp.lt.u32 %%p39, %%i, %%n; @%%p39 bra $L;\nst.global.u32 [%%q], %%x0; ret; }\n", steps)
	p := compileText(t, b.String(), 90)
	guarded := 0
	for i := range p.Insts {
		if p.Insts[i].Guard.Kind == isa.KindPred && p.Insts[i].Class() != isa.ClassBRA {
			guarded++
		}
	}
	if guarded < steps || p.Regs > 12 {
		t.Errorf("%d guarded instructions, %d registers; want at least %d of the first and at most 12 of the second", guarded, p.Regs, steps)
	}
}

// compileText lowers the only kernel of a PTX text.
func compileText(t *testing.T, text string, sm int) *isa.Program {
	t.Helper()
	m, err := ptx.Parse("t.ptx", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	p, err := Compile(m, "k", isa.NewTarget(sm), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}
