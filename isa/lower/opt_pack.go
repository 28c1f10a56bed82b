package lower

import "github.com/sarchlab/smsim/isa"

// unpacked is the word that an operand was taken from as a half (mov.b32 {x, y}, w), and the first byte of the half there.
func (u *fuser) unpacked(o isa.Operand) (word isa.Operand, first uint32, id int, ok bool) {
	if o.Kind != isa.KindReg || o.Reg < isa.VirtualBase || o.Flags&^isa.Reuse != 0 {
		return o, 0, 0, false
	}
	id = u.n.of(isa.KindReg, o.Reg)
	if id >= len(u.defs) {
		return o, 0, 0, false
	}
	d := u.definition(id)
	if d == nil || d.Op != isa.OpPRMT || d.Mod != (isa.Mod{Size: sizeUnpack}) || d.Src[0].Kind != isa.KindReg || d.Src[0].Flags&^isa.Reuse != 0 || !isZero(d.Src[2]) {
		return o, 0, 0, false
	}
	switch {
	case isImm(d.Src[1], 0x7610):
		return d.Src[0], 0, id, true
	case isImm(d.Src[1], 0x7632):
		return d.Src[0], 2, id, true
	}
	return o, 0, 0, false
}

// forget notes that an instruction reads the unpacked half id no more, but the word it is from.
func (u *fuser) forget(id int, word isa.Operand) {
	if u.uses[id]--; u.uses[id] == 0 {
		u.take(u.definition(id))
	} else if s := u.n.of(isa.KindReg, word.Reg); s < len(u.uses) {
		u.uses[s]++
	}
}

// fuseHalves takes halves from where they were unpacked: packing two is one PRMT of their words, the extension of the upper one a PRMT,
// and the extension of the lower one the word's.
func (u *fuser) fuseHalves(in *isa.Inst) bool {
	if u.f.t.SM < 70 || in.Mod.Flags&modKeep != 0 || in.Guard.Kind != isa.KindNone {
		return false
	}
	o, m, masks := mask(in)
	switch {
	case masks && m == 0xffff:
		w, first, id, ok := u.unpacked(o)
		if !ok {
			return false
		}
		if first == 0 {
			in.Src = [isa.MaxSrc]isa.Operand{w, imm(0xffff), rz}
		} else {
			in.Op, in.Mod, in.NDst, in.NSrc = isa.OpPRMT, isa.Mod{Size: sizeZero}, 1, 3
			in.Dst[1] = isa.Operand{}
			in.Src = [isa.MaxSrc]isa.Operand{w, imm(0x7732), rz}
		}
		u.forget(id, w)
		return true
	case in.Op != isa.OpPRMT:
	case isImm(in.Src[1], 0x9910) && isZero(in.Src[2]):
		w, first, id, ok := u.unpacked(in.Src[0])
		if !ok {
			return false
		}
		in.Src[0], in.Src[1] = w, imm(0x9910+first*0x1111)
		u.forget(id, w)
		return true
	case isImm(in.Src[1], 0x5410):
		a, b, changed := uint32(0), uint32(0), false
		if w, first, id, ok := u.unpacked(in.Src[0]); ok {
			in.Src[0], a, changed = w, first, true
			u.forget(id, w)
		}
		if w, first, id, ok := u.unpacked(in.Src[2]); ok {
			in.Src[2], b, changed = w, first, true
			u.forget(id, w)
		}
		in.Src[1] = imm(0x5410 + a*0x11 + b*0x1100)
		return changed
	}
	return false
}

// copyLowHalves makes the lower half that mov.b32 {x, y} takes from a word a copy of the word: in 16-bit registers nobody looks at the upper half.
func (f *fn) copyLowHalves() {
	if f.t.SM < 70 {
		return
	}
	for _, b := range f.blocks {
		for i := range b.insts {
			if in := &b.insts[i]; in.Op == isa.OpPRMT && in.Mod == (isa.Mod{Size: sizeUnpack}) && isImm(in.Src[1], 0x7610) && isZero(in.Src[2]) && in.Src[0].Kind == isa.KindReg && in.Src[0].Flags&^isa.Reuse == 0 {
				toMov(in, isa.R(in.Src[0].Reg))
			}
		}
	}
}
