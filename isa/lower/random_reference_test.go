package lower

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/sarchlab/smsim/isa/ptx"
)

// threadReference executes the kernels that programWriter makes as the PTX document defines them: one thread at a time, on 64-bit
// values by name, from the parsed text. Nothing of it is shared with the lowering or the machine-level execution.
type threadReference struct {
	code   []*ptx.Instr
	labels map[string]int
	tables map[string][]string
	regs   map[string]uint64
	carry  uint64
	shared map[uint64]uint64
	out    []byte // what the thread stores, by offset from its part of the output
	stride uint64 // bytes of that part
	in     []byte // input, at inputAt
	consts []byte // constant array "table", at 0 in its space
	local  []byte // "depot", likewise
	base   map[string]uint64
	tid    uint64
}

// inputAt is where the input lies for the reference, apart from the output at 0.
const inputAt = 1 << 40

// newReference flattens the kernel's statements; registers of inner scopes have names of their own.
func newReference(m *ptx.Module) *threadReference {
	r := &threadReference{stride: 64, labels: map[string]int{}, tables: map[string][]string{}}
	var flatten func(b *ptx.Block)
	flatten = func(b *ptx.Block) {
		for _, st := range b.Stmts {
			switch x := st.(type) {
			case *ptx.Label:
				r.labels[x.Name] = len(r.code)
			case *ptx.Targets:
				r.tables[x.Label] = x.Names
			case *ptx.Block:
				flatten(x)
			case *ptx.Instr:
				r.code = append(r.code, x)
			}
		}
	}
	flatten(m.Entry("k").Body)
	return r
}

// run executes one thread.
func (r *threadReference) run(tid, ctaid, n uint64) error {
	r.regs, r.shared, r.out = map[string]uint64{"%ctaid": ctaid, "%ctaid.x": ctaid, "%tid": tid, "%tid.x": tid}, map[uint64]uint64{}, make([]byte, r.stride)
	r.base = map[string]uint64{"n": n, "m": n & 3, "out": 0, "in": inputAt}
	r.tid, r.local = tid, make([]byte, 64)
	for pc, steps := 0, 0; pc < len(r.code); steps++ {
		if steps > 2000000 {
			return fmt.Errorf("thread %d does not end", tid)
		}
		in := r.code[pc]
		pc++
		if g := in.Guard; g != nil && (r.regs[g.Name] != 0) == g.Neg {
			continue
		}
		switch in.Op {
		case "ret":
			return nil
		case "bar":
		case "bra":
			pc = r.labels[in.Args[0].Name]
		case "brx":
			pc = r.labels[r.tables[in.Args[1].Name][r.regs[in.Args[0].Name]]]
		default:
			if err := r.step(in); err != nil {
				return err
			}
		}
	}
	return nil
}

// width is the number of bits of the type that ends the mnemonic.
func width(in *ptx.Instr) (bits uint, signed bool) {
	t := in.Mods[len(in.Mods)-1]
	return uint(typeBits(t)), t[0] == 's'
}

func (r *threadReference) value(a *ptx.Arg) uint64 {
	if a.Kind == ptx.ArgInt {
		if a.Neg {
			return -uint64(a.Int)
		}
		return uint64(a.Int)
	}
	return r.regs[a.Name]
}

func sext(v uint64, n uint) int64 { return int64(v<<(64-n)) >> (64 - n) }

func (r *threadReference) set(a *ptx.Arg, v uint64, n uint) {
	if n < 64 {
		v &= 1<<n - 1
	}
	r.regs[a.Name] = v
}

func (r *threadReference) step(in *ptx.Instr) error {
	w, sgn := width(in)
	v := make([]uint64, len(in.Args))
	for i := range in.Args {
		if v[i] = r.value(&in.Args[i]); w < 64 {
			v[i] &= 1<<w - 1
		}
	}
	less := func(i, k int) bool {
		if sgn {
			return sext(v[i], w) < sext(v[k], w)
		}
		return v[i] < v[k]
	}
	d := &in.Args[0]
	name := in.Op
	if in.Op == "mul" || in.Op == "mad" {
		name += "." + in.Mods[0]
	}
	switch name {
	case "mov":
		switch {
		case d.Kind == ptx.ArgVector:
			r.set(&d.Elems[0], v[1], 32)
			r.set(&d.Elems[1], v[1]>>32, 32)
		case in.Args[1].Name == "buf" || in.Args[1].Name == "table" || in.Args[1].Name == "depot":
			r.set(d, 0, w)
		default:
			r.set(d, v[1], w)
		}
	case "ld":
		switch a := &in.Args[1]; in.Mods[0] {
		case "param":
			r.set(d, r.base[a.Name], 64)
		case "shared":
			r.set(d, r.shared[r.regs[a.Name]+uint64(a.Int)], w)
		default:
			return r.load(in, w, sgn)
		}
	case "st":
		if a := &in.Args[0]; in.Mods[0] == "shared" {
			r.shared[r.regs[a.Name]+uint64(a.Int)] = v[1]
			break
		}
		return r.store(in, w)
	case "add":
		s, c := bits.Add64(v[1], v[2], 0)
		if w == 32 {
			c = s >> 32
		}
		if in.Has("cc") {
			r.carry = c
		}
		r.set(d, s, w)
	case "addc":
		r.set(d, v[1]+v[2]+r.carry, w)
	case "sub":
		if in.Has("cc") {
			r.carry = 0
			if v[1] < v[2] {
				r.carry = 1
			}
		}
		r.set(d, v[1]-v[2], w)
	case "mul.lo":
		r.set(d, v[1]*v[2], w)
	case "mul.wide":
		if sgn {
			r.set(d, uint64(sext(v[1], 32)*sext(v[2], 32)), 64)
		} else {
			r.set(d, v[1]*v[2], 64)
		}
	case "mul.hi":
		if sgn {
			r.set(d, uint64(sext(v[1], 32)*sext(v[2], 32)>>32), w)
		} else {
			r.set(d, v[1]*v[2]>>32, w)
		}
	case "mad.lo":
		r.set(d, v[1]*v[2]+v[3], w)
	case "and":
		r.set(d, v[1]&v[2], w)
	case "or":
		r.set(d, v[1]|v[2], w)
	case "xor":
		r.set(d, v[1]^v[2], w)
	case "not":
		r.set(d, ^v[1], w)
	case "shl":
		if n := r.value(&in.Args[2]) & 0xffffffff; n >= uint64(w) {
			r.set(d, 0, w)
		} else {
			r.set(d, v[1]<<n, w)
		}
	case "shr":
		n := min(r.value(&in.Args[2])&0xffffffff, 64)
		if sgn {
			r.set(d, uint64(sext(v[1], w)>>min(n, 63)), w)
		} else {
			r.set(d, v[1]>>n, w)
		}
	case "min", "max":
		k := 1
		if less(2, 1) == (name == "min") && v[1] != v[2] {
			k = 2
		}
		r.set(d, v[k], w)
	case "setp":
		ok := map[string]bool{"lt": less(1, 2), "ge": !less(1, 2), "gt": less(2, 1), "le": !less(2, 1), "eq": v[1] == v[2], "ne": v[1] != v[2]}[in.Mods[0]]
		if len(in.Args) == 4 {
			q := r.regs[in.Args[3].Name] != 0 != in.Args[3].Neg
			ok = map[string]bool{"and": ok && q, "or": ok || q, "xor": ok != q}[in.Mods[1]]
		}
		r.regs[d.Name] = 0
		if ok {
			r.regs[d.Name] = 1
		}
	case "selp":
		k := 2
		if r.regs[in.Args[3].Name] != 0 {
			k = 1
		}
		r.set(d, v[k], w)
	case "cvt": // between integers
		x := v[1]
		if sgn {
			x = uint64(sext(x, w))
		}
		r.set(d, x, uint(typeBits(in.Mods[0])))
	case "neg":
		r.set(d, -v[1], w)
	case "abs":
		r.set(d, uint64(max(sext(v[1], w), -sext(v[1], w))), w)
	case "cnot":
		var x uint64
		if v[1] == 0 {
			x = 1
		}
		r.set(d, x, w)
	case "popc":
		r.set(d, uint64(bits.OnesCount64(v[1])), 32)
	case "clz":
		r.set(d, uint64(bits.LeadingZeros64(v[1]))-uint64(64-w), 32)
	case "bfe":
		r.set(d, fieldOf(v[1], r.value(&in.Args[2])&0xff, r.value(&in.Args[3])&0xff, w, sgn), w)
	case "prmt":
		r.set(d, permuteBytes(v[1], v[2], v[3]), 32)
	case "shf":
		n, x := v[3]&31, v[2]<<32|v[1]
		if strings.HasPrefix(in.Mods[0], "l") {
			r.set(d, x<<n>>32, 32)
		} else {
			r.set(d, x>>n, 32)
		}
	default:
		return r.rarer(in, name, v, w, sgn)
	}
	return nil
}

// rarer executes the instructions of programWriter.rarer.
func (r *threadReference) rarer(in *ptx.Instr, name string, v []uint64, w uint, sgn bool) error {
	d := &in.Args[0]
	signed := func(i int) int64 { return sext(v[i], w) }
	switch name {
	case "brev":
		r.set(d, uint64(bits.Reverse32(uint32(v[1]))), w)
	case "bfind":
		x := v[1]
		if sgn && signed(1) < 0 {
			x = ^x & (1<<w - 1)
		}
		r.set(d, uint64(bits.Len64(x)-1), 32)
	case "bfi":
		pos, n := r.value(&in.Args[3])&0xff, r.value(&in.Args[4])&0xff
		out := v[2]
		for i := uint64(0); i < n && pos+i < uint64(w); i++ {
			out = out&^(1<<(pos+i)) | v[1]>>i&1<<(pos+i)
		}
		r.set(d, out, w)
	case "mad.wide":
		c := r.value(&in.Args[3])
		if sgn {
			r.set(d, uint64(signed(1)*signed(2))+c, 64)
		} else {
			r.set(d, v[1]*v[2]+c, 64)
		}
	case "lop3":
		lut, out := r.value(&in.Args[4]), uint64(0)
		for i := range 32 {
			out |= lut >> (v[1]>>i&1<<2 | v[2]>>i&1<<1 | v[3]>>i&1) & 1 << i
		}
		r.set(d, out, w)
	case "div", "rem":
		switch {
		case v[2] == 0 && name == "div":
			r.set(d, ^uint64(0), w)
		case v[2] == 0:
			r.set(d, ^uint64(0), w)
		case sgn && name == "div":
			r.set(d, uint64(signed(1)/signed(2)), w)
		case sgn:
			r.set(d, uint64(signed(1)%signed(2)), w)
		case name == "div":
			r.set(d, v[1]/v[2], w)
		default:
			r.set(d, v[1]%v[2], w)
		}
	case "slct":
		k := 2
		if int32(r.value(&in.Args[3])) >= 0 {
			k = 1
		}
		r.set(d, v[k], w)
	case "subc":
		r.set(d, v[1]-v[2]-r.carry, w)
	case "dp4a":
		s := v[3]
		for i := range 4 {
			part := func(x uint64, typ string) int64 {
				if typ == "s32" {
					return int64(int8(x >> (8 * i)))
				}
				return int64(uint8(x >> (8 * i)))
			}
			s += uint64(part(v[1], in.Mods[0]) * part(v[2], in.Mods[1]))
		}
		r.set(d, s, 32)
	case "sad":
		x, y := int64(v[1]), int64(v[2])
		if sgn {
			x, y = signed(1), signed(2)
		}
		r.set(d, uint64(max(x-y, y-x))+v[3], w)
	default:
		return fmt.Errorf("%s: the reference does not know it", in.Text)
	}
	return nil
}

// place is the memory that an access of size bytes goes to.
func (r *threadReference) place(in *ptx.Instr, a *ptx.Arg, size uint64) ([]byte, error) {
	at, mem := r.regs[a.Name]+uint64(a.Int), r.out
	switch {
	case in.Mods[0] == "const":
		mem = r.consts
	case in.Mods[0] == "local":
		mem = r.local
	case at >= inputAt:
		at, mem = at-inputAt, r.in
	default:
		at -= r.stride * r.tid
	}
	if at%size != 0 || at+size > uint64(len(mem)) {
		return nil, fmt.Errorf("%s: access at %#x of %d bytes", in.Text, at, len(mem))
	}
	return mem[at : at+size], nil
}

// words are the registers of a load or store, one or those of a vector.
func words(a *ptx.Arg) []ptx.Arg {
	if a.Kind == ptx.ArgVector {
		return a.Elems
	}
	return []ptx.Arg{*a}
}

func (r *threadReference) load(in *ptx.Instr, w uint, sgn bool) error {
	ds := words(&in.Args[0])
	mem, err := r.place(in, &in.Args[1], uint64(len(ds))*uint64(w/8))
	if err != nil {
		return err
	}
	for i := range ds {
		var x uint64
		for k := range w / 8 {
			x |= uint64(mem[uint(i)*w/8+k]) << (8 * k)
		}
		if sgn {
			x = uint64(sext(x, w))
		}
		r.set(&ds[i], x, max(w, 32)) // registers of the kernels have 32 bits at least
	}
	return nil
}

func (r *threadReference) store(in *ptx.Instr, w uint) error {
	vs := words(&in.Args[1])
	mem, err := r.place(in, &in.Args[0], uint64(len(vs))*uint64(w/8))
	if err != nil {
		return err
	}
	for i := range vs {
		x := r.value(&vs[i])
		for k := range w / 8 {
			mem[uint(i)*w/8+k] = byte(x >> (8 * k))
		}
	}
	return nil
}

// fieldOf is bfe.
func fieldOf(v, pos, n uint64, w uint, sgn bool) uint64 {
	sign := uint64(0)
	if sgn && n > 0 {
		sign = v >> min(pos+n-1, uint64(w)-1) & 1
	}
	var out uint64
	for i := range uint64(w) {
		b := sign
		if i < n && pos+i < uint64(w) {
			b = v >> (pos + i) & 1
		}
		out |= b << i
	}
	return out
}

// permuteBytes is prmt in its default mode.
func permuteBytes(a, b, sel uint64) uint64 {
	x := b<<32 | a
	var out uint64
	for i := range 4 {
		s := sel >> (4 * i)
		v := x >> (8 * (s & 7)) & 0xff
		if s&8 != 0 {
			v = uint64(int64(int8(v))>>7) & 0xff
		}
		out |= v << (8 * i)
	}
	return out
}
