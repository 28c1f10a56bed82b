package sass

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// What assemblers write differently from cuobjdump and nvdisasm.
//
// maxas (Maxwell, Pascal) has comments with # that name the kernel and its figures, no addresses, labels of any name, and in
// front of each instruction what it waits for (a mask of barriers in two hexadecimal digits), read and write barrier (1 to 6), yield
// and stall (one hexadecimal digit):
//
//	# Kernel: copy
//	# Arch: sm_50
//	# RegCnt: 8
//	01:-:2:Y:1  @P0 LDG.E R2, [R4];
//	LOOP:
//	--:-:-:-:5      BRA LOOP;
//
// CuAssembler has nvdisasm's sections, with names in quotes, and control information as in "[B------:R-:W0:-:S01]".

var (
	reMaxas      = regexp.MustCompile(`^\s*#\s*(Kernel|Arch|RegCnt|SharedSize)\s*:\s*(\S+)`)
	reMaxasCtrl  = regexp.MustCompile(`^\s*(--|[0-9a-fA-F]{2}):([1-6-]):([1-6-]):([Yy-]):([0-9a-fA-F]|1[0-5])\s+`)
	reMaxasLabel = regexp.MustCompile(`^\s*([A-Za-z_][A-Za-z0-9_]*):\s*$`)
	reMaxasJump  = regexp.MustCompile(`^((?:@!?P\d\s+)?(?:BRA|SSY|PBK|PCNT|PRET|CAL|JCAL|JMP)\S*\s+(?:.*,\s*)?)([A-Za-z_][A-Za-z0-9_]*)$`)
	// rePlain is the start of an instruction without anything in front.
	rePlain = regexp.MustCompile(`^\s*(?:@!?U?P[0-9T]+\s+)?[A-Z][A-Z0-9_]*(?:\.[A-Za-z0-9_]+)*(?:\s+[^:]*)?;`)
)

// maxasHeader takes a line that begins with #: a kernel's name, its target or its figures, or a comment.
func (r *reader) maxasHeader(n int, s string) error {
	m := reMaxas.FindStringSubmatch(s)
	if m == nil || r.f == nil && m[1] != "Kernel" {
		return nil
	}
	figure := func(what string, most int) (int, error) {
		v, err := strconv.Atoi(m[2])
		if err != nil || v < 0 || v > most {
			return 0, r.errorIn(n, strings.LastIndex(s, m[2])+1, "", "%s is a number of %s, 0 to %d, not %s", m[1], what, most, m[2])
		}
		return v, nil
	}
	switch {
	case m[1] == "Kernel":
		r.start(m[2], n)
		r.f.maxas = true
	case m[1] == "Arch":
		_, err := r.targetLine(&r.target, r.f, ".target "+m[2], n)
		r.f.SM = r.target.sm
		return err
	case m[1] == "RegCnt":
		v, err := figure("registers", 255)
		if err != nil {
			return err
		}
		r.f.setResource("REG", v)
	default:
		v, err := figure("bytes", 1<<20)
		if err != nil {
			return err
		}
		r.f.setResource("SHARED", v)
	}
	return nil
}

// maxasControl turns the control information in front of an instruction into the form that decodeText reads, and gives what follows.
func maxasControl(s string) (ctrl, rest string) {
	m := reMaxasCtrl.FindStringSubmatch(s)
	if m == nil {
		return "", s
	}
	mask, _ := strconv.ParseUint(strings.Trim(m[1], "-"), 16, 8)
	waits := []byte("------")
	for i := range waits {
		if mask>>i&1 != 0 {
			waits[i] = '0' + byte(i)
		}
	}
	barrier := func(d string) byte {
		if d == "-" {
			return '-'
		}
		return d[0] - 1
	}
	stall, err := strconv.ParseUint(m[5], 16, 8)
	if err != nil || stall > 15 {
		stall, _ = strconv.ParseUint(m[5], 10, 8)
	}
	return fmt.Sprintf("B%s:R%c:W%c:%s:S%02d", waits, barrier(m[2]), barrier(m[3]), strings.ToUpper(m[4]), stall), s[len(m[0]):]
}

// maxasTarget writes the label that a jump names as nvdisasm does.
func maxasTarget(text string) string {
	return reMaxasJump.ReplaceAllString(text, "${1}`(${2})")
}
