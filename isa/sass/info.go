package sass

import (
	"regexp"
	"sort"
	"strconv"
	"strings"

	"github.com/sarchlab/smsim/isa"
)

// infoSection is .nv.info or .nv.info.kernel as nvdisasm prints it: attributes, each a few numbers.
//
//	//----- nvinfo : EIATTR_KPARAM_INFO
//	        /*0008*/ .byte 0x04, 0x17
//	        /*000a*/ .short (.L_119 - .L_118)
//	.L_118:
//	        /*000c*/ .word 0x00000000
//	        /*0010*/ .short 0x0002            // which parameter
//	        /*0012*/ .short 0x0010            // its offset
//	        /*0014*/ .byte 0x00, 0xf0, 0x11, 0x00  // its size, shifted by 18 bits
type infoSection struct {
	kernel string // "": attributes name it
	name   string // of the attribute being read
	values []uint64
	of     string // function named by the attribute
}

// paramInfo is one parameter of a kernel.
type paramInfo struct{ ordinal, offset, size uint32 }

var (
	reInfoSection = regexp.MustCompile(`^\.nv\.info(?:\.([^,\s]+))?$`)
	reAttribute   = regexp.MustCompile(`nvinfo\s*:\s*EIATTR_(\w+)`)
	reIndex       = regexp.MustCompile(`index@\(([^)]+)\)`)
)

// infoLine takes a line of the section; what an attribute says is known when the next begins.
func (l *Listing) infoLine(n *infoSection, s string) {
	if m := reAttribute.FindStringSubmatch(s); m != nil {
		l.endInfo(n)
		n.name, n.values, n.of = m[1], nil, n.kernel
		return
	}
	m := reDirective.FindStringSubmatch(s)
	if m == nil || n.name == "" || m[1] == "align" {
		return
	}
	if f := reIndex.FindStringSubmatch(m[2]); f != nil {
		n.of = f[1]
		return
	}
	for _, w := range strings.Split(m[2], ",") {
		if v, err := strconv.ParseUint(strings.TrimSpace(w), 0, 64); err == nil && len(n.values) < 64 {
			n.values = append(n.values, v)
		}
	}
}

// endInfo keeps what the attribute says: the first two values are its format and number.
func (l *Listing) endInfo(n *infoSection) {
	v := n.values
	set := func(key string, value uint64) {
		l.resources = append(l.resources, &resources{kernel: n.of, values: map[string]int{key: int(min(value, 1<<30))}})
	}
	switch {
	case len(v) < 3 || n.of == "":
	case n.name == "REGCOUNT":
		set("REG", v[2])
	case n.name == "MIN_STACK_SIZE" || n.name == "FRAME_SIZE":
		set("STACK", v[2])
	case n.name == "KPARAM_INFO" && len(v) >= 9:
		size := uint32(v[5]|v[6]<<8|v[7]<<16|v[8]<<24) >> 18
		l.params[n.of] = append(l.params[n.of], paramInfo{uint32(v[3]), uint32(v[4]), size})
	}
	n.name = ""
}

// declaredParams are the kernel's parameters, if the listing tells them.
func (l *Listing) declaredParams(kernel string) []isa.Param {
	info := l.params[kernel]
	sort.Slice(info, func(i, k int) bool { return info[i].ordinal < info[k].ordinal })
	var out []isa.Param
	for i, q := range info {
		if q.ordinal != uint32(i) || q.size == 0 {
			return nil
		}
		out = append(out, isa.Param{Name: "parameter " + strconv.Itoa(i+1), Offset: q.offset, Size: q.size, Align: max(1, min(8, q.size&-q.size))})
	}
	return out
}
