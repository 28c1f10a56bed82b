package lower

import "github.com/sarchlab/smsim/isa"

// fuseMasks makes one mask of two.
func (u *fuser) fuseMasks(in *isa.Inst) bool {
	o, m, ok := mask(in)
	if !ok {
		return false
	}
	d := u.inner(&o)
	if d == nil {
		return false
	}
	a, m2, ok := mask(d)
	if !ok {
		return false
	}
	in.Src[0], in.Src[1], in.Src[2] = a, imm(m&m2), rz
	u.take(d)
	return true
}

// fuseLogic merges a logic operation into the truth table of the one that reads it, while the inputs are at
// most three.
func (u *fuser) fuseLogic(in *isa.Inst) bool {
	if in.Mod.Has(modKeep) {
		return false
	}
	for k := 2; k >= 0; k-- { // the last operand first, as ptxas
		o := in.Src[k]
		if o.Flags != 0 {
			continue
		}
		d := u.inner(&o)
		shared := d == nil
		if shared {
			if d = u.sharedLogic(&o); d == nil {
				continue
			}
		}
		if d.Op != isa.OpLOP3 || !plainPreds(d) || d.NSrc > 3 || d.Mod.Has(modKeep) && !(idleLogic(d) && logicWords(d) > 1) {
			continue
		}
		if _, _, masks := mask(in); masks && d.Mod.Size == sizeHalf && logicWords(d) == 1 {
			continue // ptxas leaves a 16-bit complement before the extension
		}
		// The inputs of both, without the merged one.
		var inputs []isa.Operand
		ok := true
		find := func(x isa.Operand) {
			if isZero(x) {
				return
			}
			for _, y := range inputs {
				if x == y {
					return
				}
			}
			inputs = append(inputs, x)
			if x.Flags != 0 {
				ok = false
			}
		}
		for j := range 3 {
			if j != k {
				find(in.Src[j])
			}
		}
		for j := range 3 {
			find(d.Src[j])
		}
		others := 0
		for _, x := range inputs {
			if x.Kind != isa.KindReg {
				others++
			}
		}
		if !ok || len(inputs) > 3 || others > 1 {
			continue
		}
		index := func(x isa.Operand) int {
			for i, y := range inputs {
				if x == y {
					return i
				}
			}
			return -1
		}
		var lut uint8
		for v := range 8 {
			val := func(x isa.Operand) int {
				i := index(x)
				if i < 0 {
					return 0
				}
				return v >> (2 - i) & 1
			}
			di := val(d.Src[0])<<2 | val(d.Src[1])<<1 | val(d.Src[2])
			r := int(d.Mod.Lut) >> di & 1
			x := [3]int{val(in.Src[0]), val(in.Src[1]), val(in.Src[2])}
			x[k] = r
			lut |= (in.Mod.Lut >> (x[0]<<2 | x[1]<<1 | x[2]) & 1) << v
		}
		for len(inputs) < 3 {
			inputs = append(inputs, rz)
		}
		copy(in.Src[:3], inputs)
		in.Mod.Lut = lut
		if shared {
			u.uses[u.n.of(isa.KindReg, o.Reg)]--
			u.f.uses(d, u.n, func(id int) { u.uses[id]++ })
		} else {
			u.take(d)
		}
		u.f.arrange(in)
		return true
	}
	return false
}

// sharedLogic is the logic operation that defines an operand and that one other logic operation reads too: what reads it takes it in
// nevertheless, which costs nothing and often leaves nobody to read it.
func (u *fuser) sharedLogic(o *isa.Operand) *isa.Inst {
	if o.Kind != isa.KindReg || o.Reg < isa.VirtualBase {
		return nil
	}
	id := u.n.of(isa.KindReg, o.Reg)
	if id >= len(u.defs) || u.uses[id] != 2 || u.beyond[id] {
		return nil
	}
	if d := u.definition(id); d != nil && d.Op == isa.OpLOP3 && plainPreds(d) && d.NSrc <= 3 && d.NSrc > 0 {
		return d
	}
	return nil
}

// beyondLogic are the registers that something else than a logic operation reads.
func (f *fn) beyondLogic(n numbering) []bool {
	beyond := make([]bool, n.total)
	for _, b := range f.blocks {
		for i := range b.insts {
			if in := &b.insts[i]; in.Op != isa.OpLOP3 {
				f.uses(in, n, func(id int) { beyond[id] = true })
			}
		}
	}
	return beyond
}

// fuseBitSelect makes one operation of "a & ~m | b & m", whatever else reads m.
func (u *fuser) fuseBitSelect(in *isa.Inst) bool {
	if u.f.t.SM < 50 || in.NSrc != 3 || !isZero(in.Src[2]) || in.Mod.Has(modKeep) || !plainPreds(in) || in.Mod.Lut != lutOr && in.Mod.Lut != lutXor {
		return false
	}
	for k := range 2 {
		x, y := u.inner(&in.Src[k]), u.inner(&in.Src[1-k])
		if x == nil || y == nil || !plainAnd(x) || !plainAnd(y) {
			return false
		}
		for i := range 2 {
			m, ok := u.complemented(&x.Src[i])
			if !ok {
				continue
			}
			for j := range 2 {
				if y.Src[j] != m {
					continue
				}
				not := x.Src[i]
				in.Src = [isa.MaxSrc]isa.Operand{m, y.Src[1-j], x.Src[1-i]}
				in.Mod.Lut = lutA&lutB | ^lutA&lutC
				u.take(x)
				u.take(y)
				if id := u.n.of(isa.KindReg, not.Reg); u.uses[id] > 0 {
					u.uses[id]--
				}
				u.f.arrange(in)
				return true
			}
		}
	}
	return false
}

// plainAnd says that the instruction is the AND of two registers.
func plainAnd(in *isa.Inst) bool {
	return in.Op == isa.OpLOP3 && in.Mod.Lut == lutAnd && in.Mod.Flags == 0 && plainPreds(in) && in.NSrc == 3 && isZero(in.Src[2]) &&
		in.Src[0].Kind == isa.KindReg && in.Src[1].Kind == isa.KindReg && in.Src[0].Flags|in.Src[1].Flags == 0
}

// complemented gives the word whose complement the operand is.
func (u *fuser) complemented(o *isa.Operand) (isa.Operand, bool) {
	id := u.n.of(isa.KindReg, o.Reg)
	if o.Kind != isa.KindReg || o.Reg < isa.VirtualBase || id >= len(u.defs) {
		return isa.Operand{}, false
	}
	d := u.definition(id)
	if d == nil || d.Op != isa.OpLOP3 || !plainPreds(d) || d.NSrc != 3 || logicWords(d) != 1 || d.Mod.Flags != 0 || d.Mod.Size == sizeHalf {
		return isa.Operand{}, false
	}
	for k := range 3 {
		if w := d.Src[k]; !isZero(w) {
			return w, w.Kind == isa.KindReg && w.Flags == 0 && d.Mod.Lut&1 != 0 && d.Mod.Lut>>(4>>k)&1 == 0
		}
	}
	return isa.Operand{}, false
}
