package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sarchlab/smsim/configs/strictyaml"
	"github.com/sarchlab/smsim/study"
	"github.com/sarchlab/smsim/workloads"
)

// errDiffer is the outcome of a comparison that found a difference.
var errDiffer = errors.New("results differ")

func newDiff() *cobra.Command {
	var kernelA, kernelB, format string
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "execute two kernels on the same input and show the first difference in results",
		Long: `diff executes two kernels, each a PTX file, a machine-code listing or a workload, with the same
launch and the same arguments, and compares every word of every buffer. It shows the first
difference with the threads that stored it, and what the two execute by opcode class and pipe.

One kernel or variant of a file is FILE:KERNEL. The launch comes from flags as for smsim run, or
from A if it is a workload file. PTX is lowered to --arch, else to the target of the listing on
the other side, else to ` + study.DefaultArch + `.

Exit code: 0 equal, 1 different or a kernel failed, 2 wrong usage or input.`,
		Example: `  smsim diff kernel.ptx kernel.sass --grid 4 --block 128 --arg buf:4096 --arg zero:4096
  smsim diff old.ptx:f new.ptx:f_fast --arch sm_86 --grid 1 --block 32 --arg zero:128
  smsim diff sha256 other.sass --kernel-b sha256`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usageError{fmt.Errorf("%s takes two files, %d given", cmd.CommandPath(), len(args))}
			}
			if args[0] == "-" && args[1] == "-" {
				return usageError{errors.New("standard input can be one of the files, not both")}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&kernelA, "kernel-a", "", "kernel of A, if it has several")
	f.StringVar(&kernelB, "kernel-b", "", "kernel of B, if it has several")
	f.String("arch", "", "architecture, such as sm_86")
	f.StringVar(&format, "format", "text", "text or json")
	addLaunchFlags(f)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return diff(cmd, args, [2]string{kernelA, kernelB}, format)
	}
	return cmd
}

// diff compares the two files of a command line, of each the kernel named if it has several.
func diff(cmd *cobra.Command, args []string, kernels [2]string, format string) error {
	if err := oneOf("format", format, "text", "json"); err != nil {
		return err
	}
	s, err := newSettings(cmd)
	if err != nil {
		return err
	}
	s.both = true
	plan, err := s.diffPlan(args[0], kernels[0], cmd.InOrStdin())
	if err != nil {
		return err
	}
	a := plan.Cases[0]
	if err := s.applyLaunch(plan); err != nil {
		return err
	}
	if err := launched(plan); err != nil {
		return err
	}
	other, err := s.diffPlan(args[1], kernels[1], cmd.InOrStdin())
	if err != nil {
		return err
	}
	b := *a
	b.Kernel, b.Entry, b.EntryAt = other.Cases[0].Kernel, other.Cases[0].Entry, other.Cases[0].EntryAt
	shareModule(a, &b)
	if from, ok := s.origin("arch"); ok && s.v.GetString("arch") == "" {
		return bad(from, errors.New("the name of an architecture is empty; give one such as sm_86"))
	}
	archA, archB := study.KernelArchs(s.v.GetString("arch"), a.Kernel, b.Kernel)
	rep, err := study.DiffKernels(plan, a, &b, archA, archB)
	if err != nil {
		return err
	}
	if err := study.WriteKernelDiff(cmd.OutOrStdout(), rep, format); err != nil {
		return err
	}
	if !rep.Equal {
		return errDiffer
	}
	return nil
}

// shareModule gives a listing on one side the module variables of PTX on the other.
func shareModule(a, b *workloads.Case) {
	switch {
	case a.Kernel.IsListing() == b.Kernel.IsListing() || a.Module != nil:
	case a.Kernel.IsListing():
		a.Module = b.Kernel
	default:
		b.Module = a.Kernel
	}
}

// diffPlan loads one side: a kernel file or a workload, and its kernel.
func (s *settings) diffPlan(name, kernel string, in io.Reader) (*workloads.Plan, error) {
	name, named := splitKernel(name)
	if named != "" && kernel != "" {
		return nil, usageError{fmt.Errorf("%s:%s and kernel %s: name the kernel once", name, named, kernel)}
	}
	if named != "" {
		kernel = named
	}
	plan, err := s.load(name, in)
	if err != nil {
		return nil, err
	}
	if v := plan.Variants(); plan.Study && kernel == "" && len(v) == 1 {
		kernel = v[0]
	}
	if plan.Study && kernel == "" {
		return nil, usageError{fmt.Errorf("%s is a study: name its kernel or variant, %s:KERNEL or with --kernel-a or --kernel-b: %s", name, name, strings.Join(plan.Variants(), ", "))}
	}
	if err := s.kernelSettings(plan); err != nil {
		return nil, err
	}
	if plan.Study {
		for _, c := range plan.Cases {
			if c.Variant == kernel || c.Entry == kernel {
				plan.Cases, plan.Study = []*workloads.Case{c}, false
				return plan, nil
			}
		}
		return nil, usageError{fmt.Errorf("%s has no variant or kernel %q%s", name, kernel, strictyaml.DidYouMean(kernel, plan.Variants()))}
	}
	if kernel != "" {
		plan.Cases[0].Entry = kernel
	}
	return plan, nil
}
