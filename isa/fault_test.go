package isa_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
)

// TestFaults checks the exact messages of errors that a kernel can cause at run time.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		threads          uint32
	}{
		{"null pointer", "MOV R2, RZ\nMOV R3, RZ\nLDG.E R0, [R2.64+0x8]\nEXIT",
			"k.sass:3:1: kernel k, block 0, warp 0, pc 0x20: LDG.E R0, [R2.64+0x8]: null pointer: global load of 4 bytes at address 0x8 by lane 0 (thread 0,0,0 of block 0,0,0): the pointer was never set, or an index was added to a null pointer", 32},
		{"past the end", "S2R R1, SR_TID.X\nIMAD.WIDE.U32 R2, R1, 0x8, c[0x0][0x160]\nLDG.E.64 R4, [R2.64]\nEXIT",
			"k.sass:3:1: kernel k, block 0, warp 0, pc 0x20: LDG.E.64 R4, [R2.64]: out of bounds: global load of 8 bytes at address 0x720000080 by lane 16 (thread 16,0,0 of block 0,0,0): 0 bytes past the end of buffer data (128 bytes, offset 128)", 32},
		{"before the start", "MOV R2, c[0x0][0x160]\nMOV R3, c[0x0][0x164]\nSTG.E [R2.64+-0x4], R0\nEXIT",
			"k.sass:3:1: kernel k, block 0, warp 0, pc 0x20: STG.E [R2.64+-0x4], R0: out of bounds: global store of 4 bytes at address 0x71ffffffc by lane 0 (thread 0,0,0 of block 0,0,0): 4 bytes before buffer data (128 bytes)", 1},
		{"misaligned", "MOV R2, c[0x0][0x160]\nMOV R3, c[0x0][0x164]\nLDG.E.128 R4, [R2.64+0x8]\nEXIT",
			"k.sass:3:1: kernel k, block 0, warp 0, pc 0x20: LDG.E.128 R4, [R2.64+0x8]: misaligned global load of 16 bytes at address 0x720000008 by lane 0 (thread 0,0,0 of block 0,0,0): the address must be a multiple of 16", 1},
		{"shared out of bounds", "S2R R1, SR_TID.X\nSHF.L.U32 R1, R1, 0x5, RZ\nLDS R0, [R1+0x20]\nEXIT",
			"k.sass:3:1: kernel k, block 0, warp 0, pc 0x20: LDS R0, [R1+0x20]: out of bounds: shared load of 4 bytes at address 0x400 by lane 31 (thread 31,0,0 of block 0,0,0): the block has 1024 bytes (1024 static, 0 dynamic)", 32},
		{"shared misaligned", "MOV R1, 0x2\nATOMS.ADD R0, [R1], R1\nEXIT",
			"k.sass:2:1: kernel k, block 0, warp 0, pc 0x10: ATOMS.ADD R0, [R1], R1: misaligned shared atomic of 4 bytes at address 0x2 by lane 0 (thread 0,0,0 of block 0,0,0): the address must be a multiple of 4", 1},
		{"local out of bounds", "MOV R1, 0x40\nSTL [R1], R1\nEXIT",
			"k.sass:2:1: kernel k, block 0, warp 0, pc 0x10: STL [R1], R1: out of bounds: local store of 4 bytes at address 0x40 by lane 0 (thread 0,0,0 of block 0,0,0): a thread has 64 bytes", 1},
		{"stack overflow", "MOV R1, 0x40\nf: IADD3 R1, R1, -0x30, RZ\nSTL [R1], R1\nCALL.REL.NOINC f\nEXIT",
			"k.sass:3:1: kernel k, block 0, warp 0, pc 0x20: STL [R1], R1: stack overflow: lane 0 (thread 0,0,0 of block 0,0,0) writes or reads 32 bytes below its stack of 64 bytes: the calls nest too deeply; recursion must end before the stack does", 1},
		{"indirect branch into nowhere", "MOV R2, 0x8\nMOV R3, RZ\nRET.REL.NODEC R2 0x0\nEXIT",
			"k.sass:3:1: kernel k, block 0, warp 0, pc 0x20: RET.REL.NODEC R2 0x0: indirect branch to address 0x8, where no instruction starts, by lane 0 (thread 0,0,0 of block 0,0,0)", 1},
		{"trap", "S2R R1, SR_TID.X\nISETP.EQ.AND P0, PT, R1, 0x5, PT\n@P0 BPT.TRAP 0x1\nEXIT",
			"k.sass:3:1: kernel k, block 0, warp 0, pc 0x20: @P0 BPT.TRAP 0x1: the kernel executed a trap, first lane 5 (thread 5,0,0 of block 0,0,0)", 32},
		{"named barrier out of range", "BAR.SYNC 0x10\nEXIT",
			"k.sass:1:1: kernel k, block 0, warp 0, pc 0x0: BAR.SYNC 0x10: named barrier 16: a block has barriers 0 to 15", 1},
		{"half a warp leaves the other waiting", "S2R R1, SR_TID.X\nBSSY B0, j\nISETP.GE.AND P0, PT, R1, 0x10, PT\n@P0 BRA other\nWARPSYNC 0xffffffff\nj: BSYNC B0\nEXIT\nother: BSYNC B0\nEXIT",
			"k.sass:8:1: kernel k, block 0, warp 0, pc 0x70: BSYNC B0: divergence deadlock: no lane of the warp can continue (living lanes 0xffffffff)\n  warp 0, lanes 0x0000ffff: at WARPSYNC for lanes 0xffff0000, k.sass:5:1: WARPSYNC 0xffffffff\n  warp 0, lanes 0xffff0000: at BSYNC B0 for lanes 0x0000ffff, k.sass:8:1: BSYNC B0", 32},
		{"block barrier that one warp never reaches", "S2R R1, SR_TID.X\nISETP.GE.AND P0, PT, R1, 0x20, PT\n@P0 BRA two\nBAR.SYNC 0x0\nEXIT\ntwo: BAR.SYNC 0x1\nEXIT",
			"kernel k: block 0 (0,0,0): barrier deadlock: no warp can continue; 0 of 2 warps have exited\n  warp 0, lanes 0xffffffff: at barrier 0 for all threads of the block, k.sass:4:1: BAR.SYNC 0x0\n  warp 1, lanes 0xffffffff: at barrier 1 for all threads of the block, k.sass:6:1: BAR.SYNC 0x1", 64},
	} {
		t.Run(c.name, func(t *testing.T) {
			mem := isa.NewMemory()
			buf := mem.Alloc("data", 128)
			p := assemble(t, 86, c.text)
			k, _ := start(t, p, c.threads, mem, binary.LittleEndian.AppendUint64(nil, buf.Addr))
			_, err := k.RunBlock(0)
			if err == nil {
				t.Fatal("no error")
			}
			if got := err.Error(); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestSharedAllocation lets machine code read to the end of the unit in which a block's shared memory is allocated, and no further.
func TestSharedAllocation(t *testing.T) {
	for bytes, ok := range map[int]bool{1008: true, 1024: true, 896: false} {
		p := assemble(t, 86, "MOV R1, 0x3f0\nLDS.128 R4, [R1]\nEXIT")
		p.SharedBytes = bytes
		k, _ := start(t, p, 32, nil, nil)
		if _, err := k.RunBlock(0); (err == nil) != ok {
			t.Errorf("the last 16 of 1024 bytes, %d declared: %v", bytes, err)
		}
		p.SharedUnit = 0
		k, _ = start(t, p, 32, nil, nil)
		if _, err := k.RunBlock(0); (err == nil) != (bytes == 1024) {
			t.Errorf("the last 16 of 1024 bytes, exactly %d allowed: %v", bytes, err)
		}
	}
}

// TestEndlessLoop names the loop that a run over its step limit is in.
func TestEndlessLoop(t *testing.T) {
	p := assemble(t, 86, "MOV R0, RZ\nouter: NOP\ninner: IADD3 R0, R0, 0x1, RZ\nBRA inner\nBRA outer\nEXIT")
	k, err := isa.Bind(p, isa.NewTarget(86), &isa.Launch{Grid: isa.Dim3{X: 1, Y: 1, Z: 1}, Block: isa.Dim3{X: 32, Y: 1, Z: 1}, MaxSteps: 1000})
	if err != nil {
		t.Fatal(err)
	}
	_, err = k.RunBlock(0)
	want := "k.sass:3:1: kernel k: more than 1000 warp-instructions executed (step limit): block 0 warp 0 is in the loop at pc 0x20 to 0x30, IADD3 R0, R0, 0x1, RZ; raise the limit if the kernel is meant to run that long"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// TestWatchBlock shows every executed instruction, counts earlier steps against the limit, and turns a panic of the visitor into an error.
func TestWatchBlock(t *testing.T) {
	bind := func(limit uint64) *isa.Kernel {
		p := assemble(t, 86, "MOV R0, RZ\nIADD3 R0, R0, 0x1, RZ\nEXIT")
		k, err := isa.Bind(p, isa.NewTarget(86), &isa.Launch{Grid: isa.Dim3{X: 1, Y: 1, Z: 1}, Block: isa.Dim3{X: 64, Y: 1, Z: 1}, MaxSteps: limit})
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	var seen []string
	steps, err := bind(0).WatchBlock(0, 0, func(w *isa.Warp, e *isa.Effect) { seen = append(seen, fmt.Sprintf("%d:%s", w.Index, e.Inst.Op)) })
	if want := "0:MOV 0:IADD3 0:EXIT 1:MOV 1:IADD3 1:EXIT"; err != nil || steps != 6 || strings.Join(seen, " ") != want {
		t.Errorf("%d steps %s, error %v, want 6 steps %s", steps, strings.Join(seen, " "), err, want)
	}
	for before, want := range map[uint64]string{94: "", 95: "more than 100 warp-instructions executed"} {
		_, err := bind(100).WatchBlock(0, before, func(*isa.Warp, *isa.Effect) {})
		if got := fmt.Sprint(err); err == nil != (want == "") || !strings.Contains(got, want) {
			t.Errorf("after %d steps: %v, want %q", before, err, want)
		}
	}
	_, err = bind(0).WatchBlock(0, 0, func(*isa.Warp, *isa.Effect) { panic("broken") })
	if err == nil || !strings.HasPrefix(err.Error(), "kernel k: internal error at instruction 1: broken") {
		t.Errorf("a panic gave %v", err)
	}
}

// TestBindErrors checks launches and programs that are refused.
func TestBindErrors(t *testing.T) {
	one, r := isa.Dim3{X: 1, Y: 1, Z: 1}, isa.R
	exit := func() *isa.Program { return assemble(t, 86, "EXIT") }
	for _, c := range []struct {
		name string
		p    *isa.Program
		l    isa.Launch
		want string
	}{
		{"empty grid", exit(), isa.Launch{Block: one}, "kernel k: grid 0x0x0 is empty: every dimension must be at least 1"},
		{"block too large", exit(), isa.Launch{Grid: one, Block: isa.Dim3{X: 32, Y: 33, Z: 1}}, "kernel k: block 32x33x1 has 1056 threads: at most 1024 (x and y up to 1024, z up to 64)"},
		{"parameters missing", func() *isa.Program { p := exit(); p.Params = []isa.Param{{Name: "n", Size: 4}}; return p }(), isa.Launch{Grid: one, Block: one},
			"kernel k: parameter block has 0 bytes, the kernel's 1 parameters need 4"},
		{"no instructions", &isa.Program{Name: "k"}, isa.Launch{Grid: one, Block: one}, "kernel k: it has no instructions"},
		{"constant bank missing", assemble(t, 86, "MOV R0, c[0x3][0x8]\nEXIT"), isa.Launch{Grid: one, Block: one},
			"k.sass:1:1: kernel k, pc 0x0: MOV R0, c[0x3][0x8]: constant c[0x3][0x8] does not exist: the bank has 0 bytes"},
		{"not modelled", program(86, asm(isa.OpTEX, isa.Mod{}, nil, nil)), isa.Launch{Grid: one, Block: one, Params: make([]byte, 8)},
			"k.ptx:1:1: kernel k, pc 0x0: TEX: TEX without a shape such as 2D is not modelled"},
		{"atomics of 128 bits", program(86, asm(isa.OpATOMG, isa.Mod{Sub: isa.SubExch, Size: 16}, ops(isa.P(isa.PT), r(0)), ops(isa.Mem(4, 0, true), r(8)))),
			isa.Launch{Grid: one, Block: one, Params: make([]byte, 8)}, "k.ptx:1:1: kernel k, pc 0x0: ATOMG.EXCH PT, R0, [R4.64], R8: ATOMG.U32 of 16 bytes is not modelled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := isa.Bind(c.p, isa.NewTarget(86), &c.l)
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			if c.name == "not modelled" && !errors.Is(err, isa.ErrNotExecutable) {
				t.Error("does not wrap ErrNotExecutable")
			}
		})
	}
}

// TestCheck is the program check: what no hardware of the target could run is named.
func TestCheck(t *testing.T) {
	r := isa.R
	for _, c := range []struct {
		sm   int
		in   isa.Inst
		want string
	}{
		{86, asm(isa.OpXMAD, isa.Mod{}, ops(r(0)), ops(r(1), r(2), r(3))), "XMAD does not exist on sm_86"},
		{86, asm(isa.OpIADD3, isa.Mod{}, ops(r(0)), ops(r(1))), "1 value sources, IADD3 has 2 to 3"},
		{86, asm(isa.OpIADD3, isa.Mod{}, nil, ops(r(1), r(2), r(3))), "0 register results, IADD3 has 1"},
		{86, asm(isa.OpIADD3, isa.Mod{}, ops(r(256)), ops(r(1), r(2), r(3))), "result 1: register %R0 is beyond the 255 registers a thread of sm_86 can have"},
		{30, asm(isa.OpIADD, isa.Mod{}, ops(r(64)), ops(r(1), r(2))), "result 1: register R64 is beyond the 63 registers a thread of sm_30 can have"},
		{86, asm(isa.OpIMAD, isa.Mod{Flags: isa.ModWide}, ops(r(3)), ops(r(1), r(2), r(4))), "R3 is the first of 2 registers and must be a multiple of 2"},
		{86, asm(isa.OpLDG, isa.Mod{Size: 16}, ops(r(2)), ops(isa.Mem(4, 0, true))), "R2 is the first of 4 registers and must be a multiple of 4"},
		{86, asm(isa.OpLDG, isa.Mod{Size: 4}, ops(r(2)), ops(isa.Mem(5, 0, true))), "source 1: 64-bit address [R5.64] must start at an even register"},
		{86, asm(isa.OpBRA, isa.Mod{}, nil, ops(isa.Label(7))), "source 1: branch target 7 is outside of the program's 1 instructions"},
		{70, asm(isa.OpIADD3, isa.Mod{}, ops(r(2)), ops(isa.UR(1), r(2), r(3))), "source 1: uniform register UR1 does not exist on sm_70"},
		{86, asm(isa.OpIMNMX, isa.Mod{}, ops(r(2)), ops(r(1), r(2))), "IMNMX needs the predicate that chooses min (PT) or max (!PT)"},
		{86, asm(isa.OpSHF, isa.Mod{}, ops(r(2)), ops(r(1), r(2), r(3))), "SHF needs one of .L and .R"},
		{86, asm(isa.OpMUFU, isa.Mod{}, ops(r(2)), ops(r(1))), "this form of MUFU is not modelled"},
	} {
		err := program(c.sm, c.in).Check(isa.NewTarget(c.sm))
		if err == nil || !strings.HasSuffix(err.Error(), ": "+c.want) {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}
