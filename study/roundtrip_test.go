package study

import (
	"bytes"
	"fmt"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/lower"
	"github.com/sarchlab/smsim/isa/ptx"
	"github.com/sarchlab/smsim/isa/sass"
	"github.com/sarchlab/smsim/isa/zipped"
	"github.com/sarchlab/smsim/study/conform"
)

// oddNumber is 2^126 as the tool prints it: with 21 digits, where all other numbers have at most 20.
const oddNumber = "8.50705917302346158658e+37"

// squeeze removes what listings of different tools print differently: blanks.
func squeeze(s string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(s, ",", " , ")), " ")
}

// TestSASSRoundTrip prints every function of the bundled listings canonically and reads it again: the same program.
// The text of the instructions is the tool's, but for the differences listed.
func TestSASSRoundTrip(t *testing.T) {
	files, err := filepath.Glob("testdata/listings/sm_*.sass.gz")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("conform/testdata/sass/*.sass.gz")
	if err != nil || len(files) != 7 || len(more) != 14 {
		t.Fatal(files, more, err)
	}
	distinct, differ := map[string]bool{}, map[string]string{}
	for _, path := range append(files, more...) {
		l, err := sass.Read(filepath.Base(path), zipped.Read(t, path))
		if err != nil {
			t.Fatal(err)
		}
		a, err := configs.Load(fmt.Sprintf("sm_%d", l.Funcs[0].SM), nil)
		if err != nil {
			t.Fatal(err)
		}
		for n, f := range l.Funcs {
			p, err := l.Read(f, sass.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for i := range p.Insts {
				tool := squeeze(toolText(p, i))
				if distinct[tool] {
					continue
				}
				distinct[tool] = true
				if own := squeeze(p.Text(i)); own != tool && !strings.Contains(tool, oddNumber) {
					differ[fmt.Sprint(p.SM, " ", tool)] = own
				}
			}
			if len(l.Funcs) > 1000 && n%8 != 0 {
				continue // small functions of the same few shapes
			}
			var b bytes.Buffer
			if err := WriteSASS(&b, &Machine{Program: p, Arch: a, Target: a.Target(), Name: p.Name}); err != nil {
				t.Fatalf("%s: %s: %v", path, f.Name, err)
			}
			again, err := sass.Read("again", b.Bytes())
			if err != nil {
				t.Fatalf("%s: %s: %v", path, f.Name, err)
			}
			q, err := again.Read(again.Funcs[0], sass.Options{})
			if err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			sameProgram(t, path, p, q)
		}
	}
	if len(differ) > 0 {
		var lines []string
		for a, b := range differ {
			lines = append(lines, fmt.Sprintf("%-60s %s", a, b))
		}
		sort.Strings(lines)
		t.Errorf("%d of %d distinct instructions are printed differently:\n%s", len(differ), len(distinct), strings.Join(lines[:min(len(lines), 40)], "\n"))
	}
}

// TestLoweredRoundTrip prints what forms lower to on every generation as a listing, reads it again and executes it: the text
// loses nothing that decides results, so they are the hardware's. Every 4th form on each target.
func TestLoweredRoundTrip(t *testing.T) {
	set, err := conform.Bundled()
	if err != nil {
		t.Fatal(err)
	}
	for n, sm := range []int{13, 20, 21, 30, 35, 50, 61, 70, 75, 80, 90, 100, 120} {
		a, err := configs.Load(fmt.Sprintf("sm_%d", sm), nil)
		if err != nil {
			t.Fatal(err)
		}
		target := a.Target()
		var b bytes.Buffer
		written := 0
		for i := range set.Forms {
			f := &set.Forms[i]
			if !f.Accepted || (i+n)%4 != 0 {
				continue
			}
			m, err := ptx.Parse("form.ptx", []byte(f.Kernel()))
			if err != nil {
				t.Fatal(err)
			}
			p, err := lower.Compile(m, m.Entries()[0].Name, target, lower.Options{})
			if err != nil && sm < 20 {
				continue // fma.f32 does not exist there
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := WriteSASS(&b, &Machine{Program: p, Arch: a, Target: target, Name: p.Name}); err != nil {
				t.Fatal(err)
			}
			written++
		}
		l, err := sass.Read("lowered.sass", b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		got := set.RunListing(l)
		if got.Equal != written {
			t.Errorf("sm_%d: %d of %d forms are the same when read again", sm, got.Equal, written)
		}
		for _, r := range got.Reports[:min(len(got.Reports), 5)] {
			t.Error(r.Line())
		}
	}
}

// toolText is the instruction as the tool printed it.
func toolText(p *isa.Program, i int) string {
	in := &p.Insts[i]
	s := p.Source[in.Pos.Line-1][in.Pos.Col-1:]
	if k := strings.IndexByte(s, ';'); k >= 0 {
		s = s[:k]
	}
	return s
}

// withoutPT drops trailing predicate results that are PT: listings print them or not.
func withoutPT(in *isa.Inst) {
	for in.NDst > 0 {
		if d := &in.Dst[in.NDst-1]; d.Kind != isa.KindPred && d.Kind != isa.KindUPred || d.Reg != isa.PT {
			return
		}
		in.NDst--
		in.Dst[in.NDst] = isa.Operand{}
	}
}

func sameProgram(t *testing.T, path string, p, q *isa.Program) {
	t.Helper()
	if p.SM != q.SM || p.Name != q.Name || p.Regs != q.Regs || p.SharedBytes != q.SharedBytes || p.Control == isa.ControlDecoded && q.Control != p.Control || len(p.Insts) != len(q.Insts) {
		t.Errorf("%s: %s: sm %d %d, registers %d %d, shared %d %d, control %v %v, %d and %d instructions", path, p.Name, p.SM, q.SM, p.Regs, q.Regs,
			p.SharedBytes, q.SharedBytes, p.Control, q.Control, len(p.Insts), len(q.Insts))
		return
	}
	bad := 0
	for i := range p.Insts {
		a, b := p.Insts[i], q.Insts[i]
		a.Pos, b.Pos = isa.SourcePos{}, isa.SourcePos{}
		withoutPT(&a)
		withoutPT(&b)
		if a != b {
			t.Errorf("%s: %s: %s: read again as %+v, not %+v", path, p.Name, p.Text(i), b, a)
			if bad++; bad == 3 {
				return
			}
		}
	}
}
