package validate

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/study/page"
)

// TestMechanisms: every mechanism can be switched off, and each of its values differs from the model's.
func TestMechanisms(t *testing.T) {
	for _, m := range Mechanisms() {
		o, err := without(m.Name)
		if err != nil {
			t.Fatal(err)
		}
		a, err := configs.Load("sm_90", o)
		if err != nil {
			t.Errorf("%s: %v", m.Name, err)
			continue
		}
		if len(a.Overrides) != len(m.keys) {
			t.Errorf("%s: %d of its %d values change something: %v", m.Name, len(a.Overrides), len(m.keys), a.Overrides)
		}
	}
	if _, err := without("gravity"); err == nil || !strings.Contains(err.Error(), "register_banks") {
		t.Errorf("unknown mechanism: %v", err)
	}
}

// TestReport: statistics of known errors, failures counted apart.
func TestReport(t *testing.T) {
	s := &Set{Name: "mixes", Input: FromSASS, Results: []*Result{{Group: "a", Error: 1}, {Group: "a", Error: -3}, {Group: "b", Error: 8}, {Failure: "lost"}}}
	rep := &Report{Sets: []*Set{s}}
	rep.finish()
	if s.Rows != 3 || s.Failed != 1 || s.MAPE != 4 || s.Bias != 2 || s.P50 != 3 || s.P95 != 8 || s.Max != 8 {
		t.Errorf("%+v", *s)
	}
	if len(s.Groups) != 2 || s.Groups[0].Name != "b" || s.Groups[1].Bias != -1 || s.Groups[1].Worst != -3 {
		t.Errorf("groups %+v", s.Groups)
	}
	lost := &Set{Name: "mixes", Input: FromSASS, Results: []*Result{{Failure: "lost"}}}
	rep2 := &Report{Sets: []*Set{lost}}
	rep2.finish()
	var b bytes.Buffer
	if err := WriteJSON(&b, rep2, false); err != nil || !strings.Contains(b.String(), `"rows": 0`) || !strings.Contains(b.String(), `"mape": null`) || !strings.Contains(b.String(), `"max": null`) {
		t.Errorf("%v\n%s", err, b.String())
	}
	b.Reset()
	if err := WriteText(&b, rep2, false); err != nil || !strings.Contains(b.String(), "0       1     -     -") {
		t.Errorf("%v\n%s", err, b.String())
	}
	b.Reset()
	if err := WriteCSV(&b, rep2, false); err != nil || !strings.HasSuffix(b.String(), "mixes,sass,0,1,,,,,\n") {
		t.Errorf("%v\n%s", err, b.String())
	}
	if r := rep2.FirstFailure(); r == nil || r.Failure != "lost" {
		t.Errorf("first failure %+v", r)
	}
	if w := rep.Worst(2); len(w) != 2 || w[0].Error != 8 || w[1].Error != -3 {
		t.Errorf("worst %+v", w)
	}
}

// TestFailures: rows that cannot be replayed are in the report with their names, folders that are wrong are errors.
func TestFailures(t *testing.T) {
	head := "id,mode,cycles_min,cycles_median,cycles_max,ptx\n"
	dir := fstest.MapFS{
		"forms/timing.csv":       {Data: []byte(head + "7,L,1,100,1,\"add.u16 %d, %a, %b;\"\n")},
		"forms/timing_sm90.sass": {Data: []byte("code for sm_90\n Function : t8_L\n /*0000*/ EXIT ; /* 0x000000000000794d */\n /* 0x000fea0003800000 */\n")},
	}
	rep, err := Run(dir, "", Options{Inputs: []Input{FromSASS}})
	if err != nil {
		t.Fatal(err)
	}
	if rep.Failed() != 1 || !strings.Contains(rep.AllRows()[0].Failure, "t7_L") {
		t.Errorf("%+v", rep.AllRows()[0])
	}
	var b bytes.Buffer
	if err := WriteText(&b, rep, false); err != nil || !strings.Contains(b.String(), "FAILED: forms L add.u16") {
		t.Errorf("%v\n%s", err, b.String())
	}
	for _, c := range []struct {
		files fstest.MapFS
		opt   Options
		want  string
	}{
		{fstest.MapFS{}, Options{}, "no measurements"},
		{dir, Options{Sets: []string{"form"}}, `no set "form"`},
		{dir, Options{Without: "gravity"}, "no mechanism"},
		{fstest.MapFS{"forms/timing.csv": {Data: []byte("id,mode\n")}}, Options{}, `no column "cycles_median"`},
		{fstest.MapFS{"forms/timing.csv": {Data: []byte(head + "7,L,1,x,1,add\n")}}, Options{}, `forms/timing.csv:2: cycles_median "x" is not a number`},
		{fstest.MapFS{"kernels/kernels.json": {Data: []byte("{")}}, Options{}, "kernels/kernels.json"},
		{fstest.MapFS{"kernels/kernels.json": {Data: []byte("[]")}}, Options{}, "kernels/kernels.csv: file does not exist (nor is there a kernels/kernels.csv.gz)"},
		{fstest.MapFS{"micro/mixes.csv": {}}, Options{}, "micro/mixes.csv: the file is empty; expected a header line with kernel, cycles_median"},
		{fstest.MapFS{"micro/mixes.csv": {}, "kernels/kernels.json": {}}, Options{Sets: []string{"memory"}}, "no measurements of these sets"},
	} {
		if _, err := Run(c.files, "", c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, expected %q", err, c.want)
		}
	}
}

// TestPlanLines: launch plans are checked field by field.
func TestPlanLines(t *testing.T) {
	name, p, err := parsePlan("mem,stream_dram_32,allsm,1,1;m_stream;m_st_cg_32_1;132;32;0;4;none;rot:1081344;64;4294967295;0;4294967295")
	if err != nil || name != "m_st_cg_32_1" || p.grid != 132 || !p.rotates || !p.allSMs || p.params[1] != 1<<32-1 {
		t.Errorf("%s %+v %v", name, p, err)
	}
	for _, line := range []string{"a;b", "t;m;k;x;32;0;4;none;fix;1;2;3;4", "t;m;k;0;32;0;4;none;fix;1;2;3;4", "t;m;k;1;2048;0;4;none;fix;1;2;3;4"} {
		if _, _, err := parsePlan(line); err == nil {
			t.Errorf("%q is accepted", line)
		}
	}
}

// TestChain: a pointer chain visits every element once before it begins again.
func TestChain(t *testing.T) {
	c, ok, err := parseChain("chase:64:128:7")
	if !ok || err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 64*128)
	c.write(data, 0, 64)
	seen := map[uint64]bool{}
	at := uint64(0)
	for range 64 {
		if seen[at] || at%128 != 0 {
			t.Fatalf("element %d comes again after %d steps", at/128, len(seen))
		}
		seen[at] = true
		at = uint64(data[at]) | uint64(data[at+1])<<8
	}
	if at != 0 {
		t.Errorf("the chain ends at %d", at)
	}
	for _, s := range []string{"chase:0:128:7", "chase:1:2", "chase:99999999999:128:1", "fill:3"} {
		if _, _, err := parseChain(s); err == nil {
			t.Errorf("%q is accepted", s)
		}
	}
}

// sampleBounds are 1.3 times the mean absolute errors (percent) that the model achieved on the sample of TestSample,
// 2026-11-29. An improvement of the model should lower them.
var sampleBounds = map[string]float64{
	"forms sass": 0.63, "forms ptx": 7.3, "intrinsics sass": 1.15, "intrinsics ptx": 9, "surfaces sass": 1.36, "mixes sass": 0.88,
	"registerfile sass": 0.17, "control sass": 3.1, "memory sass": 16.4, "kernels_cold sass": 4.1, "kernels_cold ptx": 14.5,
	"kernels_warm sass": 4.4, "kernels_warm ptx": 13.7,
}

// TestSample replays a part of the bundle and holds the errors to at most 1.3 times what the model achieves. Executed
// instructions of real kernels must be the hardware's.
func TestSample(t *testing.T) {
	dir, err := Bundled()
	if err != nil {
		t.Fatal(err)
	}
	rep, err := Run(dir, "", Options{Every: 4})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range rep.Sets {
		t.Logf("%-13s %s %3d rows, %d failed, MAPE %.2f, p95 %.2f", s.Name, s.Input, s.Rows, s.Failed, s.MAPE, s.P95)
	}
	for _, r := range failures(rep) {
		t.Errorf("%s %s: %s", setInput(r), r.Name, r.Failure)
	}
	if len(rep.Sets) != len(sampleBounds) {
		t.Errorf("%d sets, %d have a bound", len(rep.Sets), len(sampleBounds))
	}
	for _, s := range rep.Sets {
		if b := sampleBounds[s.Name+" "+string(s.Input)]; !(float64(s.MAPE) <= b) {
			t.Errorf("%s from %s: mean error %.2f %%, bound %.2f", s.Name, s.Input, s.MAPE, b)
		}
		if s.Reasons != nil && s.Input == FromSASS && s.Reasons.ExactCounts < 99.99 {
			t.Errorf("%s: instruction counts of %.1f %% of the launches are exact", s.Name, s.Reasons.ExactCounts)
		}
	}
	var b bytes.Buffer
	if err := WriteJSON(&b, rep, true); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Sets []map[string]any
		Rows []map[string]any
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil || len(got.Sets) != len(rep.Sets) || len(got.Rows) != len(rep.AllRows()) {
		t.Errorf("JSON has %d sets and %d rows, %v", len(got.Sets), len(got.Rows), err)
	}
	b.Reset()
	if err := WriteText(&b, rep, false); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > page.Width {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if err := WriteDocument(&b, rep, "validation.svg"); err != nil {
		t.Fatal(err)
	}
}
