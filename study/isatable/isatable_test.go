package isatable

import (
	"bytes"
	"encoding/csv"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/lower"
	"github.com/sarchlab/smsim/isa/ptx"
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

// Find gives the table's forms of operations, or forms by name.
func Find(t testing.TB, words ...string) (out []Form) {
	t.Helper()
	for _, w := range words {
		f, err := Lookup(w, forms(t))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, f.Forms...)
	}
	return out
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
	// What some target needs no instruction for: hints, constants that are operands, order that a target always keeps.
	nothing := strings.Fields("prefetch.global.L1 discard.global.L2 ld.param.u32 nanosleep.u32 bar.warp.sync mov.pred not.pred membar.cta membar.gl fence.acq_rel.gpu cvt.u8.u32")
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
			if m.Error == "" && len(m.Code) == 0 && !slices.Contains(nothing, f.Name) {
				t.Errorf("%s on %s: no instruction carries its line", f.Name, n)
			}
			if m.Native && (m.Throughput == 0 && !strings.HasPrefix(f.Name, "bar") && f.Group != "Control" || m.Latency == 0) {
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
		s, err := Simulate(f, a, AsMeasured)
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
			if _, err := Simulate(f, a, AsMeasured); err != nil {
				t.Errorf("%s: %v", f.Name, err)
			}
		}
	}
}

// TestLookup: what a word means, from testdata/lookup.txt: the word | kind | number of forms | first name or part of the message.
func TestLookup(t *testing.T) {
	fs := forms(t)
	text, err := os.ReadFile("testdata/lookup.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		c := strings.Split(line, "|")
		for i := range c {
			c[i] = strings.TrimSpace(c[i])
		}
		found, err := Lookup(c[0], fs)
		kind, first := "forms", ""
		if len(found.Forms) > 0 {
			first = found.Forms[0].Name
		}
		switch {
		case err != nil:
			kind, first = "error", err.Error()
		case found.Opcode != nil:
			kind, first = "opcode", found.Opcode.Name()
		case found.Family != nil:
			kind = "operation"
		case found.Group != "":
			kind = "group"
		}
		if kind != c[1] || c[2] != "" && strconv.Itoa(len(found.Forms)) != c[2] || c[1] == "error" && !strings.Contains(first, c[3]) || c[1] != "error" && first != c[3] {
			t.Errorf("%s: %s, %d forms, %s; want %s", c[0], kind, len(found.Forms), first, line)
		}
	}
}

func TestOpcode(t *testing.T) {
	q, ok := opcodeQuery("IDP")
	if !ok {
		t.Fatal("no IDP")
	}
	o := DescribeOpcode(q, []*configs.Arch{arch(t, "sm_60"), arch(t, "sm_61"), arch(t, "sm_90")}, Find(t, "dp4a", "mul.lo.s32"))
	if len(o.On) != 2 || o.On[0].Arch != "sm_61" || o.On[1].Throughput != 64 || strings.Join(o.PTX, " ") != "dp4a.s32.s32 dp4a.u32.u32 dp4a.u32.s32" {
		t.Errorf("%+v", o)
	}
	if got := Ranges(o.Has); got != "6.1, 7.0 to 12.1" {
		t.Error(got)
	}
}

func TestCSV(t *testing.T) {
	rows, err := Build(Find(t, "dp4a"), []*configs.Arch{arch(t, "sm_61"), arch(t, "sm_90")}, SimulateNothing, nil)
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
		rows, err := Build([]Form{*form(t, name)}, all, SimulateNothing, nil)
		if err != nil {
			t.Fatal(err)
		}
		if want := cell(spansText(&rows[0])); !strings.Contains(string(text), want) {
			t.Errorf("docs/instructions.md says something else of %s than %s: write it again", name, want)
		}
	}
}

// TestFamilies: every operation that lowering knows has a family, and every family's rows agree with their types.
func TestFamilies(t *testing.T) {
	list, err := familyList()
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		fam := &list[i]
		for k := range fam.Shapes {
			s := &fam.Shapes[k]
			f := Form{PTX: s.Before + " " + s.Operands + " " + s.After}
			if n := len(strings.Fields(s.Types)); n != len(f.symbols()) {
				t.Errorf("%s, form %d: %d types for operands %v", fam.Ops, k+1, n, f.symbols())
			}
		}
	}
	for _, op := range lower.Operations() {
		if FamilyOf(op) == nil {
			t.Errorf("families.yaml lacks %s", op)
		}
	}
}

// TestProbeRate: executions in the loops are kept apart, so none is faster than what the pipes allow.
func TestProbeRate(t *testing.T) {
	for _, c := range []struct{ word, archs string }{
		{"lop3.b32 0x54", "sm_50 sm_90"}, {"and.b32", "sm_20 sm_75"}, {"add.u32", "sm_35 sm_120"}, {"neg.s64", "sm_61 sm_80 sm_90"}, {"cvt.s8.s32", "sm_61 sm_90"}, {"__dp4a", "sm_50"},
		{"bfe.u32", "sm_90"}, {"and.b64", "sm_70"}, {"mul.wide.u32", "sm_61"}, {"prmt.b32.rc8", "sm_86"}, {"min.s16x2", "sm_80"}, {"setp.lt.s32", "sm_60"},
	} {
		for n := range strings.FieldsSeq(c.archs) {
			f, a := &Find(t, c.word)[0], arch(t, n)
			m := Lower(f, a)
			s, err := Simulate(f, a, Apart)
			if err != nil || m.Throughput == 0 {
				t.Errorf("%s on %s: %v %v", c.word, n, m, err)
				continue
			}
			most := max(m.Throughput, loopRate(t, f, a))
			if got := ResultsPerCycle(s.Interval); got > most*1.005 /* two runs of whole cycles are subtracted */ || got < most*0.45 {
				t.Errorf("%s on %s: %.2f results a cycle in the loop, the pipes allow %.2f", c.word, n, got, most)
			}
			// The clock does not wait for the last execution's result.
			if m.Latency > 0 && s.Latency*latencyRuns < m.Latency*(latencyRuns-1) {
				t.Errorf("%s on %s: latency %.2f in the loop, the instruction's is %v", c.word, n, s.Latency, m.Latency)
			}
		}
	}
}

// loopRate is the most results a cycle that the pipes allow for the code of the throughput loop, in which additions, moves and shifts
// may have gone to another pipe than in the code of one execution: as [Form.each], from a loop and one with twice the executions.
func loopRate(t *testing.T, f *Form, a *configs.Arch) float64 {
	t.Helper()
	_, shape := f.loops(a, Apart)
	once := loopInterval(t, f, a, shape)
	runs := shape.body * shape.chains
	shape.body *= 2
	return ResultsPerCycle((loopInterval(t, f, a, shape) - once) / float64(runs))
}

// loopInterval is the cycles that the pipes need for a round of the loop by a warp of each sub-partition, without copies of registers.
func loopInterval(t *testing.T, f *Form, a *configs.Arch, shape loop) float64 {
	t.Helper()
	text := f.loopKernel(shape, Apart)
	mod, err := ptx.Parse(f.Name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	p, err := lower.Compile(mod, "", a.Target(), lower.Options{OpaqueMoves: true})
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(text, "LOOP:")
	inside, _, _ := strings.Cut(rest, "add.u32 %n")
	first := int32(1 + strings.Count(before, "\n"))
	last := first + int32(strings.Count(inside, "\n"))
	var insts []*isa.Inst
	for i := range p.Insts {
		in, text := &p.Insts[i], p.Text(i)
		copies := strings.HasPrefix(text, "MOV ") || strings.HasPrefix(text, "IMAD.MOV")
		if in.Pos.Line > first && in.Pos.Line < last && !copies {
			insts = append(insts, in)
		}
	}
	var m Machine
	m.describe(insts, a)
	return 32 / m.Throughput
}

// TestSince: combinations of modifiers that came later than each of them, with their own syntax. From the PTX reference.
func TestSince(t *testing.T) {
	for _, c := range []struct{ word, version, target, syntax string }{
		{"add.u64", "1.0", "sm_10", "add|sub"},
		{"add.cc.u32", "1.2", "sm_10", "add|sub"},
		{"add.cc.u64", "4.3", "sm_20", "add|sub"},
		{"addc.cc.u32", "1.2", "sm_10", "addc|subc"},
		{"addc.cc.u64", "4.3", "sm_20", "addc|subc"},
		{"rcp.rn.f64", "1.4", "sm_13", "rcp"},
		{"rcp.rn.f32", "2.0", "sm_20", "rcp"},
		{"rcp.approx.ftz.f64", "2.1", "sm_20", "rcp"},
		{"barrier.cluster.arrive", "7.8", "sm_90", "barrier.cluster"},
		{"barrier.cluster.arrive.relaxed", "8.0", "sm_90", "barrier.cluster"},
		{"barrier.sync", "6.0", "sm_30", "bar|barrier"},
		{"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32", "8.1", "sm_90", "red.async"},
		{"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes", "8.0", "sm_90", "cp.async.bulk.tensor"},
		{"cp.async.bulk.commit_group", "8.0", "sm_90", "cp.async.bulk.commit_group"},
		{"cp.async.ca.shared.global", "7.0", "sm_80", "cp.async.{ca,cg}"},
		{"applypriority.global.L2::evict_normal", "7.4", "sm_80", "applypriority"},
		{"discard.global.L2", "7.4", "sm_80", "discard"},
	} {
		f, ok, err := FromWord(c.word)
		if !ok || err != nil {
			t.Errorf("%s: %v %v", c.word, ok, err)
			continue
		}
		if f.Since != c.version || f.Target != c.target || !strings.HasPrefix(f.Syntax, c.syntax) {
			t.Errorf("%s: PTX %s, %s, syntax %s; want %s, %s, %s", c.word, f.Since, f.Target, f.Syntax, c.version, c.target, c.syntax)
		}
	}
}
