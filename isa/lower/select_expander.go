package lower

import (
	"fmt"
	"strings"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// expander carries one PTX instruction through its selection rule. It embeds the builder and adds the
// 32-bit operations of the chosen target (select_alu.go and its neighbours): a rule says what is
// computed, the operations decide how this generation computes it.
//
// Rules do not return errors: fail keeps the first one, and everything emitted after it is thrown away
// with the kernel.
type expander struct {
	*builder
	mods []string     // modifiers of the instruction that no rule has asked for yet
	ftz  isa.ModFlags // ModFTZ when the instruction has .ftz
}

// rule lowers one PTX instruction.
type rule func(x *expander)

// newRule wraps a rule as a selector. After the rule every modifier must have been used:
// what is left over is illegal for the instruction, as ptxas says.
func newRule(r rule) selector {
	return func(b *builder) error {
		x := &expander{builder: b, mods: append([]string(nil), b.in.Mods...)}
		blk, from := b.cur, len(b.cur.insts)
		r(x)
		x.keepCC(blk, from)
		if x.err == nil && len(x.mods) > 0 {
			x.fail("illegal modifier '.%s' for instruction '%s'", x.mods[0], b.in.Op)
		}
		return x.err
	}
}

// keepCC saves the condition code around an expansion that uses it between PTX instructions that pass a carry
// (before Volta, where PTX's carry flag is the machine's).
func (x *expander) keepCC(blk *block, from int) {
	if x.sm() >= 70 {
		return
	}
	reads := x.in.Op == "addc" || x.in.Op == "subc" || x.in.Op == "madc"
	writes := x.in.Has("cc")
	if x.f.ccLive && !reads && !writes && blk == x.cur {
		uses := false
		for i := from; i < len(blk.insts); i++ {
			uses = uses || blk.insts[i].Mod.Has(isa.ModCC)
		}
		if uses {
			rest := append([]isa.Inst(nil), blk.insts[from:]...)
			blk.insts = blk.insts[:from]
			c := x.saveCC()
			blk.insts = append(blk.insts, rest...)
			x.restoreCC(c)
		}
	}
	if reads || writes {
		x.f.ccLive = writes
	}
}

// saveCC copies the carry flag to a register, restoreCC puts it back.
func (x *expander) saveCC() word {
	c := x.reg()
	x.emit(isa.OpIADD, isa.Mod{Flags: isa.ModX}, []word{c}, []word{rz, rz})
	return c
}

func (x *expander) restoreCC(c word) {
	x.emit(isa.OpIADD, isa.Mod{Flags: isa.ModCC}, []word{rz}, []word{c, imm(0xffffffff)})
}

// fail records the first error of the instruction.
func (x *expander) fail(format string, args ...any) *ptx.Error { return x.errorf(format, args...) }

// args checks the number of operands.
func (x *expander) args(from, to int) bool {
	n := len(x.in.Args)
	if n < from || n > to {
		want := fmt.Sprint(from)
		if from != to {
			want = fmt.Sprintf("%d to %d", from, to)
		}
		x.fail("%s takes %s operands, not %d", x.in.Op, want, n)
		return false
	}
	return true
}

// take uses up the first modifier that is one of names; "" when there is none.
func (x *expander) take(names ...string) string {
	for i, m := range x.mods {
		for _, n := range names {
			if m == n {
				x.mods = append(x.mods[:i:i], x.mods[i+1:]...)
				return m
			}
		}
	}
	return ""
}

// has uses up the modifier if it is there.
func (x *expander) has(name string) bool { return x.take(name) != "" }

// drop uses up modifiers that change nothing here (cache hints, scopes).
func (x *expander) drop(names ...string) {
	for x.take(names...) != "" {
	}
}

// dropPrefix uses up modifiers that begin with one of the prefixes ("L2::", "shared::cta").
func (x *expander) dropPrefix(prefixes ...string) {
	rest := x.mods[:0:0]
next:
	for _, m := range x.mods {
		for _, p := range prefixes {
			if strings.HasPrefix(m, p) {
				continue next
			}
		}
		rest = append(rest, m)
	}
	x.mods = rest
}

// vtype is a PTX value type.
type vtype struct {
	name   string
	bits   int
	kind   byte // 'u', 's', 'b' or 'f'; 'p' for a predicate
	packed bool // two or four lanes in one word
}

func (t vtype) signed() bool { return t.kind == 's' }
func (t vtype) float() bool  { return t.kind == 'f' }
func (t vtype) wide() bool   { return t.bits == 64 }

// machine is the machine type of the value.
func (t vtype) machine() isa.Type {
	if m, ok := machineTypes[t.name]; ok {
		return m
	}
	return isa.TypeNone
}

var machineTypes = map[string]isa.Type{
	"u8": isa.U8, "s8": isa.S8, "b8": isa.U8, "u16": isa.U16, "s16": isa.S16, "b16": isa.U16,
	"u32": isa.U32, "s32": isa.S32, "b32": isa.U32, "u64": isa.U64, "s64": isa.S64, "b64": isa.U64,
	"f16": isa.F16, "bf16": isa.BF16, "f32": isa.F32, "f64": isa.F64, "b128": isa.U128,
	"u16x2": isa.U16x2, "s16x2": isa.S16x2, "f16x2": isa.F16x2, "bf16x2": isa.BF16x2,
	"u8x4": isa.U8x4, "s8x4": isa.S8x4,
}

// valueTypes are the PTX fundamental and packed types by name.
var valueTypes = map[string]vtype{
	"u8": {"u8", 8, 'u', false}, "s8": {"s8", 8, 's', false}, "b8": {"b8", 8, 'b', false},
	"u16": {"u16", 16, 'u', false}, "s16": {"s16", 16, 's', false}, "b16": {"b16", 16, 'b', false},
	"u32": {"u32", 32, 'u', false}, "s32": {"s32", 32, 's', false}, "b32": {"b32", 32, 'b', false},
	"u64": {"u64", 64, 'u', false}, "s64": {"s64", 64, 's', false}, "b64": {"b64", 64, 'b', false},
	"b128": {"b128", 128, 'b', false},
	"f16":  {"f16", 16, 'f', false}, "bf16": {"bf16", 16, 'f', false}, "f32": {"f32", 32, 'f', false}, "f64": {"f64", 64, 'f', false},
	"u16x2": {"u16x2", 32, 'u', true}, "s16x2": {"s16x2", 32, 's', true},
	"f16x2": {"f16x2", 32, 'f', true}, "bf16x2": {"bf16x2", 32, 'f', true}, "f32x2": {"f32x2", 64, 'f', true},
	"u8x4": {"u8x4", 32, 'u', true}, "s8x4": {"s8x4", 32, 's', true},
	"pred": {"pred", 1, 'p', false},
}

// typ uses up the next type modifier. allowed lists the types the instruction has; a missing or another
// type is an error that says so.
func (x *expander) typ(allowed string) vtype {
	for i, m := range x.mods {
		t, ok := valueTypes[m]
		if !ok {
			continue
		}
		x.mods = append(x.mods[:i:i], x.mods[i+1:]...)
		for _, a := range strings.Fields(allowed) {
			if a == m {
				return t
			}
		}
		x.fail("%s has no type .%s", x.in.Op, m).Advise("it takes .%s", strings.Join(strings.Fields(allowed), ", ."))
		return t
	}
	if first := nthType(x.in, 0); first != "" {
		x.fail("%s has one type, .%s, and needs another", x.in.Op, first).Advise("add one of .%s", strings.Join(strings.Fields(allowed), ", ."))
		return valueTypes["b32"]
	}
	x.fail("%s lacks a type", x.in.Op).Advise("add one of .%s", strings.Join(strings.Fields(allowed), ", ."))
	return valueTypes["b32"]
}

// pair is a 64-bit value in two words.
type pair struct{ lo, hi word }

// asPair takes the two words of a 64-bit operand.
func asPair(w []word) pair {
	switch len(w) {
	case 0:
		return pair{rz, rz}
	case 1:
		return pair{w[0], rz}
	}
	return pair{w[0], w[1]}
}

func (p pair) words() []word { return []word{p.lo, p.hi} }

// auto as a destination stands for a new virtual register.
var auto = word{}

// notP is the complement of predicate p.
func notP(p word) word {
	p.Flags ^= isa.Neg
	return p
}

// out gives the destination, making a register for auto.
func (x *expander) out(d word) word {
	if d.Kind == isa.KindNone {
		return x.reg()
	}
	return d
}

// outP is out for predicates.
func (x *expander) outP(d word) word {
	if d.Kind == isa.KindNone {
		return x.pred()
	}
	return d
}

// a32 is source operand i of the PTX instruction as one word.
func (x *expander) a32(i int, typ string) word {
	w := x.src(i, typ)
	if len(w) == 0 {
		x.fail("operand %d of %s cannot be read as .%s", i+1, x.in.Op, typ)
		return rz
	}
	return w[0]
}

// a64 is source operand i as two words.
func (x *expander) a64(i int, typ string) pair { return asPair(x.src(i, typ)) }

// d32 is destination operand i as one word.
func (x *expander) d32(i int, typ string) word {
	w := x.dst(i, typ)
	if len(w) == 0 {
		return rz
	}
	return w[0]
}

// d64 is destination operand i as two words.
func (x *expander) d64(i int, typ string) pair { return asPair(x.dst(i, typ)) }

// under runs f with the emitted instructions guarded by p instead of the PTX instruction's guard. Such
// instructions may only write temporaries: where the guard is false nobody reads them.
func (x *expander) under(p word, f func()) {
	g := x.guard
	x.guard = p
	f()
	x.guard = g
}
