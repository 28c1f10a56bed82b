package isa

import "fmt"

// Control flow: BRA, BRX, CALL, RET, EXIT, convergence, barriers, and the instructions without effect on values.

func execNop(*Warp, *uop, uint32) {}

func decNop(d *decoder) { d.u.exec = execNop }

// label finds the branch target among the sources.
func (d *decoder) label() bool {
	for i := range d.in.NSrc {
		o := &d.in.Src[i]
		if o.Kind != KindLabel {
			continue
		}
		if o.Imm < 0 || o.Imm >= int64(len(d.k.Program.Insts)) {
			d.failf("branch target %d is outside of the program's %d instructions", o.Imm, len(d.k.Program.Insts))
			return false
		}
		d.u.target, d.u.hasTarget = int32(o.Imm), true
		return true
	}
	d.failf("%s needs a label", d.in.Op)
	return false
}

func decBRA(d *decoder) {
	u := d.u
	u.flow = true
	if d.label() {
		u.exec = execBRA
		if d.has(ModDiv) {
			u.exec, u.s[0] = execBRADiv, sref{ptr: d.k.broadcast(allLanes)}
			for _, o := range d.vals {
				if o.Kind == KindUReg {
					u.s[0] = d.operand(o, 0, intMods(o.Flags))
				}
			}
		}
	}
}

func execBRA(w *Warp, u *uop, m uint32) { w.branch(m&w.pred(u.ps[0]), u.target) }

// execBRADiv is BRA.DIV: all running lanes take it when living lanes of its mask (all without one) are missing or fail its guard. ptxas guards it
// with "all lanes have the same mask" (R2UR P0, URZ, R12; @!P0 BRA.DIV UR4): tiles of 16 lanes go out of line together on an H200.
func execBRADiv(w *Warp, u *uop, m uint32) {
	if w.val(&u.s[0])[0]&w.live&^m == 0 {
		m = 0
	} else {
		m = w.mask
	}
	w.branch(m, u.target)
}

// decBRX: the address is Ra + imm, with ModREL plus the address of the next instruction.
func decBRX(d *decoder) {
	u := d.u
	u.flow, u.hasReg = true, true
	u.s[0] = d.raw(0, 0, 0)
	for _, o := range d.vals[1:] {
		switch o.Kind {
		case KindImm:
			u.imm += uint32(o.Imm)
		case KindLabel:
			if int(o.Imm) < len(d.k.Program.Insts) && o.Imm >= 0 {
				u.imm += d.k.Program.Insts[o.Imm].PC
			}
		}
	}
	if d.has(ModREL) && d.in.Op != OpRET && d.in.Op != OpCALL { // listings resolve those of calls and returns
		u.imm += d.in.PC + d.instBytes()
	}
	u.exec = execBRX
}

// instBytes is the size of an instruction.
func (d *decoder) instBytes() uint32 {
	if n := d.k.Program.InstBytes; n != 0 {
		return n
	}
	return d.k.Target.InstBytes
}

func execBRX(w *Warp, u *uop, m uint32) {
	m &= w.pred(u.ps[0])
	if m == 0 {
		w.pc++
		return
	}
	a := w.val(&u.s[0])
	var to [warpLanes]int32
	first := lowest(m)
	for r := m; r != 0; r &= r - 1 {
		l := lowest(r)
		i, ok := w.k.byPC[a[l]+u.imm]
		if !ok {
			w.err = w.fail(fmt.Sprintf("indirect branch to address %#x, where no instruction starts, by %s", a[l]+u.imm, w.threadName(l)))
			return
		}
		to[l] = i
		known := l == first
		for q := m & (1<<l - 1); q != 0 && !known; q &= q - 1 {
			known = to[lowest(q)] == i
		}
		if !known {
			w.e.ExtraPasses++
		}
	}
	w.branchEach(m, &to)
}

// decCALL: the callee is a label or, as a byte address within the program, a register.
func decCALL(d *decoder) {
	d.u.flow = true
	if len(d.vals) > 0 && (d.vals[0].Kind == KindReg || d.vals[0].Kind == KindUReg) {
		decBRX(d)
		d.u.exec = execCALLEach
		return
	}
	if d.label() {
		d.u.exec = execCALL
	}
}

func decRET(d *decoder) {
	if len(d.vals) > 0 {
		decBRX(d)
	}
	d.u.flow = true
	d.u.exec = execRET
}

// decToken is SSY, PBK, PCNT and PRET.
func decToken(d *decoder) {
	if !d.label() {
		return
	}
	d.u.exec = map[Op]func(*Warp, *uop, uint32){OpSSY: execSSY, OpPBK: execPBK, OpPCNT: execPCNT, OpPRET: execPRET}[d.in.Op]
}

// decPop is SYNC, BRK and CONT.
func decPop(d *decoder) {
	d.u.flow, d.u.pop = true, false
	d.u.exec = map[Op]func(*Warp, *uop, uint32){OpSYNC: execSYNC, OpBRK: execBRK, OpCONT: execCONT}[d.in.Op]
}

func decEXIT(d *decoder) {
	d.u.flow = true
	d.u.exec = execEXIT
}

func execEXIT(w *Warp, u *uop, m uint32) {
	if m &= w.pred(u.ps[0]); m == 0 {
		w.pc++
		return
	}
	w.exitLanes(m)
}

// barrierReg is the convergence barrier among the operands.
func (d *decoder) barrierReg() bool {
	for i := range d.in.NSrc {
		if o := &d.in.Src[i]; o.Kind == KindBarrier {
			return d.setBarrier(o)
		}
	}
	for i := range d.in.NDst {
		if o := &d.in.Dst[i]; o.Kind == KindBarrier {
			return d.setBarrier(o)
		}
	}
	d.failf("%s needs a convergence barrier register", d.in.Op)
	return false
}

func (d *decoder) setBarrier(o *Operand) bool {
	if o.Reg > 15 {
		d.failf("convergence barrier B%d does not exist", o.Reg)
		return false
	}
	d.u.b = uint8(o.Reg)
	return true
}

// decConvergence is BSSY, BSYNC and BREAK.
func decConvergence(d *decoder) {
	u := d.u
	if !d.barrierReg() {
		return
	}
	switch d.in.Op {
	case OpBSSY:
		u.exec = execBSSY
	case OpBSYNC:
		u.flow = true
		u.exec = execBSYNC
	case OpBREAK:
		u.flow = true
		u.exec = execBREAK
	}
}

func decBMOV(d *decoder) {
	u := d.u
	if !d.barrierReg() {
		return
	}
	if len(d.vds) > 0 && d.vds[0].Kind == KindBarrier {
		u.s[0] = d.raw(0, 0, 0)
		u.exec = execBMOVtoB
		return
	}
	if dst := d.in.Dst[0]; dst.Kind != KindReg || dst.Reg != RZ {
		d.k.savedBars |= 1 << u.b
	}
	u.exec = execBMOVtoR
}

func decWARPSYNC(d *decoder) {
	if d.sm < 70 { // the warp runs in lock step
		d.u.exec = execNop
		return
	}
	d.u.flow = true
	d.u.s[0] = d.raw(0, 0, 0)
	if len(d.vals) == 0 {
		d.u.s[0] = sref{ptr: d.k.broadcast(allLanes)}
	}
	d.u.exec = execWARPSYNC
}

func decYIELD(d *decoder) {
	d.u.flow = true
	d.u.exec = execYIELD
}

func decNANOSLEEP(d *decoder) {
	d.u.s[0] = d.raw(0, 0, 0)
	d.u.flow = true
	d.u.exec = execNANOSLEEP
}

// decBPT makes a trap an error of the run; breakpoints for a debugger do nothing.
func decBPT(d *decoder) {
	d.u.exec = execNop
	if d.u.in.Mod.Sub == SubTrap {
		d.u.exec = execTrap
	}
}

func execTrap(w *Warp, u *uop, m uint32) {
	if m != 0 {
		w.err = w.fail(fmt.Sprintf("the kernel executed a trap, first %s", w.threadName(lowest(m))))
	}
}

// execNANOSLEEP reports the sleep to the timing model and lets another group of the warp run.
func execNANOSLEEP(w *Warp, u *uop, m uint32) {
	w.pc++
	if m == 0 {
		return
	}
	w.e.SleepNS = w.val(&u.s[0])[lowest(m)]
	if len(w.groups) > 0 {
		w.rotate()
	}
}

func decBAR(d *decoder) {
	u := d.u
	u.flow = true
	o := d.vals[0]
	if o.Kind == KindBarrier { // a named barrier written as an operand of its own kind
		u.s[0] = sref{ptr: d.k.broadcast(uint32(o.Imm))}
	} else {
		u.s[0] = d.raw(0, 0, 0)
	}
	if len(d.vals) > 1 {
		u.s[1] = d.raw(1, 0, 0)
	}
	switch d.in.Mod.Sub {
	case SubNone, SubSync, SubArrive, SubRedPopc, SubRedAnd, SubRedOr:
		u.exec = execBAR
	}
}

func decB2R(d *decoder) { d.u.exec = execB2R }

// execB2R reads the result of the warp's last barrier reduction.
func execB2R(w *Warp, u *uop, m uint32) {
	if u.nd > 0 {
		w.spreadValue(u, m, w.barResult)
	}
	w.setPred(u.pd[0], m, nonzeroMask(w.barResult))
}
