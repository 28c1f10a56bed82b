package isa

import "fmt"

// checkEnd finds control flow that runs past the last instruction: a kernel whose text was cut off, or that lacks its
// EXIT. Indirect jumps are not followed.
func (p *Program) checkEnd() error {
	if past := p.reach(0, make([]bool, len(p.Insts))); past >= 0 {
		in := &p.Insts[past]
		return fmt.Errorf("%s: kernel %s, pc %#x: %s: control runs past the last instruction: the end of the code, with its EXIT, is missing%s", p.where(in), p.Name, in.PC, in.String(), p.excerpt(in))
	}
	return nil
}

// reach marks the instructions that control reaches from one on through branches and calls that name their targets, and gives the
// one behind which it runs past the end, -1 when there is none.
func (p *Program) reach(from int, seen []bool) int {
	past := -1
	pending := []int{from}
	for len(pending) > 0 {
		i := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		for !seen[i] {
			seen[i] = true
			in := &p.Insts[i]
			for _, o := range in.Src[:min(in.NSrc, MaxSrc)] {
				if o.Kind == KindLabel && o.Imm >= 0 && int(o.Imm) < len(seen) && !seen[o.Imm] {
					pending = append(pending, int(o.Imm))
				}
			}
			pending = append(pending, p.Indexed[i]...)
			if in.Leaves() {
				break
			}
			if i+1 == len(seen) {
				past = i
				break
			}
			i++
		}
	}
	return past
}

// Unreached are the indices at which code begins that no branch and no call by name reaches: functions behind a kernel which are
// only called through pointers, each up to the next. Padding (NOPs, a branch to itself) is none.
func (p *Program) Unreached() []int {
	seen := make([]bool, len(p.Insts))
	p.reach(0, seen)
	var out []int
	for i := range p.Insts {
		in := &p.Insts[i]
		endless := in.Op == OpBRA && in.NSrc > 0 && in.Src[0].Kind == KindLabel && in.Src[0].Imm == int64(i)
		if seen[i] || in.Op == OpNOP || endless {
			continue
		}
		out = append(out, i)
		p.reach(i, seen)
	}
	return out
}

// Leaves says that control never goes on to the next instruction.
func (in *Inst) Leaves() bool {
	always := func(o *Operand) bool { return o.Reg == PT && o.Flags&Neg == 0 }
	if in.Guard.Kind != KindNone && !always(&in.Guard) {
		return false
	}
	switch in.Op {
	case OpEXIT, OpBRA, OpJMP, OpKILL:
		for i := range min(in.NSrc, MaxSrc) {
			if o := &in.Src[i]; (o.Kind == KindPred || o.Kind == KindUPred) && !always(o) {
				return false
			}
		}
		return !in.Mod.Has(ModDiv) && !in.Mod.Has(ModConv)
	case OpBRX, OpJMX, OpRET, OpSYNC, OpBRK, OpCONT:
		return true
	}
	return in.Mod.Has(ModS)
}
