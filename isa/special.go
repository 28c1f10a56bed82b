package isa

import "fmt"

// SpecialReg numbers a special register; an Operand of KindSpecial carries it in Reg.
type SpecialReg = Reg

// Special registers, as S2R, S2UR and CS2R name them.
const (
	SRZ SpecialReg = iota // reads 0 (CS2R)
	SRLaneID
	SRTidX
	SRTidY
	SRTidZ
	SRCtaidX
	SRCtaidY
	SRCtaidZ
	SRNtidX
	SRNtidY
	SRNtidZ
	SRNctaidX
	SRNctaidY
	SRNctaidZ
	SRWarpID
	SRNWarpID
	SRSMID
	SRNSMID
	SRGridID
	SRClockLo
	SRClockHi
	SRGlobalTimerLo
	SRGlobalTimerHi
	SREqMask
	SRLtMask
	SRLeMask
	SRGtMask
	SRGeMask
	SRCgaCtaID   // rank of the block in its cluster
	SRActiveMask // lanes active at the instruction
	SRSharedWindow
	SRLocalWindow
	SRSharedSize        // dynamic and static shared bytes of the block (%total_smem_size)
	SRDynamicSharedSize // %dynamic_smem_size
	SRVirtID            // packed: bits 8-14 the warp slot, bits 20-28 the SM
	SRVirtCfg           // packed: bits 8-15 the warp slots (%nwarpid)
	SRCgaSize           // selects the driver's words of a launch with clusters; 0: no cluster
	SRTid               // packed: x in bits 0-15, y in 16-25, z in 26-31
	SRSharedWindowLo    // low word of the address that SRSharedWindow is the high word of
	SRLocalWindowLo
	SRTotalSharedSize // shared bytes with what the system reserves (%aggr_smem_size)
	SRClusterCtaID
	SREnvReg       // %envreg0; the others follow
	NumSpecialRegs = SREnvReg + 32
)

var specialNames = [SREnvReg]string{
	SRZ: "SRZ", SRLaneID: "SR_LANEID", SRTidX: "SR_TID.X", SRTidY: "SR_TID.Y", SRTidZ: "SR_TID.Z",
	SRCtaidX: "SR_CTAID.X", SRCtaidY: "SR_CTAID.Y", SRCtaidZ: "SR_CTAID.Z",
	SRNtidX: "SR_NTID.X", SRNtidY: "SR_NTID.Y", SRNtidZ: "SR_NTID.Z",
	SRNctaidX: "SR_NCTAID.X", SRNctaidY: "SR_NCTAID.Y", SRNctaidZ: "SR_NCTAID.Z",
	SRWarpID: "SR_WARPID", SRVirtID: "SR_VIRTID", SRNWarpID: "SR_NWARPID", SRSMID: "SR_VIRTUALSMID", SRNSMID: "SR_NSMID", SRGridID: "SR_GRIDID",
	SRClockLo: "SR_CLOCKLO", SRClockHi: "SR_CLOCKHI", SRGlobalTimerLo: "SR_GLOBALTIMERLO", SRGlobalTimerHi: "SR_GLOBALTIMERHI",
	SREqMask: "SR_EQMASK", SRLtMask: "SR_LTMASK", SRLeMask: "SR_LEMASK", SRGtMask: "SR_GTMASK", SRGeMask: "SR_GEMASK",
	SRCgaCtaID: "SR_CgaCtaId", SRActiveMask: "SR_ACTIVEMASK", SRSharedWindow: "SR_SWINHI", SRLocalWindow: "SR_LWINHI",
	SRSharedSize: "SR_SMEMSZ", SRDynamicSharedSize: "SR_DYNSMEMSZ",
	SRTid: "SR_TID", SRSharedWindowLo: "SR_SWINLO", SRLocalWindowLo: "SR_LWINLO", SRTotalSharedSize: "SR_TOTSMEMSZ",
	SRClusterCtaID: "SR_CLUSTERID", SRVirtCfg: "SR_VIRTCFG", SRCgaSize: "SR_CgaSize",
}

// LaneSpecial says whether a special register differs between the lanes of a warp.
func LaneSpecial(r SpecialReg) bool {
	switch r {
	case SRLaneID, SRTidX, SRTidY, SRTidZ, SRTid, SREqMask, SRLtMask, SRLeMask, SRGtMask, SRGeMask:
		return true
	}
	return false
}

// SpecialName is the special register's name in a listing, "" for a number out of range.
func SpecialName(r SpecialReg) string {
	switch {
	case r >= NumSpecialRegs:
		return ""
	case r >= SREnvReg:
		return fmt.Sprintf("%s%d", envRegs, r-SREnvReg)
	}
	return specialNames[r]
}

// envRegs begins the names of %envreg0 to 31.
const envRegs = "SR_ENVREG"

// SpecialByName finds a special register by its listing name.
func SpecialByName(name string) (SpecialReg, bool) {
	for r := range SpecialReg(NumSpecialRegs) {
		if n := SpecialName(r); n == name && n != "" {
			return r, true
		}
	}
	return 0, false
}

// SR is the operand of special register r.
func SR(r SpecialReg) Operand { return Operand{Kind: KindSpecial, Reg: r} }

// B is convergence barrier register n.
func B(n Reg) Operand { return Operand{Kind: KindBarrier, Reg: n} }

// UP is uniform predicate n.
func UP(n Reg) Operand { return Operand{Kind: KindUPred, Reg: n} }

// Negated is the operand with its arithmetic (for predicates: logical) negation toggled.
func (o Operand) Negated() Operand { o.Flags ^= Neg; return o }

// Complemented is the operand with its bitwise complement toggled.
func (o Operand) Complemented() Operand { o.Flags ^= Inv; return o }
