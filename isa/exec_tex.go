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

// texop is what TEX needs beside registers: one or two coordinates.
type texop struct {
	handleHi sref
	float    bool // coordinates are F32
	result   Type
}

// decTEX: the first source is the handle (a pair), the others the coordinates x and y. BType F32: coordinates in texels whose
// floor is taken. Type: of the result, F32 scales 8- and 16-bit integers to 1.
func decTEX(d *decoder) {
	n := len(d.vals)
	switch {
	case d.in.Mod.Type == TypeNone: // of a listing: its operands name textures by slots of the driver's
		d.failf("%s is %w", d.in.Op, ErrNotExecutable)
		return
	case n < 2 || n > 3:
		d.failf("%s with %d operands: only one- and two-dimensional images are modelled", d.in.Op, n)
		return
	case len(d.vds) != 1:
		d.failf("%s needs one destination of four registers", d.in.Op)
		return
	}
	u := d.u
	u.tex = &texop{handleHi: d.raw(0, 1, 0), float: d.in.Mod.BType == F32, result: d.in.Mod.Type}
	u.s[0], u.s[1] = d.raw(0, 0, 0), d.raw(1, 0, 0)
	u.s[2] = sref{ptr: d.k.zero}
	if n == 3 {
		u.s[2] = d.raw(2, 0, 0)
	}
	for j := range 4 {
		u.d[j] = d.k.dest(d.vds[0], Reg(j))
	}
	u.exec = execTEX
}

func execTEX(w *Warp, u *uop, m uint32) {
	lo, hi, x, y := w.val(&u.s[0]), w.val(&u.tex.handleHi), w.val(&u.s[1]), w.val(&u.s[2])
	two := len(u.in.Src[:u.in.NSrc]) > 2
	w.e.Load, w.e.Space = true, SpaceGlobal
	w.e.Addr = &w.addr
	for r := m; r != 0; r &= r - 1 {
		l := lowest(r)
		t := w.k.texture(uint64(hi[l])<<32 | uint64(lo[l]))
		if t == nil {
			w.err = w.fail(fmt.Sprintf("texture handle %#x of %s is no image of the launch", uint64(hi[l])<<32|uint64(lo[l]), w.threadName(l)))
			return
		}
		px, inX := texel(x[l], t.Width, u.tex.float)
		py, _ := texel(y[l], max(t.Height, 1), u.tex.float)
		size := t.texelBytes()
		w.e.Size = uint8(size)
		w.addr[l] = t.Addr + (uint64(py)*uint64(t.Width)+uint64(px))*size
		mem := w.bytes(SpaceGlobal, l, w.addr[l], size)
		if mem == nil {
			return
		}
		v := t.components(mem, u.tex.result)
		if !two && !inX && !u.tex.float { // a linear fetch outside of the image gives zeros
			v = [4]uint32{}
		}
		for j := range v {
			w.regs[u.d[j]][l] = v[j]
		}
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

// texture finds the image with a handle.
func (k *Kernel) texture(handle uint64) *Texture {
	for i := range k.Launch.Textures {
		if t := &k.Launch.Textures[i]; t.Addr == handle {
			return t
		}
	}
	return nil
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
