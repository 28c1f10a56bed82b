package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sarchlab/smsim/configs/strictyaml"
)

// choice names the value that was probably meant, and what else there is.
func choice(value string, known []string) string {
	hint := "valid here: " + strings.Join(known, ", ")
	if n := strictyaml.Nearest(value, known); n != "" {
		return fmt.Sprintf("; did you mean %q? (%s)", n, hint)
	}
	return "; " + hint
}

// oneOf is the error for a flag whose value is none of the known ones.
func oneOf(flag, value string, known ...string) error {
	if slices.Contains(known, value) {
		return nil
	}
	return usageError{fmt.Errorf("--%s: unknown value %q%s", flag, value, choice(value, known))}
}
