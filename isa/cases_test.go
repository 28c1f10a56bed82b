package isa_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
)

// TestCases runs every line of testdata/cases: target | instruction | inputs | results, where inputs and results are
// Rn, URn (values) and Pn, UPn (0 or 1). The registers have the same value in every lane, and so must the results.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no case files", err)
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			for n, line := range readLines(t, f) {
				if err := runCase(t, line); err != nil {
					t.Errorf("%s:%d: %s\n\t%v", f, n, line, err)
				}
			}
		})
	}
}

// readLines is the lines of a file that are not empty or comments, by line number.
func readLines(t testing.TB, file string) map[int]string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := map[int]string{}
	sc := bufio.NewScanner(f)
	for n := 1; sc.Scan(); n++ {
		if l := strings.TrimSpace(sc.Text()); l != "" && l[0] != '#' {
			out[n] = l
		}
	}
	return out
}

func runCase(t testing.TB, line string) error {
	part := strings.Split(line, " | ")
	if len(part) != 4 {
		return fmt.Errorf("%d fields, want 4", len(part))
	}
	sm, err := strconv.Atoi(strings.TrimPrefix(strings.TrimSpace(part[0]), "sm_"))
	if err != nil {
		return err
	}
	// Several instructions may be separated by ";": they run one after another (condition code, .CC and .X).
	p := assemble(t, sm, strings.ReplaceAll(part[1], ";", "\n")+"\nEXIT")
	p.Regs = 16
	if err := p.Check(isa.NewTarget(sm)); err != nil {
		return err
	}
	_, b := start(t, p, 32, nil, nil)
	w := b.Warps[0]
	for _, f := range strings.Fields(part[2]) {
		name, v, err := assignment(f)
		if err != nil {
			return err
		}
		switch {
		case strings.HasPrefix(name, "UR"):
			w.SetUReg(number(name[2:]), v)
		case name[0] == 'R':
			for l := range 32 {
				w.SetReg(number(name[1:]), l, v)
			}
		default:
			w.SetPred(number(name[1:]), -(v & 1))
		}
	}
	var e isa.Effect
	for range len(p.Insts) - 1 {
		if err := w.Step(&e); err != nil {
			return err
		}
	}
	for _, f := range strings.Fields(part[3]) {
		name, want, err := assignment(f)
		if err != nil {
			return err
		}
		for l := range 32 {
			var got uint32
			switch {
			case strings.HasPrefix(name, "UR"):
				got = w.UReg(number(name[2:]))
			case name[0] == 'R':
				got = w.Reg(number(name[1:]), l)
			default:
				got = w.Pred(number(name[1:])) >> uint(l) & 1
			}
			if got != want {
				return fmt.Errorf("%s of lane %d is %#x, want %#x", name, l, got, want)
			}
		}
	}
	return nil
}

func assignment(s string) (name string, v uint32, err error) {
	name, val, ok := strings.Cut(s, "=")
	if !ok {
		return "", 0, fmt.Errorf("%q is not name=value", s)
	}
	n, err := strconv.ParseInt(val, 0, 64)
	return name, uint32(n), err
}

func number(s string) isa.Reg {
	n, err := strconv.Atoi(s)
	if err != nil {
		return isa.RZ
	}
	return isa.Reg(n)
}

// TestListingText compares the text of instructions with what nvdisasm printed: the file's lines must come back unchanged.
func TestListingText(t *testing.T) {
	for n, line := range readLines(t, "testdata/listing.txt") {
		var p *isa.Program
		var err error
		for _, sm := range []int{75, 90, 120} { // the targets of the lines
			if p, err = read(sm, []string{line}); err == nil {
				break
			}
		}
		if err != nil {
			t.Errorf("line %d: %v", n, err)
			continue
		}
		if got := p.Insts[0].String(); got != line {
			t.Errorf("line %d:\n got %s\nwant %s", n, got, line)
		}
	}
}

// TestControlText is the text form of control information.
func TestControlText(t *testing.T) {
	for _, c := range []struct {
		c    isa.Control
		want string
	}{
		{isa.Control{Stall: 4, Yield: true, WriteBar: 0, ReadBar: isa.NoBar, WaitMask: 1 << 2}, "B--2---:R-:W0:-:S04"},
		{isa.Control{Stall: 15, WriteBar: isa.NoBar, ReadBar: 5, WaitMask: 0x3f}, "B012345:R5:W-:Y:S15"},
		{isa.Control{Yield: true, WriteBar: isa.NoBar, ReadBar: isa.NoBar}, "B------:R-:W-:-:S00"},
	} {
		if got := c.c.String(); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
