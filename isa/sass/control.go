package sass

import (
	"fmt"

	"github.com/sarchlab/smsim/isa"
)

// addWord takes an encoding that stands on a line of its own: the second half of a 128-bit
// instruction from Volta on, a scheduling word of a group on Kepler, Maxwell and Pascal.
func (f *Function) addWord(v uint64) {
	f.Words = true
	if k := len(f.Insts); f.SM >= 70 || f.SM == 0 && k > 0 && len(f.Insts[k-1].words) == 1 {
		if k > 0 && len(f.Insts[k-1].words) < 2 {
			f.Insts[k-1].words = append(f.Insts[k-1].words, v)
		}
		return
	}
	f.sched, f.schedLeft = v, groupSize(f.SM)
}

// groupSize is the number of instructions that one scheduling word covers on a target, 0: it has none.
func groupSize(sm int) int {
	switch {
	case sm >= 50 && sm < 70:
		return 3
	case sm >= 30 && sm < 50:
		return 7
	}
	return 0
}

// takeSched gives the instruction its place in the open scheduling group.
func (f *Function) takeSched(r *rawInst) {
	if f.schedLeft > 0 {
		r.sched, r.slot = f.sched, groupSize(f.SM)-f.schedLeft
		f.schedLeft--
	}
}

// decodeControl reads an instruction's control information; ok is false when the listing has none for it.
// The error says which field of a control text no instruction can have.
//
// Volta on: 21 bits at bit 41 of the second word: stall, yield, write and read barrier, wait mask, reuse.
// Maxwell, Pascal: three 21-bit fields in the group's word. Kepler: seven 8-bit fields.
func decodeControl(sm int, r *rawInst, in *isa.Inst) (ok bool, err error) {
	waits := in.Ctrl.WaitMask // of DEPBAR's operands
	defer func() { in.Ctrl.WaitMask |= waits }()
	none := isa.Control{Stall: 1, Yield: true, WriteBar: isa.NoBar, ReadBar: isa.NoBar}
	in.Ctrl = none
	switch {
	case r.ctrl != "":
		return true, decodeText(sm, r.ctrl, in)
	case sm >= 70:
		if len(r.words) < 2 {
			return false, nil
		}
		decodeField(r.words[1]>>41, in)
	case sm >= 50:
		if r.slot < 0 {
			return false, nil
		}
		decodeField(r.sched>>(21*r.slot), in)
	case sm >= 30:
		if r.slot < 0 {
			return false, nil
		}
		shift := 2 + 8*r.slot
		if sm < 35 {
			shift = 4 + 8*r.slot
		}
		v := uint8(r.sched >> shift)
		switch {
		case v == 0x04:
			in.Ctrl.Stall, in.Ctrl.DualIssue = 0, true
		case v&0x20 != 0:
			in.Ctrl.Stall = v&0x1f + 1
		case v == 0:
			in.Ctrl.Stall = 16
		default:
			in.Ctrl.Stall = 1
		}
	default:
		return false, nil
	}
	return true, nil
}

// decodeField reads the 21-bit control field shared by Maxwell to Blackwell. Reuse flags go to the
// operands; bit k belongs to source slot k, and nvdisasm prints it as .reuse, which the text parser has set already.
func decodeField(v uint64, in *isa.Inst) {
	in.Ctrl = isa.Control{
		Stall:    uint8(v & 15),
		Yield:    v>>4&1 == 1,
		WriteBar: uint8(v >> 5 & 7),
		ReadBar:  uint8(v >> 8 & 7),
		WaitMask: uint8(v >> 11 & 63),
	}
	if in.Ctrl.WriteBar > 5 {
		in.Ctrl.WriteBar = isa.NoBar
	}
	if in.Ctrl.ReadBar > 5 {
		in.Ctrl.ReadBar = isa.NoBar
	}
}

// decodeText reads control information in the text form "B--2---:R0:W1:Y:S04". Y means the yield hint, whose
// encoded bit is 0. A stall of 0 before Volta stands for issue together with the next instruction.
func decodeText(sm int, s string, in *isa.Inst) error {
	c := isa.Control{Yield: s[14] != 'Y'}
	var err error
	bar := func(name string, at byte) uint8 {
		switch {
		case at == '-':
			return isa.NoBar
		case at > '5':
			err = &unknownError{fmt.Sprintf("%s barrier %c in %s (0 to 5, or - for none)", name, at, s)}
		}
		return at - '0'
	}
	c.ReadBar, c.WriteBar = bar("read", s[9]), bar("write", s[12])
	for i := range byte(6) {
		switch at := s[1+i]; at {
		case '-':
		case '0' + i:
			c.WaitMask |= 1 << i
		default:
			err = &unknownError{fmt.Sprintf("wait mask %s in %s (place %d holds %d or -)", s[:7], s, i, i)}
		}
	}
	n, most := int(s[17]-'0')*10+int(s[18]-'0'), 15
	if sm >= 30 && sm < 50 {
		most = 32
	}
	if n > most {
		err = &unknownError{fmt.Sprintf("stall of %d cycles in %s (0 to %d on sm_%d)", n, s, most, sm)}
	}
	c.Stall = uint8(n)
	c.DualIssue = n == 0 && sm >= 30 && sm < 50
	in.Ctrl = c
	return err
}
