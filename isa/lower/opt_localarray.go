package lower

import (
	"slices"

	"github.com/sarchlab/smsim/isa"
)

// localArray is a variable in local memory that could be registers, one for each element of width bytes.
type localArray struct {
	at, size int64
	width    int64
	accesses []localAccess
}

// localAccess is a load from or a store to local memory.
type localAccess struct {
	b *block
	i int
	localPlace
}

// localPlace is an address in the frame: a distance from its start, of a dynamic access without its index.
type localPlace struct {
	at    int64
	index isa.Operand // a register that is added, or with Neg subtracted; KindNone: nothing
}

// An access with a variable index costs two instructions for each element of an array in registers. On average over all accesses that may
// be 7 where these are stores and 9.5 where they are loads, in halves here; a loop counts ten times. Of 221 arrays compiled with ptxas 13.0 this
// chooses otherwise for seven.
const (
	storeLimit = 14
	loadLimit  = 19
)

// arraysInRegisters keeps local arrays in registers as the vendor's compiler does: arrays of words, or of halves, whose address goes
// nowhere else, of which some accesses are to fixed places, and those with a variable index are few for the number of elements. Each of
// these compares its index with all places (ISETP) and moves under these predicates. ptxas keeps bytes, 64-bit numbers and mixtures in memory.
func (f *fn) arraysInRegisters() bool {
	if f.t.SM < 70 || len(f.locals) == 0 || f.localWidths != 4 && f.localWidths != 2 || f.realCalls || f.privateCalls || f.separateCode() {
		return false
	}
	var arrays []*localArray
	for v, y := range f.locals {
		arrays = append(arrays, &localArray{at: y.offset, size: varSize(v), width: int64(f.localWidths)})
	}
	slices.SortFunc(arrays, func(a, b *localArray) int { return int(a.at - b.at) })
	if !f.findAccesses(arrays) {
		return false
	}
	moved := 0
	words := map[*block]map[int]wordMove{}
	for _, a := range arrays {
		if len(a.accesses) == 0 || a.worthwhile() {
			f.moveToRegisters(a, words)
			moved++
		}
	}
	f.rewriteAccesses(words)
	if moved == len(arrays) {
		f.localMem = 0
	}
	return len(words) > 0
}

// findAccesses finds all accesses to local memory and the arrays they belong to; false where an address goes elsewhere.
func (f *fn) findAccesses(arrays []*localArray) bool {
	n := f.numbering()
	defs := f.defSites(n)
	derived := map[isa.Reg]localPlace{} // values that are addresses
	placeOf := func(o isa.Operand) (localPlace, bool) {
		if o.Kind != isa.KindReg && o.Kind != isa.KindMem {
			return localPlace{}, false
		}
		if o.Reg == stackReg {
			return localPlace{}, true
		}
		p, ok := derived[o.Reg]
		return p, ok
	}
	for _, b := range f.rpo {
		for i := range b.insts {
			in := &b.insts[i]
			local := in.Op == isa.OpLDL || in.Op == isa.OpSTL
			address := false
			for k := range in.Src[:in.NSrc] {
				o := in.Src[k]
				p, ok := placeOf(o)
				if local && k == 0 {
					p.at += o.Imm
					if !ok || !addAccess(arrays, localAccess{b, i, p}, in) {
						return false
					}
					continue
				}
				address = address || ok || o.Kind == isa.KindConst && o.Reg == stackReg
				f.members(&o, func(kind isa.OperandKind, r isa.Reg) {
					_, ok := derived[r]
					address = address || kind == isa.KindReg && ok
				})
			}
			if !address {
				continue
			}
			p, ok := addressSum(in, placeOf)
			if ok = ok && in.Guard.Kind == isa.KindNone && in.Dst[0].Kind == isa.KindReg && in.Dst[0].Flags == 0 && in.Dst[0].Reg >= isa.VirtualBase &&
				defs[n.of(isa.KindReg, in.Dst[0].Reg)].value(); ok && p.index.Kind == isa.KindReg {
				ok = p.index.Reg >= isa.VirtualBase && defs[n.of(isa.KindReg, p.index.Reg)].value()
			}
			if !ok {
				return false
			}
			derived[in.Dst[0].Reg] = p
		}
	}
	return true
}

// addAccess adds the access to the array it belongs to. With an index that is known only of a single array: the fixed part of an address
// may lie in another one (B[i-1] in what stands before B).
func addAccess(arrays []*localArray, x localAccess, in *isa.Inst) bool {
	for _, a := range arrays {
		if int64(in.Mod.Size) != a.width && (a.width != 4 || in.Mod.Size < 4 || x.index.Kind != isa.KindNone) {
			return false
		}
		inside := x.at >= a.at && x.at+int64(in.Mod.Size) <= a.at+a.size
		if x.index.Kind != isa.KindNone {
			inside = len(arrays) == 1
		}
		if inside && a.size%a.width == 0 && (x.at-a.at)%a.width == 0 {
			a.accesses = append(a.accesses, x)
			return true
		}
	}
	return false
}

// addressSum is the address that an instruction computes of one address and of what is added to it.
func addressSum(in *isa.Inst, placeOf func(o isa.Operand) (localPlace, bool)) (sum localPlace, ok bool) {
	n := 1
	switch {
	case in.Op == isa.OpMOV && in.Mod.Flags == 0:
	case plainAdd(in):
		n = 3
	default:
		return sum, false
	}
	bases := 0
	for _, o := range in.Src[:n] {
		p, isAddress := placeOf(o)
		c, isConst := constant(o)
		switch {
		case isAddress && o.Flags == 0:
			bases++
			sum.at += p.at
			if p.index.Kind != isa.KindNone {
				if sum.index.Kind != isa.KindNone {
					return sum, false
				}
				sum.index = p.index
			}
		case isConst:
			sum.at += int64(int32(c))
		case o.Kind == isa.KindReg && o.Flags&^isa.Neg == 0 && sum.index.Kind == isa.KindNone && !isAddress:
			sum.index = o
		default:
			return sum, false
		}
	}
	return sum, bases == 1
}

// cost is how often the block is thought to run.
func (b *block) cost() int64 {
	c := int64(1)
	for range min(b.depth, 6) {
		c *= 10
	}
	return c
}

// worthwhile weighs the comparisons of accesses with variable indices against all accesses.
func (a *localArray) worthwhile() bool {
	var loads, stores, fixed int64
	for _, x := range a.accesses {
		in := &x.b.insts[x.i]
		switch {
		case x.index.Kind == isa.KindNone:
			fixed += x.b.cost() * int64(in.Mod.Size) / a.width
		case in.Op == isa.OpSTL:
			stores += x.b.cost()
		default:
			loads += x.b.cost()
		}
	}
	variable := loads + stores
	if fixed == 0 || variable == 0 {
		return fixed > 0
	}
	allowed := (stores*storeLimit + loads*loadLimit) * (variable + fixed) / variable
	return 4*(a.size/a.width)*variable <= allowed
}

// wordMove is what becomes of an access: moves from or to registers of the array.
type wordMove struct {
	words []isa.Reg   // those that the access can be to, by rising address
	width int64       // bytes from one to the next
	first int64       // what the index is for the first of them
	index isa.Operand // KindNone: all words are moved
}

// moveToRegisters gives the array's words registers and notes what becomes of its accesses.
func (f *fn) moveToRegisters(a *localArray, moves map[*block]map[int]wordMove) {
	words := make([]isa.Reg, a.size/a.width)
	for k := range words {
		words[k] = f.newReg()
	}
	for _, x := range a.accesses {
		m := wordMove{words: words, width: a.width, first: a.at - x.at, index: x.index}
		if x.index.Kind == isa.KindNone {
			from := (x.at - a.at) / a.width
			m.words = words[from : from+int64(x.b.insts[x.i].Mod.Size)/a.width]
		}
		if moves[x.b] == nil {
			moves[x.b] = map[int]wordMove{}
		}
		moves[x.b][x.i] = m
	}
}

// rewriteAccesses replaces accesses by moves.
func (f *fn) rewriteAccesses(moves map[*block]map[int]wordMove) {
	for _, b := range f.rpo {
		list := moves[b]
		if len(list) == 0 {
			continue
		}
		var out []isa.Inst
		for i, in := range b.insts {
			m, ok := list[i]
			if !ok {
				out = append(out, in)
				continue
			}
			data := in.Dst[0]
			if in.Op == isa.OpSTL {
				data = in.Src[1]
			}
			values := []isa.Operand{data}
			if data.Flags&(flagPair|flagQuad) != 0 {
				values = nil
				for _, r := range f.tuples[data.Reg] {
					values = append(values, isa.R(r))
				}
			}
			for k, w := range m.words {
				value := values[min(k, len(values)-1)]
				mv := isa.Inst{Op: isa.OpMOV, NDst: 1, NSrc: 1, Guard: in.Guard, Pos: in.Pos}
				mv.Dst[0], mv.Src[0] = value, isa.R(w)
				switch {
				case in.Op == isa.OpSTL:
					mv.Dst[0], mv.Src[0] = isa.R(w), value
				case m.width == 2:
					f.extendHalf(&mv, in.Mod.Type)
				}
				if m.index.Kind != isa.KindNone {
					test := f.placeTest(&in, m, int64(k))
					mv.Guard = test.Dst[0]
					out = append(out, test)
				}
				out = append(out, mv)
			}
		}
		b.insts = out
	}
}

// extendHalf makes a copy one of 16 bits, extended as a load of the type does.
func (f *fn) extendHalf(mv *isa.Inst, t isa.Type) {
	mv.Op, mv.NSrc, mv.Src[1], mv.Src[2] = isa.OpLOP3, 3, imm(0xffff), rz
	mv.Mod.Lut = 0xc0
	if t == isa.S16 {
		mv.Op, mv.Mod.Lut, mv.Src[1] = isa.OpPRMT, 0, imm(0x9910)
	}
	fillLayout(mv)
}

// placeTest is the comparison of an access's index with that of word k.
func (f *fn) placeTest(in *isa.Inst, m wordMove, k int64) isa.Inst {
	at := m.first + m.width*k
	if m.index.Is(isa.Neg) {
		at = -at
	}
	index := m.index
	index.Flags = 0
	test := isa.Inst{Op: isa.OpISETP, Mod: isa.Mod{Type: isa.S32, Cmp: isa.CmpEQ}, NDst: 2, NSrc: 3, Pos: in.Pos}
	test.Dst[0], test.Dst[1] = isa.P(f.newPred()), pt
	test.Src[0], test.Src[1], test.Src[2] = index, immWord(uint32(int32(at))), pt
	if in.Guard.Kind == isa.KindPred {
		test.Src[2] = in.Guard
	}
	return test
}
