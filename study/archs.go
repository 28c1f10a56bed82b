package study

import (
	"fmt"
	"io"
	"strings"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/study/page"
)

// WriteArchs writes a line for each architecture.
func WriteArchs(w io.Writer) error {
	t := &textWriter{w: w}
	tw := page.NewTable("arch", "family", "board", "SMs", "MHz", "sched.", "warps", "regs", "shared", "measured", "assumed")
	page.Right(tw, 4, 11)
	for _, name := range configs.List() {
		a, err := configs.Load(name, nil)
		if err != nil {
			return err
		}
		b, err := configs.LoadBoard(a.Board)
		if err != nil {
			return err
		}
		n := confidenceCounts(a)
		total := max(1, n[configs.Measured]+n[configs.Published]+n[configs.Derived]+n[configs.Assumed])
		tw.AppendRow([]any{a.Name, a.Family, b.Name, b.SMs, fmt.Sprintf("%.0f", b.ClockMHz), a.SM.SubPartitions, a.Occupancy.MaxWarps,
			fmt.Sprintf("%dK", a.Occupancy.Registers/1024), bytesText(a.Occupancy.SharedBytes),
			fmt.Sprintf("%d %%", 100*n[configs.Measured]/total), fmt.Sprintf("%d %%", 100*n[configs.Assumed]/total)})
	}
	t.table("", tw)
	t.printf("\n")
	t.paragraph("measured, assumed: share of the architecture's numbers with that confidence. smsim arch show NAME lists them all with their sources.", "")
	return t.err
}

func confidenceCounts(a *configs.Arch) map[configs.Confidence]int {
	n := map[configs.Confidence]int{}
	for _, k := range a.Keys() {
		n[k.Confidence]++
	}
	return n
}

// WriteArch writes every number of an architecture with its source and confidence; filter keeps keys that contain it.
func WriteArch(w io.Writer, name, filter string) error {
	a, err := LoadArch(name)
	if err != nil {
		return err
	}
	return writeArch(w, a, filter)
}

func writeArch(w io.Writer, a *configs.Arch, filter string) error {
	t := &textWriter{w: w}
	t.printf("%s: %s, compute capability %s, board %s\n", a.Name, a.Family, a.ComputeCapability, a.Board)
	n := confidenceCounts(a)
	t.printf("%d numbers: %d measured, %d published, %d derived, %d assumed\n", n[configs.Measured]+n[configs.Published]+n[configs.Derived]+n[configs.Assumed],
		n[configs.Measured], n[configs.Published], n[configs.Derived], n[configs.Assumed])
	tw := page.NewTable("key", "value", "confidence", "source")
	shown := 0
	for _, k := range a.Keys() {
		if filter != "" && !strings.Contains(k.Path, filter) {
			continue
		}
		shown++
		tw.AppendRow([]any{k.Path, page.Clip(k.Value, 20), string(k.Confidence), page.Clip(k.Source, 30)})
	}
	if shown == 0 {
		return noKey(a, filter)
	}
	t.table("", tw)
	return t.err
}

// WriteBoards writes a line for each known product.
func WriteBoards(w io.Writer) error {
	boards, err := configs.Boards()
	if err != nil {
		return err
	}
	t := &textWriter{w: w}
	tw := page.NewTable("board", "arch", "SMs", "MHz", "L2", "GB/s", "confidence")
	page.Right(tw, 3, 6)
	for _, b := range boards {
		tw.AppendRow([]any{b.Name, b.Arch, b.SMs, fmt.Sprintf("%.0f", b.ClockMHz), bytesText(b.L2KB << 10), fmt.Sprintf("%.0f", b.MemoryGBs), string(b.Confidence)})
	}
	t.table("", tw)
	return t.err
}
