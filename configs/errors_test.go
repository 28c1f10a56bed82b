package configs

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/configs/strictyaml"
)

var update = flag.Bool("update", false, "rewrite the expected messages")

// TestErrorMessages loads each faulty file of testdata/errors and compares the message with the text beside it.
func TestErrorMessages(t *testing.T) {
	t.Chdir("testdata/errors")
	files, err := filepath.Glob("*.yaml")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		_, err := Load(f, nil)
		if err == nil {
			t.Errorf("%s loads", f)
			continue
		}
		var e *strictyaml.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %T is no *strictyaml.Error", f, err)
		}
		checkGolden(t, strings.TrimSuffix(f, ".yaml")+".txt", err.Error()+"\n")
	}
}

func checkGolden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s:\ngot\n%s\nwant\n%s", path, got, want)
	}
}

func TestUnreadableFiles(t *testing.T) {
	for name, want := range map[string]string{
		"none.yaml":  "none.yaml: cannot read the architecture file: no such file or directory",
		"testdata/":  "testdata/: cannot read the architecture file: is a directory",
		"hopper":     `hopper: not an architecture and not a .yaml file; architectures are written sm_86, 8.6 or 86`,
		"sm-90":      `sm-90: not an architecture and not a .yaml file; did you mean "sm_90"?; architectures are written sm_86, 8.6 or 86`,
		"RTX 3060":   "RTX 3060: a board, not an architecture; its architecture is sm_86, and the board itself goes with --board or board:",
		"":           `: not an architecture and not a .yaml file; architectures are written sm_86, 8.6 or 86`,
		"sm_88":      "sm_88: there is no such architecture; known: " + strings.Join(List(), ", "),
		"99999999.9": "99999999.9: there is no such architecture; known: " + strings.Join(List(), ", "),
	} {
		_, err := Load(name, nil)
		if err == nil || err.Error() != want {
			t.Errorf("Load(%q):\ngot  %v\nwant %s", name, err, want)
		}
	}
}
