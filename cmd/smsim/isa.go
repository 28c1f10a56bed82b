package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sarchlab/smsim/study"
)

func newISA() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "isa [NAME]",
		Short: "instruction table: meaning, machine code, pipes, latency and throughput",
		Long: `isa shows a PTX instruction (dp4a, mul.wide.u32), a CUDA intrinsic (__vadd4) or a machine opcode
(IDP, LOP3): what it does and its rules, first PTX version and target, the closest AMD
instruction, the machine code it is lowered to on each architecture with pipe, latency, results a
cycle and SM and confidence, and on sm_90 the measured beside the simulated time. Without a name
it lists what there is; with --format it writes the whole table (docs/instructions.md is the
Markdown one).`,
		Example: `  smsim isa dp4a
  smsim isa lop3 --arch sm_50,sm_90
  smsim isa IDP
  smsim isa --format csv > instructions.csv`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError{fmt.Errorf("%s takes at most one instruction, %d given", cmd.CommandPath(), len(args))}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringSlice("arch", nil, "architectures, such as sm_61,sm_90 (default: all)")
	f.StringArray("set", nil, "change a number of the architecture, such as classes.idp.issue_interval=4 (repeatable)")
	addBoardFlag(f)
	format := f.String("format", "text", "text, markdown, csv or json")
	simulate := f.Bool("simulate", true, "time the instruction's loops on the simulator (of the whole table: on sm_90)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := oneOf("format", *format, "text", "markdown", "csv", "json"); err != nil {
			return err
		}
		s, err := newSettings(cmd)
		if err != nil {
			return err
		}
		q := &study.ISAQuery{Format: *format, Simulate: *simulate}
		if len(args) == 1 {
			q.Word = args[0]
		}
		if q.Archs, err = s.targetsOrAll(); err != nil {
			return err
		}
		return study.WriteISA(cmd.OutOrStdout(), q)
	}
	return cmd
}
