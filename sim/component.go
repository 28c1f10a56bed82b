package sim

import (
	akita "github.com/sarchlab/akita/v3/sim"
)

// Unit is a named, hookable part of a component that somebody else steps: a scheduler, a pipe, a register file.
// It has no clock of its own, because one Akita event a unit and cycle costs more than the unit's work.
type Unit struct {
	akita.HookableBase
	name string
}

// InitUnit names the unit. Names are hierarchical, as Akita wants them: "SM[0].SMSP[1].ALU".
func (u *Unit) InitUnit(name string) {
	akita.NameMustBeValid(name)
	u.name = name
}

// Name is the unit's hierarchical name.
func (u *Unit) Name() string { return u.name }

// Component is an Akita component with ports that sleeps between wakes. It is woken at most once a cycle,
// however often it was asked to.
type Component struct {
	*akita.ComponentBase
	engine    *Engine
	handler   func(cycle uint64)
	secondary bool
	next      uint64 // earliest pending wake, Never if none
	last      uint64 // last handled cycle + 1
	free      []*wake
}

// wake is a reusable Akita event. While it is in the queue it must not change.
type wake struct {
	at    akita.VTimeInSec
	cycle uint64
	c     *Component
}

func (w *wake) Time() akita.VTimeInSec { return w.at }
func (w *wake) Handler() akita.Handler { return w.c }
func (w *wake) IsSecondary() bool      { return w.c.secondary }

// NewComponent builds a component whose handler runs at every wake. A secondary component runs after all
// primary ones of the same cycle: it sees what they sent in this cycle.
func NewComponent(name string, e *Engine, secondary bool, handler func(cycle uint64)) *Component {
	return &Component{ComponentBase: akita.NewComponentBase(name), engine: e, handler: handler,
		secondary: secondary, next: Never}
}

// Engine is the engine that wakes the component.
func (c *Component) Engine() *Engine { return c.engine }

// WakeAt asks for a call of the handler at the cycle. Asking again for the same or a later cycle
// than one pending does nothing: who is woken early asks again.
func (c *Component) WakeAt(cycle uint64) {
	if cycle >= c.next {
		return
	}
	if cycle < c.last {
		panic("sim: wake in the past or twice in a cycle")
	}
	c.next = cycle
	var w *wake
	if n := len(c.free); n > 0 {
		w, c.free = c.free[n-1], c.free[:n-1]
	} else {
		w = &wake{c: c}
	}
	w.cycle, w.at = cycle, c.engine.Clock.Time(cycle)
	c.engine.Akita.Schedule(w)
}

// Handle implements Akita's Handler. Wakes that an earlier one made unnecessary are dropped here.
func (c *Component) Handle(ev akita.Event) error {
	w := ev.(*wake)
	cycle := w.cycle
	c.free = append(c.free, w)
	if cycle != c.next || c.engine.stop {
		return nil
	}
	c.next, c.last = Never, cycle+1
	c.engine.cycle, c.engine.active = cycle, c
	c.handler(cycle)
	return nil
}

// NotifyRecv implements Akita's Component: a message came. Secondary components look at it in the same cycle
// (they run after all senders), primary ones in the next.
func (c *Component) NotifyRecv(now akita.VTimeInSec, _ akita.Port) {
	cycle := c.engine.Clock.Cycle(now)
	if !c.secondary || cycle < c.last {
		cycle++
	}
	c.WakeAt(cycle)
}

// NotifyPortFree implements Akita's Component.
func (c *Component) NotifyPortFree(now akita.VTimeInSec, p akita.Port) { c.NotifyRecv(now, p) }
