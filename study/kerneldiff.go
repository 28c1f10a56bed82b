package study

import (
	"encoding/binary"
	"fmt"
	"io"
	"sort"
	"strings"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/study/page"
	"github.com/sarchlab/smsim/workloads"
)

// KernelSide is one of two kernels that get the same launch.
type KernelSide struct {
	Source       string `json:"source"`
	Kernel       string `json:"kernel"`
	Arch         string `json:"arch"`
	Registers    int    `json:"registers"`
	Instructions int    `json:"instructions"` // static
	Executed     uint64 `json:"warp_instructions"`

	classes map[string]uint64
	arch    *configs.Arch
	program *isa.Program
	bufs    []*isa.Buffer
}

// KernelDiff compares two kernels that got the same launch.
type KernelDiff struct {
	A       KernelSide       `json:"a"`
	B       KernelSide       `json:"b"`
	Equal   bool             `json:"equal"`
	Words   int              `json:"words"`   // compared: 32-bit words of all buffers
	Differ  int              `json:"differ"`  // of which are different
	First   *FirstDifference `json:"first"`   // null if equal
	Buffers []BufferDiff     `json:"buffers"` // those that differ
	Classes []MixRow         `json:"classes"` // executed warp-instructions by class
	Pipes   []MixRow         `json:"pipes"`   // and by pipe
}

// FirstDifference is the first word in which the results differ.
type FirstDifference struct {
	Buffer string  `json:"buffer"`
	Word   int     `json:"word"`
	A      string  `json:"a"`
	B      string  `json:"b"`
	StoreA *Storer `json:"stored_a"` // who stored it last; null: nobody
	StoreB *Storer `json:"stored_b"`
}

// Storer is the thread and instruction that stored a word last.
type Storer struct {
	Block  [3]uint32 `json:"block"`
	Thread [3]uint32 `json:"thread"`
	Warp   int       `json:"warp"`
	Lane   int       `json:"lane"`
	PC     uint32    `json:"pc"`
	Text   string    `json:"text"`
	Line   int       `json:"line"`
}

// BufferDiff counts the words of a buffer that differ.
type BufferDiff struct {
	Name   string `json:"name"`
	Words  int    `json:"words"`
	Differ int    `json:"differ"`
}

// MixRow is the count of one class or pipe in both kernels.
type MixRow struct {
	Name string `json:"name"`
	A    uint64 `json:"a"`
	B    uint64 `json:"b"`
}

// diffSteps bounds the warp-instructions of each kernel.
const diffSteps = 400_000_000

// DiffKernels executes two kernels on the same launch without timing and compares all buffers and the instructions executed.
// The cases differ in kernel file and entry only.
func DiffKernels(plan *workloads.Plan, a, b *workloads.Case, archA, archB string) (*KernelDiff, error) {
	rep := &KernelDiff{}
	for _, s := range []struct {
		cs   *workloads.Case
		arch string
		side *KernelSide
	}{{a, archA, &rep.A}, {b, archB, &rep.B}} {
		if err := s.side.run(plan, s.cs, s.arch, nil); err != nil {
			return nil, err
		}
	}
	rep.compare()
	if rep.First != nil {
		word := rep.First.at()
		if err := rep.storers(plan, a, b, archA, archB, word); err != nil {
			return nil, err
		}
	}
	rep.mix()
	return rep, nil
}

// KernelArchs are the architectures of the two sides: the one asked for, else a listing's own, else the other's, else the
// default.
func KernelArchs(asked string, a, b *workloads.KernelFile) (archA, archB string) {
	if asked != "" {
		return asked, asked
	}
	own := func(f *workloads.KernelFile) string {
		if f.IsListing() {
			return defaultArchs(f)[0]
		}
		return ""
	}
	archA, archB = own(a), own(b)
	if archA == "" {
		archA = archB
	}
	if archA == "" {
		archA = DefaultArch
	}
	if archB == "" {
		archB = archA
	}
	return archA, archB
}

// run executes the whole grid. watch, if given, is told of every store.
func (s *KernelSide) run(plan *workloads.Plan, cs *workloads.Case, arch string, watch func(k *isa.Kernel, w *isa.Warp, e *isa.Effect)) error {
	c, err := newCompiler(plan, []string{arch})
	if err != nil {
		return &InputError{err}
	}
	m := c.machines[c.order[0]]
	p, err := c.program(cs, m)
	if err != nil {
		return &InputError{err}
	}
	if err := checkLimits(cs, p, m.arch); err != nil {
		return &InputError{err}
	}
	l, bufs, err := cs.NewLaunch(p)
	if err != nil {
		return &InputError{err}
	}
	blocks, err := gridBlocks(cs)
	if err != nil {
		return &InputError{err}
	}
	l.NumSMs, l.MaxSteps = m.board.SMs, diffSteps
	k, err := isa.Bind(p, m.target, l)
	if err != nil {
		return &InputError{err}
	}
	*s = KernelSide{Source: cs.Kernel.Path, Kernel: p.Name, Arch: m.arch.Name, Registers: p.Regs, Instructions: len(p.Insts),
		classes: map[string]uint64{}, arch: m.arch, program: p, bufs: bufs}
	counts := make([]uint64, len(p.Insts))
	for i := range blocks {
		n, err := k.WatchBlock(i, s.Executed, func(w *isa.Warp, e *isa.Effect) {
			counts[e.Index]++
			if watch != nil && e.Store && e.Addr != nil && e.Space == isa.SpaceGlobal {
				watch(k, w, e)
			}
		})
		s.Executed += n
		if err != nil {
			return fmt.Errorf("%s, kernel %s: %w", cs.Kernel.Path, p.Name, err)
		}
	}
	for i, n := range counts {
		if n > 0 {
			s.classes[p.Insts[i].Class().String()] += n
		}
	}
	return nil
}

func (rep *KernelDiff) compare() {
	rep.Equal = true
	for i, x := range rep.A.bufs {
		if x == nil {
			continue
		}
		y := rep.B.bufs[i]
		d := BufferDiff{Name: x.Name, Words: (len(x.Data) + 3) / 4}
		rep.Words += d.Words
		for w := range d.Words {
			u, v := word(x.Data, w), word(y.Data, w)
			if u == v {
				continue
			}
			d.Differ++
			if rep.First == nil {
				rep.First = &FirstDifference{Buffer: x.Name, Word: w, A: fmt.Sprintf("0x%08x", u), B: fmt.Sprintf("0x%08x", v)}
			}
		}
		if d.Differ > 0 {
			rep.Equal = false
			rep.Differ += d.Differ
			rep.Buffers = append(rep.Buffers, d)
		}
	}
}

// word is 32-bit word w of the bytes, which may end within it.
func word(b []byte, w int) uint32 {
	var v [4]byte
	copy(v[:], b[4*w:])
	return binary.LittleEndian.Uint32(v[:])
}

// at is the byte offset of the difference in its buffer.
func (d *FirstDifference) at() uint64 { return 4 * uint64(d.Word) }

// storers runs both kernels again to find who stored the first different word.
func (rep *KernelDiff) storers(plan *workloads.Plan, a, b *workloads.Case, archA, archB string, offset uint64) error {
	find := func(cs *workloads.Case, arch string, bufs []*isa.Buffer) (*Storer, error) {
		var base uint64
		for _, x := range bufs {
			if x != nil && x.Name == rep.First.Buffer {
				base = x.Addr + offset
			}
		}
		var last *Storer
		var s KernelSide
		err := s.run(plan, cs, arch, func(k *isa.Kernel, w *isa.Warp, e *isa.Effect) {
			for lane := range 32 {
				if at := e.Addr[lane]; e.Exec>>lane&1 != 0 && at < base+4 && at+uint64(e.Size) > base {
					t := k.Launch.Block.At(w.Index*32 + lane)
					id := w.Block.ID
					last = &Storer{Block: [3]uint32{id.X, id.Y, id.Z}, Thread: [3]uint32{t.X, t.Y, t.Z}, Warp: w.Index, Lane: lane,
						PC: e.Inst.PC, Text: k.Program.Text(e.Index), Line: int(e.Inst.Pos.Line)}
				}
			}
		})
		return last, err
	}
	var err error
	if rep.First.StoreA, err = find(a, archA, rep.A.bufs); err != nil {
		return err
	}
	rep.First.StoreB, err = find(b, archB, rep.B.bufs)
	return err
}

// mix compares the instructions executed by class and by pipe.
func (rep *KernelDiff) mix() {
	classes, pipes := map[string]*MixRow{}, map[string]*MixRow{}
	add := func(m map[string]*MixRow, name string, side int, n uint64) {
		r := m[name]
		if r == nil {
			r = &MixRow{Name: name}
			m[name] = r
		}
		if side == 0 {
			r.A += n
		} else {
			r.B += n
		}
	}
	for side, s := range []*KernelSide{&rep.A, &rep.B} {
		for c, n := range s.classes {
			add(classes, c, side, n)
			p := strings.Join(s.arch.Classes[c].Pipe, "+")
			if p == "" {
				p = "none"
			}
			add(pipes, p, side, n)
		}
	}
	rep.Classes, rep.Pipes = mixRows(classes), mixRows(pipes)
}

func mixRows(m map[string]*MixRow) []MixRow {
	out := []MixRow{}
	for _, r := range m {
		out = append(out, *r)
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := max(out[i].A, out[i].B), max(out[j].A, out[j].B)
		return a > b || a == b && out[i].Name < out[j].Name
	})
	return out
}

// WriteKernelDiff writes the comparison as text or json.
func WriteKernelDiff(w io.Writer, rep *KernelDiff, format string) error {
	if format == "json" {
		return page.JSON(w, rep)
	}
	t := &textWriter{w: w}
	for _, s := range []struct {
		name string
		side *KernelSide
	}{{"a", &rep.A}, {"b", &rep.B}} {
		t.paragraph(fmt.Sprintf("%s: %s of %s on %s: %s, %s, %s warp-instructions executed", s.name, s.side.Kernel, s.side.Source, s.side.Arch,
			page.Plural(s.side.Instructions, "instruction"), page.Plural(s.side.Registers, "register"), thousands(s.side.Executed)), "   ")
		for _, n := range s.side.program.Notes {
			t.paragraph("note: "+n, "   ")
		}
	}
	if rep.Equal {
		t.printf("results equal: %s of all buffers\n", page.Plural(rep.Words, "word"))
	} else {
		f := rep.First
		t.printf("results differ in %d of %s\n", rep.Differ, page.Plural(rep.Words, "word"))
		for _, b := range rep.Buffers {
			t.printf("  %s: %d of %s\n", b.Name, b.Differ, page.Plural(b.Words, "word"))
		}
		t.printf("first difference: %s, word %d: a %s, b %s\n", f.Buffer, f.Word, f.A, f.B)
		t.storer("a", f.StoreA)
		t.storer("b", f.StoreB)
	}
	for _, part := range []struct {
		title, what string
		rows        []MixRow
	}{{"Executed warp-instructions by class", "class", rep.Classes}, {"by pipe", "pipe", rep.Pipes}} {
		tw := page.NewTable(part.what, "a", "b", "b - a")
		page.Right(tw, 2, 4)
		for _, r := range part.rows {
			tw.AppendRow([]any{r.Name, thousands(r.A), thousands(r.B), signed(int64(r.B) - int64(r.A))})
		}
		t.table(part.title, tw)
	}
	t.printf("\n")
	return t.err
}

func signed(n int64) string {
	switch {
	case n > 0:
		return "+" + thousands(uint64(n))
	case n < 0:
		return "-" + thousands(uint64(-n))
	}
	return "0"
}

func (t *textWriter) storer(side string, s *Storer) {
	if s == nil {
		t.printf("  %s: stored by nobody\n", side)
		return
	}
	t.printf("  %s: stored last by thread %d,%d,%d of block %d,%d,%d (warp %d, lane %d) at pc %#x, line %d: %s\n", side, s.Thread[0], s.Thread[1], s.Thread[2],
		s.Block[0], s.Block[1], s.Block[2], s.Warp, s.Lane, s.PC, s.Line, s.Text)
}
