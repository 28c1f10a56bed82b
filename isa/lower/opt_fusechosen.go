package lower

import "github.com/sarchlab/smsim/isa"

// fuseChosen takes the question which source a minimum or maximum of halves chose from the instruction itself: from Hopper on
// VIMNMX gives a predicate for each half; ptxas 13.0 uses them on compute capabilities 9.0 and 10.0. The question is asked as "is the
// result's half equal to the first source's?".
func (u *fuser) fuseChosen(in *isa.Inst) bool {
	if u.f.t.SM < 90 || u.f.t.SM >= 120 || in.Mod.Cmp != isa.CmpEQ || in.Mod.Flags != 0 || in.Guard.Kind != isa.KindNone || in.Dst[1] != pt ||
		in.Src[2] != pt || in.Mod.Bool != isa.BoolAnd || in.Dst[0].Reg < isa.VirtualBase {
		return false
	}
	own := u.n.of(isa.KindPred, in.Dst[0].Reg)
	if own >= len(u.defs) || !u.defs[own].value() {
		return false
	}
	for k := range 2 {
		r, high, sign, ok := u.halfOf(in.Src[k])
		a, alsoHigh, alsoSign, okA := u.halfOf(in.Src[1-k])
		if !ok || !okA || high != alsoHigh || sign != alsoSign {
			continue
		}
		id := u.n.of(isa.KindReg, r.Reg)
		if id >= len(u.defs) {
			continue
		}
		m := u.current(id)
		if m == nil || m.Op != isa.OpVIMNMX || m.Mod.Flags != 0 || m.Mod.Type != isa.S16x2 && m.Mod.Type != isa.U16x2 {
			continue
		}
		if m.NDst == 1 {
			if m.Src[1] == a && m.Src[0].Kind == isa.KindReg {
				m.Src[0], m.Src[1] = m.Src[1], m.Src[0]
			}
			m.NDst, m.Dst[1], m.Dst[2] = 3, pt, pt
		}
		if m.Src[0] != a {
			continue
		}
		q := &m.Dst[1]
		if high {
			q = &m.Dst[2]
		}
		if *q == pt {
			*q = in.Dst[0] // it is asked once: the answer is the predicate itself
			u.defs[own] = u.siteOf(id)
			dead(in)
			return true
		}
		from, to, pos := *q, in.Dst[0], in.Pos
		*in = isa.Inst{Op: isa.OpPLOP3, Mod: isa.Mod{Lut: 0xf0, Lut2: 0x0f}, NDst: 2, NSrc: 3, Pos: pos}
		in.Dst[0], in.Dst[1] = to, pt
		in.Src = [isa.MaxSrc]isa.Operand{from, pt, pt}
		return true
	}
	return false
}

// halfOf is the register and half of it that an operand extends, with zeros or with the sign.
func (u *fuser) halfOf(o isa.Operand) (word isa.Operand, high, sign, ok bool) {
	step := func(o isa.Operand) *isa.Inst {
		if o.Kind != isa.KindReg || o.Flags != 0 || o.Reg < isa.VirtualBase {
			return nil
		}
		if id := u.n.of(isa.KindReg, o.Reg); id < len(u.defs) {
			return u.definition(id)
		}
		return nil
	}
	d := step(o)
	if d == nil {
		return word, false, false, false
	}
	switch m, c, masks := mask(d); {
	case d.Op == isa.OpLOP3 && masks && c == 0xffff:
		word = m
	case d.Op == isa.OpPRMT && isImm(d.Src[1], 0x9910) && isZero(d.Src[2]):
		word, sign = d.Src[0], true
	default:
		return word, false, false, false
	}
	if d = step(word); d != nil && d.Op == isa.OpPRMT && isZero(d.Src[2]) {
		switch {
		case isImm(d.Src[1], 0x7632):
			return d.Src[0], true, sign, d.Src[0].Kind == isa.KindReg && d.Src[0].Flags == 0
		case isImm(d.Src[1], 0x7610):
			return d.Src[0], false, sign, d.Src[0].Kind == isa.KindReg && d.Src[0].Flags == 0
		}
	}
	return word, false, sign, word.Kind == isa.KindReg && word.Flags == 0
}

// current is the instruction that a register has its value from here: its only definition, or the last one in this block, with sources
// that still have their values.
func (u *fuser) current(id int) *isa.Inst {
	if u.defs[id].value() {
		return u.definition(id)
	}
	at := u.last[id]
	if at < 0 {
		return nil
	}
	in := &u.b.insts[at]
	if in.Op == isa.OpNone || in.Guard.Kind != isa.KindNone {
		return nil
	}
	ok := true
	u.f.uses(in, u.n, func(s int) { ok = ok && s < len(u.defs) && u.last[s] < at })
	if !ok {
		return nil
	}
	return in
}

// siteOf is the place of the instruction that current gives.
func (u *fuser) siteOf(id int) defSite {
	if u.defs[id].value() {
		return u.defs[id]
	}
	return defSite{b: u.b, i: u.last[id], n: 1}
}
