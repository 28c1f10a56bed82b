package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sarchlab/smsim/strictyaml"
)

// oneOf is the error for a flag whose value is none of the known ones.
func oneOf(flag, value string, known ...string) error {
	if slices.Contains(known, value) {
		return nil
	}
	hint := strictyaml.DidYouMean(value, known)
	if hint == "" {
		hint = "; known: " + strings.Join(known, ", ")
	}
	return usageError{fmt.Errorf("--%s: unknown value %q%s", flag, value, hint)}
}
