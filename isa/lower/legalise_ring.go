package lower

import "github.com/sarchlab/smsim/isa"

// constRing loads words of constant variables into uniform registers right before their readers. It has a fixed number of registers and
// takes them in turn, so that a block with any number of words never has more of them live.
type constRing struct {
	b     []isa.Inst  // the block's instructions, for a look at what comes
	at    int         // the place in b
	slots []constSlot // in the order in which they will be taken again
}

// constSlot is a pair of uniform registers and what it holds.
type constSlot struct {
	lo, hi isa.Reg
	bank   uint8
	off    int64 // of the lower word
	words  uint8 // bit 0: the lower word is loaded, bit 1: the upper one
}

const (
	ringPairs = 8  // of the ring
	ringAhead = 24 // instructions in which the other word of a pair has to be read
)

// start forgets what the registers hold: another block begins, of these instructions.
func (r *constRing) start(b []isa.Inst) {
	r.b, r.at = b, 0
	for i := range r.slots {
		r.slots[i].words = 0
	}
}

// load gives the uniform register that holds constant o; a load of it, or of the two words of its pair, may come before.
func (r *constRing) load(f *fn, out *[]isa.Inst, o isa.Operand, pos isa.SourcePos) isa.Operand {
	base, word := o.Imm&^7, uint8(1)<<(o.Imm>>2&1)
	pick := func(s *constSlot) isa.Operand {
		if word == 1 {
			return isa.UR(s.lo)
		}
		return isa.UR(s.hi)
	}
	for i := range r.slots {
		if s := &r.slots[i]; s.words&word != 0 && s.bank == o.Bank && s.off == base {
			return pick(s)
		}
	}
	if len(r.slots) == 0 {
		for range ringPairs {
			s := constSlot{lo: f.newUReg(), hi: f.newUReg()}
			f.utuples[s.lo] = []isa.Reg{s.lo, s.hi}
			f.inUTuple[s.lo], f.inUTuple[s.hi] = true, true
			r.slots = append(r.slots, s)
		}
	}
	s := r.slots[0]
	s.bank, s.off, s.words = o.Bank, base, word
	in := f.uniformLoad(s.lo, o, pos)
	in.Dst[0] = pick(&s)
	if r.soon(o) {
		s.words = 3
		in.Mod.Size = 8
		in.Src[0].Imm = base
		in.Dst[0] = isa.UR(s.lo)
		in.Dst[0].Flags |= flagPair | isa.Wide64
	}
	*out = append(*out, in)
	r.slots = append(r.slots[1:], s)
	return pick(&s)
}

// soon says that one of the next instructions reads the other word of the constant's pair.
func (r *constRing) soon(o isa.Operand) bool {
	for i := r.at; i < min(r.at+ringAhead, len(r.b)); i++ {
		for _, x := range r.b[i].Src[:r.b[i].NSrc] {
			if x.Kind == isa.KindConst && x.Bank == o.Bank && x.Reg == isa.RZ && x.Imm == o.Imm^4 && x.Flags&flagPair == 0 {
				return true
			}
		}
	}
	return false
}
