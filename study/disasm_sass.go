package study

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/lower"
	"github.com/sarchlab/smsim/sm"
	"github.com/sarchlab/smsim/study/page"
)

// InstInfo is one instruction of a listing with what the architecture makes of it.
type InstInfo struct {
	PC       uint32       `json:"pc"`
	Text     string       `json:"text"`
	Control  *ControlInfo `json:"control,omitempty"`
	Class    string       `json:"class"`
	Pipe     []string     `json:"pipe"`             // one, or alternatives
	Latency  int          `json:"latency"`          // cycles to a dependent instruction
	Variable bool         `json:"variable_latency"` // the result is signalled by a barrier
	Interval int          `json:"issue_interval"`
	Live     int          `json:"live_registers"`
	Conflict int          `json:"bank_conflict_cycles"`
	Line     int          `json:"line,omitempty"` // of the source
}

// ControlInfo is the control information of an instruction; a barrier is -1 when there is none.
type ControlInfo struct {
	Text         string `json:"text"`
	Stall        int    `json:"stall"`
	Yield        bool   `json:"yield"` // the scheduler prefers another warp
	WriteBarrier int    `json:"write_barrier"`
	ReadBarrier  int    `json:"read_barrier"`
	Wait         []int  `json:"wait"`
	Dual         bool   `json:"dual_issue"`
}

// ListingInfo is one kernel as disasm's JSON shows it.
type ListingInfo struct {
	Kernel       string     `json:"kernel"`
	Arch         string     `json:"arch"`
	Source       string     `json:"source"`
	Registers    int        `json:"registers"`
	SharedBytes  int        `json:"shared_bytes"`
	LocalBytes   int        `json:"local_bytes"`
	MaxLive      int        `json:"max_live_registers"`
	Control      string     `json:"control_information"` // decoded, computed, or none
	Notes        []string   `json:"notes,omitempty"`
	Instructions []InstInfo `json:"instructions"`
	Mix          []isaMix   `json:"mix"`
}

// isaMix is the number of instructions of a class.
type isaMix struct {
	Class string `json:"class"`
	Pipe  string `json:"pipe"`
	Count int    `json:"count"`
}

// Info describes every instruction of the kernel.
func (m *Machine) Info() (*ListingInfo, error) {
	p := m.Program
	conflicts, err := sm.ReadConflicts(m.Arch, p)
	if err != nil {
		return nil, err
	}
	live := lower.Live(p)
	out := &ListingInfo{Kernel: p.Name, Arch: m.Arch.Name, Source: p.SourceFile, Registers: p.Regs, SharedBytes: max(0, p.SharedBytes),
		LocalBytes: p.LocalBytes, Control: "computed", Notes: p.Notes}
	control := p.Control == isa.ControlDecoded || m.Target.HasControl
	switch {
	case p.Control == isa.ControlDecoded:
		out.Control = "decoded"
	case !m.Target.HasControl:
		out.Control = "none"
	}
	for i := range p.Insts {
		in := &p.Insts[i]
		row := m.Arch.Classes[in.Class().String()]
		x := InstInfo{PC: in.PC, Text: p.Text(i), Class: in.Class().String(), Pipe: row.Pipe, Latency: row.Latency, Variable: row.Variable,
			Interval: row.IssueInterval, Live: live[i], Conflict: conflicts[i], Line: int(in.Pos.Line)}
		if control {
			x.Control = controlInfo(in.Ctrl)
		}
		out.MaxLive = max(out.MaxLive, live[i])
		out.Instructions = append(out.Instructions, x)
	}
	out.Mix = classMix(p, m.Arch)
	return out, nil
}

func controlInfo(c isa.Control) *ControlInfo {
	x := &ControlInfo{Text: c.String(), Stall: int(c.Stall), Yield: !c.Yield, WriteBarrier: -1, ReadBarrier: -1, Wait: []int{}, Dual: c.DualIssue}
	if c.WriteBar < 6 {
		x.WriteBarrier = int(c.WriteBar)
	}
	if c.ReadBar < 6 {
		x.ReadBarrier = int(c.ReadBar)
	}
	for b := range 6 {
		if c.WaitMask>>b&1 != 0 {
			x.Wait = append(x.Wait, b)
		}
	}
	return x
}

// classMix counts a program's static instructions by class, most frequent first.
func classMix(p *isa.Program, a *configs.Arch) []isaMix {
	n := map[string]int{}
	for i := range p.Insts {
		n[p.Insts[i].Class().String()]++
	}
	var out []isaMix
	for c, k := range n {
		out = append(out, isaMix{c, strings.Join(a.Classes[c].Pipe, "+"), k})
	}
	sort.Slice(out, func(i, j int) bool {
		return out[i].Count > out[j].Count || out[i].Count == out[j].Count && out[i].Class < out[j].Class
	})
	return out
}

// WriteInfoJSON writes the kernels as a JSON list.
func WriteInfoJSON(w io.Writer, ms []Machine) error {
	out := []*ListingInfo{}
	for i := range ms {
		x, err := ms[i].Info()
		if err != nil {
			return err
		}
		out = append(out, x)
	}
	return page.JSON(w, out)
}

// WriteSASS writes the kernel as a listing that isa/sass reads again: the control information in front, and behind each
// instruction, as a comment, its pipe, latency, live registers and register-bank conflicts.
func WriteSASS(w io.Writer, m *Machine) error {
	x, err := m.Info()
	if err != nil {
		return err
	}
	t := &textWriter{w: w}
	t.printf("\tcode for sm_%d\n\t\tFunction : %s\n", m.Program.SM, x.Kernel)
	shared := ""
	if m.Program.SharedBytes >= 0 {
		shared = fmt.Sprintf(" SHARED:%d", m.Program.SharedBytes)
		if m.Program.SM >= 90 && m.Program.SharedBase == 0 {
			shared += " SHARED_BASE:0" // as the listing that it was read from says
		}
	}
	t.printf("\tREG:%d STACK:%d%s\n", x.Registers, x.LocalBytes, shared)
	words := map[string]string{
		"decoded":  "control information: decoded (wait for barriers, read barrier, write barrier, Y yield, S stall cycles)",
		"computed": "control information: computed from the target's latencies",
		"none":     "control information: none, the hardware schedules this generation itself",
	}
	for _, line := range page.Wrap(fmt.Sprintf("%s, %s, at most %d live; %s", page.Plural(len(x.Instructions), "instruction"), page.Plural(x.Registers, "register"), x.MaxLive, words[x.Control]), page.Width-3) {
		t.printf("// %s\n", line)
	}
	notes := x.Notes
	if n := len(m.Program.Globals); n > 0 {
		var names []string
		for _, g := range m.Program.Globals {
			names = append(names, g.Name)
		}
		notes = append(slices.Clone(notes), fmt.Sprintf("%s of the module (%s) are no part of a listing: read again, the kernel does not find them", page.Plural(n, "variable"), list(names)))
	}
	for _, n := range notes {
		for _, line := range page.Wrap("note: "+n, page.Width-3) {
			t.printf("// %s\n", line)
		}
	}
	width := 0
	for i := range x.Instructions {
		width = max(width, len(x.Instructions[i].Text))
	}
	width = min(width, 36) // leaves room for the comments, which shorter instructions align
	for i := range x.Instructions {
		t.sassLine(&x.Instructions[i], width)
	}
	t.constants(m.Program)
	var parts []string
	for _, c := range x.Mix {
		parts = append(parts, fmt.Sprintf("%s %d", c.Class, c.Count))
	}
	for _, line := range page.Wrap("instruction mix: "+strings.Join(parts, ", "), page.Width-3) {
		t.printf("// %s\n", line)
	}
	return t.err
}

// constants writes the constant banks that the kernel brings (the compiler's literal pool, .const data) as nvdisasm does.
func (t *textWriter) constants(p *isa.Program) {
	for _, bank := range slices.Sorted(maps.Keys(p.ConstBanks)) {
		name := fmt.Sprintf(".nv.constant%d.%s", bank, p.Name)
		t.printf("\t.section %s,\"a\",@progbits\n%s:\n", name, name)
		for row := range slices.Chunk(p.ConstBanks[bank], 16) {
			t.printf("\t.byte ")
			for i, b := range row {
				if i > 0 {
					t.printf(", ")
				}
				t.printf("0x%02x", b)
			}
			t.printf("\n")
		}
	}
}

func (t *textWriter) sassLine(x *InstInfo, width int) {
	ctl := ""
	if x.Control != nil {
		ctl = x.Control.Text + " "
		if x.Control.Dual {
			ctl = ctl[:len(ctl)-4] + "S00 " // issues together with the next one
		}
	}
	pipe := strings.Join(x.Pipe, "+")
	if pipe == "" {
		pipe = "-"
	}
	latency := fmt.Sprint(x.Latency)
	if x.Variable {
		latency = "~" + latency
	}
	note := fmt.Sprintf("%s latency %s, live %d", pipe, latency, x.Live)
	if x.Conflict > 0 {
		note += fmt.Sprintf(", bank conflict +%d", x.Conflict)
	}
	line := fmt.Sprintf("%s /*%04x*/ %-*s ", ctl, x.PC, width+2, x.Text+" ;")
	switch plain := strings.TrimRight(line, " ") + " // " + note; {
	case len(line)+3+len(note) <= page.Width:
		line += "// " + note
	case len(plain) <= page.Width:
		line = plain
	default:
		line = "// " + note + ":\n" + strings.TrimRight(line, " ") // a long instruction has its comment above it
	}
	t.printf("%s\n", line)
}
