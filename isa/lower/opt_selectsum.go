package lower

import "github.com/sarchlab/smsim/isa"

// selectSums makes a sum of a word and a selection between two constants a selection between two sums, as ptxas does before it
// looks for additions of three words, from Volta on:
//
//	s = p ? c : k; d = x + s      becomes  d = p ? x + c : x + k      if nothing else reads s
//
// wherever the selection stands, on either side of the addition, the first one first; not in subtractions. A word that is itself such a
// selection gives selections of constants. They are marked sizeChoice: guardSelects makes them the first sum and, where the
// predicate is false, the second.
func (f *fn) selectSums() {
	if f.t.SM < 70 {
		return
	}
	n := f.numbering()
	s := &selectSum{f: f, n: n, defs: f.defSites(n), uses: f.useCounts(n)}
	for _, b := range f.blocks {
		var out []isa.Inst
		from := 0
		for i := range b.insts {
			list := s.distribute(&b.insts[i])
			if list != nil {
				out = append(append(out, b.insts[from:i]...), list...)
				from = i + 1
			}
		}
		if out != nil {
			s.later = append(s.later, laterInsts{b, append(out, b.insts[from:]...)})
		}
	}
	for _, l := range s.later {
		l.b.insts = l.insts
	}
	if s.later != nil {
		f.removeDead()
	}
}

type selectSum struct {
	f     *fn
	n     numbering
	defs  []defSite
	uses  []int32
	later []laterInsts // what blocks become when all have been looked at
}

type laterInsts struct {
	b     *block
	insts []isa.Inst
}

// value is the instruction that alone makes the register, nil for a variable.
func (s *selectSum) value(kind isa.OperandKind, r isa.Reg) (*isa.Inst, int) {
	id := s.n.of(kind, r)
	if id < 0 || id >= len(s.defs) || !s.defs[id].value() {
		return nil, id
	}
	return &s.defs[id].b.insts[s.defs[id].i], id
}

// constants is the selection between two constants, by a predicate with one definition, that makes the word.
func (s *selectSum) constants(o isa.Operand) (sel *isa.Inst, yes, not uint32, uses int32) {
	if o.Kind != isa.KindReg || o.Reg < isa.VirtualBase || o.Flags != 0 {
		return nil, 0, 0, 0
	}
	sel, id := s.value(isa.KindReg, o.Reg)
	if sel == nil || !plainSelect(sel) {
		return nil, 0, 0, 0
	}
	if p, _ := s.value(isa.KindPred, sel.Src[2].Reg); p == nil {
		return nil, 0, 0, 0
	}
	yes, okYes := constant(sel.Src[0])
	not, okNot := constant(sel.Src[1])
	if !okYes || !okNot {
		return nil, 0, 0, 0
	}
	return sel, yes, not, s.uses[id]
}

// distribute gives what a sum with a selection becomes, nil for all other instructions.
func (s *selectSum) distribute(in *isa.Inst) []isa.Inst {
	if !plainAdd(in) || in.Guard.Kind != isa.KindNone || in.Dst[0].Kind != isa.KindReg || in.Dst[0].Reg < isa.VirtualBase || in.Dst[0].Flags != 0 {
		return nil
	}
	t := terms(in, 3)
	if len(t) != 2 {
		return nil
	}
	for k := range t {
		sel, yes, not, uses := s.constants(t[k])
		x := t[1-k]
		if sel == nil || uses != 1 || x.Kind != isa.KindReg || x.Flags != 0 || sameExpansion(sel, in) {
			continue
		}
		p := sel.Src[2]
		if yes == 0 { // the word itself comes second
			yes, not = not, yes
			p.Flags ^= isa.Neg
		}
		list, first := s.sum(nil, in, x, yes)
		list, second := s.sum(list, in, x, not)
		return append(list, choose(in, in.Dst[0], first, second, p))
	}
	return nil
}

// sum appends x + c, and gives the word.
func (s *selectSum) sum(list []isa.Inst, at *isa.Inst, x isa.Operand, c uint32) ([]isa.Inst, isa.Operand) {
	if c == 0 {
		return list, x
	}
	d := isa.R(s.f.newReg())
	if sel, yes, not, _ := s.constants(x); sel != nil {
		return append(list, choose(at, d, immWord(yes+c), immWord(not+c), sel.Src[2])), d
	}
	in := *at
	in.Dst[0] = d
	in.Src[0], in.Src[1], in.Src[2] = x, immWord(c), rz
	return append(list, in), d
}

// choose is the marked selection for a statement.
func choose(at *isa.Inst, d, yes, not, p isa.Operand) isa.Inst {
	in := isa.Inst{Op: isa.OpSEL, Mod: isa.Mod{Size: sizeChoice}, NDst: 1, NSrc: 3, Pos: at.Pos, PC: at.PC, Ctrl: at.Ctrl}
	in.Dst[0] = d
	in.Src[0], in.Src[1], in.Src[2] = yes, not, p
	return in
}
