package conform

import (
	"encoding/json"
	"fmt"
	"io/fs"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/lower"
	"github.com/sarchlab/smsim/isa/ptx"
)

// Intrinsic is one CUDA intrinsic, compiled to PTX by nvcc as kernel k<id>(A, B, C, D, E).
type Intrinsic struct {
	ID         int    `json:"id"`
	Expr       string `json:"expr"` // over a, b, c; B is the 64-bit operand, p and q predicates
	Result     string `json:"result"`
	A          string `json:"a"`
	Predicates int    `json:"predicates"` // results in the second word: p in bit 0, q in bit 1
}

// IntrinsicSet is a folder of measured intrinsics with the operand vectors of a set of forms.
type IntrinsicSet struct {
	Intrinsics []Intrinsic
	Module     *ptx.Module
	vectors    *Set // operands and results by intrinsic id
	text       []byte
}

// Vectors is the number of operand vectors.
func (s *IntrinsicSet) Vectors() int { return s.vectors.Vectors }

// LoadIntrinsicFolder reads a folder of intrinsics whose operand vectors are in inputs.bin of another folder, or the same.
func LoadIntrinsicFolder(dir, operands fs.FS) (*IntrinsicSet, error) {
	text, err := read(dir, "intrinsics.json")
	if err != nil {
		return nil, err
	}
	var doc struct {
		Vectors int `json:"vectors"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("intrinsics.json: %w", err)
	}
	if doc.Vectors <= 0 {
		return nil, fmt.Errorf("intrinsics.json: vectors is %d, not a positive number", doc.Vectors)
	}
	s := &Set{Vectors: doc.Vectors}
	if err := s.loadInputs(operands); err != nil {
		return nil, err
	}
	return LoadIntrinsics(dir, s)
}

// LoadIntrinsics reads intrinsics.json, results.ptx and results.bin, each as it is or with .gz; the operands are those of forms.
func LoadIntrinsics(dir fs.FS, forms *Set) (*IntrinsicSet, error) {
	text, err := read(dir, "intrinsics.json")
	if err != nil {
		return nil, err
	}
	var doc struct {
		Vectors    int         `json:"vectors"`
		Intrinsics []Intrinsic `json:"intrinsics"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("intrinsics.json: %w", err)
	}
	if doc.Vectors != forms.Vectors {
		return nil, fmt.Errorf("intrinsics.json: %d vectors, but the forms have %d", doc.Vectors, forms.Vectors)
	}
	code, err := read(dir, "results.ptx")
	if err != nil {
		return nil, err
	}
	m, err := ptx.Parse("results.ptx", code)
	if err != nil {
		return nil, err
	}
	raw, err := read(dir, "results.bin")
	if err != nil {
		return nil, err
	}
	if want := len(doc.Intrinsics) * 2 * 8 * doc.Vectors; len(raw) != want {
		return nil, fmt.Errorf("results.bin holds %d bytes, not the %d of %d intrinsics with %d vectors", len(raw), want, len(doc.Intrinsics), doc.Vectors)
	}
	v := &Set{Vectors: doc.Vectors, A: forms.A, B: forms.B, C: forms.C, D: map[int][]uint64{}, E: map[int][]uint64{}}
	for _, in := range doc.Intrinsics {
		v.D[in.ID], raw = words(raw, v.Vectors)
		v.E[in.ID], raw = words(raw, v.Vectors)
	}
	return &IntrinsicSet{Intrinsics: doc.Intrinsics, Module: m, vectors: v, text: code}, nil
}

// form is the intrinsic as reports name it.
func (in *Intrinsic) form() *Form {
	return &Form{ID: in.ID, PTX: in.Expr, Result: in.Result, Second: "predicates", Accepted: true}
}

// RunTargets replays every intrinsic on every target, several at a time.
func (s *IntrinsicSet) RunTargets(targets []*isa.Target, opt Options) []Target {
	return opt.replay(len(s.Intrinsics), targets, func(i int, t *isa.Target) Report { return s.runIntrinsic(&s.Intrinsics[i], t, opt.Semantics) })
}

// RunIntrinsic lowers an intrinsic's kernel for the target, executes it on all vectors and compares.
func (s *IntrinsicSet) RunIntrinsic(in *Intrinsic, t *isa.Target) Report {
	return s.runIntrinsic(in, t, lower.Hardware)
}

func (s *IntrinsicSet) runIntrinsic(in *Intrinsic, t *isa.Target, sem lower.Semantics) Report {
	f := in.form()
	r := Report{Form: f, SM: t.SM, Outcome: Failed}
	p, err := lower.Compile(s.Module, fmt.Sprintf("k%d", in.ID), t, lower.Options{Semantics: sem})
	if err != nil {
		r.Err = err.Error()
		return r
	}
	r.Insts = len(p.Insts)
	d, e, err := s.vectors.execute(p, t)
	if err != nil {
		r.Err = err.Error()
		return r
	}
	if r.Diff = s.vectors.compare(f, d, e); r.Diff == nil {
		r.Outcome = Equal
	}
	return r
}

// Write stores the set with only the vectors of the given indices, in the format that LoadIntrinsics reads: files by name.
func (s *IntrinsicSet) Write(pick []int) (map[string][]byte, error) {
	doc, err := json.Marshal(map[string]any{"vectors": len(pick), "intrinsics": s.Intrinsics})
	if err != nil {
		return nil, err
	}
	var out []byte
	for _, in := range s.Intrinsics {
		out = pickWords(pickWords(out, s.vectors.D[in.ID], pick), s.vectors.E[in.ID], pick)
	}
	return pack(map[string][]byte{"intrinsics.json.gz": doc, "results.ptx.gz": s.text, "results.bin.gz": out})
}
