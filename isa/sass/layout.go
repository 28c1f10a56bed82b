package sass

import (
	"strings"

	"github.com/sarchlab/smsim/isa"
)

// checkLayout finds damage of a listing that its instructions do not show one by one: addresses that stand twice, fall
// or leave a gap where an instruction is missing, and half an encoding. Instructions without an address of their own
// are not held to one. byAddr gives the index of the instruction at an address.
func (l *Listing) checkLayout(f *Function, sm int) (byAddr map[uint32]int, err error) {
	byAddr = make(map[uint32]int, len(f.Insts))
	whole := false
	for i := range f.Insts {
		r := &f.Insts[i]
		if k, twice := byAddr[r.addr]; twice {
			return nil, l.errorAt(r, againHint, "address %#x stands a second time in function %s, first on line %d", r.addr, f.Name, f.Insts[k].line)
		}
		byAddr[r.addr] = i
		whole = whole || len(r.words) == 2
	}
	step := layoutOf(f, sm)
	for i := range f.Insts {
		r := &f.Insts[i]
		if whole && sm >= 70 && len(r.words) == 1 {
			return nil, l.errorAt(r, "keep both words of every instruction, or leave all encodings out", "half of the encoding is missing: others of this function have two words of 64 bits")
		}
		switch {
		case !r.placed:
		case i == 0 && r.addr != 0 && r.addr != step.first():
			return nil, l.errorAt(r, "begin with the line of the function's first instruction", "function %s begins at address %#x: the instructions before it are missing", f.Name, r.addr)
		case i == 0 || !f.Insts[i-1].placed:
		case r.addr < f.Insts[i-1].addr:
			return nil, l.errorAt(r, againHint, "address %#x of function %s stands behind %#x of line %d: instructions must be in the order of their addresses",
				r.addr, f.Name, f.Insts[i-1].addr, f.Insts[i-1].line)
		default:
			if p := &f.Insts[i-1]; r.addr < step.after(p.addr) || r.addr > step.last(p.addr) {
				return nil, l.errorAt(r, againHint, "address %#x of function %s follows %#x of line %d, expected %#x: a line is missing or an address is wrong",
					r.addr, f.Name, p.addr, p.line, step.last(p.addr))
			}
		}
	}
	return byAddr, nil
}

// opcodeBits are the bits of the first word that hold the opcode from Volta on; three more select the kind of operands.
const opcodeBits = 1<<9 - 1

// checkOpcodes finds encodings that belong to other instructions. From Volta on an opcode number belongs to one name
// (in 33,000 listed functions of seven targets to two only where one is a form of the other: ERRBAR and CGAERRBAR), so
// two names with one number in a function contradict each other.
func (l *Listing) checkOpcodes(f *Function, sm int) error {
	if sm < 70 {
		return nil
	}
	byNumber := map[uint64]*rawInst{}
	for i := range f.Insts {
		r := &f.Insts[i]
		if len(r.words) != 2 {
			continue
		}
		number := r.words[0] & opcodeBits
		other := byNumber[number]
		if other == nil {
			byNumber[number] = r
			continue
		}
		x, y := operationName(r.text), operationName(other.text)
		if !strings.Contains(x, y) && !strings.Contains(y, x) {
			return l.errorAt(r, "mend the text, or leave the encodings of the function out",
				"encoding %#016x is not that of %s: the opcode number %#x is that of %s on line %d", r.words[0], x, number, y, other.line)
		}
	}
	return nil
}

// operationName is the name of an instruction without guard and modifiers.
func operationName(text string) string {
	if strings.HasPrefix(text, "@") {
		_, text, _ = strings.Cut(text, " ")
	}
	name, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	name, _, _ = strings.Cut(name, ".")
	return name
}

// layout says where instructions can stand.
type layout struct {
	bytes    uint32 // of an instruction
	shortest uint32 // 4 where there are half instructions (1.x)
	group    uint32 // bytes of a scheduling word with the instructions that it covers, 0: there are no such words
}

// layoutOf is the layout of a function. Text made without scheduling words leaves no places for them: its first
// instruction stands at 0, where else the first word is.
func layoutOf(f *Function, sm int) layout {
	bytes := isa.NewTarget(sm).InstBytes
	y := layout{bytes: bytes, shortest: bytes}
	if sm < 20 {
		y.shortest = bytes / 2
	}
	if n := groupSize(sm); n > 0 && len(f.Insts) > 0 && f.Insts[0].addr != 0 {
		y.group = uint32(n+1) * bytes
	}
	return y
}

// first is the address of the first instruction.
func (y layout) first() uint32 {
	if y.group > 0 {
		return y.bytes
	}
	return 0
}

// last is the highest address that can follow one.
func (y layout) last(addr uint32) uint32 {
	next := addr + y.bytes
	if y.group > 0 && next%y.group == 0 {
		next += y.bytes
	}
	return next
}

// after is the lowest address that can follow one.
func (y layout) after(addr uint32) uint32 {
	if y.shortest < y.bytes {
		return addr + y.shortest
	}
	return y.last(addr)
}
