package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sarchlab/smsim/study"
)

func newArchs() *cobra.Command {
	var boards bool
	var filter string
	cmd := &cobra.Command{
		Use:   "archs [NAME]",
		Short: "short for arch list and arch show NAME",
		Long: `archs lists the architectures that can be simulated, as arch list does. With a name it lists all
numbers of that architecture with confidence and source, as arch show does; every key can be changed
with --set on other commands.`,
		Example: `  smsim archs
  smsim archs sm_86
  smsim archs sm_90 --filter classes.i
  smsim archs --boards`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError{fmt.Errorf("%s takes at most one architecture, %d given", cmd.CommandPath(), len(args))}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case boards:
				return study.WriteBoards(cmd.OutOrStdout())
			case len(args) == 1:
				return study.WriteArch(cmd.OutOrStdout(), args[0], filter)
			case filter != "":
				return usageError{fmt.Errorf("--filter goes with the name of an architecture")}
			}
			return study.WriteArchs(cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&boards, "boards", false, "list the known products instead")
	cmd.Flags().StringVar(&filter, "filter", "", "only keys that contain this text")
	return cmd
}
