package lower

import (
	"slices"

	"github.com/sarchlab/smsim/isa"
)

// ptxas writes a 64-bit product as the wide product of the low words and the sum of two cross products, and finds only after it has
// simplified additions that both cross products are zero (of factors widened from 32 bits, or masked). The zero, one for all
// products with the same first factor, then stays in a register that is added to the high word: a uniform one where all lanes
// of a warp run together.

// settleCross makes the zeros of such products moves that nobody looks through. All other cross products are ordinary ones from here on.
func (f *fn) settleCross() {
	for _, b := range f.blocks {
		for i := range b.insts {
			in := &b.insts[i]
			if in.Op != isa.OpIMAD || in.Mod.Size != sizeCross {
				continue
			}
			in.Mod.Size = 0
			if isZero(in.Src[1]) && isZero(in.Src[2]) {
				toMov(in, rz)
				in.Mod = isa.Mod{Flags: modKeep, Size: sizeCross}
			}
		}
	}
}

// isCross says that the instruction is a zero that the cross products of a 64-bit product are.
func isCross(in *isa.Inst) bool { return in.Op == isa.OpMOV && in.Mod.Size == sizeCross }

// uniformCross moves the zeros to uniform registers where only additions read them and no lanes may have parted. A zero whose
// readers come after all readers of another one in the block takes that one's register, which holds zero already.
func (f *fn) uniformCross() {
	readers := map[isa.Reg][]crossReader{}
	some := false
	for _, b := range f.blocks {
		for i := range b.insts {
			in := &b.insts[i]
			some = some || isCross(in)
			for k := range in.Src[:in.NSrc] {
				if o := &in.Src[k]; o.Reg >= isa.VirtualBase && (o.Kind == isa.KindReg || o.Kind == isa.KindMem || o.Kind == isa.KindConst) {
					readers[o.Reg] = append(readers[o.Reg], crossReader{reader{b, in, k}, i})
				}
			}
		}
	}
	if !some {
		return
	}
	n := f.numbering()
	defs := f.defSites(n)
	parted := f.parted()
	uniform := f.t.SM >= 75 && f.t.Has(isa.OpUIADD3) && !f.separateCode()
	early := map[*block][]isa.Inst{}
	for _, b := range f.blocks {
		type slot struct {
			reg  isa.Operand
			last int // place of its last reader
		}
		var slots []slot
		home := f.beforeShort(b)
		for i := range b.insts {
			in := &b.insts[i]
			if !isCross(in) {
				continue
			}
			in.Mod.Size = 0
			r := in.Dst[0].Reg
			ok := uniform && !parted[b] && in.Guard.Kind == isa.KindNone && defs[n.of(isa.KindReg, r)].value()
			last := i
			for at := range readers[r] {
				u := &readers[r][at]
				ok = ok && u.find(r) && f.takesCross(u.reader)
				last = max(last, u.at)
				if u.b != b {
					last = len(b.insts)
				}
			}
			if !ok {
				continue
			}
			k := slices.IndexFunc(slots, func(s slot) bool { return s.last <= i })
			if k < 0 || home != nil {
				k = len(slots)
				slots = append(slots, slot{reg: isa.UR(f.newUReg())})
				in.Op, in.Mod, in.Dst[0], in.Src[0] = isa.OpUMOV, isa.Mod{}, slots[k].reg, isa.UR(isa.URZ)
				if home != nil {
					early[home] = append(early[home], *in)
				}
			}
			if in.Op != isa.OpUMOV || home != nil {
				dead(in)
			}
			slots[k].last = last
			for at := range readers[r] {
				u := &readers[r][at]
				u.find(r)
				u.in.Src[u.k] = slots[k].reg
				if !isAdd64(u.in) {
					f.arrange(u.in)
				}
			}
		}
	}
	f.compact()
	for _, b := range f.blocks {
		at := len(b.insts)
		if b.terminator() != nil {
			at--
		}
		b.insts = slices.Insert(b.insts, at, early[b]...)
	}
}

// find looks for the source that reads the register anew: a zero that the instruction reads beside it may have had the sources exchanged.
func (u *crossReader) find(r isa.Reg) bool {
	k := slices.IndexFunc(u.in.Src[:u.in.NSrc], func(o isa.Operand) bool { return o.Reg == r && o.Kind != isa.KindUReg })
	u.k = max(k, 0)
	return k >= 0
}

// hoistedZeros is how many instructions a loop may have for its zeros to be moved before it (probed: 22 they are, 30 they are not).
const hoistedZeros = 25

// beforeShort is the block before the short innermost loop that block b is in, nil if there is none.
func (f *fn) beforeShort(b *block) *block {
	l := b.loop
	if l == nil || f.hasInner(l) || l.calls() {
		return nil
	}
	n := 0
	for _, x := range l.blocks {
		n += len(x.insts)
	}
	home := l.head.idom
	if n > hoistedZeros || home == nil || l.contains(home) || len(home.insts) > 0 && home.insts[len(home.insts)-1].Op == isa.OpCALL {
		return nil
	}
	return home
}

// takesCross says that the addition that reads a zero can read it from a uniform register.
func (f *fn) takesCross(u reader) bool {
	if !isAdd64(u.in) {
		return u.in.Op == isa.OpIADD3 && u.in.Guard.Kind == isa.KindNone && (&datapath{f: f}).takes(u)
	}
	if u.k != 5 || u.in.Src[5].Flags != 0 || u.in.Guard.Kind != isa.KindNone {
		return false
	}
	for _, o := range u.in.Src[3:5] {
		if o.Kind != isa.KindReg || o.Reg == u.in.Src[5].Reg {
			return false
		}
	}
	return true
}

// crossReader is a reader and its place in its block.
type crossReader struct {
	reader
	at int
}
