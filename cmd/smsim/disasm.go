package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sarchlab/smsim/study"
)

func newDisasm() *cobra.Command {
	var table bool
	cmd := &cobra.Command{
		Use:   "disasm FILE",
		Short: "print the machine code that a PTX kernel is lowered to",
		Long: `disasm prints the machine instructions that the kernels of a PTX file are lowered to on an
architecture, with control information, registers and the instruction mix by pipe.
FILE is a PTX file, a workload or study file, the name of a bundled workload, or -.`,
		Example: `  smsim disasm kernel.ptx --arch sm_61
  smsim disasm ncc --kernel ncc_dp4a_c1 --arch sm_61,sm_90
  smsim disasm sha256 --stats --arch sm_75,sm_86`,
		Args: oneFile,
	}
	addTargetFlags(cmd.Flags())
	cmd.Flags().BoolVar(&table, "stats", false, "list every kernel with what it needs instead of its code")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
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
			if i > 0 {
				fmt.Fprintln(cmd.OutOrStdout())
			}
			if err := study.WriteListing(cmd.OutOrStdout(), &ms[i]); err != nil {
				return err
			}
		}
		return nil
	}
	return cmd
}
