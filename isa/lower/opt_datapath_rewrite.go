package lower

import "github.com/sarchlab/smsim/isa"

// rewrite moves the chosen registers to the uniform datapath.
func (d *datapath) rewrite() {
	f := d.f
	reg := map[isa.Reg]isa.Reg{}
	for _, r := range d.order {
		if d.chosen[r] {
			reg[r] = f.newUReg()
		}
	}
	if len(reg)+len(d.isTest) == 0 {
		return
	}
	for _, b := range f.rpo {
		var out []isa.Inst
		for i := range b.insts {
			in := b.insts[i]
			t := d.isTest[&b.insts[i]]
			_, mine := d.isChosenDef(&in)
			mine = mine || t != nil
			filled := false
			for k := range in.Src[:in.NSrc] {
				o := &in.Src[k]
				switch {
				case o.Kind == isa.KindReg && d.chosen[o.Reg]:
					u := isa.UR(reg[o.Reg])
					if !mine && (filled || !d.takes(reader{b, &b.insts[i], k})) {
						c := isa.Inst{Op: isa.OpMOV, NDst: 1, NSrc: 1, Pos: in.Pos}
						c.Dst[0], c.Src[0] = isa.R(f.newReg()), u
						out = append(out, c)
						u = c.Dst[0]
					}
					filled = filled || u.Kind == isa.KindUReg
					u.Flags = o.Flags
					*o = u
				case mine && o.Kind == isa.KindReg && o.Reg == isa.RZ:
					o.Kind, o.Reg = isa.KindUReg, isa.URZ
				}
			}
			if t != nil {
				d.rewriteTest(&in, t)
			} else if mine {
				d.toUniform(&in, reg)
			} else if filled && !isAdd64(&in) {
				f.arrange(&in)
			}
			if d.all && uniformTest(&in, d.parted[b]) {
				out = append(out, f.testUniform(&in))
			}
			out = append(out, in)
		}
		b.insts = out
	}
}

// uniformTest says that the comparison can be one of the uniform datapath and otherwise takes a general register.
func uniformTest(in *isa.Inst, parted bool) bool {
	if parted || in.Op != isa.OpISETP || in.Mod.Bool != isa.BoolAnd || in.Mod.Has(isa.ModEX) || in.Guard.Kind != isa.KindNone || in.NDst != 2 || in.Dst[1] != pt || in.Src[2] != pt {
		return false
	}
	for k, o := range in.Src[:2] {
		switch {
		case o.Kind == isa.KindUReg && o.Flags == 0:
		case o.Kind == isa.KindConst && o.Bank == 0 && o.Reg == isa.RZ && o.Flags == 0:
		case o.Kind == isa.KindImm && k == 1 && !isZero(o):
		default:
			return false
		}
	}
	return true
}

// testUniform makes the comparison a copy of the uniform predicate that the returned instruction writes.
func (f *fn) testUniform(in *isa.Inst) isa.Inst {
	test := *in
	up := f.compareUniform(&test)
	to := in.Dst[0]
	*in = isa.Inst{Op: isa.OpPLOP3, Mod: isa.Mod{Lut: 0x80}, NDst: 2, NSrc: 3, Pos: in.Pos}
	in.Dst[0], in.Dst[1], in.Src[0], in.Src[1], in.Src[2] = to, pt, pt, pt, up
	return test
}

// compareUniform makes an ISETP one of the uniform datapath and gives the uniform predicate that it writes.
func (f *fn) compareUniform(in *isa.Inst) isa.Operand {
	up, upt := f.newUPred(), isa.Operand{Kind: isa.KindUPred, Reg: isa.PT}
	in.Op, in.Dst[0], in.Dst[1], in.Src[2] = isa.OpUISETP, up, upt, upt
	return up
}

// toUniform gives the instruction its form on the uniform datapath.
func (d *datapath) toUniform(in *isa.Inst, reg map[isa.Reg]isa.Reg) {
	to := uniformTwin(in)
	in.Dst[0] = isa.UR(reg[in.Dst[0].Reg])
	in.NDst = 1
	for k := 1; k < len(in.Dst); k++ {
		in.Dst[k] = isa.Operand{}
	}
	for in.NSrc > 0 && in.Src[in.NSrc-1].Kind == isa.KindPred {
		in.NSrc--
		in.Src[in.NSrc] = isa.Operand{}
	}
	if in.Op == isa.OpMOV && in.Src[0].Kind == isa.KindConst {
		*in = d.f.uniformLoad(in.Dst[0].Reg, in.Src[0], in.Pos)
		return
	}
	if in.Op = to; to == isa.OpULDC {
		in.Op = d.f.uniformConstantLoad()
	}
}

// uniformConstantLoad is the target's load of a constant into a uniform register.
func (f *fn) uniformConstantLoad() isa.Op {
	if f.t.Has(isa.OpULDC) {
		return isa.OpULDC
	}
	return isa.OpLDCU
}

// uniformLoad loads a word of a constant bank into a uniform register.
func (f *fn) uniformLoad(u isa.Reg, c isa.Operand, pos isa.SourcePos) isa.Inst {
	in := isa.Inst{Op: f.uniformConstantLoad(), NDst: 1, NSrc: 1, Pos: pos}
	in.Mod.Size = 4
	in.Dst[0], in.Src[0] = isa.UR(u), c
	return in
}
