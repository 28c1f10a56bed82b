package lower

import (
	"math"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// value are the words of a source operand of a type: registers, literals, addresses of variables.
func (b *builder) value(a *ptx.Arg, typ string) []word {
	n := typeWords(typ)
	bits := typeBits(typ)
	zeros := func() []word {
		z := make([]word, n)
		for i := range z {
			z[i] = rz
		}
		return z
	}
	switch a.Kind {
	case ptx.ArgInt:
		v := uint64(a.Int)
		if a.Neg {
			v = -v
		}
		switch typ {
		case "f32":
			v = uint64(math.Float32bits(float32(a.Int)))
		case "f64":
			v = math.Float64bits(float64(a.Int))
		}
		return immWords(v, bits, n)
	case ptx.ArgFloat:
		return immWords(floatBits(a, bits), bits, n)
	case ptx.ArgName:
		return b.named(a, typ, n, bits)
	case ptx.ArgVector: // those of more elements are the rules' own
		if len(a.Elems) == 1 {
			return b.value(&a.Elems[0], typ)
		}
	}
	b.fail(a.Pos, "operand cannot be read as .%s", typ)
	return zeros()
}

func immWords(v uint64, bits, n int) []word {
	if bits > 0 && bits < 32 {
		v &= 1<<bits - 1
	}
	out := make([]word, n)
	for i := range out {
		if i < 2 {
			out[i] = immWord(uint32(v >> (32 * i)))
		} else {
			out[i] = rz
		}
	}
	return out
}

// immWord is an immediate operand, RZ for 0.
func immWord(v uint32) word {
	if v == 0 {
		return rz
	}
	return imm(v)
}

func floatBits(a *ptx.Arg, bits int) uint64 {
	if a.HexFloat {
		switch {
		case bits == 64 && a.Single:
			f := float64(math.Float32frombits(uint32(a.Bits)))
			return math.Float64bits(f)
		case bits == 32 && !a.Single:
			return uint64(math.Float32bits(float32(math.Float64frombits(a.Bits))))
		}
		return a.Bits
	}
	f := a.Float
	if a.Neg {
		f = -f
	}
	if bits == 64 {
		return math.Float64bits(f)
	}
	return uint64(math.Float32bits(float32(f)))
}

// symbolOf is what the operand names, nil for a special register: a program's own %tid stands beside %tid.x.
func (b *builder) symbolOf(a *ptx.Arg) *symbol {
	if a.Member != "" && ptx.IsSpecial(a.Name) {
		return nil
	}
	return b.scope.lookup(b.f, a.Name)
}

func (b *builder) named(a *ptx.Arg, typ string, n, bits int) []word {
	s := b.symbolOf(a)
	if s == nil || s.kind != symReg {
		if w, ok := b.specialValue(a, n); ok {
			return w
		}
	}
	if s == nil {
		b.undeclared(a)
		return immWords(0, bits, n)
	}
	switch s.kind {
	case symReg:
		if s.pred {
			b.fail(a.Pos, "predicate %s used as a .%s operand", a.Name, typ).Advise("selp.%s makes a number of a predicate", typ)
			return immWords(0, bits, n)
		}
		if w := b.literalWords(a, n, bits); w != nil {
			return w
		}
		return b.regWords(a, s, typ, n)
	case symParam:
		if len(s.words) > 0 { // parameter of an inlined function
			return b.regWords(a, s, typ, n)
		}
	}
	return b.addressOf(a, s, n)
}

// regWords are the first n words of a register, with a member suffix resolved.
func (b *builder) regWords(a *ptx.Arg, s *symbol, typ string, n int) []word {
	words := s.words
	if a.Member != "" && s.v != nil && s.v.Vector > 0 {
		k := memberIndex(a.Member)
		per := typeWords(s.typ)
		if k < 0 || (k+1)*per > len(words) {
			b.fail(a.Pos, "%s has no element .%s", a.Name, a.Member)
			k = 0
		}
		words = words[k*per : (k+1)*per]
	}
	out := make([]word, 0, n)
	for _, r := range words {
		if len(out) == n {
			break
		}
		out = append(out, isa.R(r))
	}
	if len(out) < n {
		b.fail(a.Pos, "%s is declared .%s, too narrow for .%s", a.Name, s.typ, typ).Advise(widthHint)
		for len(out) < n {
			out = append(out, rz)
		}
	}
	return out
}

func memberIndex(m string) int {
	switch m {
	case "x", "r":
		return 0
	case "y", "g":
		return 1
	case "z", "b":
		return 2
	case "w", "a":
		return 3
	}
	return -1
}

func (b *builder) destination(a *ptx.Arg, typ string) []word {
	return b.wideEnough(a, typ)[:typeWords(typ)]
}

// wideEnough are all words of a register operand, at least those of the type.
func (b *builder) wideEnough(a *ptx.Arg, typ string) []word {
	n := typeWords(typ)
	w := b.allWords(a)
	if len(w) > 0 && len(w) < n && b.err == nil {
		b.fail(a.Pos, "%s is declared .b%d, too narrow for .%s", a.Name, 32*len(w), typ).Advise(widthHint)
	}
	for len(w) < n {
		w = append(w, rz)
	}
	return w
}

// allWords are all words of a register operand. "_" gives four RZ.
func (b *builder) allWords(a *ptx.Arg) []word {
	switch a.Kind {
	case ptx.ArgSink:
		return []word{rz, rz, rz, rz}
	case ptx.ArgVector:
		if len(a.Elems) == 1 {
			return b.allWords(&a.Elems[0])
		}
	case ptx.ArgName:
		s := b.scope.lookup(b.f, a.Name)
		switch {
		case s == nil:
			b.undeclared(a)
		case s.kind != symReg && len(s.words) == 0 || s.pred:
			b.fail(a.Pos, "%s is no data register", a.Name)
		default:
			n := len(s.words)
			if a.Member != "" && s.v != nil && s.v.Vector > 0 {
				n = typeWords(s.typ)
			}
			return b.regWords(a, s, s.typ, n)
		}
		return []word{rz, rz, rz, rz}
	}
	b.fail(a.Pos, "a register is needed here, not %s", a)
	return []word{rz, rz, rz, rz}
}

func (b *builder) predValue(a *ptx.Arg) word {
	switch a.Kind {
	case ptx.ArgInt:
		if (a.Int != 0) != a.Neg {
			return pt
		}
		return notPT
	case ptx.ArgName:
		if a.Name == "%is_explicit_cluster" {
			return notPT
		}
		s := b.scope.lookup(b.f, a.Name)
		if s == nil {
			b.fail(a.Pos, "predicate %q is not declared", a.Name)
			return pt
		}
		if !s.pred {
			b.fail(a.Pos, "%s is no predicate", a.Name).Advise(predicateHint)
			return pt
		}
		w := isa.P(s.words[0])
		if a.Neg {
			w.Flags |= isa.Neg
		}
		return w
	}
	b.fail(a.Pos, "a predicate is needed here, not %s", a).Advise(predicateHint)
	return pt
}

func (b *builder) predDestination(a *ptx.Arg) word {
	if a.Kind == ptx.ArgSink {
		return pt
	}
	w := b.predValue(a)
	if w.Is(isa.Neg) || a.Kind == ptx.ArgInt {
		b.fail(a.Pos, "a predicate register is needed as destination, not %s", a)
	}
	return w
}
