package study

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/sarchlab/smsim/plots"
	"github.com/sarchlab/smsim/study/page"
)

// WriteOccupancy writes residencies as text, json (an object; an array when there are several) or csv (one row each).
func WriteOccupancy(w io.Writer, qs []*Occupancy, format string) error {
	switch format {
	case "json":
		if len(qs) == 1 {
			return page.JSON(w, qs[0])
		}
		return page.JSON(w, qs)
	case "csv":
		c := csv.NewWriter(w)
		rows := [][]string{{"arch", "kernel", "launch", "block_threads", "registers_per_thread", "shared_bytes_per_block", "blocks", "warps", "max_warps", "occupancy",
			"limiter", "registers_allocated_per_block", "shared_bytes_allocated_per_block", "carveout_bytes"}}
		for _, q := range qs {
			row := []string{q.Arch, q.Kernel, q.Launch}
			for _, n := range []int{q.Threads, q.Regs, q.Shared, q.Blocks, q.Warps, q.MaxWarps} {
				row = append(row, strconv.Itoa(n))
			}
			rows = append(rows, append(row, number(q.Fraction), q.Limiter, strconv.Itoa(q.RegsBlock), strconv.Itoa(q.SharedBlock), strconv.Itoa(q.Carveout)))
		}
		return c.WriteAll(rows)
	}
	t := &textWriter{w: w}
	if len(qs) > 1 {
		t.occupancyOverview(qs)
		return t.err
	}
	t.occupancy(qs[0])
	return t.err
}

func (t *textWriter) occupancyOverview(qs []*Occupancy) {
	tw := page.NewTable("kernel", "arch", "launch", "threads", "regs", "shared", "blocks", "warps", "of", "occupancy", "limited by")
	page.Right(tw, 4, 10)
	for _, q := range qs {
		tw.AppendRow([]any{page.Clip(q.Kernel, 24), q.Arch, q.Launch, q.Threads, q.Regs, bytesText(q.Shared), q.Blocks, q.Warps, q.MaxWarps, percent(q.Fraction), q.Limiter})
	}
	t.table("", tw)
	t.printf("\nOne kernel, launch and architecture at a time shows the arithmetic and the curves.\n")
}

func (t *textWriter) occupancy(q *Occupancy) {
	name := q.Arch
	if q.Kernel != "" {
		name = q.Kernel + " on " + q.Arch
	}
	t.printf("%s, %d threads a block, %s a thread, %s of shared memory a block:\n", name, q.Threads, page.Plural(q.Regs, "register"), bytesText(q.Shared))
	t.paragraph("  "+q.Sentence()+".", "  ")
	tw := page.NewTable("", "resource", "blocks", "arithmetic")
	for _, l := range q.Limits {
		n, mark := "any", ""
		if l.Blocks != nil {
			n = strconv.Itoa(*l.Blocks)
			if *l.Blocks == q.Blocks {
				mark = "*"
			}
		}
		tw.AppendRow([]any{mark, l.Resource, n, strings.Join(page.Wrap(l.Arithmetic, page.Width-24), "\n")})
	}
	t.table("Blocks that each resource allows", tw)
	if q.Blocks > 0 && q.Carveout > 0 {
		t.printf("Carve-out: %s of shared memory hold the resident blocks.\n", bytesText(q.Carveout))
	}
	most := ""
	if q.MostThreads > 0 {
		most = fmt.Sprintf(", at most %d as the kernel declares", q.MostThreads)
	}
	t.occupancyCurve(q, "Against block size (threads"+most+"; registers and shared memory as given)", q.BlockCurve, q.Threads)
	t.occupancyCurve(q, "Against registers a thread (block size and shared memory as given)", q.RegisterCurve, q.Regs)
	t.occupancyCurve(q, "Against shared memory a block (bytes; block size and registers as given)", q.SharedCurve, q.Shared)
	t.printf("\nNumbers of %s: %s; source: %s\n", q.Arch, q.Confidence, q.Source)
}

// occupancyCurve writes a curve as ranges, the kernel's own marked.
func (t *textWriter) occupancyCurve(q *Occupancy, title string, curve []OccupancyStep, at int) {
	tw := page.NewTable("", "from", "to", "blocks", "warps", "occupancy", "limited by")
	page.Right(tw, 2, 6)
	marked := false
	for _, s := range curve {
		mark := ""
		// A value between two of the curve counts as the next larger, as the allocation rounds up.
		if !marked && at <= s.To {
			mark, marked = ">", true
		}
		tw.AppendRow([]any{mark, s.From, s.To, s.Blocks, s.Warps, percent(float64(s.Warps) / float64(q.MaxWarps)), s.Limiter})
	}
	t.table(title, tw)
}

// OccupancyPictures draws the three curves, the kernel's own place marked.
func OccupancyPictures(q *Occupancy) ([]Picture, error) { return encode(occupancyFigures(q)) }

func occupancyFigures(q *Occupancy) []figure {
	draw := func(title, xlabel string, points []curvePoint, at int) *plots.Curves {
		line := plots.Curve{Name: "resident warps"}
		own := plots.Curve{Name: "this kernel", X: []float64{float64(at)}, Y: []float64{float64(q.Warps)}}
		for i, p := range points {
			// Corners only: a curve of a thousand equal points hides its steps under markers.
			edge := i == 0 || i == len(points)-1 || points[i-1].r.Warps != p.r.Warps || points[i+1].r.Warps != p.r.Warps
			if edge {
				line.X, line.Y = append(line.X, float64(p.x)), append(line.Y, float64(p.r.Warps))
			}
		}
		note := fmt.Sprintf("%s: %d threads a block, %d registers a thread, %s shared memory a block; %d warp slots", q.Arch, q.Threads, q.Regs, bytesText(q.Shared), q.MaxWarps)
		return &plots.Curves{Title: title, Note: note, XLabel: xlabel, YLabel: "resident warps per SM", Lines: []plots.Curve{line, own}}
	}
	return []figure{
		{"occupancy_block", draw("Resident warps against block size", "threads per block", q.blockPoints, q.Threads), 0},
		{"occupancy_registers", draw("Resident warps against registers", "registers per thread", q.registerPoints, q.Regs), 0},
		{"occupancy_shared", draw("Resident warps against shared memory", "shared memory per block (bytes)", q.sharedPoints, q.Shared), 0},
	}
}
