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
	cmd.AddCommand(newArchList(), newArchShow(), newArchDiff(), newArchCheck())
	return cmd
}

// archForms are the formats of all of arch's commands but check.
func archForms() []string { return []string{"text", "json", "csv"} }

// archCommand completes a subcommand that takes so many names, what they are in words, and prints in one of the formats.
func archCommand(c *cobra.Command, names int, what string, formats []string, run func(args []string, format string) error) *cobra.Command {
	var format string
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
		return run(args, format)
	}
	c.Flags().StringVar(&format, "format", "text", strings.Join(formats[:len(formats)-1], ", ")+" or "+formats[len(formats)-1])
	return c
}

func newArchList() *cobra.Command {
	list := &cobra.Command{Use: "list", Short: "a line for each architecture or board", Example: "  smsim arch list --boards"}
	boards := list.Flags().Bool("boards", false, "list the known products instead")
	return archCommand(list, 0, "no argument", archForms(), func(_ []string, format string) error {
		if *boards {
			return study.ListBoards(list.OutOrStdout(), format)
		}
		return study.ListArchs(list.OutOrStdout(), format)
	})
}

func newArchShow() *cobra.Command {
	show := &cobra.Command{Use: "show NAME", Short: "every number with its source and confidence",
		Long: `show prints every number of an architecture with its value, source and confidence.

--format yaml gives a file that --arch reads again, with the same results, to start an architecture
of your own from. With --filter it has "base: NAME" and the matching keys alone, for a what-if.`,
		Example: `  smsim arch show sm_90 --filter lsu
  smsim arch show --board "RTX 3060" --format csv
  smsim arch show sm_90 --format yaml --filter classes.idp > fast_dp4a.yaml
  smsim run ncc --arch sm_90,fast_dp4a.yaml`}
	filter := filterFlag(show)
	board := show.Flags().String("board", "", "show the architecture of this product, such as \"RTX 3060\"")
	archCommand(show, 1, "one architecture or board", append(archForms(), "yaml"), func(args []string, format string) error {
		return study.ShowArch(show.OutOrStdout(), append(args, *board)[0], *filter, format)
	})
	named := show.Args
	show.Args = func(cmd *cobra.Command, args []string) error {
		switch {
		case *board != "" && len(args) == 0:
			return nil
		case *board != "":
			return usageError{fmt.Errorf("%s takes a name or --board, not both", cmd.CommandPath())}
		}
		return named(cmd, args)
	}
	return show
}

func newArchDiff() *cobra.Command {
	diff := &cobra.Command{Use: "diff A B", Short: "the numbers in which two architectures differ", Example: "  smsim arch diff sm_86 \"RTX 4090\""}
	filter := filterFlag(diff)
	return archCommand(diff, 2, "two architectures or boards", archForms(), func(args []string, format string) error {
		return study.DiffArchs(diff.OutOrStdout(), args[0], args[1], *filter, format)
	})
}

func newArchCheck() *cobra.Command {
	check := &cobra.Command{Use: "check FILE", Short: "check an architecture file and list what it changes in its base",
		Long: `check reads an architecture file as --arch does, with all checks (docs/architectures.md), and lists
what differs from its base, or from the target's own architecture if it has none, and how well each
number is known. A changed number that still names the source of the old one counts as assumed.`, Example: "  smsim arch check my.yaml"}
	return archCommand(check, 1, "one file", []string{"text", "json"}, func(args []string, format string) error {
		return study.CheckArch(check.OutOrStdout(), args[0], format)
	})
}

func filterFlag(c *cobra.Command) *string {
	return c.Flags().String("filter", "", "only keys that contain this text")
}
