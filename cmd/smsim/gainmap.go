package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"gonum.org/v1/plot/vg"

	"github.com/sarchlab/smsim/plots"
	"github.com/sarchlab/smsim/strictyaml"
	"github.com/sarchlab/smsim/study"
	"github.com/sarchlab/smsim/study/gainmap"
	"github.com/sarchlab/smsim/workloads"
)

func newGainMap() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "gainmap [KIND ...]",
		Short: "where an integer instruction pays: gain over chains, warps, loads and memory latency",
		Long: `gainmap generates kernels with an instruction and without it, simulates them, and maps the gain
twice: over independent chains a thread and resident warps, and over loads for each result and the
latency of a load.

KIND is dp4a (against extracting bytes), imad (against shifts and additions) or dpx (against
additions and maxima); default dp4a. With --out the maps are drawn, with contours and the line of
break-even.`,
		Example: `  smsim gainmap dp4a --arch sm_61,sm_90 --out maps
  smsim gainmap dpx imad --arch sm_120 --format json`,
	}
	f := cmd.Flags()
	f.StringSlice("arch", nil, "architectures (default "+study.DefaultArch+")")
	f.StringArray("set", nil, "change a number of the architecture, such as classes.idp.issue_interval=2 (repeatable)")
	f.String("out", "", "directory for gainmap.txt, .json, .csv and the pictures")
	f.String("format", "", "format on standard output: text, json or csv (default text)")
	f.Int("workers", 0, "simulations at once (default: one per CPU)")
	f.Bool("assume-unknown", false, "")
	_ = f.MarkHidden("assume-unknown")
	f.Bool("quiet", false, "no messages")
	cmd.RunE = runGainMap
	return cmd
}

func runGainMap(cmd *cobra.Command, names []string) error {
	s, err := newSettings(cmd)
	if err != nil {
		return err
	}
	format, err := s.format()
	if err != nil {
		return err
	}
	var plan workloads.Plan
	if err := s.applyTarget(&plan); err != nil {
		return err
	}
	if len(plan.Archs) == 0 {
		plan.Archs = []string{study.DefaultArch}
	}
	kinds, err := gainKinds(names)
	if err != nil {
		return err
	}
	dir := s.v.GetString("out")
	if err := checkDir(dir); err != nil {
		return &study.InputError{Err: err}
	}
	var maps []*gainmap.Map
	for _, k := range kinds {
		for _, arch := range plan.Archs {
			m, err := gainmap.Simulate(k, arch, gainmap.DefaultGrid(), plan.Settings, study.Options{Workers: s.v.GetInt("workers")})
			if err != nil {
				return err
			}
			maps = append(maps, m)
		}
	}
	if err := gainmap.Write(cmd.OutOrStdout(), maps, format); err != nil || dir == "" {
		return err
	}
	if err := writeSet(cmd.ErrOrStderr(), s.v.GetBool("quiet"), dir, "gainmap", func(w io.Writer, f string) error { return gainmap.Write(w, maps, f) }, nil, false); err != nil {
		return err
	}
	return drawMaps(maps, dir)
}

func gainKinds(names []string) ([]gainmap.Kind, error) {
	all := gainmap.Kinds()
	if len(names) == 0 {
		return all[:1], nil
	}
	var known []string
	for _, k := range all {
		known = append(known, k.Name)
	}
	var out []gainmap.Kind
	for _, n := range names {
		i := slices.Index(known, n)
		if i < 0 {
			return nil, usageError{fmt.Errorf("there is no pair %q%s", n, strictyaml.DidYouMean(n, known))}
		}
		out = append(out, all[i])
	}
	return out, nil
}

// drawMaps writes each map as SVG and PNG.
func drawMaps(maps []*gainmap.Map, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, m := range maps {
		for i, f := range m.Figures() {
			base := fmt.Sprintf("gain_%s_%s_%s", m.Kind, m.Arch, []string{"chains", "memory"}[i])
			for _, ext := range []string{"svg", "png"} {
				if err := plots.Save(f, filepath.Join(dir, base+"."+ext), 17*vg.Centimeter, 10*vg.Centimeter); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
