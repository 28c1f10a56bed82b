// Package sass reads the machine-code listings that cuobjdump -sass and nvdisasm print into programs.
// It knows nothing of PTX or timing.
package sass

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Listing is one file: its functions in order.
type Listing struct {
	File  string
	Lines []string
	Funcs []*Function

	data      []*dataSection
	params    map[string][]paramInfo // by kernel
	resources []*resources
	open      *resources // a function was named, its figures follow
}

// Function is the text of one function, split into instructions but not yet interpreted.
type Function struct {
	Name   string
	SM     int // target, 0 if the listing does not say
	Line   int // line of the header, counted from 1
	Insts  []rawInst
	Words  bool           // encodings are present
	Labels map[string]int // nvdisasm labels: index of the instruction that follows
	// Resources found in the listing, -1 when it does not say.
	Regs, SharedBytes, LocalBytes int
	sharedBase                    int // where addresses of shared memory start, -1: as on the target

	sched     uint64 // open scheduling word and how many instructions it still covers
	schedLeft int
}

// rawInst is one instruction line with the encodings that belong to it.
type rawInst struct {
	addr   uint32
	placed bool   // the line gives the address
	text   string // without guard's address comment, encodings and semicolon
	words  []uint64
	line   int      // counted from 1
	col    int      // column of text, counted from 1
	dual   bool     // inside nvdisasm's { } pair, first half
	to     []string // labels that nvdisasm names as the targets of an indexed branch
	ctrl   string   // control information as text in front of the instruction, "" if there is none
	sched  uint64
	slot   int // position in its scheduling group (Kepler, Maxwell, Pascal), -1: none
}

// Error is a problem in a listing with its place.
type Error struct {
	File      string
	Line, Col int
	Msg       string
	Text      string // the offending line
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg)
	if e.Text != "" {
		s += "\n    " + strings.TrimSpace(e.Text)
	}
	return s
}

var (
	reFunc    = regexp.MustCompile(`^\s*Function\s*:\s*(\S+)`)
	reSection = regexp.MustCompile(`^\s*\.section\s+\.text\.([^,\s]+)`)
	reText    = regexp.MustCompile(`^\s*\.text\.([^:\s]+):\s*$`)
	reLabel   = regexp.MustCompile(`^\s*(\.L_x?_?[A-Za-z0-9_.$]+|\$[A-Za-z0-9_.$]+):\s*$`)
	reCtrl    = regexp.MustCompile(`^\s*\[?(B[0-9-]{6}:R[0-9-]:W[0-9-]:[Y-]:S\d\d)\]?\s*`)
	reTargets = regexp.MustCompile(`^\(\*"BRANCH_TARGETS\s+([^"]*)"\*\)`)
	reRes     = regexp.MustCompile(`(?i)\b(REG|SHARED_BASE|SHARED|STACK|LOCAL)\s*:\s*(\d+)`)
)

// Read splits a listing into functions. Lines that are neither headers, labels, instructions nor
// encodings (section directives, blank lines, ptxas messages) are skipped.
func Read(file string, text []byte) (*Listing, error) {
	l := &Listing{File: file, Lines: strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n"), params: map[string][]paramInfo{}}
	var ts targetState
	var f *Function
	pendingRes := map[string]int{}
	start := func(name string, line int) {
		ts.fresh = false
		f = &Function{Name: name, SM: ts.sm, Line: line, Labels: map[string]int{}, Regs: -1, SharedBytes: -1, LocalBytes: -1, sharedBase: -1}
		l.Funcs = append(l.Funcs, f)
	}
	var open section
	for i, s := range l.Lines {
		n := i + 1
		if strings.Contains(s, ".section") && reAnySection.MatchString(s) {
			l.closeSection(&open)
			open = l.openSection(s)
		}
		if open.other() && !reFunc.MatchString(s) && !reCode.MatchString(s) {
			l.sectionLine(&open, s)
			continue
		}
		l.closeSection(&open)
		if strings.Contains(s, "SHI_REGISTERS") && f != nil {
			if m := reSHI.FindStringSubmatch(s); m != nil {
				f.Regs, _ = strconv.Atoi(m[1])
			}
			continue
		}
		if t := strings.TrimLeft(s, " \t{"); strings.HasPrefix(t, "/*") && f != nil {
			if err := l.instruction(f, s, n); err != nil {
				return nil, err
			}
			continue
		}
		s = withoutNote(s)
		if l.resourceLine(s, ts.sm) {
			continue
		}
		if taken, err := l.targetLine(&ts, f, s, n); err != nil {
			return nil, err
		} else if taken {
			if ts.whole && ts.line == n {
				f = nil
			}
			continue
		}
		switch {
		case reFunc.MatchString(s):
			name := strings.TrimSuffix(reFunc.FindStringSubmatch(s)[1], ":")
			if strings.Contains(s, "REG:") || strings.HasSuffix(strings.TrimSpace(s), ":") && !strings.Contains(s, "code") {
				// cuobjdump -res-usage: "Function name:" with the resources on the next line.
				name = strings.TrimSuffix(name, ":")
			}
			start(name, n)
			f.applyResources(pendingRes)
			continue
		case reSection.MatchString(s):
			name := reSection.FindStringSubmatch(s)[1]
			if f == nil || f.Name != name {
				start(name, n)
			}
			continue
		case reText.MatchString(s):
			name := reText.FindStringSubmatch(s)[1]
			if f == nil || f.Name != name {
				start(name, n)
			}
			continue
		}
		for _, m := range reRes.FindAllStringSubmatch(s, -1) {
			if f != nil {
				v, _ := strconv.Atoi(m[2])
				pendingRes[strings.ToUpper(m[1])] = v
				f.applyResources(pendingRes)
				pendingRes = map[string]int{}
			}
		}
		if m := reLabel.FindStringSubmatch(s); m != nil && f != nil {
			if _, twice := f.Labels[m[1]]; twice {
				return nil, &Error{File: file, Line: n, Col: 1, Msg: fmt.Sprintf("label %s stands a second time in function %s", m[1], f.Name), Text: s}
			}
			f.Labels[m[1]] = len(f.Insts)
			continue
		}
		if err := l.instruction(f, s, n); err != nil {
			return nil, err
		}
	}
	l.closeSection(&open)
	l.applyAll()
	if len(l.Funcs) == 0 {
		return nil, &Error{File: file, Line: 1, Col: 1, Msg: "no machine code found: expected the output of cuobjdump -sass or nvdisasm (a line \"Function : name\" or \".text.name:\")", Text: firstLine(l.Lines)}
	}
	return l, nil
}

func (f *Function) applyResources(res map[string]int) {
	for k, v := range res {
		switch k {
		case "REG":
			f.Regs = v
		case "SHARED":
			f.SharedBytes = v
		case "SHARED_BASE":
			f.sharedBase = v
		case "STACK", "LOCAL":
			f.LocalBytes = max(f.LocalBytes, v)
		}
	}
}

func firstLine(lines []string) string {
	for _, s := range lines {
		if strings.TrimSpace(s) != "" {
			return s
		}
	}
	return ""
}

// instruction reads one line that may hold an instruction, its encoding, both, or neither.
func (l *Listing) instruction(f *Function, s string, n int) error {
	ctrl, body := "", s
	if m := reCtrl.FindStringSubmatchIndex(leading(body, "B[")); m != nil {
		ctrl = body[m[2]:m[3]]
		body = body[m[1]:]
	}
	r := rawInst{line: n, slot: -1}
	var text strings.Builder
	hasAddr := false
	for body != "" { // text between comments, and the comments: address or encodings
		k := strings.Index(body, "/*")
		if k < 0 {
			text.WriteString(body)
			break
		}
		text.WriteString(body[:k])
		body = body[k+2:]
		end := strings.Index(body, "*/")
		if end < 0 {
			break
		}
		c := strings.TrimSpace(body[:end])
		body = body[end+2:]
		if h, ok := strings.CutPrefix(c, "0x"); ok {
			if v, err := strconv.ParseUint(h, 16, 64); err == nil && len(h) >= 8 {
				r.words = append(r.words, v)
			}
		} else if v, err := strconv.ParseUint(c, 16, 32); err == nil && len(c) >= 4 {
			r.addr, hasAddr = uint32(v), true
		}
	}
	t := text.String()
	if k := strings.Index(t, "(*\""); k >= 0 { // nvdisasm's note on an indexed branch
		if m := reTargets.FindStringSubmatch(t[k:]); m != nil {
			r.to = strings.FieldsFunc(m[1], func(c rune) bool { return c == ',' || c == ' ' })
			t = strings.TrimSpace(t[:k]) + " ;"
		}
	}
	if !hasAddr && ctrl == "" {
		if f != nil && strings.TrimSpace(t) == "" {
			for _, v := range r.words { // the second word of a 128-bit encoding, or a scheduling word
				f.addWord(v)
			}
			return nil
		}
		if f != nil && strings.Contains(t, ";") && !strings.HasPrefix(strings.TrimSpace(t), ".") && !strings.HasPrefix(strings.TrimSpace(t), "//") {
			return &Error{File: l.File, Line: n, Col: 1, Msg: "an instruction needs its address in front (/*0000*/) or a control prefix (B------:R-:W-:-:S01)", Text: s}
		}
		return nil
	}
	if f == nil {
		return &Error{File: l.File, Line: n, Col: 1, Msg: "instruction outside a function", Text: s}
	}
	r.placed = hasAddr
	if !hasAddr {
		r.addr = f.nextAddr()
	}
	if k := strings.IndexAny(t, ";}"); k >= 0 {
		if rest := strings.Trim(t[k:], "; \t}{"); rest != "" && !strings.HasPrefix(rest, "//") {
			return &Error{File: l.File, Line: n, Col: 1, Msg: fmt.Sprintf("unexpected text behind the instruction: %q (one instruction a line)", rest), Text: s}
		}
		t = t[:k]
	}
	t = strings.TrimSpace(t)
	if u, ok := strings.CutPrefix(t, "{"); ok {
		r.dual = true
		t = strings.TrimSpace(u)
	}
	if t == "" {
		return nil
	}
	r.text = t
	r.col = strings.Index(s, t) + 1
	if len(r.words) > 0 {
		f.Words = true
	}
	f.takeSched(&r)
	if ctrl != "" {
		r.ctrl = ctrl
	}
	f.Insts = append(f.Insts, r)
	return nil
}

// leading is s if its first letter is one of the given, else nothing: it keeps a regular expression off most lines.
func leading(s, letters string) string {
	t := strings.TrimLeft(s, " \t")
	if t != "" && strings.ContainsRune(letters, rune(t[0])) {
		return s
	}
	return ""
}

func (f *Function) nextAddr() uint32 {
	if len(f.Insts) == 0 {
		return 0
	}
	step := uint32(16)
	if f.SM > 0 && f.SM < 70 {
		step = 8
	}
	return f.Insts[len(f.Insts)-1].addr + step
}
