package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sarchlab/smsim/study"
)

func newDisasm() *cobra.Command {
	var table bool
	var format string
	cmd := &cobra.Command{
		Use:   "disasm FILE",
		Short: "print the machine code that a PTX kernel is lowered to, or of a listing",
		Long: `disasm prints the machine instructions that the kernels of a PTX file are lowered to on an
architecture, with control information, registers and the instruction mix by pipe. FILE is a PTX
file, a machine-code listing, a workload or study file, the name of a bundled workload, or -.

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
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := oneOf("format", format, "text", "sass", "json"); err != nil {
			return err
		}
		s, err := newSettings(cmd)
		if err != nil {
			return err
		}
		plan, err := s.load(args[0], cmd.InOrStdin())
		if err != nil {
			return err
		}
		if plan.Study {
			plan.Archs = nil // a listing is for the default architecture, not for all of a study
		}
		if err := s.applyTarget(plan); err != nil {
			return err
		}
		entries := s.list("kernel")
		if len(entries) == 0 && !plan.Study && plan.Cases[0].Entry != "" {
			entries = []string{plan.Cases[0].Entry}
		}
		ms, err := study.Compile(plan, plan.Cases[0].Kernel, entries)
		if err != nil {
			return err
		}
		if table {
			return study.WriteKernelTable(cmd.OutOrStdout(), ms)
		}
		for i := range ms {
			if ms[i].Err != nil {
				return &study.InputError{Err: ms[i].Err}
			}
		}
		if format == "json" {
			return study.WriteInfoJSON(cmd.OutOrStdout(), ms)
		}
		write := study.WriteListing
		if format == "sass" || plan.Cases[0].Kernel.IsListing() {
			write = study.WriteSASS
		}
		for i := range ms {
			if i > 0 {
				fmt.Fprintln(cmd.OutOrStdout())
			}
			if err := write(cmd.OutOrStdout(), &ms[i]); err != nil {
				return err
			}
		}
		return nil
	}
	return cmd
}
