package lower

import (
	"maps"
	"slices"

	"github.com/sarchlab/smsim/isa"
)

// selectors maps a PTX operation to its selection rule. Control flow (bra, brx, call, ret, exit) is the
// driver's own, see compile.go.
var selectors = map[string]selector{
	// Arithmetic.
	"add":   newRule(ruleAdd(false)),
	"sub":   newRule(ruleAdd(true)),
	"addc":  newRule(ruleAddc(false)),
	"subc":  newRule(ruleAddc(true)),
	"mul":   newRule(ruleMul),
	"mad":   newRule(ruleMad),
	"madc":  newRule(ruleMadc),
	"mul24": newRule(ruleMul24(false)),
	"mad24": newRule(ruleMul24(true)),
	"sad":   newRule(ruleSad),
	"div":   newRule(ruleDiv(false)),
	"rem":   newRule(ruleDiv(true)),
	"abs":   newRule(ruleAbs),
	"neg":   newRule(ruleNeg),
	"min":   newRule(ruleMinMax(false)),
	"max":   newRule(ruleMinMax(true)),
	"dp4a":  newRule(ruleDp4a),
	"dp2a":  newRule(ruleDp2a),

	// Bits.
	"popc":  newRule(rulePopc),
	"clz":   newRule(ruleClz),
	"bfind": newRule(ruleBfind),
	"fns":   newRule(ruleFns),
	"brev":  newRule(ruleBrev),
	"bfe":   newRule(ruleBfe),
	"bfi":   newRule(ruleBfi),
	"szext": newRule(ruleSzext),
	"bmsk":  newRule(ruleBmsk),

	// Logic, shifts, bytes.
	"and":  newRule(ruleLogic(isa.SubAnd, lutAnd, isa.BoolAnd)),
	"or":   newRule(ruleLogic(isa.SubOr, lutOr, isa.BoolOr)),
	"xor":  newRule(ruleLogic(isa.SubXor, lutXor, isa.BoolXor)),
	"not":  newRule(ruleNot),
	"cnot": newRule(ruleCnot),
	"lop3": newRule(ruleLop3),
	"shl":  newRule(ruleShift(true)),
	"shr":  newRule(ruleShift(false)),
	"shf":  newRule(ruleShf),
	"prmt": newRule(rulePrmt),

	// Comparison and selection.
	"set":  newRule(ruleSet),
	"setp": newRule(ruleSetp),
	"selp": newRule(ruleSelp),
	"slct": newRule(ruleSlct),

	// Floating point.
	"fma":      newRule(ruleFma),
	"testp":    newRule(ruleTestp),
	"copysign": newRule(ruleCopysign),
	"rcp":      newRule(ruleRcp),
	"sqrt":     newRule(ruleSqrt),
	"rsqrt":    newRule(ruleRsqrt),
	"sin":      newRule(ruleTrig(isa.SubSin)),
	"cos":      newRule(ruleTrig(isa.SubCos)),
	"lg2":      newRule(ruleLg2),
	"ex2":      newRule(ruleEx2),
	"tanh":     newRule(ruleTanh),

	// Movement and conversion.
	"mov":           newRule(ruleMov),
	"cvt":           newRule(ruleCvt),
	"cvta":          newRule(ruleCvta),
	"isspacep":      newRule(ruleIsspacep),
	"ld":            newRule(ruleLd),
	"ldu":           newRule(ruleLd),
	"st":            newRule(ruleSt),
	"prefetch":      newRule(ruleHint),
	"prefetchu":     newRule(ruleHint),
	"applypriority": newRule(ruleHint),
	"discard":       newRule(ruleHint),
	"createpolicy":  newRule(ruleCreatePolicy),
	"atom":          newRule(ruleAtom(true)),
	"red":           newRule(ruleAtom(false)),
	"cp":            newRule(ruleCp),

	// Warps and blocks.
	"shfl":           newRule(ruleShfl),
	"vote":           newRule(ruleVote),
	"match":          newRule(ruleMatch),
	"activemask":     newRule(ruleActivemask),
	"redux":          newRule(ruleRedux),
	"elect":          newRule(ruleElect),
	"bar":            newRule(ruleBar),
	"barrier":        newRule(ruleBar),
	"mbarrier":       newRule(ruleMbarrier),
	"membar":         newRule(ruleFence),
	"fence":          newRule(ruleFence),
	"nanosleep":      newRule(ruleNanosleep),
	"trap":           newRule(ruleTrap),
	"brkpt":          newRule(ruleHint),
	"pmevent":        newRule(ruleHint),
	"griddepcontrol": newRule(ruleHint),

	// Video: scalar and SIMD.
	"vadd":      newRule(ruleVideo),
	"vsub":      newRule(ruleVideo),
	"vabsdiff":  newRule(ruleVideo),
	"vmin":      newRule(ruleVideo),
	"vmax":      newRule(ruleVideo),
	"vshl":      newRule(ruleVideo),
	"vshr":      newRule(ruleVideo),
	"vset":      newRule(ruleVideo),
	"vmad":      newRule(ruleVmad),
	"vadd2":     newRule(ruleVideoLanes),
	"vsub2":     newRule(ruleVideoLanes),
	"vavrg2":    newRule(ruleVideoLanes),
	"vabsdiff2": newRule(ruleVideoLanes),
	"vmin2":     newRule(ruleVideoLanes),
	"vmax2":     newRule(ruleVideoLanes),
	"vset2":     newRule(ruleVideoLanes),
	"vadd4":     newRule(ruleVideoLanes),
	"vsub4":     newRule(ruleVideoLanes),
	"vavrg4":    newRule(ruleVideoLanes),
	"vabsdiff4": newRule(ruleVideoLanes),
	"vmin4":     newRule(ruleVideoLanes),
	"vmax4":     newRule(ruleVideoLanes),
	"vset4":     newRule(ruleVideoLanes),

	// Not modelled: the error says why.
	"wmma": newRule(ruleNotModelled), "mma": newRule(ruleNotModelled), "wgmma": newRule(ruleNotModelled), "tcgen05": newRule(ruleNotModelled),
	"ldmatrix": newRule(ruleNotModelled), "stmatrix": newRule(ruleNotModelled), "movmatrix": newRule(ruleNotModelled),
	"tensormap": newRule(ruleNotModelled), "multimem": newRule(ruleNotModelled), "clusterlaunchcontrol": newRule(ruleNotModelled),
	"getctarank": newRule(ruleNotModelled), "mapa": newRule(ruleNotModelled),
	"tex": newRule(ruleTex), "tld4": newRule(ruleTld4), "txq": newRule(ruleTxq), "suld": newRule(ruleSurface),
	"sust": newRule(ruleSurface), "sured": newRule(ruleNotModelled), "suq": newRule(ruleNotModelled), "istypep": newRule(ruleNotModelled),
	"setmaxnreg": newRule(ruleNotModelled), "alloca": newRule(ruleNotModelled), "stacksave": newRule(ruleNotModelled),
	"stackrestore": newRule(ruleNotModelled),
}

// Operations names the PTX operations that have a selection rule, in order. Control flow is not among them.
func Operations() []string { return slices.Sorted(maps.Keys(selectors)) }
