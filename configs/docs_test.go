package configs

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestDocumentedExample loads the example of docs/architectures.md, and looks for every pipe in its table.
func TestDocumentedExample(t *testing.T) {
	text, err := os.ReadFile("../docs/architectures.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(text)
	if m == nil {
		t.Fatal("no example")
	}
	path := filepath.Join(t.TempDir(), "example.yaml")
	if err := os.WriteFile(path, m[1], 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := Load(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if a.Name != "hopper_fast_dp4a" || a.Classes["idp"].IssueInterval != 1 || a.Pipes["dot"].Per != "sub_partition" {
		t.Errorf("%s: %+v", a.Name, a.Classes["idp"])
	}
	for _, name := range List() {
		for pipe := range load(t, name).Pipes {
			if !regexp.MustCompile(`\b` + pipe + `\b`).Match(text) {
				t.Errorf("pipe %s of %s is not in docs/architectures.md", pipe, name)
			}
		}
	}
}
