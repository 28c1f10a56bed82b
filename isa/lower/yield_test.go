package lower

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
	"github.com/sarchlab/smsim/isa/zipped"
)

// TestYields counts YIELD: one in each loop that lanes leave by what others write, none in others and before Volta.
func TestYields(t *testing.T) {
	for _, c := range []struct {
		name, body string
		yields     int
	}{
		{"compare and swap", "L:\nadd.u32 %b, %a, 1;\natom.global.cas.b32 %c, [%q], %a, %b;\nsetp.ne.u32 %p, %c, %a;\nmov.u32 %a, %c;\n@%p bra L;\n", 1},
		{"lock", "L:\natom.global.exch.b32 %c, [%q], 1;\nsetp.ne.u32 %p, %c, 0;\n@%p bra L;\n", 1},
		{"volatile", "L:\nld.volatile.global.u32 %c, [%q+4];\nsetp.lt.u32 %p, %c, %a;\n@%p bra L;\n", 1},
		{"ordinary load", "L:\nld.global.u32 %c, [%q+4];\nadd.u32 %a, %a, %c;\nsetp.lt.u32 %p, %a, 1000;\n@%p bra L;\n", 0},
		{"counted", "mov.u32 %i, %n;\nL:\natom.global.add.u32 %c, [%q+4], %i;\nxor.b32 %a, %a, %c;\nadd.s32 %i, %i, %b;\nsetp.lt.s32 %p, %i, 100;\n@%p bra L;\n", 0},
		{"nested", "L:\nmov.u32 %i, %a;\nM:\nld.volatile.global.u32 %i, [%q+4];\nsetp.ne.u32 %p, %i, 7;\n@%p bra M;\natom.global.cas.b32 %c, [%q], %a, %i;\nsetp.ne.u32 %p, %c, %a;\n@%p bra L;\n", 2},
	} {
		m, err := ptx.Parse("t.ptx", []byte(".version 7.0\n.target sm_50\n.address_size 64\n.entry k(.param .u64 P, .param .u32 N)\n{ .reg .b64 %q; .reg .b32 %a, %b, %c, %i, %n; .reg .pred %p;\n"+
			"ld.param.u64 %q, [P]; ld.param.u32 %n, [N]; ld.global.u32 %a, [%q]; ld.global.u32 %b, [%q+8];\n"+c.body+"\nst.global.u32 [%q+8], %a; ret; }\n"))
		if err != nil {
			t.Fatal(err)
		}
		for _, sm := range []int{61, 75, 80, 90, 120} {
			p, err := Compile(m, "k", testTarget(sm), Options{})
			if err != nil {
				t.Fatal(err)
			}
			yields, want := 0, c.yields
			for i := range p.Insts {
				if p.Insts[i].Op == isa.OpYIELD {
					yields++
				}
			}
			if sm < 70 {
				want = 0
			}
			if yields != want {
				t.Errorf("sm_%d, %s: %d YIELD, want %d", sm, c.name, yields, want)
			}
		}
	}
}

// TestUnionFind executes blocks of a kernel whose lanes spin on each other's words: with YIELD and, on 7.x, barrier registers that are
// cleared before they are set anew, every lane gets to the end with the words that it has without YIELD.
func TestUnionFind(t *testing.T) {
	m, err := ptx.Parse("ufind.ptx", zipped.Read(t, "../../study/validate/testdata/heldout3/kernels/ptx/ufind.ptx.gz"))
	if err != nil {
		t.Fatal(err)
	}
	const blocks, threads, rounds = 8, 64, 12
	var want []byte
	for _, sm := range []int{61, 70, 75, 80, 90, 120} {
		target := testTarget(sm)
		p, err := Compile(m, "ufind", target, Options{})
		if err != nil {
			t.Fatal(err)
		}
		mem := isa.NewMemory()
		in, out := mem.Alloc("in", 4*blocks*threads*rounds), mem.Alloc("out", 4*blocks*2*threads)
		x := uint32(1)
		for w := range len(in.Data) / 4 {
			x = x*1664525 + 1013904223
			binary.LittleEndian.PutUint32(in.Data[4*w:], x)
		}
		params := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, in.Addr), out.Addr)
		params = binary.LittleEndian.AppendUint32(params, rounds)
		k, err := isa.Bind(p, target, &isa.Launch{Grid: isa.Dim3{X: blocks, Y: 1, Z: 1}, Block: isa.Dim3{X: threads, Y: 1, Z: 1}, Params: params, Mem: mem, NumSMs: 1, MaxSteps: 5_000_000})
		if err != nil {
			t.Fatal(err)
		}
		for b := range blocks {
			if _, err := k.RunBlock(b); err != nil {
				t.Fatalf("sm_%d, block %d: %v", sm, b, err)
			}
		}
		if want == nil {
			want = out.Data
		} else if !bytes.Equal(out.Data, want) {
			t.Errorf("sm_%d: other words than sm_61", sm)
		}
	}
}
