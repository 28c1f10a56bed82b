package pipelines

import (
	"sync"
	"testing"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
)

// rigOp is one memory instruction of a rig program.
type rigOp struct {
	class  isa.Class
	space  isa.Space
	size   uint8
	inst   *isa.Inst
	addr   func(warp, lane, iter int) uint64
	wait   []int  // instructions of the same iteration whose results it needs
	gap    uint64 // cycles after the warp's previous instruction, 0: 1
	stores bool
	loads  bool
}

// rigProgram is a loop of memory instructions that every warp runs.
type rigProgram struct {
	ops      []rigOp
	iters    int
	alu      int    // further instructions of an iteration, each an issue slot
	waitAll  bool   // the iteration ends when all its results are there
	waitRead bool   // or when all its sources have been read
	tail     uint64 // cycles from there to the first instruction of the next iteration
	last     uint64 // and to the end of the measurement after the last iteration
}

type rigWarp struct {
	iter, op int
	next     uint64
	results  []uint64
	read     uint64
	done     bool
}

// runRig issues the program's warps in turn, one instruction a cycle a sub-partition,
// and returns the cycles from start until the last warp is through.
func runRig(m *MemPath, p *rigProgram, warps int, start uint64, total *MemTiming) uint64 {
	subs := len(m.queues)
	ws := make([]rigWarp, warps)
	for i := range ws {
		ws[i].results = make([]uint64, len(p.ops))
		ws[i].next = start + uint64(i/4)*6 // warps leave a barrier 6 cycles apart, in groups of four
	}
	last := make([]int, subs)
	var e isa.Effect
	var addr [32]uint64
	var inst isa.Inst
	end := start
	left := warps
	for cycle := start; left > 0; {
		next := ^uint64(0)
		issued := false
		for sp := 0; sp < subs; sp++ {
			tryIssue := func(w int) bool {
				s := &ws[w]
				if s.done {
					return false
				}
				at := s.next
				if s.op >= len(p.ops) { // arithmetic after the memory instructions
					if at > cycle {
						next = min(next, at)
						return false
					}
					s.op++
					s.next = cycle + 1
					return p.finish(s, cycle, &left, &end)
				}
				op := &p.ops[s.op]
				for _, d := range op.wait {
					at = max(at, s.results[d])
				}
				if at > cycle {
					next = min(next, at)
					return false
				}
				if _, until, blocked := m.Blocked(cycle, sp, op.class); blocked {
					next = min(next, until)
					return false
				}
				for lane := range addr {
					addr[lane] = op.addr(w, lane, s.iter)
				}
				e = isa.Effect{Inst: op.inst, Active: ^uint32(0), Exec: ^uint32(0), Space: op.space, Size: op.size, Store: op.stores, Load: op.loads, Addr: &addr}
				if e.Inst == nil {
					e.Inst = &inst
				}
				t := m.Access(MemAccess{Cycle: cycle, SubPartition: sp, Slot: w, Class: op.class, Effect: &e})
				if total != nil {
					total.L1Sectors += t.L1Sectors
					total.L1SectorHits += t.L1SectorHits
					total.L2Sectors += t.L2Sectors
					total.L2SectorHits += t.L2SectorHits
					total.DRAMBytes += t.DRAMBytes
					total.Wavefronts += t.Wavefronts
				}
				s.results[s.op] = t.Result
				s.read = max(s.read, t.SourcesRead)
				s.op++
				s.next = cycle + 1
				if s.op < len(p.ops) {
					s.next = cycle + max(p.ops[s.op].gap, 1)
					return true
				}
				return p.finish(s, cycle, &left, &end)
			}
			// Round robin: loads carry stall counts that let the other warps go first.
			n := (warps - sp + subs - 1) / subs
			for i := 1; i <= n; i++ {
				w := (last[sp]+i)%n*subs + sp
				if tryIssue(w) {
					last[sp] = (last[sp] + i) % n
					issued = true
					break
				}
			}
		}
		if issued {
			cycle++
		} else {
			cycle = max(next, cycle+1)
		}
	}
	return end - start
}

// finish ends the warp's iteration after its last instruction.
func (p *rigProgram) finish(s *rigWarp, cycle uint64, left *int, end *uint64) bool {
	if s.op < len(p.ops)+p.alu {
		return true
	}
	s.op = 0
	s.iter++
	if p.waitRead {
		s.next = max(s.next, s.read)
	}
	if p.waitAll {
		for _, r := range s.results {
			s.next = max(s.next, r)
		}
	}
	if s.iter == p.iters {
		s.done = true
		*left--
		*end = max(*end, s.next+p.last)
	} else {
		s.next += p.tail
	}
	return true
}

var loadH200 = sync.OnceValues(func() (*configs.Arch, error) { return configs.Load("sm_90", nil) })

// h200 is sm_90, for reading only.
func h200(t testing.TB) *configs.Arch {
	a, err := loadH200()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

const h200L2 = 58 << 20 // bytes that behave as L2 on the board measured

func newPath(t testing.TB, cfg MemConfig) *MemPath {
	m, err := NewMemPath(h200(t), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
