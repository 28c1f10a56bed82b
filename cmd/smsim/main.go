// Command smsim runs integer GPU kernels, given as PTX or as machine code, on a cycle-approximate model of one streaming
// multiprocessor and says what limits them. See smsim help.
//
// One file a command: it reads flags (settings.go, input.go), calls package study, and delivers the answer (job.go). What a
// command computes or words belongs into study.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sarchlab/smsim/study"
	"github.com/sarchlab/smsim/study/page"
)

// Exit codes.
const (
	exitFine    = 0
	exitFailure = 1 // a simulation or a check failed
	exitUsage   = 2 // wrong usage or input
)

func main() { os.Exit(execute(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// usageError is a mistake in flags, environment or arguments.
type usageError struct{ error }

// execute runs one command line and gives its exit code. All errors are printed here, once.
func execute(args []string, in io.Reader, out, errOut io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	cmd, err := root.ExecuteC()
	if err == nil {
		return exitFine
	}
	for _, e := range parts(err) {
		fmt.Fprintf(errOut, "smsim: %s\n", strings.TrimRight(e.Error(), "\n"))
	}
	var usage usageError
	var input *study.InputError
	switch {
	case errors.As(err, &usage):
		fmt.Fprintf(errOut, "See: %s --help\n", cmd.CommandPath())
		return exitUsage
	case errors.As(err, &input):
		return exitUsage
	}
	return exitFailure
}

// parts are the errors that an error joins, itself if it joins none or says more than they do.
func parts(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var out []error
		for _, e := range joined.Unwrap() {
			out = append(out, parts(e)...)
		}
		return out
	}
	if in := errors.Unwrap(err); in != nil && in.Error() == err.Error() {
		return parts(in)
	}
	return []error{err}
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "smsim",
		Short: "what an instruction gives to an integer GPU kernel, and what limits the kernel",
		Long: `smsim runs integer GPU kernels, given as PTX or as machine code (SASS listings), bit-exactly on a
cycle-approximate model of one streaming multiprocessor (SM) and says where the time goes: on
architectures from compute capability 1.x to 12.x, without a GPU and without the CUDA toolkit.

Exit codes: 0 fine, 1 a simulation or a check failed, 2 wrong usage or input, 130 ended by Ctrl-C
(but 1 for sweep, which keeps what is finished).`,
		Example: `  smsim run workloads/ncc/study.yaml                 how much does DP4A give, and why
  smsim run kernel.ptx --arch sm_86 --grid 46 --block 128 --arg buf:4096 --arg zero:4096
  smsim disasm kernel.ptx --arch sm_61              the machine code it is lowered to
  smsim arch list                                   the architectures it knows`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usageError{flagError(cmd, err)} })
	addCommands(root)
	plainDefaults(root)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), "FlagUsages ", fmt.Sprintf("FlagUsagesWrapped %d ", page.Width)))
	root.PersistentPreRun = func(cmd *cobra.Command, _ []string) {
		if !ownsInterrupt(cmd) {
			endOnInterrupt(cmd.ErrOrStderr())
		}
	}
	return root
}

// addCommands adds the commands in the groups, and in the order, in which the help lists them.
func addCommands(root *cobra.Command) {
	cobra.EnableCommandSorting = false
	for _, g := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{"simulate", "Simulate:", []*cobra.Command{newRun(), newCompare(), newWhatIf(), newSweep(), newAdvise(), newRank(), newGainMap(), newPlot()}},
		{"inspect", "Inspect:", []*cobra.Command{newDisasm(), newDiff(), newISA(), newLut(), newOccupancy(), newArchs(), newArch()}},
		{"trust", "Trust:", []*cobra.Command{newConform(), newValidate()}},
		{"other", "Other:", []*cobra.Command{newVersion()}},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.id
			root.AddCommand(c)
		}
	}
	root.SetHelpCommandGroupID("other")
	root.AddCommand(newSweepWorker())
}
