package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sarchlab/smsim/configs/strictyaml"
)

// unknownCommand is the error for a first word that is no command.
func unknownCommand(cmd *cobra.Command, word string) error {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return usageError{fmt.Errorf("unknown command %q%s", word, strictyaml.DidYouMean(word, names))}
}

// flagError adds the nearest flag to the error about an unknown one.
func flagError(cmd *cobra.Command, err error) error {
	word, ok := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !ok {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if n := strictyaml.Nearest(word, names); n != "" {
		return fmt.Errorf("unknown flag --%s; did you mean --%s?", word, n)
	}
	return fmt.Errorf("unknown flag --%s", word)
}

// oneFile accepts exactly one argument, the file.
func oneFile(cmd *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return usageError{fmt.Errorf("%s needs a file (or - for standard input)", cmd.CommandPath())}
	case 1:
		return nil
	}
	return usageError{fmt.Errorf("%s takes one file, %d given: %s", cmd.CommandPath(), len(args), strings.Join(args, " "))}
}

// noArguments accepts none.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("%s takes no argument, given: %s", cmd.CommandPath(), strings.Join(args, " "))}
	}
	return nil
}
