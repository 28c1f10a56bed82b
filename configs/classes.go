package configs

import (
	"strings"

	"github.com/sarchlab/smsim/isa"
)

// targetClasses says for each class whether the target (for example 86) has an instruction of it. The
// class of an opcode can depend on its modifiers, so those that change it are tried too.
func targetClasses(sm int) (has [isa.NumClasses]bool) {
	variants := []isa.ModFlags{0, isa.ModWide, isa.ModHI, isa.ModMMA}
	for op := isa.OpNone + 1; op < isa.NumOps; op++ {
		if !op.OnTarget(sm) {
			continue
		}
		for _, m := range variants {
			in := isa.Inst{Op: op, Mod: isa.Mod{Flags: m}}
			has[in.Class()] = true
		}
	}
	has[isa.ClassNone] = false
	// HFMA2.MMA, the half-precision multiply-add routed to the tensor pipe, exists on 8.x and 9.0 only:
	// it left the instruction set with sm_100.
	if sm < 80 || sm >= 100 {
		has[isa.ClassHFMA2MMA] = false
	}
	return has
}

func allClassNames() []string {
	var names []string
	for c := isa.Class(1); c < isa.NumClasses; c++ {
		names = append(names, c.String())
	}
	return names
}

// classAlias finds the class that people mean by an opcode (IADD3, lop3) or a PTX instruction (dp4a, mad).
func classAlias(name string) (isa.Class, bool) {
	if c, ok := isa.ClassByName(strings.ToLower(name)); ok {
		return c, true
	}
	if op, ok := isa.OpByName(strings.ToUpper(name)); ok {
		in := isa.Inst{Op: op}
		return in.Class(), true
	}
	switch strings.ToLower(name) {
	case "dp4a", "dp2a":
		return isa.ClassIDP, true
	case "mul", "mad":
		return isa.ClassIMAD, true
	case "add", "sub":
		return isa.ClassIADD3, true
	case "min", "max":
		return isa.ClassIMNMX, true
	case "and", "or", "xor", "not":
		return isa.ClassLOP, true
	case "clz", "bfind":
		return isa.ClassFLO, true
	case "sad":
		return isa.ClassVABSDIFF, true
	case "setp":
		return isa.ClassISETP, true
	case "cvt":
		return isa.ClassI2I, true
	}
	return isa.ClassNone, false
}
