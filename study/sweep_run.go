package study

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// SweepOptions are the choices of a sweep that do not change its results.
type SweepOptions struct {
	Workers int
	// Command makes the process that runs SweepWorker on its standard streams.
	Command func() *exec.Cmd
	Tool    string // version of the tool: results of another one are not reused
	Dir     string // of the results
	// Progress is called after each point.
	Progress func(Progress)
}

// SweepResult is the state of a sweep after it ran or was interrupted.
type SweepResult struct {
	Sweep       *Sweep
	Records     []*SweepRecord // by point; nil: not run
	Kept        []*SweepRecord // finished points of earlier sweeps in the directory that this one does not list, oldest first
	Reused      int
	Interrupted bool
}

// Failed lists the records with an error.
func (r *SweepResult) Failed() []*SweepRecord {
	var out []*SweepRecord
	for _, rec := range r.Records {
		if rec != nil && rec.Error != "" {
			out = append(out, rec)
		}
	}
	return out
}

// Missing counts the points that were not run.
func (r *SweepResult) Missing() int {
	n := 0
	for _, rec := range r.Records {
		if rec == nil {
			n++
		}
	}
	return n
}

// journalName is the file that grows while a sweep runs; at the end it holds one line a point in their order. keptName holds
// the finished points of earlier sweeps that the last one does not list, so that a file that was cut and extended again
// simulates nothing twice.
const (
	journalName = "results.jsonl"
	keptName    = "unlisted.jsonl"
)

// RunSweep runs the points of a sweep file whose results are not yet in the directory. When ctx is cancelled, what has been
// finished is kept.
func RunSweep(ctx context.Context, file string, text []byte, opt SweepOptions) (*SweepResult, error) {
	s, err := DecodeSweep(file, text)
	if err != nil {
		return nil, &InputError{err}
	}
	if err := s.check(); err != nil {
		return nil, &InputError{err}
	}
	if err := os.MkdirAll(opt.Dir, 0o755); err != nil {
		return nil, &InputError{fmt.Errorf("cannot create the output directory: %w", err)}
	}
	unlock, err := lockDir(opt.Dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	old, err := readJournals(filepath.Join(opt.Dir, keptName), filepath.Join(opt.Dir, journalName))
	if err != nil {
		return nil, err
	}
	res := &SweepResult{Sweep: s, Records: make([]*SweepRecord, len(s.Points))}
	open := res.reuse(old, newSweepRunner(s, opt.Tool))
	// The journal is written anew at the end: until then a killed sweep must not lose what moves from one file to the other.
	kept := filepath.Join(opt.Dir, keptName)
	if len(res.Kept) > 0 {
		if err := writeFile(kept, func(w io.Writer) error { return encodeLines(w, old.records()) }); err != nil {
			return nil, &InputError{err}
		}
	}
	journal, err := os.OpenFile(filepath.Join(opt.Dir, journalName), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, &InputError{err}
	}
	defer journal.Close()
	if err := dispatch(ctx, s, sweepStart{File: file, Text: text, Tool: opt.Tool}, open, opt, res.finisher(journal, len(open), opt.Progress)); err != nil {
		return res, err
	}
	res.Interrupted = ctx.Err() != nil
	if err := journal.Close(); err != nil {
		return res, err
	}
	if err := writeFile(filepath.Join(opt.Dir, journalName), res.writeLines); err != nil {
		return res, err
	}
	return res, writeKept(kept, res.Kept)
}

// reuse takes over the results that are there already, keeps apart those of points that the sweep does not list, and gives the points
// that are still to be run.
func (res *SweepResult) reuse(old *finished, r *sweepRunner) []sweepTask {
	points := res.Sweep.Points
	var open []sweepTask
	listed := map[string]bool{}  // hashes
	current := map[string]bool{} // names of points: results of an earlier version of one are outdated
	for i := range points {
		task := sweepTask{Index: i, Hash: r.hash(&points[i])}
		// The same point may stand elsewhere or have another name in this sweep.
		now := blank(&points[i], task)
		listed[task.Hash], current[now.identity()] = true, true
		rec := old.byHash[task.Hash]
		if rec == nil {
			open = append(open, task)
			continue
		}
		now.Result = rec.Result
		res.Records[i] = now
		res.Reused++
	}
	for _, hash := range old.order {
		if rec := old.byHash[hash]; !listed[hash] && !current[rec.identity()] {
			res.Kept = append(res.Kept, rec)
		}
	}
	return open
}

// finisher notes finished points, of all that run, and writes each to the journal.
func (res *SweepResult) finisher(journal io.Writer, all int, progress func(Progress)) func(*SweepRecord) error {
	var mu sync.Mutex
	done, insts := 0, uint64(0)
	return func(rec *SweepRecord) error {
		mu.Lock()
		defer mu.Unlock()
		res.Records[rec.Index] = rec
		done++
		if rec.Result != nil {
			insts += rec.Result.WarpInstructions
		}
		line, err := json.Marshal(rec)
		if err != nil {
			return err
		}
		if _, err := journal.Write(append(line, '\n')); err != nil {
			return err
		}
		if progress != nil {
			progress(Progress{Done: done, Total: all, Share: float64(done) / float64(all), WarpInsts: insts})
		}
		return nil
	}
}

// finished are results of earlier sweeps: by the hash of the point, and the hashes in the order in which they were read.
type finished struct {
	byHash map[string]*SweepRecord
	order  []string
}

// readJournals gives the records without error. Of two of one point the later one counts. A line that was cut off when the
// tool was killed is left out.
func readJournals(names ...string) (*finished, error) {
	out := &finished{byHash: map[string]*SweepRecord{}}
	for _, name := range names {
		if err := out.read(name); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// records are the results in the order in which they were read.
func (d *finished) records() []*SweepRecord {
	var out []*SweepRecord
	for _, hash := range d.order {
		out = append(out, d.byHash[hash])
	}
	return out
}

func (d *finished) read(name string) error {
	f, err := os.Open(name)
	if os.IsNotExist(err) {
		return nil
	} else if err != nil {
		return &InputError{err}
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		var rec SweepRecord
		if len(line) > 0 && json.Unmarshal(line, &rec) == nil && rec.Error == "" && rec.Result != nil {
			if d.byHash[rec.Hash] == nil {
				d.order = append(d.order, rec.Hash)
			}
			d.byHash[rec.Hash] = &rec
		}
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// writeKept writes the file of unlisted points, or removes it where there are none.
func writeKept(name string, kept []*SweepRecord) error {
	if len(kept) == 0 {
		if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
			return err
		}
		return nil
	}
	return writeFile(name, func(w io.Writer) error { return encodeLines(w, kept) })
}

// writeLines writes the records in the order of the points.
func (r *SweepResult) writeLines(w io.Writer) error { return encodeLines(w, r.Records) }

// encodeLines writes a line for each record that is there.
func encodeLines(w io.Writer, records []*SweepRecord) error {
	b := bufio.NewWriter(w)
	e := json.NewEncoder(b)
	for _, rec := range records {
		if rec != nil {
			if err := e.Encode(rec); err != nil {
				return err
			}
		}
	}
	return b.Flush()
}

// writeFile writes a file under a temporary name and renames it when it is complete.
func writeFile(name string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".smsim-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails once renamed, as it should
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// dispatch gives the tasks to worker processes, one at a time each. A worker that ends before it answers fails the point
// that it was at, and another takes its place.
func dispatch(ctx context.Context, s *Sweep, begin sweepStart, tasks []sweepTask, opt SweepOptions, finish func(*SweepRecord) error) error {
	next := make(chan sweepTask)
	go func() {
		defer close(next)
		for _, t := range tasks {
			select {
			case next <- t:
			case <-ctx.Done():
				return
			}
		}
	}()
	var wg sync.WaitGroup
	errs := make([]error, min(max(1, opt.Workers), max(1, len(tasks))))
	for i := range errs {
		wg.Go(func() {
			var w *worker
			defer func() { w.stop() }()
			for t := range next {
				if errs[i] != nil {
					continue // drain
				}
				if w == nil {
					if w, errs[i] = startWorker(opt.Command(), begin); errs[i] != nil {
						continue
					}
				}
				rec, err := w.run(ctx, t)
				if ctx.Err() != nil {
					return
				}
				if err != nil {
					rec = blank(&s.Points[t.Index], t)
					rec.Error = err.Error()
					w.stop()
					w = nil
				}
				errs[i] = finish(rec)
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// worker is a process that runs points.
type worker struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *json.Decoder
	stderr bytes.Buffer
	ended  bool
}

func startWorker(cmd *exec.Cmd, begin sweepStart) (*worker, error) {
	w := &worker{cmd: cmd}
	cmd.Stderr = &w.stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if w.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot start a worker process: %w", err)
	}
	w.out = json.NewDecoder(bufio.NewReaderSize(out, 1<<16))
	// A failed write shows when the answer does not come.
	_ = json.NewEncoder(w.in).Encode(begin)
	return w, nil
}

// run sends one task and waits for the answer, or for the end of the context, which ends the process.
func (w *worker) run(ctx context.Context, t sweepTask) (*SweepRecord, error) {
	stop := context.AfterFunc(ctx, func() { _ = w.cmd.Process.Kill() })
	defer stop()
	_ = json.NewEncoder(w.in).Encode(t)
	var rec SweepRecord
	if err := w.out.Decode(&rec); err != nil {
		w.ended = true
		state := "without an answer"
		if err := w.cmd.Wait(); err != nil {
			state = err.Error()
		}
		text := strings.TrimSpace(w.stderr.String())
		if len(text) > 600 {
			text = text[:600] + " ..."
		}
		if text != "" {
			text = ": " + text
		}
		return nil, fmt.Errorf("the worker process ended: %s%s", state, text)
	}
	if rec.Index != t.Index || rec.Hash != t.Hash {
		return nil, fmt.Errorf("the worker process answered for point %d, not %d", rec.Index, t.Index)
	}
	return &rec, nil
}

// stop ends the process.
func (w *worker) stop() {
	if w == nil || w.ended {
		return
	}
	_ = w.in.Close() // the worker ends at the end of its input
	late := time.AfterFunc(5*time.Second, func() { _ = w.cmd.Process.Kill() })
	_ = w.cmd.Wait()
	late.Stop()
}
