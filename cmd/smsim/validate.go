package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sarchlab/smsim/plots"
	"github.com/sarchlab/smsim/study"
	"github.com/sarchlab/smsim/study/published"
	"github.com/sarchlab/smsim/study/validate"
)

// validation holds the flags of the command.
type validation struct {
	data, arch, format, without, out, doc string
	sets, inputs                          []string
	every, workers                        int
	rows, plots, quiet, published         bool
}

func newValidate() *cobra.Command {
	v := &validation{}
	var mechanisms []string
	for _, m := range validate.Mechanisms() {
		mechanisms = append(mechanisms, fmt.Sprintf("  %-20s %s", m.Name, m.What))
	}
	cmd := &cobra.Command{
		Use:   "validate",
		Short: "replay measurements of a real GPU and report the model's errors",
		Long: `validate runs kernels that were measured on an NVIDIA H200 and compares cycles: by class of
measurements, worst rows first. Real kernels are also compared with Nsight Compute on the reasons.
A part of the measurements comes with smsim; --data takes a folder with forms/, intrinsics/, micro/
and kernels/ (any may be absent), files plain or with .gz.

Sets: ` + strings.Join(validate.SetNames()[:5], ", ") + `,
` + strings.Join(validate.SetNames()[5:], ", ") + `.
Errors are in percent of the measured value; positive: the model takes longer.

Mechanisms that --without switches off, to see what they are worth:
` + strings.Join(mechanisms, "\n") + `

--published compares the other architectures with results that others published (latencies, DPX
functions, peak rates, register banks; docs/published.md), as text, json, csv or markdown.

Exit code: 0 all rows were replayed, 1 some could not be, 2 wrong usage or input.`,
		Example: `  smsim validate
  smsim validate --set kernels_warm --rows --format csv
  smsim validate --data measurements --every 20 --plots --out out
  smsim validate --set registerfile --without reuse_cache
  smsim validate --published`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return v.run(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&v.data, "data", "", "folder with measurements (default: those that come with smsim)")
	f.StringSliceVar(&v.sets, "set", nil, "only these sets")
	f.StringSliceVar(&v.inputs, "input", nil, "only from sass (the machine code that ran) or ptx")
	f.StringVar(&v.arch, "arch", "sm_90", "architecture to replay on")
	f.IntVar(&v.every, "every", 1, "replay every n-th row of each set")
	f.IntVar(&v.workers, "workers", 0, "replays at once (default: one per CPU)")
	f.BoolVar(&v.rows, "rows", false, "list all rows with predicted and measured cycles")
	f.StringVar(&v.format, "format", "text", "text, json or csv")
	f.StringVar(&v.without, "without", "", "switch a mechanism of the model off")
	f.BoolVar(&v.plots, "plots", false, "plot predicted against measured cycles (with --out)")
	f.StringVar(&v.out, "out", "", "directory for the pictures")
	f.StringVar(&v.doc, "doc", "", "write the report as a Markdown page, its picture beside it")
	f.BoolVar(&v.published, "published", false, "compare with published results for other GPUs instead")
	f.BoolVar(&v.quiet, "quiet", false, "no progress")
	return cmd
}

func (v *validation) run(cmd *cobra.Command) error {
	if v.published {
		return v.comparePublished(cmd)
	}
	if !slices.Contains([]string{"text", "json", "csv"}, v.format) {
		return usageError{fmt.Errorf("--format %s: use text, json or csv", v.format)}
	}
	if err := v.check(); err != nil {
		return err
	}
	var inputs []validate.Input
	for _, i := range v.inputs {
		if in := validate.Input(i); in != validate.FromSASS && in != validate.FromPTX {
			return usageError{fmt.Errorf("--input %s: use sass or ptx", i)}
		}
		inputs = append(inputs, validate.Input(i))
	}
	dir, err := v.folder()
	if err != nil {
		return err
	}
	bar := newProgress(cmd.ErrOrStderr(), v.quiet)
	rep, err := validate.Run(dir, v.arch, validate.Options{Sets: v.sets, Inputs: inputs, Every: v.every, Without: v.without,
		Workers: v.workers, Progress: func(done, total int, insts uint64) {
			bar.update(study.Progress{Done: done, Total: total, Share: float64(done) / float64(total), WarpInsts: insts})
		}})
	bar.finish()
	if err != nil {
		return &study.InputError{Err: err}
	}
	if err := v.write(cmd.OutOrStdout(), rep); err != nil {
		return err
	}
	if n := rep.Failed(); n > 0 {
		r := rep.FirstFailure()
		return fmt.Errorf("%d rows could not be replayed; the first, %s %s: %s", n, r.Set, r.Name, strings.SplitN(r.Failure, "\n", 2)[0])
	}
	return nil
}

// check refuses numbers out of range and files that cannot be written: before the replays, which take minutes.
func (v *validation) check() error {
	switch {
	case v.every < 1:
		return usageError{fmt.Errorf("--every: must be 1 or more, not %d", v.every)}
	case v.workers < 0:
		return usageError{fmt.Errorf("--workers: %d is negative; 0 is one per CPU", v.workers)}
	case v.plots != (v.out != ""):
		return usageError{errors.New("--plots and --out DIR go together")}
	}
	if err := checkDir(v.out); err != nil {
		return &study.InputError{Err: err}
	}
	if v.doc != "" {
		if err := checkFile(v.doc); err != nil {
			return usageError{fmt.Errorf("--doc: %w", err)}
		}
	}
	return nil
}

// comparePublished runs the probes of published results; of the other flags only --format means something.
func (v *validation) comparePublished(cmd *cobra.Command) error {
	var other []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name != "published" && f.Name != "format" && f.Name != "quiet" {
			other = append(other, "--"+f.Name)
		}
	})
	if len(other) > 0 {
		return usageError{fmt.Errorf("--published goes with --format only, not with %s", strings.Join(other, ", "))}
	}
	write, ok := map[string]func(io.Writer, []published.Result) error{"text": published.WriteText, "json": published.WriteJSON, "csv": published.WriteCSV,
		"markdown": published.WriteMarkdown}[v.format]
	if !ok {
		return usageError{fmt.Errorf("--format %s: use text, json, csv or markdown", v.format)}
	}
	figures, err := published.Figures()
	if err != nil {
		return err
	}
	results, err := published.Run(figures)
	if err != nil {
		return err
	}
	return write(cmd.OutOrStdout(), results)
}

// folder is where the measurements are.
func (v *validation) folder() (fs.FS, error) {
	if v.data == "" {
		return validate.Bundled()
	}
	if s, err := os.Stat(v.data); err != nil || !s.IsDir() {
		return nil, &study.InputError{Err: fmt.Errorf("--data %s is not a folder", v.data)}
	}
	return os.DirFS(v.data), nil
}

func (v *validation) write(w io.Writer, rep *validate.Report) error {
	if v.plots {
		if err := os.MkdirAll(v.out, 0o755); err != nil {
			return &study.InputError{Err: err}
		}
		for _, in := range []validate.Input{validate.FromSASS, validate.FromPTX} {
			if p := validate.Picture(rep, in); p != nil {
				if err := plots.Save(p, filepath.Join(v.out, "validation_"+string(in)+".svg"), 0, 0); err != nil {
					return err
				}
			}
		}
	}
	if v.doc != "" {
		picture := strings.TrimSuffix(v.doc, filepath.Ext(v.doc)) + ".svg"
		if p := validate.Picture(rep, validate.FromSASS); p != nil {
			if err := plots.Save(p, picture, 0, 0); err != nil {
				return err
			}
		}
		if err := writeAtomic(v.doc, func(w io.Writer) error { return validate.WriteDocument(w, rep, filepath.Base(picture)) }); err != nil {
			return err
		}
	}
	switch v.format {
	case "json":
		return validate.WriteJSON(w, rep, v.rows)
	case "csv":
		return validate.WriteCSV(w, rep, v.rows)
	}
	return validate.WriteText(w, rep, v.rows)
}
