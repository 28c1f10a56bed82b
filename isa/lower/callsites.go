package lower

import (
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// flagSite marks the operand of a CALL or RET that says which callSite it is. code drops it.
const flagSite isa.OperandFlags = 1 << 29

// unitMark is what labels of CALL that stand for the number of a unit lie above; others are instructions of the unit itself.
const unitMark = int64(1) << 40

// callSite is what a CALL or RET does with registers that its operands do not name.
type callSite struct {
	unit int       // the called unit; -1: of a return, or of a call through a pointer
	uses []isa.Reg // arguments, return address; of a return the results
	defs []isa.Reg // results

	standard bool // the call or return is in the standard way
}

// convention is the registers of the calling unit through which a private function is called: one for every word of a
// parameter or result, 0 for one that is not passed. Register allocation chooses them as it chooses all others, so that
// arguments are often computed in place, as ptxas does with functions whose address nobody takes.
type convention struct {
	params, results []isa.Reg
	back            isa.Reg // return address, from Volta on
	values          []word  // of a routine's own convention: parameters that are constants
}

// entry is where a private function starts in the code of the unit that took it over.
type entry struct {
	unit int
	at   *block
}

// site is what the CALL or RET does besides its operands; nil for other instructions.
func (f *fn) site(in *isa.Inst) *callSite {
	if in.Op != isa.OpCALL && in.Op != isa.OpRET || in.NSrc == 0 {
		return nil
	}
	if o := &in.Src[in.NSrc-1]; o.Flags&flagSite != 0 {
		return f.sites[o.Imm]
	}
	return nil
}

// siteOperand records a call site and is the operand that names it.
func (f *fn) siteOperand(s *callSite) word {
	f.sites = append(f.sites, s)
	return word{Kind: isa.KindImm, Imm: int64(len(f.sites) - 1), Flags: flagSite}
}

// passed are the dense numbers of all registers that calls and returns read or write without naming them.
func (f *fn) passed(n numbering) []int {
	var ids []int
	for _, s := range f.sites {
		for _, list := range [][]isa.Reg{s.uses, s.defs} {
			for _, r := range list {
				if r != 0 {
					ids = append(ids, n.of(isa.KindReg, r))
				}
			}
		}
	}
	return ids
}

// conventionOf is the convention for calls of unit n from this one.
func (f *fn) conventionOf(n int) *convention {
	if c := f.conv[n]; c != nil {
		return c
	}
	g := f.link.units[n]
	c := &convention{params: make([]isa.Reg, len(g.own.params)), results: make([]isa.Reg, len(g.own.results))}
	for i, r := range g.own.params {
		if r != 0 {
			c.params[i] = f.newReg()
		}
	}
	for i := range c.results {
		c.results[i] = f.newReg()
	}
	if f.t.SM >= 70 {
		c.back = f.newReg()
	}
	f.conv[n] = c
	return c
}

// callPrivate emits a call of unit n: the arguments, the call, and copies of the results. Results that the caller does not want
// are KindNone.
func (b *builder) callPrivate(n int, args, results []word) {
	f := b.f
	c := f.conventionOf(n)
	for i, w := range args {
		if c.params[i] == 0 {
			continue
		}
		if w.Kind == isa.KindPred {
			r := b.reg()
			b.emit(isa.OpSEL, isa.Mod{}, []word{r}, []word{rz, imm(1), flipped(w)})
			w = r
		}
		b.emit(isa.OpMOV, isa.Mod{Size: sizePass}, []word{isa.R(c.params[i])}, []word{w})
	}
	f.privateCalls = true
	s := &callSite{unit: n, uses: append([]isa.Reg(nil), c.params...), defs: append([]isa.Reg(nil), c.results...)}
	b.emit(isa.OpCALL, isa.Mod{}, nil, []word{{Kind: isa.KindLabel, Imm: unitMark + int64(n)}, f.siteOperand(s)})
	for i, w := range results {
		switch w.Kind {
		case isa.KindNone:
		case isa.KindPred:
			r := b.reg()
			b.emit(isa.OpMOV, isa.Mod{Size: sizePass, Flags: modOpaque}, []word{r}, []word{isa.R(c.results[i])})
			b.emit(isa.OpISETP, isa.Mod{Type: isa.S32, Cmp: isa.CmpNE}, []word{w, pt}, []word{r, rz, pt})
		default:
			b.emit(isa.OpMOV, isa.Mod{Size: sizePass, Flags: modOpaque}, []word{w}, []word{isa.R(c.results[i])})
		}
	}
}

// takeParams emits the copies of a private function's parameters at its start.
func (b *builder) takeParams(words []word) {
	for i, w := range words {
		r := b.f.own.params[i]
		switch {
		case r == 0:
		case w.Kind == isa.KindPred:
			t := b.reg()
			b.emit(isa.OpMOV, isa.Mod{Size: sizePass, Flags: modOpaque}, []word{t}, []word{isa.R(r)})
			b.emit(isa.OpISETP, isa.Mod{Type: isa.S32, Cmp: isa.CmpNE}, []word{w, pt}, []word{t, rz, pt})
		default:
			b.emit(isa.OpMOV, isa.Mod{Size: sizePass, Flags: modOpaque}, []word{w}, []word{isa.R(r)})
		}
	}
}

// giveResults emits the copies of a private function's results and its return.
func (b *builder) giveResults(words []word) {
	f := b.f
	for i, w := range words {
		if w.Kind == isa.KindPred {
			t := b.reg()
			b.emit(isa.OpSEL, isa.Mod{}, []word{t}, []word{rz, imm(1), flipped(w)})
			w = t
		}
		b.emit(isa.OpMOV, isa.Mod{Size: sizePass}, []word{isa.R(f.own.results[i])}, []word{w})
	}
	b.emit(isa.OpRET, isa.Mod{}, nil, []word{f.siteOperand(&callSite{unit: -1, uses: append([]isa.Reg(nil), f.own.results...)})})
}

// routineKey names a routine that the compiler supplies: it becomes part of the code of unit root.
type routineKey struct {
	root int
	name string
}

// routineUnit is the unit of a routine for this unit's code, made at its first use, by instruction from, with the number of words
// that it takes and gives.
func (f *fn) routineUnit(name string, from *ptx.Instr, params, results int, body func(x *expander, params, results []word)) int {
	key := routineKey{f.unit, name}
	if f.own != nil {
		key.root = f.root
	}
	u := f.link
	if n, ok := u.routines[key]; ok {
		return n
	}
	g := f.newUnit(f.src)
	g.root, g.routine, g.from, g.own = key.root, body, from, &convention{values: make([]word, params)}
	for range params {
		g.own.params = append(g.own.params, g.newReg())
	}
	for range results {
		g.own.results = append(g.own.results, g.newReg())
	}
	u.routines[key] = g.unit
	return g.unit
}

// frontRoutine translates a routine that the compiler supplies, once it is known which of its parameters are constants.
func (f *fn) frontRoutine() {
	b := &builder{f: f, in: f.from}
	b.place(&block{label: "routine"})
	params := append([]word(nil), f.own.values...)
	for i := range params {
		if params[i].Kind == isa.KindNone {
			params[i] = b.reg()
		}
	}
	b.takeParams(params)
	results := b.regs(len(f.own.results))
	f.routine(&expander{builder: b}, params, results)
	b.giveResults(results)
}

// passes says that the instruction is a copy to or from a register of a call.
func passes(in *isa.Inst) bool { return in.Op == isa.OpMOV && in.Mod.Size == sizePass }
