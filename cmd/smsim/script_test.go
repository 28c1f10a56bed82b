package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the expected outputs in the scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"smsim": func() { os.Exit(execute(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// TestScripts runs the command lines in testdata/script. The PTX files of testdata/ptx lie in each script's directory, and the run files
// that docs/workloads.md shows, as documented1.yaml and so on.
func TestScripts(t *testing.T) {
	ptx, err := filepath.Glob("testdata/ptx/*.ptx")
	if err != nil || len(ptx) == 0 {
		t.Fatal("no PTX files", err)
	}
	page, err := os.ReadFile("../../docs/workloads.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, part := range strings.Split(string(page), "\n```yaml\n")[1:] {
		text, _, _ := strings.Cut(part, "\n```")
		documented = append(documented, text)
	}
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			for _, f := range ptx {
				b, err := os.ReadFile(f)
				if err != nil {
					return err
				}
				if err := os.WriteFile(filepath.Join(e.WorkDir, filepath.Base(f)), b, 0o644); err != nil {
					return err
				}
			}
			for i, text := range documented {
				if err := os.WriteFile(filepath.Join(e.WorkDir, fmt.Sprintf("documented%d.yaml", i+1)), []byte(text), 0o644); err != nil {
					return err
				}
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exitcode": exitCode, "chomp": chomp},
	})
}

// exitCode runs a command and compares its exit code: exitcode 2 smsim run ...
// The outputs are checked with stdout and stderr as after exec.
func exitCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exitcode CODE command [arguments]")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := "0"
	if e, ok := err.(interface{ ExitCode() int }); ok {
		code = string(rune('0' + e.ExitCode()))
	}
	if code != args[0] {
		ts.Fatalf("exit code %s, want %s", code, args[0])
	}
}

// chomp removes the last line feed of files, which the format of the scripts adds: chomp FILE...
func chomp(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(strings.TrimSuffix(ts.ReadFile(name), "\n")), 0o644))
	}
}
