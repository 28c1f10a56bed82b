package isatable

import (
	"fmt"
	"strings"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
)

// KindOpcode are the rows of machine opcodes.
const KindOpcode = "opcode"

// opcodeGroup is their heading.
const opcodeGroup = "Machine opcodes"

// OpcodeRows are the machine opcodes that one of the architectures has, as rows of the table. Those whose timing depends on a
// modifier have a row for each.
func OpcodeRows(archs []*configs.Arch) []Row {
	var out []Row
	for op := isa.OpNone + 1; op < isa.NumOps; op++ {
		seen := map[isa.Class]bool{}
		for _, mods := range [][]string{nil, {"WIDE"}, {"HI"}, {"MMA"}} {
			q := &OpcodeQuery{op, mods}
			if seen[q.class()] {
				continue
			}
			seen[q.class()] = true
			o := DescribeOpcode(q, archs, nil)
			if len(o.On) == 0 {
				continue
			}
			r := o.Row()
			out = append(out, r)
		}
	}
	return out
}

// Row is the opcode as a row of the table.
func (o *Opcode) Row() Row {
	r := Row{Form: Form{Kind: KindOpcode, Group: opcodeGroup, Name: o.Name, Meaning: o.Meaning}}
	for _, on := range o.On {
		r.Machines = append(r.Machines, Machine{Arch: on.Arch, ComputeCapability: on.CC, Accepted: true, Code: []string{o.Name}, Native: true,
			Pipes: []string{strings.Join(on.Pipes, " or ")}, Latency: float64(on.Latency), Throughput: on.Throughput, Confidence: on.Confidence})
	}
	return r
}

// opcodesMarkdown writes the rows of opcodes as a section of their own.
func opcodesMarkdown(b *strings.Builder, rows []Row) {
	fmt.Fprintf(b, "\n## %s\n\n| opcode | does | pipe, latency in cycles: results a cycle and SM |\n|---|---|---|\n", opcodeGroup)
	for i := range rows {
		r := &rows[i]
		text := joinSpans(r.Machines, func(m *Machine) string {
			return fmt.Sprintf("%s, %s: %s", strings.Join(m.Pipes, ", "), short(m.Latency), short(m.Throughput))
		})
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", r.Name, cell(r.Meaning), cell(text))
	}
}
