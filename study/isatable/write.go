package isatable

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Opcodes is the machine code as opcodes with modifiers: "2 x PRMT, IMAD"; long sequences as their number.
func (m *Machine) Opcodes() string {
	switch {
	case m.Error != "":
		return "-"
	case len(m.Code) == 0:
		return "none"
	case len(m.Code) > 4:
		return fmt.Sprintf("%d instructions", len(m.Code))
	}
	var parts []string
	for _, c := range m.Code {
		words := strings.Fields(c)
		op := words[0]
		if strings.HasPrefix(op, "@") && len(words) > 1 {
			op = words[1]
		}
		parts = append(parts, strings.TrimSuffix(op, ";"))
	}
	var out []string
	for i := 0; i < len(parts); {
		n := 1
		for i+n < len(parts) && parts[i+n] == parts[i] {
			n++
		}
		if n > 1 {
			out = append(out, fmt.Sprintf("%d x %s", n, parts[i]))
		} else {
			out = append(out, parts[i])
		}
		i += n
	}
	return strings.Join(out, ", ")
}

func num(v float64) string {
	if v == 0 {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// short writes a number with at most two decimals.
func short(v float64) string {
	if v == 0 {
		return ""
	}
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(v, 'f', 2, 64), "0"), ".")
}

// WriteCSV writes one line for each form and architecture.
func WriteCSV(w io.Writer, rows []Row) error {
	c := csv.NewWriter(w)
	out := [][]string{{"name", "kind", "group", "ptx", "ptx_version", "target", "arch", "accepted_by_ptx", "native", "instructions", "code", "pipes", "latency",
		"results_per_cycle_per_sm", "confidence", "simulated_latency", "simulated_results_per_cycle_per_sm", "measured_latency", "measured_results_per_cycle_per_sm",
		"measured_loop_shortened", "meaning", "rules", "amd", "cuda", "error"}}
	for i := range rows {
		r := &rows[i]
		for k := range r.Machines {
			m := &r.Machines[k]
			var sl, st, ml, mt, folded string
			if m.Simulated != nil {
				sl, st = num(m.Simulated.Latency), num(ResultsPerCycle(m.Simulated.Interval))
			}
			if h := r.Hardware; h != nil && m.Arch == "sm_90" {
				sl, st, ml, mt = num(h.SimulatedLatency), num(h.SimulatedThroughput), num(h.MeasuredLatency), num(h.MeasuredThroughput)
				folded = strconv.FormatBool(h.Folded)
			}
			out = append(out, []string{r.Name, r.Kind, r.Group, strings.ReplaceAll(r.PTX, "\n", " "), r.Since, r.Target, m.Arch, strconv.FormatBool(m.Accepted), strconv.FormatBool(m.Native),
				strconv.Itoa(len(m.Code)), strings.Join(m.Code, "; "), strings.Join(m.Pipes, " "), num(m.Latency), num(m.Throughput), m.Confidence, sl, st, ml, mt,
				folded, r.Meaning, r.Rules, r.AMD, r.CUDA, m.Error})
		}
	}
	return c.WriteAll(out)
}

// WriteMarkdown writes the table for readers, rows of opcodes last: a section for each group, machine code by architecture, and sm_90 measured
// beside simulated.
func WriteMarkdown(w io.Writer, rows []Row) error {
	var b strings.Builder
	b.WriteString(`# Instruction table for integer GPU code

Written by ` + "`smsim isa --format markdown`" + `. For each PTX instruction, each short sequence that machines fuse, and each CUDA
intrinsic: what it does, since when, the closest AMD instruction, and for each compute capability the machine code that
smsim lowers it to with the results that one SM completes a cycle (at most: pipes, SM-wide units and issue slots). A form
that PTX rejects on an older target is marked "emulated": smsim lowers it there all the same. ` + "`smsim isa NAME`" + ` shows the whole
code and the latencies, and those of every other PTX instruction with its types and modifiers.

On sm_90 the loops of the measurement are compared: latency in cycles of one warp's dependent chain, and results a cycle
with 16 warps of four chains, on an H200 and on the simulator. * : the compiler (NVIDIA's for the measured loop, smsim's
lowering for the simulated one) folded or fused executions, so that the number is not the instruction's. The loops of CUDA intrinsics, the simulated ones
written anew, have other registers: where a chain's register shares its bank with another operand each link takes a cycle
more (5.07 instead of 4.09).
`)
	group := ""
	for i := range rows {
		r := &rows[i]
		if r.Kind == KindOpcode {
			opcodesMarkdown(&b, rows[i:])
			break
		}
		if r.Group != group {
			group = r.Group
			fmt.Fprintf(&b, "\n## %s\n\n", group)
			b.WriteString("| instruction | meaning and rules | since | machine code: results a cycle and SM | sm_90 latency: H200, simulated | sm_90 results a cycle: H200, simulated | AMD |\n")
			b.WriteString("|---|---|---|---|---|---|---|\n")
		}
		since := ""
		if r.Since != "" {
			since = "PTX " + r.Since + ", " + r.Target
		}
		meaning := r.Meaning
		if r.Rules != "" {
			meaning += "; " + r.Rules
		}
		if r.CUDA != "" && r.Kind == KindPTX {
			meaning += " (`" + r.CUDA + "`)"
		}
		var lat, thr string
		if h := r.Hardware; h != nil {
			lat, thr = pair(h.MeasuredLatency, h.SimulatedLatency, h), pair(h.MeasuredThroughput, h.SimulatedThroughput, h)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s |\n", r.Name, cell(meaning), since, cell(spansText(r)), lat, thr, cell(r.AMD))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// cell makes text fit a table of Markdown.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

func pair(measured, simulated float64, h *Hardware) string {
	return marked(measured, h.Folded) + ", " + marked(simulated, h.SimulatedFolded)
}

// marked writes a number, with a star if the loop was shortened, the star alone if nothing of the instruction is left in it.
func marked(v float64, folded bool) string {
	switch {
	case v == 0:
		return "–"
	case folded && (v < 1 || v > 512):
		return "*"
	case folded:
		return short(v) + "*"
	}
	return short(v)
}

// spansText lists machine code and throughput by compute capability.
func spansText(r *Row) string {
	return joinSpans(r.Machines, func(m *Machine) string {
		t := m.Opcodes()
		if m.Error == "" && !m.Accepted && r.Kind == KindPTX {
			t += " (emulated)"
		}
		if m.Throughput > 0 {
			t += ": " + short(m.Throughput)
		}
		return t
	})
}

// joinSpans writes a text for each run of architectures that share it.
func joinSpans(ms []Machine, text func(*Machine) string) string {
	type part struct{ from, to, text string }
	var parts []part
	for i := range ms {
		m := &ms[i]
		t := text(m)
		if n := len(parts) - 1; n >= 0 && parts[n].text == t {
			parts[n].to = m.ComputeCapability
			continue
		}
		parts = append(parts, part{m.ComputeCapability, m.ComputeCapability, t})
	}
	var out []string
	for _, p := range parts {
		cc := p.from
		if p.to != p.from {
			cc += "–" + p.to
		}
		out = append(out, "**"+cc+"** "+p.text)
	}
	return strings.Join(out, "<br>")
}
