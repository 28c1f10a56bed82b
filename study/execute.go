package study

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/configs/strictyaml"
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/sim"
	"github.com/sarchlab/smsim/sim/observe"
	"github.com/sarchlab/smsim/workloads"
)

// DefaultArch is simulated when neither the run file nor the command names an architecture.
const DefaultArch = "sm_90"

// DefaultCycleLimit ends a simulation whose kernel does not end: 10 ms of H200 time, which takes up to half a minute to
// simulate on a full SM.
const DefaultCycleLimit = 20_000_000

// Options are the choices of an execution that do not change its results.
type Options struct {
	Workers int // simulations at once; 0: one per CPU
	// Progress, if given, is called now and then from the goroutines that simulate.
	Progress func(Progress)
	// SampleCycles asks for a time series in each result with samples of that width; 0: none.
	SampleCycles uint64
	// Compiled, if given, keeps what is compiled for further executions.
	Compiled *Compiled
	// Issues, if given, records what one simulation issues within its window; the plan must give one simulation.
	Issues *observe.IssueTrace

	hot                       int // static instructions in Run.Hot; 0: the usual number
	keepOutputs, wholeOutputs bool
}

// Progress says how far an execution is.
type Progress struct {
	Done, Total int     // simulations
	Share       float64 // of all simulations, from 0 to 1; blocks that ended within unfinished ones count
	WarpInsts   uint64  // simulated so far
}

// tracker adds up the progress of simulations that run at once.
type tracker struct {
	mu     sync.Mutex
	report func(Progress)
	done   int
	share  []float64 // by point
	insts  []uint64
}

// point gives the function that the simulation of a point calls; nil if nobody listens.
func (t *tracker) point(i int) func(ended, blocks int, insts uint64) {
	if t.report == nil {
		return nil
	}
	return func(ended, blocks int, insts uint64) {
		t.update(i, float64(ended)/float64(max(1, blocks)), insts, false)
	}
}

func (t *tracker) update(i int, share float64, insts uint64, done bool) {
	if t.report == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.share[i], t.insts[i] = share, insts
	if done {
		t.done++
	}
	p := Progress{Done: t.done, Total: len(t.share)}
	for j := range t.share {
		p.Share += t.share[j] / float64(len(t.share))
		p.WarpInsts += t.insts[j]
	}
	t.report(p)
}

// point is one case on one architecture.
type point struct {
	c    *workloads.Case
	arch string
	cost float64 // estimate, for starting the long ones first
}

// Execute simulates every case of the plan on every architecture. The order of the runs is that of architectures,
// then launches and variants, whatever the number of workers; results are the same in every execution.
//
// A case that fails leaves a Failure in the report. The error is not nil when nothing could be run at all.
func Execute(plan *workloads.Plan, opt Options) (*Report, error) {
	rep := &Report{Schema: sim.Schema, Study: plan.Name, Source: plan.Path, Question: plan.Question, IsStudy: plan.Study,
		XAxis: plan.XAxis, WorkUnit: plan.WorkUnit}
	archs := planArchs(plan)
	comp, err := newCompiler(plan, archs)
	if err != nil {
		return nil, &InputError{err}
	}
	if opt.Compiled != nil {
		comp.Compiled = opt.Compiled
	}
	comp.probes = probes{hot: opt.hot, sample: opt.SampleCycles, trace: opt.Issues, keepOutputs: opt.keepOutputs, wholeOutputs: opt.wholeOutputs}
	var points []point
	for _, a := range comp.order {
		for _, c := range plan.Cases {
			points = append(points, point{c, a, estimate(c)})
		}
	}
	if opt.Issues != nil && len(points) != 1 {
		return nil, &InputError{fmt.Errorf("an issue timeline is of one kernel, launch and architecture; these are %d: choose with --kernel, --launch and --arch", len(points))}
	}
	runs := make([]*Run, len(points))
	errs := make([]error, len(points))
	track := tracker{report: opt.Progress, share: make([]float64, len(points)), insts: make([]uint64, len(points))}
	forEach(order(points), opt.Workers, func(i int) {
		runs[i], errs[i] = comp.run(points[i], track.point(i))
		insts := uint64(0)
		if runs[i] != nil {
			insts = runs[i].WarpInstructions
		}
		track.update(i, 1, insts, true)
	})
	for i, p := range points {
		if errs[i] != nil {
			rep.Failures = append(rep.Failures, Failure{Variant: p.c.Variant, Launch: p.c.Launch, Arch: p.arch, Error: errs[i].Error(), Err: errs[i]})
			continue
		}
		rep.Runs = append(rep.Runs, *runs[i])
	}
	if len(rep.Runs) == 0 {
		return nil, allFailed(rep.Failures)
	}
	if opt.Issues != nil {
		rep.Issues = timelineOf(opt.Issues)
	}
	rep.archs = map[string]*configs.Arch{}
	for name, m := range comp.machines {
		rep.archs[name] = m.arch
	}
	rep.Comparisons = Compare(rep, plan.Compare)
	rep.Answer = Answer(rep)
	return rep, nil
}

// ExecuteEach executes plans that stand for themselves, several at once. The reports have the order of the plans; the error
// is that of the first plan of which nothing could be run.
func ExecuteEach(plans []*workloads.Plan, opt Options) ([]*Report, error) {
	reps, errs, idx := make([]*Report, len(plans)), make([]error, len(plans)), make([]int, len(plans))
	for i := range idx {
		idx[i] = i
	}
	each := opt
	each.Workers = 1
	each.Progress = nil
	track := tracker{report: opt.Progress, share: make([]float64, len(plans)), insts: make([]uint64, len(plans))}
	forEach(idx, opt.Workers, func(i int) {
		reps[i], errs[i] = Execute(plans[i], each)
		insts := uint64(0)
		if reps[i] != nil {
			for j := range reps[i].Runs {
				insts += reps[i].Runs[j].WarpInstructions
			}
		}
		track.update(i, 1, insts, true)
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return reps, nil
}

// allFailed joins the different messages of the failures; it is an InputError if all are.
func allFailed(fs []Failure) error {
	var errs []error
	var texts []string
	input := true
	for _, f := range fs {
		var in *InputError
		input = input && errors.As(f.Err, &in)
		if !slices.Contains(texts, f.Error) {
			texts = append(texts, f.Error)
			errs = append(errs, f.Err)
		}
	}
	if len(errs) == 1 {
		return errs[0]
	}
	err := errors.Join(errs...)
	if input {
		return &InputError{err}
	}
	return err
}

// estimate grows with the time a case takes to simulate: threads, and work where it is given.
func estimate(c *workloads.Case) float64 {
	return c.Work + float64(c.Grid.Count())*float64(c.Block.Count())
}

// order starts long points first, so that no long one is left for the end; ties keep their order.
func order(points []point) []int {
	idx := upTo(len(points))
	slices.SortStableFunc(idx, func(a, b int) int {
		switch {
		case points[a].cost > points[b].cost:
			return -1
		case points[a].cost < points[b].cost:
			return 1
		}
		return 0
	})
	return idx
}

// upTo are the indices 0 to n-1.
func upTo(n int) []int {
	idx := make([]int, n)
	for i := range idx {
		idx[i] = i
	}
	return idx
}

// forEach calls f for every index, on a number of goroutines.
func forEach(idx []int, workers int, f func(i int)) {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(workers, len(idx)) {
		wg.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for _, i := range idx {
		next <- i
	}
	close(next)
	wg.Wait()
}

// machine is an architecture as the simulations of a plan use it. It is read-only once loaded.
type machine struct {
	arch   *configs.Arch
	target *isa.Target
	board  *configs.Board
	// otherBoard says that the board is not the architecture's own, so that memory numbers follow from the board.
	otherBoard bool
}

// archError gives an error about the name of an architecture the name's place in the run file. Faults within a file and
// of overrides have places of their own.
func archError(name string, s *workloads.Settings, err error) error {
	at := s.Places["arch "+name]
	var fault *strictyaml.Error
	if at.IsZero() || !errors.As(err, &fault) || fault.Pos.Line > 0 || fault.File != name {
		return err
	}
	return at.Errorf("%s", err)
}

// loadMachine loads an architecture with the plan's overrides and board.
func loadMachine(name string, s *workloads.Settings) (*machine, error) {
	var over []configs.Override
	for _, o := range s.Overrides {
		from := o.Place.File
		if o.Place.Pos.Line > 0 {
			from = fmt.Sprintf("%s:%d:%d", from, o.Place.Pos.Line, o.Place.Pos.Col)
		}
		over = append(over, configs.Override{Key: o.Key, Value: o.Value, From: from})
	}
	a, err := configs.Load(name, over)
	if err != nil {
		return nil, archError(name, s, err)
	}
	own, err := configs.LoadBoard(a.Board)
	if err != nil {
		return nil, err
	}
	m := &machine{arch: a, target: a.Target(), board: own}
	if s.Board != "" {
		if m.board, err = configs.LoadBoard(s.Board); err != nil {
			if at := s.Places["board"]; !at.IsZero() {
				return nil, at.Errorf("%s", err)
			}
			return nil, err
		}
		m.otherBoard = m.board.Name != own.Name
	}
	return m, nil
}
