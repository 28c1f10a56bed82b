package isatable

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/lower"
	"github.com/sarchlab/smsim/isa/ptx"
	"github.com/sarchlab/smsim/sm"
	"github.com/sarchlab/smsim/study/conform"
)

// Simulated are the cycles of loops on the simulator, counted as the hardware's were.
type Simulated struct {
	Latency  float64 `json:"latency"`                      // cycles of a dependent execution of one warp
	Interval float64 `json:"cycles_per_warp_sm,omitempty"` // cycles of the SM for each warp-wide execution, 16 warps with 4 chains each; 0: these do not fit on the SM
}

// ResultsPerCycle is the throughput in results a cycle and SM.
func ResultsPerCycle(interval float64) float64 {
	if interval <= 0 {
		return 0
	}
	return 32 / interval
}

// Probe says how the executions of a timing loop stand to each other.
type Probe uint8

const (
	// Apart keeps the compiler from seeing that the executions have operands in common: none is folded into another, and
	// nothing of one is computed before the loop. The times are the instruction's own.
	Apart Probe = iota
	// Chained keeps executions apart whose first operand is the last one's result; what depends on the other operands only
	// is computed once, as compilers do in the loops of microbenchmarks.
	Chained
	// AsMeasured leaves the loop to the compiler, as the loops that ran on the GPU were: their clock starts while the
	// operands are still on their way, which adds the rest of a load's latency to all executions together.
	AsMeasured
)

// Simulate times the form in the two loops of the hardware measurement: one warp with a chain through the first
// operand, and 16 warps with four chains each. The time is the clock from the first warp's start to the last one's end.
func Simulate(f *Form, a *configs.Arch, probe Probe) (*Simulated, error) {
	if f.Untimed {
		return nil, fmt.Errorf("%s has no timing loop", f.Name)
	}
	latency, throughput := f.loops(a, probe)
	if probe == AsMeasured {
		l, err := f.time(a, latency, probe)
		if err != nil {
			return nil, err
		}
		t, err := f.time(a, throughput, probe)
		return &Simulated{l.cycles / latencyRuns, t.cycles / throughputRuns}, err
	}
	l, err := f.each(a, latency, probe)
	if err != nil {
		return nil, err
	}
	t, err := f.each(a, throughput, probe)
	return &Simulated{l, t}, err
}

// loops are the shapes of the two loops.
func (f *Form) loops(a *configs.Arch, probe Probe) (latency, throughput loop) {
	latency = loop{latencyBody, latencyLoops, 1, 1}
	throughput = loop{throughputBody, throughputLoops, throughputChains, throughputWarps}
	if probe == AsMeasured {
		return latency, throughput
	}
	// As much as stays in the first instruction cache, so that the loop's own instructions weigh little.
	const cached = 192 // instructions
	n := max(1, len(Lower(f, a).Code))
	latency.body = min(latency.body, max(1, cached/2/n))
	throughput.body = max(1, cached/2/n/throughputChains)
	throughput.loops = max(2, throughputBody*throughputLoops/throughput.body)
	return latency, throughput
}

// each is the cycles of one execution: of a loop with twice the executions, less those of a loop with once, so that the
// loop's own instructions do not count. Where the warps come to the branch together the loops' ends are not equally hidden;
// an execution then takes as long as the pipe, or the issue slots, that it keeps busy longest.
func (f *Form) each(a *configs.Arch, shape loop, probe Probe) (float64, error) {
	shape.loops = max(1, shape.loops/2)
	once, err := f.time(a, shape, probe)
	if err != nil {
		return 0, err
	}
	runs := shape.body * shape.loops * shape.chains * shape.warps
	shape.body *= 2
	twice, err := f.time(a, shape, probe)
	if err != nil {
		return 0, err
	}
	most := twice.cycles - once.cycles
	for name, busy := range twice.busy {
		most = max(most, busy-once.busy[name])
	}
	return most / float64(runs), nil
}

// timed is how long a timing loop took, cycles.
type timed struct {
	cycles float64            // from the first warp's start to the last one's end
	busy   map[string]float64 // of each pipe, the average of its instances, and of the issue slots
}

// time runs a timing loop.
func (f *Form) time(a *configs.Arch, shape loop, probe Probe) (timed, error) {
	mod, err := ptx.Parse(f.Name, []byte(f.loopKernel(shape, probe)))
	if err != nil {
		return timed{}, err
	}
	p, err := lower.Compile(mod, "", a.Target(), lower.Options{OpaqueMoves: probe != AsMeasured})
	if err != nil {
		return timed{}, err
	}
	return run(p, a, shape.warps)
}

// loop is the shape of a timing kernel.
type loop struct{ body, loops, chains, warps int }

// loopKernel is a kernel t(A, B, C, D, T): operands by thread from A, B, C, the result to D, start and end clock of each
// thread to T.
func (f *Form) loopKernel(l loop, probe Probe) string {
	w := loopWriter{form: f, c: f.conform(), loop: l, probe: probe}
	for _, s := range f.symbols()[1:] {
		if s != "e" {
			w.letters = append(w.letters, s)
		}
	}
	w.chained = len(w.letters) > 0 && w.letters[0] == "a"
	w.p(".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry t(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pd, .param .u64 pt)\n{")
	w.registers()
	w.operands()
	w.p("bar.sync 0;\nmov.u64 %%t0, %%clock64;\nLOOP:")
	if probe != AsMeasured {
		w.p(".pragma \"nounroll\";")
	}
	for range l.body {
		for k := range l.chains {
			w.execution(k)
		}
	}
	w.p("add.u32 %%n, %%n, 1;\nsetp.lt.u32 %%more, %%n, %d;\n@%%more bra LOOP;\nmov.u64 %%t1, %%clock64;\nmov.u64 %%acc, 0;", l.loops)
	for k := range l.chains {
		w.p("%s xor.b64 %%acc, %%acc, %%o;", widen64("%o", fmt.Sprintf("%%d%d", k), w.c.Result))
		if w.c.Second != "" {
			w.p("%s xor.b64 %%acc, %%acc, %%o;", widen64("%o", fmt.Sprintf("%%e%d", k), w.c.Second))
		}
	}
	w.p("add.u64 %%pd, %%pd, %%off; st.global.u64 [%%pd], %%acc;\nmul.wide.u32 %%off, %%i, 16; add.u64 %%pt, %%pt, %%off; st.global.u64 [%%pt], %%t0; st.global.u64 [%%pt+8], %%t1;\nret;\n}")
	return w.text.String()
}

// loopWriter writes a timing kernel.
type loopWriter struct {
	form *Form
	c    conform.Form // with the types of operands and results
	loop
	probe   Probe
	letters []string // operands: a, b, c
	chained bool     // each execution's a is the result before
	text    strings.Builder
}

func (w *loopWriter) p(format string, args ...any) { fmt.Fprintf(&w.text, format+"\n", args...) }

// registers declares the registers: d, e and a of each chain, one b and c.
func (w *loopWriter) registers() {
	w.p(".reg .b64 %%pa, %%pb, %%pc, %%pd, %%pt, %%off, %%ra, %%rb, %%rc, %%rj, %%o, %%t0, %%t1, %%acc;\n.reg .b32 %%i, %%n, %%w;\n.reg .pred %%more;")
	for k := range w.chains {
		w.p(".reg .%s %%d%d;", conform.Register(w.c.Result), k)
		if w.c.Second != "" {
			w.p(".reg .%s %%e%d;", conform.Register(w.c.Second), k)
		}
		if w.chained {
			w.p(".reg .%s %%a%d;", conform.Register(w.c.Operands[0]), k)
		}
	}
	for i, s := range w.letters {
		if s != "a" {
			w.p(".reg .%s %%%s;", conform.Register(w.c.Operands[i]), s)
		}
	}
}

// operands loads the operands and gives each chain a value to start from.
func (w *loopWriter) operands() {
	w.p("ld.param.u64 %%pa, [pa]; ld.param.u64 %%pb, [pb]; ld.param.u64 %%pc, [pc]; ld.param.u64 %%pd, [pd]; ld.param.u64 %%pt, [pt];")
	w.p("mov.u32 %%i, %%tid.x; mul.wide.u32 %%off, %%i, 8; mov.u32 %%n, 0;")
	for _, s := range []string{"a", "b", "c"} {
		w.p("add.u64 %%p%s, %%p%s, %%off; ld.global.u64 %%r%s, [%%p%s];", s, s, s, s)
	}
	for i, s := range w.letters {
		if s != "a" {
			w.p("%s", convert("%"+s, w.c.Operands[i], "%r"+s))
		}
	}
	for k := range w.chains {
		// Chains start from different values, so that no two compute the same.
		w.p("add.u64 %%rj, %%ra, %d;", uint64(k)*2654435761)
		if w.chained {
			w.p("%s", convert(fmt.Sprintf("%%a%d", k), w.c.Operands[0], "%rj"))
		}
		w.p("%s", convert(fmt.Sprintf("%%d%d", k), w.c.Result, "%rj"))
	}
	if w.probe != AsMeasured {
		// A store that never happens but needs all operands: the clock starts when they have arrived.
		w.p("xor.b64 %%acc, %%ra, %%rb; xor.b64 %%acc, %%acc, %%rc; setp.eq.u64 %%more, %%acc, 0x9e3779b97f4a7c15; @%%more st.global.u64 [%%pd], %%acc;")
	}
}

// execution is one execution of the form in chain k, with moves that keep it apart from the others (see Probe).
func (w *loopWriter) execution(k int) {
	text := w.form.PTX
	for _, s := range []string{"d", "e", "a"} {
		text = strings.ReplaceAll(text, "%"+s+" ", fmt.Sprintf("%%%s%d ", s, k))
		for _, end := range []string{",", ";", ".", "]", "}", "|"} {
			text = strings.ReplaceAll(text, "%"+s+end, fmt.Sprintf("%%%s%d%s", s, k, end))
		}
	}
	opaque := func(name, typ string) { text += fmt.Sprintf(" mov.%s %%%s, %%%s;", moveType(typ), name, name) }
	if w.probe != AsMeasured {
		if conform.Register(w.c.Result) == "b64" { // the chain takes its low half alone
			opaque(fmt.Sprintf("d%d", k), w.c.Result)
		}
		if w.c.Second != "" {
			opaque(fmt.Sprintf("e%d", k), w.c.Second)
		}
	}
	if w.chained {
		text += " " + feed(fmt.Sprintf("%%a%d", k), w.c.Operands[0], fmt.Sprintf("%%d%d", k), w.c.Result)
	}
	if w.probe != AsMeasured {
		for i, s := range w.letters {
			switch {
			case s == "a":
				opaque(fmt.Sprintf("a%d", k), w.c.Operands[i])
			case w.probe != Chained:
				opaque(s, w.c.Operands[i])
			}
		}
	}
	w.p("%s", text)
}

// moveType is the type of a move between two such registers.
func moveType(t string) string { return strings.Replace(conform.Register(t), "f32", "b32", 1) }

// convert takes the low bits of a 64-bit value.
func convert(to, typ, from string) string {
	switch conform.Register(typ) {
	case "b64":
		return fmt.Sprintf("mov.b64 %s, %s;", to, from)
	case "b16":
		return fmt.Sprintf("cvt.u16.u64 %s, %s;", to, from)
	case "f32":
		return fmt.Sprintf("cvt.u32.u64 %%w, %s; mov.b32 %s, %%w;", from, to)
	}
	return fmt.Sprintf("cvt.u32.u64 %s, %s;", to, from)
}

// feed gives a result to the operand of the next execution, by a move where the widths agree.
func feed(to, toType, from, fromType string) string {
	a, b := conform.Register(toType), conform.Register(fromType)
	size := map[string]string{"b64": "b64", "b32": "b32", "f32": "b32", "b16": "b16"}
	if size[a] == size[b] {
		return fmt.Sprintf("mov.%s %s, %s;", size[a], to, from)
	}
	unsigned := func(r string) string { return "u" + size[r][1:] }
	if a == "f32" || b == "f32" {
		other := "b16"
		if a == "b64" || b == "b64" {
			other = "b64"
		}
		if a == "f32" {
			return fmt.Sprintf("cvt.u32.u%s %%w, %s; mov.b32 %s, %%w;", other[1:], from, to)
		}
		return fmt.Sprintf("mov.b32 %%w, %s; cvt.u%s.u32 %s, %%w;", from, other[1:], to)
	}
	return fmt.Sprintf("cvt.%s.%s %s, %s;", unsigned(a), unsigned(b), to, from)
}

func widen64(to, from, typ string) string {
	switch conform.Register(typ) {
	case "b64":
		return fmt.Sprintf("mov.b64 %s, %s;", to, from)
	case "f32":
		return fmt.Sprintf("mov.b32 %%w, %s; cvt.u64.u32 %s, %%w;", from, to)
	case "b16":
		return fmt.Sprintf("cvt.u64.u16 %s, %s;", to, from)
	}
	return fmt.Sprintf("cvt.u64.u32 %s, %s;", to, from)
}

// run executes one block.
func run(p *isa.Program, a *configs.Arch, warps int) (timed, error) {
	threads := 32 * warps
	mem := isa.NewMemory()
	var params []byte
	var clocks *isa.Buffer
	x := uint32(1)
	for i, bytes := range []int{8, 8, 8, 8, 16} {
		b := mem.Alloc(string("ABCDT"[i]), uint64(bytes*threads))
		if i < 3 {
			for k := 0; k < len(b.Data); k += 4 {
				x = x*1664525 + 1013904223
				binary.LittleEndian.PutUint32(b.Data[k:], x)
			}
		}
		clocks = b
		params = binary.LittleEndian.AppendUint64(params, b.Addr)
	}
	l := &isa.Launch{Grid: isa.Dim3{X: 1, Y: 1, Z: 1}, Block: isa.Dim3{X: uint32(threads), Y: 1, Z: 1}, Params: params, Mem: mem, NumSMs: 1}
	res, err := sm.Run(a, p, l, sm.Options{MaxCycles: 20_000_000})
	if err != nil {
		return timed{}, err
	}
	slots := float64(a.SM.SubPartitions*a.SM.IssueWidth) / float64(a.SM.IssueInterval)
	out := timed{busy: map[string]float64{"issue": float64(res.WarpInstructions) / slots}}
	for _, u := range res.Pipes {
		out.busy[u.Name] = float64(u.BusyCycles) / float64(max(1, u.Instances))
	}
	first, last := ^uint64(0), uint64(0)
	for t := range threads {
		first = min(first, binary.LittleEndian.Uint64(clocks.Data[16*t:]))
		last = max(last, binary.LittleEndian.Uint64(clocks.Data[16*t+8:]))
	}
	out.cycles = float64(last - first)
	return out, nil
}
