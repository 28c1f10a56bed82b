package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sarchlab/smsim/study"
)

func newISA() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "isa [NAME]",
		Short: "instruction table: meaning, machine code, pipes, latency and throughput",
		Long: `isa shows an instruction. NAME is
  any PTX instruction with its types and modifiers, and if you like operands (mad.wide.u32,
    atom.shared.cas.b64, "shl.b32 d, a, 4", "lop3.b32 0x54"),
  a PTX operation without types (mad), which lists its syntax and what the table has of it,
  a CUDA intrinsic (__dp4a), a machine opcode (IDP, IMAD.WIDE), an AMD instruction (v_dot4_i32_i8),
  or a group (DPX, shifts, logic), which lists its instructions.
It says what the instruction does and its rules, first PTX version and target, the closest AMD
instruction, the machine code it is lowered to on each architecture with pipe, latency, results a
cycle and SM and confidence, and on sm_90 the measured beside the simulated time. Case does not
matter; a name all in capitals that is a machine opcode means the opcode (MOV, mov). Without a
name isa lists what there is; with --format it writes the whole table (docs/instructions.md is the
Markdown one).`,
		Example: `  smsim isa dp4a
  smsim isa mad.wide.u32 --arch sm_50,sm_90
  smsim isa "shl.b32 d, a, 4"
  smsim isa IMAD.WIDE
  smsim isa DPX
  smsim isa --format csv > instructions.csv`,
	}
	f := cmd.Flags()
	f.StringSlice("arch", nil, "architectures, such as sm_61,sm_90 (default: all)")
	f.StringArray("set", nil, "change a number of the architecture, such as classes.idp.issue_interval=4 (repeatable)")
	addBoardFlag(f)
	format := f.String("format", "text", "text, markdown, csv or json")
	simulate := f.Bool("simulate", true, "time the instruction's loops on the simulator (of the whole table: on sm_90)")
	quiet := f.Bool("quiet", false, "no progress")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := oneOf("format", *format, "text", "markdown", "csv", "json"); err != nil {
			return err
		}
		s, err := newSettings(cmd)
		if err != nil {
			return err
		}
		q := &study.ISAQuery{Format: *format, Simulate: *simulate}
		if q.Word = strings.TrimSpace(strings.Join(args, " ")); q.Word == "" && len(args) > 0 {
			return usageError{fmt.Errorf("%s: the name is empty", cmd.CommandPath())}
		}
		if q.Archs, err = s.targetsOrAll(); err != nil {
			return err
		}
		bar := newProgress(cmd.ErrOrStderr(), *quiet)
		defer bar.finish()
		q.Progress = func(done, total int) {
			if bar.count("instructions", done, total); done == total {
				bar.finish() // before the table is written
			}
		}
		return study.WriteISA(cmd.OutOrStdout(), q)
	}
	return cmd
}
