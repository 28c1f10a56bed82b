package lower

import (
	"fmt"
	"math/rand"
	"os"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa/ptx"
)

const oddHead = `.version 9.0
.target sm_100
.address_size 64
.global .align 16 .b32 gv[64]; .global .texref tr; .global .surfref sr; .const .b32 cv[4]; .extern .shared .b8 dyn[];
.func (.param .b32 r) fn(.param .b32 a) { st.param.b32 [r], 7; ret; }
.visible .entry k(.param .u64 out, .param .u32 n, .param .align 8 .b8 st[16])
{
.reg .b32 %r<5>; .reg .b64 %rd<5>; .reg .pred %p<5>; .reg .b16 %h<5>; .reg .f32 %f<5>; .reg .f64 %fd<5>; .reg .u32 %u<5>; .reg .b128 %q<3>; .reg .v4 .b32 %v;
.shared .align 16 .b32 sh[64]; .local .align 16 .b32 lo[16];
ld.param.u64 %rd0, [out]; mov.u32 %r1, %tid.x; cvt.u64.u32 %rd1, %r1; mov.b64 {%r2, %r3}, %rd0; setp.lt.u32 %p1, %r1, 7; cvt.rn.f32.u32 %f1, %r1;
`

// oddModifiers are put where they may not belong, oddOperands are operands of every kind.
var (
	oddModifiers = strings.Fields(`u8 s8 u16 b16 u32 s32 b32 u64 f16 f16x2 bf16 f32 f64 pred b128 u16x2 f32x2 rn rzi approx full ftz sat cc lo hi wide sync all
		any idx up aligned cta gpu global shared local const param nc volatile relaxed release v2 v4 v8 add min xor exch cas eq ltu clamp wrap l shiftamt f4e po 1d
		a2d zero b x red arrive warp to noftz relu NaN xorsign abs pack init inval expect_tx try_wait parity mbarrier async commit_group L2 sc proxy finite width`)
	oddOperands = strings.Fields(`%r1 %r2 %rd1 %rd0 %p1 !%p1 %h1 %f1 %fd1 %u1 %q1 %v %v.x 1 0 -1 5 255 256 65536 4294967296 -2147483648 1.0 0f3f800000
		0d3ff0000000000000 {%r1} {%r1,%r2} {%r1,%r2,%r3,%r4} {%h1,%h2} {%f1,%f2,%f3,%f4} {%rd1,%rd2} {%r1,_} %r1|%p2 _|%p2 %p2|%p3 _ [%rd0] [%rd0-4] [%r1] [sh]
		[gv+4] [cv] [lo] [n] [st+8] [dyn] [0] [tr,{%r1}] [tr,{%f1,%f2}] [sr,{%r1}] gv sh lo cv fn L %tid.x %clock64 %tid %r1.b0 %r2.h1 %r3.b3210 -%r1 WARP_SZ`)
	oddTyped = map[int][]string{1: {"%p1", "!%p1", "%p2"}, 16: {"%h1", "%h2", "-1"}, 32: {"%r1", "%r2", "%u1", "-1", "0", "%f1", "1.0", "%v.x", "%tid.x"},
		64: {"%rd1", "%rd2", "5", "%fd1", "1.0"}, 128: {"%q1", "%q2"}}
)

// oddName makes an instruction's name: often one of its forms, else of any modifiers.
func oddName(r *rand.Rand, op string) string {
	parts := []string{op}
	if forms := syntaxForms[op]; len(forms) > 0 && r.Intn(4) > 0 {
		f := forms[r.Intn(len(forms))]
		for _, g := range f.may {
			if r.Intn(2) == 0 {
				parts = append(parts, g[r.Intn(len(g))])
			}
		}
		for _, g := range f.needed {
			parts = append(parts, g[r.Intn(len(g))])
		}
	} else {
		for range r.Intn(4) {
			parts = append(parts, oddModifiers[r.Intn(len(oddModifiers))])
		}
	}
	if r.Intn(8) == 0 {
		parts = append(parts, oddModifiers[r.Intn(len(oddModifiers))])
	}
	return strings.ReplaceAll(strings.Join(parts, "."), "*", "evict_last")
}

// oddArgs makes operands: often of the types that the table gives them.
func oddArgs(r *rand.Rand, in *ptx.Instr) []string {
	pick := func(from []string) string { return from[r.Intn(len(from))] }
	var args []string
	if rows := operandRows[in.Op]; len(rows) > 0 && r.Intn(5) > 0 {
		for _, w := range strings.Fields(rows[r.Intn(len(rows))].operands) {
			o, ok := resolveOperand(in, strings.Trim(w, "={}"))
			switch from := oddTyped[o.t.bits]; {
			case r.Intn(20) == 0 || w == "*" || len(from) == 0 && w != "p":
				args = append(args, pick(oddOperands))
			case w == "p" || !ok:
				args = append(args, pick(oddTyped[1]))
			default:
				args = append(args, pick(from))
			}
		}
		return args
	}
	for range r.Intn(6) {
		args = append(args, pick(oddOperands))
	}
	return args
}

// TestOddInstructions: an instruction of whatever modifiers and operands becomes machine code that the target has, or an error
// that is no internal one.
func TestOddInstructions(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	ops := Operations()
	compiled := 0
	for range 12000 {
		name := oddName(r, ops[r.Intn(len(ops))])
		mods := strings.Split(name, ".")
		guard := ""
		if r.Intn(4) == 0 {
			guard = "@!%p1 "
		}
		text := fmt.Sprintf("%s%s %s;", guard, name, strings.Join(oddArgs(r, &ptx.Instr{Op: mods[0], Mods: mods[1:]}), ", "))
		m, err := ptx.Parse("odd.ptx", []byte(oddHead+text+"\nL: st.global.u32 [%rd0], %r1; st.global.u64 [%rd0+8], %rd1; ret;\n}\n"))
		if err != nil {
			continue
		}
		sm := []int{10, 13, 20, 35, 52, 61, 70, 75, 80, 90, 100, 120}[r.Intn(12)]
		func() {
			defer func() {
				if e := recover(); e != nil {
					t.Errorf("sm_%d %s: panic: %v", sm, text, e)
				}
			}()
			switch _, err := Compile(m, "k", testTarget(sm), Options{NoOptimise: r.Intn(2) == 0}); {
			case err == nil:
				compiled++
			case strings.Contains(err.Error(), "internal error"):
				t.Errorf("sm_%d %s: %v", sm, text, err)
			}
		}()
	}
	if compiled < 200 {
		t.Errorf("%d instructions compiled", compiled)
	}
}

// TestLegalInstructions: nothing that PTX has is rejected.
func TestLegalInstructions(t *testing.T) {
	text, err := os.ReadFile("testdata/legal.txt")
	if err != nil {
		t.Fatal(err)
	}
	head := strings.ReplaceAll(oddHead, "<5>", "<10>")
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
		m, err := ptx.Parse("legal.ptx", []byte(head+line+"\nret;\n}\n"))
		if err == nil {
			err = ptx.CheckAll(m)
		}
		if err == nil {
			_, err = Compile(m, "k", testTarget(100), Options{})
		}
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
}
