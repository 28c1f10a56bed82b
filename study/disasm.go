package study

import (
	"fmt"
	"io"
	"sort"
	"strings"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/study/page"
	"github.com/sarchlab/smsim/workloads"
)

// Machine is the machine code of one kernel on one architecture.
type Machine struct {
	Program *isa.Program
	Arch    *configs.Arch
	Target  *isa.Target
	Err     error // the kernel cannot be lowered; Program is nil
	Name    string
}

// Compile gives the machine code of the kernels of a file on the plan's architectures: the entries named, or all.
// PTX is lowered; a listing is read, every function on its own target if the plan names no architecture.
func Compile(plan *workloads.Plan, file *workloads.KernelFile, entries []string) ([]Machine, error) {
	archs := plan.Archs
	own := len(archs) == 0 && file.IsListing()
	if len(archs) == 0 {
		archs = listedArchs(file)
	}
	c, err := newCompiler(plan, archs)
	if err != nil {
		return nil, &InputError{err}
	}
	m, err := c.source(file)
	if err != nil {
		return nil, &InputError{err}
	}
	if len(entries) == 0 {
		entries = m.entries()
		if len(entries) == 0 {
			return nil, &InputError{fmt.Errorf("%s has no kernel (.entry with a body)", file.Path)}
		}
	}
	var out []Machine
	var cases []*workloads.Case
	for _, a := range c.order {
		mach := c.machines[a]
		for _, e := range entries {
			cs := &workloads.Case{Kernel: file, Entry: e}
			cs.EntryAt.File = file.Path
			if _, err := entryName(m, cs); err != nil {
				return nil, &InputError{err}
			}
			if own && !m.listedFor(e, mach.target.SM) {
				continue
			}
			cases = append(cases, cs)
			out = append(out, Machine{Arch: mach.arch, Target: mach.target, Name: e})
		}
	}
	forEach(upTo(len(out)), 0, func(i int) {
		out[i].Program, out[i].Err = c.code(cases[i], c.machines[out[i].Arch.Name])
	})
	return out, nil
}

// mix counts a program's static instructions by pipe and class.
func (m *Machine) mix() (pipes []string, count map[string]map[string]int) {
	count = map[string]map[string]int{}
	for i := range m.Program.Insts {
		cl := m.Program.Insts[i].Class().String()
		row := m.Arch.Classes[cl]
		p := "none"
		if len(row.Pipe) > 0 {
			p = strings.Join(row.Pipe, "+")
		}
		if count[p] == nil {
			count[p] = map[string]int{}
			pipes = append(pipes, p)
		}
		count[p][cl]++
	}
	total := func(p string) (n int) {
		for _, k := range count[p] {
			n += k
		}
		return n
	}
	sort.SliceStable(pipes, func(i, j int) bool {
		if a, b := total(pipes[i]), total(pipes[j]); a != b {
			return a > b
		}
		return pipes[i] < pipes[j]
	})
	return pipes, count
}

// WriteListing writes the machine code with control information, a line for each instruction, and the instruction mix.
func WriteListing(w io.Writer, m *Machine) error {
	t := &textWriter{w: w}
	p := m.Program
	t.summary(m)
	t.printf("\n")
	head := "// control: wait for barriers, read barrier, write barrier, Y yield, S stall cycles"
	if !m.Target.HasControl {
		head = "// the hardware schedules this generation itself: no control information"
	}
	t.printf("%s\n", head)
	width := 0
	for i := range p.Insts {
		width = max(width, len(p.Text(i)))
	}
	width = min(width, 30) // the source lines need the rest
	last := int32(0)
	for i := range p.Insts {
		in := &p.Insts[i]
		ctl := ""
		if m.Target.HasControl {
			ctl = in.Ctrl.String() + " "
		}
		src := ""
		if in.Pos.Line != last && in.Pos.Line > 0 {
			src = fmt.Sprintf("// %d: %s", in.Pos.Line, sourceText(p, int(in.Pos.Line)))
			last = in.Pos.Line
		}
		line := fmt.Sprintf("  /*%04x*/ %s%-*s ", in.PC, ctl, width, p.Text(i))
		if room := page.Width - len([]rune(line)); room >= 20 {
			line += page.Clip(src, room)
		} else if src != "" {
			t.printf("%s\n", page.Clip("    "+src, page.Width)) // a long instruction has its source line above it
		}
		t.printf("%s\n", strings.TrimRight(line, " "))
	}
	t.mixTable(m)
	return t.err
}

func sourceText(p *isa.Program, line int) string {
	if line > len(p.Source) {
		return ""
	}
	return strings.Join(strings.Fields(p.Source[line-1]), " ")
}

// summary is the head of a listing.
func (t *textWriter) summary(m *Machine) {
	p := m.Program
	t.paragraph(fmt.Sprintf("%s on %s (%s): %s, %s, %s, %s shared, %s local, %s", p.Name, m.Arch.Name, m.Arch.Family, page.Plural(len(p.Insts), "instruction"),
		bytesText(codeBytes(p)), page.Plural(p.Regs, "register"), bytesText(p.SharedBytes), bytesText(p.LocalBytes), page.Plural(len(p.Params), "parameter")), "  ")
	for _, n := range p.Notes {
		t.paragraph("note: "+n, "  ")
	}
}

func (t *textWriter) mixTable(m *Machine) {
	tw := page.NewTable("pipe", "instructions", "share", "classes")
	page.Right(tw, 2, 3)
	pipes, count := m.mix()
	for _, p := range pipes {
		n := 0
		var classes []string
		for cl := range count[p] {
			classes = append(classes, cl)
		}
		sort.Slice(classes, func(i, j int) bool {
			a, b := count[p][classes[i]], count[p][classes[j]]
			return a > b || a == b && classes[i] < classes[j]
		})
		var parts []string
		for _, cl := range classes {
			n += count[p][cl]
			parts = append(parts, fmt.Sprintf("%s %d", cl, count[p][cl]))
		}
		tw.AppendRow([]any{p, n, percent(float64(n) / float64(len(m.Program.Insts))), page.Clip(strings.Join(parts, ", "), 60)})
	}
	t.table("Static instruction mix by pipe", tw)
}

// WriteKernelTable writes a line for each kernel with what it needs, and below the table every reason why one cannot run.
func WriteKernelTable(w io.Writer, ms []Machine) error {
	t := &textWriter{w: w}
	tw := page.NewTable("kernel", "arch", "insts", "code", "regs", "shared", "local", "params", "busiest pipes (static)")
	page.Right(tw, 3, 8)
	for i := range ms {
		m := &ms[i]
		if m.Err != nil {
			tw.AppendRow([]any{page.Clip(m.Name, 24), m.Arch.Name, "", "", "", "", "", "", "cannot run: see below"})
			continue
		}
		p := m.Program
		pipes, count := m.mix()
		var parts []string
		for _, name := range pipes[:min(3, len(pipes))] {
			n := 0
			for _, k := range count[name] {
				n += k
			}
			parts = append(parts, fmt.Sprintf("%s %d", name, n))
		}
		tw.AppendRow([]any{page.Clip(p.Name, 24), m.Arch.Name, len(p.Insts), codeBytes(p), p.Regs, max(0, p.SharedBytes), p.LocalBytes, len(p.Params), page.Clip(strings.Join(parts, ", "), 36)})
	}
	t.table("", tw)
	for i := range ms {
		if ms[i].Err != nil {
			t.printf("\n%v\n", ms[i].Err)
		}
	}
	return t.err
}
