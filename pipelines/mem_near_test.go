package pipelines

import (
	"testing"

	"github.com/sarchlab/smsim/isa"
)

// TestNearPartition: one SM finds a line near as long as the near partition has room for what it used since, and far beyond that.
func TestNearPartition(t *testing.T) {
	m := newPath(t, MemConfig{WarmL2: true, L2Bytes: 60 << 20})
	lines := m.par.l2Near / uint64(m.par.l2LineBytes)
	cycle := uint64(1000)
	load := func(line uint64) uint64 {
		cycle += 2000
		a := access(cycle, isa.ClassLDG, 4, stride(page+line*128, 4))
		a.Effect.Inst.Mod.Flags = isa.ModStrong
		return m.Access(a).Result - cycle
	}
	load(0)
	near := load(0)
	for i := uint64(1); i < lines*9/10; i++ {
		load(i)
	}
	if got := load(0); got > near+5 {
		t.Errorf("after nine tenths of the near partition: %d cycles, near is %d", got, near)
	}
	for i := uint64(1); i < lines*11/10; i++ {
		load(lines + i)
	}
	far := m.par.l2LatencyFar - m.par.l2Latency
	if got := load(0); got < near+far-5 || got > near+far+5 {
		t.Errorf("after eleven tenths: %d cycles, want %d more than near, %d", got, far, near)
	}
}
