package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sarchlab/smsim/study"
	"github.com/sarchlab/smsim/workloads"
)

func newWhatIf() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "whatif FILE",
		Short: "simulate a kernel on changed hardware: any number, one or many values",
		Long: `whatif runs a kernel on an architecture and on changed ones, and says what the change gives and how
the limit moves. FILE is what smsim run takes; FILE:KERNEL chooses a kernel or variant.

--set KEY=VALUES changes a number of the architecture (smsim arch show NAME lists them):
  --set pipes.idp.issue_interval=1               one value (the DP4A unit at double rate)
  --set lsu.l1_latency=16,32,64                  several values
  --set memory.l2_latency=200..400..50           from, to, step
  --set warp_scheduler=gto,lrr                   words
  --set "classes.imad.pipe=alu;fmaheavy"         lists: values separated by semicolons
  --set lsu.l1_latency=x2                        twice the present value (x0.5: half)
  --set classes.imad.pipe=own                    a pipe of its own for IMAD, like its present one
  --set pipes.int=alu --set classes.imad.pipe=int  a new pipe like alu, for IMAD alone
Several --set with one value each are run alone and together; with several values, in
all combinations.

--sensitivity instead of --set changes every number that the run can feel by one step down and up
(±1 up to 8, else half and double; switches are turned) and ranks them.

Only the hardware changes: the program stays the one compiled for the unchanged architecture. A
changed latency that stall counts cover gives the same instructions new stall counts, as hardware
without interlocks needs. --recompile compiles the kernel for the changed architecture, which may
choose and order instructions differently.`,
		Example: `  smsim whatif ncc:dp4a_c4 --launch 1024x2 --set pipes.idp.issue_interval=1 --explain
  smsim whatif ncc:imad_c4 --launch 256x4 --set occupancy.registers=x0.5
  smsim whatif chase --set lsu.l1_latency=16..64..8 --out wi --plots
  smsim whatif sha256 --arch sm_86,sm_90 --sensitivity`,
		Args: oneFile,
	}
	f := cmd.Flags()
	addRunFlags(f)
	f.Lookup("out").Usage = "directory for whatif.txt or sensitivity.txt, .json and .csv, and with --plots pictures"
	f.Lookup("set").Usage = "KEY=VALUES, see above (repeatable)"
	f.Bool("explain", false, "say what bound the kernel before and after each change")
	f.Bool("recompile", false, "compile the kernel for each changed architecture")
	f.Bool("sensitivity", false, "rank all numbers by the effect of one step down and up")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return whatIf(cmd, args[0]) }
	return cmd
}

// oneKernel reads FILE or FILE:KERNEL with launch flags, as plan does, but leaves the --set flags to the command.
func (s *settings) oneKernel(name string, in io.Reader) (*workloads.Plan, []string, error) {
	plans, err := s.sides(name, in)
	if err != nil {
		return nil, nil, err
	}
	if len(plans) > 1 {
		return nil, nil, &study.InputError{Err: fmt.Errorf("%s has %d kernels; choose one: %s:KERNEL or --kernel", name, len(plans), name)}
	}
	plan, sets := plans[0], s.list("set")
	// applyTarget put them behind the file's own overrides.
	plan.Overrides = plan.Overrides[:len(plan.Overrides)-len(sets)]
	return plan, sets, nil
}

func whatIf(cmd *cobra.Command, name string) error {
	j, err := newJob(cmd)
	if err != nil {
		return err
	}
	if err := j.filesToOut(); err != nil {
		return err
	}
	plan, sets, err := j.oneKernel(name, cmd.InOrStdin())
	if err != nil {
		return err
	}
	sensitivity := j.v.GetBool("sensitivity")
	if sensitivity == (len(sets) > 0) {
		return usageError{errors.New("say what to change: --set KEY=VALUES, or --sensitivity (not both)")}
	}
	opt := study.WhatIfOptions{Options: j.options(), Recompile: j.v.GetBool("recompile"), Explain: j.v.GetBool("explain")}
	defer j.finish()
	if sensitivity {
		x, err := study.Sensitivities(plan, opt)
		j.finish()
		if err != nil {
			return err
		}
		return j.deliver("sensitivity", func(w io.Writer, f string) error { return study.WriteSensitivity(w, x, f) },
			func() ([]study.Picture, error) { return study.SensitivityPictures(x) })
	}
	var changes []study.Change
	from, _ := j.origin("set")
	for _, text := range sets {
		c, err := study.ParseChange(text)
		if err != nil {
			return bad(from, err)
		}
		changes = append(changes, c)
	}
	x, err := study.WhatIfs(plan, changes, opt)
	j.finish()
	if err != nil {
		return err
	}
	if err := j.deliver("whatif", func(w io.Writer, f string) error { return study.WriteWhatIf(w, x, f) },
		func() ([]study.Picture, error) { return study.WhatIfPictures(x) }); err != nil {
		return err
	}
	rep := &study.Report{Failures: x.Failures}
	for i := range x.Responses {
		rep.Runs = append(rep.Runs, x.Responses[i].Base)
	}
	if err := outcome(rep); err != nil {
		return err
	}
	return x.PointErrors()
}
