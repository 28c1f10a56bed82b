// Package isa is the machine-level instruction set of every NVIDIA generation smsim models:
// opcodes with their semantics on 32 lanes, operands, control information, programs, warps and
// functional memory. It knows nothing of timing, Akita or files.
//
// PTX is never executed: isa/lower turns it into the machine instructions of one target, and
// isa/sass reads them from a listing; both give a [Program], which [Warp.Step] executes.
package isa

// Reg numbers a register of one file: general (R), uniform (UR), predicate (P), uniform
// predicate (UP), convergence barrier (B) or special (SR). Numbers from VirtualBase up are
// virtual: they exist only inside isa/lower, before register allocation.
type Reg uint32

// Constant registers, whatever their number is in the generation's encoding.
const (
	RZ          Reg = 255 // reads 0, writes are dropped
	URZ         Reg = 255 // the same in the uniform file
	PT          Reg = 7   // reads true, writes are dropped (also UPT)
	VirtualBase Reg = 256
)

// OperandKind says which field of an Operand counts.
type OperandKind uint8

// Kinds of operands.
const (
	KindNone    OperandKind = iota
	KindReg                 // R: general register, 32 bit a lane
	KindUReg                // UR: uniform register, one value a warp
	KindPred                // P: predicate, one bit a lane
	KindUPred               // UP: uniform predicate
	KindImm                 // immediate; Imm holds the bits (float immediates: as float32 bits, or float64's high word)
	KindConst               // c[Bank][Reg + Imm]; Reg is RZ without index register
	KindMem                 // [Reg + UReg + Imm]; Wide64 when Reg is a 64-bit pair
	KindLabel               // Imm is the index of the target instruction in Program.Insts
	KindBarrier             // B: convergence barrier register; also the number of a named barrier as Imm
	KindSpecial             // SR: Reg holds a SpecialReg
)

// OperandFlags modify how a source is read.
type OperandFlags uint32

// Source modifiers.
const (
	Neg      OperandFlags = 1 << iota // arithmetic negation; on predicates: logical not
	Abs                               // absolute value (floating point), applied before Neg
	Inv                               // bitwise complement (~R)
	Reuse                             // operand stays in the reuse cache for the warp's next instruction
	Wide64                            // 64-bit value in Reg, Reg+1 (for KindMem: 64-bit base address; for KindUReg: pair)
	UWide64                           // KindMem: the uniform base is a 64-bit pair
	SelH0                             // low half (.H0, .H0_H0)
	SelH1                             // high half (.H1, .H1_H1)
	SelB1                             // byte selectors (.B1 .B2 .B3); none of SelB*/SelH*: whole word
	SelB2                             //
	SelB3                             //
	SelB0                             // byte 0 (.B0)
	HasUReg                           // KindMem, KindConst: UReg counts
	HasDesc                           // KindMem: a memory descriptor desc[Desc] precedes the address (no effect on the value)
	Sign                              // .SIGN: the sign bit, as a truth value (PLOP3)
	ScaleX4                           // KindMem: the base register counts 4-byte elements ([R2.X4])
	ScaleX8                           // 8-byte elements
	ScaleX16                          // 16-byte elements
	Base32                            // KindMem: the 32-bit base register is zero-extended ([R5.U32+UR4])
	Bindless                          // KindConst: cx[UReg][Imm], a constant bank described by a uniform register pair
	CCReg                             // the destination also writes the condition code, printed R0.CC (see ModCC)
)

// Operand is one source or destination.
type Operand struct {
	Kind  OperandKind
	Bank  uint8        // KindConst: constant bank
	Flags OperandFlags // how a source is read
	Reg   Reg          // register number; base (KindMem) or index register (KindConst)
	UReg  Reg          // KindMem, KindConst with HasUReg: uniform register added to the address
	Desc  Reg          // KindMem with HasDesc: uniform register of the memory descriptor
	Imm   int64        // immediate bits, byte offset or instruction index
}

// Is reports whether all of the given flags are set.
func (o *Operand) Is(f OperandFlags) bool { return o.Flags&f == f }

// Constructors for the operands that builders and tests write most.

// R is general register n.
func R(n Reg) Operand { return Operand{Kind: KindReg, Reg: n} }

// UR is uniform register n.
func UR(n Reg) Operand { return Operand{Kind: KindUReg, Reg: n} }

// P is predicate n.
func P(n Reg) Operand { return Operand{Kind: KindPred, Reg: n} }

// NotP is the complement of predicate n.
func NotP(n Reg) Operand { return Operand{Kind: KindPred, Reg: n, Flags: Neg} }

// I is a 32-bit immediate.
func I(v uint32) Operand { return Operand{Kind: KindImm, Imm: int64(v)} }

// C is the constant-bank word c[bank][offset].
func C(bank uint8, offset int64) Operand {
	return Operand{Kind: KindConst, Bank: bank, Reg: RZ, Imm: offset}
}

// Mem is the address [base + offset]; wide says that base is a 64-bit pair.
func Mem(base Reg, offset int64, wide bool) Operand {
	o := Operand{Kind: KindMem, Reg: base, Imm: offset}
	if wide {
		o.Flags |= Wide64
	}
	return o
}

// Label refers to the instruction at index i of the program.
func Label(i int) Operand { return Operand{Kind: KindLabel, Imm: int64(i)} }

// Control is the scheduling information that accompanies every instruction.
type Control struct {
	Stall uint8 // cycles until the warp may issue its next instruction; 0: together with the next one where the generation dual-issues
	// Yield is the encoded bit (bit 4 of the 21-bit control field, Volta: bit 109): 1 = stay with this
	// warp (greedy), 0 = the scheduler prefers another ready warp.
	Yield     bool
	WriteBar  uint8 // dependency barrier 0-5 set until the result is written; NoBar: none
	ReadBar   uint8 // dependency barrier 0-5 set until the sources are read; NoBar: none
	WaitMask  uint8 // bit i: wait until barrier i is clear
	DualIssue bool  // Kepler: issues together with the next instruction of the warp
}

// NoBar is the barrier number that means none.
const NoBar = 7

// Type is the interpretation of a value: signedness, width or floating format.
type Type uint8

// Value types, named as machine code and PTX name them.
const (
	TypeNone Type = iota
	U8
	S8
	U16
	S16
	U32
	S32
	U64
	S64
	U128
	F16
	BF16
	F32
	F64
	U16x2
	S16x2
	U8x4
	S8x4
	F16x2
	BF16x2
	B32
	B64
	TF32
	E4M3
	E5M2
)

// Cmp is a comparison.
type Cmp uint8

// Comparisons; the U forms are true for unordered floating-point operands.
const (
	CmpF Cmp = iota
	CmpLT
	CmpEQ
	CmpLE
	CmpGT
	CmpNE
	CmpGE
	CmpNum
	CmpNan
	CmpLTU
	CmpEQU
	CmpLEU
	CmpGTU
	CmpNEU
	CmpGEU
	CmpT
)

// BoolOp combines a comparison with the predicate source.
type BoolOp uint8

// Boolean combinations.
const (
	BoolAnd BoolOp = iota
	BoolOr
	BoolXor
)

// Round is a rounding mode.
type Round uint8

// Rounding modes: to nearest even, toward minus infinity, plus infinity, zero. The I forms round to integer in floating formats.
const (
	RN Round = iota
	RM
	RP
	RZero
)

// Sub selects the operation within an opcode that has several (MUFU.RCP, ATOM.ADD, SHFL.BFLY, ...).
type Sub uint8

// Sub-operations. One list for all opcodes; each opcode accepts its own few.
const (
	SubNone Sub = iota
	// Atomics, reductions (ATOM, ATOMS, RED, REDUX), min/max.
	SubAdd
	SubMin
	SubMax
	SubInc
	SubDec
	SubAnd
	SubOr
	SubXor
	SubExch
	SubCAS
	SubSafeAdd
	// LOP.
	SubPassB
	// SHFL.
	SubIdx
	SubUp
	SubDown
	SubBfly
	// VOTE, MATCH.
	SubAll
	SubAny
	SubEq
	// MUFU.
	SubRcp
	SubRsq
	SubLg2
	SubEx2
	SubSin
	SubCos
	SubSqrt
	SubTanh
	SubRcp64H
	SubRsq64H
	// PRMT modes.
	SubF4E
	SubB4E
	SubRC8
	SubECL
	SubECR
	SubRC16
	// BAR.
	SubSync
	SubArrive
	SubRedPopc
	SubRedAnd
	SubRedOr
	// IDP.
	Sub4A
	Sub2ALo
	Sub2AHi
	// XMAD: how c is used.
	SubCBCC
	SubCHI
	SubCLO
	SubCSFU
	// Video: secondary operation is SubAdd/SubMin/SubMax; averages:
	SubAvg
	SubAbsDiff
	SubSub
	SubShl
	SubShr
	SubSet
	SubMad
	SubTrap   // BPT
	SubGlobal // QSPC: the space
	SubShared
	SubLocal
	SubReconvergent // BSSY, BSYNC
	SubReliable     // BSSY, BSYNC, BREAK
	SubExclusive    // WARPSYNC: lanes with other masks wait for their turn
	SubCollective   // the same; ENDCOLLECTIVE ends the turn
	// Barriers in shared memory, see exec_mbarrier.go. ATOMS.ARRIVE.64; updates by SYNCS.ARRIVE.TRANS64 with no, one or a register's
	// number of arrivals (A0, A1, AR) and no, one or a register's number of bytes that are to come (T0, T1, TR) or have come (TX),
	// .OPTOUT of arrivals that later phases do not expect; tests; the end of the barrier; ARRIVES.LDGSTSBAR.
	SubMbArrive
	SubMbA0T1
	SubMbA0TR
	SubMbA0TX
	SubMbA1T0
	SubMbA1TR
	SubMbART0
	SubMbOutA1T0
	SubMbOutA1TR
	SubMbOutART0
	SubMbPhase
	SubMbTryWait
	SubMbEnd
	SubMbCopies    // the copies before are there: arrives on a barrier of compute capability 8.x
	SubMbCopiesArv // .ARVCNT: arrives
	SubMbCopiesTx  // .TRANSCNT: one byte of those to come has come
	NumSubs
)

// ModFlags are the on/off modifiers of an instruction.
type ModFlags uint64

// Modifiers.
const (
	ModX        ModFlags = 1 << iota // .X: adds the carry-in (predicate source, or CC before Volta)
	ModCC                            // writes the condition code CC (before Volta: R.CC)
	ModHI                            // .HI: upper half of the product / upper word of the shift
	ModWide                          // .WIDE / .64 arithmetic
	ModSat                           // .SAT
	ModFTZ                           // .FTZ
	ModWrap                          // .W: shift amount modulo width
	ModLeft                          // SHF.L, USHF.L
	ModRight                         // SHF.R
	ModRelu                          // .RELU
	ModMRG                           // XMAD.MRG
	ModPSL                           // XMAD.PSL
	ModSH                            // FLO.SH: shift amount instead of position
	ModBrev                          // BFE.BREV
	ModAcc                           // VABSDIFF.ACC, VABSDIFF4.ACC: adds the third source
	ModEX                            // ISETP.EX: high half of a 64-bit comparison
	ModPO                            // .PO: plus one
	ModE64                           // .E: 64-bit address
	ModMov                           // IMAD.MOV (alias: multiplier moves)
	ModShl                           // IMAD.SHL (alias)
	ModAdd                           // IMAD.IADD (alias)
	ModSX32                          // LEA.HI.SX32
	ModNTZ                           // F2I.NTZ
	ModMMA                           // HFMA2.MMA
	ModInt                           // FRND / F2F to integral value
	ModDeferBlk                      // BAR.SYNC.DEFER_BLOCKING
	ModConstant                      // LDG.CONSTANT (ld.global.nc)
	ModStrong                        // volatile / relaxed / gpu scope, LDGSTS.BYPASS: not served by L1
	ModTMask                         // SYNCS.ARRIVE.TMASK: the result's low word is the mask of the lanes that updated this barrier
	ModShr7                          // VMAD.SHR_7
	ModShr15                         // VMAD.SHR_15
	ModS                             // ".S" before Volta: pop the SSY/PBK/PCNT token after the instruction
	ModABS                           // CALL/JMP absolute
	ModREL                           // CALL/RET relative
	ModU                             // BRA.U / uniform hint
	ModMerge                         // video: merge into c at the destination selector
	ModRS                            // IADD3.RS (Maxwell, Pascal): ((a + b) >> 16) + c
	ModLS                            // IADD3.LS: ((a + b) << 16) + c
	ModPAND                          // LOP3.PAND: predicate result and Pc (else: or Pc)
	ModBF                            // ISET.BF, FSET.BF, PSET.BF: true is 1.0f instead of all ones
	ModNoInc                         // CALL.NOINC, RET.NODEC: return address is in a register, no call stack
	ModClear                         // BMOV.CLEAR
	ModDiv                           // BRA.DIV: taken if the warp's lanes are not all here
	ModConv                          // BRA.CONV
	ModXMED                          // IMNMX.XMED, .XHI, .XLO (64-bit min/max before Volta), see ModXHI, ModXLO
	ModXHI                           //
	ModXLO                           //
	ModSpin                          // ATOMS.CAST.SPIN
	ModPopcInc                       // ATOMS.POPC.INC: adds the number of lanes at one address
	ModPackAB                        // F2FP.PACK_AB
	ModPackB                         // F2FP.PACK_B, F2IP: merged with c
	ModNaN                           // .NAN: min and max return NaN if an operand is
	ModFMZ                           // .FMZ: 0 times anything is 0
	ModAllLanes                      // WARPSYNC.ALL
	ModSys                           // .SYS scope
	ModLU                            // LDL.LU: last use
	ModINV                           // CCTL.IV
	Mod32                            // CS2R.32
	ModLock                          // LDS: LDSLK, takes the lock of the address; STS: STSUL, STSCUL, gives it back (before Maxwell)
	ModCTA                           // .CTA or .SM scope: MEMBAR orders for the block only, a strong load may hit L1
	ModFree                          // the first bit without a meaning here: isa/lower marks instructions with those from 60 on
)

// Mod holds an instruction's modifiers beside its opcode.
type Mod struct {
	Type  Type // operation or first source / result type
	BType Type // second type: source of a conversion, type of b in IDP, XMAD and video
	DType Type // video: type of the destination (U32 prints .UD, S32 .SD); none: S32
	Cmp   Cmp
	Bool  BoolOp
	Bool2 BoolOp // PSETP, PSET: second combination, (a Bool b) Bool2 c
	Round Round
	Sub   Sub
	Sub2  Sub    // video: secondary operation; DSETP: SubMin, SubMax
	Size  uint8  // memory: bytes a lane (1, 2, 4, 8, 16); U8/S8/U16/S16 extension by Type
	Lut   uint8  // LOP3, PLOP3: truth table
	Lut2  uint8  // PLOP3: truth table of the second destination
	ASel  uint16 // SIMD video: nibble i is 8 + the byte (or half) of {b, a} that is lane i of a; 0: lane i of a itself (0xba98, 0x98)
	BSel  uint16 // the same of b; 0: lane i of b (0xfedc, 0xba)
	DSel  uint8  // video: destination selector (0 word, 1-4 bytes .B0-.B3, 5-6 halves .H0 .H1) or lane mask of SIMD forms
	Flags ModFlags
	Tex   TexForm // texture and surface instructions
	// Assumed is the class of a NOP that stands for an instruction that is not known; ClassNone: a real NOP.
	Assumed Class
}

// TexForm is what a texture or surface instruction says beside its operands. It has a Dim in the form of listings: the results are
// Dst[1] and Dst[0] (two components each), the sources are the coordinates, what goes with them, and the handle: c[bank][4 * word],
// or a uniform register and an offset. Lowered code has no Dim; see decTEX.
type TexForm struct {
	Dim     TexDim
	Mask    uint8 // components of the result
	Scatter bool  // .SCR: the coordinates are spread over both coordinate operands
	Level   uint8 // 1: .LL, a level is the last of them; 2: .LZ, level zero; 3: .LB, a bias
	Channel uint8 // TLD4: component
	Bounds  uint8 // surfaces: TexTrap, TexZero, TexClamp
}

// TexDim is the shape of an image; TexSize asks for it (TXQ).
type TexDim uint8

// Shapes. Of arrays only the first layer exists; three-dimensional images are read but not executed.
const (
	TexNone TexDim = iota
	Tex1D
	Tex2D
	Tex3D
	Tex1DArray
	Tex2DArray
	TexSize
)

// What a surface access outside of the image does.
const (
	TexTrap  uint8 = iota // ends the kernel
	TexZero               // reads zero, stores nothing
	TexClamp              // goes to the nearest texel
)

// TexDims are the names of the shapes in listings.
var TexDims = [...]string{Tex1D: "1D", Tex2D: "2D", Tex3D: "3D", Tex1DArray: "ARRAY_1D", Tex2DArray: "ARRAY_2D", TexSize: "TEX_HEADER_DIMENSION"}

// layered says that the first coordinate is the layer; coords is the number of coordinates with it.
func (d TexDim) layered() bool { return d == Tex1DArray || d == Tex2DArray }

func (d TexDim) coords() int { return [...]int{0, 1, 2, 3, 2, 3, 0}[d] }

// Has reports whether all of the given modifiers are set.
func (m *Mod) Has(f ModFlags) bool { return m.Flags&f == f }

// SourcePos is where an instruction comes from. Line and Col refer to the PTX or SASS text;
// CULine and CUFile to the CUDA source if the text carried .loc or line information.
type SourcePos struct {
	Line, Col int32
	CUFile    int16 // index into Program.Files, -1: none
	CULine    int32
}

// Limits of the operand arrays of an instruction.
const (
	MaxDst = 3
	MaxSrc = 7
)

// Inst is one machine instruction. Sources and destinations stand in the order in which
// nvdisasm prints them, without the modifiers that became fields of Mod.
// Omitted optional predicates (carry-in, second destination) are PT and stand in the array.
type Inst struct {
	Op    Op
	NDst  uint8
	NSrc  uint8
	Guard Operand // KindPred or KindUPred (Neg for @!P); KindNone: always
	Dst   [MaxDst]Operand
	Src   [MaxSrc]Operand
	Mod   Mod
	Ctrl  Control
	PC    uint32 // byte address within the function
	Pos   SourcePos
}
