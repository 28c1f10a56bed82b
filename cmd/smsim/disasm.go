package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sarchlab/smsim/study"
	"github.com/sarchlab/smsim/workloads"
)

func newDisasm() *cobra.Command {
	var table bool
	var format string
	cmd := &cobra.Command{
		Use:   "disasm FILE",
		Short: "print the machine code that a PTX kernel is lowered to, or of a listing",
		Long: `disasm prints the machine instructions that the kernels of a PTX file are lowered to on an
architecture, with control information, registers and the instruction mix by pipe. FILE is a PTX
file, a machine-code listing, a workload or study file, the name of a bundled workload, or -;
FILE:KERNEL is one kernel or variant of it.

Of a machine-code listing, or with --format sass, it prints a listing in one form for all tools
and generations: decoded control information (waits, read and write barrier, yield, stall), and
for each instruction its pipe, latency, live registers and register-bank conflicts. smsim reads
this form too.`,
		Example: `  smsim disasm kernel.ptx --arch sm_61
  smsim disasm ncc --kernel ncc_dp4a_c1 --arch sm_61,sm_90
  smsim disasm sha256 --stats --arch sm_75,sm_86
  cuobjdump -sass a.out | smsim disasm - --kernel saxpy
  smsim disasm kernel.ptx --format sass | smsim run - --grid 1 --block 32 --arg zero:128`,
		Args: oneFile,
	}
	addTargetFlags(cmd.Flags())
	addBoardFlag(cmd.Flags())
	cmd.Flags().StringVar(&format, "format", "text", "text, sass (a listing that smsim reads) or json")
	cmd.Flags().BoolVar(&table, "stats", false, "list every kernel with what it needs instead of its code")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return disasm(cmd, args[0], format, table) }
	return cmd
}

func disasm(cmd *cobra.Command, name, format string, table bool) error {
	if err := oneOf("format", format, "text", "sass", "json"); err != nil {
		return err
	}
	s, err := newSettings(cmd)
	if err != nil {
		return err
	}
	file, kernel := splitKernel(name)
	plan, err := s.load(file, cmd.InOrStdin())
	if err != nil {
		return err
	}
	if plan.Study {
		plan.Archs = nil // a listing is for the default architecture, not for all of a study
	}
	if err := s.applyTarget(plan); err != nil {
		return err
	}
	if err := choose(plan, name, kernel); err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	ms, err := study.Compile(plan, plan.Cases[0].Kernel, s.entries(plan, kernel != ""))
	if err != nil {
		return err
	}
	if table {
		return study.WriteKernelTable(out, ms)
	}
	for i := range ms {
		if ms[i].Err != nil {
			return &study.InputError{Err: ms[i].Err}
		}
	}
	if format == "json" {
		return study.WriteInfoJSON(out, ms)
	}
	write := study.WriteListing
	if format == "sass" || plan.Cases[0].Kernel.IsListing() {
		write = study.WriteSASS
	}
	for i := range ms {
		if i > 0 {
			fmt.Fprintln(out)
		}
		if err := write(out, &ms[i]); err != nil {
			return err
		}
	}
	return nil
}

// entries are the kernels of a plan's file to print, of --kernel (a study's variants stand for theirs) or as chosen by FILE:KERNEL;
// none stands for all.
func (s *settings) entries(plan *workloads.Plan, chosen bool) []string {
	var out []string
	if names := s.list("kernel"); !chosen && len(names) > 0 {
		for _, n := range names {
			if i := slices.IndexFunc(plan.Cases, func(c *workloads.Case) bool { return plan.Study && c.Variant == n }); i >= 0 {
				n = plan.Cases[i].Entry
			}
			out = append(out, n)
		}
		return out
	}
	for _, c := range plan.Cases {
		if (chosen || !plan.Study) && c.Entry != "" && !slices.Contains(out, c.Entry) {
			out = append(out, c.Entry)
		}
	}
	return out
}
