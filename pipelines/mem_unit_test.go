package pipelines

import (
	"testing"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
)

// TestSharedRateOfTheUnit: conflict-free 32-bit loads from all sub-partitions leave the load/store unit at the rate of
// the generation: 8 lanes a cycle on 1.x, 16 on 2.x and 7.5, 32 elsewhere.
func TestSharedRateOfTheUnit(t *testing.T) {
	for name, cyclesPerWarp := range map[string]uint64{"sm_10": 4, "sm_13": 4, "sm_20": 2, "sm_21": 2, "sm_75": 2, "sm_30": 1, "sm_61": 1, "sm_70": 1, "sm_86": 1, "sm_90": 1, "sm_120": 1} {
		a, err := configs.Load(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := NewMemPath(a, MemConfig{SMs: 1, L2Bytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		var lanes [32]uint64
		for i := range lanes {
			lanes[i] = uint64(4 * i)
		}
		e := &isa.Effect{Inst: &isa.Inst{}, Active: ^uint32(0), Exec: ^uint32(0), Size: 4, Addr: &lanes, Space: isa.SpaceShared, Load: true}
		const rounds = 16
		var first, last uint64
		for i := uint64(0); i < rounds; i++ {
			for sp := range a.SM.SubPartitions {
				r := m.Access(MemAccess{Cycle: 100 + i, SubPartition: sp, Slot: sp, Class: isa.ClassLDS, Effect: e})
				if i == 0 && sp == 0 {
					first = r.Result
				}
				last = max(last, r.Result)
			}
		}
		n := uint64(rounds*a.SM.SubPartitions) - 1
		// A sub-partition's own port takes an access every second cycle at best.
		want := max(n*cyclesPerWarp, 2*(rounds-1))
		if got := last - first; got < want-2 || got > want+4 {
			t.Errorf("%s: %d loads in %d cycles, want about %d", name, n, got, want)
		}
	}
}

// TestReadOnlyLoads: where plain global loads pass L1 by, a read-only load that comes again hits.
func TestReadOnlyLoads(t *testing.T) {
	for _, c := range []struct {
		arch            string
		plain, readOnly MemLevel
	}{{"sm_35", LevelL2, LevelL1}, {"sm_61", LevelL2, LevelL1}, {"sm_60", LevelL1, LevelL1}, {"sm_86", LevelL1, LevelL1}, {"sm_30", LevelL2, LevelL2}} {
		a, err := configs.Load(c.arch, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, readOnly := range []bool{false, true} {
			m, err := NewMemPath(a, MemConfig{SMs: 1, L2Bytes: 1 << 20, WarmL2: true})
			if err != nil {
				t.Fatal(err)
			}
			in, want := &isa.Inst{Op: isa.OpLDG}, c.plain
			if readOnly {
				in.Mod.Flags, want = isa.ModConstant, c.readOnly
			}
			var lanes [32]uint64
			for i := range lanes {
				lanes[i] = 1<<32 + uint64(4*i)
			}
			access := MemAccess{Cycle: 100, Class: isa.ClassLDG, Effect: &isa.Effect{Inst: in, Active: ^uint32(0), Exec: ^uint32(0), Size: 4, Addr: &lanes, Space: isa.SpaceGlobal, Load: true}}
			m.Access(access)
			access.Cycle = 5000
			if got := m.Access(access).Level; got != want {
				t.Errorf("%s, read-only %v: second load served at level %v, want %v", c.arch, readOnly, got, want)
			}
		}
	}
}
