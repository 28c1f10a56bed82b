package study

import (
	"encoding/csv"
	"fmt"
	"io"
	"sort"
	"strconv"

	"github.com/sarchlab/smsim/study/page"
)

// csvColumn is one column of the table of runs.
type csvColumn struct {
	name  string
	value func(*Run) string
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', 10, 64) }
func whole(n uint64) string   { return strconv.FormatUint(n, 10) }

func csvColumns(rep *Report) []csvColumn {
	text := func(f func(*Run) string) func(*Run) string { return f }
	cols := []csvColumn{
		{"study", text(func(r *Run) string { return r.Study })},
		{"kernel", text(func(r *Run) string { return r.Kernel })},
		{"variant", text(func(r *Run) string { return r.Variant })},
		{"launch", text(func(r *Run) string { return r.Launch })},
		{"group", text(func(r *Run) string { return r.Group })},
		{"x", func(r *Run) string {
			if r.X == nil {
				return ""
			}
			return number(*r.X)
		}},
		{"arch", text(func(r *Run) string { return r.Arch })},
		{"board", text(func(r *Run) string { return r.Board })},
		{"grid", func(r *Run) string { return dims(dim(r.Grid)) }},
		{"block", func(r *Run) string { return dims(dim(r.Block)) }},
		{"blocks_run", func(r *Run) string { return strconv.Itoa(r.BlocksRun) }},
		{"registers", func(r *Run) string { return strconv.Itoa(r.Registers) }},
		{"shared_bytes", func(r *Run) string { return strconv.Itoa(r.SharedBytes) }},
		{"cycles", func(r *Run) string { return whole(r.Cycles) }},
		{"time_us", func(r *Run) string { return number(r.TimeUS) }},
		{"warp_instructions", func(r *Run) string { return whole(r.WarpInstructions) }},
		{"thread_instructions", func(r *Run) string { return whole(r.ThreadInstructions) }},
		{"ipc", func(r *Run) string { return number(r.IPC) }},
		{"work", func(r *Run) string { return number(r.Work) }},
		{"work_per_cycle", func(r *Run) string { return number(r.WorkCycle) }},
		{"issue_utilization", func(r *Run) string { return number(r.IssueSlots.Utilization) }},
		{"occupancy_theoretical", func(r *Run) string { return number(r.Occupancy.Theoretical) }},
		{"occupancy_achieved", func(r *Run) string { return number(r.Occupancy.Achieved) }},
		{"occupancy_limiter", func(r *Run) string { return r.Occupancy.Limiter }},
		{"limiter", func(r *Run) string { return string(r.Limiter.Kind) }},
		{"limiter_what", func(r *Run) string { return r.Limiter.What }},
		{"confidence", func(r *Run) string { return r.Confidence }},
		{"input", func(r *Run) string { return r.Input }},
		{"check", func(r *Run) string { return r.Check }},
		{"l1_hit_rate", func(r *Run) string { return number(r.Memory.L1HitRate) }},
		{"l2_hit_rate", func(r *Run) string { return number(r.Memory.L2HitRate) }},
		{"dram_bytes", func(r *Run) string { return whole(r.Memory.DRAMBytes) }},
		{"bank_conflicts", func(r *Run) string { return whole(r.Memory.BankConflicts) }},
	}
	for _, name := range pipeNames(rep) {
		cols = append(cols, csvColumn{"pipe_" + name, func(r *Run) string {
			if p := pipe(r, name); p != nil {
				return number(p.Utilization)
			}
			return ""
		}})
	}
	for _, name := range stateNames(rep) {
		cols = append(cols, csvColumn{"state_" + name, func(r *Run) string {
			for _, s := range r.WarpStates {
				if s.State == name {
					return number(s.Share)
				}
			}
			return ""
		}})
	}
	return cols
}

// pipeNames are the pipes of all runs, sorted: architectures have different ones.
func pipeNames(rep *Report) []string {
	return names(rep, func(r *Run, add func(string)) {
		for _, p := range r.Pipes {
			add(p.Name)
		}
	}, true)
}

// stateNames are the warp states in their order.
func stateNames(rep *Report) []string {
	return names(rep, func(r *Run, add func(string)) {
		for _, s := range r.WarpStates {
			add(s.State)
		}
	}, false)
}

func names(rep *Report, each func(*Run, func(string)), sorted bool) []string {
	var out []string
	seen := map[string]bool{}
	for i := range rep.Runs {
		each(&rep.Runs[i], func(n string) {
			if !seen[n] {
				seen[n] = true
				out = append(out, n)
			}
		})
	}
	if sorted {
		sort.Strings(out)
	}
	return out
}

// WriteCSV writes one row for each run.
func WriteCSV(w io.Writer, rep *Report) error {
	c := csv.NewWriter(w)
	cols := csvColumns(rep)
	row := make([]string, len(cols))
	for i, col := range cols {
		row[i] = col.name
	}
	if err := c.Write(row); err != nil {
		return err
	}
	for i := range rep.Runs {
		for j, col := range cols {
			row[j] = col.value(&rep.Runs[i])
		}
		if err := c.Write(row); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// Write writes the report in a format: text, json or csv. It holds no wall-clock value: equal inputs give equal bytes.
func Write(w io.Writer, rep *Report, format string) error {
	return WriteIn(w, format, rep, WriteText, WriteCSV)
}

// WriteIn writes what a command found in a format: as text, as JSON of the value, or as CSV.
func WriteIn[T any](w io.Writer, format string, found T, text, csv func(io.Writer, T) error) error {
	switch format {
	case "text":
		return text(w, found)
	case "json":
		return page.JSON(w, found)
	case "csv":
		return csv(w, found)
	}
	return &InputError{fmt.Errorf("unknown format %q", format)}
}
