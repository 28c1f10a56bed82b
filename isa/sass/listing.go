// Package sass reads the machine-code listings that cuobjdump -sass and nvdisasm print into programs.
// It knows nothing of PTX or timing.
package sass

import (
	"math"
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

	maxas     bool   // written by maxas
	sched     uint64 // open scheduling word and how many instructions it still covers
	schedLeft int
}

// rawInst is one instruction line with the encodings that belong to it.
type rawInst struct {
	addr     uint32
	placed   bool   // the line gives the address
	text     string // without guard's address comment, encodings and semicolon
	words    []uint64
	line     int      // counted from 1
	col      int      // column of text, counted from 1
	inMemory string   // an address of more than 32 bits
	dual     bool     // inside nvdisasm's { } pair, first half
	to       []string // labels that nvdisasm names as the targets of an indexed branch
	ctrl     string   // control information as text in front of the instruction, "" if there is none
	sched    uint64
	slot     int // position in its scheduling group (Kepler, Maxwell, Pascal), -1: none
}

var (
	reFunc      = regexp.MustCompile(`^\s*Function\s*:\s*(\S+)`)
	reSection   = regexp.MustCompile(`^\s*\.section\s+"?\.text\.([^",\s]+)`)
	reText      = regexp.MustCompile(`^\s*\.text\.([^:\s]+):\s*$`)
	reLabel     = regexp.MustCompile(`^\s*(\.L_x?_?[A-Za-z0-9_.$]+|\$[A-Za-z0-9_.$]+):\s*$`)
	reCtrl      = regexp.MustCompile(`^\s*\[?(B[0-9-]{6}:R[0-9-]:W[0-9-]:[Y-]:S\d\d)\]?\s*`)
	reNoAddress = regexp.MustCompile(`^\s*/\*([0-9A-Za-z]{4,8})\*/\s*[@A-Z].*;`)
	reTargets   = regexp.MustCompile(`^\(\*"BRANCH_TARGETS\s+([^"]*)"\*\)`)
	reRes       = regexp.MustCompile(`(?i)\b(REG|SHARED_BASE|SHARED|STACK|LOCAL)\s*:\s*(\d+)`)
)

// Read splits a listing into functions. Lines that are neither headers, labels, instructions nor
// encodings (section directives, blank lines, ptxas messages) are skipped.
func Read(file string, text []byte) (*Listing, error) {
	l := &Listing{File: file, Lines: strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n"), params: map[string][]paramInfo{}}
	r := reader{Listing: l}
	if isJSON(text) {
		if err := r.readJSON(text); err != nil {
			return nil, err
		}
	} else {
		for i, s := range l.Lines {
			if err := r.line(i+1, s); err != nil {
				return nil, err
			}
		}
	}
	l.closeSection(&r.data)
	l.applyAll()
	if len(l.Funcs) == 0 && strings.Contains(string(text), `"control_information"`) {
		return nil, l.forPeople(1, "", "the JSON")
	}
	if len(l.Funcs) == 0 {
		return nil, &Error{File: file, Line: 1, Col: 1, Text: firstLine(l.Lines), Msg: "no machine code found", Hint: "give the output of cuobjdump -sass, nvdisasm or " +
			"cuda-gdb, with its line \"Function : name\" or \".text.name:\""}
	}
	return l, nil
}

// reader is a listing while its lines are read.
type reader struct {
	*Listing
	target targetState
	f      *Function // whose code is being read; nil before the first
	data   section   // nvdisasm's section of data that is being read
}

// line reads line n.
func (r *reader) line(n int, s string) error {
	if strings.Contains(s, ".section") && reAnySection.MatchString(s) {
		r.closeSection(&r.data)
		r.data = r.openSection(s)
	}
	if r.data.other() && !reFunc.MatchString(s) && !reCode.MatchString(s) {
		r.sectionLine(&r.data, s)
		return nil
	}
	r.closeSection(&r.data)
	if strings.Contains(s, "SHI_REGISTERS") && r.f != nil {
		if m := reSHI.FindStringSubmatch(s); m != nil {
			r.f.Regs, _ = strconv.Atoi(m[1])
		}
		return nil
	}
	if t := strings.TrimLeft(s, " \t{"); strings.HasPrefix(t, "/*") && r.f != nil {
		return r.instruction(r.f, s, n)
	}
	if strings.HasPrefix(strings.TrimLeft(s, " \t"), "#") {
		return r.maxasHeader(n, s)
	}
	if taken, err := r.debuggerLine(n, s); taken || err != nil {
		return err
	}
	if len(r.Funcs) == 0 && reReading.MatchString(s) {
		return r.forPeople(n, s, "the text")
	}
	s = withoutNote(s)
	if r.resourceLine(s, r.target.sm) {
		return nil
	}
	if taken, err := r.targetLine(&r.target, r.f, s, n); err != nil {
		return err
	} else if taken {
		if r.target.whole && r.target.line == n {
			r.f = nil
		}
		return nil
	}
	if r.header(n, s) {
		return nil
	}
	for _, m := range reRes.FindAllStringSubmatch(s, -1) {
		if r.f != nil {
			v, _ := strconv.Atoi(m[2])
			r.f.setResource(strings.ToUpper(m[1]), v)
		}
	}
	m := reLabel.FindStringSubmatch(s)
	if m == nil && r.f != nil && r.f.maxas {
		m = reMaxasLabel.FindStringSubmatch(s)
	}
	if m != nil && r.f != nil {
		if _, twice := r.f.Labels[m[1]]; twice {
			return r.errorIn(n, 1, againHint, "label %s stands a second time in function %s", m[1], r.f.Name)
		}
		r.f.Labels[m[1]] = len(r.f.Insts)
		return nil
	}
	return r.instruction(r.f, s, n)
}

// header begins a function, if the line is the header of one.
func (r *reader) header(n int, s string) bool {
	for _, re := range []*regexp.Regexp{reSection, reText} { // nvdisasm's, both in front of one function
		if m := re.FindStringSubmatch(s); m != nil {
			if r.f == nil || r.f.Name != m[1] {
				r.start(m[1], n)
			}
			return true
		}
	}
	m := reFunc.FindStringSubmatch(s)
	if m == nil {
		return false
	}
	// cuobjdump -res-usage: "Function name:" with the resources on the next line.
	r.start(strings.TrimSuffix(m[1], ":"), n)
	return true
}

// start begins the code of a function.
func (r *reader) start(name string, line int) {
	r.target.fresh = false
	r.f = &Function{Name: name, SM: r.target.sm, Line: line, Labels: map[string]int{}, Regs: -1, SharedBytes: -1, LocalBytes: -1, sharedBase: -1}
	r.Funcs = append(r.Funcs, r.f)
}

// setResource sets a figure of a resource line.
func (f *Function) setResource(name string, v int) {
	switch name {
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

func firstLine(lines []string) string {
	for _, s := range lines {
		if strings.TrimSpace(s) != "" {
			return s
		}
	}
	return ""
}

// instruction reads line n, which may hold an instruction, its encoding, both, or neither: body is what it says in cuobjdump's notation.
func (l *Listing) instruction(f *Function, body string, n int) error {
	r := rawInst{line: n, slot: -1}
	body = r.takeControl(f, body)
	t := r.takeComments(body)
	if m := reNoAddress.FindStringSubmatch(body); m != nil && !r.placed && f != nil {
		return l.errorIn(n, 1, "write it as /*0010*/", "the address in front of an instruction is hexadecimal, not %s", m[1])
	}
	if r.inMemory != "" {
		return l.errorIn(n, 1, "list the cubin, where functions begin at 0", "address %s is one of code in memory", r.inMemory)
	}
	t = r.takeTargets(t)
	if is, err := l.place(&r, f, t); err != nil || !is {
		return err
	}
	if k := strings.IndexAny(t, ";}"); k >= 0 {
		if rest := strings.Trim(t[k:], "; \t}{"); rest != "" && !strings.HasPrefix(rest, "//") {
			return l.errorIn(n, 1, "write one instruction a line", "unexpected text behind the instruction: %q", rest)
		}
		t = t[:k]
	}
	t = strings.TrimSpace(t)
	if f.maxas {
		t = maxasTarget(t)
	}
	if u, ok := strings.CutPrefix(t, "{"); ok {
		r.dual = true
		t = strings.TrimSpace(u)
	}
	if t == "" {
		return nil
	}
	r.text = t
	r.col = max(strings.Index(l.Lines[n-1], t)+1, 1)
	if len(r.words) > 0 {
		f.Words = true
	}
	f.takeSched(&r)
	f.Insts = append(f.Insts, r)
	return nil
}

// takeControl takes control information written as text in front of an instruction, and gives what follows it.
func (r *rawInst) takeControl(f *Function, body string) string {
	if m := reCtrl.FindStringSubmatchIndex(leading(body, "B[")); m != nil {
		r.ctrl = body[m[2]:m[3]]
		return body[m[1]:]
	}
	if f != nil && f.maxas {
		r.ctrl, body = maxasControl(body)
	}
	return body
}

// takeTargets takes nvdisasm's note on an indexed branch, and gives the text without it.
func (r *rawInst) takeTargets(t string) string {
	k := strings.Index(t, "(*\"")
	if k < 0 {
		return t
	}
	m := reTargets.FindStringSubmatch(t[k:])
	if m == nil {
		return t
	}
	r.to = strings.FieldsFunc(m[1], func(c rune) bool { return c == ',' || c == ' ' })
	return strings.TrimSpace(t[:k]) + " ;"
}

// place says whether the text t of a line is an instruction of the function, and gives one without an address the next that is free.
func (l *Listing) place(r *rawInst, f *Function, t string) (is bool, err error) {
	bare := strings.TrimSpace(t)
	plain := f != nil && !f.placed() && rePlain.MatchString(t) // nvdisasm -plr: no instruction of the function has an address
	marked := r.placed || r.ctrl != ""
	switch {
	case f == nil && !marked:
		return false, nil
	case f == nil:
		return false, l.errorIn(r.line, 1, "begin with a line \"Function : name\" or \".text.name:\"", "instruction outside a function")
	case !marked && bare == "":
		for _, v := range r.words { // the second word of a 128-bit encoding, or a scheduling word
			f.addWord(v)
		}
		return false, nil
	case !marked && !plain && strings.Contains(t, ";") && !strings.HasPrefix(bare, ".") && !strings.HasPrefix(bare, "//"):
		return false, l.errorIn(r.line, 1, "write the address, or the control prefix, in front of it",
			"an instruction needs its address in front (/*0000*/) or a control prefix (B------:R-:W-:-:S01)")
	case !marked && !plain:
		return false, nil
	case !r.placed:
		r.addr = f.nextAddr()
	}
	return true, nil
}

// takeComments gives the text between the comments of a line; from the comments it takes address and encodings.
func (r *rawInst) takeComments(line string) string {
	var text strings.Builder
	for {
		before, rest, found := strings.Cut(line, "/*")
		text.WriteString(before)
		comment, behind, closed := strings.Cut(rest, "*/")
		if !found || !closed {
			return text.String()
		}
		line = behind
		c := strings.TrimSpace(comment)
		if h, ok := strings.CutPrefix(c, "0x"); ok {
			if v, err := strconv.ParseUint(h, 16, 64); err == nil && len(h) >= 8 {
				r.words = append(r.words, v)
			}
		} else if v, err := strconv.ParseUint(c, 16, 64); err == nil && len(c) >= 4 {
			if r.addr, r.placed = uint32(v), true; v > math.MaxUint32 {
				r.inMemory = c
			}
		}
	}
}

// leading is s if its first letter is one of the given, else nothing: it keeps a regular expression off most lines.
func leading(s, letters string) string {
	t := strings.TrimLeft(s, " \t")
	if t != "" && strings.ContainsRune(letters, rune(t[0])) {
		return s
	}
	return ""
}

// placed says whether the instruction before gave its address.
func (f *Function) placed() bool { return len(f.Insts) > 0 && f.Insts[len(f.Insts)-1].placed }

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
