package study

import (
	"fmt"
	"io"
	"strings"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/study/isatable"
)

// WriteISAIndex lists the instructions with their meaning: what `smsim isa` says without a name.
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
		t.printf("  %s\n", strings.TrimRight(fmt.Sprintf("%-27s %-15s %s", f.Name, since, clip(f.Meaning, 53)), " "))
	}
	t.printf("\n")
	t.paragraph("smsim isa NAME shows one of them with its machine code on every architecture; a machine opcode such as IDP or LOP3 its timing.", "")
	return t.err
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
	line := func(name, text string) {
		if text != "" {
			for i, l := range wrap(text, Width-12) {
				if i > 0 {
					name = ""
				}
				t.printf("  %-9s %s\n", name, l)
			}
		}
	}
	if r.Kind == isatable.KindPTX {
		line("PTX", r.PTX)
	}
	line("does", r.Meaning)
	line("rules", r.Rules)
	line("CUDA", r.CUDA)
	line("AMD", r.AMD)
	simulated := false
	for _, m := range r.Machines {
		simulated = simulated || m.Simulated != nil
	}
	columns := []any{"CC", "PTX", "machine code", "pipes", "latency", "results", "confidence"}
	if simulated {
		columns = append(columns, "simulated")
	}
	tw := newTable(columns...)
	right(tw, 5, 6)
	emulated := false
	for _, s := range isatable.Spans(r.Machines) {
		cc := s.From
		if s.To != s.From {
			cc += "-" + s.To
		}
		ptx := "yes"
		if !s.Accepted {
			ptx, emulated = "no", true
		}
		if r.Kind != isatable.KindPTX {
			ptx = ""
		}
		code := make([]string, 0, 3)
		for i, c := range s.Code {
			if i == 5 && len(s.Code) > 6 {
				code = append(code, fmt.Sprintf("... %d in all", len(s.Code)))
				break
			}
			code = append(code, clip(strings.ReplaceAll(c, ".reuse", ""), 33))
		}
		if s.Error != "" {
			code = wrap(s.Error, 33)
		}
		latency, rate := "", ""
		if s.Latency > 0 {
			latency = number(s.Latency)
		}
		if s.Throughput > 0 {
			rate = fmt.Sprintf("%.4g", s.Throughput)
		}
		row := []any{cc, ptx, strings.Join(code, "\n"), strings.Join(s.Pipes, "\n"), latency, rate, s.Confidence}
		if simulated {
			text := ""
			if s.Simulated != nil {
				text = fmt.Sprintf("%.1f / %.4g", s.Simulated.Latency, isatable.ResultsPerCycle(s.Simulated.Interval))
			}
			row = append(row, text)
		}
		tw.AppendRow(row)
	}
	t.table("Machine code", tw)
	t.printf("\n")
	t.paragraph("latency: of a single instruction, cycles. results: most a cycle and SM, from pipes, SM-wide units and issue slots; none for code with branches.", "")
	if simulated {
		t.paragraph("simulated: latency / results a cycle in the loops of the measurement, a chain of one warp and 16 warps with four chains. What depends "+
			"only on the operands that stay is computed once, before the loop. None where 16 warps do not fit.", "")
	}
	if emulated && r.Kind == isatable.KindPTX {
		t.paragraph("PTX no: the assembler rejects the instruction there; smsim lowers it all the same.", "")
	}
	if h := r.Hardware; h != nil {
		t.isaHardware(h)
	}
}

func (t *textWriter) isaHardware(h *isatable.Hardware) {
	tw := newTable("sm_90", "latency (cycles)", "results/cycle/SM")
	right(tw, 2, 3)
	text := func(f float64) string {
		if f == 0 {
			return "-"
		}
		return fmt.Sprintf("%.4g", f)
	}
	tw.AppendRow([]any{"measured (H200)", text(h.MeasuredLatency), text(h.MeasuredThroughput)})
	tw.AppendRow([]any{"simulated", text(h.SimulatedLatency), text(h.SimulatedThroughput)})
	t.table("", tw)
	if h.Folded {
		t.paragraph("NVIDIA's compiler shortened the measured loop (it folded or fused executions): the measured numbers are not the instruction's.", "")
	}
	if h.SimulatedFolded {
		t.paragraph("smsim's lowering shortened the simulated loop: the simulated numbers are not the instruction's.", "")
	}
}

// WriteOpcode writes a machine opcode for people.
func WriteOpcode(w io.Writer, o *isatable.Opcode) error {
	t := &textWriter{w: w}
	t.printf("%s (machine opcode, class %s)\n", o.Name, o.Class)
	t.printf("  does      %s\n", o.Meaning)
	if len(o.PTX) > 0 {
		t.paragraph("  from PTX: "+strings.Join(o.PTX, ", "), "            ")
	}
	if len(o.On) == 0 {
		t.printf("None of the architectures has it.\n")
		return t.err
	}
	tw := newTable("CC", "pipes", "interval", "latency", "results/cycle", "confidence", "source")
	right(tw, 3, 5)
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
		tw.AppendRow([]any{cc, strings.Join(a.Pipes, " or "), a.IssueInterval, lat, fmt.Sprintf("%.4g", a.Throughput), a.Confidence, clip(a.Source, 30)})
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
	Word     string // instruction, intrinsic or opcode; "" for all
	Format   string // text, markdown, csv, json
	Archs    []*configs.Arch
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
		sim = isatable.SimulateAll
		op, isOp := isatable.OpcodeByName(q.Word)
		if forms = isatable.Find(q.Word, all); isOp && (len(forms) == 0 || q.Word == strings.ToUpper(q.Word)) {
			return writeOpcode(w, q, op, all)
		}
		if len(forms) == 0 {
			return &InputError{isatable.NotFound(q.Word, all)}
		}
	}
	if !q.Simulate {
		sim = isatable.SimulateNothing
	}
	rows, err := isatable.Build(forms, q.Archs, sim)
	if err != nil {
		return err
	}
	switch q.Format {
	case "json":
		return writeJSON(w, rows)
	case "csv":
		return isatable.WriteCSV(w, rows)
	case "markdown":
		return isatable.WriteMarkdown(w, rows)
	}
	return WriteISARows(w, rows)
}

func writeOpcode(w io.Writer, q *ISAQuery, op isa.Op, all []isatable.Form) error {
	o := isatable.DescribeOpcode(op, q.Archs, all)
	switch q.Format {
	case "json":
		return writeJSON(w, o)
	case "text":
		return WriteOpcode(w, &o)
	}
	return &InputError{fmt.Errorf("a machine opcode is shown as text or json, not %s", q.Format)}
}
