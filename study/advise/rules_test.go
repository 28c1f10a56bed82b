package advise

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/lower"
	"github.com/sarchlab/smsim/isa/ptx"
)

var update = flag.Bool("update", false, "rewrite the expected code in testdata/rules")

// Each case of a rule file is the body of a kernel. It finds four words in %a to %d, the thread's number in %t, the parameter n in %n, and leaves its
// results in %x and %y (32 bits) and %z (64 bits).
const head = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)
{
	.reg .pred %p<20>;
	.reg .b16 %h<40>;
	.reg .b32 %a, %b, %c, %d, %t, %n, %x, %y;
	.reg .b32 %r<200>;
	.reg .b64 %z, %in, %out, %at;
	.reg .b64 %q<40>;
	ld.param.u64 %in, [in];
	ld.param.u64 %out, [out];
	ld.param.u32 %n, [n];
	mov.u32 %t, %tid.x;
	mul.wide.u32 %at, %t, 16;
	add.s64 %in, %in, %at;
	add.s64 %out, %out, %at;
	ld.global.v4.u32 {%a, %b, %c, %d}, [%in];
	mov.u32 %x, 0;
	mov.u32 %y, 0;
	mov.u64 %z, 0;
	// body
`

const tail = `	// end
	st.global.v2.u32 [%out], {%x, %y};
	st.global.u64 [%out+8], %z;
	ret;
}
`

// launchN is the value of the parameter n.
const launchN = 7

type ruleCase struct{ name, body, want string }

func readCases(t *testing.T, file string) []ruleCase {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []ruleCase
	for _, part := range strings.Split("\n"+string(text), "\n=== ")[1:] {
		name, rest, _ := strings.Cut(part, "\n")
		body, want, _ := strings.Cut(rest, "---\n")
		out = append(out, ruleCase{name, body, strings.TrimSpace(want)})
	}
	return out
}

func ruleOf(t *testing.T, name string) Rule {
	for _, r := range Rules() {
		if r.Name == name {
			return r
		}
	}
	t.Fatalf("testdata/rules/%s.txt is of no rule", name)
	return Rule{}
}

// between are the statements that the test's own head and tail do not have.
func between(text string) string {
	var out []string
	known := head + tail
	for line := range strings.Lines(text) {
		l := strings.TrimSpace(line)
		if l == "" || strings.HasPrefix(l, ".") || l == "{" || l == "}" || strings.Contains(known, l) {
			continue
		}
		out = append(out, l)
	}
	return strings.Join(out, "\n")
}

// TestRules rewrites the cases of every rule, compares the code, and runs before and after on random inputs on several targets.
// A case whose expected code is "none" must not match.
func TestRules(t *testing.T) {
	files, _ := filepath.Glob("testdata/rules/*.txt")
	if len(files) != len(Rules()) {
		t.Fatalf("%d files of cases for %d rules", len(files), len(Rules()))
	}
	for _, f := range files {
		r := ruleOf(t, strings.TrimSuffix(filepath.Base(f), ".txt"))
		cases := readCases(t, f)
		matched := 0
		for i := range cases {
			c := &cases[i]
			t.Run(r.Name+"/"+c.name, func(t *testing.T) {
				text := head + c.body + tail
				ch, err := Rewrite("case.ptx", []byte(text), "k", map[string]uint64{"n": launchN, "%ntid.x": 128}, r)
				if err != nil {
					t.Fatal(err)
				}
				got := "none"
				if ch != nil {
					matched++
					got = between(ch.Text)
					again, err := Rewrite("case.ptx", []byte(ch.Text), "k", map[string]uint64{"n": launchN, "%ntid.x": 128}, r)
					if err != nil || again != nil && again.Text == ch.Text {
						t.Errorf("the rewrite is found again without effect: %v", err)
					}
				}
				if *update {
					c.want = got
				}
				if got != c.want {
					t.Errorf("got\n%s\nwant\n%s", got, c.want)
				}
				if ch != nil {
					equalRuns(t, text, ch.Text, launchN)
					if len(ch.Fast) > 0 {
						equalRuns(t, text, ch.Text, launchN+5) // launches with other values
					}
				}
			})
		}
		if matched == 0 || matched == len(cases) {
			t.Errorf("%s: %d of %d cases match; there must be matches and near misses", f, matched, len(cases))
		}
		if *update {
			var b strings.Builder
			for _, c := range cases {
				fmt.Fprintf(&b, "=== %s\n%s---\n%s\n", c.name, c.body, c.want)
			}
			if err := os.WriteFile(f, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

var runTargets = []string{"sm_35", "sm_61", "sm_75", "sm_90", "sm_120"}

// edges are words that random ones seldom are.
var edges = []uint32{0, 1, 0xffffffff, 0x80000000, 0x7fffffff, 0x80808080, 0x7f7f7f7f, 0xff, 0xffff, 0x00800080}

// equalRuns executes both texts on the same random inputs.
func equalRuns(t *testing.T, before, after string, n uint32, targets ...string) {
	t.Helper()
	const threads = 128
	rnd := rand.New(rand.NewPCG(1, 2))
	in := make([]byte, 16*threads)
	for i := 0; i < len(in); i += 4 {
		w := rnd.Uint32()
		if rnd.IntN(3) == 0 {
			w = edges[rnd.IntN(len(edges))]
		}
		binary.LittleEndian.PutUint32(in[i:], w)
	}
	if targets == nil {
		targets = runTargets
	}
	for _, name := range targets {
		a, err := configs.Load(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		x, err := execute(before, a.Target(), in, threads, n)
		if err != nil {
			t.Fatalf("%s before: %v", name, err)
		}
		y, err := execute(after, a.Target(), in, threads, n)
		if err != nil {
			t.Fatalf("%s after: %v", name, err)
		}
		if !bytes.Equal(x, y) {
			for i := 0; i < len(x); i += 16 {
				if !bytes.Equal(x[i:i+16], y[i:i+16]) {
					t.Fatalf("%s, thread %d with inputs %x: %x before, %x after", name, i/16, in[i:i+16], x[i:i+16], y[i:i+16])
				}
			}
		}
	}
}

func execute(text string, target *isa.Target, in []byte, threads int, n uint32) ([]byte, error) {
	m, err := ptx.Parse("case.ptx", []byte(text))
	if err != nil {
		return nil, err
	}
	p, err := lower.Compile(m, "k", target, lower.Options{})
	if err != nil {
		return nil, err
	}
	l := &isa.Launch{Grid: isa.Dim3{X: 1, Y: 1, Z: 1}, Block: isa.Dim3{X: uint32(threads), Y: 1, Z: 1}, Mem: isa.NewMemory(), Params: make([]byte, 20)}
	src, dst := l.Mem.Alloc("in", uint64(len(in))), l.Mem.Alloc("out", uint64(len(in)))
	copy(src.Data, in)
	binary.LittleEndian.PutUint64(l.Params, src.Addr)
	binary.LittleEndian.PutUint64(l.Params[8:], dst.Addr)
	binary.LittleEndian.PutUint32(l.Params[16:], n)
	k, err := isa.Bind(p, target, l)
	if err != nil {
		return nil, err
	}
	_, err = k.RunBlock(0)
	return dst.Data, err
}

// TestNeeds: a rewrite that PTX allows only for later targets is not taken where an earlier one is asked for, whatever target the file names.
func TestNeeds(t *testing.T) {
	body := "mov.b32 {%h0, %h1}, %a;\nmov.b32 {%h2, %h3}, %b;\nmin.s16 %h4, %h0, %h2;\nmin.s16 %h5, %h1, %h3;\nmov.b32 %x, {%h4, %h5};\n"
	for _, c := range []struct {
		target string
		needs  int
	}{{"sm_80", 90}, {"sm_90", 90}} {
		ch, err := Rewrite("case.ptx", []byte(strings.Replace(head, "sm_90", c.target, 1)+body+tail), "k", nil, ruleOf(t, "pair"))
		if err != nil || ch == nil || ch.needs != c.needs {
			t.Fatalf("%s: %+v, %v", c.target, ch, err)
		}
		r := Rewritten{change: ch, SpeedUp: map[string]float64{"sm_80": 2, "sm_90": 2}}
		keeps := func(archs ...string) bool {
			known, err := askedArchs(archs)
			if err != nil {
				t.Fatal(err)
			}
			return (&Advice{Archs: archs, asked: known}).keeps(&r)
		}
		if !keeps("sm_90") || keeps("sm_80", "sm_90") != (c.needs == 0) {
			t.Errorf("%s: taken on sm_90 %v, on both %v", c.target, keeps("sm_90"), keeps("sm_80", "sm_90"))
		}
	}
}
