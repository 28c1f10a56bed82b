package conform

import (
	"flag"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/lower"
	"github.com/sarchlab/smsim/isa/ptx"
)

var everyImmediate = flag.Bool("every-immediate", false, "all combinations of immediate operands on all targets of TestImmediates, not a sample")

// operandUse is a use of operand %a, %b or %c with what stands around it.
var operandUse = regexp.MustCompile(`([-!\[]?)%([abc])\b(\.?)`)

// literal is a value of an operand's type as PTX text; signed numbers are written with a sign where plain is set.
func literal(typ string, v uint64, plain bool) string {
	bits := 64
	if _, err := fmt.Sscanf(typ[1:], "%d", &bits); err != nil {
		panic(err)
	}
	if typ == "f32" {
		return fmt.Sprintf("0f%08X", uint32(v))
	}
	v <<= 64 - bits
	if typ[0] == 's' && plain {
		return fmt.Sprint(int64(v) >> (64 - bits))
	}
	return fmt.Sprintf("%#x", v>>(64-bits))
}

// withImmediates is the form with the operands of the mask as immediates, the values of vector k. ok is false where an
// operand has a selector or a sign, which immediates do not take, and for lanes, of which there are none.
func (s *Set) withImmediates(f *Form, mask, k int) (Form, bool) {
	g, ok := *f, !packed.MatchString(f.PTX)
	g.PTX = operandUse.ReplaceAllStringFunc(f.PTX, func(use string) string {
		m := operandUse.FindStringSubmatch(use)
		i := int(m[2][0] - 'a')
		if mask>>i&1 == 0 {
			return use
		}
		ok = ok && m[1] == "" && m[3] == ""
		word := [][]uint64{s.A, s.B, s.C}[i][k]
		v := word
		if op := f.PTX[:3]; op == "bfe" && i > 0 || op == "bfi" && i > 1 { // positions and lengths are literals up to 255
			v &= 255
			if v != word&0xffffffff && strings.HasPrefix(f.PTX, "bfi.b64") { // which looks at all 32 bits of a position
				v = 255
			}
		}
		return literal(f.Operands[i], v, k%2 == 0)
	})
	return g, ok
}

// withConstants is the form with the operands of the mask overwritten by constants, the values of vector k, which the
// optimiser then finds in registers.
func (s *Set) withConstants(f *Form, mask, k int) Form {
	g := *f
	for i, typ := range f.Operands {
		if mask>>i&1 != 0 {
			v := literal(typ, [][]uint64{s.A, s.B, s.C}[i][k], k%2 == 0)
			g.PTX = fmt.Sprintf("mov.%s %%%c, %s; %s", Register(typ), 'a'+i, v, g.PTX)
		}
	}
	return g
}

// fixed is the set with the operands of the mask the same in all vectors: those of vector k.
func (s *Set) fixed(mask, k int) *Set {
	t := *s
	for i, w := range []*[]uint64{&t.A, &t.B, &t.C} {
		if mask>>i&1 != 0 {
			v := (*w)[k]
			*w = make([]uint64, s.Vectors)
			for j := range *w {
				(*w)[j] = v
			}
		}
	}
	return &t
}

// packed is the start of an operation on the lanes of words, with 16x2 among its types or 2 or 4 behind its name.
var packed = regexp.MustCompile(`^(v[a-z]+[24]\.|\S*\.[us]16x2\b)`)

// TestImmediates: a form with immediates in place of registers, or with constants in its registers, gives what it gives
// with values that are loaded.
func TestImmediates(t *testing.T) {
	s, err := Bundled()
	if err != nil {
		t.Fatal(err)
	}
	targets := []int{13, 35, 61, 75, 90, 120}
	runs, refused := 0, map[string]int{}
	for n := range s.Forms {
		f := &s.Forms[n]
		video := f.PTX[0] == 'v' // most of the forms, and few rules
		if !f.Accepted || video && n%16 != 0 && !*everyImmediate {
			continue
		}
		for j, sm := range targets {
			tg := isa.NewTarget(sm)
			register, err := lowerForm(f, tg)
			if err != nil {
				continue
			}
			for mask := 1; mask < 1<<len(f.Operands); mask++ {
				k := (7*n + 11*j + 5*mask) % s.Vectors
				turn := (n + j + mask) % 6
				var forms []Form
				if g, ok := s.withImmediates(f, mask, k); ok && (turn == 0 || *everyImmediate) {
					forms = append(forms, g)
				}
				if turn == 3 || *everyImmediate {
					forms = append(forms, s.withConstants(f, mask, k))
				}
				for i := range forms {
					p, err := lowerForm(&forms[i], tg)
					if err != nil {
						refused[f.Op()]++
						continue
					}
					runs++
					checkImmediates(t, s.fixed(mask, k), &forms[i], tg, register, p)
				}
			}
		}
	}
	if len(refused) > 0 {
		t.Errorf("refused with immediates: %v", refused)
	}
	if runs < 500 {
		t.Errorf("only %d forms were tried", runs)
	}
}

func lowerForm(f *Form, tg *isa.Target) (*isa.Program, error) {
	m, err := ptx.Parse("form.ptx", []byte(f.Kernel()))
	if err != nil {
		return nil, err
	}
	return lower.Compile(m, "", tg, lower.Options{})
}

// checkImmediates compares the results of two programs for form g.
func checkImmediates(t *testing.T, s *Set, g *Form, tg *isa.Target, register, immediate *isa.Program) {
	t.Helper()
	d, e, err := s.execute(register, tg)
	if err != nil {
		t.Fatal(err)
	}
	got, gotE, err := s.execute(immediate, tg)
	if err != nil {
		t.Errorf("sm_%d: form %d, %s: %v", tg.SM, g.ID, g.PTX, err)
		return
	}
	for i := range d {
		if strings.HasPrefix(g.Result, "f") && math.IsNaN(float64(math.Float32frombits(uint32(d[i])))) && math.IsNaN(float64(math.Float32frombits(uint32(got[i])))) {
			continue
		}
		if got[i] != d[i] || g.Second != "" && gotE[i] != e[i] {
			t.Errorf("sm_%d: form %d, %s: vector %d gives %#x and %#x, with registers %#x and %#x (a=%#x b=%#x c=%#x)",
				tg.SM, g.ID, g.PTX, i, got[i], gotE[i], d[i], e[i], s.A[i], s.B[i], s.C[i])
			return
		}
	}
}
