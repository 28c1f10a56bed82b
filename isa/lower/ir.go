// Package lower turns a PTX kernel into a machine program of one target, the way ptxas does:
// selection and expansion (select_*.go), optimisation on virtual registers (opt_*.go), list scheduling,
// register allocation and control information. docs/lowering.md lists the steps with their files.
package lower

import (
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// fn is a kernel during lowering: basic blocks of machine instructions on virtual registers.
//
// Values wider than 32 bit are separate virtual registers, low word first. An instruction that needs
// consecutive registers (IMAD.WIDE, 64-bit addresses and data, vector loads) names all of them: its
// operand holds the first with flagPair or flagQuad, and fn.tuples says which virtual registers make up the
// tuple; register allocation places them in consecutive, aligned registers.
//
// A virtual register may be written several times (PTX registers are variables). Optimisations use
// def/use information and treat registers with one definition as values.
type fn struct {
	t      *isa.Target
	m      *ptx.Module
	src    *ptx.Func
	blocks []*block // in layout order
	rpo    []*block // in reverse post-order
	loops  []*loop  // outer before inner

	nextReg   isa.Reg               // next virtual general register
	nextPred  isa.Reg               // next virtual predicate
	nextUReg  isa.Reg               // next virtual uniform register
	nextUPred isa.Reg               // next virtual uniform predicate
	tuples    map[isa.Reg][]isa.Reg // first register -> all registers of the tuple (2 or 4)
	utuples   map[isa.Reg][]isa.Reg // the same for uniform registers
	inTuple   map[isa.Reg]isa.Reg   // member -> first register of its tuple
	inUTuple  map[isa.Reg]bool      // uniform registers of pairs

	rolled bool             // loops are not unrolled yet
	halves map[isa.Reg]bool // registers that PTX declares with 16 bits

	files         []string // CUDA source files of .loc
	fileNum       map[int]int16
	shared        int64 // static shared bytes so far
	localMem      int64 // bytes of local frame so far
	constMem      []byte
	bank4         []byte  // slots with addresses of globals
	bank2         []byte  // literals and tables of indexed branches
	bank2Literals []int64 // offsets of the literals
	globals       []isa.Global
	texRefs       []isa.TexRef
	constRelocs   []isa.ConstReloc // addresses in constMem
	usesCC        bool
	apart         []map[*block]bool           // blocks that lanes of a warp may execute one group after another, a set for each branch
	whole         map[isa.Operand]bool        // registers that live only inside a predicated block: their guarded definitions are complete
	ready         map[isa.Operand]isa.Operand // constants that the current block has in registers
	barriers      int
	spillBytes    int64
	unspillable   map[int32]bool // dense numbers of registers made by spilling
	keepSpillable map[isa.Reg]bool
	syncs         []*block // reconvergence points that BSSY and SSY name
	errs          []error
	syms          map[*ptx.Var]*symbol // module-scope variables already placed
	locals        map[*ptx.Var]*symbol // local variables already placed in the frame
	madLo         madNote              // the last mad.lo.cc, until its madc.hi
	lastQuotient  quotient             // the last division of words
	link          *unitInfo            // the kernel's functions that are not inlined
	unit          int                  // number in link.units
	realCalls     bool                 // it makes calls of functions with a frame of their own
	privateCalls  bool                 // it makes calls of functions that become part of its code
	sites         []*callSite          // what CALL and RET do besides their operands
	conv          map[int]*convention  // how this unit calls private ones, by unit
	own           *convention          // of a private unit: its registers for parameters and results
	fixed         map[isa.Reg]int      // registers that must get a certain physical one
	joinTied      bool                 // register allocation merges them with others
	entries       []entry              // private functions in the unit's code
	from          *ptx.Instr           // of a routine that no PTX function stands for: the instruction that first needed it
	routine       func(x *expander, params, results []word)
	root          int                              // unit whose code a private one becomes part of
	incoming      int64                            // bytes of parameters and results on the stack
	localAlign    int64                            // alignment that local variables need
	localWidths   int                              // bytes of elements that local memory is accessed in, joined by or
	opaqueMoves   bool                             // Options.OpaqueMoves
	ccLive        bool                             // before Volta: an addc or madc may still read CC
	sizes         map[isa.SourcePos]statementCount // how much each PTX statement counts for unrolling
	firstRead     map[isa.Operand]isa.SourcePos    // words of constant bank 0 -> the first statement that reads them
}

// block is a basic block. Control falls through to the next block in layout order unless the last
// instruction is an unguarded BRA, BRX, RET or EXIT.
type block struct {
	label string
	insts []isa.Inst
	succs []*block
	preds []*block

	id        int      // index in reverse post-order after cfg analysis
	to        *block   // target of the terminating branch; nil: none
	table     []*block // targets of the terminating BRX, by index
	tableAt   int64    // where their addresses lie in constant bank 2
	idom      *block
	ipdom     *block
	depth     int   // loop nesting depth
	loop      *loop // innermost loop the block is in
	domDepth  int
	domFirst  int  // place in a walk of the dominator tree, from 1 on; 0: not numbered
	domEnd    int  // place behind the last block that it dominates
	afterCall bool // execution comes here from the call that ends the block before
	noUnroll  bool // .pragma "nounroll" stands at its start
	branches  bool // its branch belongs to an instruction that the compiler expands too late to predicate it
	unrolled  bool // the head of a loop of several rounds
	latch     bool // the way back to a loop's head of all lanes, which are gathered there
	meets     bool // all lanes meet in it before a barrier of the block
	many      bool // the head of a loop that had several blocks before short branches were predicated
	mark      int

	statements int          // what the compiler counts of the PTX in it, see statementSize
	partial    partialCount // the same where a loop's number of rounds is not known
}

// word is a 32-bit operand of a machine instruction: a virtual register, an immediate or a constant-bank word.
type word = isa.Operand

// Operand flags that exist only inside the package: the operand's register is the first of a tuple.
const (
	flagPair isa.OperandFlags = 1 << 30
	flagQuad isa.OperandFlags = 1 << 31
)

// modKeep marks an instruction that changes nothing (a PRMT that keeps the word) but that the real compiler leaves
// in its expansions; simplify passes it by. It exists only inside the package.
const modKeep isa.ModFlags = 1 << 63

// Values of Mod.Size that mean something inside the package only.
const (
	// sizeHalf, of a PRMT: nobody looks at the upper half of the result; ptxas removes two negations in a row, but not the
	// extension that follows. Of an IADD3: the low word of a 64-bit sum, which stays apart from a product only with its carry.
	// Of a LOP3: a 16-bit complement. Of a MOV, before loops are unrolled: it was a logic operation with a constant.
	sizeHalf uint8 = 2
	// sizeOperand, of a PRMT: the sign extension of an operand that a comparison of halves reads, which ptxas leaves out where the half is a
	// signed byte's already; the extension of a conversion stays.
	sizeOperand uint8 = 9
	// sizeUnpack, of a PRMT: it takes a half from a word for mov.b32 {x, y}.
	sizeUnpack uint8 = 3
	// sizeZero, of a PRMT: an extension with zeros, after which another is dropped. Of a LOP3: the extension of a 16-bit
	// number to 32 bits.
	sizeZero uint8 = 1
	// sizeCross, of an IMAD: the last of the cross products of a 64-bit product. Of a MOV: the zero that they are (see settleCross).
	sizeCross uint8 = 5
	// sizeAddend, of a MOV or IADD3: it puts the addend of an IMAD.HI together, which does not count where a branch is predicated.
	sizeAddend uint8 = 6
	// sizeChoice, of a SEL: it chooses between two sums that were one sum with a selection of constants (see selectSums).
	sizeChoice uint8 = 7
	// sizePass, of a MOV: it hands a value to a called function or takes one over from it; the register on the other side is
	// read or written by the call, whose operands do not name it.
	sizePass uint8 = 64
)

// modOpaque marks a MOV that the optimiser does not look through (Options.OpaqueMoves); it keeps what it moves even if
// nobody reads it. mergeOpaque and register allocation make its two sides one. It exists only inside the package.
const modOpaque isa.ModFlags = 1 << 60

// The package's own marks must not be bits that instructions use.
const _ = uint64(modOpaque - isa.ModFree)

// selector lowers one PTX instruction. It reports an instruction or modifier it does not know, or that the
// target cannot execute, as an error with the instruction's position (see errorf).
type selector func(b *builder) error

// The methods that selection rules are written with are in builder.go. Index i counts the instruction's
// operands as written from 0: the destination is operand 0. A method that fails (undefined name, wrong kind
// or width of operand) records its error in the builder and returns harmless operands, so rules need no checks; the
// driver reports the error after the rule returns.
