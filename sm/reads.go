package sm

import "github.com/sarchlab/smsim/isa"

// registerReads counts the 32-lane reads of one pass of an instruction by bank. A register named twice is read once. With
// prev, operands that prev left in the reuse cache (same slot, same register, flag set) cost nothing. Pairs and
// vectors read each of their registers; constants, immediates, uniform registers and RZ read nothing.
//
// An instruction of two passes (IMAD.WIDE, IMAD.HI) reads all its sources in the first, both words of its 64-bit source too, and
// its 32-bit sources again in the second. Both words are read even when another source is the same register (measured: IMAD.WIDE R0, R24,
// R26, R24 takes 5 cycles).
func (m *machine) registerReads(in, prev *isa.Inst, pass, passes int) reads {
	var r reads
	var seen [16]isa.Reg
	n := 0
	read := func(source int, reg isa.Reg, width int) {
		for w := range isa.Reg(width) {
			q := reg + w
			if reg == isa.RZ || q >= isa.RZ {
				continue
			}
			dup := false
			for _, s := range seen[:n] {
				dup = dup || s == q
			}
			if dup {
				continue
			}
			if n < len(seen) {
				seen[n] = q
				n++
			}
			r.add(source, int(q)%m.banks)
		}
	}
	for i := range in.NSrc {
		o := &in.Src[i]
		switch o.Kind {
		case isa.KindReg:
			if prev != nil && int(i) < int(prev.NSrc) {
				q := &prev.Src[i]
				if q.Kind == isa.KindReg && q.Is(isa.Reuse) && q.Reg == o.Reg {
					if n < len(seen) {
						seen[n] = o.Reg
						n++
					}
					continue
				}
			}
			width := sourceWidth(in, int(i))
			if passes > 1 && width > 1 {
				for w := 0; pass == 0 && o.Reg != isa.RZ && w < width; w++ {
					r.add(int(i), (int(o.Reg)+w)%m.banks)
				}
				continue
			}
			read(int(i), o.Reg, width)
		case isa.KindMem:
			w := 1
			if o.Is(isa.Wide64) {
				w = 2
			}
			read(int(i), o.Reg, w)
		case isa.KindConst:
			if o.Reg != isa.RZ {
				read(int(i), o.Reg, 1)
			}
		}
	}
	return r
}

func (r *reads) add(source, bank int) {
	r.bank[bank]++
	r.ports[bank] |= 1 << source
	r.busiest = max(r.busiest, r.bank[bank])
}

// lateReads are the reads of the second pass in the bank of the second word of the 64-bit source.
func (m *machine) lateReads(in *isa.Inst, second *reads) (late reads) {
	for i := range in.NSrc {
		if o := &in.Src[i]; o.Kind == isa.KindReg && o.Reg != isa.RZ && sourceWidth(in, int(i)) > 1 {
			b := int(o.Reg+1) % m.banks
			late.ports[b] = second.ports[b]
		}
	}
	return late
}

// sourceWidth is the number of registers of source i.
func sourceWidth(in *isa.Inst, i int) int {
	o := &in.Src[i]
	if o.Is(isa.Wide64) {
		return 2
	}
	c := in.Class()
	switch c {
	case isa.ClassDFMA:
		return 2
	case isa.ClassIMADWIDE, isa.ClassIMADHI:
		if i == 2 {
			return 2
		}
	case isa.ClassSTG, isa.ClassSTS, isa.ClassSTL, isa.ClassATOMG, isa.ClassATOMS, isa.ClassRED:
		return max(1, int(in.Mod.Size)/4)
	}
	switch in.Mod.Type {
	case isa.U64, isa.S64, isa.F64:
		if c == isa.ClassISETP || c == isa.ClassIMNMX || c == isa.ClassSHF && in.Mod.Has(isa.ModWide) {
			return 2
		}
	}
	return 1
}
