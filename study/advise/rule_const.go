package advise

import (
	"github.com/sarchlab/smsim/isa/ptx"
)

// launchConstants puts the value that a scalar parameter has at the launch in the place of a divisor, which the lowering then divides by with a
// multiplication, and of a factor one. [Rewrite] keeps the original for launches with other values.
func launchConstants(k *kernel, n *namer) []*site {
	var out []*site
	for _, in := range k.insts {
		switch {
		case in.isAny("div", nil, "u32", "s32"), in.isAny("rem", nil, "u32", "s32"):
			p, v, ok := k.launchValue(in, in.Args[2])
			if !ok || v == 0 {
				continue
			}
			s := &site{at: []*inst{in}, drop: []*inst{in}, param: &launchParam{name: p, bits: 32, value: v}}
			s.put(in, op(in.Name(), in.Args[0], in.Args[1], num(int64(int32(v)))))
			out = append(out, s)
		case in.isAny("mul", []string{"lo"}, "u32", "s32"), in.isAny("mad", []string{"lo"}, "u32", "s32"):
			for i := 1; i <= 2; i++ {
				p, v, ok := k.launchValue(in, in.Args[i])
				if !ok || v != 1 {
					continue
				}
				s := &site{at: []*inst{in}, drop: []*inst{in}, param: &launchParam{name: p, bits: 32, value: v}}
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

// launchValue is the value of an operand that is a scalar parameter, and the parameter's name.
func (k *kernel) launchValue(at *inst, a ptx.Arg) (param string, v uint32, ok bool) {
	w, ok := k.argWord(at, a)
	d := w.setter()
	for steps := 0; ok && d != nil && d.isAny("mov", nil, "b32", "u32", "s32") && steps < maxSteps; steps++ {
		w, ok = k.argWord(d, d.Args[1])
		d = w.setter()
	}
	if !ok || !d.isAny("ld", []string{"param"}, "u32", "s32", "b32") || d.Args[1].Int != 0 {
		return "", 0, false
	}
	v, ok = k.params[d.Args[1].Name]
	return d.Args[1].Name, v, ok && !k.decided(d.Args[1].Name, 0, v)
}

// decided says whether the kernel compares the parameter, or some of its low bits, with the value already, as the rewritten kernel does.
func (k *kernel) decided(param string, mask, v uint32) bool {
	for _, in := range k.insts {
		if !in.is("setp", "ne", "u32") || in.Args[2].Kind != ptx.ArgInt || uint32(in.Args[2].Int) != v {
			continue
		}
		w, ok := k.argWord(in, in.Args[1])
		d := w.setter()
		if mask != 0 {
			if !ok || !d.is("and", "b32") || d.Args[2].Kind != ptx.ArgInt || uint32(d.Args[2].Int) != mask {
				continue
			}
			w, ok = k.argWord(d, d.Args[1])
			d = w.setter()
		}
		if ok && d.is("cvt", "u32", "u64") {
			w, ok = k.argWord(d, d.Args[1])
			d = w.setter()
		}
		if ok && d.isAny("ld", []string{"param"}, "u32", "u64") && d.Args[1].Name == param && d.Args[1].Int == 0 {
			return true
		}
	}
	return false
}
