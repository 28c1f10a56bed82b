package sm

import "github.com/sarchlab/smsim/sim"

// lineCache is a set-associative cache of program lines with least-recently-used replacement. Lines of the program are
// numbered, so what a look-up needs is an array over lines.
type lineCache struct {
	ways, sets int
	at         []uint64  // cycle at which the line is there; sim.Never: absent
	part       []float64 // the fraction of a cycle after it
	used       []uint64  // stamp of the last use
	held       [][]int32
	stamp      uint64
}

// newLineCache is an empty cache for a program of so many lines. ways 0: fully associative. A cache of no bytes does not exist.
func newLineCache(bytes, ways, lineBytes, lines int) lineCache {
	capacity := bytes / lineBytes
	if capacity == 0 {
		return lineCache{}
	}
	if ways <= 0 || ways > capacity {
		ways = capacity
	}
	c := lineCache{ways: ways, sets: max(1, capacity/ways), at: make([]uint64, lines), part: make([]float64, lines), used: make([]uint64, lines)}
	c.held = make([][]int32, min(c.sets, lines))
	for i := range c.at {
		c.at[i] = sim.Never
	}
	return c
}

func (c *lineCache) exists() bool { return c.ways > 0 }

// touch notes a use and says when the line is there.
func (c *lineCache) touch(line int) uint64 {
	if c.at[line] != sim.Never {
		c.stamp++
		c.used[line] = c.stamp
	}
	return c.at[line]
}

// fill puts the line in, arriving at the cycle, and evicts the line of its set that was unused for longest if there is no room.
func (c *lineCache) fill(line int, at uint64) {
	c.stamp++
	c.used[line] = c.stamp
	if c.at[line] != sim.Never {
		c.at[line] = at
		return
	}
	c.at[line] = at
	set := &c.held[line%c.sets]
	if len(*set) < c.ways {
		*set = append(*set, int32(line))
		return
	}
	victim := 0
	for i, l := range *set {
		if c.used[l] < c.used[(*set)[victim]] {
			victim = i
		}
	}
	c.at[(*set)[victim]] = sim.Never
	(*set)[victim] = int32(line)
}

// follow is the cycle at which a line arrives that could at the given one: a stream's lines come the given cycles apart.
func (c *lineCache) follow(line int, cycle uint64, apart float64) uint64 {
	if line > 0 && c.at[line-1] != sim.Never {
		due := float64(c.at[line-1]) + c.part[line-1] + apart
		if due > float64(cycle) {
			at := uint64(due)
			c.part[line] = due - float64(at)
			return at
		}
	}
	c.part[line] = 0
	return cycle
}
