package ptx_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa/ptx"
	"github.com/sarchlab/smsim/isa/zipped"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestParse compares the tree of every testdata/parse/*.ptx with its .golden dump.
func TestParse(t *testing.T) {
	for _, file := range glob(t, "testdata/parse/*.ptx") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			m, err := ptx.Parse(filepath.Base(file), readFile(t, file))
			if err != nil {
				t.Fatal(err)
			}
			if err := ptx.CheckAll(m); err != nil {
				t.Fatal(err)
			}
			golden(t, file, dump(m))
			stable(t, m)
		})
	}
}

// TestErrors compares the messages about every testdata/errors/*.ptx, of Parse or else of CheckAll.
func TestErrors(t *testing.T) {
	for _, file := range glob(t, "testdata/errors/*.ptx") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			m, err := ptx.Parse(filepath.Base(file), readFile(t, file))
			if err == nil {
				err = ptx.CheckAll(m)
			}
			if err == nil {
				t.Fatal("no error")
			}
			golden(t, file, err.Error()+"\n")
		})
	}
}

// TestCompiledKernels parses what nvcc 13.0 wrote for real kernels.
func TestCompiledKernels(t *testing.T) {
	for _, file := range glob(t, "testdata/kernels/*.ptx.gz") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			m, err := ptx.Parse(filepath.Base(file), zipped.Read(t, file))
			if err != nil {
				t.Fatal(err)
			}
			if len(m.Entries()) == 0 {
				t.Error("no kernel found")
			}
			if err := ptx.CheckAll(m); err != nil {
				t.Error(err)
			}
			stable(t, m)
		})
	}
}

// stable checks that printing and parsing again changes nothing.
func stable(t *testing.T, m *ptx.Module) {
	t.Helper()
	text := m.String()
	again, err := ptx.Parse("printed.ptx", []byte(text))
	if err != nil {
		t.Fatalf("the printed module does not parse: %v\n%s", err, text)
	}
	if got := again.String(); got != text {
		t.Errorf("print(parse(print)) differs:\n%s\nfrom\n%s", got, text)
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no files %s (%v)", pattern, err)
	}
	return files
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	name := strings.TrimSuffix(file, ".ptx") + ".golden"
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := string(readFile(t, name)); got != want {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

// dump shows the printed form of the module and, for every instruction, its place, operands by kind and source text.
func dump(m *ptx.Module) string {
	var b strings.Builder
	fmt.Fprintf(&b, "sm %d, addresses of %d bits, PTX %d.%d\n", m.SM, m.AddressSize, m.Major, m.Minor)
	b.WriteString(m.String())
	for _, f := range m.Funcs {
		if f.Body != nil {
			fmt.Fprintf(&b, "--- %s at %s, body %s to %s\n", f.Name, f.Pos, f.Body.Pos, f.Body.End)
			dumpBlock(&b, f.Body)
		}
	}
	return b.String()
}

func dumpBlock(b *strings.Builder, block *ptx.Block) {
	for _, s := range block.Stmts {
		switch x := s.(type) {
		case *ptx.Block:
			dumpBlock(b, x)
		case *ptx.Instr:
			fmt.Fprintf(b, "%s %s %v", x.Pos, x.Op, x.Mods)
			for _, a := range x.Args {
				b.WriteString(" " + dumpArg(a))
			}
			for _, list := range [][]ptx.Arg{x.CallRet, x.CallArgs} {
				for _, a := range list {
					b.WriteString(" | " + dumpArg(a))
				}
			}
			if x.Loc != nil {
				fmt.Fprintf(b, " @%d:%d", x.Loc.File, x.Loc.Line)
			}
			b.WriteString("  <- " + x.Text + "\n")
		}
	}
}

var kindNames = map[ptx.ArgKind]string{ptx.ArgName: "name", ptx.ArgInt: "int", ptx.ArgFloat: "float", ptx.ArgAddr: "addr",
	ptx.ArgVector: "vector", ptx.ArgPair: "pair", ptx.ArgSink: "sink", ptx.ArgString: "string", ptx.ArgTexAddr: "tex",
	ptx.ArgIndex: "index"}

func dumpArg(a ptx.Arg) string {
	s := kindNames[a.Kind] + "("
	if len(a.Elems) == 0 {
		return s + a.String() + ")"
	}
	if a.Name != "" {
		s += a.Name + ": "
	}
	for i, e := range a.Elems {
		if i > 0 {
			s += " "
		}
		s += dumpArg(e)
	}
	return s + ")"
}
