package conform

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/lower"
	"github.com/sarchlab/smsim/isa/ptx"
	"github.com/sarchlab/smsim/isa/zipped"
)

// ptxasCost reads how many machine instructions ptxas (CUDA 13.0) spends on each form, counted in its machine
// code without thread index, addresses, loads, stores and moves of zero: by target and form.
func ptxasCost(t *testing.T, file string) map[int]map[int]int {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(zipped.Read(t, file))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	number := func(s string) int {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	out := map[int]map[int]int{}
	for c, name := range rows[0][1:] {
		m := map[int]int{}
		for _, r := range rows[1:] {
			m[number(r[0])] = number(r[c+1])
		}
		out[number(strings.TrimPrefix(name, "sm_"))] = m
	}
	return out
}

// costRow is one form on one target: machine instructions here and of ptxas.
type costRow struct {
	name        string
	ours, ptxas int
}

func (r *costRow) off() int { return max(r.ours-r.ptxas, r.ptxas-r.ours) }

// near says within one instruction or 10 %.
func (r *costRow) near() bool { return r.off() <= 1 || r.off()*10 <= r.ptxas }

// costTable logs how many rows have the same number, nearly, and another, with the worst ones, and checks the bounds, per
// thousand.
func costTable(t *testing.T, sm int, rows []costRow, leastSame, leastNear int) {
	t.Helper()
	same, near := 0, 0
	for i := range rows {
		if rows[i].off() == 0 {
			same++
		}
		if rows[i].near() {
			near++
		}
	}
	sort.SliceStable(rows, func(i, j int) bool { return rows[i].off() > rows[j].off() })
	var worst []string
	for _, r := range rows[:min(5, len(rows))] {
		if !r.near() {
			worst = append(worst, fmt.Sprintf("%s %d/%d", r.name, r.ours, r.ptxas))
		}
	}
	n := len(rows)
	t.Logf("sm_%d: %d: %.1f %% equal, %.1f %% within one or 10 %%, %d worse: %s", sm, n, 100*float64(same)/float64(n),
		100*float64(near)/float64(n), n-near, strings.Join(worst, "; "))
	if same*1000 < leastSame*n || near*1000 < leastNear*n {
		t.Errorf("sm_%d: %d of %d equal, %d nearly; at least %d and %d of 1000", sm, same, n, near, leastSame, leastNear)
	}
}

// formCost counts the instructions of the set's forms on a target.
func formCost(t *testing.T, s *Set, sm int, want map[int]int) []costRow {
	t.Helper()
	tg := isa.NewTarget(sm)
	var rows []costRow
	for i := range s.Forms {
		f := &s.Forms[i]
		w, ok := want[f.ID]
		if !ok {
			continue
		}
		p := compileForm(t, f, tg)
		rows = append(rows, costRow{strings.TrimSuffix(f.PTX, ";"), f.core(p), w})
	}
	return rows
}

func compileForm(t *testing.T, f *Form, tg *isa.Target) *isa.Program {
	t.Helper()
	m, err := ptx.Parse("form.ptx", []byte(f.Kernel()))
	if err != nil {
		t.Fatal(err)
	}
	p, err := lower.Compile(m, "", tg, lower.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestCost compares the number of machine instructions of every form with ptxas's on seven targets; the bounds are
// what the rules achieve, in per thousand: same number; within one instruction or 10 %.
func TestCost(t *testing.T) {
	s, err := Bundled()
	if err != nil {
		t.Fatal(err)
	}
	want := ptxasCost(t, "testdata/cost/forms.csv.gz")
	for _, g := range []struct{ sm, same, near int }{
		{75, 962, 986}, {80, 938, 983}, {86, 946, 981}, {89, 946, 981}, {90, 963, 991}, {100, 963, 991}, {120, 933, 986},
	} {
		rows := formCost(t, s, g.sm, want[g.sm])
		if len(rows) < 1740 {
			t.Errorf("sm_%d: only %d forms", g.sm, len(rows))
		}
		costTable(t, g.sm, rows, g.same, g.near)
	}
}

// heldOut are 1,166 instructions that no rule was derived from: random types, selectors, masks, merges, secondary
// operations of the video instructions, and integer instructions with immediates. Results from an NVIDIA H200, machine
// code of ptxas 13.0.
func heldOut(t *testing.T) *Set {
	t.Helper()
	s, err := Load(os.DirFS("testdata/heldout"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Forms {
		s.Forms[i].Halves = true
	}
	return s
}

// TestHeldOutCost is TestCost on the held-out instructions.
func TestHeldOutCost(t *testing.T) {
	s := heldOut(t)
	want := ptxasCost(t, "testdata/cost/heldout.csv.gz")
	for _, g := range []struct{ sm, same, near int }{
		{75, 838, 986}, {86, 815, 982}, {90, 877, 979}, {120, 866, 970},
	} {
		costTable(t, g.sm, formCost(t, s, g.sm, want[g.sm]), g.same, g.near)
	}
}

// TestHeldOut compares the results of the held-out instructions with the GPU's.
func TestHeldOut(t *testing.T) {
	s := heldOut(t)
	for _, sm := range []int{61, 120} {
		for _, r := range s.RunTargets([]*isa.Target{isa.NewTarget(sm)}, Options{}) {
			if r.Equal != 1166 {
				t.Errorf("sm_%d: %d of %d equal", sm, r.Equal, r.Forms)
			}
			for _, f := range r.Reports[:min(3, len(r.Reports))] {
				t.Error(f.Line())
			}
		}
	}
}

// TestIntrinsicCost compares the code of the CUDA intrinsics with the real compiler's, both counted with core. On sm_100 and
// sm_120 the compiler had other PTX: CUDA's headers write some functions differently there.
func TestIntrinsicCost(t *testing.T) {
	s, err := BundledIntrinsics()
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range []struct{ sm, same, near int }{{75, 770, 938}, {80, 775, 938}, {86, 775, 938}, {89, 775, 932}, {90, 900, 945}, {100, 755, 865}, {120, 750, 858}} {
		l := unzip(t, fmt.Sprintf("testdata/sass/intrinsics_sm%d.sass.gz", g.sm))
		want := map[string]int{}
		for _, fn := range l.Funcs {
			p, err := l.Program(fn, 0)
			if err != nil {
				t.Fatal(err)
			}
			want[fn.Name] = len(core(p))
		}
		tg := isa.NewTarget(g.sm)
		var rows []costRow
		for _, in := range s.Intrinsics {
			name := fmt.Sprintf("k%d", in.ID)
			w, ok := want[name]
			if !ok {
				continue
			}
			p, err := lower.Compile(s.Module, name, tg, lower.Options{})
			if err != nil {
				t.Fatal(err)
			}
			rows = append(rows, costRow{in.Expr, len(core(p)), w})
		}
		costTable(t, g.sm, rows, g.same, g.near)
	}
}

// TestPipes compares which pipes the instructions of every third form use with ptxas's code: the share of instructions that have a
// counterpart on the same pipe, and of forms with the same pipes throughout.
func TestPipes(t *testing.T) {
	s, err := Bundled()
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range []struct{ sm, insts, forms int }{{75, 994, 968}, {90, 995, 970}, {120, 989, 945}} {
		arch, err := configs.Load(fmt.Sprintf("sm_%d", g.sm), nil)
		if err != nil {
			t.Fatal(err)
		}
		l := unzip(t, fmt.Sprintf("testdata/sass/expansion_sm%d.sass.gz", g.sm))
		byName := map[string]*isa.Program{}
		for _, fn := range l.Funcs {
			p, err := l.Program(fn, 0)
			if err != nil {
				t.Fatal(err)
			}
			byName[fn.Name] = p
		}
		common, total, equal, n := 0, 0, 0, 0
		for i := 0; i < len(s.Forms); i += 3 {
			f := &s.Forms[i]
			theirs := byName[fmt.Sprintf("k%d", f.ID)]
			if theirs == nil || !f.Accepted {
				continue
			}
			p := compileForm(t, f, arch.Target())
			if g.sm == 120 {
				ownPipes(t, f, p)
			}
			a, b := pipes(arch, p, core(p)), pipes(arch, theirs, core(theirs))
			c, most := 0, 0
			for k, v := range a {
				c += min(v, b[k])
				most += v
			}
			other := 0
			for _, v := range b {
				other += v
			}
			common, total, n = common+c, total+max(most, other), n+1
			if c == most && c == other {
				equal++
			}
		}
		t.Logf("sm_%d: %.1f %% of the instructions on the same pipe, %.1f %% of the forms with the same pipes", g.sm, 100*float64(common)/float64(total), 100*float64(equal)/float64(n))
		if common*1000 < g.insts*total || equal*1000 < g.forms*n {
			t.Errorf("sm_%d: only %d of %d instructions on the same pipe, %d of %d forms", g.sm, common, total, equal, n)
		}
	}
}

// ownPipes holds that code for compute capability 12 leaves copies and additions where they belong: none of ptxas's listings for
// it has IMAD.MOV, IMAD.IADD, IMAD.X or a plain VIADD.
func ownPipes(t *testing.T, f *Form, p *isa.Program) {
	t.Helper()
	for i := range p.Insts {
		in := &p.Insts[i]
		if m := &in.Mod; in.Op == isa.OpIMAD && (m.Has(isa.ModMov) || m.Has(isa.ModAdd) || m.Has(isa.ModX) && !m.Has(isa.ModWide)) || in.Op == isa.OpVIADD && m.Type == isa.TypeNone {
			t.Errorf("%s: sm_120 has no %s", f.PTX, p.Text(i))
		}
	}
}
