package sm

import (
	akita "github.com/sarchlab/akita/v3/sim"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/sim"
)

// blockMessage tells the SM to start a block, or the dispatcher that one has ended.
type blockMessage struct {
	akita.MsgMeta
	block int    // linear index in the grid
	start uint64 // first cycle of its first warp
	ended uint64 // cycle after its last warp's residence
}

// Meta implements Akita's Msg.
func (m *blockMessage) Meta() *akita.MsgMeta { return &m.MsgMeta }

// dispatcher is the block scheduler as this SM sees it: it holds the SM's list of blocks, keeps as many of them resident as
// the SM has room for, and starts the next one when one ends.
type dispatcher struct {
	*sim.Component
	port   akita.Port
	smPort akita.Port
	cost   configs.LaunchCost
	blocks []int
	next   int // first block of the list not yet sent
	room   int // free block places
	nextAt uint64
	again  bool // a block has ended: places are given out one by one
}

func newDispatcher(name string, e *sim.Engine, cost configs.LaunchCost, blocks []int, resident int) *dispatcher {
	d := &dispatcher{cost: cost, blocks: blocks, room: resident, nextAt: uint64(max(cost.First, 1))}
	d.Component = sim.NewComponent(name, e, true, d.handle)
	d.port = sim.NewPort(d.Component, "SM", resident+1)
	return d
}

func (d *dispatcher) handle(cycle uint64) {
	now := d.Engine().Clock.Time(cycle)
	for m := d.port.Retrieve(now); m != nil; m = d.port.Retrieve(now) {
		b := m.(*blockMessage)
		d.room++
		d.again = true
		d.nextAt = max(d.nextAt, b.ended+uint64(d.cost.Turnover))
	}
	for d.room > 0 && d.next < len(d.blocks) {
		start := max(d.nextAt, cycle+2)
		m := &blockMessage{block: d.blocks[d.next], start: start}
		m.Src, m.Dst, m.SendTime = d.port, d.smPort, now
		if err := d.port.Send(m); err != nil {
			panic(invariant("the SM's block port is full"))
		}
		interval := d.cost.BlockInterval
		if d.again && d.cost.TurnoverInterval > 0 {
			interval = d.cost.TurnoverInterval
		}
		d.nextAt = start + uint64(interval)
		d.next++
		d.room--
	}
}
