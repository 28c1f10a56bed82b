package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestDocumentedCommands: every command line in the pages and in the examples of the help names a command that is there, flags that it
// takes and as many arguments as it takes. Nothing is run: documented.txtar and others of testdata/script do that.
func TestDocumentedCommands(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	readmes, err := filepath.Glob("../../workloads/*/README.md")
	if err != nil {
		t.Fatal(err)
	}
	inText := regexp.MustCompile("`smsim ([^`]*)`")
	inBlock := regexp.MustCompile(`(?:^|[|&] *)(?:smsim|go run \./cmd/smsim) (.*)`)
	checked := 0
	try := func(where, line string) {
		words := shellWords(line)
		if len(words) == 0 || words[0] == "help" || strings.Contains(line, ", ") { // "arch list, show, diff": several in one
			return
		}
		checked++
		if msg := misused(words); msg != "" {
			t.Errorf("%s: smsim %s: %s", where, line, msg)
		}
	}
	for _, page := range append(append(pages, readmes...), "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			for _, m := range inText.FindAllStringSubmatch(line, -1) {
				try(page, m[1])
			}
			if rest, block := strings.CutPrefix(line, "    "); block {
				if m := inBlock.FindStringSubmatch(strings.TrimSpace(rest)); m != nil {
					try(page, m[1])
				}
			}
		}
	}
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		for line := range strings.Lines(strings.ReplaceAll(c.Example, "\\\n", "")) {
			if m := inBlock.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
				line, _, _ := strings.Cut(m[1], "    ") // a remark stands far behind
				try(c.CommandPath()+" --help", line)
			}
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(newRoot())
	if checked < 100 {
		t.Errorf("only %d command lines found", checked)
	}
}

// shellWords splits a command line up to a comment, a pipe, a redirection or a following command.
func shellWords(line string) []string {
	var words []string
	for rest := strings.TrimSpace(line); rest != ""; rest = strings.TrimSpace(rest) {
		if strings.ContainsAny(rest[:1], "#|>&") {
			break
		}
		if q := rest[:1]; q == `"` || q == "'" {
			word, after, _ := strings.Cut(rest[1:], q)
			words, rest = append(words, word), after
			continue
		}
		word, after, _ := strings.Cut(rest, " ")
		words, rest = append(words, word), after
	}
	return words
}

// misused says what is wrong with the words behind smsim, "" if they are a command line. A flag at the end that lacks its value only names it.
func misused(words []string) string {
	cmd, args, err := newRoot().Find(words)
	if err != nil || !cmd.HasParent() {
		return "no such command"
	}
	if err := cmd.ParseFlags(args); err != nil {
		if strings.HasPrefix(err.Error(), "flag needs an argument") {
			return ""
		}
		return err.Error()
	}
	rest := cmd.Flags().Args()
	if len(rest) == 0 { // a page that speaks of the command as such
		return ""
	}
	if err := cmd.ValidateArgs(rest); err != nil {
		return err.Error()
	}
	return ""
}

// TestMisused: what TestDocumentedCommands must see.
func TestMisused(t *testing.T) {
	for line, want := range map[string]string{
		"rnu ncc":                             "no such command",
		"run ncc --archs sm_90":               "unknown flag",
		"arch show sm_90 sm_86":               "one architecture or board",
		"run ncc --workers many":              "invalid argument",
		"lut 'a & b' --names x,y # a remark":  "",
		"arch check mine.yaml && smsim arch":  "",
		"sweep latency.yaml --out":            "",
		"conform --data measured/forms > out": "",
	} {
		if got := misused(shellWords(line)); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
