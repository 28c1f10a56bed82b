package pipelines

import (
	"math"
	"strings"
	"testing"
)

func constCache(t testing.TB) *ConstCache {
	c, err := NewConstCache(h200(t))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestConstOperand follows one line: filled whole from beyond the second level, sector by sector from the second.
func TestConstOperand(t *testing.T) {
	c := constCache(t)
	l := h200(t).LSU
	beyond, second := uint64(l.ConstantMissL2), uint64(l.ConstantOperandMiss)
	check := func(name string, cycle uint64, addr uint32, want uint64) {
		t.Helper()
		ready, hit := c.Operand(cycle, 3, addr)
		if ready != want || hit != (want == cycle) {
			t.Errorf("%s: ready at %d (hit %v), want %d", name, ready, hit, want)
		}
	}
	check("cold", 100, 0, 100+beyond)
	check("asked again one cycle early", 99+beyond, 0, 100+beyond)
	check("there", 100+beyond, 0, 100+beyond)
	check("other half of the line", 1000, 32, 1000)
	// 40 lines of 64 bytes throw everything out of 2 KB.
	for i := uint32(0); i < 40; i++ {
		c.Operand(2000+uint64(i)*200, 3, i*64)
	}
	check("from the second level", 20000, 0, 20000+second)
	check("other half, too", 21000, 32, 21000+second)
	check("another bank", 30000, 0, 30000)
	if _, hit := c.Operand(40000, 0, 0); hit {
		t.Errorf("bank 0 hits the line of bank 3")
	}
}

// TestOperandsApart: an operand does not find what LDC brought to its own first level, but the second level has it.
func TestOperandsApart(t *testing.T) {
	l := h200(t).LSU
	for _, apart := range []bool{false, true} {
		c := constCache(t)
		want := uint64(1000)
		if apart {
			c.OperandsApart()
			want += uint64(l.ConstantOperandMiss)
		}
		c.Load(0, 0, 0x210)
		if got, _ := c.Operand(1000, 0, 0x208); got != want {
			t.Errorf("apart %v: operand at %d, want %d", apart, got, want)
		}
	}
}

// TestConstLanes: each distinct address takes a pass, bytes of one word too; an address in a register takes 3 cycles more.
func TestConstLanes(t *testing.T) {
	c := constCache(t)
	var same, apart [32]uint64
	for i := range apart {
		apart[i] = uint64(i * 4)
	}
	c.Load(0, 3, 0)
	c.Load(0, 3, 64)
	if one := c.LoadLanes(1000, 2, 3, &same, ^uint32(0)); one != c.Load(1000, 3, 0)+3 || ConstPasses(&same, ^uint32(0)) != 1 {
		t.Errorf("one address: %d passes, result at %d", ConstPasses(&same, ^uint32(0)), one)
	}
	if many := c.LoadLanes(1000, 2, 3, &apart, ^uint32(0)); many != c.Load(1000, 3, 0)+3+62 || ConstPasses(&apart, ^uint32(0)) != 32 {
		t.Errorf("32 addresses: %d passes, result at %d", ConstPasses(&apart, ^uint32(0)), many)
	}
	for i := range apart {
		apart[i] = uint64(i * 7 % 20) // bytes, in no order, twelve of them twice
	}
	for mask, want := range map[uint32]int{^uint32(0): 20, 1 << 31: 1, 1<<20 | 1: 1, 0: 1} {
		if got := ConstPasses(&apart, mask); got != want {
			t.Errorf("lanes %#x: %d passes, want %d", mask, got, want)
		}
	}
}

// TestMeasuredConstants compares dependent LDCs and loops of constant operands with the H200.
func TestMeasuredConstants(t *testing.T) {
	var group errorGroup
	for _, r := range loadMeasured(t) {
		var got float64
		switch {
		case r.experiment == "const" && r.m >= 2:
			c := constCache(t)
			stride, size := atoi(strings.TrimPrefix(r.kind, "ldc_stride")), bytesOf(r.unit)
			cycle := uint64(1000)
			chase := func(n int) {
				for i := 0; i < n; i++ {
					cycle = c.Load(cycle, 3, uint32(i*stride%size)) + 3 // index arithmetic
				}
			}
			chase(r.m * 16)
			start := cycle
			chase(r.n * 16)
			got = float64(cycle - start)
		case r.experiment == "constoperand":
			c := constCache(t)
			insts := atoi(r.unit)
			extra := strings.Split(r.extra, ";")
			iters, warps := atoi(extra[0]), atoi(extra[1])
			size := bytesOf(r.kind)
			// Each instruction of each warp holds its sub-partition's pipe 2 cycles; all warps walk together.
			cycle, busy := uint64(1000), uint64(1000)
			for it := 0; it < iters; it++ {
				for i := 0; i < insts; i++ {
					ready, _ := c.Operand(cycle, 3, uint32(i*(size/insts)))
					busy = max(busy, ready) + 2*uint64((warps+3)/4)
					cycle = ready + 2
				}
				cycle = max(cycle, busy) + 23
			}
			got = float64(cycle - 1000)
		default:
			continue
		}
		e := got/r.cycles - 1
		group.add(e, r.experiment+" "+r.kind+" "+r.unit+" "+r.extra)
		if *showRows || math.Abs(e) > 0.25 {
			t.Logf("%+6.1f%% %s %s %s %s: %.0f, measured %.0f", 100*e, r.experiment, r.kind, r.unit, r.extra, got, r.cycles)
		}
	}
	t.Logf("%d rows, mean error %.1f%%, worst %.1f%% (%s)", group.rows, group.mean(), 100*group.worst, group.worstRow)
	if group.rows < 60 || group.mean() > 6 {
		t.Errorf("%d rows, mean error %.1f%%, want 60 rows and at most 6%%", group.rows, group.mean())
	}
}
