package study

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// SweepRecord is one line of the results and of what a worker answers.
type SweepRecord struct {
	Index     int               `json:"index"` // of the point in the sweep
	Hash      string            `json:"hash"`  // of all that the result depends on
	Run       string            `json:"run"`
	Variant   string            `json:"variant"`
	Launch    string            `json:"launch,omitempty"`
	Arch      string            `json:"arch"`
	Seed      uint64            `json:"seed"`
	Overrides map[string]string `json:"overrides,omitempty"`
	Result    *Run              `json:"result,omitempty"`
	Error     string            `json:"error,omitempty"`
	Input     bool              `json:"input_error,omitempty"` // the error is a mistake in the input
}

// identity names the point in any sweep: what differs between two of one identity is the text of kernel or architecture, or
// the program.
func (r *SweepRecord) identity() string {
	return fmt.Sprintf("%q %q %q %q %d %q", r.Run, r.Variant, r.Launch, r.Arch, r.Seed, r.Overrides)
}

// sweepStart is the first line a worker reads: the sweep file, so that nothing depends on when it is read.
type sweepStart struct {
	File string `json:"file"`
	Text []byte `json:"text"`
	Tool string `json:"tool"`
}

// sweepTask is a further line: a point to run.
type sweepTask struct {
	Index int    `json:"index"`
	Hash  string `json:"hash"`
}

// SweepWorker runs points that are named on in, one a line, until in ends, and answers each with a record on out.
func SweepWorker(in io.Reader, out io.Writer) error {
	dec := json.NewDecoder(bufio.NewReader(in))
	var start sweepStart
	if err := dec.Decode(&start); err != nil {
		return fmt.Errorf("sweep worker: the first line is no sweep: %w", err)
	}
	s, err := DecodeSweep(start.File, start.Text)
	if err != nil {
		return &InputError{err}
	}
	r := newSweepRunner(s, start.Tool)
	enc := json.NewEncoder(out)
	for {
		var t sweepTask
		if err := dec.Decode(&t); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("sweep worker: %w", err)
		}
		if t.Index < 0 || t.Index >= len(s.Points) {
			return fmt.Errorf("sweep worker: there is no point %d", t.Index)
		}
		if err := enc.Encode(r.record(t)); err != nil {
			return err
		}
	}
}

// record runs one point.
func (r *sweepRunner) record(t sweepTask) *SweepRecord {
	p := &r.sweep.Points[t.Index]
	rec := blank(p, t)
	if h := r.hash(p); h != t.Hash {
		rec.Error = "its files changed while the sweep ran"
		return rec
	}
	run, err := r.run(p)
	if err != nil {
		var in *InputError
		rec.Error, rec.Input = err.Error(), errors.As(err, &in)
		return rec
	}
	rec.Result = run
	return rec
}

// blank is the record of a point without result.
func blank(p *SweepPoint, t sweepTask) *SweepRecord {
	rec := &SweepRecord{Index: t.Index, Hash: t.Hash, Run: p.Run, Variant: p.Variant, Launch: p.Launch, Arch: p.Arch, Seed: p.Seed}
	for _, o := range p.Overrides {
		if rec.Overrides == nil {
			rec.Overrides = map[string]string{}
		}
		rec.Overrides[o.Key] = o.Value
	}
	return rec
}
