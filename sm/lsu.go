package sm

import (
	akita "github.com/sarchlab/akita/v3/sim"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/lower"
	"github.com/sarchlab/smsim/pipelines"
	"github.com/sarchlab/smsim/sim"
)

// memoryRequest is the message of one warp memory instruction: it goes to the load/store unit with what was executed and
// comes back in the same cycle with when things happen. Requests are reused.
type memoryRequest struct {
	akita.MsgMeta
	sub, local int // sub-partition, local slot
	slot       int
	block      int    // linear index in the grid
	seq        uint64 // the warp's launch order: guards against a reused slot
	writeBar   uint8
	readBar    uint8
	long       bool
	origin     lower.Origin
	stride     lower.Stride
	cycle      uint64
	class      isa.Class
	effect     isa.Effect
	addr       [32]uint64 // copy: the warp may execute its next instruction before the unit looks
	timing     pipelines.MemTiming
}

// Meta implements Akita's Msg.
func (r *memoryRequest) Meta() *akita.MsgMeta { return &r.MsgMeta }

// loadStoreUnit is the component in front of shared memory, L1 and the memory system. It runs after the SM in every cycle
// in which a memory instruction issued, and books each through the memory path in issue order.
type loadStoreUnit struct {
	*sim.Component
	path   *pipelines.MemPath
	port   akita.Port
	record sim.MemoryRecord
}

func newLoadStoreUnit(name string, e *sim.Engine, path *pipelines.MemPath, capacity int) *loadStoreUnit {
	u := &loadStoreUnit{path: path}
	u.Component = sim.NewComponent(name, e, true, u.handle)
	u.port = sim.NewPort(u.Component, "Top", capacity)
	return u
}

func (u *loadStoreUnit) handle(cycle uint64) {
	now := u.Engine().Clock.Time(cycle)
	for m := u.port.Retrieve(now); m != nil; m = u.port.Retrieve(now) {
		r := m.(*memoryRequest)
		r.timing = u.path.Access(pipelines.MemAccess{Cycle: r.cycle, SubPartition: r.sub, Slot: r.slot, Block: r.block, Class: r.class, Effect: &r.effect,
			Everywhere: r.origin == 0, Gather: r.stride.Scattered || r.origin&lower.FromData != 0 && (!r.stride.Known || r.stride.Bytes == 0),
			Stride: int64(r.stride.Bytes), Strided: r.stride.Known && r.origin&lower.FromData == 0})
		if u.NumHooks() > 0 {
			u.emit(r)
		}
		r.Src, r.Dst = r.Dst, r.Src
		r.SendTime = now
		if err := u.port.Send(r); err != nil {
			panic(invariant("the SM's memory port is full"))
		}
	}
}

func (u *loadStoreUnit) emit(r *memoryRequest) {
	t, e := &r.timing, &r.effect
	u.record = sim.MemoryRecord{Cycle: r.cycle, SubPartition: r.sub, Slot: r.slot, Class: r.class, Space: e.Space, Load: e.Load, Store: e.Store,
		Lanes: lanes(e.Exec), Bytes: int(e.Size), Result: t.Result, Complete: t.Complete, Wavefronts: t.Wavefronts, Conflicts: t.BankConflicts,
		L1Sectors: t.L1Sectors, L1SectorHits: t.L1SectorHits, L2Sectors: t.L2Sectors, L2SectorHits: t.L2SectorHits, DRAMBytes: t.DRAMBytes}
	u.InvokeHook(hook(u, sim.HookPosMemory, &u.record))
}

// send hands a memory instruction to the load/store unit. Until the answer is there, later in this cycle, its barriers are busy for ever.
func (s *SM) send(p *smsp, w *warp, c *timing, e *isa.Effect, t uint64) {
	var r *memoryRequest
	if n := len(s.freeRequests); n > 0 {
		r, s.freeRequests = s.freeRequests[n-1], s.freeRequests[:n-1]
	} else {
		r = &memoryRequest{}
	}
	r.sub, r.local, r.slot, r.seq = p.id, w.slot/len(s.smsps), w.slot, w.seq
	r.block = w.block.b.Index
	r.writeBar, r.readBar, r.cycle, r.class = c.writeBar, c.readBar, t, c.class
	r.effect = *e
	if e.Addr != nil {
		r.addr = *e.Addr
		r.effect.Addr = &r.addr
	}
	r.origin, r.stride = c.origin, c.stride
	r.long = c.long && e.Space != isa.SpaceShared
	r.Src, r.Dst = s.memPort, s.lsu.port
	r.SendTime = s.clockTime(t)
	if err := s.memPort.Send(r); err != nil {
		panic(invariant("the load/store unit's port is full"))
	}
	s.awaiting++
}

// answers applies what the load/store unit sent back since the last step.
func (s *SM) answers(t uint64) {
	if s.awaiting == 0 {
		return
	}
	now := s.clockTime(t)
	for m := s.memPort.Retrieve(now); m != nil; m = s.memPort.Retrieve(now) {
		r := m.(*memoryRequest)
		s.awaiting--
		p := s.smsps[r.sub]
		if w := &p.warps[r.local]; w.seq == r.seq {
			if r.writeBar < 6 {
				p.setBarrier(w, r.writeBar, r.timing.Result, r.long)
			}
			if r.readBar < 6 {
				p.setBarrier(w, r.readBar, r.timing.SourcesRead, r.long)
			}
			w.memDone = max(w.memDone, r.timing.Complete)
			if r.class == isa.ClassLDGSTS {
				w.copied = max(w.copied, r.timing.Complete)
			}
			if r.effect.Store {
				w.storesOut = max(w.storesOut, r.timing.SlotFree, r.timing.Left)
			}
		}
		s.freeRequests = append(s.freeRequests, r)
	}
}
