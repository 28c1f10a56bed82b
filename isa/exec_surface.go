package isa

import (
	"fmt"
	"math/bits"
)

// TexWidth is the number of registers that an operand of a texture instruction in the form of listings covers: result and source
// by index.
func (in *Inst) TexWidth(result bool, index int) int {
	f := &in.Mod.Tex
	if result {
		n := bits.OnesCount8(f.Mask & 0xf)
		if index == 0 && in.NDst > 1 {
			return max(n-2, 1)
		}
		return max(min(n, 2), 1)
	}
	n := f.Dim.coords()
	if f.Level&1 != 0 {
		n++
	}
	switch {
	case f.Scatter && index == 0:
		return max((n+1)/2, 1)
	case f.Scatter && index == 1:
		return max(n/2, 1)
	case index == 0:
		return max(f.Dim.coords(), 1)
	case index == 1 && in.Op == OpTXD:
		return 2
	}
	return 1
}

// listedTexture decodes the operands of a texture instruction as listings have them.
func (d *decoder) listedTexture() {
	u, f := d.u, &d.in.Mod.Tex
	o := &texop{float: d.in.Op != OpTLD, listed: true, two: f.Dim.coords() > 1, x: sref{ptr: d.k.zero}, y: sref{ptr: d.k.zero}}
	u.tex = o
	values := d.vals
	ok := false
	if f.Dim == Tex3D {
		d.failf("%s of a three-dimensional image is %w", d.in.Op, ErrNotExecutable)
		return
	}
	if o.handle, values, ok = d.handle(values); !ok {
		return
	}
	// With .SCR the coordinates and the level are spread over two operands, the first of which has the larger half.
	n := f.Dim.coords()
	if f.Level == 1 || f.Level == 3 {
		n++
	}
	first := n
	if f.Scatter {
		first = (n + 1) / 2
	}
	coordinate := func(i int) sref {
		at := 0
		if i >= first {
			at, i = 1, i-first
		}
		if at >= len(values) {
			d.failf("%s lacks a coordinate", d.in.Op)
			return sref{ptr: d.k.zero}
		}
		return d.operand(values[at], i, 0)
	}
	if f.Dim != TexSize {
		i := 0
		if f.Dim.layered() {
			i = 1
		}
		o.x = coordinate(i)
		if f.Dim == Tex2D || f.Dim == Tex2DArray {
			o.y = coordinate(i + 1)
		}
	}
	if len(d.vds) == 0 {
		d.failf("%s needs a destination", d.in.Op)
		return
	}
	low, high := d.vds[0], d.vds[0]
	if len(d.vds) > 1 {
		low = d.vds[1] // the first two components; nvdisasm prints the others first
	}
	for c := range uint8(4) {
		if f.Mask>>c&1 == 0 {
			continue
		}
		k := len(o.parts)
		to := low
		if k >= 2 {
			to = high
		}
		o.parts = append(o.parts, c)
		o.to = append(o.to, d.k.dest(to, Reg(k&1)))
	}
	d.textureExec()
}

// handle takes the image's handle from the end of the sources: a word of a constant bank (bank and word number), or a uniform
// register with an offset. Its low word identifies the image.
func (d *decoder) handle(values []*Operand) (h sref, rest []*Operand, ok bool) {
	n := len(values)
	switch {
	case n > 1 && values[n-1].Kind == KindImm && values[n-2].Kind == KindImm:
		c := Operand{Kind: KindConst, Reg: RZ, Bank: uint8(values[n-2].Imm), Imm: 4 * values[n-1].Imm}
		return d.operand(&c, 0, 0), values[:n-2], true
	case n > 1 && values[n-1].Kind == KindImm && values[n-2].Kind == KindUReg && values[n-1].Imm == 0:
		return d.operand(values[n-2], 0, 0), values[:n-2], true
	case n > 0 && values[n-1].Kind == KindUReg:
		return d.operand(values[n-1], 0, 0), values[:n-1], true
	}
	d.failf("the handle of %s is neither a constant (0x0, 0x5c) nor a uniform register: that is %w", d.in.Op, ErrNotExecutable)
	return h, values, false
}

// decSurface is SULD and SUST on surfaces addressed by bytes (.BA): the address operand is the register with x, a pair with y.
func decSurface(d *decoder) {
	u, f := d.u, &d.in.Mod.Tex
	o := &texop{two: f.Dim == Tex2D}
	u.tex = o
	mo := &memop{size: memSize(&d.in.Mod), ext: d.in.Mod.Type}
	mo.words = int(max(mo.size/4, 1))
	u.mem = mo
	at := d.vals[0]
	values := d.vals[1:]
	switch {
	case f.Dim != Tex1D && f.Dim != Tex2D:
		d.failf("%s of this shape is %w: one- and two-dimensional surfaces are", d.in.Op, ErrNotExecutable)
		return
	case at.Kind != KindMem:
		d.failf("%s needs its coordinates in brackets", d.in.Op)
		return
	}
	if len(values) == 0 {
		d.failf("%s lacks operands", d.in.Op)
		return
	}
	x := Operand{Kind: KindReg, Reg: at.Reg}
	o.x, o.y = d.operand(&x, 0, 0), d.operand(&x, 1, 0)
	if d.in.Op == OpSUST {
		for j := range mo.words {
			mo.data[j&3] = d.operand(values[0], j, 0)
		}
		values = values[1:]
	}
	if values[len(values)-1].Kind == KindReg { // lowered code: a pair
		o.handle, o.handleHi, o.wide = d.operand(values[0], 0, 0), d.operand(values[0], 1, 0), true
	} else {
		ok := false
		if o.handle, _, ok = d.handle(values); !ok {
			return
		}
	}
	if d.in.Op == OpSULD {
		for j := range mo.words {
			u.d[j&3] = d.k.dest(d.vds[0], Reg(j))
		}
		u.exec = execSULD
		return
	}
	u.exec = execSUST
}

// surface is the memory that a lane of a surface access reaches; outside says that it lies out of the image and does nothing.
func (w *Warp) surface(u *uop, l int, x, y uint32) (mem []byte, outside bool) {
	t := w.image(u, l)
	if t == nil {
		return nil, false
	}
	size := u.mem.size
	row := uint64(t.Width) * t.texelBytes()
	px, py := uint64(x), uint64(0)
	if u.tex.two {
		py = uint64(y)
	}
	if int32(x) < 0 || px+size > row || py >= uint64(max(t.Height, 1)) {
		switch u.in.Mod.Tex.Bounds {
		case TexZero:
			return nil, true
		case TexTrap:
			w.err = w.fail(fmt.Sprintf("surface access of %s outside of the image: byte %d of a row of %d, row %d of %d", w.threadName(l), int32(x), row, int32(py), max(t.Height, 1)))
			return nil, false
		}
		switch {
		case int32(x) < 0:
			px = 0
		case px+size > row:
			px = row - size
		}
		switch last := uint64(max(t.Height, 1)) - 1; {
		case int32(py) < 0:
			py = 0
		case py > last:
			py = last
		}
	}
	w.addr[l] = t.Addr + py*row + px
	return w.bytes(SpaceGlobal, l, w.addr[l], size), false
}

func execSULD(w *Warp, u *uop, m uint32) {
	x, y := w.val(&u.tex.x), w.val(&u.tex.y)
	w.e.Load, w.e.Space, w.e.Addr, w.e.Size = true, SpaceGlobal, &w.addr, uint8(u.mem.size)
	for r := m; r != 0; r &= r - 1 {
		l := lowest(r)
		mem, outside := w.surface(u, l, x[l], y[l])
		if mem == nil && !outside {
			return
		}
		for j := range u.mem.words {
			var v uint32
			for k := min(u.mem.size, 4); k > 0 && !outside; k-- {
				v = v<<8 | uint32(mem[4*uint64(j)+k-1])
			}
			w.regs[u.d[j&3]][l] = v
		}
	}
}

func execSUST(w *Warp, u *uop, m uint32) {
	x, y := w.val(&u.tex.x), w.val(&u.tex.y)
	w.e.Store, w.e.Space, w.e.Addr, w.e.Size = true, SpaceGlobal, &w.addr, uint8(u.mem.size)
	for r := m; r != 0; r &= r - 1 {
		l := lowest(r)
		mem, outside := w.surface(u, l, x[l], y[l])
		switch {
		case outside:
			continue
		case mem == nil:
			return
		}
		for j := range u.mem.words {
			v := w.val(&u.mem.data[j&3])[l]
			for k := range min(u.mem.size, 4) {
				mem[4*uint64(j)+k] = byte(v >> (8 * k))
			}
		}
	}
}
