package lower

import "github.com/sarchlab/smsim/isa"

// pairs says that instruction i may issue together with the next one, as far as units go: dependences are found
// afterwards and separate the two. A pair goes to two units. Before Maxwell these can be any two that the scheduler
// reaches, two groups of lanes of one kind among them, without which the lanes of 2.1 and 3.x could not all be fed;
// Maxwell and Pascal pair an arithmetic instruction with one of the decoupled units (memory, conversion, bit count),
// which is what their compiler writes.
func (c *controller) pairs(i int) bool {
	if !c.t.DualIssue || i+1 >= len(c.p.Insts) || c.block[i] != c.block[i+1] {
		return false
	}
	if i > 0 && c.block[i-1] == c.block[i] && c.p.Insts[i-1].Ctrl.Stall == 0 {
		return false // the second of a pair
	}
	a, b := &c.p.Insts[i], &c.p.Insts[i+1]
	ca, cb := a.Class(), b.Class()
	if cb.IsControl() || ca == isa.ClassNOP || cb == isa.ClassNOP || cb == isa.ClassDEPBAR {
		return false
	}
	if bar := a.Ctrl.WriteBar; bar != isa.NoBar && b.Ctrl.WaitMask>>bar&1 != 0 {
		return false
	}
	if bar := a.Ctrl.ReadBar; bar != isa.NoBar && b.Ctrl.WaitMask>>bar&1 != 0 {
		return false
	}
	if c.t.SM >= 50 {
		return c.variable(a) != c.variable(b)
	}
	return c.t.Pipe[ca] != c.t.Pipe[cb] || c.t.Alternatives[cb] > 1
}
