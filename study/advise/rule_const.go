package advise

import (
	"encoding/binary"
	"fmt"

	"github.com/sarchlab/smsim/isa/ptx"
	"github.com/sarchlab/smsim/workloads"
)

// launchConstants puts a multiplication in the place of a division by a literal, or by the value that a scalar parameter, the size of block or grid,
// or what is computed from them has at the launch, and removes such a factor one. [Rewrite] keeps the original for launches with other values.
func launchConstants(k *kernel, n *namer) []*site {
	var out []*site
	for _, in := range k.insts {
		switch {
		case in.isAny("div", nil, "u32", "s32", "u64", "s64"), in.isAny("rem", nil, "u32", "s32", "u64", "s64"):
			v, ok := k.launchValue(in, in.Args[2], maxSteps)
			by, width := v.n, uint(64)
			if in.Mods[0][1:] == "32" {
				by, width = int64(int32(v.n)), 32
			}
			if !ok || by == 0 {
				continue
			}
			s := &site{at: []*inst{in}, drop: []*inst{in}, params: v.fits}
			d := &divider{s: s, n: n, at: in, bits: width}
			d.divide(in.Args[0], in.Args[1], by, in.Mods[0][0] == 's', in.Op == "rem")
			out = append(out, s)
		case in.isAny("mul", []string{"lo"}, "u32", "s32"), in.isAny("mad", []string{"lo"}, "u32", "s32"):
			for i := 1; i <= 2; i++ {
				v, ok := k.launchValue(in, in.Args[i], maxSteps)
				if !ok || v.n != 1 || v.fits == nil {
					continue
				}
				s := &site{at: []*inst{in}, drop: []*inst{in}, params: v.fits}
				if in.Op == "mul" {
					s.put(in, op("mov.b32", in.Args[0], in.Args[3-i]))
				} else {
					s.put(in, op("add."+in.Mods[1], in.Args[0], in.Args[3-i], in.Args[3]))
				}
				out = append(out, s)
				break
			}
		}
	}
	return out
}

// launchNumber is a value that is the same in all threads of the launch, and the parameters that it comes from; none: it is constant.
type launchNumber struct {
	n    int64
	fits []launchParam
}

// launchValue finds what an operand is at the launch.
func (k *kernel) launchValue(at *inst, a ptx.Arg, steps int) (v launchNumber, ok bool) {
	if a.Kind == ptx.ArgInt {
		return launchNumber{n: a.Int}, true
	}
	if a.Kind == ptx.ArgName && a.Member != "" {
		name := a.Name + "." + a.Member
		n, known := k.params[name]
		ok = known && !k.decided(name, 0, n)
		return launchNumber{int64(n), []launchParam{{name: name, bits: 32, value: n}}}, ok
	}
	w, ok := k.argWord(at, a)
	d := w.setter()
	if !ok || d == nil || d.Guard != nil || steps == 0 || len(d.Args) < 2 || d.Args[0].Kind != ptx.ArgName {
		return v, false
	}
	if d.Op == "ld" {
		return k.launchParam(d)
	}
	x, ok := k.launchValue(d, d.Args[1], steps-1)
	if !ok {
		return v, false
	}
	switch {
	case d.isAny("mov", nil, "b32", "u32", "s32", "b64", "u64", "s64"), d.is("cvt", "u32", "u64"):
		return x, true
	case d.is("cvt", "u64", "u32"):
		x.n = int64(uint32(x.n))
		return x, true
	case d.is("cvt", "s64", "s32"):
		x.n = int64(int32(x.n))
		return x, true
	}
	if len(d.Args) != 3 {
		return v, false
	}
	y, ok := k.launchValue(d, d.Args[2], steps-1)
	if !ok {
		return v, false
	}
	v.fits = both(x.fits, y.fits)
	switch {
	case d.isAny("add", nil, "u32", "s32"):
		v.n = x.n + y.n
	case d.isAny("sub", nil, "u32", "s32"):
		v.n = x.n - y.n
	case d.isAny("mul", []string{"lo"}, "u32", "s32"):
		v.n = x.n * y.n
	case d.is("shl", "b32") && y.n >= 0 && y.n < 32:
		v.n = x.n << y.n
	case d.is("shr", "u32") && y.n >= 0 && y.n < 32:
		v.n = int64(uint32(x.n) >> y.n)
	default:
		return v, false
	}
	v.n = int64(uint32(v.n))
	return v, true
}

// launchParam is the value of a scalar parameter that instruction d loads.
func (k *kernel) launchParam(d *inst) (v launchNumber, ok bool) {
	if !d.isAny("ld", []string{"param"}, "u32", "s32", "b32", "u64", "s64", "b64") || d.Args[1].Int != 0 {
		return v, false
	}
	name := d.Args[1].Name
	n, known := k.params[name]
	size := 64
	if d.Mods[1][1:] == "32" {
		size = 32
	}
	return launchNumber{int64(n), []launchParam{{name: name, bits: size, value: n}}}, known && !k.decided(name, 0, n)
}

// decided says whether the kernel compares the parameter, or some of its low bits, with the value already, as the rewritten kernel does.
func (k *kernel) decided(param string, mask, v uint64) bool {
	for _, in := range k.insts {
		if !in.isAny("setp", []string{"ne"}, "u32", "u64") || in.Args[2].Kind != ptx.ArgInt || uint64(in.Args[2].Int) != v {
			continue
		}
		w, ok := k.argWord(in, in.Args[1])
		d := w.setter()
		if mask != 0 {
			if !ok || !d.is("and", "b32") || d.Args[2].Kind != ptx.ArgInt || uint64(d.Args[2].Int) != mask {
				continue
			}
			w, ok = k.argWord(d, d.Args[1])
			d = w.setter()
		}
		if ok && d.is("cvt", "u32", "u64") {
			w, ok = k.argWord(d, d.Args[1])
			d = w.setter()
		}
		if ok && d.is("mov", "u32") && d.Args[1].Name+"."+d.Args[1].Member == param ||
			ok && d.isAny("ld", []string{"param"}, "u32", "u64") && d.Args[1].Name == param && d.Args[1].Int == 0 {
			return true
		}
	}
	return false
}

// scalars are the launch values of a kernel's scalar parameters of 32 and 64 bits, and of the sizes of block and grid.
func scalars(fn *ptx.Func, c *workloads.Case) map[string]uint64 {
	out := map[string]uint64{}
	for i, p := range fn.Params {
		if i >= len(c.Args) || c.Args[i].IsBuffer() || p.Type == "f32" || p.Type == "f64" {
			continue
		}
		switch raw := c.Args[i].Raw; len(raw) {
		case 4:
			out[p.Name] = uint64(binary.LittleEndian.Uint32(raw))
		case 8:
			out[p.Name] = binary.LittleEndian.Uint64(raw)
		}
	}
	for i, d := range "xyz" {
		out[fmt.Sprintf("%%ntid.%c", d)] = uint64([]uint32{c.Block.X, c.Block.Y, c.Block.Z}[i])
		out[fmt.Sprintf("%%nctaid.%c", d)] = uint64([]uint32{c.Grid.X, c.Grid.Y, c.Grid.Z}[i])
	}
	return out
}
