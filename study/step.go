package study

import (
	"fmt"

	"github.com/sarchlab/smsim/isa"
)

// turnSteps is the number of instructions that a warp executes before the next warp of its block gets its turn.
const turnSteps = 64

// errSteps says that a block executed as many instructions as it may.
type errSteps uint64

func (e errSteps) Error() string {
	return fmt.Sprintf("more than %d warp-instructions: an endless loop?", uint64(e))
}

// stepBlock executes a block without timing and shows every executed instruction. steps counts on through several blocks.
func stepBlock(b *isa.Block, steps *uint64, limit uint64, visit func(w *isa.Warp, e *isa.Effect)) error {
	var e isa.Effect
	for !b.Done() {
		moved := false
		for _, w := range b.Warps {
			for n := 0; n < turnSteps && w.PC() >= 0; n++ {
				if err := w.Step(&e); err != nil {
					return err
				}
				moved = true
				if *steps++; *steps > limit {
					return errSteps(limit)
				}
				visit(w, &e)
			}
		}
		if !moved {
			return b.Stuck()
		}
	}
	return nil
}
