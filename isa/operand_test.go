package isa_test

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/sarchlab/smsim/isa"
)

func takesFloats(n string) bool {
	switch n {
	case "FADD", "FMUL", "FFMA", "FSETP", "FMNMX", "FSEL", "MUFU", "FSET", "FCMP", "FCHK":
		return true
	}
	return false
}

func isNum(s string) bool { _, err := strconv.ParseFloat(s, 64); return err == nil }
func parseNum(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic(err)
	}
	return v
}

func f16(v float64) uint16 {
	if v == 0 {
		if math.Signbit(v) {
			return 0x8000
		}
		return 0
	}
	s := uint16(0)
	if v < 0 {
		s, v = 0x8000, -v
	}
	if v > 65504 {
		return s | 0x7c00
	}
	_, e := math.Frexp(v)
	e = max(e-1, -14)
	q := uint64(math.RoundToEven(math.Ldexp(v, 10-e)))
	if q < 1024 {
		return s | uint16(q)
	}
	return s | uint16(e+15)<<10 | uint16(q)&1023
}

var regRe = regexp.MustCompile(`^(UR|UP|R|P|B)(\d+|Z|T)$`)

func parseOperand(t string) (o isa.Operand) {
	for {
		switch {
		case strings.HasPrefix(t, "!"):
			o.Flags |= isa.Neg
			t = t[1:]
			continue
		case strings.HasPrefix(t, "~"):
			o.Flags |= isa.Inv
			t = t[1:]
			continue
		case strings.HasPrefix(t, "-") && len(t) > 1 && (t[1] == 'R' || t[1] == 'U' || t[1] == '|' || t[1] == 'c'):
			o.Flags |= isa.Neg
			t = t[1:]
			continue
		case strings.HasPrefix(t, "|"):
			o.Flags |= isa.Abs
			t = strings.Replace(t[1:], "|", "", 1)
			continue
		}
		break
	}
	if strings.HasPrefix(t, "desc[") {
		i := strings.Index(t, "]")
		o.Flags |= isa.HasDesc
		dn, _ := strconv.Atoi(t[7:i])
		o.Desc = isa.Reg(dn)
		t = t[i+1:]
	}
	switch {
	case strings.HasPrefix(t, "["):
		o.Kind, o.Reg = isa.KindMem, isa.RZ
		parseAddress(&o, t[1:strings.Index(t, "]")])
		return
	case strings.HasPrefix(t, "c["):
		o.Kind, o.Reg = isa.KindConst, isa.RZ
		i := strings.Index(t, "]")
		b, _ := strconv.ParseUint(strings.TrimPrefix(t[2:i], "0x"), 16, 8)
		o.Bank = uint8(b)
		t = t[i+2:]
		parseAddress(&o, t[:strings.Index(t, "]")])
		return
	case strings.HasPrefix(t, "SR"):
		r, ok := isa.SpecialByName(t)
		if !ok {
			panic("special " + t)
		}
		o.Kind, o.Reg = isa.KindSpecial, r
		return
	}
	base, suf, _ := strings.Cut(t, ".")
	if g := regRe.FindStringSubmatch(base); g != nil {
		switch g[1] {
		case "R":
			o.Kind = isa.KindReg
		case "UR":
			o.Kind = isa.KindUReg
		case "P":
			o.Kind = isa.KindPred
		case "UP":
			o.Kind = isa.KindUPred
		case "B":
			o.Kind = isa.KindBarrier
		}
		switch g[2] {
		case "Z":
			o.Reg = isa.RZ
		case "T":
			o.Reg = isa.PT
		default:
			n, _ := strconv.Atoi(g[2])
			o.Reg = isa.Reg(n)
		}
		if suf != "" {
			for _, s := range strings.Split(suf, ".") {
				switch s {
				case "reuse", "64":
				case "CC":
					o.Flags |= isa.CCReg
				case "B0":
					o.Flags |= isa.SelB0
				case "SIGN":
					o.Flags |= isa.Sign
				case "H0_H0", "H0":
					o.Flags |= isa.SelH0
				case "H1_H1", "H1":
					o.Flags |= isa.SelH1
				case "B1":
					o.Flags |= isa.SelB1
				case "B2":
					o.Flags |= isa.SelB2
				case "B3":
					o.Flags |= isa.SelB3
				default:
					panic("suffix " + s)
				}
			}
		}
		return
	}
	o.Kind = isa.KindImm
	if strings.Contains(t, "x") {
		v, err := strconv.ParseInt(t, 0, 64)
		if err != nil {
			u, err := strconv.ParseUint(t, 0, 64)
			if err != nil {
				panic(err)
			}
			v = int64(u)
		}
		o.Imm = v
		return
	}
	if t == "+INF" || t == "-INF" || isNum(t) {
		o.Imm = 0
		return
	}
	panic("operand " + t)
}

func parseAddress(o *isa.Operand, s string) {
	s = strings.ReplaceAll(s, "+-", "-")
	s = regexp.MustCompile(`([^+])-`).ReplaceAllString(s, "$1+-")
	for _, p := range strings.Split(s, "+") {
		switch {
		case strings.HasPrefix(p, "UR"):
			if p != "URZ" {
				n, _ := strconv.Atoi(strings.Split(p[2:], ".")[0])
				o.UReg = isa.Reg(n)
				o.Flags |= isa.HasUReg
			}
		case strings.HasPrefix(p, "R"):
			b, suf, _ := strings.Cut(p, ".")
			if b == "RZ" {
				o.Reg = isa.RZ
			} else {
				n, _ := strconv.Atoi(b[1:])
				o.Reg = isa.Reg(n)
			}
			switch suf {
			case "64":
				o.Flags |= isa.Wide64
			case "X4":
				o.Flags |= isa.ScaleX4
			case "X8":
				o.Flags |= isa.ScaleX8
			case "X16":
				o.Flags |= isa.ScaleX16
			case "U32":
				o.Flags |= isa.Base32
			case "":
			default:
				panic("mem " + p)
			}
		default:
			v, err := strconv.ParseInt(p, 0, 64)
			if err != nil {
				panic(err)
			}
			o.Imm += v
		}
	}
}
