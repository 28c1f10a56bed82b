package sass

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sarchlab/smsim/isa"
)

// Data sections that nvdisasm prints beside the code: constant banks and global variables with their contents, shared
// memory with its size.
//
//	.section .nv.constant2.kernel,"a",@progbits
//	.nv.constant2.kernel:
//	        .byte 0x01, 0x01, 0x01, 0x01
//	.section .nv.constant4,"a",@progbits
//	.nv.constant4:
//	        /*0000*/ .dword table
//	.section .nv.global.init,"aw",@progbits
//	table:
//	        /*0000*/ .dword fun@R_CUDA_G64((other + 0xc))
//	.section .nv.shared.kernel,"aw",@nobits
//	        .zero 1024
//
// Sections of other kinds (debug data, notes, call graphs) say nothing that is used and are passed over.
type dataSection struct {
	kind    dataKind
	bank    int    // of constants
	kernel  string // "": of all kernels
	bytes   []byte
	align   int
	symbols []dataSymbol // in the order of their offsets
	relocs  []isa.Reloc
}

// dataSymbol is a variable inside a section.
type dataSymbol struct {
	name   string
	offset int
}

type dataKind uint8

const (
	dataOther dataKind = iota
	dataConstant
	dataShared
	dataGlobal
)

var (
	reAnySection = regexp.MustCompile(`^\s*\.section\s+"?([^\s,"]+)`)
	reData       = regexp.MustCompile(`^\.nv\.(constant(\d+)|shared|global)(?:\.([^,\s]+))?$`)
	reDirective  = regexp.MustCompile(`^\s*(?:/\*[0-9a-fA-F]+\*/)?\s*\.(byte|short|2byte|word|4byte|dword|quad|8byte|zero|skip|align)\s+(.*?)\s*$`)
	reSymbol     = regexp.MustCompile(`^\s*([A-Za-z_$][\w$.]*|\.[A-Za-z_][\w$.]*):\s*$`)
	reAddress    = regexp.MustCompile(`^\(*([A-Za-z_$][\w$.]*)(?:\s*([+-])\s*(0x[0-9a-fA-F]+|\d+))?\)*$`)
	reSHI        = regexp.MustCompile(`SHI_REGISTERS=(\d+)`)
)

// maxSection bounds a data section: constant banks have 64 KB, a block's shared memory less than 256 KB; of global variables
// larger ones are cut, and reads behind the end reported.
const (
	maxSection = 256 << 10
	maxGlobals = 64 << 20
)

// section is the section that is being read; nothing of it is set in code.
type section struct {
	data *dataSection
	info *infoSection
	skip bool
}

func (o *section) other() bool { return o.data != nil || o.info != nil || o.skip }

// openSection starts the section that the line is the header of.
func (l *Listing) openSection(s string) section {
	m := reAnySection.FindStringSubmatch(s)
	if m == nil || strings.HasPrefix(m[1], ".text") {
		return section{}
	}
	if n := reInfoSection.FindStringSubmatch(m[1]); n != nil {
		return section{info: &infoSection{kernel: n[1]}}
	}
	k := reData.FindStringSubmatch(m[1])
	if k == nil {
		return section{skip: true}
	}
	d := &dataSection{align: 1, kernel: k[3]}
	switch {
	case k[2] != "":
		d.kind = dataConstant
		d.bank, _ = strconv.Atoi(k[2])
	case k[1] == "shared" && !strings.HasPrefix(k[3], "reserved"):
		d.kind = dataShared
	case k[1] == "global":
		d.kind, d.kernel = dataGlobal, ""
	}
	l.data = append(l.data, d)
	return section{data: d}
}

func (l *Listing) sectionLine(o *section, s string) {
	switch {
	case o.data != nil:
		o.data.line(withoutNote(s))
	case o.info != nil:
		l.infoLine(o.info, s)
	}
}

// withoutNote leaves out what nvdisasm -plr prints beside every line.
func withoutNote(s string) string {
	if k := strings.Index(s, "//"); k > 0 {
		return strings.TrimRight(s[:k], " \t")
	}
	return s
}

// closeSection ends the open section.
func (l *Listing) closeSection(o *section) {
	if o.info != nil {
		l.endInfo(o.info)
	}
	*o = section{}
}

// line takes the values of a directive and the names of variables; other lines of the section have neither.
func (d *dataSection) line(s string) {
	if d.kind == dataOther {
		return
	}
	m := reDirective.FindStringSubmatch(s)
	if m == nil {
		if m := reSymbol.FindStringSubmatch(s); m != nil && !strings.HasPrefix(m[1], ".") {
			d.symbols = append(d.symbols, dataSymbol{m[1], len(d.bytes)})
		}
		return
	}
	limit := maxSection
	if d.kind == dataGlobal {
		limit = maxGlobals
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
			d.align = max(d.align, int(n))
			n = (n - uint64(len(d.bytes))%n) % n
		}
		if uint64(len(d.bytes))+n <= uint64(limit) {
			d.bytes = append(d.bytes, make([]byte, n)...)
		}
		return
	}
	for _, w := range strings.Split(m[2], ",") {
		w = strings.TrimSpace(w)
		if len(d.bytes)+size > limit {
			return
		}
		v, err := strconv.ParseUint(w, 0, 64)
		if err != nil {
			r, ok := address(w, size)
			if !ok {
				return
			}
			r.Offset = uint64(len(d.bytes))
			d.relocs = append(d.relocs, r)
			v = 0
		}
		for range size {
			d.bytes = append(d.bytes, byte(v))
			v >>= 8
		}
	}
}

// address reads the address of a variable: gtab, fun@R_CUDA_G64((gtab + 0xc)).
func address(s string, size int) (isa.Reloc, bool) {
	if k := strings.Index(s, "("); k >= 0 && strings.Contains(s[:k], "@") {
		s = s[k:] // the kind of relocation: all are whole addresses
	}
	m := reAddress.FindStringSubmatch(s)
	if m == nil {
		return isa.Reloc{}, false
	}
	r := isa.Reloc{Symbol: m[1], Bytes: uint8(size)}
	if m[3] != "" {
		n, err := strconv.ParseInt(m[3], 0, 64)
		if err != nil {
			return r, false
		}
		if m[2] == "-" {
			n = -n
		}
		r.Addend = n
	}
	return r, true
}

// attach gives a program the data of its sections.
func (l *Listing) attach(f *Function, p *isa.Program) {
	for _, d := range l.data {
		switch {
		case d.kernel != "" && d.kernel != f.Name:
		case d.kind == dataGlobal:
			p.Globals = append(p.Globals, d.globals()...)
		case len(d.bytes) == 0:
		case d.kind == dataShared:
			if d.kernel == f.Name && p.SharedBytes < 0 {
				p.SharedBytes = len(d.bytes)
				if f.SM >= 90 { // with what the system takes, which the code's addresses begin behind
					p.SharedBytes = max(0, p.SharedBytes-systemShared)
				}
			}
		case d.kind == dataConstant && d.bank > 0 && d.bank < 32:
			if p.ConstBanks == nil {
				p.ConstBanks = map[uint8][]byte{}
			}
			p.ConstBanks[uint8(d.bank)] = d.bytes
			for _, r := range d.relocs {
				p.ConstRelocs = append(p.ConstRelocs, isa.ConstReloc{Bank: uint8(d.bank), Reloc: r})
			}
		}
	}
}

// globals are the variables of a section of global memory, each up to the next.
func (d *dataSection) globals() []isa.Global {
	var out []isa.Global
	for i, y := range d.symbols {
		end := len(d.bytes)
		if i+1 < len(d.symbols) {
			end = d.symbols[i+1].offset
		}
		if end <= y.offset {
			continue
		}
		g := isa.Global{Name: y.name, Bytes: uint64(end - y.offset), Align: uint64(d.align), Init: slices.Clone(d.bytes[y.offset:end])}
		for _, r := range d.relocs {
			if int(r.Offset) >= y.offset && int(r.Offset) < end {
				r.Offset -= uint64(y.offset)
				g.Relocs = append(g.Relocs, r)
			}
		}
		out = append(out, g)
	}
	return out
}
