package study

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
	"github.com/sarchlab/smsim/workloads"
)

// Ranking orders boards by the time that one kernel with one launch takes on them.
type Ranking struct {
	Kernel  string       `json:"kernel"`
	Variant string       `json:"variant"`
	Launch  string       `json:"launch,omitempty"`
	Grid    [3]uint32    `json:"grid"`
	Block   [3]uint32    `json:"block"`
	Entries []RankEntry  `json:"ranking"`
	Cannot  []RankCannot `json:"cannot_run"`
	// Features are those of RankEntry.Features in a fixed order; only those that the kernel has.
	Features []string `json:"features"`

	used []feature
}

// RankEntry is one place of a ranking.
type RankEntry struct {
	Rank      int     `json:"rank"` // from 1
	Arch      string  `json:"arch"`
	Family    string  `json:"family"`
	Board     string  `json:"board"`
	SMs       int     `json:"sms"`
	ClockMHz  float64 `json:"clock_mhz"`
	Cycles    uint64  `json:"cycles"`
	TimeUS    float64 `json:"time_us"`
	Slower    float64 `json:"times_the_fastest"` // time over the fastest one's
	BlocksRun int     `json:"blocks_run"`        // simulated
	// BlocksShare is the busiest SM's share of the grid. Where it is more than BlocksRun, cycles and time are scaled up.
	BlocksShare int               `json:"blocks_of_one_sm"`
	Scaled      bool              `json:"scaled,omitempty"`
	Limiter     string            `json:"limiter"`
	Sentence    string            `json:"limiter_sentence"`
	Occupancy   float64           `json:"occupancy"`    // achieved
	Features    map[string]string `json:"instructions"` // DP4A, IMAD, DPX, ...: "native" or "emulated"
	Confidence  string            `json:"confidence"`
	Check       string            `json:"check"`
}

// RankCannot is an architecture that cannot run the kernel.
type RankCannot struct {
	Arch   string `json:"arch"`
	Board  string `json:"board"`
	Reason string `json:"reason"`
}

// A ranking simulates whole waves of resident blocks, at most mostWaves and at least leastBlocks blocks of one SM. The time
// of a longer share is scaled up, and the entry says so.
const (
	mostWaves   = 3
	leastBlocks = 12
)

// reference is the architecture whose machine code tells what a kernel could use.
const reference = "sm_90"

// Rank runs the cases of the plan on boards, each on the board's architecture with its SMs, clock and memory, and orders
// them by time. No boards: the plan's architectures, or all, each with its own board.
func Rank(plan *workloads.Plan, boards []string, opt Options) ([]*Ranking, error) {
	targets, err := rankTargets(plan, boards)
	if err != nil {
		return nil, &InputError{err}
	}
	// The kernels are compiled once for each architecture, also for several boards.
	comp, err := newCompiler(plan, nil)
	if err != nil {
		return nil, &InputError{err}
	}
	for _, t := range targets {
		comp.machines[t.arch.Name] = t
	}
	if comp.machines[reference] == nil {
		if comp.machines[reference], err = loadMachine(reference, &workloads.Settings{Overrides: plan.Overrides}); err != nil {
			return nil, &InputError{err}
		}
	}
	n := len(targets) * len(plan.Cases)
	runs, errs, idx := make([]*Run, n), make([]error, n), make([]int, n)
	for i := range idx {
		idx[i] = i
	}
	// Boards with few SMs take longest.
	slices.SortStableFunc(idx, func(a, b int) int { return targets[a/len(plan.Cases)].board.SMs - targets[b/len(plan.Cases)].board.SMs })
	var mu sync.Mutex
	var state Progress
	forEach(idx, opt.Workers, func(i int) {
		t, c := targets[i/len(plan.Cases)], plan.Cases[i%len(plan.Cases)]
		runs[i], errs[i] = comp.rankOne(t, c)
		mu.Lock()
		defer mu.Unlock()
		state.Done, state.Total = state.Done+1, n
		state.Share = float64(state.Done) / float64(n)
		if runs[i] != nil {
			state.WarpInsts += runs[i].WarpInstructions
		}
		if opt.Progress != nil {
			opt.Progress(state)
		}
	})
	var out []*Ranking
	for k, c := range plan.Cases {
		r, err := comp.ranking(c)
		if err != nil {
			return nil, err
		}
		for i, t := range targets {
			at := i*len(plan.Cases) + k
			if errs[at] != nil {
				r.Cannot = append(r.Cannot, RankCannot{t.arch.Name, t.board.Name, reason(errs[at])})
				continue
			}
			if err := comp.enter(r, c, runs[at], t); err != nil {
				return nil, err
			}
		}
		if len(r.Entries) > 0 {
			r.order()
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		return nil, allFailed(failuresOf(errs))
	}
	return out, nil
}

func failuresOf(errs []error) []Failure {
	var out []Failure
	for _, e := range errs {
		out = append(out, Failure{Error: reason(e), Err: e})
	}
	return out
}

// rankTargets are the machines of boards, or without boards those of the plan's architectures, or of all.
func rankTargets(plan *workloads.Plan, boards []string) ([]*machine, error) {
	s := plan.Settings
	var out []*machine
	load := func(arch, board string) error {
		s.Board = board
		m, err := loadMachine(arch, &s)
		if err == nil && board != "" && m.board.Arch != m.arch.Name {
			err = fmt.Errorf("board %s has %s, not %s", m.board.Name, m.board.Arch, m.arch.Name)
		}
		out = append(out, m)
		return err
	}
	for _, name := range boards {
		b, err := configs.LoadBoard(name)
		if err != nil {
			return nil, err
		}
		if err := load(b.Arch, b.Name); err != nil {
			return nil, err
		}
	}
	if len(boards) > 0 {
		return out, nil
	}
	archs := plan.Archs
	if len(archs) == 0 {
		archs = configs.List()
	}
	for _, name := range archs {
		if err := load(name, plan.Board); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// rankOne runs one case on one board.
func (c *compiler) rankOne(m *machine, cs *workloads.Case) (*Run, error) {
	plan := *c.plan
	if plan.Blocks.Mode == workloads.BlocksShare {
		most, err := c.waves(cs, m)
		if err != nil {
			return nil, err
		}
		if share := blocksOfSM(&plan, m.board, cs); share > most {
			plan.Blocks = workloads.Blocks{Mode: workloads.BlocksCount, Count: most}
		}
	}
	one := compiler{plan: &plan, Compiled: c.Compiled, machines: map[string]*machine{m.arch.Name: m}}
	return one.run(point{c: cs, arch: m.arch.Name}, nil)
}

// waves is the number of blocks in the waves that are simulated.
func (comp *compiler) waves(c *workloads.Case, m *machine) (int, error) {
	prog, err := comp.program(c, m)
	if err != nil {
		return 0, &InputError{err}
	}
	resident := max(1, m.arch.ResidentBlocks(c.Block.Count(), prog.Regs, prog.SharedBytes+c.DynamicShared).Blocks)
	n := mostWaves * resident
	for n < leastBlocks {
		n += resident
	}
	return n, nil
}

// blocksOfSM is the share of the grid that the busiest SM of the board runs.
func blocksOfSM(plan *workloads.Plan, b *configs.Board, c *workloads.Case) int {
	sms := plan.SMs
	if sms == 0 {
		sms = b.SMs
	}
	return (c.Grid.Count() + sms - 1) / sms
}

// reason is an error in one line.
func reason(err error) string {
	lines := strings.Split(err.Error(), "\n")
	text := strings.TrimSpace(lines[0])
	if strings.HasSuffix(text, ":") && len(lines) > 1 {
		text += " " + strings.TrimSpace(lines[1])
	}
	return text
}

// ranking is a case's empty ranking.
func (c *compiler) ranking(cs *workloads.Case) (*Ranking, error) {
	k := &Ranking{Variant: cs.Variant, Launch: cs.Launch, Grid: [3]uint32{cs.Grid.X, cs.Grid.Y, cs.Grid.Z}, Block: [3]uint32{cs.Block.X, cs.Block.Y, cs.Block.Z},
		Entries: []RankEntry{}, Cannot: []RankCannot{}, Features: []string{}}
	used, err := c.features(cs)
	if err != nil {
		return nil, err
	}
	for _, f := range used {
		k.Features = append(k.Features, f.name)
	}
	k.used = used
	return k, nil
}

// enter adds a run.
func (c *compiler) enter(k *Ranking, cs *workloads.Case, r *Run, m *machine) error {
	p, err := c.program(cs, m)
	if err != nil {
		return &InputError{err}
	}
	k.Kernel = r.Kernel
	e := RankEntry{Arch: r.Arch, Family: m.arch.Family, Board: r.Board, SMs: r.SMs, ClockMHz: r.ClockMHz, Cycles: r.Cycles, TimeUS: r.TimeUS,
		BlocksRun: r.BlocksRun, BlocksShare: r.BlocksRun, Limiter: ShortLimiter(r), Sentence: r.Limiter.Sentence, Occupancy: r.Occupancy.Achieved,
		Features: map[string]string{}, Confidence: r.Confidence, Check: r.Check}
	if share := blocksOfSM(c.plan, m.board, cs); c.plan.Blocks.Mode == workloads.BlocksShare && share > r.BlocksRun {
		scale := float64(share) / float64(r.BlocksRun)
		e.Cycles, e.TimeUS, e.BlocksShare, e.Scaled = uint64(math.Round(float64(e.Cycles)*scale)), e.TimeUS*scale, share, true
	}
	for _, f := range k.used {
		e.Features[f.name] = "emulated"
		if f.native(p) {
			e.Features[f.name] = "native"
		}
	}
	k.Entries = append(k.Entries, e)
	return nil
}

// order sorts by time.
func (k *Ranking) order() {
	slices.SortStableFunc(k.Entries, func(a, b RankEntry) int { return cmp.Compare(a.TimeUS, b.TimeUS) })
	for i := range k.Entries {
		k.Entries[i].Rank = i + 1
		k.Entries[i].Slower = 1
		if best := k.Entries[0].TimeUS; best > 0 {
			k.Entries[i].Slower = k.Entries[i].TimeUS / best
		}
	}
}

// feature is a kind of instruction that some architectures have and others replace by sequences.
type feature struct {
	name   string
	native func(*isa.Program) bool
}

// features are the kinds of instructions that the kernel has: DP4A where its PTX has dp4a or dp2a, IMAD where it multiplies
// 32-bit integers, VIDEO where it has SIMD video instructions, DPX and LOP3 where sm_90's machine code has them, as PTX
// has no single instruction for a fused minimum or for and-or.
func (c *compiler) features(cs *workloads.Case) ([]feature, error) {
	src, err := c.source(cs.Kernel)
	if err != nil {
		return nil, &InputError{err}
	}
	entry, err := entryName(src, cs)
	if err != nil {
		return nil, &InputError{err}
	}
	if src.module == nil {
		return nil, nil // machine code is all native, on its own architecture
	}
	uses := map[string]bool{}
	for _, f := range src.module.Funcs {
		if f.Body != nil && (f.Name == entry || !f.Entry) {
			collectOps(f.Body, uses)
		}
	}
	has := func(ops ...isa.Op) func(*isa.Program) bool {
		return func(p *isa.Program) bool {
			return slices.ContainsFunc(p.Insts, func(in isa.Inst) bool { return slices.Contains(ops, in.Op) })
		}
	}
	var out []feature
	if uses["dp4a"] || uses["dp2a"] {
		out = append(out, feature{"DP4A", has(isa.OpIDP)})
	}
	if uses["multiply"] {
		pieces := has(isa.OpXMAD, isa.OpIMUL24, isa.OpIMAD24)
		whole := has(isa.OpIMAD, isa.OpIMUL)
		out = append(out, feature{"IMAD", func(p *isa.Program) bool { return whole(p) || !pieces(p) }})
	}
	if uses["simd video"] {
		out = append(out, feature{"VIDEO", has(isa.OpVADD2, isa.OpVADD4, isa.OpVMNMX2, isa.OpVMNMX4, isa.OpVSET2, isa.OpVSET4, isa.OpVAVRG2, isa.OpVAVRG4, isa.OpVABSDIFF2,
			isa.OpVABSDIFF4)})
	}
	p, err := c.program(cs, c.machines[reference])
	if err != nil {
		return out, nil // what sm_90 cannot run has no reference
	}
	dpx := func(p *isa.Program) bool {
		return slices.ContainsFunc(p.Insts, func(in isa.Inst) bool {
			return in.Op == isa.OpVIMNMX3 || in.Op == isa.OpVIADDMNMX || in.Op == isa.OpVIMNMX && (in.Mod.Has(isa.ModRelu) || in.Mod.Type == isa.S16x2 || in.Mod.Type == isa.U16x2)
		})
	}
	if dpx(p) {
		out = append(out, feature{"DPX", dpx})
	}
	if threeInput(p) {
		out = append(out, feature{"LOP3", has(isa.OpLOP3)})
	}
	return out, nil
}

// threeInput says that some LOP3 has three operands: with two it does no more than LOP.
func threeInput(p *isa.Program) bool {
	return slices.ContainsFunc(p.Insts, func(in isa.Inst) bool {
		n := 0
		for _, o := range in.Src[:in.NSrc] {
			if o.Kind == isa.KindReg && o.Reg != isa.RZ || o.Kind == isa.KindImm || o.Kind == isa.KindConst || o.Kind == isa.KindUReg {
				n++
			}
		}
		return in.Op == isa.OpLOP3 && n >= 3
	})
}

// collectOps notes what a body uses.
func collectOps(b *ptx.Block, uses map[string]bool) {
	for _, s := range b.Stmts {
		switch x := s.(type) {
		case *ptx.Block:
			collectOps(x, uses)
		case *ptx.Instr:
			uses[x.Op] = true
			if (x.Op == "mul" || x.Op == "mad" || x.Op == "madc") && (x.Has("s32") || x.Has("u32")) {
				uses["multiply"] = true
			}
			if n := len(x.Op); n > 2 && x.Op[0] == 'v' && (x.Op[n-1] == '2' || x.Op[n-1] == '4') {
				uses["simd video"] = true
			}
		}
	}
}

// finiteTime is the time for a picture, NaN if there is none.
func finiteTime(e *RankEntry) float64 {
	if e == nil || e.TimeUS <= 0 {
		return math.NaN()
	}
	return e.TimeUS
}

// BoardNames lists the boards of all architectures, oldest first.
func BoardNames() ([]string, error) {
	boards, err := configs.Boards()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, b := range boards {
		out = append(out, b.Name)
	}
	return out, nil
}

// title names a ranking's kernel and launch.
func (k *Ranking) title() string {
	s := k.Variant
	if s == "" {
		s = k.Kernel
	}
	if k.Launch != "" {
		s += " " + k.Launch
	}
	return fmt.Sprintf("%s, grid %s, block %s", s, dims(dim(k.Grid)), dims(dim(k.Block)))
}
