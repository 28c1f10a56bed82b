package configs

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestSourcesAreExplained reads every `source:` of the embedded files and looks its keys up in docs/sources.md;
// a key that stands there but nowhere in the files is reported too.
func TestSourcesAreExplained(t *testing.T) {
	text, err := os.ReadFile("../docs/sources.md")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) == 4 && !strings.Contains(cells[1], "---") {
			for _, k := range strings.Split(cells[1], ",") {
				known[strings.TrimSpace(k)] = false
			}
		}
	}
	for _, k := range []string{"key", "confidence", "measured", "published", "derived", "assumed"} {
		delete(known, k)
	}
	if len(known) < 30 {
		t.Fatalf("only %d keys found in docs/sources.md", len(known))
	}
	form := regexp.MustCompile(`source: ([^,}\n]+)`)
	err = fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := files.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range form.FindAllStringSubmatch(string(text), -1) {
			for _, k := range strings.Split(m[1], ";") {
				k = strings.TrimSpace(k)
				if _, ok := known[k]; !ok {
					t.Errorf("%s: source %q is not in docs/sources.md", path, k)
				}
				known[k] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for k, used := range known {
		if !used {
			t.Errorf("docs/sources.md explains %q, which no file uses", k)
		}
	}
}
