package validate

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/sass"
	"github.com/sarchlab/smsim/sim"
	"github.com/sarchlab/smsim/sm"
)

// Replayer runs measured kernels from their machine code.
type Replayer struct {
	Dir      string
	Arch     *configs.Arch
	listings map[string]*sass.Listing
	programs map[string]*isa.Program
	inputs   [3][]byte // A, B, C of forms
}

// NewReplayer replays the data folder dir on the architecture.
func NewReplayer(dir string, a *configs.Arch) *Replayer {
	return &Replayer{Dir: dir, Arch: a, listings: map[string]*sass.Listing{}, programs: map[string]*isa.Program{}}
}

// program finds a row's kernel in its listing.
func (r *Replayer) program(row *Row) (*isa.Program, error) {
	key := row.Listing + ":" + row.Kernel
	if p := r.programs[key]; p != nil {
		return p, nil
	}
	l := r.listings[row.Listing]
	if l == nil {
		path := filepath.Join(r.Dir, row.Listing)
		b, err := ReadFile(path)
		if err != nil {
			return nil, err
		}
		if l, err = sass.Read(row.Listing, b); err != nil {
			return nil, err
		}
		r.listings[row.Listing] = l
	}
	f, err := l.Entry(row.Kernel)
	if err != nil {
		return nil, fmt.Errorf("no function %s in %s", row.Kernel, row.Listing)
	}
	p, err := l.Program(f, 90)
	if err != nil {
		return nil, err
	}
	r.programs[key] = p
	return p, nil
}

// Predict runs a row and returns the cycles that its own clock reads saw, as the hardware's: latest end
// minus earliest start.
func (r *Replayer) Predict(row *Row) (float64, *sim.Result, error) {
	p, err := r.program(row)
	if err != nil {
		return 0, nil, err
	}
	q := *p
	mem := isa.NewMemory()
	l := &isa.Launch{Grid: isa.Dim3{X: uint32(row.Grid), Y: 1, Z: 1}, Block: isa.Dim3{X: uint32(row.Threads), Y: 1, Z: 1}, Mem: mem, DynamicShared: row.Shared, NumSMs: 132}
	var out *isa.Buffer
	params := make([]byte, 40)
	put := func(off int, v uint64) { binary.LittleEndian.PutUint64(params[off:], v) }
	if row.Record == 16 { // forms: A, B, C, D, T
		if err := r.loadInputs(); err != nil {
			return 0, nil, err
		}
		for i, name := range []string{"A", "B", "C"} {
			b := mem.Alloc(name, uint64(len(r.inputs[i])))
			copy(b.Data, r.inputs[i])
			put(8*i, b.Addr)
		}
		put(24, mem.Alloc("D", uint64(16*row.Threads)).Addr)
		out = mem.Alloc("T", uint64(16*row.Threads*row.Grid))
		put(32, out.Addr)
	} else { // micro: buf, out, n, s, m, k
		buf, err := buffer(mem, row)
		if err != nil {
			return 0, nil, err
		}
		warps := (row.Threads + 31) / 32 * row.Grid
		out = mem.Alloc("out", uint64(64*warps))
		put(0, buf.Addr)
		put(8, out.Addr)
		for i, v := range row.Params {
			binary.LittleEndian.PutUint32(params[16+4*i:], v)
		}
		q.SharedBytes = max(q.SharedBytes, 21504) // exact kernels: 21,504 B static, of which 1 KB the system's
	}
	l.Params = params
	res, err := sm.Run(r.Arch, &q, l, sm.Options{NumSMs: 132})
	if err != nil {
		return 0, nil, err
	}
	var lo, hi uint64
	n := 0
	for off := 0; off+16 <= len(out.Data); off += row.Record {
		t0, t1 := binary.LittleEndian.Uint64(out.Data[off:]), binary.LittleEndian.Uint64(out.Data[off+8:])
		if t0 == 0 && t1 == 0 {
			continue
		}
		if n == 0 || t0 < lo {
			lo = t0
		}
		hi = max(hi, t1)
		n++
	}
	if n == 0 {
		return 0, res, fmt.Errorf("kernel %s left no clock values", row.Kernel)
	}
	return float64(hi - lo), res, nil
}

// loadInputs reads the operand vectors of the forms: three arrays of 2,048 64-bit words.
func (r *Replayer) loadInputs() error {
	if r.inputs[0] != nil {
		return nil
	}
	b, err := ReadFile(filepath.Join(r.Dir, "forms", "inputs.bin"))
	if err != nil {
		return err
	}
	n := len(b) / 3
	for i := range r.inputs {
		r.inputs[i] = b[n*i : n*(i+1)]
	}
	return nil
}

// buffer makes the data buffer of a micro kernel: zeros, or the pointer chain chase:ELEMENTS:STRIDE:SEED.
func buffer(mem *isa.Memory, row *Row) (*isa.Buffer, error) {
	c := strings.Split(row.Init, ":")
	if c[0] != "chase" || len(c) != 4 {
		return mem.Alloc("buf", 1<<20), nil
	}
	var v [3]uint64
	for i := range v {
		n, err := strconv.ParseUint(c[i+1], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("chain %q: %q is not a number", row.Init, c[i+1])
		}
		v[i] = n
	}
	count, stride := v[0], v[1]
	b := mem.Alloc("buf", count*stride+4096)
	perm := make([]uint32, count)
	for i := range perm {
		perm[i] = uint32(i)
	}
	x := v[2] // a random cycle (Sattolo), any generator does
	for i := len(perm) - 1; i > 0; i-- {
		x = x*6364136223846793005 + 1442695040888963407
		j := int(x>>33) % i
		perm[i], perm[j] = perm[j], perm[i]
	}
	for i := range perm {
		next := perm[(i+1)%len(perm)]
		binary.LittleEndian.PutUint64(b.Data[uint64(perm[i])*stride:], b.Addr+uint64(next)*stride)
	}
	return b, nil
}
