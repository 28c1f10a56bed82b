package advise

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/sarchlab/smsim/isa/ptx"
)

// TestDivide evaluates what divider writes for many divisors and dividends.
func TestDivide(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	divisors := []int64{1 << 31, 1<<31 - 1, 1<<31 + 1, 1<<32 - 1, 1 << 32, 1<<32 + 1, 1 << 62, 1<<63 - 1, -1 << 63, -1 << 31, 641, 6700417, 274177, 1e9 + 7}
	for b := int64(1); b <= 130; b++ {
		divisors = append(divisors, b, -b)
	}
	for range 200 {
		divisors = append(divisors, int64(rnd.Uint64()>>rnd.IntN(64)), -int64(rnd.Uint64()>>rnd.IntN(64)))
	}
	for _, width := range []uint{32, 64} {
		for _, by := range divisors {
			if width == 32 && int64(int32(by)) == 0 || by == 0 {
				continue
			}
			dividends := []uint64{0, 1, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1<<63 - 1, 1 << 63, 1<<64 - 1}
			for range 12 {
				m := rnd.Uint64() >> rnd.IntN(64)
				dividends = append(dividends, m, m*uint64(by), m*uint64(by)-1, m*uint64(by)+1)
			}
			for k := range 4 {
				signed, rest := k&1 != 0, k&2 != 0
				code := writeDivision(width, by, signed, rest)
				for _, a := range dividends {
					if got, want := evaluate(t, code, a, width), quotient(a, by, width, signed, rest); got != want {
						t.Fatalf("%d bits, signed %v, rest %v: %#x by %d gives %#x, not %#x\n%v", width, signed, rest, a, by, got, want, code)
					}
				}
			}
		}
	}
}

func writeDivision(width uint, by int64, signed, rest bool) []*ptx.Instr {
	s := &site{}
	d := &divider{s: s, n: &namer{prefix: map[string]string{"b32": "r", "b64": "q"}, next: map[string]int{}}, at: &inst{Instr: &ptx.Instr{}}, bits: width}
	if width == 32 {
		by = int64(int32(by))
	}
	d.divide(name("x"), name("a"), by, signed, rest)
	return s.before[0]
}

func quotient(a uint64, by int64, width uint, signed, rest bool) uint64 {
	b := uint64(by)
	if width == 32 {
		a, b = uint64(uint32(a)), uint64(uint32(b))
		if signed {
			a, b = uint64(int64(int32(a))), uint64(int64(int32(b)))
		}
	}
	q := a / b
	if signed {
		q = uint64(int64(a) / int64(b))
	}
	if rest {
		q = a - q*b
	}
	return cut(q, width)
}

func cut(v uint64, width uint) uint64 { return v << (64 - width) >> (64 - width) }

// evaluate executes the instructions that divider writes, where register a has the value, and gives register x.
func evaluate(t *testing.T, code []*ptx.Instr, a uint64, width uint) uint64 {
	reg := map[string]uint64{"a": cut(a, width)}
	for _, in := range code {
		var v [3]uint64
		for i, arg := range in.Args[1:] {
			v[i] = cut(uint64(arg.Int), width)
			if arg.Kind == ptx.ArgName {
				v[i] = reg[arg.Name]
			}
		}
		signed := func(x uint64) int64 { return int64(x<<(64-width)) >> (64 - width) }
		var r uint64
		switch op := in.Op + "." + in.Mods[0]; {
		case op == "mul.hi":
			high, low := bits.Mul64(v[0], v[1])
			if in.Mods[1][0] == 's' {
				x, y := uint64(signed(v[0])), uint64(signed(v[1]))
				high, low = bits.Mul64(x, y)
				high -= uint64(int64(x)>>63)&y + uint64(int64(y)>>63)&x
			}
			r = high
			if width == 32 {
				r = low >> 32
			}
		case op == "mad.lo":
			r = v[0]*v[1] + v[2]
		case in.Op == "mov":
			r = v[0]
		case in.Op == "and":
			r = v[0] & v[1]
		case in.Op == "add":
			r = v[0] + v[1]
		case in.Op == "sub":
			r = v[0] - v[1]
		case in.Op == "neg":
			r = -v[0]
		case op == "shr.u32", op == "shr.u64":
			r = v[0] >> v[1]
		case op == "shr.s32", op == "shr.s64":
			r = uint64(signed(v[0]) >> v[1])
		default:
			t.Fatalf("unexpected instruction %s", in)
		}
		reg[in.Args[0].Name] = cut(r, width)
	}
	return reg["x"]
}
