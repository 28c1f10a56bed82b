package sass

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/sarchlab/smsim/isa"
)

// Data sections that nvdisasm prints beside the code: constant banks with their contents, shared memory with its size.
//
//	.section .nv.constant2.kernel,"a",@progbits
//	.nv.constant2.kernel:
//	        .byte 0x01, 0x01, 0x01, 0x01
//	.section .nv.shared.kernel,"aw",@nobits
//	        .zero 1024
type dataSection struct {
	bank   int    // of constants; -1: shared memory
	kernel string // "": of all kernels
	bytes  []byte
}

var (
	reAnySection = regexp.MustCompile(`^\s*\.section\s`)
	reData       = regexp.MustCompile(`^\s*\.section\s+\.nv\.(?:constant(\d+)|shared)(?:\.([^,\s]+))?`)
	reDirective  = regexp.MustCompile(`^\s*(?:/\*[0-9a-fA-F]+\*/)?\s*\.(byte|short|2byte|word|4byte|dword|quad|8byte|zero|skip|align)\s+(.*?)\s*$`)
	reSHI        = regexp.MustCompile(`SHI_REGISTERS=(\d+)`)
)

// maxSection bounds a data section: constant banks have 64 KB, a block's shared memory less than 256 KB.
const maxSection = 256 << 10

// openData starts a data section if the line is its header.
func (l *Listing) openData(s string) *dataSection {
	m := reData.FindStringSubmatch(s)
	if m == nil {
		return nil
	}
	d := &dataSection{bank: -1, kernel: m[2]}
	if m[1] != "" {
		d.bank, _ = strconv.Atoi(m[1])
	}
	l.data = append(l.data, d)
	return d
}

// line takes the values of a directive; other lines of the section (labels, types, sizes) have none.
func (d *dataSection) line(s string) {
	m := reDirective.FindStringSubmatch(s)
	if m == nil {
		return
	}
	size := map[string]int{"byte": 1, "short": 2, "2byte": 2, "word": 4, "4byte": 4, "dword": 8, "quad": 8, "8byte": 8}[m[1]]
	if size == 0 {
		n, err := strconv.ParseUint(strings.TrimSpace(m[2]), 0, 32)
		if err != nil {
			return
		}
		if m[1] == "align" {
			if n == 0 || n > 4096 {
				return
			}
			n = (n - uint64(len(d.bytes))%n) % n
		}
		if uint64(len(d.bytes))+n <= maxSection {
			d.bytes = append(d.bytes, make([]byte, n)...)
		}
		return
	}
	for _, w := range strings.Split(m[2], ",") {
		v, err := strconv.ParseUint(strings.TrimSpace(w), 0, 64)
		if err != nil || len(d.bytes)+size > maxSection {
			return
		}
		for range size {
			d.bytes = append(d.bytes, byte(v))
			v >>= 8
		}
	}
}

// attach gives a program the data of its sections.
func (l *Listing) attach(f *Function, p *isa.Program) {
	for _, d := range l.data {
		switch {
		case d.kernel != "" && d.kernel != f.Name || len(d.bytes) == 0:
		case d.bank < 0:
			if d.kernel == f.Name && p.SharedBytes < 0 {
				p.SharedBytes = len(d.bytes)
			}
		case d.bank > 0 && d.bank < 32:
			if p.ConstBanks == nil {
				p.ConstBanks = map[uint8][]byte{}
			}
			p.ConstBanks[uint8(d.bank)] = d.bytes
		}
	}
}
