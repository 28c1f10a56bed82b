package sass

import (
	"regexp"
	"strconv"
	"strings"
)

// resources are figures that stand apart from a function's code: cuobjdump -res-usage and ptxas -v print them under the
// function's name, before or after the listing.
//
//	Function saxpy:
//	 REG:10 STACK:0 SHARED:0 LOCAL:0 CONSTANT[0]:380 TEXTURE:0 SURFACE:0 SAMPLER:0
//
//	ptxas info    : Compiling entry function 'saxpy' for 'sm_90'
//	ptxas info    : Used 10 registers, 1024 bytes smem, 380 bytes cmem[0]
type resources struct {
	kernel string
	sm     int // 0: not said
	values map[string]int
	system bool // the shared memory includes what the system takes from Hopper on: ptxas -v leaves it out
}

var (
	reResFunc = regexp.MustCompile(`^\s*Function\s+([^\s:]+):\s*$`)
	rePtxas   = regexp.MustCompile(`Compiling entry function '([^']+)' for 'sm_(\d+)a?'`)
	reUsed    = regexp.MustCompile(`Used (\d+) registers`)
	reSmem    = regexp.MustCompile(`(\d+) bytes smem`)
)

// resourceLine takes a line that names a function for figures to come, or gives them; taken is false for other lines.
func (l *Listing) resourceLine(s string, sm int) (taken bool) {
	if !strings.Contains(s, "Function") && !strings.Contains(s, "function") && l.open == nil {
		return false
	}
	if m := reResFunc.FindStringSubmatch(s); m != nil {
		l.open = &resources{kernel: m[1], sm: sm, values: map[string]int{}}
		return true
	}
	if m := rePtxas.FindStringSubmatch(s); m != nil {
		n, _ := strconv.Atoi(m[2])
		l.open = &resources{kernel: m[1], sm: n, values: map[string]int{"SHARED": 0}}
		return true
	}
	if l.open == nil {
		return false
	}
	found := false
	for _, m := range reRes.FindAllStringSubmatch(s, -1) {
		v, _ := strconv.Atoi(m[2])
		l.open.values[strings.ToUpper(m[1])] = v
		found = true
	}
	l.open.system = strings.Contains(s, "CONSTANT[") // cuobjdump -res-usage
	if m := reUsed.FindStringSubmatch(s); m != nil {
		l.open.values["REG"], _ = strconv.Atoi(m[1])
		if m := reSmem.FindStringSubmatch(s); m != nil {
			l.open.values["SHARED"], _ = strconv.Atoi(m[1])
		}
		found = true
	}
	if found {
		l.resources = append(l.resources, l.open)
		l.open = nil
	}
	return found
}

// applyAll gives every function the figures that stand under its name.
func (l *Listing) applyAll() {
	for _, r := range l.resources {
		for _, f := range l.Funcs {
			if f.Name == r.kernel && (r.sm == 0 || f.SM == 0 || r.sm == f.SM) {
				if r.system && f.SM >= 90 && r.values["SHARED"] >= systemShared {
					r.values["SHARED"] -= systemShared
				}
				for name, v := range r.values {
					f.setResource(name, v)
				}
			}
		}
	}
}
