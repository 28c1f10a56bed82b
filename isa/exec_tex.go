package isa

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Texture is an image that TEX reads. Its handle, as kernels get it, is the address of its first texel.
type Texture struct {
	Name     string // of the texture reference, for kernels with .texref variables
	Addr     uint64
	Width    uint32 // texels
	Height   uint32 // rows; 0 or 1: one-dimensional
	Channels int    // components of a texel: 1, 2 or 4
	Format   Type   // of a component: U8, S8, U16, S16, U32, S32 or F32
	// Normalized: machine code reads integers of 8 and 16 bits scaled to 1. (PTX says it in each instruction.)
	Normalized bool
}

// texelBytes is the size of a texel.
func (t *Texture) texelBytes() uint64 {
	n := uint64(4)
	switch t.Format {
	case U8, S8:
		n = 1
	case U16, S16:
		n = 2
	}
	return n * uint64(t.Channels)
}

// texop is what texture instructions need beside registers.
type texop struct {
	x, y     sref
	handle   sref // low and, with wide, high word
	handleHi sref
	wide     bool
	float    bool // coordinates are F32
	two      bool // two coordinates
	listed   bool // result type: as the image says, else result
	result   Type
	parts    []uint8 // component for each of the destinations
	to       []int32
}

// decTEX, in the form of lowered code: the first source is the handle (a pair), the others the coordinates x and y. BType F32:
// coordinates in texels whose floor is taken. Type: of the result, F32 scales 8- and 16-bit integers to 1. Listings have the
// form of TexForm.
func decTEX(d *decoder) {
	n := len(d.vals)
	u, f := d.u, &d.in.Mod.Tex
	if f.Dim != TexNone {
		d.listedTexture()
		return
	}
	switch {
	case d.in.Mod.Type == TypeNone:
		d.failf("%s without a shape such as 2D is %w", d.in.Op, ErrNotExecutable)
		return
	case d.in.Op == OpTXQ && n != 1, d.in.Op != OpTXQ && (n < 2 || n > 3):
		d.failf("%s with %d operands: a handle and one or two coordinates are needed", d.in.Op, n)
		return
	case len(d.vds) != 1:
		d.failf("%s needs one destination of four registers", d.in.Op)
		return
	}
	zero := sref{ptr: d.k.zero}
	u.tex = &texop{handle: d.raw(0, 0, 0), handleHi: d.raw(0, 1, 0), wide: true, float: d.in.Mod.BType == F32, result: d.in.Mod.Type, two: n == 3,
		x: d.raw(1, 0, 0), y: zero}
	if n == 3 {
		u.tex.y = d.raw(2, 0, 0)
	}
	for j := range uint8(4) {
		u.tex.parts = append(u.tex.parts, j)
		u.tex.to = append(u.tex.to, d.k.dest(d.vds[0], Reg(j)))
	}
	d.textureExec()
}

// textureExec chooses what the opcode does.
func (d *decoder) textureExec() {
	switch d.in.Op {
	case OpTLD4:
		d.u.exec = execTLD4
	case OpTXQ:
		d.u.exec = execTXQ
	default:
		d.u.exec = execTEX
	}
}

// image finds the lane's image.
func (w *Warp) image(u *uop, l int) *Texture {
	lo := w.val(&u.tex.handle)[l]
	h := uint64(lo)
	if u.tex.wide {
		h |= uint64(w.val(&u.tex.handleHi)[l]) << 32
	}
	for i := range w.k.Launch.Textures {
		if t := &w.k.Launch.Textures[i]; t.Addr == h || !u.tex.wide && uint32(t.Addr) == lo {
			return t
		}
	}
	w.err = w.fail(fmt.Sprintf("texture handle %#x of %s is no image of the launch (an argument with a texture)", h, w.threadName(l)))
	return nil
}

// texelAt is the memory of the texel (px, py), nil after an error.
func (w *Warp) texelAt(t *Texture, l int, px, py uint32) []byte {
	size := t.texelBytes()
	w.e.Size = uint8(size)
	w.addr[l] = t.Addr + (uint64(py)*uint64(t.Width)+uint64(px))*size
	return w.bytes(SpaceGlobal, l, w.addr[l], size)
}

// resultType is how the components are read.
func (o *texop) resultType(t *Texture) Type {
	if !o.listed {
		return o.result
	}
	if t.Normalized {
		return F32
	}
	return t.Format
}

// eachImage calls f with the image of every lane of the mask, until it fails.
func (w *Warp) eachImage(u *uop, m uint32, f func(l int, t *Texture) bool) {
	w.e.Load, w.e.Space, w.e.Addr = true, SpaceGlobal, &w.addr
	for r := m; r != 0; r &= r - 1 {
		l := lowest(r)
		if t := w.image(u, l); t == nil || !f(l, t) {
			return
		}
	}
}

func execTEX(w *Warp, u *uop, m uint32) {
	o := u.tex
	x, y := w.val(&o.x), w.val(&o.y)
	w.eachImage(u, m, func(l int, t *Texture) bool {
		px, inX := texel(x[l], t.Width, o.float)
		py, _ := texel(y[l], max(t.Height, 1), o.float)
		mem := w.texelAt(t, l, px, py)
		if mem == nil {
			return false
		}
		v := t.components(mem, o.resultType(t))
		if !o.two && !inX && !o.float { // a linear fetch outside of the image gives zeros
			v = [4]uint32{}
		}
		w.texture(o, l, &v)
		return true
	})
}

// texture stores the components of a lane's result.
func (w *Warp) texture(o *texop, l int, v *[4]uint32) {
	for j, c := range o.parts {
		w.regs[o.to[j]][l] = v[c&3]
	}
}

// execTLD4 reads one component of the four texels whose centres surround the point: left and right of the lower row (larger y), then
// right and left of the upper one.
func execTLD4(w *Warp, u *uop, m uint32) {
	o := u.tex
	x, y := w.val(&o.x), w.val(&o.y)
	w.eachImage(u, m, func(l int, t *Texture) bool {
		left := math.Floor(float64(math.Float32frombits(x[l])) - 0.5)
		top := math.Floor(float64(math.Float32frombits(y[l])) - 0.5)
		var v [4]uint32
		for j, at := range [4][2]float64{{0, 1}, {1, 1}, {1, 0}, {0, 0}} {
			px, _ := texel(math.Float32bits(float32(left+at[0])), t.Width, true)
			py, _ := texel(math.Float32bits(float32(top+at[1])), max(t.Height, 1), true)
			mem := w.texelAt(t, l, px, py)
			if mem == nil {
				return false
			}
			v[j] = t.components(mem, o.resultType(t))[u.in.Mod.Tex.Channel&3]
		}
		w.texture(o, l, &v)
		return true
	})
}

// execTXQ gives width, height, depth (0: no third dimension) and the number of levels.
func execTXQ(w *Warp, u *uop, m uint32) {
	for r := m; r != 0; r &= r - 1 {
		l := lowest(r)
		t := w.image(u, l)
		if t == nil {
			return
		}
		v := [4]uint32{t.Width, t.Height, 0, 1}
		w.texture(u.tex, l, &v)
	}
}

// texel is the coordinate clamped to 0 ... n-1, and whether it was inside.
func texel(c, n uint32, float bool) (uint32, bool) {
	at := int64(int32(c))
	if float {
		f := math.Floor(float64(math.Float32frombits(c)))
		switch {
		case f != f || f < 0:
			at = -1
		case f >= float64(n):
			at = int64(n)
		default:
			at = int64(f)
		}
		if f != f {
			at = 0
		}
	}
	switch {
	case at < 0:
		return 0, false
	case at >= int64(n):
		return n - 1, false
	}
	return uint32(at), true
}

// components are the four components of a texel; what the image lacks is 0, and 1 for the last.
func (t *Texture) components(mem []byte, result Type) [4]uint32 {
	one := uint32(1)
	if t.Format == F32 || result == F32 {
		one = math.Float32bits(1)
	}
	v := [4]uint32{0, 0, 0, one}
	for i := range min(t.Channels, 4) {
		scale := float32(0)
		switch t.Format {
		case U8:
			v[i], scale = uint32(mem[i]), 255
		case S8:
			v[i], scale = uint32(int32(int8(mem[i]))), 127
		case U16:
			v[i], scale = uint32(binary.LittleEndian.Uint16(mem[2*i:])), 65535
		case S16:
			v[i], scale = uint32(int32(int16(binary.LittleEndian.Uint16(mem[2*i:])))), 32767
		default:
			v[i] = binary.LittleEndian.Uint32(mem[4*i:])
		}
		if result == F32 && scale != 0 {
			v[i] = math.Float32bits(max(float32(int32(v[i]))/scale, -1))
		}
	}
	return v
}

// bindTextures checks the launch's images and puts the handles of the program's texture references into constant bank 4.
func (k *Kernel) bindTextures() error {
	for i := range k.Launch.Textures {
		t := &k.Launch.Textures[i]
		switch t.Format {
		case U8, S8, U16, S16, U32, S32, F32:
		default:
			return fmt.Errorf("texture %s has components of type %s: u8, s8, u16, s16, u32, s32 and f32 are possible", t.Name, t.Format)
		}
		if t.Channels != 1 && t.Channels != 2 && t.Channels != 4 {
			return fmt.Errorf("texture %s has %d components a texel: 1, 2 or 4 are possible", t.Name, t.Channels)
		}
		if t.Width == 0 {
			return fmt.Errorf("texture %s has no width", t.Name)
		}
		need := uint64(t.Width) * uint64(max(t.Height, 1)) * t.texelBytes()
		if k.Launch.Mem.find(t.Addr, need) == nil {
			return fmt.Errorf("texture %s of %dx%d texels needs %d bytes, more than its buffer has", t.Name, t.Width, max(t.Height, 1), need)
		}
	}
next:
	for _, r := range k.Program.TexRefs {
		for i := range k.Launch.Textures {
			if t := &k.Launch.Textures[i]; t.Name == r.Name {
				binary.LittleEndian.PutUint64(k.grow(r.ConstBank, int(r.ConstOff)+8)[r.ConstOff:], t.Addr)
				continue next
			}
		}
		return fmt.Errorf("texture reference %s has no image: the launch gives none of that name", r.Name)
	}
	return nil
}
