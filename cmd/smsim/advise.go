package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sarchlab/smsim/study"
	"github.com/sarchlab/smsim/study/advise"
	"github.com/sarchlab/smsim/workloads"
)

func newAdvise() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "advise KERNEL",
		Short: "find integer instructions that would help a kernel, and prove it by simulation",
		Long: `advise looks in a PTX kernel for code that an integer instruction would replace: bytes extracted
and multiplied (dp4a, dp2a), absolute differences (sad, vabsdiff4), compare and select (min, max),
carries found by comparing (addc), broken wide products, shifts joined by or (shf), byte shuffles
(prmt), logic (lop3), population counts, divisors that are launch constants.

Each rewrite is checked (the outputs of the whole grid must be the same) and simulated, alone and
with the others, on each architecture. The report gives the gain, why there is one or none, the
source lines, and what would have to change first for it to pay: the number of resident warps,
and of independent pieces of the kernel's work a thread. Nothing is advised that was not
simulated. A rewrite for launch values keeps the original code for other values.

KERNEL is a PTX file, a workload or study file, or a bundled workload; one kernel or variant of it
is FILE:KERNEL. A PTX file needs its launch (--grid, --block, --arg as in smsim run). Of a study
with several launches the last one is taken, if --launch does not choose.

Exit code: 0 fine, 1 a simulation failed or outputs differ, 2 wrong usage or input.`,
		Example: `  smsim advise ncc:imad_c4 --launch 128x1 --arch sm_75,sm_86,sm_90
  smsim advise kernel.ptx --grid 46 --block 128 --arg buf:4096 --arg zero:4096 --write faster.ptx
  smsim advise hamming --rules popc --format json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{fmt.Errorf("%s needs one kernel: a file, or FILE:KERNEL", cmd.CommandPath())}
			}
			return nil
		},
	}
	addRunFlags(cmd.Flags())
	cmd.Flags().Lookup("out").Usage = "directory for advice.txt, .json and .csv"
	// What the environment asks of other commands is no mistake here: pictures, and settings of machine-code listings, which have no PTX to rewrite.
	for _, name := range []string{"plots", "assume-unknown", "const", "module", "static-shared"} {
		_ = cmd.Flags().MarkHidden(name)
	}
	cmd.Flags().String("write", "", "write the PTX with all rewrites together to this file")
	cmd.Flags().StringSlice("rules", nil, "try only these rules: "+ruleNames())
	cmd.Flags().Bool("no-warps", false, "do not simulate other numbers of resident warps and independent pieces of work")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return runAdvise(cmd, args[0]) }
	return cmd
}

func ruleNames() string {
	s := ""
	for i, r := range advise.Rules() {
		if i > 0 {
			s += ", "
		}
		s += r.Name
	}
	return s
}

func runAdvise(cmd *cobra.Command, name string) error {
	j, err := newJob(cmd)
	if err != nil {
		return err
	}
	rules, err := j.rules()
	if err != nil {
		return err
	}
	if j.flags.Changed("plots") {
		return usageError{errors.New("advise draws no pictures: leave out --plots")}
	}
	if err := j.filesTo(j.v.GetString("out"), false); err != nil {
		return err
	}
	to := j.v.GetString("write")
	if to != "" {
		if err := checkFile(to); err != nil {
			return bad("--write", err)
		}
	}
	plans, err := j.sides(name, cmd.InOrStdin())
	if err != nil {
		return err
	}
	plan, err := oneCase(name, plans)
	if err != nil {
		return err
	}
	if to != "" {
		file, _ := splitKernel(name)
		for _, in := range []string{file, plan.Path, plan.Cases[0].Kernel.Path} {
			if sameFile(to, in) {
				return bad("--write", fmt.Errorf("%s is the kernel itself, which would be lost; give another file", to))
			}
		}
	}
	a, err := advise.Advise(plan, advise.Options{Options: j.options(), Rules: rules, NoWarps: j.v.GetBool("no-warps")})
	j.finish()
	if err != nil {
		return err
	}
	return errors.Join(writeRewritten(cmd.ErrOrStderr(), a, to),
		j.deliver("advice", func(w io.Writer, f string) error { return advise.Write(w, a, f) }, nil))
}

// writeRewritten writes the PTX with all rewrites together to a file, "" for none.
func writeRewritten(errOut io.Writer, a *advise.Advice, to string) error {
	if to == "" {
		return nil
	}
	if a.Together.PTX == "" {
		fmt.Fprintf(errOut, "%s is not written: there is no rewrite to write\n", to)
		return nil
	}
	return writeAtomic(to, func(w io.Writer) error {
		// Whoever finds the file later must see what it relies on.
		fmt.Fprintf(w, "// Rewritten by smsim advise: %s.\n", strings.Join(a.Together.Rules, ", "))
		if f := a.Together.Fast; len(f) > 0 {
			fmt.Fprintf(w, "// Launches with %s run the rewritten code, others the original.\n", strings.Join(f, ", "))
		}
		_, err := io.WriteString(w, a.Together.PTX)
		return err
	})
}

// rules are the rules asked for.
func (s *settings) rules() ([]string, error) {
	from, ok := s.origin("rules")
	if !ok {
		return nil, nil
	}
	var known []string
	for _, r := range advise.Rules() {
		known = append(known, r.Name)
	}
	list := s.list("rules")
	for _, r := range list {
		if !slices.Contains(known, r) {
			return nil, bad(from, fmt.Errorf("there is no rule %q%s", r, choice(r, known)))
		}
	}
	return list, nil
}

// oneCase is the plan of the one kernel, with its last launch.
func oneCase(name string, plans []*workloads.Plan) (*workloads.Plan, error) {
	var names []string
	for _, p := range plans {
		for _, c := range p.Cases {
			n := c.Variant
			if n == "" {
				n = c.Entry
			}
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	if len(plans) != 1 || len(names) != 1 {
		return nil, &study.InputError{Err: fmt.Errorf("%s has %d kernels; name one as in %s:%s: %s", name, len(names), name, names[0], strings.Join(names, ", "))}
	}
	p := *plans[0]
	p.Cases = p.Cases[len(p.Cases)-1:]
	return &p, nil
}
