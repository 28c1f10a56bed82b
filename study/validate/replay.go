package validate

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/lower"
	"github.com/sarchlab/smsim/isa/ptx"
	"github.com/sarchlab/smsim/isa/sass"
	"github.com/sarchlab/smsim/sim"
	"github.com/sarchlab/smsim/sm"
	"github.com/sarchlab/smsim/study/lazy"
)

// The machine that the measurements come from.
const (
	measuredSMs  = 132
	measuredL2   = 60 << 20
	measuredMHz  = 1980
	measuredArch = 90 // target of listings that do not say theirs
)

// Micro kernels that were assembled word by word have 21,504 bytes of static shared memory, 1 KB of it the system's; their
// listings do not say so.
const exactSharedBytes = 21504

// ptxSharedBytes is the most static shared memory that a compiled micro kernel has; listings do not say how much it is.
const ptxSharedBytes = 36864

// usesShared says whether a program accesses shared memory.
func usesShared(p *isa.Program) bool {
	return slices.ContainsFunc(p.Insts, func(in isa.Inst) bool {
		switch in.Op {
		case isa.OpLDS, isa.OpSTS, isa.OpATOMS, isa.OpLD, isa.OpST: // the last two by generic addresses
			return true
		}
		return false
	})
}

// stackBytes is the local memory of micro kernels, whose listings do not give it: more than any of them uses.
const stackBytes = 4096

// library gives programs out of the folder's listings and PTX files, each file read once. It is safe for concurrent use.
type library struct {
	dir  fs.FS
	arch *configs.Arch

	listings lazy.Values[string, *sass.Listing] // by path
	modules  lazy.Values[string, *ptx.Module]   // by path
	consts   func() (map[string]map[uint8][]byte, error)
	operands func() ([3][]byte, error)
}

func newLibrary(dir fs.FS, a *configs.Arch) *library {
	l := &library{dir: dir, arch: a}
	l.consts, l.operands = sync.OnceValues(l.readConstants), sync.OnceValues(l.readOperands)
	return l
}

func (l *library) listing(path string) (*sass.Listing, error) {
	return l.listings.Get(path, func() (*sass.Listing, error) {
		b, err := readFile(l.dir, path)
		if err != nil {
			return nil, err
		}
		return sass.Read(path, b)
	})
}

// fromListing is a function of a listing as a program.
func (l *library) fromListing(path, function string) (*isa.Program, error) {
	li, err := l.listing(path)
	if err != nil {
		return nil, err
	}
	f, err := li.Entry(function)
	if err != nil {
		return nil, err
	}
	sm := f.SM
	if sm == 0 {
		sm = measuredArch
	}
	return li.Program(f, sm)
}

// fromPTX is an entry of a PTX file, lowered for the architecture.
func (l *library) fromPTX(path, function string) (*isa.Program, error) {
	m, err := l.module(path)
	if err != nil {
		return nil, err
	}
	return lower.Compile(m, function, l.arch.Target(), lower.Options{})
}

func (l *library) module(path string) (*ptx.Module, error) {
	return l.modules.Get(path, func() (*ptx.Module, error) {
		b, err := readFile(l.dir, path)
		if err != nil {
			return nil, err
		}
		return ptx.Parse(path, b)
	})
}

// addVariables gives machine code the module variables that its listing lacks, from the PTX that it was compiled from. Without PTX a
// kernel that reads them fails with a message of its own.
func (l *library) addVariables(p *isa.Program, path string) error {
	lacks := func(bank uint8) bool { return p.ConstBanks[bank] == nil && p.ReadsBank(bank) }
	if !lacks(3) && !lacks(4) {
		return nil
	}
	m, err := l.module(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return lower.AddModule(p, m, l.arch.Target())
}

// readOperands reads the three input arrays of the form kernels, 2,048 64-bit words each.
func (l *library) readOperands() (in [3][]byte, err error) {
	b, err := readFile(l.dir, "forms/inputs.bin")
	if errors.Is(err, fs.ErrNotExist) {
		b, err = bundledInputs()
	}
	if err != nil {
		return in, err
	}
	n := len(b) / 3
	for i := range in {
		in[i] = b[n*i : n*(i+1)]
	}
	return in, nil
}

// worker replays rows one after another.
type worker struct {
	lib     *library
	arch    *configs.Arch
	buf     *zeros // data buffer of micro kernels
	written bool   // buf may hold something else than zeros
	key     string
	prog    *isa.Program
}

// program is the row's kernel; rows of one kernel come in a row, so that one is kept.
func (w *worker) program(r *row, in Input) (*isa.Program, error) {
	key := string(in) + r.listing + ":" + r.kernel
	if w.key == key {
		return w.prog, nil
	}
	w.key = ""
	var p *isa.Program
	var err error
	if in == FromPTX {
		p, err = w.lib.fromPTX(r.source, r.kernel)
	} else {
		p, err = w.lib.fromListing(r.listing, r.kernel)
	}
	if err != nil {
		return nil, err
	}
	if r.plan.record == 64 {
		switch {
		case strings.HasPrefix(r.kernel, "x_"):
			p.SharedBytes = max(p.SharedBytes, exactSharedBytes)
		case usesShared(p):
			p.SharedBytes = max(p.SharedBytes, ptxSharedBytes)
		}
		p.LocalBytes = max(p.LocalBytes, stackBytes)
		if err := w.lib.constants(p); err != nil {
			return nil, err
		}
	}
	w.key, w.prog = key, p
	return p, nil
}

// predict runs a row and returns the cycles that its own clock reads saw: latest end minus earliest start.
func (w *worker) predict(r *row, in Input) (float64, *sim.Result, error) {
	if r.err != nil {
		return 0, nil, r.err
	}
	p, err := w.program(r, in)
	if err != nil {
		return 0, nil, err
	}
	mem := isa.NewMemory()
	pl := &r.plan
	l := &isa.Launch{Grid: isa.Dim3{X: uint32(pl.grid), Y: 1, Z: 1}, Block: isa.Dim3{X: uint32(pl.block), Y: 1, Z: 1},
		Mem: mem, DynamicShared: pl.shared, NumSMs: measuredSMs}
	opt := sm.Options{NumSMs: measuredSMs, ClockMHz: measuredMHz, L2Bytes: measuredL2, AllSMsActive: pl.allSMs, MaxCycles: rowCycles}
	var out *isa.Buffer
	l.Params = make([]byte, 40)
	put := func(off int, v uint64) { binary.LittleEndian.PutUint64(l.Params[off:], v) }
	if pl.record == 16 { // forms: A, B, C, D, T
		in, err := w.lib.operands()
		if err != nil {
			return 0, nil, err
		}
		for i, name := range []string{"A", "B", "C"} {
			b := mem.Alloc(name, uint64(len(in[i])))
			copy(b.Data, in[i])
			put(8*i, b.Addr)
		}
		put(24, mem.Alloc("D", uint64(16*pl.block)).Addr)
		out = mem.Alloc("T", uint64(16*pl.block*pl.grid))
		put(32, out.Addr)
	} else { // micro: buf, out, n, s, m, k
		buf, footprint, err := w.buffer(mem, pl)
		if err != nil {
			return 0, nil, err
		}
		opt.FootprintBytes = footprint
		out = mem.Alloc("out", uint64(64*((pl.block+31)/32)*pl.grid))
		put(0, buf.Addr)
		put(8, out.Addr)
		for i, v := range pl.params {
			binary.LittleEndian.PutUint32(l.Params[16+4*i:], v)
		}
	}
	res, err := sm.Run(w.arch, p, l, opt)
	if err != nil {
		return 0, nil, err
	}
	if m := &res.Memory; m.GlobalStores > 2*uint64(pl.block+31)/32*uint64(pl.grid) || m.Atomics > 0 {
		w.written = true
	}
	cycles, ok := clockSpan(out.Data, pl.record)
	if !ok {
		return 0, res, fmt.Errorf("kernel %s left no clock values", r.kernel)
	}
	return cycles, res, nil
}

// rowCycles ends a replay that goes nowhere: the longest walk takes 200 million cycles, most of them before its clock starts.
const rowCycles = 1e9

// clockSpan is latest end minus earliest start of records that begin with two clock values; records of blocks that did not
// run are zero.
func clockSpan(data []byte, record int) (cycles float64, ok bool) {
	var lo, hi uint64
	for off := 0; off+16 <= len(data); off += record {
		t0, t1 := binary.LittleEndian.Uint64(data[off:]), binary.LittleEndian.Uint64(data[off+8:])
		if t0 == 0 && t1 == 0 {
			continue
		}
		if !ok || t0 < lo {
			lo = t0
		}
		hi, ok = max(hi, t1), true
	}
	return float64(hi - lo), ok
}

// l2Line is what a link of a chain takes of L2 at most.
const l2Line = 128

// buffer attaches the data buffer of a micro kernel: zeros, or a pointer chain. The footprint is what L2 held when the timed
// launch began: the bytes that the launches before touched, or more than L2 if each launch had memory of its own.
func (w *worker) buffer(mem *isa.Memory, pl *plan) (b *isa.Buffer, footprint uint64, err error) {
	c, isChain, err := parseChain(pl.init)
	if err != nil {
		return nil, 0, err
	}
	if w.buf == nil || w.written || isChain {
		if err := w.close(); err != nil {
			return nil, 0, err
		}
		if w.buf, err = newZeros(bufferBytes); err != nil {
			return nil, 0, fmt.Errorf("no address space for the data buffer: %w", err)
		}
		w.written = isChain
	}
	b = mem.Attach("buf", w.buf.data)
	switch {
	case isChain:
		// 16 loads a round; n rounds timed, m before them.
		steps := 16 * (uint64(pl.params[0]) + uint64(pl.params[2]) + 1)
		c.write(b.Data, b.Addr, steps)
		return b, min(steps, c.count) * min(max(c.stride, 32), l2Line), nil
	case pl.rotates:
		return b, bufferBytes, nil
	}
	return b, 0, nil
}

// close frees the data buffer.
func (w *worker) close() error {
	if w.buf == nil {
		return nil
	}
	z := w.buf
	w.buf = nil
	return z.free()
}
