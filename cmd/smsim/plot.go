package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sarchlab/smsim/plots"
	"github.com/sarchlab/smsim/study"
	"github.com/sarchlab/smsim/study/gainmap"
)

func newPlot() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plot RESULT...",
		Short: "draw saved results again: other pictures, formats, sizes, styles",
		Long: `plot draws pictures of results that other commands saved: report.json of smsim run, compare.json,
whatif.json, sensitivity.json, results.jsonl of smsim sweep, gainmap.json, or a CSV table with the
columns measured and predicted (and, if wanted, class). Nothing is simulated. With several results
each gets its own directory below --out, named after its file's directory.

Kinds of pictures (--kind, repeatable; left out: all that the result has, but for occupancy):
  ` + strings.Join(study.PictureKinds(), "\n  "),
		Example: `  smsim run ncc --arch sm_86 --out results && smsim plot results/report.json --out pictures
  smsim run sha256 --timeline 200 --out r && smsim plot r/report.json --kind timeline --style dark
  smsim plot results/results.jsonl --kind heat,curves --formats pdf --size 1200x800`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{fmt.Errorf("%s needs saved results, such as report.json", cmd.CommandPath())}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.String("out", ".", "directory for the pictures")
	f.StringSlice("kind", nil, "kinds of pictures, see above")
	f.StringSlice("metric", nil, "numbers of a sweep's pictures: "+strings.Join(study.Metrics(), ", ")+" (default: the first three)")
	f.StringSlice("formats", []string{"svg", "png"}, "svg, png, pdf")
	f.String("size", "", "width x height in pixels at 96 an inch, such as 1200x800 (default: each picture's own)")
	f.String("style", "light", strings.Join(plots.Looks(), ", "))
	f.Bool("quiet", false, "no messages")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return plotFiles(cmd, args) }
	return cmd
}

var sizeForm = regexp.MustCompile(`^(\d{1,5})x(\d{1,5})$`)

// pointsPerPixel converts pixels at 96 an inch to points of 1/72 inch.
const pointsPerPixel = 0.75

func plotOptions(cmd *cobra.Command) (opt study.PlotOptions, err error) {
	f := cmd.Flags()
	opt.Kinds, _ = f.GetStringSlice("kind")
	opt.Formats, _ = f.GetStringSlice("formats")
	opt.Metrics, _ = f.GetStringSlice("metric")
	opt.Style, _ = f.GetString("style")
	if err := study.CheckKinds(opt.Kinds); err != nil {
		return opt, bad("--kind", err)
	}
	for _, x := range opt.Metrics {
		if err := oneOf("metric", x, study.Metrics()...); err != nil {
			return opt, err
		}
	}
	for _, x := range opt.Formats {
		if err := oneOf("formats", x, "svg", "png", "pdf"); err != nil {
			return opt, err
		}
	}
	if err := oneOf("style", opt.Style, plots.Looks()...); err != nil {
		return opt, err
	}
	size, _ := f.GetString("size")
	if size == "" {
		return opt, nil
	}
	m := sizeForm.FindStringSubmatch(size)
	if m == nil {
		return opt, usageError{fmt.Errorf("--size: %q is not a size such as 1200x800", size)}
	}
	w, _ := strconv.Atoi(m[1])
	h, _ := strconv.Atoi(m[2])
	if least, low := plots.MinWidth.Points()/pointsPerPixel, plots.MinHeight.Points()/pointsPerPixel; float64(w) < least || float64(h) < low {
		return opt, usageError{fmt.Errorf("--size: %s is too small; at least %.0fx%.0f", size, math.Ceil(least), math.Ceil(low))}
	}
	if w > 8000 || h > 8000 {
		return opt, usageError{fmt.Errorf("--size: %s is too large; at most 8000x8000", size)}
	}
	opt.Width, opt.Height = float64(w)*pointsPerPixel, float64(h)*pointsPerPixel
	return opt, nil
}

func plotFiles(cmd *cobra.Command, args []string) error {
	opt, err := plotOptions(cmd)
	if err != nil {
		return err
	}
	out, _ := cmd.Flags().GetString("out")
	if err := checkDir(out); err != nil {
		return &study.InputError{Err: err}
	}
	// All results are read before anything is written.
	saved := make([]*study.Saved, len(args))
	for i, name := range args {
		shown, text, err := readInput(name, cmd.InOrStdin())
		if err != nil {
			return err
		}
		if saved[i], err = gainmap.Read(shown, text); err == nil && saved[i] == nil {
			saved[i], err = study.ReadSaved(shown, text)
		}
		if err != nil {
			return &study.InputError{Err: err}
		}
	}
	var used []string
	n := 0
	for i, s := range saved {
		dir := out
		if len(args) > 1 {
			dir = filepath.Join(out, ownName(args[i], &used))
		}
		pictures, err := study.Plot(s, opt)
		if err != nil {
			return fmt.Errorf("%s: %w", args[i], err)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return &study.InputError{Err: fmt.Errorf("cannot create the output directory: %w", err)}
		}
		for j := range pictures {
			name := filepath.Join(dir, pictures[j].Name)
			if err := writeAtomic(name, pictures[j].Write); err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), filepath.ToSlash(name))
			n++
		}
	}
	if quiet, _ := cmd.Flags().GetBool("quiet"); !quiet {
		fmt.Fprintf(cmd.ErrOrStderr(), "%d pictures written to %s\n", n, out)
	}
	return nil
}

// ownName is a directory name for a result: its directory's, or the file's where that says nothing, made unique.
func ownName(file string, used *[]string) string {
	name := filepath.Base(filepath.Dir(file))
	if name == "." || name == string(filepath.Separator) || name == ".." {
		name = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	}
	for n, base := 2, name; slices.Contains(*used, name); n++ {
		name = fmt.Sprintf("%s_%d", base, n)
	}
	*used = append(*used, name)
	return name
}
