package lower

import "github.com/sarchlab/smsim/isa"

// The video unit of Fermi to Pascal (scalar forms) and Kepler (SIMD forms). It computes what the PTX document says;
// where the measured GPU deviates from the document the expansions of select_video.go are used instead.

var videoOps = map[string]isa.Op{"vadd": isa.OpVADD, "vsub": isa.OpVADD, "vabsdiff": isa.OpVABSDIFF, "vmin": isa.OpVMNMX, "vmax": isa.OpVMNMX,
	"vshl": isa.OpVSHL, "vshr": isa.OpVSHR, "vset": isa.OpVSET}

// videoUnit says that a scalar video instruction runs in the target's video unit.
func (x *expander) videoUnit(op string, sat bool, dt vtype, merge videoPart, second string) bool {
	if !x.t().Has(isa.OpVADD) {
		return false
	}
	switch {
	case x.document():
		return second != "min" && second != "max"
	case merge.bits == 16 && merge.index == 1: // the expansion takes the result's upper half
		return false
	case second == "min" || second == "max":
		return false
	case !sat:
		return true
	}
	return dt.signed() && merge.bits == 32 && op != "vshl" // a shift keeps 34 bits before it saturates
}

// videoPartType is the machine type of a selected operand and its selector flag.
func videoPartType(t vtype, p videoPart) (isa.Type, isa.OperandFlags) {
	switch p.bits {
	case 8:
		return byteType(t.signed()), []isa.OperandFlags{isa.SelB0, isa.SelB1, isa.SelB2, isa.SelB3}[p.index]
	case 16:
		return halfType(t.signed()), []isa.OperandFlags{isa.SelH0, isa.SelH1}[p.index]
	}
	return signedType(t.signed()), 0
}

// videoSource is source operand i for the video unit.
func (x *expander) videoSource(i int, t vtype) (word, isa.Type) {
	m, sel := videoPartType(t, x.videoPart(x.arg(i)))
	w := x.inReg(x.plainArg(i, t.name))
	w.Flags |= sel
	return w, m
}

// emitVideo emits a scalar video instruction for the unit.
func (x *expander) emitVideo(op string, dt, at, bt vtype, sat, wrap bool, cmp isa.Cmp, merge videoPart, second string) {
	a, ta := x.videoSource(1, at)
	b, tb := x.videoSource(2, bt)
	m := isa.Mod{Type: ta, BType: tb, DType: signedType(dt.signed()), Cmp: cmp}
	switch op {
	case "vsub":
		b.Flags |= isa.Neg
	case "vmin":
		m.Sub = isa.SubMin
	case "vmax":
		m.Sub = isa.SubMax
	}
	if sat {
		m.Flags |= isa.ModSat
	}
	if wrap {
		m.Flags |= isa.ModWrap
	}
	c := rz
	switch {
	case merge.bits == 8:
		m.Flags |= isa.ModMerge
		m.DSel = uint8(1 + merge.index)
	case merge.bits == 16:
		m.Flags |= isa.ModMerge
		m.DSel = uint8(5 + merge.index)
	case second == "add":
		m.Sub2 = isa.SubAdd
	}
	if len(x.in.Args) == 4 {
		c = x.inReg(x.plainArg(3, "b32"))
	}
	x.emit(videoOps[op], m, []word{x.plainDst()}, []word{a, b, c})
}

// vmadUnit says that a vmad runs in the video unit: Pascal's takes only bytes and halves. Whole unsigned words
// are excluded with shift or saturation, where the measured GPU takes them as signed.
func (x *expander) vmadUnit(at, bt vtype, sat bool, shift uint32, signed bool) bool {
	wa, wb := x.videoPart(x.arg(1)).bits == 32, x.videoPart(x.arg(2)).bits == 32
	if !x.t().Has(isa.OpVMAD) || (wa || wb) && x.sm() >= 60 {
		return false
	}
	if !sat && shift == 0 || x.document() {
		return true
	}
	return signed && (at.signed() || !wa) && (bt.signed() || !wb)
}

// emitVmad emits a vmad for the unit.
func (x *expander) emitVmad(at, bt vtype, po, sat bool, shift uint32) {
	a, ta := x.videoSource(1, at)
	b, tb := x.videoSource(2, bt)
	c := x.inReg(x.plainArg(3, "b32"))
	m := isa.Mod{Type: ta, BType: tb}
	if po {
		m.Flags |= isa.ModPO
	}
	if sat {
		m.Flags |= isa.ModSat
	}
	switch shift {
	case 7:
		m.Flags |= isa.ModShr7
	case 15:
		m.Flags |= isa.ModShr15
	}
	if x.arg(1).Neg != x.arg(2).Neg {
		a.Flags |= isa.Neg
	}
	if x.arg(3).Neg {
		c.Flags |= isa.Neg
	}
	x.emit(isa.OpVMAD, m, []word{x.plainDst()}, []word{a, b, c})
}

var simdOps = map[string][2]isa.Op{"vadd": {isa.OpVADD2, isa.OpVADD4}, "vsub": {isa.OpVADD2, isa.OpVADD4}, "vavrg": {isa.OpVAVRG2, isa.OpVAVRG4},
	"vabsdiff": {isa.OpVABSDIFF2, isa.OpVABSDIFF4}, "vmin": {isa.OpVMNMX2, isa.OpVMNMX4}, "vmax": {isa.OpVMNMX2, isa.OpVMNMX4},
	"vset": {isa.OpVSET2, isa.OpVSET4}}

// laneSelection is a selection of lanes as isa.Mod has it, 8 added to every nibble; none where each lane is the operand's own.
func laneSelection(sel, own, added uint32) uint16 {
	if sel == own {
		return 0
	}
	return uint16(sel | added)
}

// simdUnit emits a SIMD video instruction on Kepler. It reports whether the target has it.
func (x *expander) simdUnit(s *simd, d, a, b, c word) bool {
	if !x.t().Has(isa.OpVADD2) {
		return false
	}
	op := simdOps[s.op][0]
	m := isa.Mod{Type: halfType(s.at.signed()), BType: halfType(s.bt.signed()), DType: signedType(s.dt.signed()), Cmp: s.cmp, DSel: uint8(s.mask)}
	m.ASel, m.BSel = laneSelection(s.asel, 0x3210, 0x8888), laneSelection(s.bsel, 0x7654, 0x8888)
	if s.n == 4 {
		op = simdOps[s.op][1]
		m.Type, m.BType = byteType(s.at.signed()), byteType(s.bt.signed())
	} else {
		half := func(sel uint32) uint32 { return sel>>1&3 | sel>>9&3<<4 }
		m.ASel, m.BSel = laneSelection(half(s.asel), 0x10, 0x88), laneSelection(half(s.bsel), 0x32, 0x88)
	}
	b = x.inReg(b)
	switch s.op {
	case "vsub":
		b.Flags |= isa.Neg
	case "vmin":
		m.Sub = isa.SubMin
	case "vmax":
		m.Sub = isa.SubMax
	}
	if s.sat {
		m.Flags |= isa.ModSat
	}
	if s.add {
		m.Sub2 = isa.SubAdd
	}
	x.emit(op, m, []word{d}, []word{x.inReg(a), b, x.inReg(c)})
	return true
}
