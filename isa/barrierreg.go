package isa

import "math/bits"

// barrierRegs holds the participants of the warp's convergence barrier registers. The hardware has one of each; compilers let a
// function save one that its caller uses (BMOV R, B), set it anew and restore it. That is right only while no lanes of the caller run in
// between, and a warp that turns to other lanes after some loops (switchAfter) would let them: so registers that a program saves have a value
// for every lane, which is the same as long as lanes take turns at barriers alone.
type barrierRegs struct {
	shared [16]uint32
	lanes  [16]*lanes // of the registers that the program saves
	kept   uint16     // those that have been copied to a register since they were set
}

// reset empties the registers; saved are those that the program copies to general registers.
func (b *barrierRegs) reset(saved uint16) {
	b.shared, b.kept = [16]uint32{}, 0
	for i := range b.lanes {
		switch {
		case saved>>i&1 == 0:
		case b.lanes[i] == nil:
			b.lanes[i] = new(lanes)
		default:
			*b.lanes[i] = lanes{}
		}
	}
}

// participants is the value of barrier register b for lanes m, which are together.
func (w *Warp) participants(b uint8, m uint32) uint32 {
	if l := w.bars.lanes[b]; l != nil {
		return l[bits.TrailingZeros32(m)&31]
	}
	return w.bars.shared[b]
}

// setParticipants writes barrier register b for lanes m.
func (w *Warp) setParticipants(b uint8, m, parts uint32) {
	l := w.bars.lanes[b]
	if l == nil {
		w.bars.shared[b] = parts
		return
	}
	for r := m; r != 0; r &= r - 1 {
		l[bits.TrailingZeros32(r)&31] = parts
	}
}

// leave takes lanes m out of the barrier that register b has with these participants.
func (w *Warp) leave(b uint8, parts, m uint32) { w.replace(b, parts, parts&^m) }

// empty clears barrier register b where it names these participants, all of which have come.
func (w *Warp) empty(b uint8, parts uint32) { w.replace(b, parts, 0) }

// replace gives barrier register b other participants wherever it has the given ones.
func (w *Warp) replace(b uint8, parts, with uint32) {
	l := w.bars.lanes[b]
	switch {
	case l == nil && w.bars.shared[b] == parts:
		w.bars.shared[b] = with
	case l != nil:
		for r := parts; r != 0; r &= r - 1 {
			if i := bits.TrailingZeros32(r) & 31; l[i] == parts {
				l[i] = with
			}
		}
	}
}
