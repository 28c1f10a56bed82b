package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sarchlab/smsim/study"
)

func newArch() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "arch",
		Short: "list, show, compare and check architectures",
		Long: `arch lists the architectures that can be simulated, shows every number of one with its source and
confidence, compares two, and checks a file of your own (base: sm_90, then differences, or all that
"show --format yaml" prints). A name is sm_86, 8.6, a file or a board such as "RTX 3060".`,
		Example: `  smsim arch list
  smsim arch show 8.6 --filter classes.i
  smsim arch diff sm_89 sm_90 --filter pipe
  smsim arch check my.yaml`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var format, filter string
	var boards bool
	sub := func(c *cobra.Command, names int, what string, formats []string, run func(args []string) error) {
		c.Args = func(cmd *cobra.Command, args []string) error {
			if len(args) != names {
				return usageError{fmt.Errorf("%s takes %s, %d given", cmd.CommandPath(), what, len(args))}
			}
			return nil
		}
		c.RunE = func(_ *cobra.Command, args []string) error {
			if err := oneOf("format", format, formats...); err != nil {
				return err
			}
			return run(args)
		}
		c.Flags().StringVar(&format, "format", "text", strings.Join(formats[:len(formats)-1], ", ")+" or "+formats[len(formats)-1])
		cmd.AddCommand(c)
	}
	all := []string{"text", "json", "csv"}
	list := &cobra.Command{Use: "list", Short: "a line for each architecture or board", Example: "  smsim arch list --boards"}
	sub(list, 0, "no argument", all, func([]string) error {
		if boards {
			return study.ListBoards(list.OutOrStdout(), format)
		}
		return study.ListArchs(list.OutOrStdout(), format)
	})
	list.Flags().BoolVar(&boards, "boards", false, "list the known products instead")
	var board string
	show := &cobra.Command{Use: "show NAME", Short: "every number with its source and confidence",
		Long: `show prints every number of an architecture with its value, source and confidence. --format yaml
gives a file that --arch reads again, with the same results, to start an own
architecture from. With --filter the file has "base: NAME" and the matching keys alone,
for a what-if.`,
		Example: `  smsim arch show sm_90 --filter lsu
  smsim arch show --board "RTX 3060" --format csv
  smsim arch show sm_90 --format yaml --filter classes.idp > fast_dp4a.yaml
  smsim run ncc --arch sm_90,fast_dp4a.yaml`}
	sub(show, 1, "one architecture or board", append(all, "yaml"), func(args []string) error {
		return study.ShowArch(show.OutOrStdout(), append(args, board)[0], filter, format)
	})
	named := show.Args
	show.Args = func(cmd *cobra.Command, args []string) error {
		if board != "" && len(args) == 0 {
			return nil
		}
		if board != "" {
			return usageError{fmt.Errorf("%s takes a name or --board, not both", cmd.CommandPath())}
		}
		return named(cmd, args)
	}
	show.Flags().StringVar(&board, "board", "", "show the architecture of this product, such as \"RTX 3060\"")
	diff := &cobra.Command{Use: "diff A B", Short: "the numbers in which two architectures differ", Example: "  smsim arch diff sm_86 \"RTX 4090\""}
	sub(diff, 2, "two architectures or boards", all, func(args []string) error {
		return study.DiffArchs(diff.OutOrStdout(), args[0], args[1], filter, format)
	})
	for _, c := range []*cobra.Command{show, diff} {
		c.Flags().StringVar(&filter, "filter", "", "only keys that contain this text")
	}
	check := &cobra.Command{Use: "check FILE", Short: "check an architecture file and list what it changes in its base", Example: "  smsim arch check my.yaml"}
	sub(check, 1, "one file", []string{"text", "json"}, func(args []string) error { return study.CheckArch(check.OutOrStdout(), args[0], format) })
	return cmd
}
