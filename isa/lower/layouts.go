package lower

import "github.com/sarchlab/smsim/isa"

// layout is the operand list of an opcode: R register-like, P predicate source or destination, I immediate.
type layout struct{ dst, src string }

// layouts are the operand lists that the package's own passes rely on; emit fills omitted trailing operands
// with RZ, PT, or for carry inputs !PT. Destinations: the general register first, then predicates.
var layouts = map[isa.Op]layout{
	isa.OpIADD3:     {"RPP", "RRRCC"}, // a + b + c + carry + carry; the two outputs are carries
	isa.OpIMAD:      {"R", "RRR"},     // a * b + c
	isa.OpLOP3:      {"RP", "RRR"},    // lut(a, b, c)
	isa.OpLEA:       {"RP", ""},       // a, b, shift [, carry]; .HI: a, b, c, shift [, carry]
	isa.OpSHF:       {"R", "RRR"},     // low, shift, high
	isa.OpPRMT:      {"R", "RRR"},     // a, selector, b
	isa.OpSEL:       {"R", "RRP"},
	isa.OpFSEL:      {"R", "RRP"},
	isa.OpMOV:       {"R", "R"},
	isa.OpISETP:     {"PP", "RRP"},
	isa.OpFSETP:     {"PP", "RRP"},
	isa.OpDSETP:     {"PP", "RRP"},
	isa.OpHSETP2:    {"PP", "RRP"},
	isa.OpPLOP3:     {"PP", "PPP"},
	isa.OpPSETP:     {"PP", "PPP"},
	isa.OpIMNMX:     {"R", "RRP"},
	isa.OpVIMNMX:    {"R", "RRP"},
	isa.OpVIMNMX3:   {"R", "RRRP"},
	isa.OpVIADDMNMX: {"R", "RRRP"},
	isa.OpIDP:       {"R", "RRR"},
}

func fillLayout(in *isa.Inst) {
	l, ok := layouts[in.Op]
	if !ok {
		return
	}
	for int(in.NDst) < len(l.dst) {
		if l.dst[in.NDst] == 'P' {
			if in.Op == isa.OpIADD3 && in.Mod.Has(isa.ModWide) {
				break
			}
			in.Dst[in.NDst] = pt
		} else {
			in.Dst[in.NDst] = rz
		}
		in.NDst++
	}
	for int(in.NSrc) < len(l.src) {
		o := rz
		switch l.src[in.NSrc] {
		case 'P':
			o = pt
		case 'C':
			o = pt
			if in.Mod.Has(isa.ModX) {
				o = notPT
			}
		}
		in.Src[in.NSrc] = o
		in.NSrc++
	}
}
