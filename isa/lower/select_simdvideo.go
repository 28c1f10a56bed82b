package lower

import (
	"strings"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// SIMD video instructions on halves (v*2) and bytes (v*4). Kepler has them; everywhere else, and for results equal
// to what was measured also on Kepler, they are computed lane by lane as ptxas expands them.

// simd is a SIMD video instruction during selection.
type simd struct {
	op     string // without the lane count
	n      int    // lanes
	bits   int    // of a lane
	dt     vtype
	at, bt vtype
	sat    bool
	add    bool // .add: lanes are summed into c
	cmp    isa.Cmp
	mask   int // lanes of the destination that are written, bit i for lane i
	asel   uint32
	bsel   uint32
	plain  bool // selectors and mask are the defaults
}

// ruleVideoLanes is the rule of all v*2 and v*4 instructions.
func ruleVideoLanes(x *expander) {
	s := simd{op: x.in.Op[:len(x.in.Op)-1], n: int(x.in.Op[len(x.in.Op)-1] - '0')}
	s.bits = 32 / s.n
	if s.op == "vset" {
		s.at, s.bt, s.dt = x.typ("u32 s32"), x.typ("u32 s32"), valueTypes["u32"]
		c, ok := comparisons[x.take("eq", "ne", "lt", "le", "gt", "ge")]
		if !ok {
			x.fail("%s lacks a comparison such as .eq or .lt", x.in.Op)
			return
		}
		s.cmp = c.op
	} else {
		s.dt, s.at, s.bt = x.typ("u32 s32"), x.typ("u32 s32"), x.typ("u32 s32")
	}
	s.sat, s.add = x.has("sat"), x.has("add")
	if x.err != nil || !x.args(4, 4) {
		return
	}
	if s.sat && s.add {
		x.fail("%s takes .sat or .add, not both", x.in.Op)
		return
	}
	s.mask = x.laneMask(x.arg(0), s.n)
	if s.n == 4 {
		s.asel, s.bsel = x.laneSelector(x.arg(1), "b", 0x3210), x.laneSelector(x.arg(2), "b", 0x7654)
		s.plain = s.asel == 0x3210 && s.bsel == 0x7654
	} else {
		s.asel, s.bsel = x.halfSelector(x.arg(1), 0x3210), x.halfSelector(x.arg(2), 0x7654)
		s.plain = s.asel == 0x3210 && s.bsel == 0x7654
	}
	if x.err != nil {
		return
	}
	s.plain = s.plain && s.mask == 1<<s.n-1
	a, b, c, d := x.plainArg(1, "b32"), x.plainArg(2, "b32"), x.plainArg(3, "b32"), x.plainDst()
	if x.simdUnit(&s, d, a, b, c) || x.simdWhole(&s, d, a, b, c) {
		return
	}
	x.simdLanes(&s, d, a, b, c)
}

// laneMask is the destination's lane mask: .b20 writes bytes 0 and 2.
func (x *expander) laneMask(a *ptx.Arg, n int) int {
	if a.Member == "" {
		return 1<<n - 1
	}
	prefix := "b"
	if n == 2 {
		prefix = "h"
	}
	digits, ok := strings.CutPrefix(a.Member, prefix)
	mask := 0
	for _, c := range digits {
		if c < '0' || int(c-'0') >= n {
			ok = false
			break
		}
		mask |= 1 << (c - '0')
	}
	if !ok || mask == 0 {
		x.fail("destination mask .%s of %s names no lanes", a.Member, x.in.Op)
		return 1<<n - 1
	}
	return mask
}

// laneSelector is a source selector of bytes, such as .b7531, as a PRMT selector on {b, a}.
func (x *expander) laneSelector(a *ptx.Arg, prefix string, def uint32) uint32 {
	if a.Member == "" {
		return def
	}
	digits, ok := strings.CutPrefix(a.Member, prefix)
	if !ok || len(digits) != 4 {
		x.fail("selector .%s of %s is not four byte numbers such as .b3210", a.Member, x.in.Op)
		return def
	}
	var sel uint32
	for _, c := range digits {
		if c < '0' || c > '7' {
			x.fail("selector .%s names a byte outside 0 to 7", a.Member)
			return def
		}
		sel = sel<<4 | uint32(c-'0')
	}
	return sel
}

// halfSelector is a source selector of halves, such as .h32.
func (x *expander) halfSelector(a *ptx.Arg, def uint32) uint32 {
	if a.Member == "" {
		return def
	}
	digits, ok := strings.CutPrefix(a.Member, "h")
	if !ok || len(digits) != 2 {
		x.fail("selector .%s of %s is not two half numbers such as .h10", a.Member, x.in.Op)
		return def
	}
	var sel uint32
	for _, c := range digits {
		if c < '0' || c > '3' {
			x.fail("selector .%s names a half outside 0 to 3", a.Member)
			return def
		}
		h := uint32(c-'0') * 2
		sel = sel<<8 | (h+1)<<4 | h
	}
	return sel
}

// simdWhole computes the forms that need no separation of lanes: default selectors, no saturation, one sign for all
// types. It reports whether it did.
func (x *expander) simdWhole(s *simd, d, a, b, c word) bool {
	if !s.plain || s.sat || s.at.signed() != s.bt.signed() {
		return false
	}
	signed := s.at.signed()
	if s.op == "vabsdiff" && s.n == 4 && !s.dt.signed() {
		return x.byteDifferences(s, d, a, b, c, byteType(signed))
	}
	if signed != s.dt.signed() {
		return false
	}
	if (s.op == "vmin" || s.op == "vmax") && s.n == 2 && !s.add {
		ones := imm(0xffff0000)
		al, ah := x.ext(auto, a, vtype{bits: 16, kind: s.at.kind}), x.and(auto, a, ones)
		bl, bh := x.ext(auto, b, vtype{bits: 16, kind: s.at.kind}), x.and(auto, b, ones)
		l := x.minmax(auto, al, bl, s.op == "vmax", signedType(signed))
		h := x.minmax(auto, ah, bh, s.op == "vmax", signedType(signed))
		x.lop3(d, h, imm(0xffff), l, 0xf8)
		return true
	}
	if signed {
		return false
	}
	if s.add {
		if s.n == 2 || s.op != "vadd" && s.op != "vsub" || !x.t().Has(isa.OpIDP) {
			return false
		}
		u := x.byteSum(a, c)
		v := x.byteSum(b, rz)
		if s.op == "vsub" {
			x.sub(d, u, v)
		} else {
			x.add(d, u, v)
		}
		return true
	}
	low := uint32(0x10000) // lowest bit of the upper lanes
	top := uint32(0x80808080)
	switch {
	case s.op == "vadd" && s.n == 2:
		sum := x.add(auto, a, b)
		t := x.and(auto, x.lop3(auto, sum, a, b, lutA^lutB^lutC), imm(low))
		x.sub(d, sum, t)
	case s.op == "vsub" && s.n == 2:
		diff := x.sub(auto, a, b)
		t := x.and(auto, x.lop3(auto, diff, a, b, lutA^lutB^lutC), imm(low))
		x.add(d, diff, t)
	case s.op == "vadd":
		u, v := x.and(auto, a, imm(^top)), x.and(auto, b, imm(^top))
		t := x.lop3(auto, a, imm(top), b, 0x48)
		x.xor(d, x.add(auto, u, v), t)
	case s.op == "vsub":
		u, v := x.or(auto, a, imm(top)), x.and(auto, b, imm(^top))
		t := x.lop3(auto, a, imm(top), b, 0x84)
		x.xor(d, x.sub(auto, u, v), t)
	case s.op == "vavrg" && s.n == 2:
		t := x.lop3(auto, a, imm(0xfffefffe), b, 0x48)
		u := x.or(auto, a, b)
		x.sub(d, u, x.shr(auto, t, imm(1)))
	default:
		return false
	}
	return true
}

// byteSum is the sum of the bytes of a, plus c: a dot product with ones.
func (x *expander) byteSum(a, c word) word {
	d := x.reg()
	x.emit(isa.OpIDP, isa.Mod{Sub: isa.Sub4A, Type: isa.U8, BType: isa.U8}, []word{d}, []word{a, imm(0x01010101), c})
	return d
}

// byteDifferences is vabsdiff4 of bytes of one sign: one instruction up to compute capability 10.3, later the
// larger minus the smaller of each byte.
func (x *expander) byteDifferences(s *simd, d, a, b, c word, t isa.Type) bool {
	if x.t().Has(isa.OpVABSDIFF4) {
		m := isa.Mod{Type: t}
		if x.sm() < 70 {
			m.BType, m.DType = t, isa.U32
		}
		if s.add {
			m.Flags = isa.ModAcc
		} else {
			c = rz
		}
		x.emit(isa.OpVABSDIFF4, m, []word{d}, []word{a, b, c})
		return true
	}
	if x.sm() < 110 {
		return false
	}
	lanes := isa.Mod{Type: isa.U8x4}
	if t == isa.S8 {
		lanes.Type = isa.S8x4
	}
	big, small, v := x.reg(), x.reg(), d
	if s.add {
		v = x.reg()
	}
	x.emit(isa.OpVIMNMX, lanes, []word{big}, []word{a, b, notPT})
	x.emit(isa.OpVIMNMX, lanes, []word{small}, []word{a, b, pt})
	x.emit(isa.OpVIADD, lanes, []word{v}, []word{big, neg(small)})
	if s.add {
		x.add(d, c, x.byteSum(v, rz))
	}
	return true
}

// simdLanes computes each lane in 32 bits.
func (x *expander) simdLanes(s *simd, d, a, b, c word) {
	la := x.simdSource(s, a, b, s.asel, s.at.signed())
	lb := x.simdSource(s, a, b, s.bsel, s.bt.signed())
	left := x.keepSourceCopies(s, la, lb, x.laneCopies(s))
	lanes := make([]word, s.n)
	for i := range lanes {
		if s.add && s.mask&(1<<i) == 0 {
			continue
		}
		lanes[i] = x.simdOp(s, la[i], lb[i])
	}
	if s.add {
		x.keepResultCopies(lanes, left)
		v := c
		for i, l := range lanes {
			if s.mask&(1<<i) == 0 {
				continue
			}
			if s.op == "vavrg" && x.sm() >= 70 { // halved as it is added
				t := x.reg()
				x.emit(isa.OpLEA, isa.Mod{Flags: isa.ModHI | isa.ModSX32}, []word{t, pt}, []word{l, v, imm(31)})
				v = t
				continue
			}
			v = x.add(auto, v, l)
		}
		x.mov(d, v)
		return
	}
	if s.sat {
		for i, l := range lanes {
			lanes[i] = x.simdSat(s, l)
		}
	}
	x.keepResultCopies(lanes, left)
	x.simdMerge(s, d, lanes, c)
}

// simdLane is a lane of a source: its value, or, for the upper half of an unsigned source, the word whose upper
// half it is, so that an addition can shift it in.
type simdLane struct {
	v     word
	upper bool
}

// simdSource are the selected lanes of a source, extended.
func (x *expander) simdSource(s *simd, a, b word, sel uint32, signed bool) []simdLane {
	out := make([]simdLane, s.n)
	w := x.prmtKeep(a, sel, b)
	for i := range out {
		v := &out[i].v
		switch {
		case x.sm() < 70:
			*v = x.bfe(auto, w, i*s.bits, s.bits, signed)
		case s.n == 4:
			*v = x.prmtKeep(w, 0x7650+uint32(i), rz)
			if signed {
				*v = x.prmtKeep(*v, 0x8880, rz)
			}
		case i == 0 && signed:
			*v = x.prmtKeep(w, 0x9910, rz)
		case i == 0 && sel&0x44 == 0: // composed with the selection
			*v = x.prmtKeep(a, sel&0xff|0x7700, rz)
		case i == 0 && sel&0x44 == 0x44:
			*v = x.prmtKeep(rz, sel&0xff, b)
		case i == 0:
			*v = x.prmtKeep(w, 0x7710, rz)
		case signed:
			t := x.shr(auto, x.and(auto, w, imm(0xffff0000)), imm(16))
			*v = x.prmtKeep(t, 0x9910, rz)
		default:
			out[i] = simdLane{w, true}
		}
	}
	return out
}

// value is the lane as a word.
func (x *expander) laneValue(l simdLane) word {
	if l.upper {
		return x.shr(auto, l.v, imm(16))
	}
	return l.v
}

// laneSum is a + b or a - b; an upper half of the first term is shifted in by the addition.
func (x *expander) laneSum(a, b simdLane, sub bool) word {
	if !a.upper && b.upper && !sub {
		a, b = b, a
	}
	bv := x.laneValue(b)
	if !a.upper {
		if sub {
			return x.sub(auto, a.v, bv)
		}
		return x.add(auto, a.v, bv)
	}
	if sub {
		bv = neg(bv)
	}
	d := x.reg()
	x.emit(isa.OpLEA, isa.Mod{Flags: isa.ModHI}, []word{d, pt}, []word{a.v, bv, rz, imm(16)})
	return d
}

// simdOp computes one lane.
func (x *expander) simdOp(s *simd, la, lb simdLane) word {
	switch s.op {
	case "vadd":
		return x.laneSum(la, lb, false)
	case "vsub":
		return x.laneSum(la, lb, true)
	case "vavrg":
		v := x.laneSum(la, lb, false)
		p := x.test(isa.CmpGE, isa.S32, v, rz)
		x.under(p, func() { x.add(v, v, imm(1)) })
		if s.add && x.sm() >= 70 {
			return v
		}
		return x.sar(auto, v, imm(1))
	case "vabsdiff":
		return x.abs(auto, x.laneSum(la, lb, true))
	}
	a, b := x.laneValue(la), x.laneValue(lb)
	switch s.op {
	case "vmin", "vmax":
		return x.minmax(auto, a, b, s.op == "vmax", isa.S32)
	}
	return x.and(auto, x.maskIf(x.test(s.cmp, isa.S32, a, b)), imm(1))
}

// simdSat saturates a lane to its type.
func (x *expander) simdSat(s *simd, v word) word {
	t := valueTypes[map[bool]map[int]string{false: {16: "u16", 8: "u8"}, true: {16: "s16", 8: "s8"}}[s.dt.signed()][s.bits]]
	if s.op == "vabsdiff" {
		_, hi := limits(t)
		p := x.test(isa.CmpGT, isa.U32, v, imm(hi))
		v = x.sel(auto, v, imm(hi), notP(p))
	} else {
		v = x.clamp32(v, t, valueTypes["s32"])
	}
	return x.ext(auto, v, t)
}

// simdMerge packs the lanes and takes those outside the mask from c.
func (x *expander) simdMerge(s *simd, d word, lanes []word, c word) {
	var v word
	sel := uint32(0)
	if s.n == 2 {
		v = x.prmtKeep(lanes[0], 0x7610, rz)
		v = x.prmtKeep(v, 0x5410, lanes[1])
		for i := 0; i < 2; i++ {
			part := uint32([]uint32{0x10, 0x32}[i])
			if s.mask&(1<<i) == 0 {
				part += 0x44
			}
			sel |= part << (8 * i)
		}
	} else {
		v = x.prmtKeep(lanes[0], 0x7650, rz)
		for i, m := range []uint32{0x7604, 0x7054, 0x0654} {
			v = x.prmtKeep(lanes[i+1], m, v)
		}
		for i := uint32(0); i < 4; i++ {
			part := i
			if s.mask&(1<<i) == 0 {
				part += 4
			}
			sel |= part << (4 * i)
		}
	}
	x.mov(d, x.prmtKeep(v, sel, c))
}
