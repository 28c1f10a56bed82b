package pipelines

import (
	"math"
	"strings"
	"testing"
)

func constCache(t testing.TB, cold bool) *ConstCache {
	c, err := NewConstCache(h200(t), cold)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestConstOperand follows one line: filled whole from beyond the second level, sector by sector when it comes from there again.
func TestConstOperand(t *testing.T) {
	l := h200(t).LSU
	second := uint64(l.ConstantOperandMiss)
	for _, kind := range []struct {
		cold   bool
		bank   uint8
		beyond int
	}{{false, 3, l.ConstantModuleMiss}, {true, 3, l.ConstantModuleCold}, {false, 0, l.ConstantMissL2}, {true, 0, l.ConstantMissL2}} {
		c := constCache(t, kind.cold)
		beyond := uint64(kind.beyond)
		check := func(name string, cycle uint64, bank uint8, addr uint32, want uint64) {
			t.Helper()
			ready, hit := c.Operand(cycle, bank, addr)
			if ready != want || hit != (want == cycle) {
				t.Errorf("%v %s: ready at %d (hit %v), want %d", kind, name, ready, hit, want)
			}
		}
		check("first", 100, kind.bank, 0, 100+beyond)
		check("asked again one cycle early", 99+beyond, kind.bank, 0, 100+beyond)
		check("there", 100+beyond, kind.bank, 0, 100+beyond)
		check("other half of the line", 1000, kind.bank, 32, 1000)
		check("next line of the second level's", 1100, kind.bank, 64, 1100+second)
		check("other half of it", 1200, kind.bank, 96, 1200)
		check("next line of the second level", 1300, kind.bank, 256, 1300+beyond)
		// 40 lines of 64 bytes throw everything out of 2 KB.
		for i := uint32(0); i < 40; i++ {
			c.Operand(2000+uint64(i)*200, kind.bank, i*64)
		}
		check("from the second level", 20000, kind.bank, 0, 20000+second)
		check("other half, too", 21000, kind.bank, 32, 21000+second)
		if _, hit := c.Operand(40000, 1, 0); hit {
			t.Errorf("bank 1 hits the line of bank %d", kind.bank)
		}
	}
}

// TestConstApart: LDC, operands and the uniform loads of each sub-partition bring lines to first levels of their own, and the second level serves one
// sub-partition after the other.
func TestConstApart(t *testing.T) {
	l := h200(t).LSU
	c := constCache(t, true)
	c.Load(0, 0, 0x210)
	second, near := uint64(l.ConstantUniformMiss), uint64(l.ConstantPortNear)
	if got, _ := c.Operand(1000, 0, 0x208); got != 1000+uint64(l.ConstantOperandMiss) {
		t.Errorf("operand after LDC at %d", got)
	}
	for p := range uint64(4) {
		want := 2000 + second + p*near
		if got, _ := c.Uniform(2000, int(p), 0, 0x208); got != want {
			t.Errorf("sub-partition %d has its uniform load at %d, want %d", p, got, want)
		}
		if _, hit := c.Uniform(want, int(p), 0, 0x210); !hit {
			t.Errorf("sub-partition %d misses beside its uniform load", p)
		}
	}
	far := uint64(l.ConstantPort)
	c.Operand(3000, 0, 0x260) // to the second level only
	for p := range uint64(4) {
		want := 4000 + second + p*far
		if got, _ := c.Uniform(4000, int(p), 0, 0x260); got != want {
			t.Errorf("sub-partition %d has a line of the second level at %d, want %d", p, got, want)
		}
	}
	for p := range uint64(4) { // a line from DRAM comes to one after the other
		want := 5000 + uint64(l.ConstantModuleCold) + p*far
		if got, _ := c.Uniform(5000, int(p), 3, 0); got != want {
			t.Errorf("sub-partition %d has a line of the module at %d, want %d", p, got, want)
		}
	}
	together := h200(t)
	together.LSU.ConstantApart = false
	c, err := NewConstCache(together, true)
	if err != nil {
		t.Fatal(err)
	}
	c.Load(0, 0, 0x210)
	if _, hit := c.Operand(1000, 0, 0x208); !hit {
		t.Error("with one first level for all an operand misses what LDC brought")
	}
	if _, hit := c.Uniform(1000, 3, 0, 0x208); !hit {
		t.Error("with one first level for all a uniform load misses what LDC brought")
	}
}

// TestConstLanes: each distinct address takes a pass, bytes of one word too; an address in a register takes 3 cycles more.
func TestConstLanes(t *testing.T) {
	c := constCache(t, false)
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
			c := constCache(t, false)
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
			c := constCache(t, false)
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
