package sm

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
)

// TestMeasuredStreams compares streams of independent instructions with what the hardware needs for them.
func TestMeasuredStreams(t *testing.T) {
	text, err := os.ReadFile("testdata/h200_streams.txt")
	if err != nil {
		t.Fatal(err)
	}
	a := arch(t, "sm_90")
	for n, line := range strings.Split(string(text), "\n") {
		f := strings.Fields(line)
		if len(f) < 3 || f[0] == "#" {
			continue
		}
		want, err1 := strconv.ParseFloat(f[len(f)-2], 64)
		tolerance, err2 := strconv.ParseFloat(f[len(f)-1], 64)
		if err1 != nil || err2 != nil {
			t.Fatalf("line %d: %q", n+1, line)
		}
		group := f[:len(f)-2]
		var body []isa.Inst
		const groups = 96
		for i := range groups {
			for j, text := range group {
				in, err := streamOp(text, (i*len(group)+j)%6)
				if err != nil {
					t.Fatalf("line %d: %v", n+1, err)
				}
				body = append(body, in)
			}
		}
		rec, _ := run(t, a, code(append(body, exit())...), 1, 512, Options{})
		first, last := uint64(math.MaxUint64), uint64(0)
		for _, at := range rec.at {
			first, last = min(first, at[0]), max(last, at[len(body)-1])
		}
		const warps = 4 // a sub-partition
		got := float64(last-first) / (groups * warps)
		if math.Abs(got/want-1)*100 > tolerance {
			t.Errorf("%s: %.2f cycles a group, measured %.2f", strings.Join(group, " "), got, want)
		}
	}
}

// streamOps are the opcodes of the file.
var streamOps = map[string]isa.Op{"IADD3": isa.OpIADD3, "LOP3": isa.OpLOP3, "SHF": isa.OpSHF, "PRMT": isa.OpPRMT, "IMAD": isa.OpIMAD, "WIDE": isa.OpIMAD,
	"IDP": isa.OpIDP, "VIADD": isa.OpVIADD, "FFMA": isa.OpFFMA, "FADD": isa.OpFADD, "HFMA2": isa.OpHFMA2, "POPC": isa.OpPOPC, "MUFU": isa.OpMUFU}

// streamOp reads "FFMA(E,O,Z)". Sources are distinct registers that nobody writes.
func streamOp(text string, n int) (isa.Inst, error) {
	name, rest, ok := strings.Cut(strings.TrimSuffix(text, ")"), "(")
	o, known := streamOps[name]
	if !ok || !known {
		return isa.Inst{}, fmt.Errorf("%q is not an instruction of the file", text)
	}
	in := op(o, isa.R(isa.Reg(40+2*n)))
	for i, s := range strings.Split(rest, ",") {
		var r isa.Operand
		switch s[0] {
		case 'E':
			r = isa.R(isa.Reg(2 * i))
		case 'O':
			r = isa.R(isa.Reg(2*i + 1))
		case 'Z':
			r = isa.R(isa.RZ)
		default:
			return isa.Inst{}, fmt.Errorf("operand %q", s)
		}
		if strings.HasSuffix(s, "r") {
			r.Flags |= isa.Reuse
		}
		in.Src[i] = r
		in.NSrc++
	}
	switch name {
	case "WIDE":
		in.Mod.Flags |= isa.ModWide
	case "IDP":
		in.Mod.Sub, in.Mod.Type, in.Mod.BType = isa.Sub4A, isa.U8, isa.U8
	case "MUFU":
		in.Mod.Sub = isa.SubRcp
	case "SHF":
		in.Mod.Flags |= isa.ModRight
	}
	return in, nil
}
