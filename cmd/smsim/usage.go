package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
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

// plainDefaults makes the help of all flags write defaults in one way, (default text): settings that also come from files and the
// environment have none of their own, and say theirs in the usage; the flag library would put the others in quotes or brackets.
func plainDefaults(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		none, isText := map[string]string{"string": "", "stringSlice": "[]"}[f.Value.Type()] // as the library writes that there is none
		if isText && f.DefValue != none {
			f.Usage += fmt.Sprintf(" (default %s)", strings.Trim(f.DefValue, "[]"))
			f.DefValue = none
		}
	})
	for _, c := range cmd.Commands() {
		plainDefaults(c)
	}
}

// flagError says what a flag takes, instead of which function could not parse its value, and adds the nearest flag to the error
// about an unknown one.
func flagError(cmd *cobra.Command, err error) error {
	var value *pflag.InvalidValueError
	if errors.As(err, &value) {
		return valueError(value)
	}
	word, unknown := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !unknown {
		// The flags of smsim have no letters: -arch is meant as --arch.
		if _, word, unknown = strings.Cut(err.Error(), " in -"); !unknown {
			return err
		}
		word, _, _ = strings.Cut(word, "=")
		if cmd.Flags().Lookup(word) != nil {
			return fmt.Errorf("unknown flag -%s; did you mean --%s?", word, word)
		}
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if n := strictyaml.Nearest(word, names); n != "" {
		return fmt.Errorf("unknown flag --%s; did you mean --%s?", word, n)
	}
	for _, n := range names { // --registers is meant as --regs
		if len(word) > 3 && strings.HasPrefix(n, word[:3]) {
			return fmt.Errorf("unknown flag --%s; did you mean --%s?", word, n)
		}
	}
	return fmt.Errorf("unknown flag --%s; %s has --%s", word, cmd.Name(), strings.Join(slices.DeleteFunc(names, func(n string) bool { return n == "help" }), ", --"))
}

// valueError is the error for a flag's value that is no number or no switch.
func valueError(e *pflag.InvalidValueError) error {
	if errors.Is(e, strconv.ErrRange) {
		return fmt.Errorf("--%s: %s is out of range", e.GetFlag().Name, e.GetValue())
	}
	switch e.GetFlag().Value.Type() {
	case "int":
		return fmt.Errorf("--%s: %q is not a whole number", e.GetFlag().Name, e.GetValue())
	case "uint", "uint64":
		return fmt.Errorf("--%s: %q is not a whole number of 0 or more", e.GetFlag().Name, e.GetValue())
	case "bool":
		return fmt.Errorf("--%s: %q is neither true nor false", e.GetFlag().Name, e.GetValue())
	}
	return e
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
