package study

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/sim"
	"github.com/sarchlab/smsim/study/page"
)

// run writes the page of one run.
func (t *textWriter) run(r *Run) {
	board := ""
	if r.Board != "" {
		board = fmt.Sprintf(" (%s, %.0f MHz)", r.Board, r.ClockMHz)
	}
	name := r.Kernel
	if r.Variant != r.Kernel {
		name = r.Variant + " (" + r.Kernel + ")"
	}
	t.printf("\n%s on %s%s\n", name, r.Arch, board)
	t.printf("%s\n", strings.Repeat("═", min(page.Width, len(name)+len(r.Arch)+len(board)+4)))
	t.fact("launch", fmt.Sprintf("grid %s, block %s; this SM of %d runs %s (%s)", dims(dim(r.Grid)), dims(dim(r.Block)),
		r.SMs, page.Plural(r.BlocksRun, "block"), r.Blocks))
	t.fact("code", fmt.Sprintf("%s from %s, %s; %s a thread, %s shared a block%s; control information %s",
		page.Plural(r.CodeInsts, "instruction"), inputName(r.Input), bytesText(r.CodeBytes), page.Plural(r.Registers, "register"), bytesText(r.SharedBytes), local(r), r.ControlOrigin))
	t.fact("time", fmt.Sprintf("%s cycles = %s µs; %s warp-instructions, %.2f a cycle; %.1f active lanes of 32",
		thousands(r.Cycles), microseconds(r.TimeUS), thousands(r.WarpInstructions), r.IPC, lanes(r)))
	if len(r.Overrides) > 0 {
		t.fact("changed", strings.Join(r.Overrides, ", "))
	}
	if r.WorkCycle > 0 {
		t.fact("work", fmt.Sprintf("%s %s a cycle", figures(r.WorkCycle), r.WorkUnit))
	}
	o := &r.Occupancy
	t.fact("occupancy", fmt.Sprintf("%d of %d warps fit (%s; limited by %s); %s%.1f resident on average (%s)",
		o.TheoreticalWarps, o.MaxWarps, percent(o.Theoretical), o.Limiter, gridWords(r), o.AchievedWarps, percent(o.Achieved)))
	t.fact("limit", r.Limiter.Sentence)
	if next := nextStep(r); next != "" {
		t.fact("try", next)
	}
	t.fact("check", r.Check+checkNote(r))
	t.states(r)
	t.pipes(r)
	t.memory(r)
	t.hottest(r)
	t.outputs(r)
}

// gridWords says that the grid, not a resource, keeps the SM from being full; "" if it does not.
func gridWords(r *Run) string {
	if r.BlocksRun >= r.Occupancy.TheoreticalBlocks {
		return ""
	}
	return fmt.Sprintf("this SM gets only %s where %d fit; ", page.Plural(r.BlocksRun, "block"), r.Occupancy.TheoreticalBlocks)
}

// fact writes a named line, wrapped under itself.
func (t *textWriter) fact(name, s string) {
	const indent = 11
	for i, line := range page.Wrap(s, page.Width-indent) {
		if i > 0 {
			name = ""
		}
		t.printf("%-*s%s\n", indent, name, line)
	}
}

func checkNote(r *Run) string {
	if r.CheckNote == "" {
		return ""
	}
	return ": " + r.CheckNote
}

func local(r *Run) string {
	if r.LocalBytes == 0 {
		return ""
	}
	return fmt.Sprintf(", %s local a thread", bytesText(r.LocalBytes))
}

func dim(v [3]uint32) isa.Dim3 { return isa.Dim3{X: v[0], Y: v[1], Z: v[2]} }

func lanes(r *Run) float64 {
	if r.WarpInstructions == 0 {
		return 0
	}
	return float64(r.ThreadInstructions) / float64(r.WarpInstructions)
}

func bar(share float64) string { return strings.Repeat("█", int(share*30+0.5)) }

func (t *textWriter) states(r *Run) {
	tw := page.NewTable("warp state", "share", "cycles per issue", "")
	page.Right(tw, 2, 3)
	states := slices.Clone(r.WarpStates)
	slices.SortStableFunc(states, func(a, b sim.StateShare) int {
		switch {
		case a.WarpCycles > b.WarpCycles:
			return -1
		case a.WarpCycles < b.WarpCycles:
			return 1
		}
		return 0
	})
	for _, s := range states {
		if s.Share >= 0.0005 {
			tw.AppendRow([]any{s.State, percent(s.Share), fmt.Sprintf("%.2f", s.PerIssue), bar(s.Share)})
		}
	}
	t.table("Where the warps spend their time (all cycles of all resident warps)", tw)
	s := &r.IssueSlots
	if s.Total > 0 {
		t.printf("issue slots: %s used, %s with no warp ready, %s with no warp resident\n", percent(float64(s.Issued)/float64(s.Total)),
			percent(float64(s.NoEligible)/float64(s.Total)), percent(float64(s.NoWarp)/float64(s.Total)))
	}
}

func (t *textWriter) pipes(r *Run) {
	tw := page.NewTable("pipe", "busy", "instructions", "executed classes", "")
	page.Right(tw, 2, 3)
	busy := false
	for _, p := range r.Pipes {
		if p.Insts == 0 && p.BusyCycles == 0 {
			continue
		}
		busy = true
		var names []string
		for _, c := range r.Classes {
			if c.Pipe == p.Name {
				names = append(names, c.Class)
			}
		}
		if len(names) > 4 {
			names = append(names[:4], "...")
		}
		tw.AppendRow([]any{p.Name, percent(p.Utilization), thousands(p.Insts), strings.Join(names, " "), bar(p.Utilization)})
	}
	if busy {
		t.table("Pipes", tw)
	}
}

func (t *textWriter) memory(r *Run) {
	m := &r.Memory
	var parts []string
	add := func(n uint64, format string, args ...any) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	add(m.GlobalLoads+m.GlobalStores, "global %s loads, %s stores, %.1f sectors a request", thousands(m.GlobalLoads), thousands(m.GlobalStores), m.SectorsPerRequest)
	add(m.L1Sectors, "L1 hit rate %s", percent(m.L1HitRate))
	add(m.L2Sectors, "L2 hit rate %s (%s sectors)", percent(m.L2HitRate), thousands(m.L2Sectors))
	add(m.DRAMBytes, "DRAM %s bytes", thousands(m.DRAMBytes))
	add(m.SharedLoads+m.SharedStores, "shared %s loads, %s stores, %s extra wavefronts by bank conflicts", thousands(m.SharedLoads), thousands(m.SharedStores), thousands(m.BankConflicts))
	add(m.LocalLoads+m.LocalStores, "local %s loads, %s stores", thousands(m.LocalLoads), thousands(m.LocalStores))
	add(m.Atomics, "%s atomics", thousands(m.Atomics))
	if parts != nil {
		t.printf("\n")
		t.fact("memory", strings.Join(parts, "; "))
	}
}

func (t *textWriter) hottest(r *Run) {
	if len(r.Hot) == 0 {
		return
	}
	tw := page.NewTable("hottest instructions", "share", "executed", "waits in", "source")
	page.Right(tw, 2, 3)
	for _, h := range r.Hot[:min(8, len(r.Hot))] {
		tw.AppendRow([]any{page.Clip(h.Text, 40), percent(h.Share), thousands(h.Executed), h.TopStall, page.Clip(sourceName(h.SourceLine), 24)})
	}
	t.table("", tw)
}

// sourceName is a source position without the directories of its files.
func sourceName(line string) string {
	if line == "" {
		return ""
	}
	parts := strings.Split(line, " ")
	for i, p := range parts {
		open := strings.HasPrefix(p, "(")
		p = path.Base(filepath.ToSlash(strings.TrimPrefix(p, "(")))
		if open {
			p = "(" + p
		}
		parts[i] = p
	}
	return strings.Join(parts, " ")
}

func (t *textWriter) outputs(r *Run) {
	if len(r.Outputs) == 0 {
		return
	}
	t.printf("\n")
	for _, o := range r.Outputs {
		words := make([]string, len(o.First))
		for i, w := range o.First {
			words[i] = fmt.Sprintf("%08x", w)
		}
		more := ""
		if o.Bytes > 4*len(o.First) {
			more = " ..."
		}
		t.fact("output", fmt.Sprintf("%s: %d bytes, fnv1a64 %s; words %s%s", o.Name, o.Bytes, o.FNV1a64, strings.Join(words, " "), more))
	}
}
