package validate

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/sim"
)

// Options say what is replayed. The zero value replays every row of every set from both inputs on sm_90.
type Options struct {
	Sets    []string // of SetNames; nil: all
	Inputs  []Input  // nil: both
	Every   int      // replay every n-th row of each set; 0 or 1: all
	Without string   // mechanism that is switched off, of Mechanisms; "": none
	Workers int      // replays at the same time; 0: as many as processors
	// Progress is called after every replayed row, from several goroutines.
	Progress func(done, total int, warpInstructions uint64)
	// Overrides change numbers of the architecture.
	Overrides []configs.Override
}

// task is all rows of one kernel from one input, replayed by one worker.
type task struct {
	input   Input
	results []*Result
	rows    []*row
	cold    []bool // launches only
	kernels []*launch
}

// Run replays the measurements of a data folder on an architecture ("" is sm_90, where they come from). Rows that cannot be
// replayed are in the report with their error; Run fails only if the folder or the options are wrong.
func Run(dir fs.FS, arch string, opt Options) (*Report, error) {
	overrides, err := without(opt.Without)
	if err != nil {
		return nil, err
	}
	a, err := loadArch(arch, append(overrides, opt.Overrides...))
	if err != nil {
		return nil, err
	}
	for _, s := range opt.Sets {
		if !slices.Contains(setNames[:], s) {
			return nil, fmt.Errorf("there is no set %q; the sets are %s", s, list(setNames[:]))
		}
	}
	rep := &Report{Arch: a.Name, Without: opt.Without, Every: max(opt.Every, 1), ErrorUnit: "percent"}
	tasks, err := plans(dir, rep, &opt)
	if err != nil {
		return nil, err
	}
	if len(tasks) == 0 {
		return nil, errors.New("the folder holds no measurements of these sets: expected forms/timing.csv, intrinsics/timing.csv, micro/*.csv or kernels/kernels.json")
	}
	replayAll(tasks, dir, a, &opt)
	rep.finish()
	return rep, nil
}

// plans lists what is to be replayed and makes the report's sets.
func plans(dir fs.FS, rep *Report, opt *Options) ([]*task, error) {
	askedSet := func(set string) bool { return len(opt.Sets) == 0 || slices.Contains(opt.Sets, set) }
	rows, err := loadRows(dir, askedSet)
	if err != nil {
		return nil, err
	}
	var launches []launch
	if askedSet("kernels_cold") || askedSet("kernels_warm") {
		if launches, err = loadKernels(dir); err != nil {
			return nil, err
		}
	}
	p := planner{every: rep.Every, byKey: map[string]*task{}}
	for _, name := range setNames {
		for _, in := range []Input{FromSASS, FromPTX} {
			if !askedSet(name) || len(opt.Inputs) > 0 && !slices.Contains(opt.Inputs, in) {
				continue
			}
			set := &Set{Name: name, Input: in}
			p.addRows(set, rows)
			p.addLaunches(set, launches)
			if len(set.Results) > 0 {
				rep.Sets = append(rep.Sets, set)
			}
		}
	}
	// Real kernels take longest: they come first, so that no worker is left with one at the end.
	slices.SortStableFunc(p.tasks, func(x, y *task) int { return len(y.kernels) - len(x.kernels) })
	return p.tasks, nil
}

// planner makes the tasks of a replay: one for each kernel and input, with all its results.
type planner struct {
	every int // of each set every n-th row is replayed
	byKey map[string]*task
	tasks []*task
}

// task is the task of a kernel.
func (p *planner) task(in Input, key string) *task {
	key = string(in) + key
	t := p.byKey[key]
	if t == nil {
		t = &task{input: in}
		p.byKey[key] = t
		p.tasks = append(p.tasks, t)
	}
	return t
}

// addRows adds the set's rows of micro-benchmarks.
func (p *planner) addRows(set *Set, rows []row) {
	n := 0
	for i := range rows {
		r := &rows[i]
		if r.set != set.Name || set.Input == FromPTX && r.source == "" {
			continue
		}
		if n++; (n-1)%p.every != 0 {
			continue
		}
		res := &Result{Set: set.Name, Input: set.Input, Name: r.name, Kernel: r.kernel, Group: r.group, Measured: r.measured}
		set.Results = append(set.Results, res)
		t := p.task(set.Input, r.listing+":"+r.kernel)
		t.rows, t.results = append(t.rows, r), append(t.results, res)
	}
}

// addLaunches adds the launches of real kernels, if the set is of these.
func (p *planner) addLaunches(set *Set, launches []launch) {
	column, ok := cyclesColumn[set.Name]
	if !ok {
		return
	}
	for i := 0; i < len(launches); i += p.every {
		l := &launches[i]
		res := &Result{Set: set.Name, Input: set.Input, Name: l.name(), Kernel: l.Function, Group: l.Function, Measured: l.counters[column], work: l.work()}
		set.Results = append(set.Results, res)
		t := p.task(set.Input, "kernel:"+l.Function)
		t.kernels, t.results, t.cold = append(t.kernels, l), append(t.results, res), append(t.cold, set.Name == "kernels_cold")
	}
}

// replayAll shares the tasks among workers.
func replayAll(tasks []*task, dir fs.FS, a *configs.Arch, opt *Options) {
	total := 0
	for _, t := range tasks {
		total += len(t.results)
	}
	lib := newLibrary(dir, a)
	var next, done atomic.Int64
	var insts atomic.Uint64
	n := opt.Workers
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	var wg sync.WaitGroup
	for range min(n, len(tasks)) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			w := &worker{lib: lib, arch: a}
			defer w.close()
			for {
				i := int(next.Add(1)) - 1
				if i >= len(tasks) {
					return
				}
				for k := range tasks[i].results {
					c := w.replay(tasks[i], k)
					d, s := done.Add(1), insts.Add(c)
					if opt.Progress != nil {
						opt.Progress(int(d), total, s)
					}
				}
			}
		}()
	}
	wg.Wait()
}

// replay runs one row of a task and fills its result.
func (w *worker) replay(t *task, k int) (warpInstructions uint64) {
	out := t.results[k]
	var res *sim.Result
	var err error
	if t.kernels != nil {
		if res, err = w.predictKernel(t.kernels[k], t.input, t.cold[k]); err == nil {
			out.Predicted = float64(res.Cycles)
			out.reasons = compare(res, t.kernels[k].counters, t.cold[k])
		}
	} else {
		out.Predicted, res, err = w.predict(t.rows[k], t.input)
	}
	if err != nil {
		out.Failure = err.Error()
	} else if !(out.Measured > 0) {
		out.Failure = fmt.Sprintf("the measured value %g is not positive", out.Measured)
	} else {
		out.Error = 100 * (out.Predicted - out.Measured) / out.Measured
	}
	if res == nil {
		return 0
	}
	return res.WarpInstructions
}
