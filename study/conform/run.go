package conform

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/lower"
	"github.com/sarchlab/smsim/isa/ptx"
)

// Outcome says how a form did on a target.
type Outcome uint8

// Outcomes. Listed: equal to the documented deviation in docs/deviations.md.
const (
	Equal Outcome = iota
	Listed
	Failed
)

func (o Outcome) String() string { return [...]string{"equal", "listed", "failed"}[o] }

// Diff is the first vector on which a form differs.
type Diff struct {
	Vector      int
	A, B, C     uint64
	Got, Want   uint64
	GotE, WantE uint64
}

// Report is the result of one form on one target.
type Report struct {
	Form    *Form
	SM      int
	Outcome Outcome
	Insts   int    // machine instructions of the kernel
	Core    int    // those of the form itself, of the extension of its 8-bit operands and of the widening of its result
	Diff    *Diff  // the first difference
	Err     string // why it could not be lowered or run; for a form that must be rejected: that it was not
}

// firstTarget holds the instructions that older targets cannot execute and that are not emulated there: docs/deviations.md.
var firstTarget = map[string]int{"fma.rn.f32": 20}

// Op is the form's first PTX instruction with its modifiers.
func (f *Form) Op() string {
	op, _, _ := strings.Cut(strings.TrimSpace(f.PTX), " ")
	return op
}

// blockSize is the number of threads a block of the replay kernels.
const blockSize = 128

// RunForm lowers the form for the target, executes it on all vectors and compares the results.
func (s *Set) RunForm(f *Form, t *isa.Target) Report { return s.runForm(f, t, lower.Hardware) }

func (s *Set) runForm(f *Form, t *isa.Target, sem lower.Semantics) Report {
	r := Report{Form: f, SM: t.SM, Outcome: Failed}
	m, err := ptx.Parse(fmt.Sprintf("form%d.ptx", f.ID), []byte(f.Kernel()))
	if err != nil {
		if !f.Accepted {
			r.Outcome = Equal
			return r
		}
		r.Err = err.Error()
		return r
	}
	p, err := lower.Compile(m, "", t, lower.Options{Semantics: sem})
	switch {
	case err != nil && !f.Accepted:
		r.Outcome = Equal
		return r
	case err != nil:
		r.Err = err.Error()
		if first, ok := firstTarget[f.Op()]; ok && t.SM < first {
			r.Outcome = Listed
		}
		return r
	case !f.Accepted:
		r.Err = "accepted, but ptxas says: " + f.Error
		return r
	}
	r.Insts, r.Core = len(p.Insts), f.core(p)
	d, e, err := s.execute(p, t)
	if err != nil {
		r.Err = err.Error()
		return r
	}
	r.Diff = s.compare(f, d, e)
	if v := f.documentOf(m); v != nil && sem == lower.Document {
		if diff := s.compareDocument(v, d); diff != nil {
			r.Diff, r.Err = diff, "not as the PTX document says"
			return r
		}
		if r.Diff != nil {
			r.Outcome = Listed
			return r
		}
	}
	if r.Diff == nil {
		r.Outcome = Equal
	}
	return r
}

// core counts the machine instructions that the form, the extension of its 8-bit operands and the widening of its
// results became, without moves of zero.
func (f *Form) core(p *isa.Program) int {
	lines := map[int32]bool{}
	for i, l := range strings.Split(f.Kernel(), "\n") {
		if l = strings.TrimSpace(l); l == f.PTX || strings.HasPrefix(l, "cvt.u64") || strings.Contains(l, ", %h") || strings.HasSuffix(l, "// %h") {
			lines[int32(i+1)] = true
		}
	}
	n := 0
	for i := range p.Insts {
		in := &p.Insts[i]
		if lines[in.Pos.Line] && !movesZero(in) {
			n++
		}
	}
	return n
}

// movesZero says that the instruction does nothing but write zero.
func movesZero(in *isa.Inst) bool {
	move := in.Op == isa.OpMOV || in.Op == isa.OpIMAD && in.Mod.Has(isa.ModMov) || in.Op == isa.OpHFMA2 || in.Op == isa.OpCS2R
	for _, o := range in.Src[:in.NSrc] {
		zero := o.Kind == isa.KindReg && o.Reg == isa.RZ || o.Kind == isa.KindPred || o.Kind == isa.KindSpecial && o.Reg == isa.SRZ ||
			o.Kind == isa.KindImm && o.Imm == 0
		move = move && zero
	}
	return move
}

// compare finds the first difference.
func (s *Set) compare(f *Form, d, e []uint64) *Diff {
	wd, we := s.D[f.ID], s.E[f.ID]
	for i := range wd {
		if d[i] != wd[i] || f.Second != "" && e[i] != we[i] {
			return &Diff{Vector: i, A: s.A[i], B: s.B[i], C: s.C[i], Got: d[i], Want: wd[i], GotE: e[i], WantE: we[i]}
		}
	}
	return nil
}

// compareDocument finds the first difference from the PTX document.
func (s *Set) compareDocument(v documented, d []uint64) *Diff {
	for i := range d {
		if want, defined := v(s.A[i], s.B[i], s.C[i]); defined && d[i] != want {
			return &Diff{Vector: i, A: s.A[i], B: s.B[i], C: s.C[i], Got: d[i], Want: want}
		}
	}
	return nil
}

// execute runs the replay kernel p(A, B, C, D, E) on all vectors.
func (s *Set) execute(p *isa.Program, t *isa.Target) (d, e []uint64, err error) {
	mem := isa.NewMemory()
	var params []byte
	var bufs []*isa.Buffer
	blocks := (s.Vectors + blockSize - 1) / blockSize
	for i, w := range [][]uint64{s.A, s.B, s.C, nil, nil} {
		b := mem.Alloc(string("ABCDE"[i]), uint64(8*blocks*blockSize))
		for k, v := range w {
			binary.LittleEndian.PutUint64(b.Data[8*k:], v)
		}
		bufs = append(bufs, b)
		params = binary.LittleEndian.AppendUint64(params, b.Addr)
	}
	l := &isa.Launch{Grid: isa.Dim3{X: uint32(blocks), Y: 1, Z: 1}, Block: isa.Dim3{X: blockSize, Y: 1, Z: 1}, Params: params, Mem: mem,
		NumSMs: 1, MaxSteps: uint64(blocks) * 4 * 20000}
	k, err := isa.Bind(p, t, l)
	if err != nil {
		return nil, nil, err
	}
	for b := range blocks {
		if _, err := k.RunBlock(b); err != nil {
			return nil, nil, err
		}
	}
	d, _ = words(bufs[3].Data, s.Vectors)
	e, _ = words(bufs[4].Data, s.Vectors)
	return d, e, nil
}
