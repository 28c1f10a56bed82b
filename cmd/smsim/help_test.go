package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/sarchlab/smsim/study/page"
)

// TestHelpWidth: the help of every command keeps to the width of the reports and writes defaults in one way, and every command stands in a
// group.
func TestHelpWidth(t *testing.T) {
	var visit func(c *cobra.Command, path []string)
	visit = func(c *cobra.Command, path []string) {
		var out bytes.Buffer
		if code := execute(append(path, "--help"), strings.NewReader(""), &out, &out); code != exitFine || out.Len() == 0 {
			t.Errorf("%v --help: exit code %d", path, code)
		}
		if strings.Contains(out.String(), `(default "`) || strings.Contains(out.String(), "(default [") {
			t.Errorf("%v --help: a default in quotes or brackets:\n%s", path, out.String())
		}
		for line := range strings.Lines(out.String()) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > page.Width {
				t.Errorf("%v --help: %d columns: %s", path, n, line)
			}
		}
		for _, sub := range c.Commands() {
			if sub.Hidden || sub.Name() == "help" || sub.Name() == "completion" {
				continue
			}
			if len(path) == 0 && sub.GroupID == "" {
				t.Errorf("%s is in no group", sub.Name())
			}
			visit(sub, append(path[:len(path):len(path)], sub.Name()))
		}
	}
	visit(newRoot(), nil)
}
