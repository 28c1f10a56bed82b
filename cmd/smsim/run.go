package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sarchlab/smsim/study"
)

func newRun() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run FILE",
		Short: "simulate a workload, study, PTX kernel or machine-code listing and say what limits it",
		Long: `run simulates a kernel on one SM, checks its output and reports where the time goes.

FILE is a workload or study file (YAML, see docs/workloads.md), a PTX file or a machine-code
listing (output of cuobjdump -sass or nvdisasm, see docs/sass.md) with the launch given by flags,
the name of a bundled workload (ncc, sha256, gemm8, ...), or - for standard input. FILE:KERNEL is
one kernel or variant of it.

A listing runs on the target it is for. It does not declare parameters: the arguments are laid out
in order, each at the next multiple of its own size.

Arguments of the kernel, in order, one --arg each; a leading NAME= names it:
  buf:SIZE[:seed=N][:mask=N][:out]     buffer of pseudo-random words (x = x*1664525 + 1013904223)
  random:SIZE[:seed=N][:mask=N][:out]  buffer of words from SplitMix64
  zero:SIZE                            buffer of zeros, shown and checked as output
  iota:SIZE[:value=N]                  words N, N+1, N+2, ...
  const:SIZE:value=N                   every word N
  file:PATH[:bytes=N][:out]            content of a file
  u32:12  s64:-3  f32:1.5  b16:0xff    scalars: u, s, b of 8 to 64 bits, f32, f64
  hex:00ff10a0                         bytes of a structure passed by value, which may also be given
                                       as its fields, one argument each
SIZE is in bytes; 1024w means 1024 words of 32 bits, 4K and 2M are 1024 and 1024^2 bytes. The seed
is 0 unless given.

Settings come from flags, then from the environment (SMSIM_ARCH for --arch, SMSIM_CYCLE_LIMIT for
--cycle-limit, ...), then from FILE, then from defaults.

Exit code: 0 fine, 1 a simulation or a check failed, 2 wrong usage or input.`,
		Example: `  smsim run workloads/ncc/study.yaml
  smsim run ncc --arch sm_86,sm_90 --launch 1024x2 --format json
  smsim run sha256 --set classes.shf.issue_interval=1
  smsim run kernel.ptx:saxpy --arch sm_89 --grid 128 --block 256 \
      --arg x=buf:1M:seed=1 --arg y=zero:1M --arg u32:3
  cuobjdump -sass a.out | smsim run - --kernel saxpy --grid 128 --block 256 \
      --arg buf:1M --arg zero:1M --arg u32:3`,
		Args: oneFile,
	}
	addRunFlags(cmd.Flags())
	addOwnRunFlags(cmd.Flags())
	cmd.Flags().Lookup("quiet").Usage = "one line a run, no progress, no messages"
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return runFile(cmd, args[0]) }
	return cmd
}

func runFile(cmd *cobra.Command, name string) error {
	j, err := newJob(cmd)
	if err != nil {
		return err
	}
	plan, err := j.plan(name, cmd.InOrStdin())
	if err != nil {
		return err
	}
	if err := j.filesTo(plan.Outputs.Dir, plan.Outputs.Plots); err != nil {
		return err
	}
	begin := time.Now()
	opt := j.options()
	if err := j.overTime(&opt); err != nil {
		return err
	}
	rep, err := study.Execute(plan, opt)
	j.finish()
	if err != nil {
		return err
	}
	took := time.Since(begin)
	// Files come first: whoever closes the pipe (| head) still gets them.
	saved := j.save(reportFiles(plan.Outputs.Formats), func(w io.Writer, f string) error { return study.Write(w, rep, f) },
		func() ([]study.Picture, error) { return study.Pictures(rep) })
	if err := errors.Join(saved, report(cmd.OutOrStdout(), rep, j.format, j.quiet)); err != nil {
		return err
	}
	if j.v.GetBool("stats") {
		writeStats(cmd.ErrOrStderr(), rep, took)
	}
	return outcome(rep)
}

// reportFiles are the files of a report in the formats that a run file asks for, all if it names none.
func reportFiles(formats []string) []outputFile {
	all := []outputFile{{"text", "report.txt"}, {"json", "report.json"}, {"csv", "runs.csv"}}
	return slices.DeleteFunc(all, func(f outputFile) bool { return len(formats) > 0 && !slices.Contains(formats, f.format) })
}

// report prints the report; quietly it is a line for each run in the text format.
func report(w io.Writer, rep *study.Report, format string, quiet bool) error {
	if quiet && format == "text" {
		return study.WriteLines(w, rep)
	}
	return study.Write(w, rep, format)
}

// outcome is the error of a run whose report has been printed.
func outcome(rep *study.Report) error {
	var errs []error
	input := len(rep.Failures) > 0
	for _, f := range rep.Failures {
		var in *study.InputError
		input = input && errors.As(f.Err, &in)
		errs = append(errs, fmt.Errorf("%s: %w", strings.Join(strings.Fields(f.Variant+" "+f.Launch+" on "+f.Arch), " "), f.Err))
	}
	if n := rep.Failed(); n > 0 {
		for i := range rep.Runs {
			if r := &rep.Runs[i]; r.Check == "failed" {
				errs = append(errs, fmt.Errorf("check failed: %s: %s", study.RunName(r), r.CheckNote))
			}
		}
		return errors.Join(errs...)
	}
	if err := errors.Join(errs...); err != nil {
		if input {
			return &study.InputError{Err: err}
		}
		return err
	}
	return nil
}

// writeStats says how long the simulation took. It is the only place where wall-clock time is printed.
func writeStats(w io.Writer, rep *study.Report, took time.Duration) {
	insts := uint64(0)
	for i := range rep.Runs {
		insts += rep.Runs[i].WarpInstructions
	}
	fmt.Fprintf(w, "time %.2f s, %d runs, %.3g million warp-instructions simulated, %.3g million a second", took.Seconds(), len(rep.Runs),
		float64(insts)/1e6, float64(insts)/1e6/took.Seconds())
	if cpu := cpuSeconds(); cpu > 0 {
		fmt.Fprintf(w, "; %.2f CPU-seconds of the process, %.3g million warp-instructions a CPU-second", cpu, float64(insts)/1e6/cpu)
	}
	fmt.Fprintln(w)
}
