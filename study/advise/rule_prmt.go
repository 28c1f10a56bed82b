package advise

import (
	"slices"

	"github.com/sarchlab/smsim/isa/ptx"
)

// source is where a byte of a value comes from: byte i of a word, or zero.
type source struct {
	w    word
	i    int
	zero bool
}

// shuffles replaces at least three instructions that only move bytes of at most two words by one prmt.
func shuffles(k *kernel, n *namer) []*site {
	var out []*site
	taken := map[*inst]bool{}
	for _, in := range slices.Backward(k.insts) {
		if taken[in] || !isJoin(in, "32") && !in.is("bfi", "b32") && !in.is("prmt", "b32") && !in.isAny("mul", []string{"lo"}, "u32", "s32") && !in.is("mov", "b32") {
			continue
		}
		inner, b, ws, zero, ok := k.shuffle(in, false)
		if !ok {
			if inner, b, ws, zero, ok = k.shuffle(in, true); !ok {
				continue
			}
		}
		sel := int64(0)
		for j, x := range b {
			nib := 4
			if !x.zero {
				nib = 4*slices.Index(ws, x.w) + x.i
			}
			sel |= int64(nib) << (4 * j)
		}
		second := num(0)
		if len(ws) == 2 {
			second = name(ws[1].reg.name)
		} else if !zero {
			second = name(ws[0].reg.name)
		}
		s := &site{at: inner, drop: inner}
		s.put(in, op("prmt.b32", in.Args[0], name(ws[0].reg.name), second, num(sel)))
		for _, x := range inner {
			taken[x] = true
		}
		out = append(out, s)
	}
	slices.Reverse(out)
	return out
}

// shuffle finds the bytes of the value that an instruction makes: the instructions that go, and the words that the bytes are of. With shared it looks
// through values that have several readers.
func (k *kernel) shuffle(in *inst, shared bool) (inner []*inst, b [4]source, ws []word, zero, ok bool) {
	t := byteTrace{k: k, shared: shared, known: map[*inst]traced{}}
	if b, ok = t.bytesOf(in, maxSteps); !ok {
		return nil, b, nil, false, false
	}
	inner = t.inner
	for n := 0; n != len(inner); {
		n = len(inner)
		inner = slices.DeleteFunc(slices.Clone(inner), func(x *inst) bool { return x != in && !k.inside(x, inner) })
	}
	if cost(inner) < 2 || cost(inner) < 3 && isJoin(in, "32") {
		return nil, b, nil, false, false
	}
	for _, x := range b {
		if x.zero {
			zero = true
		} else if !slices.Contains(ws, x.w) {
			ws = append(ws, x.w)
		}
	}
	ok = len(ws) > 0 && len(ws) <= 2 && !(len(ws) == 2 && zero) && all(ws, func(w word) bool { return k.available(w, in) })
	return inner, b, ws, zero, ok
}

// cost counts the instructions that are machine instructions: moves between halves of a register and its 16-bit parts are none.
func cost(ins []*inst) int {
	n := 0
	for _, in := range ins {
		if in.Op != "mov" || in.Args[0].Kind != ptx.ArgVector && in.Args[1].Kind != ptx.ArgVector {
			n++
		}
	}
	return n
}

// zeroBytes is the value zero.
var zeroBytes = [4]source{{zero: true}, {zero: true}, {zero: true}, {zero: true}}

// byteTrace follows the bytes of values; inner collects the instructions that it passes.
type byteTrace struct {
	k      *kernel
	inner  []*inst
	shared bool
	known  map[*inst]traced
}

// traced is what is known of an instruction's value.
type traced struct {
	b  [4]source
	ok bool
}

func (t *byteTrace) bytesOf(d *inst, steps int) (b [4]source, ok bool) {
	if d == nil || d.Guard != nil || steps == 0 || len(d.Args) < 2 {
		return b, false
	}
	if x, seen := t.known[d]; seen && t.shared {
		return x.b, x.ok
	}
	c := byteTree{t: t, k: t.k, d: d, steps: steps}
	b, ok = c.bytes()
	t.known[d] = traced{b, ok}
	if ok && !slices.Contains(t.inner, d) {
		t.inner = append(t.inner, d)
	}
	return b, ok
}

// byteTree is one instruction of a tree that moves bytes.
type byteTree struct {
	t     *byteTrace
	k     *kernel
	d     *inst
	steps int
}

// arg is an operand's bytes.
func (c byteTree) arg(i int) ([4]source, bool) {
	a := c.d.Args[i]
	if a.Kind == ptx.ArgInt && a.Int == 0 {
		return zeroBytes, true
	}
	w, ok := c.k.argWord(c.d, a)
	if !ok || w.reg.bits() != 32 {
		return [4]source{}, false
	}
	if e := w.setter(); e != nil && e.blk == c.d.blk && (c.t.shared || c.k.only(e, c.d)) {
		n := len(c.t.inner)
		if b, ok := c.t.bytesOf(e, c.steps-1); ok {
			return b, true
		}
		if !c.t.shared {
			c.t.inner = c.t.inner[:n]
		}
	}
	return [4]source{{w: w, i: 0}, {w: w, i: 1}, {w: w, i: 2}, {w: w, i: 3}}, true
}

// num is a constant operand.
func (c byteTree) num(i int) (int, bool) {
	if i >= len(c.d.Args) {
		return 0, false
	}
	f, ok := c.k.field(c.d, c.d.Args[i])
	return int(f.value & 0xffffffff), ok && f.isConst
}

// bits is a constant operand that counts bits of whole bytes.
func (c byteTree) bits(i int) (int, bool) {
	n, ok := c.num(i)
	return n / 8, ok && n >= 0 && n <= 32 && n%8 == 0
}

// bytes are the bytes of the instruction's result, if it only moves bytes.
func (c byteTree) bytes() (b [4]source, ok bool) {
	d := c.d
	if d.is("mov", "b32") && d.Args[1].Kind == ptx.ArgVector {
		return c.packed()
	}
	if d.Args[1].Kind != ptx.ArgName {
		return b, false
	}
	switch {
	case d.isAny("cvt", []string{"u32"}, "u8", "u16"), d.isAny("cvt", []string{"s32"}, "u8", "u16"):
		n, _, _ := intType(d.Mods[1])
		x, ok := c.arg(1)
		copy(b[:n/8], x[:])
		return fill(b, n/8), ok
	case isJoin(d, "32"):
		return c.joined()
	case d.is("and", "b32"):
		return c.masked()
	case d.is("shl", "b32"), d.isAny("shr", nil, "u32", "b32"):
		return c.shifted()
	case d.is("bfe", "u32"):
		pos, ok1 := c.bits(2)
		n, ok2 := c.bits(3)
		x, ok3 := c.arg(1)
		if !ok1 || !ok2 || pos+n > 4 {
			return b, false
		}
		copy(b[:], x[pos:pos+n])
		return fill(b, n), ok3
	case d.is("bfi", "b32"):
		return c.inserted()
	case d.is("prmt", "b32") && len(d.Args) == 4:
		return c.permuted()
	case d.isAny("mul", []string{"lo"}, "u32", "s32"):
		return c.spread()
	}
	return b, false
}

// joined is the or or sum of two words of which one is zero in each byte.
func (c byteTree) joined() (b [4]source, ok bool) {
	x, ok1 := c.arg(1)
	y, ok2 := c.arg(2)
	for i := range b {
		switch {
		case x[i].zero:
			b[i] = y[i]
		case y[i].zero:
			b[i] = x[i]
		default:
			return b, false
		}
	}
	return b, ok1 && ok2
}

// masked is a word with a mask of whole bytes.
func (c byteTree) masked() (b [4]source, ok bool) {
	m, ok1 := c.num(2)
	x, ok2 := c.arg(1)
	for i := range b {
		switch by := m >> (8 * i) & 255; {
		case by == 255:
			b[i] = x[i]
		case by == 0 || x[i].zero:
			b[i].zero = true
		default:
			return b, false
		}
	}
	return b, ok1 && ok2
}

// shifted is a word shifted by whole bytes, zeros coming in.
func (c byteTree) shifted() (b [4]source, ok bool) {
	n, ok1 := c.bits(2)
	x, ok2 := c.arg(1)
	if c.d.Op == "shl" {
		n = -n
	}
	for i := range b {
		if j := i + n; j >= 0 && j < 4 {
			b[i] = x[j]
		} else {
			b[i].zero = true
		}
	}
	return b, ok1 && ok2
}

// inserted is a word with some bytes of another.
func (c byteTree) inserted() (b [4]source, ok bool) {
	x, ok1 := c.arg(1)
	y, ok2 := c.arg(2)
	pos, ok3 := c.bits(3)
	n, ok4 := c.bits(4)
	if !ok1 || !ok2 || !ok3 || !ok4 || pos+n > 4 {
		return b, false
	}
	b = y
	copy(b[pos:pos+n], x[:n])
	return b, true
}

// permuted is a byte permutation that copies no signs.
func (c byteTree) permuted() (b [4]source, ok bool) {
	x, ok1 := c.arg(1)
	y, ok2 := c.arg(2)
	sel, ok3 := c.num(3)
	both := append(append([]source{}, x[:]...), y[:]...)
	for i := range b {
		n := sel >> (4 * i) & 15
		if n > 7 {
			return b, false
		}
		b[i] = both[n]
	}
	return b, ok1 && ok2 && ok3
}

// spread is one byte times 0x01010101, or fewer ones: the byte in these places.
func (c byteTree) spread() (b [4]source, ok bool) {
	m, ok1 := c.num(2)
	x, ok2 := c.arg(1)
	if !ok1 || !ok2 || !x[1].zero || !x[2].zero || !x[3].zero {
		return b, false
	}
	for i := range b {
		switch m >> (8 * i) & 255 {
		case 1:
			b[i] = x[0]
		case 0:
			b[i].zero = true
		default:
			return b, false
		}
	}
	return b, true
}

// fill makes the bytes from n on zero.
func fill(b [4]source, n int) [4]source {
	for i := n; i < 4; i++ {
		b[i].zero = true
	}
	return b
}

// packed is mov.b32 of two halves that are halves of words.
func (c byteTree) packed() (b [4]source, ok bool) {
	el := c.d.Args[1].Elems
	if len(el) != 2 {
		return b, false
	}
	for i, a := range el {
		f, ok := c.k.field(c.d, a)
		if n, half := f.halfOf(); ok && half {
			b[2*i], b[2*i+1] = source{w: f.w, i: 2 * n}, source{w: f.w, i: 2*n + 1}
			continue
		}
		if !ok || !f.isConst || f.value != 0 {
			return b, false
		}
		b[2*i].zero, b[2*i+1].zero = true, true
	}
	return b, true
}
