package lower

import (
	"slices"

	"github.com/sarchlab/smsim/isa"
)

// writingCall is a call and the registers that what it calls may write: all others are as before when it returns.
type writingCall struct {
	at     int // instruction
	writes *[ctlRegs]bool
}

// callWrites are the calls of a program, in order. A call through a register may be of any function that no call by name reaches; behind one
// that can go anywhere everything may have been written. A call under a guard is not listed: its registers are joined with those of the way around it.
func callWrites(p *isa.Program) []writingCall {
	var out []writingCall
	bodies := map[int]*[ctlRegs]bool{}
	body := func(entry int) *[ctlRegs]bool {
		b := bodies[entry]
		if b == nil {
			b = writtenFrom(p, entry)
			bodies[entry] = b
		}
		return b
	}
	var anyOf *[ctlRegs]bool // what functions write that are called through registers
	for i := range p.Insts {
		in := &p.Insts[i]
		if in.Op != isa.OpCALL || hasGuard(in) || i+1 >= len(p.Insts) {
			continue
		}
		if to := callee(p, in); to >= 0 {
			out = append(out, writingCall{i, body(to)})
			continue
		}
		if anyOf == nil {
			anyOf = new([ctlRegs]bool)
			functions := p.Unreached()
			for _, f := range functions {
				for r, w := range body(f) {
					anyOf[r] = anyOf[r] || w
				}
			}
			if len(functions) == 0 {
				writeAll(anyOf)
			}
		}
		out = append(out, writingCall{i, anyOf})
	}
	return out
}

// callee is the instruction that a call by name goes to, -1 for one through a register.
func callee(p *isa.Program, in *isa.Inst) int {
	for k := range in.Src[:in.NSrc] {
		if o := &in.Src[k]; o.Kind == isa.KindLabel && o.Imm >= 0 && int(o.Imm) < len(p.Insts) {
			return int(o.Imm)
		}
	}
	return -1
}

// callAt is the call at an instruction, nil if there is none.
func callAt(calls []writingCall, i int) *writingCall {
	if k, found := slices.BinarySearchFunc(calls, i, func(c writingCall, i int) int { return c.at - i }); found {
		return &calls[k]
	}
	return nil
}

func writeAll(w *[ctlRegs]bool) {
	for r := range w {
		w[r] = true
	}
}

// writtenFrom are the registers that code writes from an entry to its returns, functions that it calls included.
func writtenFrom(p *isa.Program, entry int) *[ctlRegs]bool {
	w := new([ctlRegs]bool)
	seen := make([]bool, len(p.Insts))
	pending := []int{entry}
	var list []int16
	for len(pending) > 0 {
		i := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		for ; i < len(p.Insts) && !seen[i]; i++ {
			seen[i] = true
			in := &p.Insts[i]
			list = appendDefs(list[:0], in)
			for _, r := range list {
				w[r] = true
			}
			for k := range in.Src[:in.NSrc] {
				if o := &in.Src[k]; o.Kind == isa.KindLabel && o.Imm >= 0 && int(o.Imm) < len(p.Insts) {
					pending = append(pending, int(o.Imm))
				}
			}
			indirect := in.Op == isa.OpBRX || in.Op == isa.OpJMX
			pending = append(pending, p.Indexed[i]...)
			if indirect && len(p.Indexed[i]) == 0 || in.Op == isa.OpCALL && callee(p, in) < 0 {
				writeAll(w) // it can go anywhere
				return w
			}
			if ends(in) {
				break
			}
		}
	}
	return w
}
