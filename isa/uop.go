package isa

// uop is a predecoded instruction: what Step needs, and nothing to look up.
type uop struct {
	exec     func(w *Warp, u *uop, m uint32)
	in       *Inst
	guard    uint8  // index into Warp.p
	guardInv uint32 // all ones for @!P
	flow     bool   // sets the program counter itself
	pop      bool   // .S: pops a token afterwards
	uniform  bool   // executes once for the warp: all lanes get the result
	nd       int8   // value results
	nvals    int8   // value sources that the instruction names
	d        [4]int32
	pd       [2]uint8
	ps       [4]pref
	s        [8]sref
	imm      uint32 // immediate, carry constant or small set of flags, as the opcode's decoder says
	sh       uint8  // shift distance or width
	b        uint8  // convergence barrier register
	lut      uint8  // truth table; opcodes without one keep a flag here (mostly 1: signed)
	lut2     uint8
	sgn      bool // shifts: arithmetic

	target    int32
	hasTarget bool
	hasReg    bool // BRX, RET: address in a register

	mem       *memop
	tex       *texop
	video     *videoop
	copyTo    *memop // LDGSTS: the shared side
	xmad      *xmadop
	fixed     *fixedConst // LDC without index
	hasConst  bool
	constBank uint8
	constAddr uint32
}

// sref is a source in every lane: a register, or a constant known at Bind, as it is or modified.
type sref struct {
	ptr *lanes // constant or immediate, with modifiers applied; nil: register
	reg int32  // index into Warp.regs
	mod modKind
	tmp uint8 // where the modified value is put
}

// pref is a predicate source.
type pref struct {
	idx uint8
	inv uint32
}

// modKind is a composition of source modifiers, in the number format of the operation.
type modKind uint16

const (
	modNeg     modKind = 1 << iota // integer negation
	modInv                         // complement
	modFAbs                        // sign bit off
	modFNeg                        // sign bit flipped
	modHAbs                        // sign bits of both halves off
	modHNeg                        // sign bits of both halves flipped
	modH0                          // low half in both halves
	modH1                          // high half in both halves
	modPart                        // a byte or half, extended: the fields below
	modSigned                      // sign-extended part
	modByte                        // part is a byte
	modPos1                        // bit 0 of its place
	modPos2                        // bit 1 of its place
	modFloat16                     // 32-bit float value of a half (HFMA2 with F32 source)
)

// place is the number of the byte or half that modPart extracts.
func (k modKind) place() uint {
	p := uint(0)
	if k&modPos1 != 0 {
		p |= 1
	}
	if k&modPos2 != 0 {
		p |= 2
	}
	return p
}

// apply modifies one value.
func (k modKind) apply(v uint32) uint32 {
	if k&modPart != 0 {
		v = extractPart(v, k)
	}
	if k&modH0 != 0 {
		v = v&0xffff | v<<16
	}
	if k&modH1 != 0 {
		v = v>>16 | v&0xffff0000
	}
	if k&modFAbs != 0 {
		v &^= 1 << 31
	}
	if k&modHAbs != 0 {
		v &^= 0x80008000
	}
	if k&modFNeg != 0 {
		v ^= 1 << 31
	}
	if k&modHNeg != 0 {
		v ^= 0x80008000
	}
	if k&modInv != 0 {
		v = ^v
	}
	if k&modNeg != 0 {
		v = -v
	}
	return v
}

// extractPart is the byte or half of v that k names, extended to 32 bits.
func extractPart(v uint32, k modKind) uint32 {
	switch {
	case k&modByte != 0 && k&modSigned != 0:
		return uint32(int32(int8(v >> (8 * k.place()))))
	case k&modByte != 0:
		return v >> (8 * k.place()) & 0xff
	case k&modSigned != 0:
		return uint32(int32(int16(v >> (16 * (k.place() & 1)))))
	default:
		return v >> (16 * (k.place() & 1)) & 0xffff
	}
}

// modified computes a source with modifiers into its temporary.
func (w *Warp) modified(s *sref) *lanes {
	t, r := &w.tmp[s.tmp&7], &w.regs[s.reg]
	switch s.mod {
	case modNeg:
		for i := range t {
			t[i] = -r[i]
		}
	case modInv:
		for i := range t {
			t[i] = ^r[i]
		}
	case modFNeg:
		for i := range t {
			t[i] = r[i] ^ 1<<31
		}
	case modPart:
		for i := range t {
			t[i] = r[i] & 0xffff
		}
	case modPart | modPos1:
		for i := range t {
			t[i] = r[i] >> 16
		}
	case modPart | modSigned:
		for i := range t {
			t[i] = uint32(int32(int16(r[i])))
		}
	case modPart | modPos1 | modSigned:
		for i := range t {
			t[i] = uint32(int32(r[i]) >> 16)
		}
	default:
		k := s.mod
		for i := range t {
			t[i] = k.apply(r[i])
		}
	}
	return t
}
