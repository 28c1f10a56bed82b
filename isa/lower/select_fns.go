package lower

import "github.com/sarchlab/smsim/isa"

// ruleFns is fns: the n-th set bit of a mask from a base position. A base's own bit and a search backwards, which is one forwards in
// the reversed mask, are branches of their own, as in ptxas's code; what follows halves the mask by its number of ones.
func ruleFns(x *expander) {
	t := x.typ("b32")
	if !x.args(4, 4) {
		return
	}
	d, mask, base, n := x.d32(0, t.name), x.a32(1, t.name), x.a32(2, "b32"), x.a32(3, "s32")
	var pos, missing word
	x.under(word{}, func() { pos, missing = x.findSet(mask, base, n) })
	x.sel(d, pos, imm(0xffffffff), notP(missing))
}

// findSet is the position of the bit that fns looks for; missing says that there is none.
func (x *expander) findSet(mask, base, n word) (pos, missing word) {
	v, from, k, back := x.mov(auto, mask), x.mov(auto, base), x.reg(), x.pred()
	x.boolOp(back, isa.BoolAnd, notPT, notPT)
	own, search := x.newBlock(), x.newBlock()
	none := x.test(isa.CmpEQ, isa.S32, n, rz)
	x.cur.branches = true
	x.branch(none, own)
	x.mov(k, n)
	up := x.test(isa.CmpGT, isa.S32, n, rz)
	x.cur.branches = true
	x.branch(up, search)
	x.brev(v, v)
	x.boolOp(back, isa.BoolAnd, pt, pt)
	x.sub(k, rz, k)
	x.sub(from, imm(31), from)
	x.jump(search)
	x.place(own)
	x.mov(k, imm(1))
	x.and(v, v, x.shl(auto, x.mov(auto, imm(1)), from))
	x.place(search)
	w := x.and(auto, v, x.shl(auto, x.mov(auto, imm(0xffffffff)), from))
	all, wanted := x.popc(auto, w), k
	for width := 16; width > 0; width /= 2 {
		var ones word
		switch width {
		case 16, 8:
			ones = x.popc(auto, x.prmt(auto, w, imm(map[int]uint32{16: 0x7710, 8: 0x7770}[width]), rz))
		case 4:
			ones = x.popc(auto, x.lowBits(w, 4))
		case 2:
			ones = x.add(auto, x.lowBits(w, 1), x.lowBits(x.shr(auto, w, imm(1)), 1))
		case 1:
			ones = x.lowBits(w, 1)
		}
		p := x.test(isa.CmpLT, isa.U32, ones, k)
		if width > 1 {
			k = x.sel(auto, x.sub(auto, k, ones), k, p)
			w = x.sel(auto, x.shr(auto, w, imm(uint32(width))), w, p)
		}
		if width == 16 {
			pos = x.sel(auto, rz, imm(16), notP(p))
		} else {
			pos = x.sel(auto, x.add(auto, pos, imm(uint32(width))), pos, p)
		}
	}
	// The most negative n stays negative: to GPUs no number of ones is below it, and they find bit 0.
	missing = x.test(isa.CmpLT, signedType(!x.document()), all, wanted)
	return x.sel(auto, x.sub(auto, imm(31), pos), pos, back), missing
}

// lowBits is the lowest bits of a word.
func (x *expander) lowBits(v word, n uint32) word {
	if !x.t().Has(isa.OpSGXT) {
		return x.and(auto, v, imm(1<<n-1))
	}
	d := x.reg()
	x.emit(isa.OpSGXT, isa.Mod{Type: isa.U32, Flags: modKeep}, []word{d}, []word{v, imm(n)})
	return d
}
