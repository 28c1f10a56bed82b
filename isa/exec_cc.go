package isa

// Adders that read or write the condition code (before Volta): IADD3, LEA and ISCADD with .CC or .X. IADD, IMAD, XMAD, LOP and
// IMNMX have theirs beside their other forms.

// writesCC are the opcodes whose form with .CC is modelled.
var writesCC = [NumOps]bool{OpIADD: true, OpIADD32I: true, OpISUB: true, OpIADD3: true, OpISCADD: true, OpLEA: true, OpIMAD: true,
	OpIMUL: true, OpXMAD: true, OpLOP: true, OpLOP32I: true, OpIMNMX: true}

// usesCC says that the instruction adds or writes the condition code.
func (d *decoder) usesCC() bool { return d.sm < 70 && (d.has(ModCC) || d.has(ModX)) }

// shiftedNegated is a bit of the immediate of an adder whose shifted operand is negated; the low bits count what the complements
// of other operands add.
const shiftedNegated = 1 << 8

// decCC makes an adder of up to three operands on the condition code: (a << sh) + b + c.
func (d *decoder) decCC(operands int) {
	u := d.u
	shifted := d.in.Op != OpIADD3
	for i := range operands {
		if i == 0 && shifted {
			u.s[0] = d.raw(0, 0, intMods(d.flags(0)))
			if d.flags(0)&Neg != 0 {
				u.imm |= shiftedNegated
			}
			continue
		}
		var plus uint32
		u.s[i], plus = d.addend(i)
		u.imm += plus
	}
	u.exec = execAddCC
}

// execAddCC adds (a << sh) + b + c and CC.CF with .X. The carry is that of the adder, which takes a negated operand as its
// complement plus 1: of a zero that is 2^32. With .HI the first operand is the upper word of {high, a} << sh.
func execAddCC(w *Warp, u *uop, m uint32) {
	a, b, c := w.val(&u.s[0]), w.val(&u.s[1]), w.val(&u.s[2])
	d := w.out(u, 0, m)
	mod := &u.in.Mod
	n, plus, negated := u.sh&31, uint64(u.imm&(shiftedNegated-1)), u.imm&shiftedNegated != 0
	hi, sx := mod.Has(ModHI) && u.in.Op == OpLEA, mod.Has(ModSX32)
	var x, cf, of uint32
	if mod.Has(ModX) {
		x = w.cf
	}
	for i := range d {
		v, third := a[i]<<n, c[i]
		if hi {
			if sx {
				third = uint32(int32(a[i]) >> 31)
			}
			v, third = uint32((uint64(third)<<32|uint64(a[i]))<<n>>32), 0
		}
		s := uint64(v) + uint64(b[i]) + uint64(third) + plus + uint64(x>>uint(i)&1)
		if negated && v == 0 {
			s += 1 << 32
		}
		r := uint32(s)
		cf |= bit(s>>32 != 0) << uint(i)
		of |= (v ^ r) & (b[i] ^ r) >> 31 << uint(i)
		d[i] = r
	}
	if mod.Has(ModCC) {
		w.setCC(d, m, cf, of, mod.Has(ModX))
	}
	w.commit(u, 1, m)
}
