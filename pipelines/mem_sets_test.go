package pipelines

import "testing"

// TestSetsOfL1: L1 holds lines at any power of two of distance, and block after block of them; more than it holds throws four out for each. (H200: 1728
// lines 128 to 1024 bytes apart and 256 lines up to 64 KB apart all hit in the third pass; 1792 lines miss 317 to 376 times.)
func TestSetsOfL1(t *testing.T) {
	misses := func(lines, apart int) (n int) {
		c := newSectorCache(216<<10, 128, 3).balanced()
		for range 3 {
			n = 0
			for i := range lines {
				line := uint64(page>>7 + i*apart)
				if hit, victim := c.find(line); hit == nil {
					c.replace(victim, line)
					n++
				}
			}
		}
		return n
	}
	for apart := 1; apart <= 8; apart *= 2 {
		full := 0 // an eighth at most: four places for a line are not quite any place
		if apart > 1 {
			full = 240
		}
		if got := misses(1728, apart); got > full {
			t.Errorf("1728 lines, every %d: %d miss, want at most %d", apart, got, full)
		}
		if got := misses(1500, apart); got > 60 {
			t.Errorf("1500 lines, every %d: %d miss", apart, got)
		}
		if got := misses(1792, apart); got < 200 || got > 500 {
			t.Errorf("1792 lines, every %d: %d miss, want 200 to 500", apart, got)
		}
	}
	for apart := 8; apart <= 2048; apart *= 2 {
		if got := misses(256, apart); got > 0 {
			t.Errorf("256 lines, every %d: %d miss", apart, got)
		}
	}
	// Six runs of 192 lines, as far apart as the blocks of one SM are: one and a half thirds of the cache.
	c := newSectorCache(216<<10, 128, 3).balanced()
	late := 0
	for range 2 {
		late = 0
		for run := range 6 {
			for i := range 192 {
				line := uint64(page>>7 + run*132*192 + i)
				if hit, victim := c.find(line); hit == nil {
					c.replace(victim, line)
					late++
				}
			}
		}
	}
	if late > 120 {
		t.Errorf("1152 lines in six runs: %d miss", late)
	}
}
