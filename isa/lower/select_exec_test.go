package lower

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// execCase is a PTX body run by 64 threads: a and b are the thread's operands, the body leaves a 64-bit result in %o.
type execCase struct {
	name string
	body string
	want func(a, b uint32, tid int) uint64
	from int // first target
	// near: the results are f32 and may differ by that many units in the last place.
	near uint32
}

// execOperands are the operands of the 64 threads.
func execOperands(tid int) (a, b uint32) {
	corner := []uint32{0, 1, 2, 3, 7, 31, 32, 33, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0x3f800000, 0x40490fdb, 0xc0200000}
	a = corner[tid%len(corner)]
	b = uint32(tid*tid+1) * 2654435761 >> uint(tid%29)
	if tid >= 40 {
		a = uint32(tid) * 0x9e3779b9
	}
	return a, b
}

func runBody(t *testing.T, sm int, body string) ([]uint64, error) {
	t.Helper()
	text := ".version 8.7\n.target sm_90\n.address_size 64\n" + `
.global .align 8 .b8 gbuf[1024];
.visible .entry k(.param .u64 A, .param .u64 B, .param .u64 O, .param .u32 N)
{
	.reg .pred %p, %q, %s;
	.reg .b16 %h<16>;
	.reg .b32 %r<40>, %a, %b, %t, %x, %y;
	.reg .f32 %f<16>;
	.reg .f64 %fd<16>;
	.reg .b64 %rd<30>, %o, %A, %B, %O, %G;
	.shared .align 16 .b8 sbuf[2048];
	ld.param.u64 %A, [A]; ld.param.u64 %B, [B]; ld.param.u64 %O, [O];
	mov.u32 %t, %tid.x;
	mul.wide.u32 %rd0, %t, 4; add.s64 %rd1, %A, %rd0; ld.global.u32 %a, [%rd1];
	add.s64 %rd1, %B, %rd0; ld.global.u32 %b, [%rd1];
	mov.u64 %G, gbuf;
	mov.u64 %o, 0;
` + body + `
	mul.wide.u32 %rd0, %t, 8; add.s64 %rd1, %O, %rd0; st.global.u64 [%rd1], %o;
	ret;
}
`
	m, err := ptx.Parse("case.ptx", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	tg := isa.NewTarget(sm)
	p, err := Compile(m, "", tg, Options{})
	if err != nil {
		return nil, err
	}
	mem := isa.NewMemory()
	A, B, O := mem.Alloc("A", 256), mem.Alloc("B", 256), mem.Alloc("O", 512)
	for i := range 64 {
		a, b := execOperands(i)
		binary.LittleEndian.PutUint32(A.Data[4*i:], a)
		binary.LittleEndian.PutUint32(B.Data[4*i:], b)
	}
	var params []byte
	for _, b := range []*isa.Buffer{A, B, O} {
		params = binary.LittleEndian.AppendUint64(params, b.Addr)
	}
	params = binary.LittleEndian.AppendUint32(params, 5)
	k, err := isa.Bind(p, tg, &isa.Launch{Grid: isa.Dim3{X: 1, Y: 1, Z: 1}, Block: isa.Dim3{X: 64, Y: 1, Z: 1}, Params: params, Mem: mem, NumSMs: 1, MaxSteps: 1 << 20})
	if err != nil {
		return nil, err
	}
	if _, err := k.RunBlock(0); err != nil {
		return nil, err
	}
	out := make([]uint64, 64)
	for i := range out {
		out[i] = binary.LittleEndian.Uint64(O.Data[8*i:])
	}
	return out, nil
}

var execTargets = []int{13, 21, 30, 35, 50, 61, 70, 75, 80, 86, 90, 100, 120}

func TestExecCases(t *testing.T) {
	for _, c := range execCases {
		t.Run(c.name, func(t *testing.T) {
			for _, sm := range execTargets {
				if sm < c.from {
					continue
				}
				got, err := runBody(t, sm, c.body)
				if err != nil {
					t.Errorf("sm_%d: %v", sm, err)
					continue
				}
				for i, g := range got {
					a, b := execOperands(i)
					w := c.want(a, b, i)
					if g == w || c.near > 0 && closeTo(uint32(g), uint32(w), c.near) {
						continue
					}
					t.Errorf("sm_%d: thread %d, a=%#x b=%#x: %#x, want %#x", sm, i, a, b, g, w)
					break
				}
			}
		})
	}
}

// closeTo compares f32 bits: NaN with NaN, otherwise within n units in the last place.
func closeTo(a, b, n uint32) bool {
	fa, fb := math.Float32frombits(a), math.Float32frombits(b)
	if fa != fa || fb != fb {
		return fa != fa && fb != fb
	}
	ord := func(v uint32) int64 {
		if v>>31 != 0 {
			return -int64(v & 0x7fffffff)
		}
		return int64(v)
	}
	d := ord(a) - ord(b)
	return d <= int64(n) && d >= -int64(n)
}

func f32(v uint32) float32    { return math.Float32frombits(v) }
func bitsOf(f float32) uint64 { return uint64(math.Float32bits(f)) }
func sext32(v uint32) uint64  { return uint64(int64(int32(v))) }
func boolWord(b bool) uint64  { return map[bool]uint64{true: 1}[b] }

const toO = "\n\tcvt.u64.u32 %o, %r1;"

// divisors of the tests of division by constants.
var divisors = []uint32{1, 2, 3, 5, 6, 7, 9, 10, 11, 12, 25, 60, 100, 125, 127, 128, 641, 1000, 3600, 65535, 65537, 1000000007, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff}

func init64(s string) string { return strings.ReplaceAll(s, ";", ";\n\t") }

var execCases = func() []execCase {
	cases := []execCase{
		{name: "guarded division", body: init64("setp.gt.u32 %p, %t, 20; mov.u32 %r1, 77; @%p div.u32 %r1, %a, %b; @!%p rem.u32 %r1, %b, 7;") + toO,
			want: func(a, b uint32, tid int) uint64 {
				if tid > 20 {
					if b == 0 {
						return 0xffffffff
					}
					return uint64(a / b)
				}
				return uint64(b % 7)
			}},
		{name: "guarded expansions keep the old value", body: init64("setp.lt.u32 %p, %t, 9; mov.u32 %r1, 5; @%p add.sat.s32 %r1, %a, %b; @%p vmad.s32.s32.s32.sat %r1, %a, %b, %r1;") + toO,
			want: func(a, b uint32, tid int) uint64 {
				if tid >= 9 {
					return 5
				}
				s := clamp32(int64(int32(a)) + int64(int32(b)))
				return uint64(uint32(clamp32(int64(int32(a))*int64(int32(b)) + s)))
			}},
		{name: "guarded 64-bit minimum", body: init64("setp.ne.u32 %p, %a, 0; mov.b64 %rd2, {%a, %b}; mov.b64 %rd3, {%b, %a}; mov.u64 %o, 9; @%p min.s64 %o, %rd2, %rd3;"),
			want: func(a, b uint32, tid int) uint64 {
				if a == 0 {
					return 9
				}
				return uint64(min(int64(uint64(b)<<32|uint64(a)), int64(uint64(a)<<32|uint64(b))))
			}},
		{name: "selections become guarded operations", body: init64("and.b32 %x, %a, 1; shr.u32 %r1, %a, 1; xor.b32 %r2, %r1, 0x04c11db7; setp.eq.b32 %p, %x, 1; selp.b32 %r3, %r2, %r1, %p;"+
			"add.s32 %r4, %r3, -19; setp.lt.u32 %q, %b, %a; selp.b32 %r5, %r3, %r4, %q; selp.b32 %r6, 5, -7, %q; add.s32 %r7, %r5, %r6; shl.b32 %r8, %r7, %t; selp.b32 %r9, %r8, %r7, %p;") + "mov.b64 %o, {%r9, %r5};",
			want: func(a, b uint32, tid int) uint64 {
				v := a >> 1
				if a&1 == 1 {
					v ^= 0x04c11db7
				}
				w, k := v-19, uint32(0xfffffff9)
				if b < a {
					w, k = v, 5
				}
				r := w + k
				if a&1 == 1 {
					r = uint32(uint64(r) << tid)
				}
				return uint64(r) | uint64(w)<<32
			}},
		{name: "SIMD video of one lane each", body: init64("vadd4.u32.u32.u32 %r1, %a.b0000, %b.b0000, %t; vadd2.u32.u32.u32 %r2, %a.h00, %b.h22, %t; xor.b32 %r1, %r1, %r2;") + toO,
			want: func(a, b uint32, tid int) uint64 {
				return uint64((2*a&0xff)*0x01010101 ^ ((a+b)&0xffff)*0x00010001)
			}},
		{name: "high bits of a 64-bit sum", body: init64("cvt.u64.u32 %rd2, %a; shl.b64 %rd2, %rd2, 31; cvt.s64.s32 %rd3, %b; add.s64 %o, %rd2, %rd3; sub.s64 %o, %o, 3;"),
			want: func(a, b uint32, tid int) uint64 { return uint64(a)<<31 + sext32(b) - 3 }},
		{name: "carry chain around other 64-bit work", body: init64("mov.b64 %rd2, {%a, %b}; mov.b64 %rd3, {%b, %a}; add.cc.u32 %r1, %a, %b; add.s64 %rd4, %rd2, %rd3; min.u64 %rd5, %rd2, %rd3; addc.u32 %r2, 0, 0; mov.b64 %o, {%r1, %r2}; xor.b64 %o, %o, %rd4;"),
			want: func(a, b uint32, tid int) uint64 {
				x, y := uint64(b)<<32|uint64(a), uint64(a)<<32|uint64(b)
				return (uint64(a) + uint64(b)) ^ (x + y)
			}},
		{name: "mad.hi adds after taking the high half", body: init64("mad.hi.u32 %r1, %a, %b, %a; mad.hi.s32 %r2, %a, %b, %b; mov.b64 %o, {%r1, %r2};"),
			want: func(a, b uint32, tid int) uint64 {
				hs := uint32(uint64(int64(int32(a))*int64(int32(b)))>>32) + b
				return uint64(uint32(uint64(a)*uint64(b)>>32)+a) | uint64(hs)<<32
			}},
		{name: "64-bit multiply-add chain", body: init64("mad.lo.cc.u32 %r1, %a, %b, %t; madc.hi.cc.u32 %r2, %a, %b, %a; addc.u32 %r3, 0, 0; add.u32 %r2, %r2, %r3; mov.b64 %o, {%r1, %r2};"),
			want: func(a, b uint32, tid int) uint64 {
				p := uint64(a) * uint64(b)
				s := p + uint64(tid)
				hi := s>>32 + uint64(a)
				return uint64(uint32(s)) | uint64(uint32(hi)+uint32(hi>>32))<<32
			}},
		{name: "selp with negated predicate", body: init64("setp.lt.s32 %p, %a, 3; not.pred %q, %p; selp.u32 %r1, 11, 22, %q; @!%p add.u32 %r1, %r1, 100;") + toO,
			want: func(a, b uint32, tid int) uint64 {
				if int32(a) < 3 {
					return 22
				}
				return 111
			}},
		{name: "bfe beyond bit 31", body: init64("bfe.s32 %r1, %a, 35, 4; bfe.u32 %r2, %a, 35, 4; add.u32 %r1, %r1, %r2;") + toO,
			want: func(a, b uint32, tid int) uint64 { return uint64(uint32(int32(a) >> 31)) }},
		{name: "funnel shift by a constant", body: init64("shf.l.wrap.b32 %r1, %a, %b, 37; shf.r.wrap.b32 %r2, %a, %a, 9; shf.r.clamp.b32 %r3, %a, %b, 40; mov.b64 %o, {%r1, %r2}; cvt.u64.u32 %rd2, %r3; add.s64 %o, %o, %rd2;"),
			want: func(a, b uint32, tid int) uint64 {
				l := uint32((uint64(b)<<32 | uint64(a)) << 5 >> 32)
				return (uint64(l) | uint64(a>>9|a<<23)<<32) + uint64(b) // a clamped shift by 32 or more leaves b
			}},
		{name: "pack and unpack", body: init64("mov.b32 {%h1, %h2}, %a; mov.b32 %r1, {%h2, %h1}; mov.b64 %rd2, {%a, %b}; mov.b64 {%h3, %h4, %h5, %h6}, %rd2; mov.b32 %r2, {%h6, %h3}; mov.b64 %o, {%r1, %r2};"),
			want: func(a, b uint32, tid int) uint64 { return uint64(a<<16|a>>16) | uint64(b>>16|a<<16)<<32 }},
		{name: "vector loads and stores of narrow elements", body: init64("mov.u32 %x, sbuf; mad.lo.u32 %x, %t, 8, %x; mov.b64 %rd2, {%a, %b}; st.shared.u64 [%x], %rd2; bar.sync 0; ld.shared.v4.u8 {%r1, %r2, %r3, %r4}, [%x]; ld.shared.v2.s16 {%r5, %r6}, [%x+4]; shl.b32 %r2, %r2, 8; add.u32 %r1, %r1, %r4; add.u32 %r1, %r1, %r2; add.u32 %r5, %r5, %r6; st.shared.v2.u16 [%x], {%r5, %r1}; ld.shared.u32 %r7, [%x]; mov.b64 %o, {%r1, %r7};"),
			want: func(a, b uint32, tid int) uint64 {
				lo := a&0xff + a>>24 + a>>8&0xff<<8
				s := uint32(int32(int16(b))) + uint32(int32(b)>>16)
				return uint64(lo) | uint64(s&0xffff|lo<<16)<<32
			}},
		{name: "atomics on global memory", from: 21, body: init64("atom.global.add.u32 %r1, [%G], 1; red.global.max.u32 [%G+4], %t; atom.global.or.b32 %r2, [%G+8], 3; atom.global.cas.b32 %r3, [%G+12], 0, 7; atom.global.inc.u32 %r4, [%G+16], 9; atom.global.add.u64 %rd2, [%G+24], 5; bar.sync 0; ld.volatile.global.u32 %r1, [%G]; ld.volatile.global.u32 %r2, [%G+4]; ld.volatile.global.u32 %r3, [%G+8]; ld.volatile.global.u32 %r4, [%G+12]; ld.volatile.global.u32 %r5, [%G+16]; ld.volatile.global.u64 %rd2, [%G+24]; add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; add.u32 %r1, %r1, %r4; add.u32 %r1, %r1, %r5; cvt.u32.u64 %r6, %rd2; add.u32 %r1, %r1, %r6;") + toO,
			want: func(a, b uint32, tid int) uint64 { return 64 + 63 + 3 + 7 + 4 + 320 }},
		{name: "atomics on shared memory", from: 13, body: init64("mov.u32 %x, sbuf; mov.u32 %r1, 0; st.shared.u32 [%x], %r1; st.shared.u32 [%x+4], %r1; mov.u64 %rd2, 0; st.shared.u64 [%x+8], %rd2; mov.f32 %f1, 0f00000000; st.shared.f32 [%x+16], %f1; bar.sync 0; atom.shared.add.u32 %r2, [%x], 2; atom.shared.max.s32 %r3, [%x+4], %t; cvt.u64.u32 %rd3, %t; atom.shared.add.u64 %rd4, [%x+8], %rd3; mov.f32 %f2, 0f3f800000; atom.shared.add.f32 %f3, [%x+16], %f2; bar.sync 0; ld.shared.u32 %r1, [%x]; ld.shared.u32 %r2, [%x+4]; ld.shared.u64 %rd5, [%x+8]; ld.shared.f32 %f4, [%x+16]; cvt.rzi.u32.f32 %r4, %f4; add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r4; cvt.u64.u32 %o, %r1; add.s64 %o, %o, %rd5;"),
			want: func(a, b uint32, tid int) uint64 { return 128 + 63 + 64 + 2016 }},
		{name: "shuffles", from: 30, body: init64("shfl.sync.bfly.b32 %r1|%p, %a, 5, 31, -1; shfl.sync.up.b32 %r2|%q, %a, 3, 0, -1; selp.u32 %r3, 1, 0, %q; add.u32 %r1, %r1, %r2; mov.b64 %o, {%r1, %r3};"),
			want: func(a, b uint32, tid int) uint64 {
				w, l := tid&^31, tid&31
				x, _ := execOperands(w + l ^ 5)
				up := tid
				if l >= 3 {
					up = tid - 3
				}
				y, _ := execOperands(up)
				return uint64(x+y) | boolWord(l >= 3)<<32
			}},
		{name: "votes", from: 13, body: init64("setp.lt.u32 %p, %t, 40; vote.sync.ballot.b32 %r1, %p, -1; vote.sync.all.pred %q, %p, -1; selp.u32 %r2, 1, 0, %q; mov.b64 %o, {%r1, %r2};"),
			want: func(a, b uint32, tid int) uint64 {
				if tid < 32 {
					return 0xffffffff | 1<<32
				}
				return 0xff
			}},
		{name: "match", from: 70, body: init64("and.b32 %r1, %t, 3; match.any.sync.b32 %r2, %r1, -1;") + "\n\tcvt.u64.u32 %o, %r2;",
			want: func(a, b uint32, tid int) uint64 { return 0x11111111 << uint(tid&3) }},
		{name: "redux", from: 30, body: init64("redux.sync.add.u32 %r1, %t, -1; redux.sync.max.s32 %r2, %t, -1; mov.b64 %o, {%r1, %r2};"),
			want: func(a, b uint32, tid int) uint64 {
				if tid < 32 {
					return 496 | 31<<32
				}
				return 496 + 1024 | 63<<32
			}},
		{name: "redux of tiles", from: 30, body: init64("and.b32 %r3, %t, 24; mov.u32 %r4, 255; shl.b32 %r3, %r4, %r3; redux.sync.add.u32 %r1, %t, %r3; redux.sync.max.u32 %r2, %t, %r3; mov.b64 %o, {%r1, %r2};"),
			want: func(a, b uint32, tid int) uint64 { return uint64(tid&^7*8+28) | uint64(tid|7)<<32 }},
		{name: "barrier reductions", from: 20, body: init64("setp.lt.u32 %p, %t, 40; barrier.red.popc.u32 %r1, 0, %p; barrier.red.or.pred %q, 0, %p; selp.u32 %r2, 1, 0, %q; mov.b64 %o, {%r1, %r2};"),
			want: func(a, b uint32, tid int) uint64 { return 40 | 1<<32 }},
		{name: "lop3 with predicate", body: init64("setp.gt.u32 %p, %t, 50; lop3.or.b32 %r1|%q, %a, %b, %t, 0x80, %p; selp.u32 %r2, 1, 0, %q; mov.b64 %o, {%r1, %r2};"),
			want: func(a, b uint32, tid int) uint64 {
				v := a & b & uint32(tid)
				return uint64(v) | boolWord(v != 0 || tid > 50)<<32
			}},
		{name: "prmt modes with constants", body: init64("prmt.b32.f4e %r1, %a, %b, 3; prmt.b32.rc16 %r2, %a, %b, 1; prmt.b32 %r3, %a, %b, 0x9a30; add.u32 %r2, %r2, %r3; mov.b64 %o, {%r1, %r2};"),
			want: func(a, b uint32, tid int) uint64 {
				f := uint32((uint64(b)<<32 | uint64(a)) >> 24)
				rc := a>>16 | a>>16<<16
				sg := func(v uint32) uint32 { return uint32(int32(v<<24)>>31) & 0xff }
				p := a&0xff | a>>24<<8 | sg(a>>16)<<16 | sg(a>>8)<<24
				return uint64(f) | uint64(rc+p)<<32
			}},
		{name: "addition of floats", body: init64("mov.b32 %f1, %a; mov.b32 %f2, %b; add.rn.f32 %f3, %f1, %f2; mul.rn.f32 %f4, %f3, %f1; sub.f32 %f4, %f4, %f2; mov.b32 %r1, %f4;") + toO, near: 1,
			want: func(a, b uint32, tid int) uint64 {
				s := f32(a) + f32(b)
				m := s * f32(a)
				return bitsOf(m - f32(b))
			}},
		{name: "rounded division", body: init64("mov.b32 %f1, %a; mov.b32 %f2, %b; div.rn.f32 %f3, %f1, %f2; mov.b32 %r1, %f3;") + toO, near: 1,
			from: 21, want: func(a, b uint32, tid int) uint64 { return bitsOf(f32(a) / f32(b)) }},
		{name: "rounded square root", from: 21, body: init64("mov.b32 %f1, %b; abs.f32 %f1, %f1; sqrt.rn.f32 %f3, %f1; mov.b32 %r1, %f3;") + toO, near: 1,
			want: func(a, b uint32, tid int) uint64 {
				return bitsOf(float32(math.Sqrt(math.Abs(float64(f32(b))))))
			}},
		{name: "approximate functions", body: init64("and.b32 %r2, %b, 0x007fffff; or.b32 %r2, %r2, 0x3f800000; mov.b32 %f1, %r2; rcp.approx.f32 %f2, %f1; sqrt.approx.f32 %f3, %f1; rsqrt.approx.f32 %f4, %f1; mul.f32 %f2, %f2, %f3; div.rn.f32 %f2, %f2, %f4; mov.b32 %r1, %f2;") + toO, near: 8,
			from: 21, want: func(a, b uint32, tid int) uint64 { return bitsOf(1) }},
		{name: "exponential and logarithm", body: init64("and.b32 %r2, %b, 0x007fffff; or.b32 %r2, %r2, 0x3f800000; mov.b32 %f1, %r2; lg2.approx.f32 %f2, %f1; ex2.approx.f32 %f3, %f2; mov.b32 %r1, %f3;") + toO, near: 16,
			want: func(a, b uint32, tid int) uint64 { return uint64(b&0x7fffff | 0x3f800000) }},
		{name: "sine and cosine", body: init64("and.b32 %r2, %b, 0x007fffff; or.b32 %r2, %r2, 0x3f800000; mov.b32 %f1, %r2; sin.approx.f32 %f2, %f1; cos.approx.f32 %f3, %f1; mul.f32 %f2, %f2, %f2; mul.f32 %f3, %f3, %f3; add.f32 %f3, %f2, %f3; mov.b32 %r1, %f3;") + toO, near: 64,
			want: func(a, b uint32, tid int) uint64 { return bitsOf(1) }},
		{name: "doubles", from: 13, body: init64("cvt.rn.f64.s32 %fd1, %a; cvt.rn.f64.u32 %fd2, %b; add.f64 %fd2, %fd2, 0d3FF8000000000000; div.rn.f64 %fd3, %fd1, %fd2; fma.rn.f64 %fd3, %fd3, %fd2, %fd1; mov.b64 %o, %fd3;"),
			want: func(a, b uint32, tid int) uint64 {
				x, y := float64(int32(a)), float64(b)+1.5
				return math.Float64bits(math.FMA(x/y, y, x))
			}},
		{name: "double square root", from: 13, body: init64("cvt.rn.f64.u32 %fd1, %b; sqrt.rn.f64 %fd2, %fd1; mov.b64 %o, %fd2;"),
			want: func(a, b uint32, tid int) uint64 { return math.Float64bits(math.Sqrt(float64(b))) }},
		{name: "conversions of doubles", from: 13, body: init64("cvt.rn.f64.s64 %fd1, %rd9; cvt.u64.u32 %rd2, %b; cvt.rn.f64.u64 %fd1, %rd2; cvt.rn.f32.f64 %f1, %fd1; cvt.f64.f32 %fd2, %f1; cvt.rzi.s64.f64 %o, %fd2;"),
			want: func(a, b uint32, tid int) uint64 { return uint64(int64(float64(float32(float64(b))))) }},
		{name: "halves", from: 53, body: init64("and.b32 %r2, %t, 15; cvt.rn.f16.u32 %h1, %r2; cvt.rn.f16.u32 %h2, 3; fma.rn.f16 %h3, %h1, %h2, %h1; add.f16 %h3, %h3, %h2; cvt.f32.f16 %f1, %h3; cvt.rzi.u32.f32 %r1, %f1;") + toO,
			want: func(a, b uint32, tid int) uint64 { return uint64(tid&15)*4 + 3 }},
		{name: "comparisons of floats", body: init64("mov.b32 %f1, %a; mov.b32 %f2, %b; setp.ltu.f32 %p, %f1, %f2; set.ge.u32.f32 %r1, %f1, %f2; selp.u32 %r2, 1, 0, %p; slct.s32.f32 %r3, 5, 6, %f1; min.f32 %f3, %f1, %f2; add.u32 %r2, %r2, %r3; mov.b64 %o, {%r1, %r2};"),
			want: func(a, b uint32, tid int) uint64 {
				x, y := f32(a), f32(b)
				v := uint64(0)
				if x >= y {
					v = 0xffffffff
				}
				s := uint64(6)
				if x >= 0 {
					s = 5
				}
				return v | (boolWord(!(x >= y))+s)<<32
			}},
		{name: "generic addresses", from: 21, body: init64("mov.u32 %x, sbuf; mad.lo.u32 %x, %t, 4, %x; cvt.u64.u32 %rd2, %x; cvta.shared.u64 %rd3, %rd2; st.u32 [%rd3], %b; ld.shared.u32 %r1, [%x]; isspacep.shared %p, %rd3; isspacep.global %q, %rd3; selp.u32 %r2, 1, 0, %p; selp.u32 %r3, 2, 0, %q; add.u32 %r2, %r2, %r3; cvta.to.shared.u64 %rd4, %rd3; cvt.u32.u64 %r4, %rd4; sub.u32 %r4, %r4, %x; add.u32 %r2, %r2, %r4; mov.b64 %o, {%r1, %r2};"),
			want: func(a, b uint32, tid int) uint64 { return uint64(b) | 1<<32 }},
		{name: "asynchronous copy", from: 21, body: init64("mov.u32 %x, sbuf; mad.lo.u32 %x, %t, 4, %x; mul.wide.u32 %rd2, %t, 4; add.s64 %rd2, %A, %rd2; cp.async.ca.shared.global [%x], [%rd2], 4; cp.async.commit_group; cp.async.wait_group 0; bar.sync 0; ld.shared.u32 %r1, [%x];") + toO,
			want: func(a, b uint32, tid int) uint64 { return uint64(a) }},
		{name: "packed halves of integers", body: init64("add.s16x2 %r1, %a, %b; max.s16x2 %r2, %a, %b; min.relu.s16x2 %r3, %a, %b; xor.b32 %r2, %r2, %r3; mov.b64 %o, {%r1, %r2};"),
			want: func(a, b uint32, tid int) uint64 {
				var s, m uint32
				for k := uint(0); k < 32; k += 16 {
					x, y := int16(a>>k), int16(b>>k)
					s |= uint32(uint16(x+y)) << k
					m |= uint32(uint16(max(x, y))^uint16(max(min(x, y), 0))) << k
				}
				return uint64(s) | uint64(m)<<32
			}},
	}
	for _, n := range []int{1, 13, 31, 32, 33, 45, 63} {
		cases = append(cases, execCase{name: fmt.Sprintf("64-bit rotation by %d and shifts", n),
			body: init64(fmt.Sprintf("mov.b64 %%rd2, {%%a, %%b}; shl.b64 %%rd3, %%rd2, %d; shr.u64 %%rd4, %%rd2, %d; add.s64 %%rd5, %%rd3, %%rd4; mov.b64 %%rd6, {%%b, %%a};"+
				"shl.b64 %%rd7, %%rd6, %d; shr.u64 %%rd8, %%rd2, %d; or.b64 %%rd9, %%rd7, %%rd8; shr.s64 %%rd10, %%rd6, %d; xor.b64 %%rd5, %%rd5, %%rd9; add.s64 %%o, %%rd5, %%rd10;", n, 64-n, n, 64-n, n)),
			want: func(a, b uint32, tid int) uint64 {
				x, y := uint64(b)<<32|uint64(a), uint64(a)<<32|uint64(b)
				return (bits.RotateLeft64(x, n) ^ (y<<n | x>>(64-n))) + uint64(int64(y)>>n)
			}})
	}
	for _, d := range divisors {
		cases = append(cases, execCase{name: fmt.Sprintf("division by %#x", d),
			body: init64(fmt.Sprintf("div.u32 %%r1, %%a, %d; rem.u32 %%r2, %%b, %d; div.s32 %%r3, %%a, %d; rem.s32 %%r4, %%b, %d; xor.b32 %%r1, %%r1, %%r3; xor.b32 %%r2, %%r2, %%r4; mov.b64 %%o, {%%r1, %%r2};", d, d, int32(d), int32(d))),
			want: func(a, b uint32, tid int) uint64 {
				sd, sr := uint32(0), uint32(0)
				switch s := int32(d); {
				case s == -1:
					sd = -a
				default:
					sd, sr = uint32(int32(a)/s), uint32(int32(b)%s)
				}
				return uint64(a/d^sd) | uint64(b%d^sr)<<32
			}})
	}
	return cases
}()

func clamp32(v int64) int64 { return min(max(v, math.MinInt32), math.MaxInt32) }
