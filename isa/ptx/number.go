package ptx

import (
	"math"
	"strconv"
	"strings"
)

// constant is the value of a constant expression. Integers carry their 64 bits and whether they are unsigned, as PTX
// types them: signed unless the literal has a U suffix or does not fit in 63 bits.
type constant struct {
	bits     uint64 // integer, or the bits of a float (32 of them with single)
	unsigned bool
	isFloat  bool
	float    float64
	hexFloat bool // written as 0f or 0d
	single   bool // 0f
}

// parseNumber reads a literal: decimal, 0x, 0b and 0 (octal) integers with an optional U, 0fXXXXXXXX, 0dXXXXXXXXXXXXXXXX
// and decimal floats. A failure is described by problem and hint.
func parseNumber(s string) (c constant, problem, hint string) {
	if len(s) > 2 && s[0] == '0' {
		switch s[1] {
		case 'f', 'F':
			return hexFloat(s, 8)
		case 'd', 'D':
			return hexFloat(s, 16)
		}
	}
	isHex := strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X")
	if !isHex && strings.ContainsAny(s, ".eE") && !strings.HasPrefix(s, "0b") {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil || strings.ContainsAny(s, "_xXpP") {
			if math.IsInf(f, 0) {
				return c, "floating-point literal " + quote(s) + " is too large for 64 bits", "write an infinity as 0f7F800000 or 0d7FF0000000000000"
			}
			return c, "bad floating-point literal " + quote(s), "write it as 1.5, 1.5e-3, 0f3FC00000 (32 bits) or 0d3FF8000000000000 (64 bits)"
		}
		return constant{bits: math.Float64bits(f), isFloat: true, float: f}, "", ""
	}
	digits, unsigned := strings.CutSuffix(s, "U")
	base, what := 10, "decimal"
	switch {
	case isHex:
		digits, base, what = digits[2:], 16, "hexadecimal"
	case strings.HasPrefix(digits, "0b") || strings.HasPrefix(digits, "0B"):
		digits, base, what = digits[2:], 2, "binary"
	case len(digits) > 1 && digits[0] == '0':
		digits, base, what = digits[1:], 8, "octal"
	}
	v, err := strconv.ParseUint(digits, base, 64)
	if err != nil || strings.Contains(digits, "_") {
		if ne, ok := err.(*strconv.NumError); ok && ne.Err == strconv.ErrRange {
			return c, "integer literal " + quote(s) + " does not fit in 64 bits", "ptxas would keep the low 64 bits: write those"
		}
		if strings.HasSuffix(s, "u") {
			hint = "the suffix of unsigned literals is a capital U"
		} else if base == 8 {
			hint = "a leading 0 makes a literal octal"
		}
		return c, "bad " + what + " literal " + quote(s), hint
	}
	return constant{bits: v, unsigned: unsigned || v > math.MaxInt64}, "", ""
}

// hexFloat reads the bits of a 0f or 0d literal; digits is how many must follow.
func hexFloat(s string, digits int) (c constant, problem, hint string) {
	v, err := strconv.ParseUint(s[2:], 16, 64)
	if err != nil || len(s) != 2+digits {
		return c, "bad floating-point literal " + quote(s),
			s[:2] + " must be followed by exactly " + strconv.Itoa(digits) + " hexadecimal digits, the bits of the number"
	}
	c = constant{bits: v, isFloat: true, hexFloat: true, single: digits == 8}
	if c.single {
		c.float = float64(math.Float32frombits(uint32(v)))
	} else {
		c.float = math.Float64frombits(v)
	}
	return c, "", ""
}

// negate is unary minus, on the sign bit for floats so that NaN bits survive.
func (c constant) negate() constant {
	switch {
	case !c.isFloat:
		c.bits = -c.bits
	case c.single:
		c.bits ^= 1 << 31
		c.float = -c.float
	default:
		c.bits ^= 1 << 63
		c.float = -c.float
	}
	return c
}

func boolConstant(b bool) constant {
	if b {
		return constant{bits: 1}
	}
	return constant{}
}

// truth is the constant as a condition.
func (c constant) truth() bool {
	if c.isFloat {
		return c.float != 0
	}
	return c.bits != 0
}
