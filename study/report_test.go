package study

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sarchlab/smsim/sim"
	"github.com/sarchlab/smsim/study/page"
	"github.com/sarchlab/smsim/workloads"
)

var update = flag.Bool("update", false, "rewrite the golden reports")

// made is a run with hand-made numbers: the reports under test depend on nothing else.
func made(arch, variant, group string, x float64, launch string, cycles, insts uint64, warps float64, lim sim.Limiter, alu, fma float64) Run {
	r := Run{Study: "pair", Variant: variant, Launch: launch, Title: "launch " + launch, Group: group, X: &x, SMs: 10, Blocks: "sm-share",
		Work: 4096, WorkUnit: "products", WorkCycle: 4096 / float64(cycles), CodeInsts: 100, CodeBytes: 1600}
	r.Result = sim.Result{Kernel: "k_" + variant, Variant: variant, Arch: arch, Board: "Board " + arch, Source: "dir/pair.ptx",
		Grid: [3]uint32{20, 1, 1}, Block: [3]uint32{128, 1, 1}, BlocksRun: 2, SharedBytes: 1024, Registers: 32, ControlOrigin: "computed",
		Cycles: cycles, TimeUS: float64(cycles) / 1500, ClockMHz: 1500, WarpInstructions: insts, ThreadInstructions: 32 * insts,
		IPC: float64(insts) / float64(cycles), Limiter: lim, Confidence: "derived", Check: "passed", CheckNote: "all fine",
		Notes: []string{"pair.ptx is written for sm_99; k_" + variant + " was lowered to " + arch}}
	r.Pipes = []sim.PipeUse{
		{Name: "alu", Insts: insts / 2, BusyCycles: uint64(alu * 4 * float64(cycles)), Instances: 4, Utilization: alu},
		{Name: "fma", Insts: insts / 4, BusyCycles: uint64(fma * 4 * float64(cycles)), Instances: 4, Utilization: fma},
		{Name: "lsu", Instances: 1},
	}
	r.Classes = []sim.ClassCount{{Class: "iadd3", Pipe: "alu", Insts: insts / 2}, {Class: "imad", Pipe: "fma", Insts: insts / 4}, {Class: "ldg", Pipe: "lsu", Insts: insts / 4}}
	total := uint64(warps * float64(cycles))
	state := func(s sim.WarpState, share float64) sim.StateShare {
		return sim.StateShare{State: s.String(), WarpCycles: uint64(share * float64(total)), Share: share, PerIssue: share * float64(total) / float64(insts)}
	}
	r.WarpStates = []sim.StateShare{state(sim.Selected, 0.2), state(sim.NotSelected, 0), state(sim.Wait, 0.5), state(sim.LongScoreboard, 0.3)}
	r.IssueSlots = sim.IssueSlots{Total: 4 * cycles, Issued: insts, NoEligible: 4*cycles - insts, Utilization: float64(insts) / float64(4*cycles)}
	r.Occupancy = sim.Occupancy{TheoreticalWarps: 48, TheoreticalBlocks: 12, MaxWarps: 64, Theoretical: 0.75, AchievedWarps: warps, Achieved: warps / 64, Limiter: "registers"}
	r.Memory = sim.MemoryUse{GlobalLoads: 100, GlobalStores: 10, SectorsPerRequest: 4, L1Sectors: 440, L1SectorHits: 220, L1HitRate: 0.5, L2Sectors: 220, L2SectorHits: 110, L2HitRate: 0.5, DRAMBytes: 3520}
	r.Hot = []sim.HotInst{{Text: "LDG.E R4, [R2.64]", Executed: 100, WarpCycles: total / 4, Share: 0.25, TopStall: "long_scoreboard", SourceLine: "dir/pair.ptx:31 (src/pair.cu:7)"}}
	r.Outputs = []Output{{Name: "out", Bytes: 4096, FNV1a64: "0123456789abcdef", First: []uint32{1, 2, 3, 0xffffffff}}}
	return r
}

// madeReport has two variants on two architectures with two launches: with few warps half of the saved instructions
// is lost to latency, on a full SM the saving is realised and the pipe is the limit.
func madeReport() *Report {
	lat := sim.Limiter{Kind: sim.LimitLatency, What: "wait", Sentence: "latency: 50 % of warp-cycles in wait"}
	alu := sim.Limiter{Kind: sim.LimitPipe, What: "alu", Sentence: "ALU pipe: busy in 92 % of the cycles"}
	mem := sim.Limiter{Kind: sim.LimitMemory, What: "L2 latency", Sentence: "memory: L2"}
	rep := &Report{Schema: 1, Study: "pair", Source: "pair.yaml", Question: "Does fast help?", IsStudy: true, XAxis: "columns a thread", WorkUnit: "products"}
	for _, a := range []string{"sm_10", "sm_20"} {
		rep.Runs = append(rep.Runs,
			made(a, "slow", "plain", 1, "few", 12000, 12000, 4, lat, 0.3, 0.1),
			made(a, "fast", "quick", 1, "few", 9000, 6000, 4, lat, 0.2, 0.1),
			made(a, "slow2", "plain", 2, "few", 9000, 9000, 4, lat, 0.3, 0.1),
			made(a, "fast2", "quick", 2, "few", 9000, 4500, 4, lat, 0.2, 0.1),
			made(a, "slow", "plain", 1, "full", 4000, 12000, 60, alu, 0.92, 0.4),
			made(a, "fast", "quick", 1, "full", 2000, 6000, 60, alu, 0.86, 0.5),
			made(a, "slow2", "plain", 2, "full", 3000, 9000, 60, alu, 0.92, 0.4),
			made(a, "fast2", "quick", 2, "full", 2800, 4500, 60, mem, 0.4, 0.3))
	}
	rep.Comparisons = Compare(rep, []workloads.Comparison{{Baseline: "slow", Variant: "fast", Label: "1 column"}, {Baseline: "slow2", Variant: "fast2", Label: "2 columns"}})
	rep.Answer = Answer(rep)
	return rep
}

// TestGoldenReports compares every format with its golden file; -update rewrites them.
func TestGoldenReports(t *testing.T) {
	study := madeReport()
	single := &Report{Schema: 1, Source: "w.yaml", Runs: study.Runs[:1]}
	two := &Report{Schema: 1, Source: "w.yaml", Runs: []Run{study.Runs[0], study.Runs[8]}}
	two.Runs[1].Check, two.Runs[1].CheckNote = "failed", "block 3 differs"
	for _, c := range []struct {
		file, format string
		rep          *Report
	}{
		{"study.txt", "text", madeReport()},
		{"study.json", "json", madeReport()},
		{"study.csv", "csv", madeReport()},
		{"run.txt", "text", single},
		{"two.txt", "text", two},
	} {
		t.Run(c.file, func(t *testing.T) {
			var b bytes.Buffer
			if err := Write(&b, c.rep, c.format); err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", "golden", c.file)
			if *update {
				if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(b.Bytes(), want) {
				t.Errorf("differs from %s (go test ./study -run Golden -update rewrites it):\n%s", golden, b.String())
			}
			if c.format == "text" {
				for line := range strings.SplitSeq(b.String(), "\n") {
					if n := utf8.RuneCountInString(line); n > page.Width {
						t.Errorf("%d columns: %s", n, line)
					}
				}
			}
		})
	}
}

// TestManyLaunchesFit keeps a study with long names and nine launches within the width, without losing a launch.
func TestManyLaunchesFit(t *testing.T) {
	rep := &Report{Schema: 1, Study: "wide", IsStudy: true, WorkUnit: "products"}
	lim := sim.Limiter{Kind: sim.LimitLatency, What: "short_scoreboard", Sentence: "latency"}
	long := "a_variant_with_a_rather_long_name"
	for i := range 9 {
		launch := strings.Repeat("launch", 4) + string(rune('1'+i))
		rep.Runs = append(rep.Runs, made("sm_120", long, "", 1, launch, 123456789, 12345678, 4, lim, 0.3, 0.1),
			made("sm_120", long+"2", "", 1, launch, 12345678, 1234567, 4, lim, 0.3, 0.1))
	}
	rep.Comparisons = Compare(rep, []workloads.Comparison{{Baseline: long, Variant: long + "2"}})
	rep.Answer = Answer(rep)
	var b bytes.Buffer
	if err := WriteText(&b, rep); err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(b.String(), "\n") {
		if n := utf8.RuneCountInString(line); n > page.Width {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if n := strings.Count(b.String(), "123 456 789"); n != 9 {
		t.Errorf("the cycles of %d of 9 launches are shown:\n%s", n, b.String())
	}
}

// TestCompare checks the arithmetic of a comparison and that its factors agree.
func TestCompare(t *testing.T) {
	rep := madeReport()
	c := rep.Comparisons[0]
	if c.Arch != "sm_10" || c.Launch != "few" || c.Baseline != "slow" {
		t.Fatalf("first comparison is %+v", c)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if got < want*0.9999 || got > want*1.0001 {
			t.Errorf("%s is %g, want %g", what, got, want)
		}
	}
	near("speed-up", c.SpeedUp, 12000.0/9000)
	near("instruction ratio", c.InstructionRatio, 2)
	near("product of the ratios", c.InstructionRatio*c.IPCRatio, c.SpeedUp)

	// Twice the work in the same time is twice the speed.
	a, b := rep.Runs[0], rep.Runs[1]
	b.Work *= 2
	near("speed-up with twice the work", compareRuns(&a, &b, "").SpeedUp, 2*12000.0/9000)
}

// TestAnswerFollowsNumbers turns one number and expects another sentence.
func TestAnswerFollowsNumbers(t *testing.T) {
	text := func(rep *Report) string { return strings.Join(Answer(rep), "\n") }
	rep := madeReport()
	got := text(rep)
	for _, want := range []string{
		"1 column 1.33x to 2.00x",
		"because IPC falls from 1.00 to 0.67; both are limited by latency (wait)",
		"the limit of plain moves from latency (wait) to alu pipe 92 %",
		"2 columns with full (15.0 warps a scheduler): 1.07x from 2.00x fewer warp-instructions, because IPC falls from 3.00 to 1.61; plain is limited by alu pipe 92 %, quick by L2 latency",
		"From 1 to 2 columns a thread with full, products a cycle grow by 1.33x for plain and 0.71x for quick",
	} {
		if !strings.Contains(strings.ToLower(got), strings.ToLower(want)) {
			t.Errorf("answer lacks %q:\n%s", want, got)
		}
	}
	for i := range rep.Runs {
		if rep.Runs[i].Launch == "full" && rep.Runs[i].Variant == "fast" {
			rep.Runs[i].Cycles = 4000
			rep.Runs[i].IPC = 1.5
		}
	}
	rep.Comparisons = Compare(rep, []workloads.Comparison{{Baseline: "slow", Variant: "fast", Label: "1 column"}})
	if got := text(rep); !strings.Contains(got, "no gain (1.00x)") {
		t.Errorf("answer does not say that there is no gain:\n%s", got)
	}
}
