package study

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/configs/strictyaml"
	"github.com/sarchlab/smsim/sim"
	"github.com/sarchlab/smsim/workloads"
)

// sweepRunner runs the points of a sweep in one process. Points of one case and architecture share the parsed file and
// the lowered program.
type sweepRunner struct {
	sweep *Sweep
	tool  string

	mu      sync.Mutex
	benches map[benchKey]*sharedBench
}

type benchKey struct {
	c    *workloads.Case
	arch string
}

type sharedBench struct {
	once sync.Once
	b    *bench
	base []byte                 // the unchanged architecture as text: listing its keys for every point would take longer than a short run
	keys map[string]configs.Key // by the spelling of the overrides
	err  error
}

// key is what a spelling of an override stands for.
func (sb *sharedBench) key(spelling string) configs.Key {
	k, ok := sb.keys[spelling]
	if !ok {
		var err error
		if k, err = sb.b.base.arch.KeyOf(spelling); err != nil {
			k = configs.Key{Path: spelling}
		}
		sb.keys[spelling] = k
	}
	return k
}

// newSweepRunner is used by one goroutine. It takes the version of the tool: results of another one are not reused.
func newSweepRunner(s *Sweep, tool string) *sweepRunner {
	return &sweepRunner{sweep: s, tool: tool, benches: map[benchKey]*sharedBench{}}
}

func (r *sweepRunner) bench(p *SweepPoint) (*sharedBench, error) {
	key := benchKey{p.c, p.Arch}
	r.mu.Lock()
	sb := r.benches[key]
	if sb == nil {
		sb = &sharedBench{}
		r.benches[key] = sb
	}
	r.mu.Unlock()
	sb.once.Do(func() {
		if sb.b, sb.err = r.newBench(p); sb.err != nil {
			return
		}
		sb.keys = map[string]configs.Key{}
		for _, k := range sb.b.base.arch.Keys() {
			sb.base = fmt.Appendf(sb.base, "%s=%s\x00", k.Path, k.Value)
		}
	})
	return sb, sb.err
}

func (r *sweepRunner) newBench(p *SweepPoint) (*bench, error) {
	src := r.sweep.sources[p.plan]
	plan := *src
	s := r.sweep.settings
	plan.Settings.Outputs = workloads.Outputs{}
	if s.Board != "" {
		plan.Board, plan.Places = s.Board, nil
	}
	if s.SMs > 0 {
		plan.SMs = s.SMs
	}
	if s.Blocks.Mode != workloads.BlocksShare {
		plan.Settings.Blocks, plan.Places = s.Blocks, nil
	}
	if s.Check != workloads.CheckAuto {
		plan.Check = s.Check
	}
	if s.Caches != workloads.CachesWarm {
		plan.Caches = s.Caches
	}
	if s.CycleLimit > 0 {
		plan.CycleLimit = s.CycleLimit
	}
	plan.Cases = []*workloads.Case{p.c}
	return newBench(&plan, p.Arch, r.sweep.Recompile)
}

// hash identifies all that a point's result depends on: the tool, the kernel's text, the architecture after the
// overrides, launch, arguments and settings. A point that cannot be built has the hash of its error.
func (r *sweepRunner) hash(p *SweepPoint) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\x00%d\x00%v\x00", r.tool, sim.Schema, r.sweep.Recompile)
	sb, err := r.bench(p)
	if err != nil {
		fmt.Fprintf(h, "error %s", err)
		return hex.EncodeToString(h.Sum(nil)[:16])
	}
	b := sb.b
	set := map[string]string{}
	for _, o := range p.Overrides {
		if k := sb.key(o.Key); o.Value != k.Value {
			set[k.Path] = o.Value
		}
	}
	_, _ = h.Write(sb.base)
	for _, k := range slices.Sorted(maps.Keys(set)) {
		fmt.Fprintf(h, "set %s=%s\x00", k, set[k])
	}
	hashCase(h, p.c)
	s := &b.comp.plan.Settings
	fmt.Fprintf(h, "%+v %d %s %s %s %d", *b.base.board, s.SMs, s.Blocks.String(), s.Check, s.Caches, s.CycleLimit)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func hashCase(h io.Writer, c *workloads.Case) {
	fmt.Fprintf(h, "%s\x00%v %v %d %d %v\x00", c.Entry, c.Grid, c.Block, c.DynamicShared, c.StaticShared, c.Consts)
	if c.Module != nil {
		_, _ = h.Write(c.Module.Text)
	}
	for i := range c.Args {
		a := &c.Args[i]
		fmt.Fprintf(h, "%s %s %d %d %d %d %v %s %x\x00", a.Name, a.Buffer, a.Bytes, a.Seed, a.Value, a.Mask, a.Out, a.Type, a.Raw)
		_, _ = h.Write(a.Data)
	}
	for i := range c.Expect {
		e := c.Expect[i]
		e.Place = strictyaml.Place{}
		text, err := json.Marshal(e) // sorts the map of blocks
		if err != nil {
			panic("study: expectation without JSON form: " + err.Error())
		}
		_, _ = h.Write(text)
		fmt.Fprintf(h, "%v\x00", e.Values)
	}
	_, _ = h.Write(c.Kernel.Text)
}

// run simulates a point.
func (r *sweepRunner) run(p *SweepPoint) (*Run, error) {
	sb, err := r.bench(p)
	if err != nil {
		return nil, err
	}
	run, _, err := sb.b.run(p.Overrides)
	if err != nil {
		return nil, err
	}
	run.Hot = run.Hot[:min(3, len(run.Hot))]
	run.Overrides = nil
	for _, o := range p.Overrides {
		run.Overrides = append(run.Overrides, o.Key+"="+o.Value)
	}
	return run, nil
}
