package plots

import (
	"fmt"
	"math"
	"slices"

	"github.com/sarchlab/smsim/sim"
)

// exampleResults makes six variants on several architectures with invented but plausible numbers.
func exampleResults(archs ...string) []sim.Result {
	var out []sim.Result
	for a, arch := range archs {
		for v, name := range []string{"imad 1 column", "imad 2 columns", "imad 4 columns", "dp4a 1 column", "dp4a 2 columns", "dp4a 4 columns"} {
			f := 1 + 0.35*float64(a) + 0.6*float64(v%3)
			r := sim.Result{Kernel: "ncc", Variant: name, Arch: arch, Cycles: uint64(200000 / f), WarpInstructions: 400000,
				ThreadInstructions: 400000 * 31, IPC: 400000 / (200000 / f)}
			if v >= 3 {
				r.Cycles = r.Cycles * 10 / 17
				r.IPC /= 1.2
			}
			shares := map[sim.WarpState]float64{sim.Selected: 0.16, sim.NotSelected: 0.1 + 0.02*float64(v), sim.Wait: 0.2,
				sim.MathPipeThrottle: 0.22 - 0.03*float64(v), sim.LongScoreboard: 0.18, sim.ShortScoreboard: 0.05,
				sim.NoInstruction: 0.004, sim.DispatchStall: 0.03, sim.LGThrottle: 0.002 * float64(v), sim.BranchResolving: 0.011}
			sum := 0.0
			for _, s := range shares {
				sum += math.Round(s * 1e6)
			}
			for s := range sim.NumWarpStates {
				w := math.Round(shares[s] * 1e6)
				if s == sim.Barrier {
					w = 1e6 - sum
				}
				r.WarpStates = append(r.WarpStates, sim.StateShare{State: s.String(), WarpCycles: uint64(w), Share: w / 1e6, PerIssue: 9 * w / 1e6})
			}
			r.IssueSlots = sim.IssueSlots{Utilization: 0.55 + 0.05*float64(v)}
			for i, p := range []string{"alu", "fma", "fp64", "xu", "lsu", "adu", "uniform"} {
				u := []float64{0.93, 0.6, 0, 0.02, 0.35, 0.06, 0.11}[i] * (1 - 0.09*float64(v))
				r.Pipes = append(r.Pipes, sim.PipeUse{Name: p, BusyCycles: uint64(u * 1e6), Utilization: u, Instances: 4})
			}
			r.Classes = []sim.ClassCount{{Class: "IMAD", Pipe: "fma", Insts: 80000}, {Class: "LOP3", Pipe: "alu", Insts: 70000}, {Class: "LDG", Pipe: "lsu", Insts: 60000}}
			r.Memory.DRAMBytes = uint64(3e5 * (1 + float64(v)*0.7))
			r.Memory.L2Sectors = r.Memory.DRAMBytes / 8
			r.Occupancy.AchievedWarps = float64(uint(8) << (v % 3))
			out = append(out, r)
		}
	}
	return out
}

func mathClass(c sim.ClassCount) bool { return c.Pipe == "alu" || c.Pipe == "fma" }

// barsOf has a group of bars for each architecture and a series for each variant.
func barsOf(results []sim.Result, of func(*sim.Result) float64) *Bars {
	b := &Bars{XLabel: "architecture"}
	for i := range results {
		indexOf(&b.Series, results[i].Variant)
		indexOf(&b.Groups, results[i].Arch)
	}
	for range b.Series {
		b.Values = append(b.Values, slices.Repeat([]float64{math.NaN()}, len(b.Groups)))
	}
	for i := range results {
		b.Values[indexOf(&b.Series, results[i].Variant)][indexOf(&b.Groups, results[i].Arch)] = of(&results[i])
	}
	return b
}

// exampleFigures are the pictures of the golden test, by file name.
func exampleFigures() map[string]Figure {
	must := func(f Figure, err error) Figure {
		if err != nil {
			panic(err)
		}
		return f
	}
	seven := []string{"sm_61", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_120"}
	figures := map[string]Figure{}
	b := barsOf(exampleResults(seven...), func(r *sim.Result) float64 { return 4e7 / float64(r.Cycles) })
	b.Title, b.YLabel, b.Baseline = "NCC 16×16: what DP4A gives", "throughput (million columns/s)", "imad 1 column"
	b.Note = "256 threads a block, 4 blocks a SM; one SM at the board's clock"
	figures["throughput"] = b
	two := exampleResults("sm_75", "sm_90")
	two = append(append([]sim.Result{}, two[0], two[3]), two[6:8]...)
	small := barsOf(two, func(r *sim.Result) float64 { return r.IPC })
	small.Title, small.YLabel = "Two variants", "warp-instructions per cycle per SM"
	figures["throughput_few"] = small
	states, err := WarpStateStacks("NCC on sm_86: where the warps' cycles go", exampleResults("sm_86"))
	figures["warp_states"] = must(states, err)
	all, err := WarpStateStacks("NCC: where the warps' cycles go", exampleResults("sm_75", "sm_80", "sm_90"))
	figures["warp_states_many"] = must(all, err)
	pipes, err := PipeBars("NCC on sm_86: load of the pipes", exampleResults("sm_86"))
	figures["pipes"] = must(pipes, err)
	var lines []Curve
	for i, n := range []string{"imad 1 column", "imad 2 columns", "imad 4 columns", "dp4a 1 column", "dp4a 2 columns", "dp4a 4 columns"} {
		l := Curve{Name: n}
		for w := 1.0; w <= 64; w *= 2 {
			l.X = append(l.X, w)
			l.Y = append(l.Y, float64(i+2)*120*w/(w+10-float64(i)))
		}
		lines = append(lines, l)
	}
	figures["curves_warps"] = &Curves{Title: "NCC on sm_86: throughput against resident warps", XLabel: "resident warps per SM",
		YLabel: "throughput (thread operations per µs)", LogX: true, Lines: lines}
	figures["curves_band"] = &Curves{Title: "IPC over seeds", Note: "mean and 95 % confidence band of the mean over 5 seeds", XLabel: "branch_taken", YLabel: "IPC",
		Lines: []Curve{{Name: "collatz", X: []float64{20, 5, 10}, Y: []float64{1.1, 2, 1.6}, Low: []float64{1, 1.9, 1.3}, High: []float64{1.2, 2.1, 1.9}}}}
	figures["heat_two_sided"] = &HeatMap{Title: "Gain of DP4A", XLabel: "resident warps", YLabel: "independent chains a thread", ZLabel: "speed-up", Center: 1, Contours: []float64{1, 1.5},
		X: []float64{1, 2, 4, 8, 16}, Y: []float64{1, 2, 4}, Z: [][]float64{{0.8, 0.9, 1.1, 1.4, 2}, {0.9, 1, 1.3, 1.9, 2.5}, {1, 1.2, 1.6, 2.6, math.NaN()}}}
	figures["heat_one_sided"] = &HeatMap{Title: "IPC", XLabel: "latency", YLabel: "scheduler", ZLabel: "IPC", X: []float64{16, 32, 64, 128}, Y: []float64{0, 1}, YNames: []string{"gto", "lrr"},
		Z: [][]float64{{3, 2.2, 1.5, 0.7}, {2.8, 2.4, 1.7, 0.9}}, Contours: []float64{2}}
	figures["tornado"] = &Tornado{Title: "Sensitivity of a kernel", Note: "one step", XLabel: "change of the cycles (%)", Rows: []TornadoRow{
		{"lsu.l1_latency = 32", -8, 17, "16", "64"}, {"classes.idp.issue_interval = 2", -0.5, 6, "1", "3"}, {"lsu.l1_caches_global = true", 4, math.NaN(), "false", ""}}}
	figures["issues"] = &IssueGrid{Title: "Issue timeline", From: 95, To: 107, Rows: []IssueRow{
		{"p0 s00", issueStates("##wwMM#nnL.."), []string{"imad", "idp", "", "", "", "", "lop", "", "", "", "", ""}},
		{"p1 s01", issueStates("LLLLLL#wwww#"), []string{"", "", "", "", "", "", "iadd3", "", "", "", "", "bra"}}}}
	figures["curves_linear"] = &Curves{Title: "NCC: throughput against columns a thread", Note: "full SM", XLabel: "columns a thread",
		YLabel: "throughput (million columns/s)", Lines: []Curve{
			{Name: "imad sm_75", X: []float64{4, 1, 2}, Y: []float64{31, 15.2, 22.4}}, {Name: "dp4a sm_75", X: []float64{1, 2, 4}, Y: []float64{29, 41, 52}},
			{Name: "imad sm_90", X: []float64{1, 2, 4}, Y: []float64{22, 33, 47}}, {Name: "dp4a sm_90", X: []float64{1, 2, 4}, Y: []float64{47, 71, 98}}}}
	figures["curves_log"] = &Curves{Title: "Latency of a pointer chase", XLabel: "table (bytes)", YLabel: "latency (cycles)", LogX: true, LogY: true,
		Lines: []Curve{{Name: "sm_90", X: []float64{3000, 20000, 1e5, 3e5, 1e6, 3e7, 1e8, 3e8, 5e8, 7e8, 9e8, 1e9}, Y: []float64{33, 33, 34, 200, 230, 280, 300, 600, 700, 800, 900, 1000}}}}
	figures["roofline"] = RooflineOf("NCC on sm_86: integer roofline", exampleResults("sm_86"), DRAM, mathClass,
		[]Ceiling{{"issue", 128}, {"alu", 64}, {"fma (IMAD, IDP)", 64}, {"xu", 16}}, []Slope{{"L2", 64}, {"DRAM", 9.2}})
	roof := RooflineOf("NCC on three architectures", exampleResults("sm_75", "sm_80", "sm_90"), L2, mathClass,
		[]Ceiling{{"issue", 128}, {"alu", 64}, {"all but issue", 120}}, []Slope{{"L2", 48}})
	roof.Points = append(roof.Points[:12], RoofPoint{"registers only", math.Inf(1), 100})
	figures["roofline_many"] = roof
	scatter := &Scatter{Title: "Predicted against measured: forms on sm_90", Unit: "cycles", Error: 0.1}
	for i, n := range []string{"ALU (median 2 %)", "IMAD (median 4 %)", "memory (median 9 %)"} {
		cl := Cloud{Name: n}
		for k := range 40 - 12*i {
			m := 4 * math.Pow(1.15, float64(k+6*i))
			cl.Measured = append(cl.Measured, m)
			cl.Predicted = append(cl.Predicted, m*(1+0.05*float64(i+1)*math.Sin(float64(k*k+i))))
		}
		scatter.Clouds = append(scatter.Clouds, cl)
	}
	figures["scatter"] = scatter
	long := &Bars{Title: "Long names of groups", YLabel: "cycles", Series: []string{"one"}, Values: [][]float64{nil}}
	for i := range 14 {
		long.Groups = append(long.Groups, fmt.Sprintf("a kernel with a long name %d", i))
		long.Values[0] = append(long.Values[0], float64(i*i*400))
	}
	figures["bars_long_names"] = long
	return figures
}

// issueStates spells states: # selected, w wait, M pipe throttle, n not selected, L long scoreboard, . none.
func issueStates(s string) []sim.WarpState {
	named := map[byte]sim.WarpState{'#': sim.Selected, 'w': sim.Wait, 'M': sim.MathPipeThrottle, 'n': sim.NotSelected, 'L': sim.LongScoreboard, '.': sim.NumWarpStates}
	out := make([]sim.WarpState, len(s))
	for i := range s {
		out[i] = named[s[i]]
	}
	return out
}
