package ptx_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa/ptx"
)

// FuzzParse: any text either parses, and then prints stably and can be checked, or gives errors with places in it.
// Its corpus is every case of testdata; crashes found are kept by name in testdata/fuzz/FuzzParse.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/parse/*.ptx", "testdata/errors/*.ptx"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := ptx.Parse("fuzz.ptx", text)
		if err != nil {
			checkErrors(t, text, err)
			return
		}
		if err := ptx.CheckAll(m); err != nil {
			checkErrors(t, text, err)
		}
		printed := m.String()
		again, err := ptx.Parse("printed.ptx", []byte(printed))
		if err != nil {
			t.Fatalf("the printed module does not parse: %v\n%s", err, printed)
		}
		if got := again.String(); got != printed {
			t.Fatalf("print is not stable:\n%s\nfrom\n%s", got, printed)
		}
	})
}

func checkErrors(t *testing.T, text []byte, err error) {
	t.Helper()
	var list ptx.Errors
	if !errors.As(err, &list) || len(list) == 0 || len(list) > 20 {
		t.Fatalf("bad error list %v", err)
	}
	lines := bytes.Count(text, []byte("\n")) + 1
	for _, e := range list {
		if e.Pos.Line < 1 || e.Pos.Line > lines || e.Pos.Col < 1 || e.Msg == "" {
			t.Fatalf("bad place or message in %+v", e)
		}
		if s := e.Error(); strings.ContainsAny(s, "\x00\r\x1b\x7f") {
			t.Fatalf("unprintable message %q", s)
		}
	}
}

// BenchmarkParse parses 4 MB of kernels: nvcc's text of one kernel, its entry renamed, over and over.
func BenchmarkParse(b *testing.B) {
	text := largeModule(b, 4<<20)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ptx.Parse("large.ptx", text); err != nil {
			b.Fatal(err)
		}
	}
}
