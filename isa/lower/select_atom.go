package lower

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sarchlab/smsim/isa"
)

var atomOps = map[string]isa.Sub{"add": isa.SubAdd, "min": isa.SubMin, "max": isa.SubMax, "inc": isa.SubInc, "dec": isa.SubDec,
	"and": isa.SubAnd, "or": isa.SubOr, "xor": isa.SubXor, "exch": isa.SubExch, "cas": isa.SubCAS}

// atomTypes are the types that each operation has.
var atomTypes = map[string]string{
	"add": "u32 s32 u64 f16 f16x2 bf16 bf16x2 f32 f64", "min": "u32 s32 u64 s64", "max": "u32 s32 u64 s64", "inc": "u32", "dec": "u32",
	"and": "b32 b64", "or": "b32 b64", "xor": "b32 b64", "exch": "b32 b64 b128", "cas": "b16 b32 b64 b128",
}

// ruleAtom is atom and, without a result, red.
func ruleAtom(result bool) rule {
	return func(x *expander) {
		if x.in.Has("async") {
			x.fail("%s is not modelled: clusters", x.in.Name())
			return
		}
		space := x.takeSpace()
		x.takeMemOrder()
		name := x.take("add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas")
		if name == "" {
			x.fail("%s lacks an operation such as .add", x.in.Op)
			return
		}
		if v := x.takeVector(); v > 1 {
			x.fail("%s is not modelled: atomics on vectors", x.in.Name())
			return
		}
		t := x.typ("b16 b32 u32 s32 b64 u64 s64 f16 f16x2 bf16 bf16x2 f32 f64 b128")
		if x.err != nil {
			return
		}
		if types := strings.Fields(atomTypes[name]); !slices.Contains(types, t.name) {
			x.fail("%s.%s has no type .%s", x.in.Op, name, t.name).Advise("it takes %s", oneOf(types))
			return
		}
		if !result && (name == "exch" || name == "cas") {
			x.fail("red has no .%s", name).Advise("without its result use atom with _ as destination")
			return
		}
		n := 2
		if result {
			n++
		}
		if name == "cas" {
			n++
		}
		if len(x.in.Args) == n+1 { // a cache policy
			x.in.Args = x.in.Args[:n]
		}
		if !x.args(n, n) {
			return
		}
		at := 0
		if result {
			at = 1
		}
		addr, named := x.memoryAt(at, space)
		if x.err != nil {
			return
		}
		if named != "" {
			space = named
		}
		op, ok := atomOps[name]
		if !ok || t.bits == 128 || t.float() && name != "add" {
			x.fail("%s is not modelled", x.in.Name())
			return
		}
		var d []word
		if result {
			d = x.dst(0, t.name)
		}
		b := x.src(at+1, t.name)
		var c []word
		if name == "cas" {
			c = x.src(at+2, t.name)
		}
		x.atomic(d, addr, b, c, op, t, space)
	}
}

// atomic emits one atomic operation: RED when nobody wants the old value of a global one.
func (x *expander) atomic(d []word, addr word, b, c []word, op isa.Sub, t vtype, space string) {
	m := isa.Mod{Sub: op, Size: uint8(t.bits / 8), Type: t.machine()}
	if t.kind == 'b' && t.bits >= 32 {
		m.Type = isa.TypeNone
		if t.wide() {
			m.Type = isa.U64
		}
	}
	if space != "shared" && x.f.m.AddressSize == 64 {
		m.Flags |= isa.ModE64
	}
	if space != "shared" && t.name == "f32" { // the unit of global memory has no subnormal numbers
		m.Flags |= isa.ModFTZ
	}
	if space == "shared" && !x.t().Has(isa.OpATOMS) || !x.t().Has(isa.OpATOM) {
		x.fail("%s has no atomic instructions on %s memory", x.t().Name, map[bool]string{true: "shared", false: "global"}[space == "shared"])
		return
	}
	unused := len(d) == 0 || d[0].Kind == isa.KindReg && d[0].Reg == isa.RZ
	if unused && t.bits > 16 && space != "shared" && op != isa.SubExch && op != isa.SubCAS {
		x.emitWide(isa.OpRED, m, nil, [][]word{{addr}, b})
		return
	}
	if len(d) == 0 {
		d = []word{rz}
	}
	code := isa.OpATOM
	switch {
	case space == "shared":
		code = isa.OpATOMS
	case space == "global" && x.t().Has(isa.OpATOMG):
		code = isa.OpATOMG
	}
	if (space == "shared" && (t.wide() || t.float()) || t.bits == 16) && op != isa.SubCAS && op != isa.SubExch {
		x.casLoop(d, addr, b, op, t, space)
		return
	}
	srcs := [][]word{{addr}, b}
	if op == isa.SubCAS {
		if x.sm() >= 70 {
			srcs = append(srcs, c)
		} else {
			srcs[1] = append(append([]word(nil), b...), c...)
		}
	}
	dsts := [][]word{d}
	if x.sm() >= 70 {
		dsts = [][]word{{pt}, d}
	}
	x.emitWide(code, m, dsts, srcs)
}

// apply computes the new value of a read-modify-write operation.
func (x *expander) apply(old, b []word, op isa.Sub, t vtype) []word {
	if t.float() {
		d := x.regs(len(old))
		x.floatEmit(t, isa.OpFADD, isa.OpDADD, isa.OpHADD2, floatMods{}, d, old, b)
		return d
	}
	if t.wide() {
		o, v := asPair(old), asPair(b)
		switch op {
		case isa.SubAdd:
			return x.add64(pair{}, o, v).words()
		case isa.SubMin, isa.SubMax:
			c := isa.CmpLT
			if op == isa.SubMax {
				c = isa.CmpGT
			}
			return x.sel64(pair{}, o, v, x.cmp64(auto, c, t.signed(), o, v, isa.BoolAnd, pt)).words()
		case isa.SubAnd:
			return []word{x.and(auto, o.lo, v.lo), x.and(auto, o.hi, v.hi)}
		case isa.SubOr:
			return []word{x.or(auto, o.lo, v.lo), x.or(auto, o.hi, v.hi)}
		case isa.SubXor:
			return []word{x.xor(auto, o.lo, v.lo), x.xor(auto, o.hi, v.hi)}
		}
		return b
	}
	o, v := old[0], b[0]
	switch op {
	case isa.SubAdd:
		return []word{x.add(auto, o, v)}
	case isa.SubMin, isa.SubMax:
		return []word{x.minmax(auto, o, v, op == isa.SubMax, signedType(t.signed()))}
	case isa.SubAnd:
		return []word{x.and(auto, o, v)}
	case isa.SubOr:
		return []word{x.or(auto, o, v)}
	case isa.SubXor:
		return []word{x.xor(auto, o, v)}
	case isa.SubInc:
		p := x.test(isa.CmpGE, isa.U32, o, v)
		return []word{x.sel(auto, rz, x.add(auto, o, imm(1)), p)}
	case isa.SubDec:
		p := x.test(isa.CmpEQ, isa.U32, o, rz)
		p = x.cmp(auto, isa.CmpGT, isa.U32, o, v, isa.BoolOr, p)
		return []word{x.sel(auto, v, x.add(auto, o, imm(0xffffffff)), p)}
	}
	return b
}

// guarded runs body for the lanes whose PTX guard is true, branching around it for the others.
func (x *expander) guarded(body func()) {
	g := x.guard
	if g.Kind == isa.KindNone {
		body()
		return
	}
	after := x.newBlock()
	x.branch(notP(g), after)
	x.guard = word{}
	body()
	x.guard = g
	x.place(after)
}

// casLoop does an operation the unit lacks: load, compute, compare-and-swap until nobody came between.
func (x *expander) casLoop(d []word, addr word, b []word, op isa.Sub, t vtype, space string) {
	x.guarded(func() {
		n := len(b)
		old := x.regs(n)
		x.emitWide(x.loadOp(space), x.accessMod(t, t.bits/8, space), [][]word{old}, [][]word{{addr}})
		again := x.newBlock()
		x.place(again)
		next := x.apply(old, b, op, t)
		got := x.regs(n)
		x.atomic(got, addr, old, next, isa.SubCAS, valueTypes[fmt.Sprint("b", t.bits)], space)
		var p word
		if n == 2 {
			p = x.cmp64(auto, isa.CmpNE, false, asPair(got), asPair(old), isa.BoolAnd, pt)
		} else {
			p = x.test(isa.CmpNE, isa.U32, got[0], old[0])
		}
		x.movWords(old, got)
		x.branch(p, again)
		if d[0].Reg != isa.RZ {
			x.movWords(d, old)
		}
	})
}

// ballotAll is the mask of the lanes that are active here.
func (x *expander) ballotAll(d word) {
	if x.t().Has(isa.OpVOTE) {
		x.emit(isa.OpVOTE, isa.Mod{Sub: isa.SubAny}, []word{d, pt}, []word{pt})
		return
	}
	x.emit(isa.OpS2R, isa.Mod{}, []word{d}, []word{{Kind: isa.KindSpecial, Reg: isa.SRActiveMask}})
}
