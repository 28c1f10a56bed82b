package sim

import (
	akita "github.com/sarchlab/akita/v3/sim"
)

// ring is an Akita buffer that does not allocate after it was made.
type ring struct {
	Unit
	slots      []any
	head, size int
}

func newRing(name string, capacity int) *ring {
	r := &ring{slots: make([]any, capacity)}
	r.InitUnit(name)
	return r
}

func (r *ring) CanPush() bool { return r.size < len(r.slots) }
func (r *ring) Capacity() int { return len(r.slots) }
func (r *ring) Size() int     { return r.size }

func (r *ring) Push(e any) {
	if !r.CanPush() {
		panic("sim: port buffer " + r.name + " overflows")
	}
	r.slots[(r.head+r.size)%len(r.slots)] = e
	r.size++
}

func (r *ring) Pop() any {
	if r.size == 0 {
		return nil
	}
	e := r.slots[r.head]
	r.slots[r.head] = nil
	r.head = (r.head + 1) % len(r.slots)
	r.size--
	return e
}

func (r *ring) Peek() any {
	if r.size == 0 {
		return nil
	}
	return r.slots[r.head]
}

func (r *ring) Clear() {
	for r.size > 0 {
		r.Pop()
	}
}

// NewPort gives the component a port with room for capacity incoming messages.
func NewPort(c *Component, name string, capacity int) akita.Port {
	full := c.Name() + "." + name
	p := akita.NewLimitNumMsgPortWithExternalBuffer(c, newRing(full+".Buf", capacity), full)
	c.AddPort(name, p)
	return p
}

// Link joins ports of components without delay: what is sent is in the receiver's buffer at once, in the order
// of sending. (Akita's DirectConnection delivers through an event and allocates for every message.)
type Link struct {
	Unit
	ports []akita.Port
}

// NewLink joins the ports.
func NewLink(name string, ports ...akita.Port) *Link {
	l := &Link{}
	l.InitUnit(name)
	for _, p := range ports {
		l.PlugIn(p, 1)
	}
	return l
}

// PlugIn implements Akita's Connection.
func (l *Link) PlugIn(p akita.Port, _ int) {
	l.ports = append(l.ports, p)
	p.SetConnection(l)
}

// Unplug implements Akita's Connection.
func (l *Link) Unplug(p akita.Port) {
	for i, q := range l.ports {
		if q == p {
			l.ports = append(l.ports[:i], l.ports[i+1:]...)
			return
		}
	}
}

// CanSend implements Akita's Connection; a full receiver shows in Send.
func (l *Link) CanSend(akita.Port) bool { return true }

// Send implements Akita's Connection.
func (l *Link) Send(m akita.Msg) *akita.SendError {
	m.Meta().RecvTime = m.Meta().SendTime
	return m.Meta().Dst.Recv(m)
}

// NotifyAvailable implements Akita's Connection: senders retry by themselves.
func (l *Link) NotifyAvailable(akita.VTimeInSec, akita.Port) {}
