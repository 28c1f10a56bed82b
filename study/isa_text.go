package study

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/study/isatable"
	"github.com/sarchlab/smsim/study/page"
)

// WriteISAIndex lists the instructions with their meaning: what `smsim isa` says without a name, or for a group.
func WriteISAIndex(w io.Writer, forms []isatable.Form) error {
	t := &textWriter{w: w}
	group := ""
	for i := range forms {
		f := &forms[i]
		if f.Group != group {
			if group != "" {
				t.printf("\n")
			}
			group = f.Group
			t.printf("%s\n", group)
		}
		since := ""
		if f.Since != "" {
			since = fmt.Sprintf("PTX %s, %s", f.Since, f.Target)
		}
		t.printf("  %s\n", strings.TrimRight(fmt.Sprintf("%-27s %-15s %s", f.Name, since, page.Clip(f.Meaning, 53)), " "))
	}
	t.printf("\n")
	t.paragraph("smsim isa NAME shows one of them with its machine code on every architecture, and any other PTX instruction with its types and modifiers "+
		"(mad.wide.u32); smsim isa OPCODE (IDP, IMAD.WIDE) the timing of a machine opcode; smsim isa GROUP (DPX, shifts) the instructions of a group.", "")
	return t.err
}

// WriteISAFamily describes a PTX operation without types: its syntax, and the instructions that the table has.
func WriteISAFamily(w io.Writer, name string, f *isatable.Family, forms []isatable.Form) error {
	t := &textWriter{w: w}
	t.printf("%s: PTX operation\n", strings.ToLower(name))
	t.isaLine("syntax", strings.ReplaceAll(f.Syntax, "; ", ";\n"))
	t.isaLine("does", f.Meaning)
	t.isaLine("rules", f.Rules)
	t.isaLine("CUDA", f.CUDA)
	t.isaLine("AMD", f.AMD)
	if len(forms) > 0 {
		t.printf("\nIn the table\n")
		for i := range forms {
			f := &forms[i]
			t.printf("  %s\n", strings.TrimRight(fmt.Sprintf("%-27s %-15s %s", f.Name, "PTX "+f.Since+", "+f.Target, page.Clip(f.Meaning, 53)), " "))
		}
	}
	example := strings.ToLower(name)
	if len(forms) > 0 {
		example = forms[0].Name
	}
	t.printf("\n")
	t.paragraph(fmt.Sprintf("smsim isa with types and modifiers (smsim isa %s) shows machine code, pipes, latency and throughput on every architecture.", example), "")
	return t.err
}

// isaLine writes a line of a page's head; the text may have lines of its own.
func (t *textWriter) isaLine(name, text string) {
	if text == "" {
		return
	}
	for part := range strings.SplitSeq(text, "\n") {
		for _, l := range page.Wrap(part, page.Width-12) {
			t.printf("  %-9s %s\n", name, l)
			name = ""
		}
	}
}

// WriteISARows writes instructions for people, one page each.
func WriteISARows(w io.Writer, rows []isatable.Row) error {
	t := &textWriter{w: w}
	for i := range rows {
		if i > 0 {
			t.printf("\n")
		}
		t.isaRow(&rows[i])
	}
	return t.err
}

func (t *textWriter) isaRow(r *isatable.Row) {
	head := r.Name
	if r.Since != "" {
		head += fmt.Sprintf(": PTX %s, %s and later", r.Since, r.Target)
	}
	t.printf("%s\n", head)
	if r.Kind == isatable.KindPTX {
		t.isaLine("PTX", r.Text())
		if !strings.Contains(r.Name, " + ") {
			t.isaLine("syntax", strings.ReplaceAll(r.Syntax, "; ", ";\n"))
		}
	}
	t.isaLine("does", r.Meaning)
	t.isaLine("rules", r.Rules)
	t.isaLine("CUDA", r.CUDA)
	t.isaLine("AMD", r.AMD)
	simulated := false
	for _, m := range r.Machines {
		simulated = simulated || m.Simulated != nil
	}
	columns := []any{"CC", "PTX", "machine code", "pipes", "latency", "results", "confidence"}
	if simulated {
		columns = append(columns, "simulated")
	}
	spans := isatable.Spans(r.Machines)
	tw := page.NewTable(columns...)
	page.Right(tw, 5, 6)
	for i := range spans {
		tw.AppendRow(isaSpan(r, &spans[i])[:len(columns)])
	}
	t.table("Machine code", tw)
	t.isaNotes(r, spans, simulated)
	if h := r.Hardware; h != nil && (h.MeasuredLatency > 0 || h.MeasuredThroughput > 0) {
		t.isaHardware(h)
		if r.LoopsDiffer() {
			t.paragraph("The loop as measured is timed with what its compiler leaves out: parts of the instruction that are the same in every execution or known (such as "+
				"the zero half of a chained 64-bit operand). The simulated column of the machine code is the instruction's whole work.", "")
		}
	}
}

// isaSpan is the table row of an instruction on neighbouring architectures, with the column of the simulated times.
func isaSpan(r *isatable.Row, s *isatable.Span) []any {
	cc := s.From
	if s.To != s.From {
		cc += "-" + s.To
	}
	ptx := "yes"
	switch {
	case r.Kind != isatable.KindPTX || r.Target == "":
		ptx = ""
	case !s.Accepted:
		ptx = "no"
	}
	const columns, lines = 33, 5 // of machine code
	code := make([]string, 0, lines)
	for i, c := range s.Code {
		if i == lines && len(s.Code) > lines+1 {
			code = append(code, fmt.Sprintf("... %d in all", len(s.Code)))
			break
		}
		code = append(code, page.Clip(strings.ReplaceAll(c, ".reuse", ""), columns))
	}
	switch {
	case s.Error != "":
		code = page.Wrap(s.Error, columns)
	case len(code) == 0:
		code = []string{"none (folded into its neighbours)"}
	}
	latency, rate, simulated := "", "", ""
	if s.Latency > 0 {
		latency = number(s.Latency)
	}
	if s.Throughput > 0 {
		rate = fmt.Sprintf("%.4g", s.Throughput)
	}
	if s.Simulated != nil {
		simulated = fmt.Sprintf("%.1f / -", s.Simulated.Latency)
		if rate := isatable.ResultsPerCycle(s.Simulated.Interval); rate > 0 {
			simulated = fmt.Sprintf("%.1f / %.4g", s.Simulated.Latency, rate)
		}
		if spreads(s) {
			simulated += "+"
		}
	}
	return []any{cc, ptx, strings.Join(code, "\n"), strings.Join(s.Pipes, "\n"), latency, rate, s.Confidence, simulated}
}

// spreads says that the timing loop runs faster than the pipes of the shown code allow.
func spreads(s *isatable.Span) bool {
	return s.Simulated != nil && s.Throughput > 0 && isatable.ResultsPerCycle(s.Simulated.Interval) > 1.01*s.Throughput
}

// isaNotes explains the columns of the table of machine code.
func (t *textWriter) isaNotes(r *isatable.Row, spans []isatable.Span, simulated bool) {
	t.printf("\n")
	t.paragraph("latency: of a single instruction, cycles. results: most a cycle and SM, from pipes, SM-wide units and issue slots; none for code with branches.", "")
	if simulated {
		t.paragraph("simulated: latency / results a cycle in timing loops, a chain of one warp and 16 warps with four chains; every execution does all of its "+
			"work; - where 16 warps do not fit.", "")
		if slices.ContainsFunc(spans, func(s isatable.Span) bool { return spreads(&s) }) {
			t.paragraph("+ : more than the shown code's pipes allow: in the loop some of it goes to another pipe (moves, shifts and additions as IMAD).", "")
		}
		if r.Dressed() {
			t.paragraph("The loops also execute what makes and uses the predicates of the instruction: "+r.Dressing()+".", "")
		}
	}
	if r.Kind == isatable.KindPTX && slices.ContainsFunc(spans, func(s isatable.Span) bool { return !s.Accepted }) {
		t.paragraph("PTX no: the assembler rejects the instruction there; smsim lowers it all the same.", "")
	}
}

func (t *textWriter) isaHardware(h *isatable.Hardware) {
	tw := page.NewTable("sm_90", "latency (cycles)", "results/cycle/SM")
	page.Right(tw, 2, 3)
	text := func(f float64) string {
		if f == 0 {
			return "-"
		}
		return fmt.Sprintf("%.4g", f)
	}
	tw.AppendRow([]any{"measured (H200)", text(h.MeasuredLatency), text(h.MeasuredThroughput)})
	tw.AppendRow([]any{"simulated, same loop", text(h.SimulatedLatency), text(h.SimulatedThroughput)})
	t.table("", tw)
	if h.Folded {
		t.paragraph("NVIDIA's compiler shortened the measured loop (it folded or fused executions): the measured numbers are not the instruction's.", "")
	}
	if h.SimulatedFolded {
		t.paragraph("smsim's lowering shortened the simulated loop: the simulated numbers are not the instruction's.", "")
	}
}

// WriteOpcode writes a machine opcode for people; asked are the architectures that the user named.
func WriteOpcode(w io.Writer, o *isatable.Opcode, asked []string) error {
	t := &textWriter{w: w}
	t.printf("%s (machine opcode, class %s)\n", o.Name, o.Class)
	t.printf("  does      %s\n", o.Meaning)
	if len(o.PTX) > 0 {
		const most = 40
		list := o.PTX
		more := ""
		if len(list) > most {
			list, more = list[:most], fmt.Sprintf(" and %d more (--format json has all)", len(o.PTX)-most)
		}
		t.paragraph("  from PTX: "+strings.Join(list, ", ")+more, "            ")
	}
	if len(o.On) == 0 {
		t.printf("\n")
		t.paragraph(fmt.Sprintf("%s does not exist on %s; it does on compute capability %s.", o.Name, strings.Join(asked, ", "), isatable.Ranges(o.Has)), "")
		return t.err
	}
	tw := page.NewTable("CC", "pipes", "interval", "latency", "results/cycle", "confidence", "source")
	page.Right(tw, 3, 5)
	for i := 0; i < len(o.On); {
		a := o.On[i]
		k := i + 1
		for k < len(o.On) && sameTiming(a, o.On[k]) {
			k++
		}
		cc := a.CC
		if k-1 > i {
			cc += "-" + o.On[k-1].CC
		}
		lat := fmt.Sprint(a.Latency)
		if a.Variable {
			lat = "~" + lat
		}
		tw.AppendRow([]any{cc, strings.Join(a.Pipes, " or "), a.IssueInterval, lat, fmt.Sprintf("%.4g", a.Throughput), a.Confidence, page.Clip(a.Source, 30)})
		i = k
	}
	t.table("", tw)
	t.printf("\n~ : the result is signalled when it is there; the usual time.\n")
	return t.err
}

func sameTiming(a, b isatable.OpcodeOn) bool {
	a.Arch, b.Arch, a.CC, b.CC = "", "", "", ""
	return fmt.Sprint(a) == fmt.Sprint(b)
}

// AllArchs loads all bundled architectures, oldest first.
func AllArchs() ([]*configs.Arch, error) {
	var out []*configs.Arch
	for _, n := range configs.List() {
		a, err := configs.Load(n, nil)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// ISAQuery is what `smsim isa` is asked.
type ISAQuery struct {
	Word   string // instruction, intrinsic or opcode; "" for all
	Format string // text, markdown, csv, json
	Archs  []*configs.Arch
	// Progress is called after each instruction of a table, the last time before anything is written; nil: not.
	Progress func(done, total int)
	Simulate bool // the loops on the architectures of a query with a word; for all words: on sm_90
}

// WriteISA answers a query.
func WriteISA(w io.Writer, q *ISAQuery) error {
	all, err := isatable.Forms()
	if err != nil {
		return err
	}
	if q.Word == "" && q.Format == "text" {
		return WriteISAIndex(w, all)
	}
	forms, sim := all, isatable.SimulateHopper
	if q.Word != "" {
		found, err := isatable.Lookup(q.Word, all)
		if err != nil {
			return &InputError{err}
		}
		switch forms = found.Forms; {
		case found.Opcode != nil:
			return writeOpcode(w, q, found.Opcode, all)
		case found.Family != nil && q.Format == "text":
			return WriteISAFamily(w, q.Word, found.Family, forms)
		case found.Group != "" && q.Format == "text":
			return WriteISAIndex(w, forms)
		}
		if found.Group == "" {
			sim = isatable.SimulateAll
		}
	}
	if !q.Simulate {
		sim = isatable.SimulateNothing
	}
	rows, err := isatable.Build(forms, q.Archs, sim, q.Progress)
	if err != nil {
		return err
	}
	if q.Word == "" {
		rows = append(rows, isatable.OpcodeRows(q.Archs)...)
	}
	switch q.Format {
	case "json":
		return page.JSON(w, rows)
	case "csv":
		return isatable.WriteCSV(w, rows)
	case "markdown":
		return isatable.WriteMarkdown(w, rows)
	}
	return WriteISARows(w, rows)
}

func writeOpcode(w io.Writer, q *ISAQuery, op *isatable.OpcodeQuery, all []isatable.Form) error {
	o := isatable.DescribeOpcode(op, q.Archs, all)
	switch q.Format {
	case "json":
		return page.JSON(w, o)
	case "text":
		var asked []string
		for _, a := range q.Archs {
			asked = append(asked, a.Name)
		}
		return WriteOpcode(w, &o, asked)
	}
	if q.Format == "csv" {
		return isatable.WriteCSV(w, []isatable.Row{o.Row()})
	}
	return isatable.WriteMarkdown(w, []isatable.Row{o.Row()})
}
