package lower

import (
	"encoding/binary"
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// scaledLoop sums words at a 64-bit index that goes from 2 to the thread's number and three more.
const scaledLoop = `.version 7.0
.target sm_50
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
.reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<12>;
ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];
mov.u32 %r1, %tid.x; cvt.u64.u32 %rd3, %r1; add.s64 %rd4, %rd3, 3;
mov.u64 %rd5, 2; mov.u32 %r2, 0;
L:
shl.b64 %rd6, %rd5, 2; add.s64 %rd7, %rd1, %rd6;
ld.global.u32 %r3, [%rd7+8]; mad.lo.s32 %r2, %r2, 3, %r3;
add.s64 %rd5, %rd5, 1;
setp.lt.s64 %p1, %rd5, %rd4;
@%p1 bra L;
shl.b64 %rd8, %rd3, 2; add.s64 %rd9, %rd2, %rd8;
st.global.u32 [%rd9], %r2;
ret;
}
`

// TestScaledIndices holds that the rounds of an unrolled loop over a 64-bit index have one address, as ptxas's do, and compares results.
func TestScaledIndices(t *testing.T) {
	m, err := ptx.Parse("scaled.ptx", []byte(scaledLoop))
	if err != nil {
		t.Fatal(err)
	}
	const threads, words = 32, 64
	for _, sm := range []int{61, 75, 90, 120} {
		target := testTarget(sm)
		p, err := Compile(m, "", target, Options{})
		if err != nil {
			t.Fatal(err)
		}
		addresses, loads := 0, 0
		for i := range p.Insts {
			switch p.Insts[i].Op {
			case isa.OpLDG:
				loads++
			case isa.OpLEA:
				addresses++
			}
		}
		if sm >= 70 && (loads != 7 || addresses != 8) { // four rounds, two and one; the last address is the result's
			t.Errorf("sm_%d: %d loads with %d LEA, want 7 with 8", sm, loads, addresses)
		}
		mem := isa.NewMemory()
		in, out := mem.Alloc("in", 4*words), mem.Alloc("out", 4*threads)
		for i := range words {
			binary.LittleEndian.PutUint32(in.Data[4*i:], wideDatum(i))
		}
		params := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, in.Addr), out.Addr)
		k, err := isa.Bind(p, target, &isa.Launch{Grid: isa.Dim3{X: 1, Y: 1, Z: 1}, Block: isa.Dim3{X: threads, Y: 1, Z: 1}, Params: params, Mem: mem, NumSMs: 1, MaxSteps: 100_000})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := k.RunBlock(0); err != nil {
			t.Fatal(err)
		}
		for i := range threads {
			want := uint32(0)
			for k := 2; k == 2 || k < i+3; k++ {
				want = want*3 + wideDatum(k+2)
			}
			if g := binary.LittleEndian.Uint32(out.Data[4*i:]); g != want {
				t.Errorf("sm_%d thread %d: %#x, want %#x", sm, i, g, want)
				break
			}
		}
	}
}
