package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sarchlab/smsim/study"
	"github.com/sarchlab/smsim/study/gainmap"
	"github.com/sarchlab/smsim/workloads"
)

func newGainMap() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "gainmap [STUDY ...]",
		Short: "where an integer instruction pays: gain over chains, warps, loads and memory latency",
		Long: `gainmap generates kernels with an instruction and without it, simulates them, and maps the gain
twice: over independent chains a thread and resident warps, and over loads for each result and the
latency of a load.

STUDY is a file (docs/schema/gainmap.schema.json) or a bundled study: dp4a (against extracting
bytes), imad (against shifts and additions) or dpx (against additions and maxima); default dp4a.
Both forms must give the same output in every cell. With --out the maps are drawn, with contours
and the line of break-even; smsim plot gainmap.json draws them again.`,
		Example: `  smsim gainmap dp4a --arch sm_61,sm_90 --out maps
  smsim gainmap workloads/gainmap/dpx.yaml
  smsim gainmap dpx imad --arch sm_120 --format json`,
	}
	f := cmd.Flags()
	f.StringSlice("arch", nil, "architectures (default: those of the study)")
	f.StringArray("set", nil, "change a number of the architecture, such as classes.idp.issue_interval=2 (repeatable)")
	f.String("out", "", "directory for gainmap.txt, .json, .csv and the pictures")
	f.String("format", "", "format on standard output: text, json or csv (default text)")
	f.Int("workers", 0, "simulations at once (default: one per CPU)")
	f.Bool("quiet", false, "no messages")
	cmd.RunE = runGainMap
	return cmd
}

func runGainMap(cmd *cobra.Command, names []string) error {
	j, err := newJob(cmd)
	if err != nil {
		return err
	}
	var plan workloads.Plan
	if err := j.applyTarget(&plan); err != nil {
		return err
	}
	if len(names) == 0 {
		names = []string{"dp4a"}
	}
	var studies []*gainmap.Study
	total := 0
	for _, n := range names {
		st, err := gainmap.Load(n)
		if err != nil {
			return &study.InputError{Err: err}
		}
		if len(plan.Archs) > 0 || len(st.Archs) == 0 {
			st.Archs = plan.Archs
		}
		if len(st.Archs) == 0 {
			st.Archs = []string{study.DefaultArch}
		}
		studies, total = append(studies, st), total+len(st.Archs)
	}
	dir := j.v.GetString("out")
	if err := j.filesTo(dir, dir != ""); err != nil {
		return err
	}
	opt := j.options()
	opt.Progress = nil // a map is many short simulations: maps are counted
	defer j.finish()
	var maps []*gainmap.Map
	for _, st := range studies {
		for _, arch := range st.Archs {
			m, err := gainmap.Simulate(st.Kind, arch, st.Grid, plan.Settings, opt)
			if err != nil {
				return fmt.Errorf("%s: %w", st.Name, err)
			}
			maps = append(maps, m)
			j.bar.count("maps", len(maps), total)
		}
	}
	j.finish()
	var saved study.Saved
	for _, m := range maps {
		saved.Drawings = append(saved.Drawings, m.Figures()...)
	}
	return j.deliver("gainmap", func(w io.Writer, f string) error { return gainmap.Write(w, maps, f) },
		func() ([]study.Picture, error) {
			return study.Plot(&saved, study.PlotOptions{Formats: strings.Fields("svg png"), Style: "light"})
		})
}
