package lower

import (
	"encoding/binary"
	"slices"

	"github.com/sarchlab/smsim/isa"
)

// Origin says what the address of a memory instruction was computed from, besides parameters and thread indices.
type Origin uint8

// Origins; an address can have both.
const (
	FromBlock Origin = 1 << iota // the block's index in the grid
	FromData                     // values read from memory
)

// AddressOrigins finds the origin of every memory instruction's address, by index; other instructions have none. It follows registers
// forward through the program, not through local memory, which counts as FromBlock. params are the launch's parameters: what is multiplied by one
// that is zero leaves no trace. Where control goes is unknown after an
// indirect jump without a table; then every address is FromBlock.
func AddressOrigins(p *isa.Program, params []byte) []Origin {
	out := make([]Origin, len(p.Insts))
	a := originPass{p: p, params: params, in: make([]*originState, len(p.Insts))}
	for i := range p.Insts {
		in := &p.Insts[i]
		for k := range in.Src[:in.NSrc] {
			if o := &in.Src[k]; o.Kind == isa.KindLabel && o.Imm >= 0 && int(o.Imm) < len(a.in) {
				a.leader(int(o.Imm))
			}
		}
		for _, t := range p.Indexed[i] {
			a.leader(t)
		}
		switch in.Op {
		case isa.OpBRX, isa.OpJMX:
			if len(p.Indexed[i]) == 0 {
				for j := range out {
					out[j] = FromBlock
				}
				return out
			}
		case isa.OpCALL:
			if i+1 < len(a.in) {
				a.leader(i + 1)
			}
		}
	}
	a.calls = callWrites(p)
	for _, i := range p.Unreached() { // functions that are called through pointers
		a.leader(i)
		for r := range a.in[i] {
			a.in[i][r] = notZero | FromBlock
		}
	}
	for a.changed = true; a.changed; {
		a.changed = false
		a.sweep(out)
	}
	return out
}

// notZero marks a value that is not known to be zero in every thread.
const notZero Origin = 1 << 7

// originState is the origin of each register's value.
type originState [ctlRegs]Origin

type originPass struct {
	p       *isa.Program
	params  []byte
	in      []*originState // at the targets of branches
	calls   []writingCall
	changed bool
	list    []int16
	guarded []guardedOrigin // values written under a guard since the last target of a branch
}

// guardedOrigin is what a register holds where a guard is true: an instruction with the same guard reads that and nothing older.
type guardedOrigin struct {
	reg    int16
	guard  isa.Operand
	origin Origin
}

func (a *originPass) leader(i int) {
	if a.in[i] == nil {
		a.in[i] = new(originState)
	}
}

// join adds a state to that at a branch target.
func (a *originPass) join(i int, s *originState) {
	for r, v := range s {
		if v&^a.in[i][r] != 0 {
			a.in[i][r] |= v
			a.changed = true
		}
	}
}

// joinReturn adds what a function leaves in the registers that it writes to the state behind a call.
func (a *originPass) joinReturn(c *writingCall, s *originState) {
	var left originState
	for r, v := range s {
		if c.writes[r] {
			left[r] = v
		}
	}
	a.join(c.at+1, &left)
}

// sweep goes through the program once, in the order of its addresses.
func (a *originPass) sweep(out []Origin) {
	var s originState
	for r := range s {
		s[r] = notZero
	}
	a.guarded = a.guarded[:0]
	for i := range a.p.Insts {
		in := &a.p.Insts[i]
		if a.in[i] != nil {
			a.join(i, &s)
			s = *a.in[i]
			a.guarded = a.guarded[:0]
		}
		if in.Class().IsMemory() {
			out[i] |= a.address(in, &s)
		}
		a.step(in, &s)
		for k := range in.Src[:in.NSrc] {
			if o := &in.Src[k]; o.Kind == isa.KindLabel && o.Imm >= 0 && int(o.Imm) < len(a.in) {
				a.join(int(o.Imm), &s)
			}
		}
		for _, t := range a.p.Indexed[i] {
			a.join(t, &s)
		}
		if in.Op == isa.OpRET {
			for k := range a.calls {
				a.joinReturn(&a.calls[k], &s)
			}
		}
		if ends(in) { // whatever stands here next is reached from elsewhere
			s = originState{}
		} else if c := callAt(a.calls, i); c != nil {
			for r := range s {
				if c.writes[r] {
					s[r] = 0
				}
			}
		}
	}
}

// ends says that control never goes on to the next instruction, but to the targets named, if anywhere.
func ends(in *isa.Inst) bool {
	switch in.Op {
	case isa.OpBRA, isa.OpJMP, isa.OpEXIT, isa.OpKILL, isa.OpRET, isa.OpBRX, isa.OpJMX:
		return in.Leaves()
	}
	return false
}

// address is the origin of the registers in an instruction's address.
func (a *originPass) address(in *isa.Inst, s *originState) (o Origin) {
	for k := range in.Src[:in.NSrc] {
		if in.Src[k].Kind != isa.KindMem {
			continue
		}
		one := isa.Inst{Op: in.Op, Mod: in.Mod, NSrc: 1}
		one.Src[0] = in.Src[k]
		a.list = appendUses(a.list[:0], &one)
		for _, r := range a.list {
			o |= a.read(r, in, s)
		}
	}
	return o &^ notZero
}

// step is what an instruction does to the origins. A guarded one may leave its result as it was.
func (a *originPass) step(in *isa.Inst, s *originState) {
	o := notZero
	switch {
	case in.Op == isa.OpIMAD || in.Op == isa.OpUIMAD || in.Op == isa.OpIMUL:
		if in.NSrc < 2 || in.Mod.Sub != 0 {
			o |= a.uses(in, s)
		} else if a.zero(&in.Src[0], s) || a.zero(&in.Src[1], s) {
			rest := isa.Inst{Op: isa.OpMOV, Guard: in.Guard}
			if o = 0; in.NSrc > 2 {
				rest.NSrc, rest.Src[0] = 1, in.Src[2]
				if !a.zero(&in.Src[2], s) {
					o = notZero
				}
			}
			o |= a.uses(&rest, s)
		} else {
			o |= a.uses(in, s)
		}
	case (in.Op == isa.OpMOV || in.Op == isa.OpUMOV || in.Op == isa.OpLDC || in.Op == isa.OpULDC) && in.NSrc > 0 && in.Mod.Size <= 4 && a.zero(&in.Src[0], s):
		o = 0
	case in.Op == isa.OpS2R || in.Op == isa.OpCS2R || in.Op == isa.OpS2UR:
		if in.NSrc > 0 && in.Src[0].Kind == isa.KindSpecial {
			switch isa.SpecialReg(in.Src[0].Reg) {
			case isa.SRCtaidX, isa.SRCtaidY, isa.SRCtaidZ, isa.SRVirtID, isa.SRSMID, isa.SRClusterCtaID, isa.SRCgaCtaID:
				o |= FromBlock
			}
		}
	case in.Class() == isa.ClassLDL:
		o |= FromBlock
	case in.Class().IsMemory():
		o |= FromData
	default:
		o |= a.uses(in, s)
	}
	a.list = appendDefs(a.list[:0], in)
	for _, r := range a.list {
		other, both := a.otherwise(r, in)
		a.forget(r)
		if hasGuard(in) {
			if s[r] |= o; both { // nothing older is left of it
				s[r] = o | other
			}
			a.guarded = append(a.guarded, guardedOrigin{r, in.Guard, o})
		} else {
			s[r] = o
		}
	}
}

// hasGuard says whether an instruction is executed under a predicate.
func hasGuard(in *isa.Inst) bool { return in.Guard.Kind != isa.KindNone && in.Guard.Reg != isa.PT }

// forget drops what is known of a register, and of values written under it if it is a predicate.
func (a *originPass) forget(r int16) {
	a.guarded = slices.DeleteFunc(a.guarded, func(g guardedOrigin) bool {
		base := int16(ctlPred)
		if g.guard.Kind == isa.KindUPred {
			base = ctlUPred
		}
		return g.reg == r || base+int16(g.guard.Reg) == r
	})
}

// otherwise is the origin of what a register holds where the instruction's guard is false, if that was written under the opposite guard.
func (a *originPass) otherwise(r int16, in *isa.Inst) (o Origin, found bool) {
	for i := range a.guarded {
		if g := &a.guarded[i]; hasGuard(in) && g.reg == r && g.guard.Kind == in.Guard.Kind && g.guard.Reg == in.Guard.Reg && g.guard.Is(isa.Neg) != in.Guard.Is(isa.Neg) {
			return g.origin, true
		}
	}
	return 0, false
}

// read is the origin of a register that an instruction reads.
func (a *originPass) read(r int16, in *isa.Inst, s *originState) Origin {
	if hasGuard(in) {
		for i := range a.guarded {
			if g := &a.guarded[i]; g.reg == r && g.guard == in.Guard {
				return g.origin
			}
		}
	}
	return s[r]
}

// uses is the origin of all registers that an instruction reads, less predicates that only decide which of two values it takes: a guard,
// and that of a selection. They steer, as branches do.
func (a *originPass) uses(in *isa.Inst, s *originState) (o Origin) {
	taken := *in
	taken.Guard = isa.Operand{}
	if in.Op == isa.OpSEL || in.Op == isa.OpUSEL {
		taken.NSrc = min(taken.NSrc, 2)
	}
	a.list = appendUses(a.list[:0], &taken)
	for _, r := range a.list {
		o |= a.read(r, in, s)
	}
	return o
}

// zero says whether a 32-bit operand is zero in every thread of the launch.
func (a *originPass) zero(o *isa.Operand, s *originState) bool {
	switch o.Kind {
	case isa.KindImm:
		return o.Imm == 0
	case isa.KindReg:
		return o.Reg == isa.RZ || !o.Is(isa.Wide64) && o.Reg < ctlPred && s[o.Reg] == 0
	case isa.KindUReg:
		return o.Reg == isa.URZ || !o.Is(isa.Wide64) && int(o.Reg) < ctlUPred-ctlUReg && s[ctlUReg+int(o.Reg)] == 0
	case isa.KindConst:
		at := o.Imm - int64(a.p.ParamBase)
		return o.Bank == 0 && o.Reg == isa.RZ && !o.Is(isa.HasUReg) && at >= 0 && at+4 <= int64(len(a.params)) &&
			binary.LittleEndian.Uint32(a.params[at:]) == 0
	}
	return false
}
