package isa

// This file is the reference for whoever builds instructions (isa/lower, isa/sass): which operands each
// opcode takes, in which order, and which fields of Mod count. Check and the decoder enforce it.
//
// # General rules
//
// Operands stand in nvdisasm's order. Destinations are told apart by kind: the general (or uniform) register
// results in order, the predicate results in order; so LOP3 may be built with Dst = [Rd, Pd] or [Pd, Rd].
// Among sources, value operands and predicate operands are likewise separate sequences. A missing trailing
// operand has its neutral value: predicate result dropped, carry-in false, combining predicate true, addend 0.
// A predicate source PT is true, P(PT) with Neg (!PT) is false. RZ as destination drops the result.
//
// Value sources may be KindReg, KindUReg, KindImm (32 bits; where the operation is 64 bits wide Imm
// is the 64-bit number, so -1 is Imm: -1, not I(0xffffffff)),
// KindConst (c[bank][offset], pre-read at Bind), with Neg, Inv and, where the table says so, half or byte selectors.
//
// 64-bit operands are register pairs Rn, Rn+1 (low first): the operand names the low register, flag Wide64 is
// allowed but not needed (the opcode decides). A 64-bit constant reads two words.
//
// Mod.Type TypeNone means S32 for integer operations whose result depends on signedness. U32 prints ".U32".
// Uniform opcodes (UIADD3 ...) are their vector twin on KindUReg and KindUPred operands, same order and Mod.
// Vector instructions may read a KindUReg source; uniform ones read KindUReg, KindImm, KindConst only.
//
// # Adders
//
//	IADD3  Rd, P, Q = Ra, Rb, Rc [, Pc, Qc]   P/Q: carry-outs (P: sum >= 2^32, Q: sum >= 2^33). Neg is ~x+1 with the +1
//	        inside the carry: a-b is IADD3(a, -b, RZ), P true when no borrow. With ModX the carry-ins Pc, Qc (default
//	        false) are added; use Inv, not Neg, for the high words: IADD3.X(hi_a, ~hi_b, RZ, P, !PT).
//	        ModRS/ModLS (Maxwell, Pascal): ((a+b) >> 16) + c with a 33-bit sum (of signed words with Type S32), ((a+b) << 16) + c;
//	        SelH0/SelH1 select halves.
//	IADD   Rd = Ra, Rb        before Volta; ModCC writes CC, ModX adds CC.CF, ModSat clamps to S32, ModPO adds 1.
//	        sm_120: also P result, ModWide (IADD.64: pairs) and ModX with a predicate source Pc.
//	IADD32I Rd = Ra, imm      ISUB Rd = Ra, Rb (a-b)
//	VIADD  Rd = Ra, Rb        Mod.Type U16x2/S16x2/U8x4/S8x4 per lane (wrapping), ModSat: .ISAT clamps (S32 or per lane)
//	IABS   Rd = Ra
//	LEA    Rd, P = Ra, Rb, shift            (a << shift) + b, P carry-out; Neg on b allowed; ModX adds Pc
//	LEA.HI Rd, P = Ra, Rb, Rc, shift [, Pc] ({c,a} << shift)[63:32] + b
//	LEA.HI.SX32 Rd = Ra, Rb, shift [, Pc]   c is the sign of a (ModHI|ModSX32)
//	ISCADD Rd = Ra, Rb, shift               before Volta
//	        Before Volta IADD3, LEA and ISCADD take ModCC and ModX as IADD does; ISUB with ModX complements b.
//
// # Multipliers
//
//	IMAD   Rd = Ra, Rb, Rc [, Pc]     low 32 bits; ModX adds Pc. Aliases print by flag: ModMov (RZ,RZ,c), ModShl (a, imm 2^n, RZ), ModAdd (a, 1, c)
//	IMAD.WIDE Rd(pair), P = Ra, Rb, Rc(pair) [, Pc]     ModWide; P carry-out of the 64-bit sum; U32 or S32 by Type
//	IMAD.HI   Rd, P = Ra, Rb, Rc      ModHI. FROM VOLTA ON Rc IS A PAIR: result = (a*b + {Rc+1,Rc})[63:32]; RZ: plain mul.hi.
//	          Before Volta Rc is 32 bits: a*b[63:32] + c. ModSat clamps that sum (mad.hi.sat). ModCC/ModX use CC.
//	IMUL   Rd = Ra, Rb                before Maxwell; ModHI. Type: a, BType: b (TypeNone S32)
//	IMUL24, IMAD24                    compute capability 1.x: 24-bit factors (signed by Type), low 32 bits; ModHI bits 47..16
//	XMAD   Rd = Ra, Rb, Rc            SelH1 on a, b picks the upper half (none: lower); Type, BType: U16 (or none) / S16;
//	          ModPSL: product << 16; Sub: SubCBCC c += b<<16, SubCHI c>>16, SubCLO c&0xffff, SubCSFU c -= 0x10000 per negative half whose partner register's low half is not 0;
//	          SelH1 on c with SubCHI is not needed. ModMRG: result[31:16] = b[15:0] (whole b register). ModCC, ModX use CC.
//	IDP    Rd = Ra, Rb, Rc            Sub4A: Type U8/S8 (a), BType U8/S8 (b). Sub2ALo, Sub2AHi: Type U16/S16, BType U8/S8
//
// # Logic, shifts, selection
//
//	LOP3   Rd [, Pd] = Ra, Rb, Rc [, Pc]     Mod.Lut, index 4a+2b+c; Pd = (d != 0) or Pc (ModPAND: and Pc). Pc default: neutral
//	LOP    Rd [, Pd] = Ra, Rb                Sub: SubAnd, SubOr, SubXor, SubPassB, with Inv. Pd by Mod.Cmp: CmpNE (.NZ), CmpEQ (.Z). LOP32I the same
//	PLOP3  Pd, Pq = Pa, Pb, Pc               Mod.Lut for Pd, Mod.Lut2 for Pq. A KindReg source with flag Sign is the register's sign bit
//	PSETP  Pd, Pq = Pa, Pb, Pc               (a Bool b) Bool2 c; Pq = (!(a Bool b)) Bool2 c. PSET Rd = Pa, Pb, Pc
//	SHF    Rd = Ra(lo), Rb(amount), Rc(hi)   ModLeft or ModRight. From Volta on: result is the low word of the shifted
//	          {c,a}, with ModHI the high word. Type U32/S32: amount clamps at 32; U64/S64: at 64; ModWrap: modulo 32 (64).
//	          shl.b32: SHF.L.U32 Rd, a, n, RZ. shr.u32: SHF.R.U32.HI Rd, RZ, n, a. shr.s32: SHF.R.S32.HI Rd, RZ, n, a.
//	          Before Volta: L gives the high word, R the low word, whatever ModHI.
//	SHL, SHR Rd = Ra, Rb                     before Volta; clamp at 32, ModWrap modulo 32; SHR Type U32 or S32 (none)
//	PRMT   Rd = Ra, selector, Rc             generic, or Sub: SubF4E SubB4E SubRC8 SubECL SubECR SubRC16 (mode by selector & 3)
//	SEL    Rd = Ra, Rb, P                    p ? a : b. SEL.64 with ModWide. FSEL the same
//	ICMP   Rd = Ra, Rb, Rc                   (c Cmp 0) ? a : b, Type of c
//	ISETP  Pd, Pq = Ra, Rb, Pc [, Pe]        Pd = (a Cmp b) Bool Pc, Pq = !(a Cmp b) Bool Pc; Type U32, S32 (none), U64, S64 (pairs).
//	          ModEX (Volta on): high words, Pe is the UNSIGNED comparison of the low words with the same Cmp
//	          (for EQ and NE: with the same Cmp too). ModX (before Volta): continues a subtraction that wrote CC.
//	ISET   Rd = Ra, Rb, Pc                   all ones / 0, ModBF: 1.0f / 0
//	IMNMX, VIMNMX Rd = Ra, Rb, P             p ? min : max. Type; U64/S64 pairs (sm_120). VIMNMX: ModRelu, 16x2 and 8x4 types;
//	          two predicate results for 16x2 (low, high half: a was chosen), one for 32 bits
//	VIMNMX3 Rd = Ra, Rb, Rc, P               VIADDMNMX Rd = Ra, Rb, Rc, P: p ? min(a+b, c) : max(a+b, c). ModRelu, 16x2 types
//	MOV    Rd = a     (MOV.64 with ModWide)  MOV32I Rd = imm
//	SGXT   Rd = a, n                         Type U32 or S32 (none), ModWrap
//	BMSK   Rd = pos, width                   ModWrap
//	BFE    Rd = a, pos | len<<8              Type U32 or S32 (none); ModBrev reverses a first.   BFI Rd = insert, pos | len<<8, base
//	POPC   Rd = a [, mask]                   Inv allowed.  BREV Rd = a
//	FLO    Rd [, P] = a                      bfind; Type U32 or S32 (none), ModSH: shift amount; Inv allowed; P: nothing found
//	P2R    Rd = PR|CC.., a, mask             Src = [a, mask]: d = (a &^ mask) | (predicates & mask); SelB1.. on a place at byte n
//	R2P    = a, mask                         predicates named by mask take the bits of a (SelB1.. on a: of that byte)
//	CSET, CSETP                              condition code test: Mod.Cmp on CC, Bool with Pc
//
// # Video (Fermi to Pascal; VABSDIFF, VABSDIFF4 also later)
//
//	VADD VSUB VABSDIFF VMNMX VSHL VSHR VSET Rd = a, b, c    Type and BType: U8..S32 with SelB0..3/SelH0/SelH1 on the operands
//	          (8- and 16-bit types without selector take the lowest part). DType U32/S32: type of the result, S32 if none.
//	          VADD with Neg on b subtracts. VMNMX: Sub SubMin/SubMax. VSET: Mod.Cmp. VSHL/VSHR: ModWrap.
//	          ModSat. Then one of: nothing; Sub2 SubAdd (.ACC), SubMin, SubMax with c; or ModMerge: into c at DSel
//	          (1-4 bytes .B0-.B3, 5-6 halves .H0 .H1). VSETP Pd, Pq = a, b, Pc.
//	VABSDIFF from Volta on: Rd = |a-b| + c, Type U32/S32. VABSDIFF4 from Volta on: Rd = a, b, c: ModAcc: c + sum of
//	          byte differences; without: differences per byte. Type U8 or S8 (none).
//	VMAD   Rd = a, b, c       Type, BType with selectors, Neg on a or b (product) or c, ModPO, ModShr7, ModShr15, ModSat
//	VADD2 VSUB.. VMNMX2 VSET2 VAVRG2 VABSDIFF2, VADD4 ..    Type/BType U16/S16 (U8/S8): signedness of a, b; DType: of the lanes.
//	          Neg on b subtracts. ASel, BSel pick lanes. DSel: lane mask (0: all), other lanes from c. Listings show them as R2.B7310, R0.H1.
//	          Sub2 SubAdd or ModAcc: sum of the lanes named by DSel + c. ModSat per lane.
//
// # Floating point
//
//	FADD FMUL FFMA Rd = a, b [, c]    Neg, Abs on sources, Round, ModFTZ, ModSat, ModFMZ.  DADD DMUL DFMA on pairs
//	HADD2 HMUL2 HFMA2 Rd = a, b [, c] halves; SelH0 on a source: both lanes from its low half (.H0_H0), SelH1 the high half;
//	          Type F16x2 (none), BF16x2 (.BF16_V2); HADD2 with Type F32 (HADD2.F32 Rd, -RZ, Ra.H0_H0): the half as single. HFMA2 with an immediate pair: HFMA2 Rd, -RZ, RZ, hi, lo is
//	          Src = [a, b, imm] with imm = hi<<16 | lo; ModRelu, ModSat, ModFTZ
//	FSETP  Pd, Pq = a, b, Pc          Cmp (LTU.. unordered), Bool.  DSETP, HSETP2 (Pd: low half, Pq: high half) the same
//	DSETP  Pd, Pq = a, b, Pc          Sub2 SubMin, SubMax: a is the result; both are no numbers
//	FSET   Rd = a, b, Pc   FCMP Rd = a, b, c (c Cmp 0)   FCHK Pd = a, b
//	FMNMX DMNMX HMNMX2 Rd = a, b, P   ModNaN, ModFTZ
//	MUFU   Rd = a                     Sub: SubRcp SubRsq SubLg2 SubEx2 SubSin SubCos SubSqrt SubTanh SubRcp64H SubRsq64H; Type F16 halves; ModFTZ. SIN/COS
//	          take the argument in radians times 1/(2*pi) from Volta on (FMUL.RZ by 0.15915494 first); before Volta after RRO
//	I2F    Rd = a                     Type: destination F16 F32 (none) F64, BType: source U8..S64 (none S32), SelB*/SelH1 on a, Round
//	F2I    Rd = a                     Type: destination U8..S64 (none S32), BType: source F16 F32 (none) F64, Round (RZero: .TRUNC, RM .FLOOR, RP .CEIL), ModNTZ, ModFTZ
//	F2F    Rd = a                     Type: destination, BType: source; Round, ModInt (to integral), ModSat, ModFTZ.  FRND: ModInt implied
//	I2I    Rd = a                     Type: destination, BType: source, ModSat; Abs/Neg on a (before Volta: abs.s32)
//	I2IP   Rd = a, b, c               pack: Type destination lane (U8, S8, U16, S16), saturates a and b (BType: their type). 16 bits: a<<16 | b; 8 bits: c<<16 | a<<8 | b
//	I2FP   Rd = a                     BType U32/S32 to F32
//	F2FP   Rd = a, b                  Type F16x2 (none)/BF16x2; d = {a: high, b: low} (ModPackAB); ModRelu, Round
//	F2IP   Rd = a, b, c               the same from single precision, Round and NaN as F2I
//
// # Uniform datapath
//
//	R2UR [P,] URd = Ra (first active lane; P: this lane's is another)    S2UR URd = SR    UMOV URd = a    ULDC/LDCU URd = c[bank][UR + off], Mod.Size 4, 8, 16
//	UP2UR, UR2UP like P2R, R2P
//
// # Memory
//
//	LD LDG LDS LDL LDC LDU Rd = [mem]    Mod.Size bytes a lane (1, 2, 4, 8, 16), Type U8 S8 U16 S16 extends; Size 8, 16: Rd is 2, 4 registers.
//	          KindMem: Reg (+ Wide64: 64-bit pair), UReg with HasUReg (a pair where the address has 64 bits, or with UWide64), Imm, ScaleX4.. of the base register. LDC takes a KindConst source
//	          with an index register in Reg.  Global addresses without Wide64 (32-bit ABI, ModE64 clear) are zero-extended
//	ST STG STS STL = [mem], Rdata        Src = [mem, data]
//	ATOM ATOMG ATOMS [P,] Rd = [mem], Rb [, Rc]   Sub: SubAdd .. SubExch, SubCAS (Rb compare, Rc new; before Volta one tuple Rb: compare, new); Type U32 (none) S32
//	          U64 S64 F32 F16x2 BF16x2 F64 B32 B64, U16 (CAS); Mod.Size 4 or 8 (2).  RED = [mem], Rb
//	ATOM ATOMS Rd = [mem]                    SubMbArrive, Mod.Size 8: arrives on a barrier in shared memory (exec_mbarrier.go)
//	SYNCS Rd(pair) = [mem], Rb               SubMbA0T1 .. SubMbOutART0, ModTMask: such a barrier from sm_90 on, Rd: its content before. SubExch: Rb pair
//	SYNCS P = [mem], Rb                      SubMbPhase, SubMbTryWait: the parity of the phase is not bit 31 of Rb.  SYNCS = [mem]  SubMbEnd: no effect
//	ARRIVES = [mem]                          SubMbCopies, from sm_90 on SubMbCopiesArv, SubMbCopiesTx
//	LDGSTS = [shared], [global]          Mod.Size 4, 8, 16; optional predicate source: zero fill when false
//	CCTL MEMBAR FENCE ERRBAR DEPBAR LDGDEPBAR TEXDEPBAR: operands are kept for printing, no effect on values
//
// # Warp
//
//	SHFL [P,] Rd = a, b, c     Sub SubIdx SubUp SubDown SubBfly; c = segment mask<<8 | clamp, as PTX
//	VOTE [Rd,] [P] = Pa        Sub SubAll SubAny SubEq; Rd: ballot.  VOTEU the same to UR, UP
//	MATCH [P,] Rd = a          Sub SubAny or SubAll; Type U64: of pairs
//	REDUX URd = a              Sub SubAdd SubMin SubMax SubAnd (none) SubOr SubXor; Type.  CREDUX: SubMin, SubMax
//	ELECT P, [URd]             the lowest active lane
//	S2R CS2R Rd = SR           CS2R: pair unless Mod32; SRZ gives zeros
//
// # Control
//
//	BRA = [Pa,] label          lanes with guard and Pa go.  BRX = Ra [, imm]: byte address within the function Ra + imm, ModREL: plus the next PC
//	JMP = label                JMX like BRX (absolute)
//	CALL = label               without ModNoInc: pushes the return address (before Volta: CAL). With ModNoInc (CALL.REL.NOINC) nothing is pushed
//	RET                        without sources: pops it. RET.REL.NODEC = Ra(pair) [, imm]: jumps to byte address Ra + imm
//	EXIT, KILL                 guard says which lanes end
//	BSSY = B, label            BSYNC = B     BREAK = [Pa,] B     BMOV Rd = B, B = Ra (KindBarrier destination), ModClear
//	WARPSYNC = mask            (or ModAllLanes)    ENDCOLLECTIVE    YIELD   NANOSLEEP = ns
//	SSY PBK PCNT PRET = label  SYNC BRK CONT RET: pop.  ModS on any instruction pops like SYNC after it
//	BAR = id [, threads] [, P] Sub SubSync SubArrive SubRedPopc SubRedAnd SubRedOr; the reduction's result is read by
//	          B2R.RESULT [Rd,] [P]; a destination of BAR itself also takes it
//	LEPC Rd(pair)              byte address of this instruction
//
// Labels are Label(i), i an index into Program.Insts (len(Insts) is not allowed).
