package published

import (
	"fmt"
	"strings"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/sass"
	"github.com/sarchlab/smsim/sm"
)

// clocks times machine instructions of one warp ("FFMA R20, R4, R8, R12; ..."): the cycles of each in a loop. The time of a
// loop with twice as many, less that of a loop with some, leaves out the loop's own instructions.
func clocks(a *configs.Arch, text string) (float64, error) {
	var body []string
	for part := range strings.SplitSeq(text, ";") {
		body = append(body, strings.TrimSpace(part))
	}
	const copies, rounds = 8, 32
	var cycles [2]float64
	for i := range cycles {
		c, err := timeLoop(a, body, copies*(i+1), rounds)
		if err != nil {
			return 0, err
		}
		cycles[i] = c
	}
	return (cycles[1] - cycles[0]) / float64(copies*rounds*len(body)), nil
}

// timeLoop runs one warp through a loop of copies of the instructions and gives the cycles of the run.
func timeLoop(a *configs.Arch, body []string, copies, rounds int) (float64, error) {
	p, err := assemble(a.SMNumber(), body, copies, rounds)
	if err != nil {
		return 0, err
	}
	l := &isa.Launch{Grid: isa.Dim3{X: 1, Y: 1, Z: 1}, Block: isa.Dim3{X: 32, Y: 1, Z: 1}, Mem: isa.NewMemory(), NumSMs: 1}
	r, err := sm.Run(a, p, l, sm.Options{MaxCycles: 10_000_000})
	if err != nil {
		return 0, err
	}
	return float64(r.Cycles), nil
}

// assemble writes the loop as a listing with control information and reads it: every instruction of the body a stall of 1.
func assemble(target int, body []string, copies, rounds int) (*isa.Program, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "code for sm_%d\nFunction : probe\n", target)
	at := 0
	address := func() int { // before Volta a scheduling word stands in front of three instructions
		defer func() { at++ }()
		if target < 70 {
			return 8 * (at + at/3 + 1)
		}
		return 16 * at
	}
	line := func(stall int, text string) int {
		pc := address()
		fmt.Fprintf(&b, "        [B------:R-:W-:-:S%02d] /*%04x*/ %s ;\n", stall, pc, text)
		return pc
	}
	add := "IADD R0, R0, 0x1"
	if target >= 70 {
		add = "IADD3 R0, R0, 0x1, RZ"
	}
	line(15, "MOV R0, RZ")
	start := -1
	for range copies {
		for _, text := range body {
			pc := line(1, text)
			if start < 0 {
				start = pc
			}
		}
	}
	line(15, add)
	line(15, fmt.Sprintf("ISETP.LT.U32.AND P0, PT, R0, %#x, PT", rounds))
	line(15, fmt.Sprintf("@P0 BRA %#x", start))
	line(15, "EXIT")
	l, err := sass.Read("probe", []byte(b.String()))
	if err != nil {
		return nil, err
	}
	return l.Program(l.Funcs[0], target)
}
