package sm

import "testing"

// TestTurns steps the order of warps of two blocks by hand: which of the warps that can issue is next.
func TestTurns(t *testing.T) {
	first, second := &residentBlock{index: 0}, &residentBlock{index: 1}
	for _, c := range []struct {
		name     string
		passed   []int // warps that pass, in order; -1: an instruction of warp 7, which does not
		eligible uint64
		want     int
	}{
		{"youngest of the older block", nil, 0b11111111, 3},
		{"younger block if none of the older can", nil, 0b11110000, 7},
		{"a pass gives way to the block's own warps", []int{3}, 0b1111, 2},
		{"not to another block's", []int{3}, 0b11111000, 3},
		{"all have passed: who did first", []int{2, 0, 3, 1}, 0b1111, 2},
		{"of those that can", []int{2, 0, 3, 1}, 0b1011, 0},
		{"a pass counts for 63 issues", append([]int{3}, stays(62)...), 0b1111, 2},
		{"and is forgotten after 64", append([]int{3}, stays(64)...), 0b1111, 3},
	} {
		u := turns{inOrder: true, lasts: 64}
		for i := range 4 {
			u.join(first, i)
			u.join(second, 4+i)
		}
		for _, i := range c.passed {
			if i < 0 {
				u.issued(7, false)
			} else {
				u.issued(i, true)
			}
		}
		if got := u.pick(c.eligible); got != c.want {
			t.Errorf("%s: warp %d, want %d", c.name, got, c.want)
		}
	}
	u := turns{inOrder: true, lasts: 64}
	u.join(first, 0)
	u.join(second, 1)
	u.leave(first, 0)
	if got := u.pick(0b10); got != 1 || len(u.blocks) != 1 {
		t.Errorf("after the older block has ended: warp %d of %d blocks", got, len(u.blocks))
	}
}

// stays is a number of instructions that do not pass.
func stays(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = -1
	}
	return out
}
