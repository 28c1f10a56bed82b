package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sarchlab/smsim/configs/strictyaml"
	"github.com/sarchlab/smsim/study"
	"github.com/sarchlab/smsim/workloads"
)

func newCompare() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "compare A [B ...]",
		Short: "run kernels side by side: speed-up, instruction mix, where the limit moved",
		Long: `compare runs two or more kernels with the same launch and says what the others gain over the
first: the speed-up, the change of the instruction mix by class and pipe, how the limit moved,
where the warps spend their time, and which instructions stopped or started to matter.

A, B, ... are workload or study files, bundled workloads, PTX files or machine-code listings; one
kernel or variant of a file is FILE:KERNEL. A single file with several kernels is compared with
itself: its first kernel against the others. PTX files and listings need the launch (--grid,
--block, --arg as in smsim run).

The outputs of the whole grids must be equal: otherwise the first difference is shown and nothing is
compared, unless --allow-different is given.

Exit code: 0 fine, 1 a simulation or a check failed or outputs differ, 2 wrong usage or input.`,
		Example: `  smsim compare ncc:imad_c4 ncc:dp4a_c4 --launch 128x1 --arch sm_86,sm_90
  smsim compare old.ptx new.ptx --grid 132 --block 256 --arg buf:1M --arg zero:1M
  smsim compare kernels.ptx:a kernels.ptx:b --grid 46 --block 128 --arg zero:4096 --out cmp --plots`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{fmt.Errorf("%s needs kernels to compare: files, or FILE:KERNEL", cmd.CommandPath())}
			}
			return nil
		},
	}
	addRunFlags(cmd.Flags())
	setOutUsage(cmd.Flags(), "compare")
	cmd.Flags().Bool("allow-different", false, "compare although the outputs differ")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return compare(cmd, args) }
	return cmd
}

func compare(cmd *cobra.Command, args []string) error {
	j, err := newJob(cmd)
	if err != nil {
		return err
	}
	var plans []*workloads.Plan
	for _, name := range args {
		more, err := j.sides(name, cmd.InOrStdin())
		if err != nil {
			return err
		}
		plans = append(plans, more...)
	}
	nameSides(plans)
	if err := j.filesToOut(); err != nil {
		return err
	}
	v, err := study.CompareKernels(plans, study.VersusOptions{Options: j.options(), AllowDifferent: j.v.GetBool("allow-different")})
	j.finish()
	if err != nil {
		return err
	}
	if err := j.deliver("compare", func(w io.Writer, f string) error { return study.WriteVersus(w, v, f) },
		func() ([]study.Picture, error) { return study.VersusPictures(v) }); err != nil {
		return err
	}
	return outcome(&study.Report{Runs: v.Runs, Failures: v.Failures})
}

// sides are the plans that one argument of compare stands for: one for each kernel.
func (s *settings) sides(name string, in io.Reader) ([]*workloads.Plan, error) {
	plan, err := s.plan(name, in)
	if err != nil {
		return nil, err
	}
	plan.Compare = nil
	if plan.Study || plan.Cases[0].Entry != "" {
		return []*workloads.Plan{plan}, nil
	}
	c := plan.Cases[0]
	names, err := study.Kernels(c.Kernel)
	if err != nil {
		return nil, &study.InputError{Err: err}
	}
	if len(names) < 2 {
		return []*workloads.Plan{plan}, nil
	}
	var out []*workloads.Plan
	for _, k := range names {
		p, one := *plan, *c
		one.Entry, one.EntryAt = k, strictyaml.Place{File: name}
		p.Cases = []*workloads.Case{&one}
		out = append(out, &p)
	}
	return out, nil
}

// nameSides gives every kernel a name of its own: its variant, else its entry, with the file's name where two have the same.
func nameSides(plans []*workloads.Plan) {
	used := map[string]string{} // name to plan's path and variant
	for i, p := range plans {
		for _, c := range p.Cases {
			name := c.Variant
			if name == "" {
				name = c.Entry
			}
			if name == "" {
				name = p.Name
			}
			key := fmt.Sprintf("%d %s", i, c.Variant)
			if k, ok := used[name]; ok && k != key {
				name = p.Name + ":" + name
			}
			for n, base := 2, name; used[name] != "" && used[name] != key; n++ {
				name = fmt.Sprintf("%s#%d", base, n)
			}
			used[name] = key
			c.Variant = name
		}
	}
}
