package lower

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// feature is a case of testdata/features*.txt: a body (and module-scope text) and what the threads of block 1 must store, or
// what the error must say.
type feature struct {
	name, module, body string
	want               []string // values, see expected
	message            string   // in the error, for a body that cannot be lowered
	from               int      // first target
	threads            int
	target             int // of the module, 0: 100
}

// readFeatures reads the cases of all files: "== name [sm>=N] [threads=N] [target=N]", module text, "--", body, "=>", values of the threads
// or "error" and a part of the message.
func readFeatures(t *testing.T) []feature {
	t.Helper()
	files, err := filepath.Glob("testdata/features*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	var out []feature
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split(string(text), "\n== ")[1:] {
			head, rest, _ := strings.Cut(part, "\n")
			module, rest, ok1 := strings.Cut(rest, "--\n")
			body, want, ok2 := strings.Cut(rest, "=>")
			if !ok1 || !ok2 {
				t.Fatalf("%s: case %q lacks -- or =>", file, head)
			}
			f := feature{module: module, body: body, want: strings.Fields(want), from: 13, threads: 32}
			head, target, ok := strings.Cut(head, " target=")
			if ok {
				fmt.Sscan(target, &f.target)
			}
			head, threads, ok := strings.Cut(head, " threads=")
			if ok {
				fmt.Sscan(threads, &f.threads)
			}
			name, sm, ok := strings.Cut(head, " sm>=")
			if ok {
				fmt.Sscan(sm, &f.from)
			}
			f.name = name
			if m, ok := strings.CutPrefix(strings.TrimSpace(want), "error "); ok {
				f.message = m
			}
			out = append(out, f)
		}
	}
	return out
}

// expected expands "a b c*5 d+2*3" to one number a thread.
func expected(t *testing.T, f *feature) []uint32 {
	var out []uint32
	for _, w := range f.want {
		v, n, many := strings.Cut(w, "*")
		count := 1
		if many {
			fmt.Sscan(n, &count)
		}
		var first, step int64
		a, b, ramp := strings.Cut(v, "+")
		if _, err := fmt.Sscan(a, &first); err != nil {
			t.Fatalf("%s: %q is no number", f.name, w)
		}
		if ramp {
			fmt.Sscan(b, &step)
		}
		for i := range count {
			out = append(out, uint32(first+int64(i)*step))
		}
	}
	if len(out) != f.threads {
		t.Fatalf("%s: %d values expected, not %d", f.name, len(out), f.threads)
	}
	return out
}

// text is the kernel k(out, n) around the body.
func (f *feature) text() string {
	return fmt.Sprintf(".version 9.0\n.target sm_%d\n.address_size 64\n", cmp.Or(f.target, 100)) + f.module +
		".visible .entry k(.param .u64 out, .param .u32 n)\n{\n.reg .b32 %r<40>;\n.reg .b64 %rd<20>;\n.reg .pred %p<10>;\n" +
		"ld.param.u64 %rd0, [out];\nld.param.u32 %r9, [n];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %rd1, %r0, 4;\nadd.s64 %rd0, %rd0, %rd1;\n" +
		f.body + "\nst.global.u32 [%rd0], %r1;\nret;\n}\n"
}

// run executes block 1 of 2 and gives what its threads stored.
func (f *feature) run(p *isa.Program, target *isa.Target) ([]byte, error) {
	mem := isa.NewMemory()
	buf := mem.Alloc("out", uint64(4*f.threads))
	params := binary.LittleEndian.AppendUint64(nil, buf.Addr)
	params = binary.LittleEndian.AppendUint32(params, 3)
	k, err := isa.Bind(p, target, &isa.Launch{Grid: isa.Dim3{X: 2, Y: 1, Z: 1}, Block: isa.Dim3{X: uint32(f.threads), Y: 1, Z: 1},
		DynamicShared: 256, Params: params, Mem: mem, MaxSteps: 100000})
	if err == nil {
		_, err = k.RunBlock(1)
	}
	return buf.Data, err
}

func TestFeatures(t *testing.T) {
	targets := []int{13, 20, 30, 35, 50, 61, 70, 75, 80, 86, 90, 100, 103, 120, 121}
	for _, f := range readFeatures(t) {
		t.Run(f.name, func(t *testing.T) {
			m, err := ptx.Parse("case.ptx", []byte(f.text()))
			if err != nil {
				t.Fatal(err)
			}
			for _, sm := range targets {
				if sm < f.from {
					continue
				}
				target := testTarget(sm)
				for _, opt := range []Options{{NoOptimise: true}, {}} {
					p, err := Compile(m, "k", target, opt)
					if f.message != "" {
						checkMessage(t, sm, err, f.message)
						continue
					}
					if err != nil {
						t.Errorf("sm_%d: %v", sm, err)
						continue
					}
					data, err := f.run(p, target)
					if err != nil {
						t.Errorf("sm_%d %+v: %v", sm, opt, err)
						continue
					}
					for i, w := range expected(t, &f) {
						if g := binary.LittleEndian.Uint32(data[4*i:]); g != w {
							t.Errorf("sm_%d %+v: thread %d stored %d, want %d", sm, opt, i, int32(g), int32(w))
							break
						}
					}
				}
			}
		})
	}
}

// checkMessage wants one error of the list to say so at a place in the file: the message and, behind "; hint: ", what to do.
func checkMessage(t *testing.T, sm int, err error, want string) {
	t.Helper()
	var list *ErrorList
	if !errors.As(err, &list) {
		t.Errorf("sm_%d: error is %v, not a list", sm, err)
		return
	}
	for _, e := range list.Errs {
		var p *ptx.Error
		if errors.As(e, &p) && p.File == "case.ptx" && p.Line != "" && strings.Contains(p.Msg+"; hint: "+p.Hint, want) {
			return
		}
	}
	t.Errorf("sm_%d: no error says %q:\n%v", sm, want, err)
}

// TestErrors: every statement that cannot be lowered is reported, each with its place.
func TestErrors(t *testing.T) {
	const text = `.version 8.0
.target sm_90
.address_size 64
.extern .func nobody();
.visible .entry k()
{
	.reg .b32 %r<4>;
	wgmma.fence.sync.aligned;
	add.s32 %r1, %r2, %nope;
	bra missing;
	call nobody;
	frobnicate.u32 %r1, %r2;
	ret;
}
`
	m, err := ptx.Parse("bad.ptx", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	_, err = Compile(m, "k", testTarget(90), Options{})
	var list *ErrorList
	if !errors.As(err, &list) {
		t.Fatalf("error is %v, not a list", err)
	}
	for _, want := range []string{"bad.ptx:8:2:", "bad.ptx:9:20:", "bad.ptx:10:", "function nobody has no body", "bad.ptx:12:2:"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("message lacks %q:\n%v", want, err)
		}
	}
	if _, err = Compile(m, "nothing", testTarget(90), Options{}); err == nil || !strings.Contains(err.Error(), "[k]") {
		t.Errorf("unknown entry: %v", err)
	}
}

// TestNewerTarget: PTX of a newer target runs with a note.
func TestNewerTarget(t *testing.T) {
	m, err := ptx.Parse("new.ptx", []byte(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := Compile(m, "", testTarget(61), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "sm_90") {
		t.Errorf("notes %q", p.Notes)
	}
}

// TestTrap: a trap ends the run with an error on every target.
func TestTrap(t *testing.T) {
	f := feature{body: "\tsetp.eq.u32 %p1, %r0, 5;\n\t@%p1 trap;\n", threads: 32}
	m, err := ptx.Parse("case.ptx", []byte(f.text()))
	if err != nil {
		t.Fatal(err)
	}
	for _, sm := range []int{10, 13, 20, 35, 61, 75, 120} {
		p, err := Compile(m, "k", testTarget(sm), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = f.run(p, testTarget(sm)); err == nil || !strings.Contains(err.Error(), "executed a trap, first lane 5") {
			t.Errorf("sm_%d: error %v", sm, err)
		}
	}
}

// TestSharedIncrement: counting in shared memory without use of the old value is ATOMS.POPC.INC from Ampere on, as ptxas has it.
func TestSharedIncrement(t *testing.T) {
	m := parseKernel(t, "hist")
	for _, sm := range []int{75, 80, 90, 120} {
		p, err := Compile(m, "", testTarget(sm), Options{})
		if err != nil {
			t.Fatal(err)
		}
		atoms, incs := 0, 0
		for i := range p.Insts {
			if in := &p.Insts[i]; in.Op == isa.OpATOMS {
				atoms++
				if in.Dst[in.NDst-1].Reg != isa.RZ {
					t.Errorf("sm_%d: %s keeps its result", sm, in)
				}
				if in.Mod.Has(isa.ModPopcInc) {
					incs++
				}
			}
		}
		if atoms == 0 || sm >= 80 && incs != atoms || sm < 80 && incs != 0 {
			t.Errorf("sm_%d: %d atomics, %d of them increments", sm, atoms, incs)
		}
	}
}
