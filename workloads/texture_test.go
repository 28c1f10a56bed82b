package workloads

import (
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/lower"
	"github.com/sarchlab/smsim/isa/ptx"
)

// TestTextureArguments: an image goes to a handle parameter, or to the texture reference of its name.
func TestTextureArguments(t *testing.T) {
	m, err := ptx.Parse("t.ptx", []byte(`.version 8.0
.target sm_30
.address_size 64
.global .texref old;
.visible .entry k(.param .u64 out, .param .u64 img) {
.reg .b32 %r<8>; .reg .b64 %rd<3>;
ld.param.u64 %rd0, [out]; ld.param.u64 %rd1, [img];
tex.1d.v4.u32.s32 {%r0,%r1,%r2,%r3}, [%rd1, {2}];
tex.2d.v4.u32.s32 {%r4,%r5,%r6,%r7}, [old, {1, 1}];
st.global.v2.b32 [%rd0], {%r0, %r4};
ret; }`))
	if err != nil {
		t.Fatal(err)
	}
	p, err := lower.Compile(m, "", isa.NewTarget(86), lower.Options{})
	if err != nil {
		t.Fatal(err)
	}
	one := isa.Dim3{X: 1, Y: 1, Z: 1}
	c := &Case{Grid: one, Block: one, Args: []Arg{
		{Buffer: GenZero, Bytes: 8, Out: true},
		{Name: "old", Buffer: GenIota, Value: 100, Mask: 1<<32 - 1, Bytes: 24, Texture: &Image{Width: 3, Height: 2, Channels: 1, Format: isa.U32}},
		{Name: "img", Buffer: GenIota, Value: 7, Mask: 1<<32 - 1, Bytes: 16, Texture: &Image{Width: 4, Height: 1, Channels: 1, Format: isa.U32}},
	}}
	l, bufs, err := c.NewLaunch(p)
	if err != nil {
		t.Fatal(err)
	}
	k, err := isa.Bind(p, isa.NewTarget(86), l)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.RunBlock(0); err != nil {
		t.Fatal(err)
	}
	if d := bufs[0].Data; d[0] != 9 || d[4] != 104 {
		t.Errorf("read %d and %d, want 9 and 104", d[0], d[4])
	}
}
