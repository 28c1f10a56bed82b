package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/spf13/cobra"
)

// exitInterrupt is what shells give for a command that Ctrl-C ended.
const exitInterrupt = 130

// interruptKey marks, in a command's annotations, that it handles Ctrl-C itself.
const interruptKey = "interrupt"

func ownsInterrupt(cmd *cobra.Command) bool { return cmd.Annotations[interruptKey] != "" }

// endOnInterrupt ends the process at Ctrl-C. Files are written whole or not at all, so nothing needs cleaning up.
func endOnInterrupt(errOut io.Writer) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	go func() {
		<-c
		fmt.Fprintln(errOut, "interrupted")
		os.Exit(exitInterrupt)
	}()
}
