package workloads

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/configs/strictyaml/schemas"
)

// validate checks a YAML text against the schema of its kind.
func validate(t *testing.T, text []byte) error {
	t.Helper()
	doc, kind := schemas.Document(t, text), "workload"
	if m, ok := doc.(map[string]any); ok {
		for _, key := range []string{"study", "question", "variants", "launches", "compare"} {
			if _, ok := m[key]; ok {
				kind = "study"
			}
		}
	}
	return schemas.Compile(t, filepath.Join("..", "docs", "schema", kind+".schema.json")).Validate(doc)
}

// TestBundledFilesMatchSchema validates every bundled run file.
func TestBundledFilesMatchSchema(t *testing.T) {
	for _, name := range runFiles(t) {
		text, err := fs.ReadFile(Bundled(), name)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(t, text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestBadFiles decodes files with one mistake each. The first line has what the message must contain, the second says
// whether the schema can see the mistake: the decoder and the schema must agree where it can.
func TestBadFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d bad files: %v", len(files), err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.SplitN(string(text), "\n", 3)
			want := strings.TrimPrefix(lines[0], "# error: ")
			schema := strings.TrimPrefix(lines[1], "# schema: ")
			_, err = Load(name)
			if err == nil {
				t.Fatalf("decoded without error, want %q", want)
			}
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error\n%v\nwant it to contain %q", err, want)
			}
			if !strings.HasPrefix(err.Error(), name) {
				t.Errorf("error does not begin with the file: %v", err)
			}
			if schema == "skip" {
				return
			}
			if rejected := validate(t, text) != nil; rejected != (schema == "rejects") {
				t.Errorf("the schema rejects: %v; the file says it %s", rejected, schema)
			}
		})
	}
}
