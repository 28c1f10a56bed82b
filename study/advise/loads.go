package advise

import (
	"fmt"
	"slices"

	"github.com/sarchlab/smsim/isa/ptx"
)

// loadedWord is a 32-bit word of memory that the kernel loads in parts: as bytes or half-words of a vector, or by several loads of
// neighbouring places. A rule may use the word; then it is loaded whole in front of the first load.
type loadedWord struct {
	w     word
	op    string // "ld.global.nc.u32"
	addr  ptx.Arg
	vec   int // words that one load brings, for vectors of more than four bytes: this and its neighbours
	parts []*inst
	fits  []launchParam // what the address needs to be that of a whole word
}

// loadPart is where a loaded register stands in a word.
type loadPart struct {
	word   *loadedWord
	lo, n  int
	signed bool
}

// partKey is one register that a load sets.
type partKey struct {
	in *inst
	r  reg
}

// findLoads finds the words that are loaded in parts.
func (k *kernel) findLoads() {
	k.parts, k.loaded = map[partKey]loadPart{}, map[string]*loadedWord{}
	k.loadPrefix, k.halfPrefix = k.freePrefix("w"), k.freePrefix("h")
	for _, in := range k.insts {
		if in.Op == "ld" && in.Guard == nil && plainLoad(in) && len(in.Args) == 2 {
			k.vectorLoad(in)
		}
	}
	for _, b := range k.blocks {
		k.neighbours(b)
	}
}

// names are the names of the registers that the kernel declares.
func (k *kernel) names() map[string]bool {
	out := map[string]bool{}
	for _, s := range k.scopes {
		for _, v := range s.vars {
			out[v.Name] = true
		}
	}
	return out
}

// freePrefix is a name for a range of registers that the kernel does not use yet.
func (k *kernel) freePrefix(letter string) string {
	taken := k.names()
	for i := 0; ; i++ {
		if p := fmt.Sprintf("%%adv%s%d_", letter, i); !taken[p] {
			return p
		}
	}
}

// plainLoad says that a load reads memory once, with nothing that orders it.
func plainLoad(in *inst) bool {
	return !slices.ContainsFunc(in.Mods, func(m string) bool {
		return m == "param" || m == "volatile" || m == "relaxed" || m == "acquire" || m == "mmio" || m == "weak"
	}) || len(in.Mods) > 0 && in.Mods[0] == "weak"
}

func (k *kernel) newWord(first *inst) *loadedWord {
	w := &loadedWord{w: word{reg: reg{name: fmt.Sprintf("%s%d", k.loadPrefix, len(k.loaded)), typ: "b32"}, def: first}, vec: 1}
	k.loaded[w.w.reg.name] = w
	return w
}

// vectorLoad is ld.v4.u8, ld.v2.u16 or ld.v4.u16: one or two words.
func (k *kernel) vectorLoad(in *inst) {
	size, signed, ok := intType(in.Mods[len(in.Mods)-1])
	el := in.Args[0].Elems
	if !ok || in.Args[0].Kind != ptx.ArgVector || size > 16 || size < 8 || size*len(el)%32 != 0 {
		return
	}
	n := size * len(el) / 32
	head := slices.DeleteFunc(slices.Clone(in.Mods[:len(in.Mods)-1]), func(m string) bool { return m == "v2" || m == "v4" || m == "v8" })
	var ws []*loadedWord
	for range n {
		w := k.newWord(in)
		w.addr, w.vec, w.parts = in.Args[1], n, []*inst{in}
		w.op = loadName(head, n)
		ws = append(ws, w)
	}
	for i, a := range el {
		if r, ok := in.scope.resolve(a.Name); ok {
			k.parts[partKey{in, r}] = loadPart{word: ws[i*size/32], lo: i * size % 32, n: size, signed: signed && r.bits() > size}
		}
	}
}

func loadName(head []string, words int) string {
	s := "ld"
	for _, m := range head {
		s += "." + m
	}
	if words > 1 {
		s += fmt.Sprintf(".v%d", words)
	}
	return s + ".u32"
}

// neighbours joins loads of bytes and half-words of a block whose addresses are one word together.
func (k *kernel) neighbours(b *basicBlock) {
	type place struct {
		base word
		off  int64 // of the word from the base
		head string
	}
	groups := map[place][]*inst{}
	var order []place
	for _, in := range k.insts[b.first:b.last] {
		if in.Op != "ld" || in.Guard != nil || !plainLoad(in) || len(in.Args) != 2 || in.Args[0].Kind != ptx.ArgName || len(in.sets) != 1 || len(in.Mods) == 0 {
			continue
		}
		size, _, ok := intType(in.Mods[len(in.Mods)-1])
		base, ok2 := k.address(in)
		if !ok || !ok2 || size != 8 && size != 16 {
			continue
		}
		rest := k.residue(base.reg)
		if !rest.known {
			continue
		}
		at := in.Args[1].Int
		i := (at + int64(rest.v)) & 3
		if size == 16 && i&1 != 0 {
			continue
		}
		p := place{base, at - i, loadName(in.Mods[:len(in.Mods)-1], 1)}
		if groups[p] == nil {
			order = append(order, p)
		}
		groups[p] = append(groups[p], in)
	}
	for _, p := range order {
		k.joinLoads(p.base, p.off, p.head, groups[p])
	}
}

// address is the register that a load's address starts from.
func (k *kernel) address(in *inst) (word, bool) {
	a := in.Args[1]
	if a.Kind != ptx.ArgAddr || a.Name == "" || a.Member != "" {
		return word{}, false
	}
	r, ok := in.scope.resolve(a.Name)
	if !ok {
		return word{}, false
	}
	return k.word(in, r), true
}

func (k *kernel) joinLoads(base word, off int64, op string, ins []*inst) {
	rest := k.residue(base.reg)
	covered := 0
	for _, in := range ins {
		size, _, _ := intType(in.Mods[len(in.Mods)-1])
		covered |= (1<<(size/8) - 1) << (in.Args[1].Int - off)
	}
	first, last := ins[0], ins[len(ins)-1]
	if covered != 15 || len(ins) < 2 {
		return
	}
	if !first.Has("nc") && !first.Has("const") {
		for _, in := range k.insts[first.n:last.n] {
			if writesMemory[in.Op] {
				return
			}
		}
	}
	w := k.newWord(first)
	w.op, w.parts, w.fits = op, ins, rest.fits
	w.addr = first.Args[1]
	w.addr.Int = off
	for _, in := range ins {
		size, signed, _ := intType(in.Mods[len(in.Mods)-1])
		r := in.sets[0]
		k.parts[partKey{in, r}] = loadPart{word: w, lo: 8 * int(in.Args[1].Int-off), n: size, signed: signed && r.bits() > size}
	}
}

// writesMemory are the instructions after which another value may be loaded.
var writesMemory = wordSet("st stu red atom bar barrier call membar fence cp suld sust sured mbarrier")

// rest is an address or number modulo four.
type rest struct {
	known bool
	v     int
	fits  []launchParam // what the parameters must be for it
	any   bool          // nothing is known yet: in a loop
}

// residue finds a register's value modulo four, whatever path leads to it.
func (k *kernel) residue(r reg) rest {
	if k.rests == nil {
		k.rests = map[reg]rest{}
		for r := range k.defs {
			k.rests[r] = rest{any: true}
		}
		// In the order of the text a value is mostly known before it is used.
		for changed := true; changed; {
			changed = false
			for _, in := range k.insts {
				for _, r := range in.sets {
					now := rest{any: true}
					for _, d := range k.defs[r] {
						now = now.meet(k.restOf(d))
					}
					if old := k.rests[r]; now.known != old.known || now.any != old.any || now.v != old.v || len(now.fits) != len(old.fits) {
						k.rests[r], changed = now, true
					}
				}
			}
		}
	}
	return k.rests[r]
}

func (a rest) meet(b rest) rest {
	switch {
	case a.any:
		return b
	case b.any:
		return a
	case !a.known || !b.known || a.v != b.v:
		return rest{}
	}
	return rest{known: true, v: a.v, fits: both(a.fits, b.fits)}
}

func both(a, b []launchParam) []launchParam {
	out := slices.Clone(a)
	for _, p := range b {
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// with combines two values.
func (a rest) with(b rest, f func(x, y int) int) rest {
	switch {
	case a.any || b.any:
		return rest{any: (a.any || a.known) && (b.any || b.known)}
	case !a.known || !b.known:
		return rest{}
	}
	return rest{known: true, v: f(a.v, b.v) & 3, fits: both(a.fits, b.fits)}
}

// times is a product: a multiple of four whatever the other factor.
func (a rest) times(b rest) rest {
	if a.known && a.v == 0 {
		return a
	}
	if b.known && b.v == 0 {
		return b
	}
	return a.with(b, func(x, y int) int { return x * y })
}

// restOf is the result of an instruction modulo four.
func (k *kernel) restOf(d *inst) rest {
	arg := func(i int) rest {
		if i >= len(d.Args) {
			return rest{}
		}
		a := d.Args[i]
		if a.Kind == ptx.ArgInt {
			return rest{known: true, v: int(a.Int & 3)}
		}
		if r, ok := d.scope.resolve(a.Name); ok && a.Kind == ptx.ArgName && !a.Neg && a.Member == "" {
			if x, ok := k.rests[r]; ok {
				return x
			}
		}
		return rest{}
	}
	add := func(x, y int) int { return x + y }
	switch d.Op {
	case "ld":
		return k.restOfParam(d)
	case "mov", "cvta", "cvt":
		if len(d.Args) == 2 && d.Args[0].Kind == ptx.ArgName && !slices.ContainsFunc(d.Mods, func(m string) bool { return m[0] == 'f' || m == "b8" || m == "u8" || m == "s8" || m == "rzi" }) {
			return arg(1)
		}
	case "add":
		return arg(1).with(arg(2), add)
	case "sub":
		return arg(1).with(arg(2), func(x, y int) int { return x - y })
	case "mul":
		if !d.Has("hi") {
			return arg(1).times(arg(2))
		}
	case "mad":
		if !d.Has("hi") {
			return arg(1).times(arg(2)).with(arg(3), add)
		}
	case "shl":
		if s := d.Args[2]; s.Kind == ptx.ArgInt && s.Int >= 2 {
			return rest{known: true}
		} else if s.Kind == ptx.ArgInt && s.Int == 1 {
			return arg(1).with(rest{known: true, v: 2}, func(x, y int) int { return x * y })
		}
	case "and":
		for i := 1; i <= 2; i++ {
			if a := d.Args[i]; a.Kind == ptx.ArgInt && a.Int&3 == 0 {
				return rest{known: true}
			}
		}
		return arg(1).with(arg(2), func(x, y int) int { return x & y })
	case "or":
		return arg(1).with(arg(2), func(x, y int) int { return x | y })
	case "xor":
		return arg(1).with(arg(2), func(x, y int) int { return x ^ y })
	case "selp", "min", "max":
		return arg(1).meet(arg(2))
	}
	return rest{}
}

// restOfParam is a parameter modulo four: of a scalar what it is at the launch, of an address zero; the kernel checks it.
func (k *kernel) restOfParam(d *inst) rest {
	if !d.Has("param") || d.Args[0].Kind != ptx.ArgName || d.Args[1].Int != 0 || len(d.Mods) != 2 {
		return rest{}
	}
	size, _, ok := intType(d.Mods[1])
	p := d.Args[1].Name
	v, known := k.params[p]
	if !ok || size < 32 || size == 32 && !known {
		return rest{}
	}
	if size == 64 {
		v = 0
	}
	if k.decided(p, 3, v&3) {
		return rest{} // this is the code for other values
	}
	return rest{known: true, v: int(v & 3), fits: []launchParam{{name: p, bits: size, mask: 3, value: v & 3}}}
}

// whole writes the loads of the words that new code reads and tells which loads they stand for and what they need.
func (k *kernel) whole(used func(name string) bool, before map[*ptx.Instr][]*ptx.Instr) (covered map[*ptx.Instr]bool, fits []launchParam, count int) {
	covered = map[*ptx.Instr]bool{}
	done := map[*inst]bool{}
	for i := range len(k.loaded) {
		w := k.loaded[fmt.Sprintf("%s%d", k.loadPrefix, i)]
		if !used(w.w.reg.name) {
			continue
		}
		count = len(k.loaded)
		fits = both(fits, w.fits)
		for _, p := range w.parts {
			covered[p.Instr] = true
		}
		at := w.w.def
		dst := name(w.w.reg.name)
		if w.vec > 1 {
			if done[at] {
				continue
			}
			done[at] = true
			j := i
			for j > 0 && k.loaded[fmt.Sprintf("%s%d", k.loadPrefix, j-1)].w.def == at {
				j--
			}
			var el []ptx.Arg
			for x := range w.vec {
				el = append(el, name(fmt.Sprintf("%s%d", k.loadPrefix, j+x)))
			}
			dst = vec(el...)
		}
		in := op(w.op, dst, w.addr)
		in.Loc = at.Loc
		before[at.Instr] = append(before[at.Instr], in)
	}
	return covered, fits, count
}
