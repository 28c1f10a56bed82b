package isatable

import (
	"bytes"
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
)

func forms(t testing.TB) []Form {
	t.Helper()
	f, err := Forms()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func form(t testing.TB, name string) *Form {
	t.Helper()
	fs := forms(t)
	for i := range fs {
		if fs[i].Name == name {
			return &fs[i]
		}
	}
	t.Fatalf("no form %s", name)
	return nil
}

func arch(t testing.TB, name string) *configs.Arch {
	t.Helper()
	a, err := configs.Load(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestMachineCode are facts about machine code, from compiler listings of each generation.
func TestMachineCode(t *testing.T) {
	for _, c := range []struct {
		form, arch string
		count      int
		first      string
	}{
		{"dp4a.s32.s32", "sm_61", 1, "IDP.4A"}, {"dp4a.s32.s32", "sm_90", 1, "IDP.4A"}, {"dp4a.s32.s32", "sm_62", 12, "BFE"},
		{"mul.lo.s32", "sm_35", 1, "IMUL"}, {"mul.lo.s32", "sm_61", 3, "XMAD"}, {"mul.lo.s32", "sm_70", 1, "IMAD"},
		{"mul24.lo.s32", "sm_10", 1, "IMUL24"}, {"lop3.b32 0x54", "sm_50", 1, "LOP3"}, {"max + max", "sm_90", 1, "VIMNMX3"},
		{"add + max", "sm_90", 1, "VIADDMNMX"}, {"add + add", "sm_61", 1, "IADD3"}, {"shf.l.wrap.b32", "sm_35", 1, "SHF"},
		{"vadd4.u32.u32.u32", "sm_30", 1, "VADD4"}, {"vadd.s32.s32.s32", "sm_20", 1, "VADD"}, {"popc.b32", "sm_20", 1, "POPC"},
		{"vabsdiff4.u32.u32.u32.add", "sm_80", 1, "VABSDIFF4"}, {"__byte_perm", "sm_90", 2, "LOP3"},
	} {
		m := Lower(form(t, c.form), arch(t, c.arch))
		if m.Error != "" || len(m.Code) != c.count || opcodeOf(m.Code[0]) != c.first && !strings.HasPrefix(m.Code[0], c.first) {
			t.Errorf("%s on %s: %v %s, want %d beginning with %s", c.form, c.arch, m.Code, m.Error, c.count, c.first)
		}
	}
}

// TestEveryFormLowers: what PTX accepts has machine code or a reason on every architecture; what it accepts on sm_90 has code there.
func TestEveryFormLowers(t *testing.T) {
	names := []string{"sm_10", "sm_35", "sm_61", "sm_90", "sm_120"}
	for _, n := range names {
		a := arch(t, n)
		fs := forms(t)
		for i := range fs {
			f := &fs[i]
			m := Lower(f, a)
			if m.Accepted && m.Error != "" {
				t.Errorf("%s on %s: %s", f.Name, n, m.Error)
			}
			if m.Error == "" && len(m.Code) == 0 {
				t.Errorf("%s on %s: no instruction carries its line", f.Name, n)
			}
			if m.Native && (m.Throughput == 0 && !strings.HasPrefix(f.Name, "bar") || m.Latency == 0) {
				t.Errorf("%s on %s: one instruction, %v, without latency or throughput", f.Name, n, m.Code)
			}
		}
	}
}

// TestLoadIsThroughput: the bound of a single instruction is the throughput that the table of the CUDA programming guide
// is tested against (configs), on every architecture.
func TestLoadIsThroughput(t *testing.T) {
	for _, n := range configs.List() {
		a := arch(t, n)
		for c := isa.Class(1); c < isa.NumClasses; c++ {
			row, ok := a.Classes[c.String()]
			if !ok || len(row.Holds) > 0 {
				continue
			}
			want, _ := a.Throughput(c)
			l := newPipeLoad(a)
			l.add(&row)
			if got := l.resultsPerCycle(); math.Abs(got-want) > 1e-6 {
				t.Errorf("%s %s: %v, configs says %v", n, c, got, want)
			}
		}
	}
}

// TestSimulated compares the loops on the simulator with what the H200 took.
func TestSimulated(t *testing.T) {
	a := arch(t, "sm_90")
	measured, err := measurements()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"mad.lo.s32", "dp4a.u32.u32", "shf.l.wrap.b32", "bfind.u32", "prmt.b32.f4e", "vabsdiff4.u32.u32.u32.add"} {
		f := form(t, name)
		m, ok := measured[f.measured]
		if !ok {
			t.Errorf("%s was not measured", name)
			continue
		}
		s, err := Simulate(f, a)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if math.Abs(s.Latency/m.Latency-1) > 0.1 || math.Abs(s.Interval/m.Interval-1) > 0.1 {
			t.Errorf("%s: latency %.2f, interval %.3f; measured %.2f, %.3f", name, s.Latency, s.Interval, m.Latency, m.Interval)
		}
	}
}

// TestLoopsCompile: the timing loops of every form are valid and end, on an old and a new target.
func TestLoopsCompile(t *testing.T) {
	fs := forms(t)
	a := arch(t, "sm_61")
	for i := range fs {
		if f := &fs[i]; i%9 == 0 && !f.Untimed && Lower(f, a).Error == "" {
			if _, err := Simulate(f, a); err != nil {
				t.Errorf("%s: %v", f.Name, err)
			}
		}
	}
}

func TestFind(t *testing.T) {
	fs := forms(t)
	for word, want := range map[string]int{"dp4a": 3, "DP4A": 3, "dp4a.s32.s32": 1, "mul.wide": 2, "__vadd4": 1, "__dp4a": 1, "min": 3, "lop3": 4, "setp": 2, "nosuch": 0} {
		if got := Find(word, fs); len(got) != want {
			var names []string
			for _, f := range got {
				names = append(names, f.Name)
			}
			t.Errorf("%s: %v, want %d", word, names, want)
		}
	}
	if err := NotFound("dp4aa", fs); !strings.Contains(err.Error(), `did you mean "dp4a"`) {
		t.Error(err)
	}
}

func TestOpcode(t *testing.T) {
	o := DescribeOpcode(isa.OpIDP, []*configs.Arch{arch(t, "sm_60"), arch(t, "sm_61"), arch(t, "sm_90")}, forms(t)[:60])
	if len(o.On) != 2 || o.On[0].Arch != "sm_61" || o.On[1].Throughput != 64 || !strings.Contains(strings.Join(o.PTX, " "), "dp4a.u32.u32") {
		t.Errorf("%+v", o)
	}
}

func TestCSV(t *testing.T) {
	rows, err := Build(Find("dp4a", forms(t)), []*configs.Arch{arch(t, "sm_61"), arch(t, "sm_90")}, SimulateNothing)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WriteCSV(&b, rows); err != nil {
		t.Fatal(err)
	}
	recs, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(recs) != 7 {
		t.Fatal(len(recs), err)
	}
	column := map[string]int{}
	for i, h := range recs[0] {
		column[h] = i
	}
	for _, r := range recs[1:] {
		if n, _ := strconv.Atoi(r[column["instructions"]]); n != 1 || !strings.Contains(r[column["code"]], "IDP.4A") || r[column["native"]] != "true" {
			t.Errorf("%v", r)
		}
	}
}

// TestDocument: docs/instructions.md has every form, and the machine code of some that is computed now.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile("../../docs/instructions.md")
	if err != nil {
		t.Fatal(err)
	}
	fs := forms(t)
	for i := range fs {
		if !strings.Contains(string(text), "\n| `"+fs[i].Name+"` | "+cell(fs[i].Meaning)) {
			t.Errorf("docs/instructions.md lacks %s: write it again with smsim isa --format markdown", fs[i].Name)
		}
	}
	var all []*configs.Arch
	for _, n := range configs.List() {
		all = append(all, arch(t, n))
	}
	for _, name := range []string{"dp4a.u32.u32", "lop3.b32 0x96", "popc.b32"} {
		rows, err := Build([]Form{*form(t, name)}, all, SimulateNothing)
		if err != nil {
			t.Fatal(err)
		}
		if want := cell(spansText(&rows[0])); !strings.Contains(string(text), want) {
			t.Errorf("docs/instructions.md says something else of %s than %s: write it again", name, want)
		}
	}
}
