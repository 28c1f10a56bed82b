package study

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/study/page"
)

// ArchSummary is a line of the list of architectures.
type ArchSummary struct {
	Name              string         `json:"name"`
	ComputeCapability string         `json:"compute_capability"`
	Family            string         `json:"family"`
	Board             string         `json:"board"`
	SMs               int            `json:"sms"`
	ClockMHz          float64        `json:"clock_mhz"`
	SubPartitions     int            `json:"sub_partitions"`
	MaxWarps          int            `json:"max_warps"`
	Registers         int            `json:"registers"`
	SharedBytes       int            `json:"shared_bytes"`
	Numbers           map[string]int `json:"numbers_by_confidence"`
}

// ArchKey is one number of an architecture with its provenance.
type ArchKey struct {
	Path       string `json:"key"`
	Value      string `json:"value"`
	Confidence string `json:"confidence"`
	Source     string `json:"source"`
	Note       string `json:"note,omitempty"`
	Doc        string `json:"meaning"`
}

// ArchChange is a number in which two architectures differ; a side without the row is absent.
type ArchChange struct {
	Path string   `json:"key"`
	A    *ArchKey `json:"a"`
	B    *ArchKey `json:"b"`
}

// LoadArch loads an architecture by name, path or board: "sm_86", "8.6", "my.yaml", "RTX 3060".
func LoadArch(name string) (*configs.Arch, error) {
	a, err := configs.Load(name, nil)
	if err == nil {
		return a, nil
	}
	b, boardErr := configs.LoadBoard(name)
	if boardErr == nil {
		if a, err := configs.Load(b.Arch, nil); err == nil {
			a.Board = b.Name
			return a, nil
		}
	}
	if strings.Contains(boardErr.Error(), "did you mean") && !strings.Contains(err.Error(), "did you mean") {
		err = boardErr
	}
	return nil, &InputError{err}
}

func summary(a *configs.Arch) (ArchSummary, error) {
	b, err := configs.LoadBoard(a.Board)
	if err != nil {
		return ArchSummary{}, err
	}
	s := ArchSummary{a.Name, a.ComputeCapability, a.Family, b.Name, b.SMs, b.ClockMHz, a.SM.SubPartitions, a.Occupancy.MaxWarps, a.Occupancy.Registers,
		a.Occupancy.SharedBytes, map[string]int{}}
	for c, n := range confidenceCounts(a) {
		s.Numbers[string(c)] = n
	}
	return s, nil
}

func archKey(k *configs.Key) *ArchKey {
	if k == nil {
		return nil
	}
	return &ArchKey{k.Path, k.Value, string(k.Confidence), k.Source, k.Note, k.Doc}
}

// ListArchs writes the list of architectures as text, json or csv.
func ListArchs(w io.Writer, format string) error {
	if format == "text" {
		return WriteArchs(w)
	}
	var all []ArchSummary
	for _, name := range configs.List() {
		a, err := configs.Load(name, nil)
		if err != nil {
			return err
		}
		s, err := summary(a)
		if err != nil {
			return err
		}
		all = append(all, s)
	}
	if format == "json" {
		return page.JSON(w, all)
	}
	rows := [][]string{{"arch", "compute_capability", "family", "board", "sms", "clock_mhz", "sub_partitions", "max_warps", "registers", "shared_bytes",
		"measured", "published", "derived", "assumed"}}
	for _, s := range all {
		row := []string{s.Name, s.ComputeCapability, s.Family, s.Board, strconv.Itoa(s.SMs), number(s.ClockMHz)}
		for _, n := range []int{s.SubPartitions, s.MaxWarps, s.Registers, s.SharedBytes, s.Numbers["measured"], s.Numbers["published"], s.Numbers["derived"], s.Numbers["assumed"]} {
			row = append(row, strconv.Itoa(n))
		}
		rows = append(rows, row)
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// ListBoards writes the known products as text, json or csv.
func ListBoards(w io.Writer, format string) error {
	if format == "text" {
		return WriteBoards(w)
	}
	boards, err := configs.Boards()
	if err != nil {
		return err
	}
	type board struct {
		Name       string  `json:"name"`
		Arch       string  `json:"arch"`
		SMs        int     `json:"sms"`
		ClockMHz   float64 `json:"clock_mhz"`
		L2KB       int     `json:"l2_kb"`
		MemoryGBs  float64 `json:"memory_gb_s"`
		Confidence string  `json:"confidence"`
		Source     string  `json:"source"`
	}
	var all []board
	rows := [][]string{{"board", "arch", "sms", "clock_mhz", "l2_kb", "memory_gb_s", "confidence", "source"}}
	for _, b := range boards {
		all = append(all, board{b.Name, b.Arch, b.SMs, b.ClockMHz, b.L2KB, b.MemoryGBs, string(b.Confidence), b.Source})
		rows = append(rows, []string{b.Name, b.Arch, strconv.Itoa(b.SMs), number(b.ClockMHz), strconv.Itoa(b.L2KB), number(b.MemoryGBs), string(b.Confidence), b.Source})
	}
	if format == "json" {
		return page.JSON(w, all)
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// ShowArch writes every number of an architecture with its provenance, as text, json, csv, or yaml, which [configs.Load] reads; filter
// keeps keys that contain it.
func ShowArch(w io.Writer, name, filter, format string) error {
	a, err := LoadArch(name)
	if err != nil {
		return err
	}
	switch format {
	case "text":
		return writeArch(w, a, filter)
	case "yaml":
		if !slices.ContainsFunc(a.Keys(), func(k configs.Key) bool { return strings.Contains(k.Path, filter) }) {
			return noKey(a, filter)
		}
		return a.WriteYAML(w, filter)
	}
	s, err := summary(a)
	if err != nil {
		return err
	}
	var keys []*ArchKey
	rows := [][]string{{"key", "value", "confidence", "source", "note", "meaning"}}
	for _, k := range a.Keys() {
		if strings.Contains(k.Path, filter) {
			keys = append(keys, archKey(&k))
			rows = append(rows, []string{k.Path, k.Value, string(k.Confidence), k.Source, k.Note, k.Doc})
		}
	}
	if len(keys) == 0 {
		return noKey(a, filter)
	}
	if format == "json" {
		return page.JSON(w, struct {
			ArchSummary
			Keys []*ArchKey `json:"keys"`
		}{s, keys})
	}
	return csv.NewWriter(w).WriteAll(rows)
}

func noKey(a *configs.Arch, filter string) error {
	return &InputError{fmt.Errorf("%s has no key that contains %q", a.Name, filter)}
}

// DiffArchs writes the numbers in which two architectures differ.
func DiffArchs(w io.Writer, nameA, nameB, filter, format string) error {
	a, err := LoadArch(nameA)
	if err != nil {
		return err
	}
	b, err := LoadArch(nameB)
	if err != nil {
		return err
	}
	changes := []ArchChange{}
	for _, d := range configs.Diff(a, b) {
		if strings.Contains(d.Path, filter) {
			changes = append(changes, ArchChange{d.Path, archKey(d.A), archKey(d.B)})
		}
	}
	if format == "json" {
		return page.JSON(w, struct {
			A           string       `json:"a"`
			B           string       `json:"b"`
			Differences []ArchChange `json:"differences"`
		}{a.Name, b.Name, changes})
	}
	rows := [][]string{{"key", a.Name, b.Name, "confidence " + a.Name, "confidence " + b.Name}}
	for _, c := range changes {
		row := []string{c.Path, "", "", "", ""}
		for i, k := range []*ArchKey{c.A, c.B} {
			if k != nil {
				row[1+i], row[3+i] = k.Value, k.Confidence
			}
		}
		rows = append(rows, row)
	}
	if format == "csv" {
		return csv.NewWriter(w).WriteAll(rows)
	}
	t := &textWriter{w: w}
	if len(changes) == 0 {
		t.printf("%s and %s: no number differs\n", nameA, nameB)
		return t.err
	}
	tw := page.NewTable("key", a.Name, b.Name, "confidence")
	for _, r := range rows[1:] {
		for i := 1; i <= 4; i++ {
			if r[i] == "" {
				r[i] = "-"
			}
		}
		how := r[3]
		if r[4] != r[3] {
			how += " / " + r[4]
		}
		tw.AppendRow([]any{r[0], page.Clip(r[1], 17), page.Clip(r[2], 17), how})
	}
	t.table("", tw)
	t.printf("\n%s; - : the architecture has no such opcode class or pipe.\n", page.Plural(len(changes), "difference"))
	return t.err
}

// idleNumbers says which of an architecture's numbers another one keeps from ever deciding.
func idleNumbers(a *configs.Arch) []string {
	o := &a.Occupancy
	if warps := o.MaxThreads / 32; warps < o.MaxWarps {
		return []string{fmt.Sprintf("occupancy.max_threads: %d threads are %d warps, so the rest of occupancy.max_warps: %d stays empty. Change both for an SM with more or fewer warps.", o.MaxThreads, warps, o.MaxWarps)}
	}
	return nil
}

// ArchCheck is what a check of an architecture file found.
type ArchCheck struct {
	File string `json:"file"`
	ArchSummary
	Base    string       `json:"base,omitempty"`
	Changes []ArchChange `json:"changes"`         // against the base; A is the base's number
	Notes   []string     `json:"notes,omitempty"` // numbers without effect
}

// CheckArch loads a user's architecture through the checks that the bundled ones pass, and lists what it changes in its base.
func CheckArch(w io.Writer, file, format string) error {
	a, err := configs.Load(file, nil)
	if err != nil {
		return &InputError{err}
	}
	s, err := summary(a)
	if err != nil {
		return &InputError{err}
	}
	c := ArchCheck{File: file, ArchSummary: s, Base: a.Base, Changes: []ArchChange{}}
	against := a.Base
	if against == "" { // a complete file
		against = a.ComputeCapability
	}
	if base, err := configs.Load(against, nil); err == nil {
		against = base.Name
		for _, d := range configs.Diff(base, a) {
			c.Changes = append(c.Changes, ArchChange{d.Path, archKey(d.A), archKey(d.B)})
		}
	}
	c.Notes = idleNumbers(a)
	if format == "json" {
		return page.JSON(w, c)
	}
	t := &textWriter{w: w}
	n := s.Numbers
	t.printf("%s: sound. %s, %s, compute capability %s, board %s.\n", file, s.Name, s.Family, s.ComputeCapability, s.Board)
	t.printf("%d numbers: %d measured, %d published, %d derived, %d assumed.\n", n["measured"]+n["published"]+n["derived"]+n["assumed"], n["measured"], n["published"],
		n["derived"], n["assumed"])
	if len(c.Changes) > 0 {
		tw := page.NewTable("changed", "in "+against, "here", "confidence here")
		for _, d := range c.Changes {
			row := []any{d.Path, "-", "-", ""}
			if d.A != nil {
				row[1] = page.Clip(d.A.Value, 24)
			}
			if d.B != nil {
				row[2], row[3] = page.Clip(d.B.Value, 24), d.B.Confidence
			}
			tw.AppendRow(row)
		}
		t.table("", tw)
	}
	for _, n := range c.Notes {
		t.printf("\n")
		t.paragraph(n, "")
	}
	if n := len(a.Disowned); n > 0 {
		t.printf("\n")
		t.paragraph(fmt.Sprintf("%s of those that differ from %s: the file gives them the source that %s has for its own. They count as assumed until they have a source "+
			"and a confidence of their own.", page.Plural(n, "number"), against, against), "")
	}
	return t.err
}
