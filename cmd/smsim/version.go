package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/sim"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "print the version and what it was built with",
		Example: "  smsim version",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			version, revision := "unknown", ""
			if info, ok := debug.ReadBuildInfo(); ok {
				version = info.Main.Version
				for _, s := range info.Settings {
					if s.Key == "vcs.revision" {
						revision = " (" + s.Value[:min(12, len(s.Value))] + ")"
					}
				}
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "smsim %s%s, %s, %s/%s, result schema %d, %d architectures\n", version, revision,
				runtime.Version(), runtime.GOOS, runtime.GOARCH, sim.Schema, len(configs.List()))
			return err
		},
	}
}
