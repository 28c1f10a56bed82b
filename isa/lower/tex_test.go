package lower

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

const texText = `.version 8.0
.target sm_20
.address_size 64
.global .texref old;
.visible .entry k(.param .u64 out, .param .u64 image)
{
	.reg .b32 %r<20>;
	.reg .b64 %rd<4>;
	.reg .f32 %f<10>;
	ld.param.u64 %rd1, [out];
	ld.param.u64 %rd2, [image];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd3, %r1, 16;
	add.s64 %rd1, %rd1, %rd3;
	shr.u32 %r2, %r1, 2;
	add.s32 %r3, %r1, -2;
	tex.1d.v4.u32.s32 {%r4, %r5, %r6, %r7}, [%rd2, {%r3}];
	cvt.rn.f32.s32 %f1, %r1;
	add.f32 %f1, %f1, 0f3F000000;
	cvt.rn.f32.s32 %f2, %r2;
	tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [old, {%f1, %f2, %f2, %f2}];
	st.global.v2.b32 [%rd1], {%r4, %r7};
	st.global.v2.f32 [%rd1+8], {%f3, %f5};
	ret;
}
`

// TestTextures reads a one-dimensional image of words through a handle and a two-dimensional one of byte pairs through a
// texture reference.
func TestTextures(t *testing.T) {
	m, err := ptx.Parse("tex.ptx", []byte(texText))
	if err != nil {
		t.Fatal(err)
	}
	for _, sm := range []int{20, 30, 35, 61, 70, 75, 86, 90, 100, 120} {
		for _, plain := range []bool{false, true} {
			p, err := Compile(m, "", testTarget(sm), Options{NoOptimise: plain})
			if err != nil {
				t.Fatalf("sm_%d: %v", sm, err)
			}
			mem := isa.NewMemory()
			out, words, pairs := mem.Alloc("out", 32*16), mem.Alloc("words", 4*20), mem.Alloc("pairs", 2*8*6)
			for i := range 20 {
				binary.LittleEndian.PutUint32(words.Data[4*i:], uint32(1000+i))
			}
			for i := range pairs.Data {
				pairs.Data[i] = byte(i)
			}
			params := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, out.Addr), words.Addr)
			l := &isa.Launch{Grid: isa.Dim3{X: 1, Y: 1, Z: 1}, Block: isa.Dim3{X: 32, Y: 1, Z: 1}, Params: params, Mem: mem, MaxSteps: 1000,
				Textures: []isa.Texture{{Name: "words", Addr: words.Addr, Width: 20, Channels: 1, Format: isa.U32},
					{Name: "old", Addr: pairs.Addr, Width: 8, Height: 6, Channels: 2, Format: isa.U8}}}
			k, err := isa.Bind(p, testTarget(sm), l)
			if err == nil {
				_, err = k.RunBlock(0)
			}
			if err != nil {
				t.Fatalf("sm_%d: %v", sm, err)
			}
			for i := range 32 {
				at := out.Data[16*i:]
				word, one := uint32(0), uint32(0)
				if i >= 2 && i < 22 {
					word, one = uint32(1000+i-2), 1
				}
				x, y := min(i, 7), min(i/4, 5)
				want := [4]uint32{word, one, math.Float32bits(float32(2*(8*y+x)) / 255), 0}
				for j, w := range want {
					if g := binary.LittleEndian.Uint32(at[4*j:]); g != w {
						t.Errorf("sm_%d thread %d: value %d is %#x, want %#x", sm, i, j, g, w)
					}
				}
			}
			l.Textures = l.Textures[:1]
			if _, err = isa.Bind(p, testTarget(sm), l); err == nil || !strings.Contains(err.Error(), "texture reference old has no image") {
				t.Errorf("sm_%d without the image: %v", sm, err)
			}
		}
	}
}

const imageText = `.version 8.0
.target sm_20
.address_size 64
.global .texref t;
.global .surfref s;
.visible .entry k(.param .u64 out)
{
	.reg .b32 %r<40>;
	.reg .b64 %rd<4>;
	.reg .f32 %f<10>;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd3, %r1, 32;
	add.s64 %rd1, %rd1, %rd3;
	and.b32 %r2, %r1, 7;
	shr.u32 %r3, %r1, 3;
	cvt.rn.f32.u32 %f1, %r2;
	cvt.rn.f32.u32 %f2, %r3;
	mov.f32 %f3, 0f40000000;
	tex.level.2d.v4.u32.f32 {%r4, %r5, %r6, %r7}, [t, {%f1, %f2}], %f3;
	tex.grad.a2d.v4.u32.f32 {%r8, %r5, %r6, %r7}, [t, {%r3, %f1, %f2, %f2}], {%f1, %f1}, {%f2, %f2};
	tex.a1d.v4.u32.s32 {%r9, %r5, %r6, %r7}, [t, {%r3, %r2}];
	tld4.r.2d.v4.u32.f32 {%r10, %r11, %r12, %r13}, [t, {%f1, %f2}];
	txq.width.b32 %r14, [t];
	txq.height.b32 %r15, [t];
	shl.b32 %r16, %r2, 2;
	add.s32 %r16, %r16, -4;
	suld.b.2d.b32.zero %r17, [s, {%r16, %r3}];
	and.b32 %r24, %r16, -8;
	suld.b.2d.v2.b32.clamp {%r18, %r19}, [s, {%r24, %r3}];
	suld.b.2d.b8.clamp %r20, [s, {%r16, %r3}];
	shl.b32 %r21, %r2, 2;
	mad.lo.u32 %r22, %r1, 3, 7;
	sust.b.2d.b32.trap [s, {%r21, %r3}], %r22;
	mad.lo.u32 %r14, %r15, 100, %r14;
	st.global.v4.b32 [%rd1], {%r4, %r8, %r9, %r14};
	mad.lo.u32 %r10, %r11, 10, %r10;
	mad.lo.u32 %r12, %r13, 10, %r12;
	mad.lo.u32 %r18, %r19, 10, %r18;
	mad.lo.u32 %r18, %r20, 1000, %r18;
	st.global.v4.b32 [%rd1+16], {%r10, %r12, %r17, %r18};
	ret;
}
`

// TestImages: levels, derivatives, layers, gathers and sizes of textures; loads and stores of surfaces with what they do outside.
func TestImages(t *testing.T) {
	m, err := ptx.Parse("image.ptx", []byte(imageText))
	if err != nil {
		t.Fatal(err)
	}
	const width, height = 8, 4
	for _, sm := range []int{20, 35, 61, 75, 90, 120} {
		p, err := Compile(m, "", testTarget(sm), Options{})
		if err != nil {
			t.Fatalf("sm_%d: %v", sm, err)
		}
		mem := isa.NewMemory()
		out, image, surface := mem.Alloc("out", 32*32), mem.Alloc("t", 4*width*height), mem.Alloc("s", 4*width*height)
		texel := func(x, y int) uint32 {
			x, y = min(max(x, 0), width-1), min(max(y, 0), height-1)
			return uint32(1 + x + 16*y)
		}
		for i := range width * height {
			binary.LittleEndian.PutUint32(image.Data[4*i:], texel(i%width, i/width))
			binary.LittleEndian.PutUint32(surface.Data[4*i:], texel(i%width, i/width))
		}
		l := &isa.Launch{Grid: isa.Dim3{X: 1, Y: 1, Z: 1}, Block: isa.Dim3{X: 32, Y: 1, Z: 1}, Params: binary.LittleEndian.AppendUint64(nil, out.Addr), Mem: mem, MaxSteps: 1000,
			Textures: []isa.Texture{{Name: "t", Addr: image.Addr, Width: width, Height: height, Channels: 1, Format: isa.U32},
				{Name: "s", Addr: surface.Addr, Width: width, Height: height, Channels: 1, Format: isa.U32}}}
		k, err := isa.Bind(p, testTarget(sm), l)
		if err == nil {
			_, err = k.RunBlock(0)
		}
		if err != nil {
			t.Fatalf("sm_%d: %v", sm, err)
		}
		for i := range 32 {
			x, y := i%8, i/8
			zero := uint32(0)
			if x > 0 {
				zero = texel(x-1, y)
			}
			at := max((x-1)&^1, 0)
			one := min(max(x-1, 0), width-1)
			want := [8]uint32{texel(x, y), texel(x, y), texel(x, 0), 408, texel(x-1, y) + 10*texel(x, y), texel(x, y-1) + 10*texel(x-1, y-1), zero,
				texel(at, y) + 10*texel(at+1, y) + 1000*(texel(one, y)&0xff)}
			for j, w := range want {
				if g := binary.LittleEndian.Uint32(out.Data[32*i+4*j:]); g != w {
					t.Errorf("sm_%d thread %d: value %d is %d, want %d", sm, i, j, g, w)
				}
			}
			if g, w := binary.LittleEndian.Uint32(surface.Data[4*i:]), uint32(3*i+7); g != w {
				t.Errorf("sm_%d thread %d stored %d, want %d", sm, i, g, w)
			}
		}
	}
}
