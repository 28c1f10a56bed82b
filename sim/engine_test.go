package sim

import (
	"errors"
	"strings"
	"testing"

	akita "github.com/sarchlab/akita/v3/sim"
)

// message is an Akita message without content.
type message struct{ akita.MsgMeta }

func (m *message) Meta() *akita.MsgMeta { return &m.MsgMeta }

func TestWakesAreOncePerCycleAndInOrder(t *testing.T) {
	e := NewEngine(NewClock(1755))
	var got []uint64
	var c *Component
	c = NewComponent("Unit", e, false, func(cycle uint64) {
		got = append(got, cycle)
		switch cycle {
		case 3:
			c.WakeAt(1_000_000_007)
			c.WakeAt(20)
			c.WakeAt(7) // earlier than both: who is woken early asks again
		case 7:
			c.WakeAt(1_000_000_007)
		case 1_000_000_007:
			e.Stop()
		}
	})
	c.WakeAt(5)
	c.WakeAt(3)
	c.WakeAt(4)
	if err := Run(e, nil); err != nil {
		t.Fatal(err)
	}
	want := []uint64{3, 7, 1_000_000_007}
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("woken at %v, want %v", got, want)
	}
}

func TestClockIsExactToTheCycle(t *testing.T) {
	for _, mhz := range []float64{345, 999.999, 1755, 1980, 2617} {
		c := NewClock(mhz)
		for _, cycle := range []uint64{0, 1, 2, 1023, 1 << 20, 1<<32 + 1, 1<<40 + 3} {
			if got := c.Cycle(c.Time(cycle)); got != cycle {
				t.Errorf("%g MHz: cycle %d comes back as %d", mhz, cycle, got)
			}
		}
	}
}

func TestSecondaryComponentSeesTheCyclesMessages(t *testing.T) {
	e := NewEngine(NewClock(1000))
	var a, b *Component
	var pa, pb akita.Port
	var seen []uint64
	a = NewComponent("A", e, false, func(cycle uint64) {
		for range 3 {
			m := &message{}
			m.Src, m.Dst, m.SendTime = pa, pb, e.Clock.Time(cycle)
			if err := pa.Send(m); err != nil {
				t.Fatal("port full")
			}
		}
	})
	b = NewComponent("B", e, true, func(cycle uint64) {
		for m := pb.Retrieve(e.Clock.Time(cycle)); m != nil; m = pb.Retrieve(e.Clock.Time(cycle)) {
			seen = append(seen, cycle)
		}
		e.Stop()
	})
	pa, pb = NewPort(a, "Out", 1), NewPort(b, "In", 3)
	NewLink("Link", pa, pb)
	a.WakeAt(17)
	if err := Run(e, nil); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 3 || seen[0] != 17 || seen[2] != 17 {
		t.Errorf("messages of cycle 17 seen at %v", seen)
	}
}

func TestRunReportsWhereItBroke(t *testing.T) {
	for _, c := range []struct {
		name    string
		handler func(e *Engine) func(uint64)
		want    string
	}{
		{"panic", func(*Engine) func(uint64) { return func(uint64) { panic("bank -1") } }, "internal error at cycle 9 in Unit: bank -1"},
		{"error", func(e *Engine) func(uint64) {
			return func(uint64) { e.Fail(errors.New("out of bounds")); e.Fail(errors.New("later")) }
		}, "out of bounds"},
		{"idle", func(*Engine) func(uint64) { return func(uint64) {} }, ErrIdle.Error()},
	} {
		e := NewEngine(NewClock(1000))
		u := NewComponent("Unit", e, false, nil)
		u.handler = c.handler(e)
		u.WakeAt(9)
		err := Run(e, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
