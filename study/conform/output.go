package conform

import (
	"fmt"
	"io"

	"github.com/sarchlab/smsim/study/page"
)

// Document is the JSON form of a run.
type Document struct {
	Schema  int              `json:"schema"`
	Vectors int              `json:"vectors"`
	Targets []TargetDocument `json:"targets"`
}

// TargetDocument is one target of a Document.
type TargetDocument struct {
	Arch     string         `json:"arch"`
	Forms    int            `json:"forms"`
	Equal    int            `json:"equal"`
	Refused  int            `json:"equal_for_both_reject"` // of the equal ones: ptxas rejects them, and so does the lowering
	Listed   int            `json:"listed"`
	Failed   int            `json:"failed"`
	Failures []FormDocument `json:"failures"`
	Known    []FormDocument `json:"listed_forms"`
}

// FormDocument is a form that was not equal: its first differing vector, or why there is none.
type FormDocument struct {
	ID     int    `json:"form"`
	PTX    string `json:"ptx"`
	Error  string `json:"error,omitempty"`
	Vector *int   `json:"vector,omitempty"`
	A      string `json:"a,omitempty"`
	B      string `json:"b,omitempty"`
	C      string `json:"c,omitempty"`
	Got    string `json:"got,omitempty"`
	Want   string `json:"want,omitempty"`
	Got2   string `json:"second_got,omitempty"`
	Want2  string `json:"second_want,omitempty"`
}

func (r *Report) document() FormDocument {
	d := FormDocument{ID: r.Form.ID, PTX: r.Form.PTX, Error: r.Err}
	if v := r.Diff; v != nil {
		hex := func(x uint64) string { return fmt.Sprintf("%#x", x) }
		d.Vector, d.A, d.B, d.C, d.Got, d.Want = &v.Vector, hex(v.A), hex(v.B), hex(v.C), hex(v.Got), hex(v.Want)
		if r.Form.Second != "" {
			d.Got2, d.Want2 = hex(v.GotE), hex(v.WantE)
		}
	}
	return d
}

// WriteJSON writes the results with every form that was not equal.
func WriteJSON(w io.Writer, vectors int, targets []Target) error {
	doc := Document{Schema: 1, Vectors: vectors, Targets: []TargetDocument{}}
	for i := range targets {
		t := &targets[i]
		d := TargetDocument{Arch: t.Name(), Forms: t.Forms, Equal: t.Equal, Refused: t.Refused, Listed: t.Listed, Failed: t.Failed,
			Failures: []FormDocument{}, Known: []FormDocument{}}
		for k := range t.Reports {
			d.Failures = append(d.Failures, t.Reports[k].document())
		}
		for k := range t.Known {
			d.Known = append(d.Known, t.Known[k].document())
		}
		doc.Targets = append(doc.Targets, d)
	}
	return page.JSON(w, doc)
}

// mostLines bounds the forms that the text names for each target; JSON has all.
const mostLines = 20

// WriteText writes a line for each target and one for each form that was not equal.
func WriteText(w io.Writer, what string, vectors int, targets []Target) error {
	var err error
	p := func(format string, args ...any) {
		if err == nil {
			_, err = fmt.Fprintf(w, format+"\n", args...)
		}
	}
	p("%s on %d operand vectors, compared with an NVIDIA H200", what, vectors)
	p("%-8s %6s %6s %6s %6s", "arch", "forms", "equal", "listed", "failed")
	for i := range targets {
		t := &targets[i]
		p("%-8s %6d %6d %6d %6d", t.Name(), t.Forms, t.Equal, t.Listed, t.Failed)
	}
	if n := targets[0].Refused; n > 0 {
		p("equal: %d give the GPU's bits, %d are rejected by ptxas and here", targets[0].Equal-n, n)
	}
	for i := range targets {
		t := &targets[i]
		for _, list := range []struct {
			word string
			reps []Report
		}{{"failed", t.Reports}, {"listed", t.Known}} {
			for k := range list.reps {
				if k == mostLines {
					p("%s: %s: and %d more (--format json has all)", t.Name(), list.word, len(list.reps)-k)
					break
				}
				p("%s: %s: %s", t.Name(), list.word, list.reps[k].Line())
			}
		}
	}
	return err
}
