// Package lower turns a PTX kernel into a machine program of one target, the way ptxas does:
// selection and expansion (select_*.go), optimisation on virtual registers (opt_*.go), list scheduling,
// register allocation and control information.
package lower

import (
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// fn is a kernel during lowering: basic blocks of machine instructions on virtual registers.
//
// Values wider than 32 bit are separate virtual registers, low word first. An instruction that needs
// consecutive registers (IMAD.WIDE, 64-bit addresses and data, vector loads) names all of them: its
// operand holds the first, and fn.tuples says which virtual registers make up the tuple; register
// allocation places them in consecutive, aligned registers.
//
// A virtual register may be written several times (PTX registers are variables). Optimisations use
// def/use information and treat registers with one definition as values.
type fn struct {
	t      *isa.Target
	m      *ptx.Module
	src    *ptx.Func
	blocks []*block

	nextReg  isa.Reg               // next virtual general register
	nextPred isa.Reg               // next virtual predicate
	tuples   map[isa.Reg][]isa.Reg // first register -> all registers of the tuple (2 or 4)
}

// block is a basic block. Control falls through to the next block in layout order unless the last
// instruction is an unguarded BRA, BRX, RET or EXIT.
type block struct {
	label string
	insts []isa.Inst
	succs []*block
	preds []*block
}

// word is a 32-bit operand of a machine instruction: a virtual register, an immediate or a constant-bank word.
type word = isa.Operand

// builder emits machine instructions for one PTX instruction at a time. Selection rules use only these methods
// (and what they add beside them), never fn's blocks directly.
type builder struct {
	f   *fn
	cur *block

	in    *ptx.Instr  // the PTX instruction being selected
	guard isa.Operand // its guard as a machine predicate; KindNone: unconditional. Copied to every emitted instruction
}

// selector lowers one PTX instruction. It reports an instruction or modifier it does not know, or that the
// target cannot execute, as an error with the instruction's position (see errorf).
type selector func(b *builder) error

// The methods that selection rules are written with, implemented in builder.go:
//
//	b.t()                          *isa.Target
//	b.reg() word                   a new virtual register
//	b.regs(n) []word               n new virtual registers
//	b.pred() word                  a new virtual predicate
//	b.src(i, typ) []word           words of source operand i of the PTX instruction, low first, read as PTX type typ
//	                               ("u32", "s64", "f32", "b16" ...): virtual registers, immediates or constants.
//	                               8- and 16-bit values sit in the low bits of a register whose upper bits are undefined
//	b.dst(i, typ) []word           words of destination operand i
//	b.predSrc(i) word, b.predDst(i) word
//	b.emit(op, mod, dsts, srcs)    *isa.Inst appended with the guard, PTX position and .loc
//	b.emitWide(op, mod, dsts, srcs [][]word)
//	                               like emit; each operand is a list of words, two or four of which become a tuple
//	b.newBlock() *block, b.jump(to), b.branch(pred, to), b.place(blk)
//	                               control flow inside an expansion (division loops, fns, CAS loops)
//	b.errorf(format, ...) error    an error at the PTX instruction, with its text
