package study

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/sim/observe"
	"github.com/sarchlab/smsim/study/page"
	"github.com/sarchlab/smsim/workloads"
)

// probes are the extra observations of a plan's simulations. They change no number of a result.
type probes struct {
	hot          int    // static instructions in Run.Hot; 0: the usual number
	sample       uint64 // width of the time series' samples in cycles; 0: none
	trace        *observe.IssueTrace
	keepOutputs  bool // the written buffers stay with the run
	wholeOutputs bool // the blocks that are not timed are executed too
}

// writtenBuffer is a buffer that the kernel writes, after the run.
type writtenBuffer struct {
	name string
	data []byte
}

// written are the outputs of a launch; all its buffers where it calls none an output, for equal results must not be a matter of nothing compared.
func written(cs *workloads.Case, bufs []*isa.Buffer) []writtenBuffer {
	var out, all []writtenBuffer
	for i := range cs.Args {
		if bufs[i] == nil {
			continue
		}
		b := writtenBuffer{bufs[i].Name, bufs[i].Data}
		all = append(all, b)
		if cs.Args[i].Out {
			out = append(out, b)
		}
	}
	if out == nil {
		return all
	}
	return out
}

// Difference is the first place where the outputs of two runs differ.
type Difference struct {
	Buffer   string `json:"buffer"`
	Index    int    `json:"index"` // of the 32-bit word; of the byte where the sizes are no multiple of 4
	Baseline string `json:"baseline"`
	Variant  string `json:"variant"`
	Count    int    `json:"count"` // words that differ in this buffer
}

func (d *Difference) String() string {
	if d.Index < 0 {
		return fmt.Sprintf("%s: %s against %s", d.Buffer, d.Baseline, d.Variant)
	}
	return fmt.Sprintf("%s[%d] is %s against %s (%d words of the buffer differ)", d.Buffer, d.Index, d.Baseline, d.Variant, d.Count)
}

// firstDifference compares the buffers that two runs wrote, in the order of the arguments; nil if they are equal.
func firstDifference(a, b []writtenBuffer) *Difference {
	if len(a) != len(b) {
		return &Difference{Buffer: "outputs", Index: -1, Baseline: page.Plural(len(a), "written buffer"), Variant: page.Plural(len(b), "written buffer")}
	}
	for i := range a {
		x, y := a[i].data, b[i].data
		name := a[i].name
		if name == "" {
			name = fmt.Sprintf("output %d", i+1)
		}
		if len(x) != len(y) {
			return &Difference{Buffer: name, Index: -1, Baseline: fmt.Sprintf("%d bytes", len(x)), Variant: fmt.Sprintf("%d bytes", len(y))}
		}
		if bytes.Equal(x, y) {
			continue
		}
		d := &Difference{Buffer: name, Index: -1}
		for w := 0; w < len(x); w += 4 {
			var p, q [4]byte
			copy(p[:], x[w:])
			copy(q[:], y[w:])
			if p == q {
				continue
			}
			if d.Count++; d.Count == 1 {
				u, v := binary.LittleEndian.Uint32(p[:]), binary.LittleEndian.Uint32(q[:])
				d.Index, d.Baseline, d.Variant = w/4, fmt.Sprintf("%d (0x%08x)", u, u), fmt.Sprintf("%d (0x%08x)", v, v)
			}
		}
		return d
	}
	return nil
}

// Kernels lists the kernels of a PTX file or listing.
func Kernels(f *workloads.KernelFile) ([]string, error) {
	s, err := readSource(f)
	if err != nil {
		return nil, err
	}
	return s.entries(), nil
}
