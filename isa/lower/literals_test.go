package lower

import (
	"testing"

	"github.com/sarchlab/smsim/isa"
)

// TestReduxMask: a lane mask that is a literal, also through a register, is the same in all lanes and needs no check.
func TestReduxMask(t *testing.T) {
	for _, c := range []struct {
		name, body string
		votes      int
	}{
		{"literal", "redux.sync.add.u32 %r4, %r4, 0xffffffff;", 0},
		{"register", "mov.u32 %r9, -1; redux.sync.add.u32 %r4, %r4, %r9;", 0},
		{"register of a scope", "{ .reg .b32 %m; mov.b32 %m, 0xffffffff; redux.sync.max.u32 %r4, %r4, %m; }", 0},
		{"written twice", "mov.u32 %r9, -1; setp.lt.u32 %p1, %r3, 9; @%p1 mov.u32 %r9, 511; redux.sync.add.u32 %r4, %r4, %r9;", 1},
		{"written under a guard", "setp.lt.u32 %p1, %r3, 9; @%p1 mov.u32 %r9, 511; redux.sync.add.u32 %r4, %r4, %r9;", 1},
		{"computed", "shl.b32 %r9, %r1, 3; redux.sync.add.u32 %r4, %r4, %r9;", 1},
	} {
		votes := 0
		for _, in := range compileShape(t, c.body, 90).Insts {
			if in.Op == isa.OpVOTE {
				votes++
			}
		}
		if votes != c.votes {
			t.Errorf("%s: %d votes, want %d", c.name, votes, c.votes)
		}
	}
}
