package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sarchlab/smsim/study/lut"
)

func newLut() *cobra.Command {
	var names []string
	var format string
	cmd := &cobra.Command{
		Use:   "lut EXPRESSION | TABLE",
		Short: "the truth table (immLut) of LOP3 for an expression, and back",
		Long: `lut gives the immLut operand of LOP3 for a bitwise expression of three inputs, or, for a truth
table such as 0x54, the expression with the fewest operators. For expressions of more inputs (up
to 10) it says how many LOP3 they need and writes the sequence: the shortest for up to five inputs
where that has at most three LOP3 or is otherwise proven, else a good one, and it says which.

Operators, weakest first: ?:  |  ^  &  ~ (as in C; !, && and || count as ~, & and |). Constants 0
and 1 (all bits) within an expression; a number alone is a truth table (1 is table 0x01, not the
constant, which is table 0xff). Inputs a, b, c, ... are operands in this order; other names in
order of appearance, or as --names says.`,
		Example: `  smsim lut '(a|b)&~c'
  smsim lut 0x54 --names x,y,mask
  smsim lut 'e ? f : g' --names e,f,g
  smsim lut 'a^b^c^d^(e&f)' --format json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{fmt.Errorf("%s takes one expression (in quotes) or truth table, %d given", cmd.CommandPath(), len(args))}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("format", format, "text", "json"); err != nil {
				return err
			}
			if !cmd.Flags().Changed("names") {
				names = nil
			}
			a, err := lut.Ask(args[0], names)
			if err != nil {
				return usageError{err}
			}
			return a.Write(cmd.OutOrStdout(), format)
		},
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		if strings.Contains(err.Error(), "shorthand flag: '") {
			err = fmt.Errorf("%w; a truth table is a number from 0 to 0xff, and an expression in quotes does not begin with -", err)
		}
		return usageError{err}
	})
	cmd.Flags().StringSliceVar(&names, "names", nil, "names of the inputs in operand order, such as x,y,z")
	cmd.Flags().StringVar(&format, "format", "text", "text or json")
	return cmd
}
