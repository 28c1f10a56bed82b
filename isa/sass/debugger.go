package sass

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// What cuda-gdb prints for `disassemble`, and for `x/20i $pc` without the line above:
//
//	Dump of assembler code for function _Z4copyPi:
//	=> 0x0000000202156400 <+0>:	MOV R1, c[0x0][0x28]
//	   0x0000000202156410 <+16>:	@P0 BRA 0x140
//
// The number behind + is the offset in the function, which branches name too; the address in memory is of no use. Neither target nor
// control information is there.
var (
	reDump = regexp.MustCompile(`^\s*Dump of assembler code for function (.+):\s*$`)
	// Names are those of the source and may hold spaces and angle brackets: <void copy<int>(int*)+16>.
	reDebugged = regexp.MustCompile(`^\s*(?:=>)?\s*0x[0-9a-fA-F]+\s+<(.*?)(?:\+(\d+))?>:\s+(\S.*?)\s*$`)
)

// debuggerLine takes a line of cuda-gdb; taken is false for others.
func (r *reader) debuggerLine(n int, s string) (taken bool, err error) {
	if m := reDump.FindStringSubmatch(s); m != nil {
		r.start(m[1], n)
		return true, nil
	}
	m := reDebugged.FindStringSubmatch(s)
	if m == nil {
		return false, nil
	}
	offset, err := strconv.ParseUint("0"+m[2], 10, 31)
	if err != nil {
		return true, r.errorIn(n, 1, againHint, "offset %s is no place in a function", m[2])
	}
	if name := m[1]; name != "" && (r.f == nil || r.f.Name != name) {
		r.start(name, n)
	}
	return true, r.instruction(r.f, fmt.Sprintf("/*%04x*/ %s ;", offset, strings.TrimSuffix(m[3], ";")), n)
}

// reReading matches the head of the text that `smsim disasm` prints for people.
var reReading = regexp.MustCompile(`^\S+ on sm_\d+ \([A-Za-z]+\): \d+ instruction`)

// forPeople is the error for output of `smsim disasm` that is not meant to be read again.
func (l *Listing) forPeople(n int, s, what string) error {
	return &Error{File: l.File, Line: n, Col: 1, Text: s, Msg: "this is " + what + " of smsim disasm, which leaves out constants and shared memory",
		Hint: "make the listing with smsim disasm --format sass"}
}
