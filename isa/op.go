package isa

// Op is a machine opcode without its modifiers.
type Op uint16

// Opcodes, named as nvdisasm names them. A comment gives the operation in the order
// destinations = sources that Inst.Dst and Inst.Src use.
const (
	OpNone      Op = iota
	OpIADD         // d = a + b (.X adds CC or carry predicate, .SAT, .CC)
	OpIADD32I      // d = a + imm
	OpISUB         // d = a - b
	OpIADD3        // {d, p, q} = a + b + c + carry p + carry q
	OpIMUL         // d = a * b (.HI, .U32/.S32 through Type, BType)
	OpIMUL24       // d = low 32 of 24 x 24
	OpIMAD24       // d = low 32 of 24 x 24, + c
	OpIMAD         // d = a * b + c (.HI, .WIDE, .X, .MOV, .SHL, .IADD)
	OpXMAD         // d = a.h * b.h + c (16 x 16 + 32)
	OpIDP          // d = c + dot(a, b) (.4A, .2A.LO, .2A.HI)
	OpVIADD        // d = a + b
	OpISCADD       // d = (a << imm) + b
	OpLEA          // d = (a << imm) + b (.HI: upper half of {c,a} << imm, plus b; .X carry)
	OpISAD         // d = |a - b| + c
	OpVABSDIFF     // d = |a - b| (+ c)
	OpVABSDIFF2    // halves: |a - b|
	OpVABSDIFF4    // bytes: sum of |a - b| + c, or per byte
	OpIABS         // d = |a|
	OpIMNMX        // d = pred ? min(a,b) : max(a,b)
	OpVIMNMX       // d = pred ? min(a,b) : max(a,b) (.RELU, .S16x2, .U16x2)
	OpVIMNMX3      // three-way min/max
	OpVIADDMNMX    // d = pred ? min(a+b,c) : max(a+b,c)
	OpLOP          // d = a op b (Sub: AND OR XOR PASS_B)
	OpLOP32I       // d = a op imm
	OpLOP3         // d = lut(a, b, c), p = d != 0
	OpPLOP3        // {p, q} = lut(pa, pb, pc), lut2(...)
	OpPSETP        // {p, q} = (pa op pb) op pc
	OpPSET         // d = (pa op pb) op pc ? ~0 : 0
	OpSHL          // d = a << b
	OpSHR          // d = a >> b
	OpSHF          // funnel shift of {c, a} by b
	OpPRMT         // bytes of {c, a} selected by b
	OpSEL          // d = p ? a : b
	OpFSEL         // d = p ? a : b
	OpICMP         // d = (c cmp 0) ? a : b
	OpMOV          // d = a
	OpMOV32I       // d = imm
	OpISETP        // p = (a cmp b) op pc, q = !(a cmp b) op pc
	OpISET         // d = (a cmp b) op pc ? ~0 (or 1.0) : 0
	OpSGXT         // sign or zero extension of the low b bits
	OpBMSK         // b ones from bit a
	OpBFE          // bit field extract (pos in b[7:0], len in b[15:8]); .BREV reverses first
	OpBFI          // bit field insert
	OpBREV         // bit reverse
	OpPOPC         // population count
	OpFLO          // find leading one (.SH shift amount)
	OpP2R          // predicates to register
	OpR2P          // register to predicates
	OpCSET         // d from condition code
	OpCSETP        // p from condition code
	OpVADD         // scalar video add
	OpVSUB         // scalar video subtract (VADD with negated source in listings)
	OpVMNMX        // scalar video min/max
	OpVSHL         // scalar video shift left
	OpVSHR         // scalar video shift right
	OpVSET         // scalar video compare
	OpVSETP        // scalar video compare to predicate
	OpVMAD         // scalar video multiply-add
	OpVADD2        // SIMD video, halves
	OpVMNMX2       // SIMD video, halves
	OpVSET2        // SIMD video, halves
	OpVAVRG2       // SIMD video, halves: average (VADD2 with .AVG)
	OpVADD4        // SIMD video, bytes
	OpVMNMX4       // SIMD video, bytes
	OpVSET4        // SIMD video, bytes
	OpVAVRG4       // SIMD video, bytes: average
	OpFADD         // floating-point add
	OpFMUL         // floating-point multiply
	OpFFMA         // fused multiply-add
	OpFMAD         // multiply-add of compute capability 1.x: the product is truncated
	OpFSETP        // floating-point compare to predicate
	OpFSET         // floating-point compare to register
	OpFCMP         // floating-point compare and select
	OpFCHK         // division range check
	OpFMNMX        // floating-point min/max
	OpMUFU         // reciprocal, square root, logarithm, ...
	OpRRO          // range reduction before MUFU
	OpHADD2        // half2 add
	OpHMUL2        // half2 multiply
	OpHFMA2        // half2 fused multiply-add
	OpHSETP2       // half2 compare to predicates
	OpHSET2        // half2 compare
	OpHMNMX2       // half2 min/max
	OpDADD         // double add
	OpDMUL         // double multiply
	OpDFMA         // double fused multiply-add
	OpDSETP        // double compare to predicate
	OpDMNMX        // double min/max
	OpI2F          // integer to floating point
	OpF2I          // floating point to integer
	OpF2F          // floating point to floating point
	OpFRND         // round to integral value
	OpI2I          // integer to integer, saturating
	OpI2IP         // pack two saturated integers
	OpI2FP         // integer to float at ALU rate
	OpF2FP         // pack two floats into halves
	OpF2IP         // float to packed integer
	OpS2R          // special register to register
	OpCS2R         // special register to register, fast path (pair: zero or clock)
	OpLDC          // load from constant bank
	OpR2UR         // register to uniform register
	OpS2UR         // special register to uniform register
	OpCS2UR        // special register to uniform register, fast path (pair: zero or clock)
	OpQSPC         // p = generic address lies in the space: .G global, .S shared, .L local
	OpUIADD3       // uniform IADD3
	OpUIMAD        // uniform IMAD
	OpULOP3        // uniform LOP3
	OpUSHF         // uniform SHF
	OpULEA         // uniform LEA
	OpUMOV         // uniform MOV
	OpUSEL         // uniform SEL
	OpUISETP       // uniform ISETP
	OpUPLOP3       // uniform PLOP3
	OpUPRMT        // uniform PRMT
	OpUSGXT        // uniform SGXT
	OpUBMSK        // uniform BMSK
	OpUPOPC        // uniform POPC
	OpUFLO         // uniform FLO
	OpUBREV        // uniform BREV
	OpUP2UR        // uniform predicates to uniform register
	OpUR2UP        // uniform register to uniform predicates
	OpUVIADD       // uniform VIADD
	OpUVIMNMX      // uniform VIMNMX
	OpUIABS        // uniform IABS
	OpUI2F         // uniform integer to float
	OpUF2I         // uniform float to integer
	OpUFADD        // uniform float add
	OpUFMUL        // uniform float multiply
	OpUFFMA        // uniform float multiply-add
	OpUFMNMX       // uniform FMNMX
	OpUFSEL        // uniform FSEL
	OpUFSETP       // uniform FSETP
	OpUFRND        // uniform FRND
	OpUF2F         // uniform F2F
	OpUF2FP        // uniform F2FP
	OpULDC         // uniform load from constant bank
	OpLDCU         // uniform load from constant bank
	OpSHFL         // warp shuffle
	OpVOTE         // warp vote
	OpVOTEU        // warp vote to uniform registers
	OpMATCH        // lanes with equal values
	OpREDUX        // warp reduction to uniform register
	OpCREDUX       // warp min/max reduction to uniform register
	OpELECT        // elect one lane
	OpLD           // generic load
	OpST           // generic store
	OpLDG          // global load
	OpSTG          // global store
	OpLDU          // uniform load
	OpLDS          // shared load
	OpSTS          // shared store
	OpLDL          // local load
	OpSTL          // local store
	OpATOM         // generic atomic
	OpATOMG        // global atomic
	OpATOMS        // shared atomic
	OpSYNCS        // barrier in shared memory: old = [a], updated with arrivals and bytes; or p = its phase has ended
	OpARRIVES      // arrival on a barrier in shared memory when the copies before are there
	OpRED          // reduction without return
	OpLDGSTS       // asynchronous copy global to shared
	OpTEX          // texture fetch
	OpTLD          // texture load
	OpTLD4         // texture gather: one component of the four texels around a point
	OpTXD          // texture fetch with derivatives
	OpTXQ          // size of a texture
	OpSULD         // surface load
	OpSUST         // surface store
	OpCCTL         // cache control
	OpMEMBAR       // memory barrier
	OpFENCE        // memory fence
	OpERRBAR       // error barrier
	OpLDGDEPBAR    // async copy group commit
	OpDEPBAR       // wait for a dependency barrier count
	OpTEXDEPBAR    // wait for textures
	OpBRA          // branch
	OpBRX          // indexed branch
	OpJMP          // absolute jump
	OpJMX          // absolute indexed jump
	OpCALL         // call
	OpRET          // return
	OpPRET         // push return address
	OpEXIT         // end of the thread
	OpKILL         // end of the thread
	OpBSSY         // set convergence barrier
	OpBREAK        // leave convergence barrier
	OpBMOV         // move convergence barrier
	OpBSYNC        // wait at convergence barrier
	OpSSY          // push reconvergence point
	OpPBK          // push break point
	OpPCNT         // push continue point
	OpSYNC         // pop reconvergence point
	OpBRK          // pop break point
	OpCONT         // pop continue point
	OpWARPSYNC     // reconverge lanes of a mask
	OpYIELD        // prefer another divergent path
	OpNANOSLEEP    // sleep
	OpBAR          // block barrier
	OpB2R          // barrier state to register
	OpLEPC         // address of this instruction
	OpBPT          // breakpoint; .TRAP ends the kernel with an error
	OpNOP          // nothing

	OpENDCOLLECTIVE // end of what WARPSYNC.COLLECTIVE gathered its lanes for

	NumOps
)

// span is a range of targets (compute capability without the dot), both ends included.
type span struct{ from, to int }

// opRow is what is known of an opcode without its modifiers.
type opRow struct {
	name    string
	class   Class // without modifiers; Inst.Class refines it
	targets []span
}

// opTable has one row per opcode: name, class, targets that have it.
// Source: opcode lists and lowerings per generation (docs/model.md, "Opcodes").
var opTable = [NumOps]opRow{
	OpIADD:      {"IADD", ClassIADD, []span{{10, 62}, {120, 121}}},
	OpIADD32I:   {"IADD32I", ClassIADD, []span{{10, 62}}},
	OpISUB:      {"ISUB", ClassIADD, []span{{20, 37}}},
	OpIADD3:     {"IADD3", ClassIADD3, []span{{50, 999}}},
	OpIMUL:      {"IMUL", ClassIMAD, []span{{20, 21}, {30, 37}}},
	OpIMUL24:    {"IMUL24", ClassIMUL24, []span{{10, 13}}},
	OpIMAD24:    {"IMAD24", ClassIMUL24, []span{{10, 13}}},
	OpIMAD:      {"IMAD", ClassIMAD, []span{{20, 999}}},
	OpXMAD:      {"XMAD", ClassXMAD, []span{{50, 62}}},
	OpIDP:       {"IDP", ClassIDP, []span{{61, 61}, {70, 999}}},
	OpVIADD:     {"VIADD", ClassVIADD, []span{{90, 999}}},
	OpISCADD:    {"ISCADD", ClassLEA, []span{{10, 62}}},
	OpLEA:       {"LEA", ClassLEA, []span{{50, 999}}},
	OpISAD:      {"ISAD", ClassVABSDIFF, []span{{10, 62}}},
	OpVABSDIFF:  {"VABSDIFF", ClassVABSDIFF, []span{{20, 103}}},
	OpVABSDIFF2: {"VABSDIFF2", ClassVABSDIFF4, []span{{30, 37}}},
	OpVABSDIFF4: {"VABSDIFF4", ClassVABSDIFF4, []span{{30, 110}}},
	OpIABS:      {"IABS", ClassIABS, []span{{70, 999}}},
	OpIMNMX:     {"IMNMX", ClassIMNMX, []span{{20, 62}, {72, 89}, {120, 121}}},
	OpVIMNMX:    {"VIMNMX", ClassIMNMX, []span{{90, 999}}},
	OpVIMNMX3:   {"VIMNMX3", ClassVIMNMX3, []span{{90, 110}}},
	OpVIADDMNMX: {"VIADDMNMX", ClassVIADDMNMX, []span{{90, 110}}},
	OpLOP:       {"LOP", ClassLOP, []span{{10, 62}}},
	OpLOP32I:    {"LOP32I", ClassLOP, []span{{10, 62}}},
	OpLOP3:      {"LOP3", ClassLOP, []span{{50, 999}}},
	OpPLOP3:     {"PLOP3", ClassPLOP3, []span{{70, 999}}},
	OpPSETP:     {"PSETP", ClassPLOP3, []span{{10, 62}}},
	OpPSET:      {"PSET", ClassPLOP3, []span{{10, 62}}},
	OpSHL:       {"SHL", ClassSHF, []span{{10, 62}}},
	OpSHR:       {"SHR", ClassSHF, []span{{10, 62}}},
	OpSHF:       {"SHF", ClassSHF, []span{{32, 999}}},
	OpPRMT:      {"PRMT", ClassPRMT, []span{{20, 999}}},
	OpSEL:       {"SEL", ClassSEL, []span{{10, 999}}},
	OpFSEL:      {"FSEL", ClassSEL, []span{{70, 999}}},
	OpICMP:      {"ICMP", ClassISETP, []span{{10, 62}}},
	OpMOV:       {"MOV", ClassMOV, []span{{10, 999}}},
	OpMOV32I:    {"MOV32I", ClassMOV, []span{{10, 62}}},
	OpISETP:     {"ISETP", ClassISETP, []span{{10, 999}}}, // compute capability 1.x: ISET to a condition register C0-C3
	OpISET:      {"ISET", ClassISETP, []span{{10, 62}}},
	OpSGXT:      {"SGXT", ClassSGXT, []span{{70, 999}}},
	OpBMSK:      {"BMSK", ClassBMSK, []span{{70, 999}}},
	OpBFE:       {"BFE", ClassBFE, []span{{10, 62}}},
	OpBFI:       {"BFI", ClassBFI, []span{{10, 62}}},
	OpBREV:      {"BREV", ClassBREV, []span{{70, 999}}},
	OpPOPC:      {"POPC", ClassPOPC, []span{{20, 999}}},
	OpFLO:       {"FLO", ClassFLO, []span{{20, 999}}},
	OpP2R:       {"P2R", ClassPLOP3, []span{{20, 999}}},
	OpR2P:       {"R2P", ClassPLOP3, []span{{20, 999}}},
	OpCSET:      {"CSET", ClassISETP, []span{{10, 62}}},
	OpCSETP:     {"CSETP", ClassISETP, []span{{10, 62}}},
	OpVADD:      {"VADD", ClassVIDEO, []span{{20, 62}}},
	OpVSUB:      {"VSUB", ClassVIDEO, []span{{20, 62}}},
	OpVMNMX:     {"VMNMX", ClassVIDEO, []span{{20, 62}}},
	OpVSHL:      {"VSHL", ClassVIDEO, []span{{20, 62}}},
	OpVSHR:      {"VSHR", ClassVIDEO, []span{{20, 62}}},
	OpVSET:      {"VSET", ClassVIDEO, []span{{20, 62}}},
	OpVSETP:     {"VSETP", ClassVIDEO, []span{{20, 62}}},
	OpVMAD:      {"VMAD", ClassVMAD, []span{{20, 62}}},
	OpVADD2:     {"VADD2", ClassVIDEO2, []span{{30, 37}}},
	OpVMNMX2:    {"VMNMX2", ClassVIDEO2, []span{{30, 37}}},
	OpVSET2:     {"VSET2", ClassVIDEO2, []span{{30, 37}}},
	OpVAVRG2:    {"VAVRG2", ClassVIDEO2, []span{{30, 37}}},
	OpVADD4:     {"VADD4", ClassVIDEO4, []span{{30, 37}}},
	OpVMNMX4:    {"VMNMX4", ClassVIDEO4, []span{{30, 37}}},
	OpVSET4:     {"VSET4", ClassVIDEO4, []span{{30, 37}}},
	OpVAVRG4:    {"VAVRG4", ClassVIDEO4, []span{{30, 37}}},
	OpFADD:      {"FADD", ClassFFMA, []span{{10, 999}}},
	OpFMUL:      {"FMUL", ClassFFMA, []span{{10, 999}}},
	OpFFMA:      {"FFMA", ClassFFMA, []span{{20, 999}}},
	OpFMAD:      {"FMAD", ClassFFMA, []span{{10, 13}}},
	OpFSETP:     {"FSETP", ClassFSETP, []span{{10, 999}}}, // compute capability 1.x: FSET to a condition register
	OpFSET:      {"FSET", ClassFSETP, []span{{10, 999}}},
	OpFCMP:      {"FCMP", ClassFSETP, []span{{10, 62}}},
	OpFCHK:      {"FCHK", ClassFSETP, []span{{35, 999}}},
	OpFMNMX:     {"FMNMX", ClassFMNMX, []span{{10, 999}}},
	OpMUFU:      {"MUFU", ClassMUFU, []span{{10, 999}}},
	OpRRO:       {"RRO", ClassMUFU, []span{{10, 62}}},
	OpHADD2:     {"HADD2", ClassHFMA2, []span{{53, 999}}},
	OpHMUL2:     {"HMUL2", ClassHFMA2, []span{{53, 999}}},
	OpHFMA2:     {"HFMA2", ClassHFMA2, []span{{53, 999}}},
	OpHSETP2:    {"HSETP2", ClassHFMA2, []span{{53, 999}}},
	OpHSET2:     {"HSET2", ClassHFMA2, []span{{53, 999}}},
	OpHMNMX2:    {"HMNMX2", ClassHFMA2, []span{{80, 999}}},
	OpDADD:      {"DADD", ClassDFMA, []span{{13, 999}}},
	OpDMUL:      {"DMUL", ClassDFMA, []span{{13, 999}}},
	OpDFMA:      {"DFMA", ClassDFMA, []span{{13, 999}}},
	OpDSETP:     {"DSETP", ClassDFMA, []span{{13, 999}}},
	OpDMNMX:     {"DMNMX", ClassDFMA, []span{{13, 62}}},
	OpI2F:       {"I2F", ClassI2F, []span{{10, 999}}},
	OpF2I:       {"F2I", ClassF2I, []span{{10, 999}}},
	OpF2F:       {"F2F", ClassF2F, []span{{10, 999}}},
	OpFRND:      {"FRND", ClassF2F, []span{{70, 999}}},
	OpI2I:       {"I2I", ClassI2I, []span{{10, 62}, {72, 999}}},
	OpI2IP:      {"I2IP", ClassI2I, []span{{72, 999}}},
	OpI2FP:      {"I2FP", ClassI2FP, []span{{86, 999}}},
	OpF2FP:      {"F2FP", ClassF2FP, []span{{75, 999}}},
	OpF2IP:      {"F2IP", ClassF2FP, []span{{86, 999}}},
	OpS2R:       {"S2R", ClassS2R, []span{{10, 999}}},
	OpCS2R:      {"CS2R", ClassCS2R, []span{{50, 999}}},
	OpLDC:       {"LDC", ClassLDC, []span{{10, 999}}}, // compute capability 1.x: an operand c[n][A1+x] with an address register
	OpR2UR:      {"R2UR", ClassR2UR, []span{{75, 999}}},
	OpS2UR:      {"S2UR", ClassS2UR, []span{{75, 999}}},
	OpCS2UR:     {"CS2UR", ClassS2UR, []span{{100, 999}}},
	OpQSPC:      {"QSPC", ClassS2R, []span{{70, 999}}},
	OpUIADD3:    {"UIADD3", ClassUALU, []span{{75, 999}}},
	OpUIMAD:     {"UIMAD", ClassUALU, []span{{75, 999}}},
	OpULOP3:     {"ULOP3", ClassUALU, []span{{75, 999}}},
	OpUSHF:      {"USHF", ClassUALU, []span{{75, 999}}},
	OpULEA:      {"ULEA", ClassUALU, []span{{75, 999}}},
	OpUMOV:      {"UMOV", ClassUALU, []span{{75, 999}}},
	OpUSEL:      {"USEL", ClassUALU, []span{{75, 999}}},
	OpUISETP:    {"UISETP", ClassUALU, []span{{75, 999}}},
	OpUPLOP3:    {"UPLOP3", ClassUALU, []span{{75, 999}}},
	OpUPRMT:     {"UPRMT", ClassUALU, []span{{75, 999}}},
	OpUSGXT:     {"USGXT", ClassUALU, []span{{75, 999}}},
	OpUBMSK:     {"UBMSK", ClassUALU, []span{{75, 999}}},
	OpUPOPC:     {"UPOPC", ClassUALU, []span{{75, 999}}},
	OpUFLO:      {"UFLO", ClassUALU, []span{{75, 999}}},
	OpUBREV:     {"UBREV", ClassUALU, []span{{75, 999}}},
	OpUP2UR:     {"UP2UR", ClassUALU, []span{{75, 999}}},
	OpUR2UP:     {"UR2UP", ClassUALU, []span{{75, 999}}},
	OpUVIADD:    {"UVIADD", ClassUALU, []span{{100, 999}}},
	OpUVIMNMX:   {"UVIMNMX", ClassUALU, []span{{100, 999}}},
	OpUIABS:     {"UIABS", ClassUALU, []span{{120, 999}}},
	OpUI2F:      {"UI2F", ClassUALU, []span{{120, 999}}},
	OpUF2I:      {"UF2I", ClassUALU, []span{{120, 999}}},
	OpUFADD:     {"UFADD", ClassUALU, []span{{100, 999}}},
	OpUFMUL:     {"UFMUL", ClassUALU, []span{{100, 999}}},
	OpUFFMA:     {"UFFMA", ClassUALU, []span{{100, 999}}},
	OpUFMNMX:    {"UFMNMX", ClassUALU, []span{{100, 999}}},
	OpUFSEL:     {"UFSEL", ClassUALU, []span{{100, 999}}},
	OpUFSETP:    {"UFSETP", ClassUALU, []span{{100, 999}}},
	OpUFRND:     {"UFRND", ClassUALU, []span{{100, 999}}},
	OpUF2F:      {"UF2F", ClassUALU, []span{{100, 999}}},
	OpUF2FP:     {"UF2FP", ClassUALU, []span{{100, 999}}},
	OpULDC:      {"ULDC", ClassULDC, []span{{75, 90}}},
	OpLDCU:      {"LDCU", ClassULDC, []span{{100, 999}}},
	OpSHFL:      {"SHFL", ClassSHFL, []span{{30, 999}}},
	OpVOTE:      {"VOTE", ClassVOTE, []span{{12, 999}}},
	OpVOTEU:     {"VOTEU", ClassVOTE, []span{{75, 999}}},
	OpMATCH:     {"MATCH", ClassMATCH, []span{{70, 999}}},
	OpREDUX:     {"REDUX", ClassREDUX, []span{{80, 999}}},
	OpCREDUX:    {"CREDUX", ClassREDUX, []span{{100, 110}}},
	OpELECT:     {"ELECT", ClassREDUX, []span{{90, 999}}},
	OpLD:        {"LD", ClassLDG, []span{{10, 999}}},
	OpST:        {"ST", ClassSTG, []span{{10, 999}}},
	OpLDG:       {"LDG", ClassLDG, []span{{35, 999}}},
	OpSTG:       {"STG", ClassSTG, []span{{50, 999}}},
	OpLDU:       {"LDU", ClassLDG, []span{{20, 21}}},
	OpLDS:       {"LDS", ClassLDS, []span{{10, 999}}},
	OpSTS:       {"STS", ClassSTS, []span{{10, 999}}},
	OpLDL:       {"LDL", ClassLDL, []span{{10, 999}}},
	OpSTL:       {"STL", ClassSTL, []span{{10, 999}}},
	OpATOM:      {"ATOM", ClassATOMG, []span{{11, 999}}},
	OpATOMG:     {"ATOMG", ClassATOMG, []span{{70, 999}}},
	OpATOMS:     {"ATOMS", ClassATOMS, []span{{12, 999}}}, // before Maxwell: stands for the compiler's LDSLK / STSCUL loop
	OpSYNCS:     {"SYNCS", ClassATOMS, []span{{90, 999}}},
	OpARRIVES:   {"ARRIVES", ClassATOMS, []span{{80, 999}}},
	OpRED:       {"RED", ClassRED, []span{{11, 999}}},
	OpLDGSTS:    {"LDGSTS", ClassLDGSTS, []span{{80, 999}}},
	OpTEX:       {"TEX", ClassTEX, []span{{10, 999}}},
	OpTLD:       {"TLD", ClassTEX, []span{{20, 999}}},
	OpTLD4:      {"TLD4", ClassTEX, []span{{20, 999}}},
	OpTXD:       {"TXD", ClassTEX, []span{{20, 999}}},
	OpTXQ:       {"TXQ", ClassTEX, []span{{20, 999}}},
	OpSULD:      {"SULD", ClassTEX, []span{{20, 999}}},
	OpSUST:      {"SUST", ClassTEX, []span{{20, 999}}},
	OpCCTL:      {"CCTL", ClassMEMBAR, []span{{20, 999}}},
	OpMEMBAR:    {"MEMBAR", ClassMEMBAR, []span{{20, 999}}},
	OpFENCE:     {"FENCE", ClassMEMBAR, []span{{90, 999}}},
	OpERRBAR:    {"ERRBAR", ClassMEMBAR, []span{{70, 999}}},
	OpLDGDEPBAR: {"LDGDEPBAR", ClassDEPBAR, []span{{80, 999}}},
	OpDEPBAR:    {"DEPBAR", ClassDEPBAR, []span{{50, 999}}},
	OpTEXDEPBAR: {"TEXDEPBAR", ClassDEPBAR, []span{{30, 37}}},
	OpBRA:       {"BRA", ClassBRA, []span{{10, 999}}},
	OpBRX:       {"BRX", ClassBRA, []span{{20, 999}}},
	OpJMP:       {"JMP", ClassBRA, []span{{10, 999}}},
	OpJMX:       {"JMX", ClassBRA, []span{{20, 999}}},
	OpCALL:      {"CALL", ClassCALL, []span{{10, 999}}},
	OpRET:       {"RET", ClassCALL, []span{{10, 999}}},
	OpPRET:      {"PRET", ClassCALL, []span{{10, 62}}},
	OpEXIT:      {"EXIT", ClassEXIT, []span{{10, 999}}},
	OpKILL:      {"KILL", ClassEXIT, []span{{10, 999}}},
	OpBSSY:      {"BSSY", ClassBSSY, []span{{70, 999}}},
	OpBREAK:     {"BREAK", ClassBSSY, []span{{70, 999}}},
	OpBMOV:      {"BMOV", ClassBSSY, []span{{70, 999}}},
	OpBSYNC:     {"BSYNC", ClassBSYNC, []span{{70, 999}}},
	OpSSY:       {"SSY", ClassBSSY, []span{{10, 62}}},
	OpPBK:       {"PBK", ClassBSSY, []span{{10, 62}}},
	OpPCNT:      {"PCNT", ClassBSSY, []span{{10, 62}}},
	OpSYNC:      {"SYNC", ClassBSYNC, []span{{50, 62}}},
	OpBRK:       {"BRK", ClassBSYNC, []span{{10, 62}}},
	OpCONT:      {"CONT", ClassBSYNC, []span{{10, 62}}},
	OpWARPSYNC:  {"WARPSYNC", ClassWARPSYNC, []span{{70, 999}}},
	OpYIELD:     {"YIELD", ClassWARPSYNC, []span{{70, 999}}},
	OpNANOSLEEP: {"NANOSLEEP", ClassWARPSYNC, []span{{70, 999}}},
	OpBAR:       {"BAR", ClassBAR, []span{{10, 999}}},
	OpB2R:       {"B2R", ClassS2R, []span{{20, 999}}},
	OpLEPC:      {"LEPC", ClassMOV, []span{{20, 999}}},
	OpBPT:       {"BPT", ClassNOP, []span{{10, 999}}},
	OpNOP:       {"NOP", ClassNOP, []span{{10, 999}}},

	OpENDCOLLECTIVE: {"ENDCOLLECTIVE", ClassWARPSYNC, []span{{90, 999}}},
}

// String is the opcode's mnemonic.
func (op Op) String() string {
	if op < NumOps && op != OpNone {
		return opTable[op].name
	}
	return "?"
}

// OpByName finds an opcode by its mnemonic without modifiers, also by the name that another generation has for it.
func OpByName(name string) (Op, bool) {
	op, ok := opByName[name]
	return op, ok
}

// NameOn is the opcode's mnemonic in listings of a target: some opcodes were renamed.
func (op Op) NameOn(sm int) string {
	for _, r := range renamed {
		if r.op == op && sm >= r.from && sm <= r.to {
			return r.name
		}
	}
	return op.String()
}

// renamed are the opcodes with another name on some targets.
var renamed = []struct {
	name     string
	op       Op
	from, to int
}{
	{"REDG", OpRED, 90, 999},
	{"CAL", OpCALL, 1, 62},
	{"JCAL", OpCALL, 0, 0}, // absolute call: the name is only read
	{"KIL", OpKILL, 1, 62},
}

var opByName = func() map[string]Op {
	m := make(map[string]Op, NumOps)
	for op := Op(1); op < NumOps; op++ {
		m[opTable[op].name] = op
	}
	for _, r := range renamed {
		m[r.name] = r.op
	}
	return m
}()

// OnTarget says whether the target (for example 86) has the opcode.
func (op Op) OnTarget(sm int) bool {
	if op >= NumOps {
		return false
	}
	for _, s := range opTable[op].targets {
		if sm >= s.from && sm <= s.to {
			return true
		}
	}
	return false
}

// Class is the timing class of the instruction, which can depend on its modifiers.
func (in *Inst) Class() Class {
	if in.Op >= NumOps {
		return ClassNone
	}
	c := opTable[in.Op].class
	switch c {
	case ClassIMAD:
		switch {
		case in.Mod.Has(ModWide):
			return ClassIMADWIDE
		case in.Mod.Has(ModHI):
			return ClassIMADHI
		}
	case ClassHFMA2:
		if in.Mod.Has(ModMMA) {
			return ClassHFMA2MMA
		}
	case ClassNOP:
		if in.Mod.Assumed != ClassNone {
			return in.Mod.Assumed
		}
	}
	return c
}
