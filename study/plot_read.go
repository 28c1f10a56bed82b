package study

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/sarchlab/smsim/plots"
	"github.com/sarchlab/smsim/sim"
)

// Saved is a result file that was read back: one of its fields is set.
type Saved struct {
	Report      *Report
	Versus      *Versus
	WhatIf      *WhatIf
	Sensitivity *Sensitivity
	Sweep       []*SweepRecord
	Scatter     *plots.Scatter
	Drawings    []Drawing
}

// ReadSaved reads the JSON that run, compare and whatif write, the lines that sweep writes, or a CSV table with the
// columns measured and predicted (and, if wanted, class). The name is for messages.
func ReadSaved(name string, text []byte) (*Saved, error) {
	s := &Saved{}
	trimmed := bytes.TrimSpace(text)
	if len(trimmed) == 0 {
		return nil, fmt.Errorf("%s is empty", name)
	}
	if trimmed[0] != '{' {
		var err error
		s.Scatter, err = readScatter(name, text)
		return s, err
	}
	var head struct {
		Schema    int             `json:"schema"`
		Sides     json.RawMessage `json:"sides"`
		Responses json.RawMessage `json:"responses"`
		Kernels   json.RawMessage `json:"kernels"`
		Runs      json.RawMessage `json:"runs"`
		Hash      string          `json:"hash"`
	}
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&head); err != nil {
		return nil, fmt.Errorf("%s: no result of smsim: %w", name, err)
	}
	if head.Hash == "" && head.Schema != sim.Schema {
		return nil, fmt.Errorf("%s: no result of smsim, or of another version (schema %d, this program reads %d)", name, head.Schema, sim.Schema)
	}
	var into any
	switch {
	case head.Hash != "":
		return s, s.readSweep(name, text)
	case head.Sides != nil:
		s.Versus = &Versus{}
		into = s.Versus
	case head.Responses != nil:
		s.WhatIf = &WhatIf{}
		into = s.WhatIf
	case head.Kernels != nil:
		s.Sensitivity = &Sensitivity{}
		into = s.Sensitivity
	case head.Runs != nil:
		s.Report = &Report{}
		into = s.Report
	default:
		return nil, fmt.Errorf("%s: no result of smsim run, compare, whatif or sweep", name)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return nil, fmt.Errorf("%s: damaged result: %w", name, err)
	}
	return s, s.link(name)
}

// link restores what the JSON form leaves out.
func (s *Saved) link(name string) error {
	named := func(runs []Run) {
		for i := range runs {
			runs[i].Result.Variant = runs[i].Variant // one key stands for both
		}
	}
	switch {
	case s.Report != nil:
		r := s.Report
		named(r.Runs)
		r.IsStudy = r.Study != "" && len(r.Variants()) > 0
		if len(r.Runs) == 0 {
			return fmt.Errorf("%s has no runs", name)
		}
		r.Comparisons = slices.DeleteFunc(r.Comparisons, func(c Comparison) bool { return !c.link(r) })
	case s.Versus != nil:
		v := s.Versus
		named(v.Runs)
		v.rep = &Report{Runs: v.Runs, Failures: v.Failures}
		for i := range v.Pairs {
			if c := v.Pairs[i].Comparison; c.link(v.rep) {
				v.rep.Comparisons = append(v.rep.Comparisons, c)
			}
		}
		if len(v.rep.Comparisons) == 0 {
			return fmt.Errorf("%s has no pair of runs", name)
		}
	case s.WhatIf != nil:
		for i := range s.WhatIf.Responses {
			s.WhatIf.Responses[i].link()
		}
	case s.Sensitivity != nil:
		for i := range s.Sensitivity.Ranked {
			for j := range s.Sensitivity.Ranked[i].Keys {
				s.Sensitivity.Ranked[i].Keys[j].link()
			}
		}
	}
	return nil
}

// link takes the values of each point from its settings, in the order of the changes.
func (r *Response) link() {
	r.Base.Result.Variant = r.Base.Variant
	for j := range r.Points {
		p := &r.Points[j]
		p.values = make([]string, len(r.Changes))
		for _, set := range p.Set {
			k, v, _ := strings.Cut(set, "=")
			if n := slices.IndexFunc(r.Changes, func(c Change) bool { return c.Key == k }); n >= 0 {
				p.values[n] = v
			}
		}
	}
}

// link takes the larger change of the two steps.
func (e *Effect) link() {
	for _, st := range []*Step{e.Down, e.Up} {
		if st != nil {
			e.effect = max(e.effect, st.Change, -st.Change)
		}
	}
}

// link finds the two runs of a comparison.
func (c *Comparison) link(rep *Report) bool {
	c.vari = rep.Find(c.Arch, c.Variant, c.Launch)
	c.base = baselineOf(rep, c.Arch, c.Baseline, c.Launch)
	return c.base != nil && c.vari != nil
}

func (s *Saved) readSweep(name string, text []byte) error {
	in := bufio.NewReader(bytes.NewReader(text))
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			rec := &SweepRecord{}
			if e := json.Unmarshal(line, rec); e != nil {
				return fmt.Errorf("%s:%d: no record of a sweep: %w", name, n, e)
			}
			if rec.Result != nil {
				rec.Result.Result.Variant = rec.Result.Variant
			}
			s.Sweep = append(s.Sweep, rec)
		}
		if err == io.EOF {
			break
		} else if err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(s.Sweep, func(r *SweepRecord) bool { return r.Result != nil }) {
		return fmt.Errorf("%s has no point with a result", name)
	}
	return nil
}

// readScatter reads a table of measured and predicted values.
func readScatter(name string, text []byte) (*plots.Scatter, error) {
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(rows) < 2 {
		return nil, fmt.Errorf("%s: neither a result of smsim nor a CSV table with the columns measured and predicted", name)
	}
	m, p, c := slices.Index(rows[0], "measured"), slices.Index(rows[0], "predicted"), slices.Index(rows[0], "class")
	if m < 0 || p < 0 {
		return nil, fmt.Errorf("%s: the table has no columns measured and predicted; it has %s", name, list(rows[0]))
	}
	s := &plots.Scatter{Title: "Predicted against measured", Unit: "as in the table", Error: 0.1}
	at := map[string]int{}
	for i, row := range rows[1:] {
		var v [2]float64
		for k, col := range []int{m, p} {
			if v[k], err = strconv.ParseFloat(row[col], 64); err != nil || !(v[k] > 0) {
				return nil, fmt.Errorf("%s:%d: %s is %q, not a number above 0", name, i+2, rows[0][col], row[col])
			}
		}
		class := "all"
		if c >= 0 {
			class = row[c]
		}
		n, ok := at[class]
		if !ok {
			n = len(s.Clouds)
			at[class] = n
			s.Clouds = append(s.Clouds, plots.Cloud{Name: class})
		}
		s.Clouds[n].Measured, s.Clouds[n].Predicted = append(s.Clouds[n].Measured, v[0]), append(s.Clouds[n].Predicted, v[1])
	}
	return s, nil
}
