package lower

import "fmt"

// condition is a new predicate: of what lanes share or not.
func (w *memoryWriter) condition() string {
	w.temp++
	a := w.onlyReg()
	if w.r.Intn(3) == 0 {
		a = w.pick("%r2", "%r3", "%r18", "%r19")
	}
	w.out("setp.%s %%p%d, %s, %s;", w.pick("lt.s32", "ne.s32", "gt.u32", "eq.s32"), w.temp, a, w.reg())
	return fmt.Sprintf("%%p%d", w.temp)
}

func (w *memoryWriter) branch(depth int) {
	w.parted++
	defer func() { w.parted-- }()
	n := w.newLabel()
	w.out("@%s%s bra E%d;", w.pick("", "!"), w.condition(), n)
	w.body(depth-1, 4)
	if w.r.Intn(2) == 0 {
		w.out("bra J%d;", n)
		fmt.Fprintf(&w.sb, "E%d:\n", n)
		w.body(depth-1, 4)
	} else {
		fmt.Fprintf(&w.sb, "E%d:\n", n)
	}
	fmt.Fprintf(&w.sb, "J%d:\n", n)
}

// cases is a switch as front ends write it: comparisons with constants, each with its branch.
func (w *memoryWriter) cases(depth int) {
	w.parted++
	defer func() { w.parted-- }()
	n, k := w.newLabel(), 2+w.r.Intn(5)
	sel := w.index(8)
	for i := range k {
		w.temp++
		w.out("setp.eq.s32 %%p%d, %s, %d;", w.temp, sel, i)
		w.out("@%%p%d bra S%d_%d;", w.temp, n, i)
	}
	w.body(0, 2)
	w.out("bra J%d;", n)
	for i := range k {
		fmt.Fprintf(&w.sb, "S%d_%d:\n", n, i)
		w.body(0, 3)
		if w.r.Intn(5) > 0 {
			w.out("bra J%d;", n)
		}
	}
	fmt.Fprintf(&w.sb, "J%d:\n", n)
}

// loop is a counted loop of 32 or 64 bits whose rounds all lanes share or not; with a pointer that goes on, ways out and continuing.
func (w *memoryWriter) loop(depth int) {
	n := w.newLabel()
	c := fmt.Sprintf("%%c%d", n)
	start, bound, step := w.pick("0", "0", "%r3", "1"), w.pick("%r2", "%r2", "6", "16", "%r3"), w.pick("1", "1", "1", "2", "3")
	if w.r.Intn(4) == 0 { // lanes do different numbers of rounds
		start, bound, step = "%r1", "64", w.pick("16", "7", "%r2")
		w.parted++
		defer func() { w.parted-- }()
	}
	leaves := w.r.Intn(5) == 0
	if leaves {
		w.parted++
		defer func() { w.parted-- }()
	}
	q := w.pointer()
	stepBytes := w.pick("4", "4", "8", "16", "64")
	w.out("mad.wide.u32 %s, %s, 16, %%rd2;", q, w.index(64))
	w.out("mov.u32 %s, %s;", c, start)
	pre := w.r.Intn(3)
	if pre == 0 { // no round at all is possible
		w.temp++
		w.out("setp.ge.s32 %%p%d, %s, %s;", w.temp, c, bound)
		w.out("@%%p%d bra X%d;", w.temp, n)
	}
	outer := w.loops
	w.loops = append(w.loops[:len(w.loops):len(w.loops)], c)
	fmt.Fprintf(&w.sb, "L%d:\n", n)
	if w.r.Intn(2) == 0 {
		w.out("ld.global.u32 %s, [%s+%d];", w.onlyReg(), q, 4*w.r.Intn(4))
	}
	w.body(depth-1, 5)
	if leaves {
		w.out("@%s bra X%d;", w.condition(), n)
		w.body(0, 3)
	}
	if w.r.Intn(6) == 0 {
		w.parted++
		w.out("@%s bra C%d;", w.condition(), n)
		w.body(0, 3)
		w.parted--
	}
	fmt.Fprintf(&w.sb, "C%d:\n", n)
	w.out("add.s64 %s, %s, %s;", q, q, stepBytes)
	w.out("add.s32 %s, %s, %s;", c, c, step)
	w.temp++
	w.out("setp.lt.%s %%p%d, %s, %s;", w.pick("s32", "u32"), w.temp, c, bound)
	w.out("@%%p%d bra L%d;", w.temp, n)
	fmt.Fprintf(&w.sb, "X%d:\n", n)
	if w.r.Intn(3) == 0 {
		w.out("add.s32 %s, %s, %s;", w.onlyReg(), w.onlyReg(), c)
	}
	w.loops = outer
}
