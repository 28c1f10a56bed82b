package isa

import "fmt"

// checkEnd finds control flow that runs past the last instruction: a kernel whose text was cut off, or that lacks its
// EXIT. Indirect jumps are not followed.
func (p *Program) checkEnd() error {
	seen := make([]bool, len(p.Insts))
	todo := []int{0}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for !seen[i] {
			seen[i] = true
			in := &p.Insts[i]
			for _, o := range in.Src[:min(in.NSrc, MaxSrc)] {
				if o.Kind == KindLabel && o.Imm >= 0 && int(o.Imm) < len(seen) && !seen[o.Imm] {
					todo = append(todo, int(o.Imm))
				}
			}
			if in.leaves() {
				break
			}
			if i+1 == len(seen) {
				return fmt.Errorf("kernel %s, pc %#x: %s: control runs past the last instruction: the end of the code, with its EXIT, is missing", p.Name, in.PC, in.String())
			}
			i++
		}
	}
	return nil
}

// leaves says that control never goes on to the next instruction.
func (in *Inst) leaves() bool {
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
