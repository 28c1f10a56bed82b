package lower

import (
	"math/bits"
	"sort"

	"github.com/sarchlab/smsim/isa"
)

// alignments finds for every general and uniform register how many low bits of its value are known to be zero (32: it is zero, or
// never written).
func (f *fn) alignments(n numbering) []uint8 {
	z := make([]uint8, n.total)
	for i := range z {
		z[i] = 32
	}
	of := func(o *isa.Operand) uint8 {
		if o.Kind == isa.KindImm && o.Imm >= dynamicShared/2 {
			return 4 // dynamic shared memory starts at a multiple of 16
		}
		if c, ok := constant(*o); ok {
			if c == 0 {
				return 32
			}
			return uint8(bits.TrailingZeros32(c))
		}
		if (o.Kind == isa.KindReg || o.Kind == isa.KindUReg) && o.Reg >= isa.VirtualBase && o.Flags&^isa.Neg == 0 {
			return z[n.of(o.Kind, o.Reg)]
		}
		return 0
	}
	for changed := true; changed; {
		changed = false
		for _, b := range f.rpo {
			for i := range b.insts {
				in := &b.insts[i]
				if in.NDst == 0 {
					continue
				}
				v := uint8(0)
				switch {
				case in.Op == isa.OpULEA && in.Mod.Flags == 0:
					sh, _ := constant(in.Src[2])
					v = min(of(&in.Src[0])+uint8(sh), of(&in.Src[1]))
				case in.Dst[0].Kind != isa.KindReg || in.Dst[0].Flags&(flagPair|flagQuad) != 0:
				case in.Op == isa.OpMOV:
					v = of(&in.Src[0])
				case in.Op == isa.OpSEL:
					v = min(of(&in.Src[0]), of(&in.Src[1]))
				case in.Op == isa.OpIADD || in.Op == isa.OpIADD3 && in.Mod.Flags == 0:
					v = 32
					for k := range min(in.NSrc, 3) {
						v = min(v, of(&in.Src[k]))
					}
				case in.Op == isa.OpIMAD && in.Mod.Flags == 0:
					v = min(of(&in.Src[0])+of(&in.Src[1]), of(&in.Src[2]))
				case in.Op == isa.OpLEA && in.Mod.Flags == 0, in.Op == isa.OpISCADD:
					sh, _ := constant(in.Src[2])
					v = min(of(&in.Src[0])+uint8(sh), of(&in.Src[1]))
				case isShiftLeft(in) || in.Op == isa.OpSHL && in.Mod.Flags == 0:
					if sh, ok := constant(in.Src[1]); ok && sh < 32 {
						v = of(&in.Src[0]) + uint8(sh)
					}
				case in.Op == isa.OpLOP3 && in.Mod.Lut == 0xc0 || in.Op == isa.OpLOP && in.Mod.Sub == isa.SubAnd:
					v = max(of(&in.Src[0]), of(&in.Src[1]))
				case in.Op == isa.OpLOP3 && in.Mod.Lut&1 == 0:
					v = min(of(&in.Src[0]), of(&in.Src[1]), of(&in.Src[2]))
				}
				v = min(v, 32)
				f.defs(in, n, func(id int) {
					if v < z[id] {
						z[id], changed = v, true
					}
				})
			}
		}
	}
	return z
}

// vectorise joins shared-memory loads of adjacent words from an aligned base into LDS.128 and LDS.64.
func (f *fn) vectorise() {
	n := f.numbering()
	z := f.alignments(n)
	defs := f.defSites(n)
	for _, b := range f.rpo {
		groups := map[isa.Operand][]int{} // address without offset -> loads
		flush := func(which func(address isa.Operand) bool) {
			var keys []isa.Operand
			for k := range groups {
				if which(k) {
					keys = append(keys, k)
				}
			}
			sort.Slice(keys, func(i, j int) bool { return groups[keys[i]][0] < groups[keys[j]][0] })
			for _, k := range keys {
				f.joinLoads(b, groups[k], n, z, defs)
				delete(groups, k)
			}
		}
		all := func(isa.Operand) bool { return true }
		for i := range b.insts {
			in := &b.insts[i]
			switch {
			case in.Op == isa.OpLDS && in.Mod.Size == 4 && in.Guard.Kind == isa.KindNone && in.Dst[0].Reg >= isa.VirtualBase && !in.Mod.Has(isa.ModStrong):
				o := in.Src[0]
				if o.Flags&^(isa.ScaleX4|isa.ScaleX8|isa.ScaleX16|isa.HasUReg) != 0 || o.Reg < isa.VirtualBase && o.Reg != isa.RZ {
					break
				}
				if _, member := f.inTuple[in.Dst[0].Reg]; member || !defs[n.of(isa.KindReg, in.Dst[0].Reg)].value() {
					break
				}
				o.Imm = 0
				groups[o] = append(groups[o], i)
			case memSpaces(in)&2 != 0 && writesMemory(in), in.Class().IsControl(), in.Class() == isa.ClassMEMBAR:
				flush(all)
			default:
				// A base that changes ends its groups.
				for _, d := range in.Dst[:in.NDst] {
					flush(func(o isa.Operand) bool {
						return d.Kind == isa.KindReg && o.Reg == d.Reg || d.Kind == isa.KindUReg && o.Is(isa.HasUReg) && o.UReg == d.Reg
					})
				}
			}
		}
		flush(all)
	}
	f.compact()
}

// joinLoads joins what it can of the loads at the given places of a block, which have one base.
func (f *fn) joinLoads(b *block, at []int, n numbering, z []uint8, defs []defSite) {
	if len(at) < 2 {
		return
	}
	base := b.insts[at[0]].Src[0]
	align := uint8(32)
	if base.Reg != isa.RZ {
		align = z[n.of(isa.KindReg, base.Reg)]
		for shift, scale := range map[uint8]isa.OperandFlags{2: isa.ScaleX4, 3: isa.ScaleX8, 4: isa.ScaleX16} {
			if base.Is(scale) {
				align += shift
			}
		}
	}
	if base.Is(isa.HasUReg) {
		align = min(align, z[n.of(isa.KindUReg, base.UReg)])
	}
	byOffset := map[int64]int{}
	var offsets []int64
	for _, i := range at {
		o := b.insts[i].Src[0].Imm
		if _, twice := byOffset[o]; !twice {
			byOffset[o] = i
			offsets = append(offsets, o)
		}
	}
	sort.Slice(offsets, func(i, j int) bool { return offsets[i] < offsets[j] })
	for _, words := range []int64{4, 2} {
		if 1<<min(align, 30) < 4*words {
			continue
		}
		for _, o := range offsets {
			if o%(4*words) != 0 && o < dynamicShared/2 || o >= dynamicShared/2 && (o-dynamicShared)%(4*words) != 0 {
				continue
			}
			first := len(b.insts)
			var regs []isa.Reg
			for k := range words {
				i, ok := byOffset[o+4*k]
				if !ok {
					break
				}
				first = min(first, i)
				regs = append(regs, b.insts[i].Dst[0].Reg)
			}
			if int64(len(regs)) != words {
				continue
			}
			in := b.insts[byOffset[o]]
			for k := range words {
				dead(&b.insts[byOffset[o+4*k]])
				delete(byOffset, o+4*k)
			}
			f.setTuple(regs)
			in.Dst[0] = tupleOperand(regs)
			in.Mod.Size, in.Mod.Type = uint8(4*words), isa.TypeNone
			b.insts[first] = in
		}
	}
}
