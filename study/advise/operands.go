package advise

import (
	"slices"

	"github.com/sarchlab/smsim/isa/ptx"
)

// noResult are the instructions whose operands are all read.
var noResult = map[string]bool{"st": true, "stu": true, "red": true, "bra": true, "brx": true, "bar": true, "barrier": true, "ret": true, "exit": true,
	"trap": true, "membar": true, "fence": true, "prefetch": true, "prefetchu": true, "nanosleep": true, "pmevent": true, "discard": true}

// oneResult are the instructions whose first operand alone is written.
var oneResult = wordSet("mov add addc sub subc mul mul24 mad mad24 madc sad div rem abs neg min max popc clz bfind fns brev bfe bfi szext bmsk dp4a dp2a",
	"set setp selp slct and or xor not cnot lop3 shl shr shf prmt ld ldu cvt cvta isspacep atom vote match shfl activemask testp copysign fma rcp sqrt rsqrt sin cos lg2 ex2 tanh",
	"vadd vsub vabsdiff vmin vmax vshl vshr vmad vset vadd2 vsub2 vavrg2 vabsdiff2 vmin2 vmax2 vset2 vadd4 vsub4 vavrg4 vabsdiff4 vmin4 vmax4 vset4 tex tld4 suld txq suq mapa getctarank istypep redux elect")

// pure are the instructions that can go when nobody reads their result.
var pure = wordSet("mov add sub mul mul24 mad mad24 sad abs neg min max popc clz bfind brev bfe bfi szext bmsk dp4a dp2a set setp selp slct and or xor not cnot lop3",
	"shl shr shf prmt cvt cvta vadd vsub vabsdiff vmin vmax vabsdiff2 vabsdiff4")

func wordSet(lines ...string) map[string]bool {
	out := map[string]bool{}
	for _, l := range lines {
		for len(l) > 0 {
			i := 0
			for i < len(l) && l[i] != ' ' {
				i++
			}
			out[l[:i]] = true
			l = l[min(i+1, len(l)):]
		}
	}
	return out
}

// operands lists the registers that an instruction sets and reads. Of an unknown instruction every operand counts as both.
func (k *kernel) operands(in *inst) (sets, reads []reg) {
	add := func(to *[]reg, a ptx.Arg) {
		walk(a, func(name string) {
			if r, ok := in.scope.resolve(name); ok && !slices.Contains(*to, r) {
				*to = append(*to, r)
			}
		})
	}
	if g := in.Guard; g != nil {
		add(&reads, ptx.Arg{Kind: ptx.ArgName, Name: g.Name})
	}
	for i, a := range in.Args {
		switch {
		case in.Op == "call", noResult[in.Op]:
			add(&reads, a)
		case oneResult[in.Op]:
			if i == 0 && a.Kind != ptx.ArgAddr {
				add(&sets, a)
			} else {
				add(&reads, a)
			}
		default:
			add(&sets, a)
			add(&reads, a)
		}
	}
	for _, a := range in.CallRet {
		add(&sets, a)
	}
	for _, a := range in.CallArgs {
		add(&reads, a)
	}
	return sets, reads
}

// walk calls f with every name in an operand.
func walk(a ptx.Arg, f func(name string)) {
	if a.Name != "" {
		f(a.Name)
	}
	for _, e := range a.Elems {
		walk(e, f)
	}
}

// setsCarry and readsCarry say whether an instruction writes or reads the carry flag.
func setsCarry(in *ptx.Instr) bool { return in.Has("cc") }
func readsCarry(in *ptx.Instr) bool {
	return in.Op == "addc" || in.Op == "subc" || in.Op == "madc"
}

// is says that the instruction is unguarded, has that opcode and all of the modifiers and no other.
func (in *inst) is(op string, mods ...string) bool {
	return in != nil && in.Guard == nil && in.Op == op && slices.Equal(in.Mods, mods)
}

// isAny is is with one of several last modifiers.
func (in *inst) isAny(op string, head []string, last ...string) bool {
	if in == nil || in.Guard != nil || in.Op != op || len(in.Mods) != len(head)+1 || !slices.Equal(in.Mods[:len(head)], head) {
		return false
	}
	return slices.Contains(last, in.Mods[len(head)])
}
