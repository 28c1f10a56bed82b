package pipelines

import (
	"testing"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
)

// ablated is a memory path of an SM with one key of the architecture changed.
func ablated(t *testing.T, key string) *MemPath {
	t.Helper()
	var o []configs.Override
	if key != "" {
		parsed, err := configs.ParseOverride(key)
		if err != nil {
			t.Fatal(err)
		}
		o = append(o, parsed)
	}
	a, err := configs.Load("sm_90", o)
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewMemPath(a, MemConfig{WarmL2: true})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestMemorySwitches: what each switch of the store path and of L1 turns off.
func TestMemorySwitches(t *testing.T) {
	// Sectors that reach L2 from four stores of a warp to the four words of the same sectors.
	combined := func(key string) (sectors int) {
		m := ablated(t, key)
		for i := range 4 {
			r := m.Access(access(uint64(100+2*i), isa.ClassSTG, 4, stride(page+uint64(4*i), 16)))
			sectors += r.L2Sectors
		}
		return sectors
	}
	if with, apart := combined(""), combined("lsu.stores_apart=true"); with != 16 || apart != 64 {
		t.Errorf("four stores to 16 sectors: %d sectors reach L2, apart %d; want 16 and 64", with, apart)
	}
	local := func(key string) (sectors, hits int) {
		m := ablated(t, key)
		st := m.Access(access(100, isa.ClassSTL, 4, stride(0, 0)))
		ld := m.Access(access(1000, isa.ClassLDL, 4, stride(0, 0)))
		return st.L2Sectors, ld.L1SectorHits
	}
	sectors, hits := local("")
	kept, keptHits := local("lsu.local_stays=true")
	if sectors != 0 && kept >= sectors || hits != keptHits || hits == 0 {
		t.Errorf("local store: %d sectors to L2, load %d hits; if it stays %d and %d", sectors, hits, kept, keptHits)
	}
	busy := func(key string) uint64 {
		m := ablated(t, key)
		end := uint64(0)
		for i := range 64 {
			a := access(uint64(100+8*i), isa.ClassSTL, 4, stride(uint64(4*i), 0))
			end = m.Access(a).Complete
		}
		return end
	}
	if through, stays := busy(""), busy("lsu.local_stays=true"); stays >= through {
		t.Errorf("64 local stores are done at %d, if they stay at %d", through, stays)
	}
	// 200 lines that fall into one set of L1.
	missed := func(key string) (n int) {
		m := ablated(t, key)
		for pass := range 2 {
			n = 0
			for i := range 200 {
				r := m.Access(access(uint64(100000*pass+400*i+100), isa.ClassLDG, 4, stride(page+uint64(i)*128*m.l1.sets, 0)))
				n += r.L1Sectors - r.L1SectorHits
			}
		}
		return n
	}
	if spread, fixed := missed(""), missed("lsu.l1_fixed_sets=true"); spread != 0 || fixed != 200 {
		t.Errorf("200 lines of a set: %d miss, with fixed sets %d; want 0 and 200", spread, fixed)
	}
}
