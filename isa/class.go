package isa

import "fmt"

// Class groups the opcodes that one row of an architecture's timing table covers:
// same pipe, issue interval and latency. An opcode's class can depend on its modifiers
// (IMAD.WIDE is not IMAD), so it is asked of an instruction, see [Inst.Class].
type Class uint8

// The classes, by the unit family that executes them. The string names below are the keys
// of the `classes` table of an architecture file.
const (
	ClassNone Class = iota

	// Integer ALU.
	ClassIADD      // IADD, ISUB, IADD32I: two sources, with and without carry
	ClassIADD3     // IADD3: on sm_120 only the two-source add has the second ALU
	ClassLOP       // LOP, LOP3, LOP32I
	ClassSHF       // SHL, SHR, SHF
	ClassPRMT      // PRMT
	ClassSEL       // SEL, FSEL
	ClassMOV       // MOV, MOV32I
	ClassISETP     // ISETP, ISET, ICMP
	ClassIMNMX     // IMNMX, VIMNMX
	ClassVIMNMX3   // VIMNMX3
	ClassVIADDMNMX // VIADDMNMX
	ClassLEA       // LEA, ISCADD
	ClassIABS      // IABS
	ClassSGXT      // SGXT
	ClassBMSK      // BMSK
	ClassBFE       // BFE (and BFE.BREV before Volta)
	ClassBFI       // BFI
	ClassPLOP3     // PLOP3, PSETP, PSET, P2R, R2P
	ClassVABSDIFF  // VABSDIFF, ISAD
	ClassVABSDIFF4 // VABSDIFF4, VABSDIFF2
	ClassVIDEO     // VADD, VMNMX, VSHL, VSHR, VSET (scalar video, Fermi to Pascal)
	ClassVMAD      // VMAD
	ClassVIDEO2    // VADD2, VMNMX2, VSET2 ... (Kepler)
	ClassVIDEO4    // VADD4, VMNMX4, VSET4 ... (Kepler)
	ClassVOTE      // VOTE

	// Integer multiply-add.
	ClassIMAD     // IMAD, IMUL, IMAD.MOV, IMAD.IADD, IMAD.SHL, IMAD.X
	ClassIMADHI   // IMAD.HI, IMUL.HI
	ClassIMADWIDE // IMAD.WIDE
	ClassIMUL24   // 24-bit multiply and multiply-add (compute capability 1.x)
	ClassXMAD     // XMAD
	ClassIDP      // IDP.4A, IDP.2A
	ClassVIADD    // VIADD

	// Floating point.
	ClassFFMA     // FADD, FMUL, FFMA
	ClassFSETP    // FSETP, FSET, FCMP, FCHK
	ClassFMNMX    // FMNMX
	ClassHFMA2    // HADD2, HMUL2, HFMA2, HSETP2, HMNMX2
	ClassHFMA2MMA // HFMA2.MMA
	ClassDFMA     // DADD, DMUL, DFMA, DSETP, DMNMX
	ClassMUFU     // MUFU, RRO

	// Conversion and bit counting.
	ClassI2F  // I2F
	ClassF2I  // F2I
	ClassF2F  // F2F, FRND
	ClassI2I  // I2I, I2IP
	ClassI2FP // I2FP
	ClassF2FP // F2FP, F2IP
	ClassPOPC // POPC
	ClassFLO  // FLO
	ClassBREV // BREV

	// Uniform datapath.
	ClassUALU // UIADD3, ULOP3, UMOV, USHF, USEL, UISETP, UIMAD ...
	ClassULDC // ULDC, LDCU
	ClassR2UR // R2UR
	ClassS2UR // S2UR

	// Special registers and constants.
	ClassS2R  // S2R
	ClassCS2R // CS2R
	ClassLDC  // LDC

	// Cross-lane.
	ClassSHFL  // SHFL
	ClassMATCH // MATCH
	ClassREDUX // REDUX, CREDUX, ELECT

	// Memory.
	ClassLDG    // LDG, LD (generic)
	ClassSTG    // STG, ST
	ClassLDS    // LDS
	ClassSTS    // STS
	ClassLDL    // LDL
	ClassSTL    // STL
	ClassATOMG  // ATOM, ATOMG
	ClassATOMS  // ATOMS
	ClassRED    // RED, REDG
	ClassLDGSTS // LDGSTS
	ClassTEX    // TEX, TLD
	ClassMEMBAR // MEMBAR, FENCE, CCTL, ERRBAR

	// Control.
	ClassBRA      // BRA, JMP, BRX
	ClassCALL     // CALL, RET
	ClassEXIT     // EXIT
	ClassBSSY     // BSSY, SSY, PBK, PCNT, BREAK, BMOV
	ClassBSYNC    // BSYNC, SYNC, BRK, CONT
	ClassWARPSYNC // WARPSYNC, YIELD, NANOSLEEP
	ClassBAR      // BAR
	ClassDEPBAR   // DEPBAR
	ClassNOP      // NOP

	NumClasses
)

var classNames = [NumClasses]string{
	ClassNone: "none",
	ClassIADD: "iadd", ClassIADD3: "iadd3", ClassLOP: "lop", ClassSHF: "shf", ClassPRMT: "prmt", ClassSEL: "sel", ClassMOV: "mov",
	ClassISETP: "isetp", ClassIMNMX: "imnmx", ClassVIMNMX3: "vimnmx3", ClassVIADDMNMX: "viaddmnmx", ClassLEA: "lea",
	ClassIABS: "iabs", ClassSGXT: "sgxt", ClassBMSK: "bmsk", ClassBFE: "bfe", ClassBFI: "bfi", ClassPLOP3: "plop3",
	ClassVABSDIFF: "vabsdiff", ClassVABSDIFF4: "vabsdiff4", ClassVIDEO: "video", ClassVMAD: "vmad",
	ClassVIDEO2: "video2", ClassVIDEO4: "video4", ClassVOTE: "vote",
	ClassIMAD: "imad", ClassIMADHI: "imad_hi", ClassIMADWIDE: "imad_wide", ClassIMUL24: "imul24", ClassXMAD: "xmad",
	ClassIDP: "idp", ClassVIADD: "viadd",
	ClassFFMA: "ffma", ClassFSETP: "fsetp", ClassFMNMX: "fmnmx", ClassHFMA2: "hfma2", ClassHFMA2MMA: "hfma2_mma",
	ClassDFMA: "dfma", ClassMUFU: "mufu",
	ClassI2F: "i2f", ClassF2I: "f2i", ClassF2F: "f2f", ClassI2I: "i2i", ClassI2FP: "i2fp", ClassF2FP: "f2fp",
	ClassPOPC: "popc", ClassFLO: "flo", ClassBREV: "brev",
	ClassUALU: "ualu", ClassULDC: "uldc", ClassR2UR: "r2ur", ClassS2UR: "s2ur",
	ClassS2R: "s2r", ClassCS2R: "cs2r", ClassLDC: "ldc",
	ClassSHFL: "shfl", ClassMATCH: "match", ClassREDUX: "redux",
	ClassLDG: "ldg", ClassSTG: "stg", ClassLDS: "lds", ClassSTS: "sts", ClassLDL: "ldl", ClassSTL: "stl",
	ClassATOMG: "atomg", ClassATOMS: "atoms", ClassRED: "red", ClassLDGSTS: "ldgsts", ClassTEX: "tex", ClassMEMBAR: "membar",
	ClassBRA: "bra", ClassCALL: "call", ClassEXIT: "exit", ClassBSSY: "bssy", ClassBSYNC: "bsync",
	ClassWARPSYNC: "warpsync", ClassBAR: "bar", ClassDEPBAR: "depbar", ClassNOP: "nop",
}

// String is the class's key in an architecture file, for example "imad_wide".
func (c Class) String() string {
	if c < NumClasses {
		return classNames[c]
	}
	return fmt.Sprintf("class(%d)", uint8(c))
}

// ClassByName finds a class by its key; ok is false when there is none.
func ClassByName(name string) (c Class, ok bool) {
	for i := Class(1); i < NumClasses; i++ {
		if classNames[i] == name {
			return i, true
		}
	}
	return ClassNone, false
}

// IsMemory says whether instructions of the class go through the load/store unit.
func (c Class) IsMemory() bool { return c >= ClassLDG && c <= ClassTEX }

// IsControl says whether instructions of the class can change the program counter or wait for other lanes or warps.
func (c Class) IsControl() bool { return c >= ClassBRA && c <= ClassBAR }
