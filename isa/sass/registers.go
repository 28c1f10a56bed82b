package sass

import "github.com/sarchlab/smsim/isa"

// systemRegs is the number of registers that a thread has from Volta on beyond those that its code names: Rpc.LO and Rpc.HI,
// which hold a return address or, with RPCMOV, whatever the code keeps in them.
const systemRegs = 2

// rpc stands for Rpc.LO, and the number after it for Rpc.HI, until placeRPC gives them registers that the code does not name.
const rpc = isa.VirtualBase

// namedRegisters are the general registers that code names, all of each tuple.
type namedRegisters [isa.RZ]bool

// count is the highest register plus one.
func (n *namedRegisters) count() int {
	for r := len(n); r > 0; r-- {
		if n[r-1] {
			return r
		}
	}
	return 0
}

// placeRPC gives Rpc.LO and Rpc.HI the registers behind the code's own or, where these are the last, others that it does not
// name. It returns the instruction that gets none, or -1.
func (n *namedRegisters) placeRPC(insts []isa.Inst) int {
	var place []isa.Reg
	for r := n.count(); r < len(n); r++ {
		place = append(place, isa.Reg(r))
	}
	for r := range n.count() {
		if !n[r] {
			place = append(place, isa.Reg(r))
		}
	}
	for i := range insts {
		in := &insts[i]
		for _, o := range []*isa.Operand{&in.Dst[0], &in.Src[0]} {
			if o.Kind != isa.KindReg || o.Reg != rpc && o.Reg != rpc+1 {
				continue
			}
			if len(place) < 2 {
				return i
			}
			o.Reg = place[o.Reg-rpc]
		}
	}
	return -1
}

// registersUsed are the registers that the code names.
func registersUsed(insts []isa.Inst) *namedRegisters {
	used := new(namedRegisters)
	see := func(r isa.Reg, width int) {
		for k := int(r); k < int(r)+width && k < len(used); k++ {
			used[k] = true
		}
	}
	for i := range insts {
		in := &insts[i]
		data := 1
		if isMemory(in.Op) {
			data = max(1, int(in.Mod.Size)/4)
		}
		if isTexture(in.Op) && in.Mod.Tex.Dim != isa.TexNone {
			for k, o := range in.Dst[:in.NDst] {
				see(o.Reg, in.TexWidth(true, k))
			}
			for k, o := range in.Src[:in.NSrc] {
				if o.Kind == isa.KindReg {
					see(o.Reg, in.TexWidth(false, k))
				}
			}
			continue
		}
		wide := in.Mod.Has(isa.ModWide)
		switch in.Op {
		case isa.OpDADD, isa.OpDMUL, isa.OpDFMA, isa.OpCS2R:
			wide = true
		}
		for k, o := range in.Dst[:in.NDst] {
			if o.Kind == isa.KindReg {
				w := data
				if in.IsOctet() {
					w = in.OctetWidth(k == 0)
				}
				if wide {
					w = 2
				}
				see(o.Reg, w)
			}
		}
		for k, o := range in.Src[:in.NSrc] {
			switch {
			case o.Kind == isa.KindReg && in.IsOctet():
				see(o.Reg, in.OctetWidth(k == 2))
			case o.Kind == isa.KindReg && isMemory(in.Op) && k > 0:
				see(o.Reg, data)
			case o.Kind == isa.KindReg && wide && k == 2:
				see(o.Reg, 2)
			case o.Kind == isa.KindReg, o.Kind == isa.KindConst:
				see(o.Reg, 1)
			case o.Kind == isa.KindMem && o.Is(isa.Wide64):
				see(o.Reg, 2)
			case o.Kind == isa.KindMem:
				see(o.Reg, 1)
			}
		}
	}
	return used
}

// beyond is the first instruction that names a register which a thread with so many does not have, -1 if none does or the
// number is not known (negative).
func beyond(insts []isa.Inst, regs int) int {
	if regs < 0 || registersUsed(insts).count() <= regs {
		return -1
	}
	for i := range insts {
		if registersUsed(insts[i:i+1]).count() > regs {
			return i
		}
	}
	return -1
}
