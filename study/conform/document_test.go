package conform

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/lower"
	"github.com/sarchlab/smsim/isa/ptx"
)

// deviation is a row of docs/deviations.md: operands, and both results.
type deviation struct {
	id                          int
	ptx                         string
	a, b, c, hardware, document uint64
}

func readDeviations(t *testing.T) map[int]deviation {
	t.Helper()
	text, err := os.ReadFile("../../docs/deviations.md")
	if err != nil {
		t.Fatal(err)
	}
	out := map[int]deviation{}
	for _, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 9 {
			continue
		}
		id, err := strconv.Atoi(strings.TrimSpace(cells[1]))
		if err != nil {
			continue
		}
		d := deviation{id: id, ptx: strings.Trim(cells[2], " `")}
		for i, to := range []*uint64{&d.a, &d.b, &d.c, &d.hardware, &d.document} {
			if *to, err = strconv.ParseUint(strings.TrimSpace(cells[3+i]), 0, 64); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
		}
		out[id] = d
	}
	if len(out) < 190 {
		t.Fatalf("docs/deviations.md lists %d forms", len(out))
	}
	return out
}

// TestDeviations: each listed form gives both listed results, and no form but the listed ones differs from the document.
func TestDeviations(t *testing.T) {
	s, err := Bundled()
	if err != nil {
		t.Fatal(err)
	}
	listed := readDeviations(t)
	for i := range s.Forms {
		f := &s.Forms[i]
		if !f.Accepted {
			continue
		}
		m, err := ptx.Parse("form.ptx", []byte(f.Kernel()))
		if err != nil {
			t.Fatal(err)
		}
		v := f.documentOf(m)
		d, known := listed[f.ID]
		switch {
		case v == nil && known:
			t.Errorf("form %d, %s, is listed but its document is not modelled", f.ID, f.PTX)
		case v == nil:
		case known:
			if d.ptx != f.PTX || d.hardware == d.document {
				t.Errorf("form %d is listed as %q with %#x and %#x, it is %q", f.ID, d.ptx, d.hardware, d.document, f.PTX)
			}
			if got, defined := v(d.a, d.b, d.c); got != d.document || !defined {
				t.Errorf("form %d, %s: the document gives %#x, listed is %#x", f.ID, f.PTX, got, d.document)
			}
			checkBoth(t, f, &d)
		default:
			if diff := s.compareDocument(v, s.D[f.ID]); diff != nil {
				t.Errorf("form %d, %s, is not listed: vector %d gives %#x, the document %#x", f.ID, f.PTX, diff.Vector, diff.Got, diff.Want)
			}
		}
	}
}

// checkBoth runs a form on the listed operands with either semantics.
func checkBoth(t *testing.T, f *Form, d *deviation) {
	t.Helper()
	one := &Set{Vectors: 1, Forms: []Form{*f}, A: []uint64{d.a}, B: []uint64{d.b}, C: []uint64{d.c}, E: map[int][]uint64{f.ID: {NoSecond}}}
	for _, sm := range []int{13, 35, 61, 90} {
		tg := isa.NewTarget(sm)
		one.D = map[int][]uint64{f.ID: {d.hardware}}
		if r := one.runForm(f, tg, lower.Hardware); r.Outcome != Equal {
			t.Errorf("sm_%d: %s", sm, r.Line())
		}
		one.D = map[int][]uint64{f.ID: {d.document}}
		if r := one.runForm(f, tg, lower.Document); r.Outcome != Equal {
			t.Errorf("sm_%d, semantics of the document: %s", sm, r.Line())
		}
	}
}

// TestDocument: with the document's semantics every video instruction, bit field and fns gives the document's results on every target.
func TestDocument(t *testing.T) {
	s, err := Bundled()
	if err != nil {
		t.Fatal(err)
	}
	listed := readDeviations(t)
	for i := range s.Forms {
		f := &s.Forms[i]
		m, err := ptx.Parse("form.ptx", []byte(f.Kernel()))
		if err != nil || !f.Accepted || f.documentOf(m) == nil {
			continue
		}
		_, known := listed[f.ID]
		for k, sm := range allTargets {
			if !known && (i+k)%7 != 0 { // a sample of those that do not deviate
				continue
			}
			if k%2 != i%2 {
				continue
			}
			if r := s.runForm(f, isa.NewTarget(sm), lower.Document); r.Outcome == Failed {
				t.Errorf("sm_%d: %s", sm, r.Line())
			}
		}
	}
}

// TestDocumentReport: a form that follows the document and not the GPU counts as listed, and the line says both values.
func TestDocumentReport(t *testing.T) {
	s, err := Bundled()
	if err != nil {
		t.Fatal(err)
	}
	one := *s
	one.Forms = nil
	for _, f := range s.Forms {
		if f.ID == 434 || f.ID == 433 {
			one.Forms = append(one.Forms, f)
		}
	}
	r := one.RunTargets([]*isa.Target{isa.NewTarget(90)}, Options{Semantics: lower.Document})[0]
	if r.Equal != 1 || r.Listed != 1 || r.Failed != 0 {
		t.Fatalf("%d equal, %d listed, %d failed", r.Equal, r.Listed, r.Failed)
	}
	if line := r.Known[0].Line(); !strings.Contains(line, fmt.Sprintf("form %d", 434)) || !strings.Contains(line, "the GPU") {
		t.Errorf("line %q", line)
	}
}
