package plots

import (
	"bytes"
	"compress/gzip"
	"flag"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa/zipped"
	"github.com/sarchlab/smsim/sim"
)

var (
	update   = flag.Bool("update", false, "rewrite the golden files")
	pictures = flag.String("pictures", "", "write every example picture in every format to this folder, to be looked at")
)

// TestGolden compares the SVG of every example figure with testdata, and a second drawing with the first.
func TestGolden(t *testing.T) {
	for name, f := range exampleFigures() {
		t.Run(name, func(t *testing.T) {
			got, err := Encode(f, "svg", 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			again, err := Encode(exampleFigures()[name], "svg", 0, 0)
			if err != nil || !bytes.Equal(got, again) {
				t.Fatalf("two drawings differ (%v)", err)
			}
			file := filepath.Join("testdata", name+".svg.gz")
			if *update {
				if err := os.WriteFile(file, pack(t, got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want := zipped.Read(t, file)
			if !bytes.Equal(got, want) {
				t.Errorf("%s differs; look at it, then run with -update", file)
			}
			if *pictures != "" {
				for _, format := range formats {
					if err := Save(f, filepath.Join(*pictures, name+"."+format), 0, 0); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
}

func pack(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestDeterministicFormats: PNG and PDF of two drawings are equal too; a PDF holds no date of today.
func TestDeterministicFormats(t *testing.T) {
	for _, format := range []string{"png", "pdf"} {
		a, err := Encode(exampleFigures()["throughput"], format, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Encode(exampleFigures()["throughput"], format, 0, 0)
		if err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs (%v)", format, err)
		}
		if d := regexp.MustCompile(`Date \(D:(\d{4})`).FindSubmatch(a); format == "pdf" && (d == nil || string(d[1]) != "2000") {
			t.Errorf("date in PDF: %s", d)
		}
	}
}

// TestText: every name and number that a reader needs is in the picture as text.
func TestText(t *testing.T) {
	for name, want := range map[string][]string{
		"throughput":    {"NCC 16×16: what DP4A gives", "sm_61", "sm_120", "dp4a 4 columns", "throughput (million columns/s)", "speed-up over imad 1 column", "2.36×"},
		"warp_states":   {"math_pipe_throttle 22 %", "dispatch_stall", "other", "share of resident warp-cycles (%)", "cycles/issue"},
		"pipes":         {"utilisation (% of peak)", "100 %: full", "issue", "uniform", "84.6"},
		"curves_warps":  {"resident warps per SM", "64", "throughput (thread operations per µs)"},
		"roofline":      {"alu, fma (IMAD, IDP): 64", "DRAM: 9.2 B/cycle", "dp4a 2 columns", "integer operations per byte of DRAM traffic"},
		"scatter":       {"measured (cycles)", "predicted (cycles)", "memory (median 9 %)"},
		"roofline_many": {"registers only", "all but issue: 120"},
	} {
		svg, err := Encode(exampleFigures()[name], "svg", 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(string(svg), ">"+w+"<") {
				t.Errorf("%s lacks %q", name, w)
			}
		}
	}
	svg, _ := Encode(exampleFigures()["warp_states"], "svg", 0, 0)
	if strings.Contains(string(svg), ">no_instruction") || strings.Contains(string(svg), "fp64") {
		t.Error("a state below one percent is named")
	}
}

// TestSmall: every figure draws at half the size too, still with title and axis labels.
func TestSmall(t *testing.T) {
	for name, f := range exampleFigures() {
		svg, err := Encode(f, "svg", 450, 300)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if n := bytes.Count(svg, []byte("<text ")); n < 8 {
			t.Errorf("%s has %d texts", name, n)
		}
	}
	if _, err := Encode(exampleFigures()["roofline_many"], "svg", 260, 165); err == nil || !strings.Contains(err.Error(), "make the picture larger") {
		t.Error(err)
	}
}

func TestSave(t *testing.T) {
	dir := t.TempDir()
	f := exampleFigures()["throughput_few"]
	for _, file := range []string{"a.svg", "b.PNG", "c.pdf"} {
		if err := Save(f, filepath.Join(dir, file), 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(filepath.Join(dir, "b.PNG"))
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil || img.Width != 900 || img.Height != 500 {
		t.Errorf("PNG of %d x %d (%v)", img.Width, img.Height, err)
	}
	// A failure leaves the old file and no temporary one.
	old, _ := os.ReadFile(filepath.Join(dir, "a.svg"))
	if err := Save(&Bars{}, filepath.Join(dir, "a.svg"), 0, 0); err == nil || !strings.HasSuffix(err.Error(), "a.svg: bars: no data") {
		t.Error(err)
	}
	if now, _ := os.ReadFile(filepath.Join(dir, "a.svg")); !bytes.Equal(old, now) {
		t.Error("the old picture is gone")
	}
	if err := Save(f, filepath.Join(dir, "a.bmp"), 0, 0); err == nil || !strings.HasSuffix(err.Error(), `picture format "bmp": use one of svg, png, pdf`) {
		t.Error(err)
	}
	if err := Save(f, filepath.Join(dir, "none", "a.svg"), 0, 0); err == nil {
		t.Error("no error for a folder that does not exist")
	}
	if err := Save(f, filepath.Join(dir, "a.svg"), 20, 20); err == nil || !strings.Contains(err.Error(), "20 x 20 points is too small") {
		t.Error(err)
	}
	left, _ := os.ReadDir(dir)
	if len(left) != 3 {
		t.Errorf("%d files left", len(left))
	}
}

// TestBadFigures: numbers that make no picture are errors, never panics.
func TestBadFigures(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	many := make([]string, 30)
	rows := make([][]float64, 30)
	for i := range rows {
		rows[i] = []float64{1}
	}
	for _, c := range []struct {
		f    Figure
		want string
	}{
		{&Bars{Groups: []string{"a"}, Series: []string{"s"}, Values: [][]float64{{1, 2}}}, "bars: 2 values of s for 1 groups"},
		{&Bars{Groups: []string{"a"}, Series: []string{"s"}, Values: nil}, "bars: 0 rows of values for 1 series"},
		{&Bars{Groups: []string{"a"}, Series: []string{"s"}, Values: [][]float64{{-1}}}, "bars: value -1 of s, a"},
		{&Bars{Groups: []string{"a"}, Series: []string{"s"}, Values: [][]float64{{inf}}}, "bars: value +Inf of s, a"},
		{&Bars{Groups: []string{"a"}, Series: []string{"s"}, Values: [][]float64{{0}}, Log: true}, "bars: 0 cannot stand on a logarithmic axis"},
		{&Bars{Groups: []string{"a"}, Series: []string{"s"}, Values: [][]float64{{1}}, Log: true, Baseline: "s"}, "bars: a logarithmic axis has no panel of speed-ups"},
		{&Bars{Groups: []string{"a"}, Series: []string{"s"}, Values: [][]float64{{1}}, Baseline: "t"}, `bars: the baseline "t" is no series`},
		{&Bars{Groups: []string{"a"}, Series: many, Values: rows}, "bars: 30 series cannot be told apart; at most 24"},
		{&Stacks{}, "warp-state stacks: no runs, or not one row for each"},
		{&Stacks{Runs: []string{"r"}, States: []string{"wait"}, Share: [][]float64{{0.5}}}, "warp-state stacks: the shares of r sum to 0.5, not 1"},
		{&Stacks{Runs: []string{"r"}, States: []string{"wait"}, Share: [][]float64{{nan}}}, "warp-state stacks: share NaN of wait in r"},
		{&Stacks{Runs: []string{"r"}, States: []string{"wait"}, Share: [][]float64{{}}}, "warp-state stacks: 0 shares of r for 1 states"},
		{&HeatMap{}, "heat map: no cells, or not one row for each y"},
		{&HeatMap{X: []float64{1}, Y: []float64{1}, Z: [][]float64{{nan}}}, "heat map: no values"},
		{&HeatMap{X: []float64{1}, Y: []float64{1}, Z: [][]float64{{1, 2}}}, "heat map: 2 cells in row 0 for 1 columns"},
		{&HeatMap{X: []float64{1}, XNames: []string{"a", "b"}, Y: []float64{1}, Z: [][]float64{{1}}}, "heat map: not one name for each column and row"},
		{&Tornado{}, "tornado: no parameters"},
		{&Tornado{Rows: []TornadoRow{{Name: "k", Up: math.Inf(1)}}}, "tornado: the change by k is not finite"},
		{&IssueGrid{From: 1, To: 2}, "issue timeline: no warp is resident in the window"},
		{&IssueGrid{From: 1, To: 3, Rows: []IssueRow{{Name: "w"}}}, "issue timeline: 0 states of w for 2 cycles"},
		{&IssueGrid{To: 5000, Rows: []IssueRow{{Name: "w"}}}, "issue timeline: 5000 cycles and 1 warps; at most 2000 each"},
		{&Curves{Lines: []Curve{{Name: "l", X: []float64{1}, Y: []float64{1}, Low: []float64{nan}, High: []float64{2}}}}, "curves: the band of l has not one finite low and high value for each point"},
		{&Curves{}, "curves: no points"},
		{&Curves{Lines: []Curve{{Name: "l", X: []float64{1}}}}, "curves: 1 x and 0 y values of l"},
		{&Curves{Lines: []Curve{{Name: "l", X: []float64{1}, Y: []float64{nan}}}}, "curves: a point of l is not finite"},
		{&Curves{LogX: true, Lines: []Curve{{Name: "l", X: []float64{0}, Y: []float64{1}}}}, "curves, x: 0 cannot stand on a logarithmic axis"},
		{&Curves{LogY: true, Lines: []Curve{{Name: "l", X: []float64{0}, Y: []float64{-1}}}}, "curves, y: -1 cannot stand on a logarithmic axis"},
		{&Roofline{}, "roofline: it needs a point, a ceiling and a bandwidth at least"},
		{&Roofline{Points: []RoofPoint{{"p", 1, 0}}, Ceilings: []Ceiling{{"c", 1}}, Slopes: []Slope{{"s", 1}}}, "roofline, rate of p: 0 cannot stand on a logarithmic axis"},
		{&Roofline{Points: []RoofPoint{{"p", nan, 1}}, Ceilings: []Ceiling{{"c", 1}}, Slopes: []Slope{{"s", 1}}}, "roofline, operations per byte of p: NaN"},
		{&Scatter{}, "scatter: no points"},
		{&Scatter{Clouds: []Cloud{{"c", []float64{1}, nil}}}, "scatter: 1 measured and 0 predicted values of c"},
		{&Scatter{Clouds: []Cloud{{"c", []float64{1}, []float64{0}}}}, "scatter, c: 0 cannot stand on a logarithmic axis"},
		{&Scatter{Error: 1, Clouds: []Cloud{{"c", []float64{1}, []float64{1}}}}, "scatter: guide lines at a relative error of 1"},
	} {
		if _, err := Encode(c.f, "svg", 0, 0); err == nil || err.Error() != c.want {
			t.Errorf("%#v: %v, want %s", c.f, err, c.want)
		}
	}
}

// TestOddFigures: unusual but sound numbers draw.
func TestOddFigures(t *testing.T) {
	for _, f := range []Figure{
		&Bars{Groups: []string{"a"}, Series: []string{"s"}, Values: [][]float64{{0}}},
		&Bars{Groups: []string{"a"}, Series: []string{"s"}, Values: [][]float64{{math.NaN()}}, Log: true},
		&Bars{Groups: []string{"a"}, Series: []string{"s"}, Values: [][]float64{{math.NaN()}}, Baseline: "s"},
		&Curves{Lines: []Curve{{Name: "l", X: []float64{0}, Y: []float64{0}}}},
		&Curves{Lines: []Curve{{Name: "l", X: []float64{-3, 5, -3}, Y: []float64{-1, -2, 4}}}},
		&Curves{LogX: true, LogY: true, Lines: []Curve{{Name: "l", X: []float64{7}, Y: []float64{1e-9}}}},
		&Curves{LogY: true, Lines: []Curve{{Name: "l", X: []float64{1, 2}, Y: []float64{1e-300, 1e300}}}},
		&Roofline{Points: []RoofPoint{{"p", math.Inf(1), 1}}, Ceilings: []Ceiling{{"c", 1}}, Slopes: []Slope{{"s", 1}}},
	} {
		if _, err := Encode(f, "svg", 0, 0); err != nil {
			t.Errorf("%#v: %v", f, err)
		}
	}
}

func TestResults(t *testing.T) {
	results := exampleResults("sm_75", "sm_80")
	if _, err := WarpStateStacks("t", []sim.Result{{Kernel: "k"}}); err == nil || err.Error() != "k has no warp-cycles" {
		t.Error(err)
	}
	p, err := PipeBars("t", results)
	if err != nil || strings.Join(p.Groups, " ") != "issue alu fma xu lsu adu uniform" || math.Abs(p.Values[0][1]-93) > 1e-9 {
		t.Errorf("%+v, %v", p, err)
	}
	r := sim.Result{Cycles: 100, WarpInstructions: 50, ThreadInstructions: 1200,
		Classes: []sim.ClassCount{{Pipe: "alu", Insts: 20}, {Pipe: "lsu", Insts: 30}}}
	r.Memory.DRAMBytes, r.Memory.L2Sectors = 240, 30
	if pt := PointOf(&r, DRAM, mathClass); pt.Ops != 4.8 || pt.Intensity != 2 {
		t.Errorf("%+v", pt)
	}
	if pt := PointOf(&r, L2, mathClass); pt.Intensity != 0.5 {
		t.Errorf("%+v", pt)
	}
}

func TestCompact(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want string
	}{{0, "0"}, {math.Copysign(0, -1), "0"}, {1, "1"}, {0.5, "0.5"}, {0.125, "0.125"}, {0.01234, "0.0123"}, {1234, "1234"}, {9990, "9990"}, {12345, "12.3k"},
		{99999, "100k"}, {1e6, "1M"}, {2.5e9, "2.5G"}, {-15000, "-15k"}, {99.96, "100"}, {9.996, "10"}, {1e-5, "1e-05"}, {64, "64"}} {
		if got := compact(c.v); got != c.want {
			t.Errorf("compact(%g) = %s, want %s", c.v, got, c.want)
		}
	}
}

// TestLooks: no two series and no two warp states look the same.
func TestLooks(t *testing.T) {
	seen := map[area]string{}
	for i := range maxSeries {
		if old, ok := seen[areaOf(i)]; ok {
			t.Errorf("series %d looks like %s", i, old)
		}
		seen[areaOf(i)] = string(rune('a' + i))
	}
	states := map[area]string{}
	for s := range sim.NumWarpStates {
		a, ok := stateAreas[s.String()]
		if old, twice := states[a]; !ok || twice {
			t.Errorf("%s has no look of its own (%s)", s, old)
		}
		states[a] = s.String()
	}
}

// TestPictureStyles: each style changes the colours and nothing else; an unknown one is refused.
func TestPictureStyles(t *testing.T) {
	f := exampleFigures()["tornado"]
	light, err := Encode(f, "svg", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	colour := regexp.MustCompile(`#[0-9A-Fa-f]{6}`)
	paint := regexp.MustCompile(`style="[^"]*"`) // black is left out of it
	seen := map[string]bool{string(light): true}
	for _, style := range Looks()[1:] {
		got, err := EncodeLook(f, "svg", 0, 0, style)
		if err != nil {
			t.Fatal(err)
		}
		if seen[string(got)] {
			t.Errorf("%s looks like another style", style)
		}
		seen[string(got)] = true
		if a, b := paint.ReplaceAllString(string(light), ""), paint.ReplaceAllString(string(got), ""); a != b {
			t.Errorf("%s changes more than colours", style)
		}
		for _, c := range colour.FindAllString(string(got), -1) {
			if style == "print" && (c[1:3] != c[3:5] || c[3:5] != c[5:7]) {
				t.Errorf("print has the colour %s", c)
			}
		}
	}
	if _, err := EncodeLook(f, "svg", 0, 0, "neon"); err == nil || !strings.Contains(err.Error(), `picture style "neon": use one of light, dark, print`) {
		t.Errorf("style neon: %v", err)
	}
}

// TestCrossings: where contour lines cross a square, also a saddle.
func TestCrossings(t *testing.T) {
	for _, c := range []struct {
		corners [4]float64
		pieces  int
	}{{[4]float64{0, 0, 0, 0}, 0}, {[4]float64{2, 2, 2, 2}, 0}, {[4]float64{0, 2, 2, 0}, 1}, {[4]float64{0, 0, 2, 0}, 1}, {[4]float64{0, 2, 0, 2}, 2}, {[4]float64{2, 0, 2, 0}, 2}, {[4]float64{math.NaN(), 0, 2, 2}, 0}} {
		got := crossings(c.corners[0], c.corners[1], c.corners[2], c.corners[3], 1)
		if len(got) != c.pieces {
			t.Errorf("%v: %v", c.corners, got)
		}
		for _, p := range got {
			for _, v := range p {
				if v < 0 || v > 1 {
					t.Errorf("%v: %v lies outside", c.corners, p)
				}
			}
		}
	}
	if got := crossings(0, 2, 2, 0, 0.5); got[0] != [4]float64{0.25, 0, 0.25, 1} {
		t.Errorf("a quarter of the way: %v", got)
	}
}

// TestLogBars: on the logarithmic axis of bars over three decades the lowest bar has a height, equal ratios are equal steps, and the highest leaves air.
func TestLogBars(t *testing.T) {
	b := &Bars{Values: [][]float64{{2, 20, math.NaN(), 2000}}, Log: true}
	y := b.axis(2000, 0.2)
	if low, high := y.norm(2), y.norm(2000); low < 0.05 || math.Abs(high-0.8) > 1e-9 || len(y.ticks) < 3 {
		t.Errorf("lowest bar %.3f, highest %.3f of the height, %d ticks", low, high, len(y.ticks))
	}
	if a, b := y.norm(20)-y.norm(2), y.norm(2000)-y.norm(200); math.Abs(a-b) > 1e-9 {
		t.Errorf("a decade is %.3f and %.3f high", a, b)
	}
}

// TestLevels: the lines of equal value of a heat map run from border to border, half a cell beyond the outermost centres, and end at
// missing cells.
func TestLevels(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name  string
		z     [][]float64
		level float64
		want  [][4]float64
	}{
		{"upright", [][]float64{{1, 3}}, 2, [][4]float64{{0.5, -0.5, 0.5, 0}, {0.5, 0, 0.5, 0.5}}},
		{"level", [][]float64{{1}, {2}}, 1.25, [][4]float64{{0, 0.25, -0.5, 0.25}, {0.5, 0.25, 0, 0.25}}},
		{"none", [][]float64{{1, 3}}, 4, nil},
		{"beside a missing cell", [][]float64{{1, nan}, {1, 3}}, 2, [][4]float64{{0.5, 1, 0.5, 1.5}}},
	} {
		h := &HeatMap{X: make([]float64, len(c.z[0])), Y: make([]float64, len(c.z)), Z: c.z}
		if got := h.level(c.level); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
