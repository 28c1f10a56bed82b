package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sarchlab/smsim/study"
	"github.com/sarchlab/smsim/study/sweepdb"
	"github.com/sarchlab/smsim/workloads"
)

// workerCommand is the hidden command of the processes that run a sweep's points.
const workerCommand = "sweep-worker"

func newSweep() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sweep FILE",
		Short: "simulate many points: kernels, launches, architectures and changed numbers",
		Long: `sweep runs the points of a sweep file (YAML, see docs/sweep.md): all combinations of run files,
variants, launches, grids, block sizes, seeds, architectures and overrides, or listed points.
Worker processes run them in parallel; one that crashes fails only its point.

The directory (out in the file, or --out) gets results.jsonl, which grows while the sweep runs,
results.csv and results.sqlite with one table, points. Points whose result is there already are
not run again: a result is reused when kernel, architecture, launch, arguments, settings and this
program are the same. After an interruption (Ctrl-C) what is finished is kept; the same command
goes on. One sweep at a time writes to a directory. Keys and values that no architecture takes
are refused before anything runs.

Exit code: 0 fine, 1 a point or a check failed or the sweep was interrupted, 2 wrong usage or input
(nothing was run).`,
		Example: `  smsim sweep latency.yaml --out results
  sqlite3 results/results.sqlite 'select arch, "set_lsu.l1_latency", ipc from points'
  smsim plot results/results.jsonl --out pictures`,
		Args:        oneFile,
		Annotations: map[string]string{interruptKey: "keeps what is finished"},
	}
	f := cmd.Flags()
	f.String("out", "", "directory for the results (default: out in the file)")
	f.String("format", "", "format on standard output: text, json (lines) or csv (default text)")
	f.Int("workers", 0, "worker processes (default: one per CPU)")
	f.Bool("quiet", false, "no progress, no messages")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return sweep(cmd, args[0]) }
	return cmd
}

func newSweepWorker() *cobra.Command {
	return &cobra.Command{
		Annotations: map[string]string{interruptKey: "left to the sweep"},
		Use:         workerCommand, Hidden: true, Short: "run points of a sweep named on standard input", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			signal.Ignore(os.Interrupt) // the terminal sends it to all processes; the sweep itself decides
			return study.SweepWorker(cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
}

func sweep(cmd *cobra.Command, name string) error {
	j, err := newJob(cmd)
	if err != nil {
		return err
	}
	name, text, err := readInput(name, cmd.InOrStdin())
	if err != nil {
		return err
	}
	if workloads.Recognise(name, text) != workloads.TextOther {
		return &study.InputError{Err: fmt.Errorf("%s is a kernel, not a sweep file: write a sweep file (YAML, docs/sweep.md) whose runs name it, "+
			"or change numbers of one kernel with smsim whatif %s --set KEY=V1,V2", name, name)}
	}
	s, err := study.DecodeSweep(name, text)
	if err != nil {
		return &study.InputError{Err: err}
	}
	dir := j.v.GetString("out")
	if dir == "" {
		dir = s.Out
	}
	if dir == "" {
		return usageError{errors.New("give the directory of the results: --out DIR, or out in the file")}
	}
	if err := j.filesTo(dir, false); err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	tool, err := fileHash(exe)
	if err != nil {
		return err
	}
	opt := j.options()
	if opt.Workers == 0 {
		opt.Workers = runtime.GOMAXPROCS(0)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	res, err := study.RunSweep(ctx, name, text, study.SweepOptions{Workers: opt.Workers, Tool: tool, Dir: dir, Progress: opt.Progress, Command: func() *exec.Cmd {
		c := exec.Command(exe, workerCommand)
		// One simulation runs at a time in a worker: more threads would only collect garbage on other workers' cores.
		c.Env = append(os.Environ(), "GOMAXPROCS=1")
		return c
	}})
	j.finish()
	if res == nil {
		return err
	}
	return errors.Join(err, j.finishSweep(res))
}

// finishSweep writes the tables of what ran and says what failed.
func (j *job) finishSweep(res *study.SweepResult) error {
	table := res.Table()
	if err := writeAtomic(filepath.Join(j.dir, "results.csv"), table.WriteCSV); err != nil {
		return err
	}
	if err := sweepdb.Write(filepath.Join(j.dir, "results.sqlite"), table); err != nil {
		return err
	}
	if err := study.WriteSweep(j.cmd.OutOrStdout(), res, j.format); err != nil {
		return err
	}
	if !j.quiet {
		fmt.Fprintf(j.cmd.ErrOrStderr(), "%d points, %d of them from earlier results; results.jsonl, results.csv and results.sqlite written to %s\n",
			len(res.Records), res.Reused, j.dir)
		if n := len(res.Kept); n > 0 {
			fmt.Fprintf(j.cmd.ErrOrStderr(), "%d finished points that the file no longer lists are in unlisted.jsonl; they are used again when it does\n", n)
		}
	}
	var errs []error
	for _, f := range res.Failed() {
		errs = append(errs, fmt.Errorf("%s: %s", res.Sweep.Points[f.Index].Name(), f.Error))
	}
	for i, rec := range res.Records {
		if rec != nil && rec.Result != nil && rec.Result.Check == "failed" {
			errs = append(errs, fmt.Errorf("check failed: %s: %s", res.Sweep.Points[i].Name(), rec.Result.CheckNote))
		}
	}
	if res.Interrupted {
		errs = append(errs, fmt.Errorf("interrupted: %d of %d points have not been run; the same command goes on", res.Missing(), len(res.Records)))
	}
	if len(errs) == 0 {
		return nil
	}
	if n := len(errs); n > 20 {
		errs = append(errs[:20:20], fmt.Errorf("and %d more; the error column of results.csv has all", n-20))
	}
	return errors.Join(errs...)
}

// fileHash identifies a program by its content.
func fileHash(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("cannot read this program: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("cannot read this program: %w", err)
	}
	return strings.ToLower(hex.EncodeToString(h.Sum(nil)[:16])), nil
}
