package sm

import (
	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/sim"
)

// fetcher is the instruction memory of an SM: one L0 a sub-partition, an L1 and a second level. Lines of the program are numbered, so
// every cache is an array over lines. Sequential lines are prefetched; a jump to a line that is not there waits.
// Beyond a level the instruction stream is limited by that level's bytes a cycle.
type fetcher struct {
	lineInsts         uint32
	prefetch          int
	l0                []lineCache
	l1, l15           lineCache
	l0Latency         uint64
	l1Latency         uint64
	l15Latency        uint64
	l0Cycles          float64 // cycles a line takes from L1 to an L0
	l1Cycles          float64 // from the second level to L1
	l15Cycles         float64 // from L2 to the second level
	l1Free            float64
	l15Free           float64
	l0Free            []float64
	l1Ahead, l15Ahead int // lines fetched behind a miss of L1, of the second level
	lines             int
	unmodelled        bool
}

// lineCache is a fully associative cache of program lines with least-recently-used replacement.
type lineCache struct {
	capacity int      // lines; 0: the level does not exist
	at       []uint64 // cycle at which the line is there; sim.Never: absent
	used     []uint64 // stamp of the last use
	held     int
	stamp    uint64
}

func newLineCache(bytes, lineBytes, lines int) lineCache {
	c := lineCache{capacity: bytes / lineBytes, at: make([]uint64, lines), used: make([]uint64, lines)}
	for i := range c.at {
		c.at[i] = sim.Never
	}
	return c
}

// touch notes a use and says when the line is there.
func (c *lineCache) touch(line int) uint64 {
	if c.at[line] != sim.Never {
		c.stamp++
		c.used[line] = c.stamp
	}
	return c.at[line]
}

// fill puts the line in, arriving at the cycle, and evicts the line unused for longest if there is no room.
func (c *lineCache) fill(line int, at uint64) {
	if c.at[line] == sim.Never {
		if c.held >= c.capacity {
			victim := -1
			for i := range c.at {
				if c.at[i] != sim.Never && (victim < 0 || c.used[i] < c.used[victim]) {
					victim = i
				}
			}
			if victim >= 0 {
				c.at[victim] = sim.Never
				c.held--
			}
		}
		c.held++
	}
	c.at[line] = at
	c.stamp++
	c.used[line] = c.stamp
}

func newFetcher(f *configs.Fetch, subPartitions, insts, instBytes int, warm bool) *fetcher {
	line := f.LineBytes
	if line <= 0 {
		line = 128
	}
	lines := (insts*instBytes + line - 1) / line
	x := &fetcher{lineInsts: uint32(max(1, line/instBytes)), prefetch: f.Prefetch, lines: lines,
		l0Latency: uint64(f.L0MissLatency), l1Latency: uint64(f.L1MissLatency), l15Latency: uint64(f.L15MissLatency)}
	cycles := func(bytesCycle float64) float64 {
		if bytesCycle <= 0 {
			return 0
		}
		return float64(line) / bytesCycle
	}
	x.l0Cycles, x.l1Cycles, x.l15Cycles = cycles(f.L1BytesCycle), cycles(f.L15BytesCycle), cycles(f.L2BytesCycle)
	x.l1Ahead, x.l15Ahead = ahead(x.l1Latency, x.l1Cycles), ahead(x.l15Latency, x.l15Cycles)
	l0 := f.L0Bytes
	if l0 <= 0 {
		l0 = f.L1Bytes // generations without L0: one level a sub-partition of the L1's size
	}
	if l0 <= 0 {
		x.unmodelled = true
		return x
	}
	x.l1 = newLineCache(f.L1Bytes, line, lines)
	x.l15 = newLineCache(f.L15Bytes, line, lines)
	for range subPartitions {
		x.l0 = append(x.l0, newLineCache(l0, line, lines))
	}
	x.l0Free = make([]float64, subPartitions)
	if warm {
		for _, c := range append([]*lineCache{&x.l1, &x.l15}, pointers(x.l0)...) {
			for i := range min(c.capacity, lines) {
				c.fill(i, 0)
			}
		}
	} else {
		x.prefetchProgram(f.LaunchPrefetch / line)
	}
	return x
}

// prefetchProgram brings the first lines of the program into the second level, from the launch on. On the H200 a first pass through
// code that no cache holds runs at the second level's 8 bytes a cycle up to 4096 instructions, 64 KB, and at 2.1 behind them; what
// a launch names as its program's size is fetched before its first warp asks. The lines follow each other as the second level
// hands them on.
func (x *fetcher) prefetchProgram(lines int) {
	for i := range min(lines, x.lines, x.l15.capacity) {
		x.l15.fill(i, x.l15Latency+uint64(float64(i+1)*x.l1Cycles))
	}
}

func pointers(cs []lineCache) []*lineCache {
	out := make([]*lineCache, len(cs))
	for i := range cs {
		out[i] = &cs[i]
	}
	return out
}

// lineOf is the line of an instruction.
func (x *fetcher) lineOf(index int32) int32 {
	if x.unmodelled {
		return 0
	}
	return int32(uint32(index) / x.lineInsts)
}

// ready is the first cycle, at or after the given one, at which the sub-partition has the instruction.
func (x *fetcher) ready(subPartition int, index int32, cycle uint64) uint64 {
	if x.unmodelled {
		return cycle
	}
	line := int(uint32(index) / x.lineInsts)
	at := x.demand(subPartition, line, cycle, x.l0Latency)
	for n := 1; n <= x.prefetch && line+n < x.lines; n++ {
		x.demand(subPartition, line+n, cycle, 0)
	}
	return max(at, cycle)
}

// demand brings a line into the L0 of a sub-partition and returns the cycle at which it is there.
func (x *fetcher) demand(subPartition, line int, cycle, latency uint64) uint64 {
	l0 := &x.l0[subPartition]
	if at := l0.touch(line); at != sim.Never {
		return at
	}
	from := x.fromL1(line, cycle)
	start := max(float64(from), x.l0Free[subPartition])
	x.l0Free[subPartition] = start + x.l0Cycles
	at := uint64(start+x.l0Cycles) + latency
	if at > uint64(x.l0Cycles)+cycle && latency > 0 {
		// The latency of a demand miss includes the transfer of its first instruction, not of the whole line.
		at = max(uint64(start)+latency, cycle)
	}
	l0.fill(line, at)
	return at
}

// fromL1 is the cycle at which the L1 has the line. A miss also fetches the lines behind it, so many that a sequential
// stream runs at the next level's bandwidth, not at its latency.
func (x *fetcher) fromL1(line int, cycle uint64) uint64 {
	if x.l1.capacity == 0 {
		return x.fromL15(line, cycle)
	}
	at := x.l1.touch(line)
	if at == sim.Never {
		at = x.fillL1(line, cycle)
	}
	for n := line + 1; n <= line+x.l1Ahead && n < x.lines; n++ {
		if x.l1.at[n] == sim.Never && at > cycle {
			x.fillL1(n, cycle)
		}
	}
	return max(at, cycle)
}

func (x *fetcher) fillL1(line int, cycle uint64) uint64 {
	from := x.fromL15(line, cycle)
	start := max(float64(from+x.l1Latency), x.l1Free)
	x.l1Free = start + x.l1Cycles
	at := uint64(x.l1Free)
	x.l1.fill(line, at)
	return at
}

// fromL15 is the cycle at which the second level has the line.
func (x *fetcher) fromL15(line int, cycle uint64) uint64 {
	if x.l15.capacity == 0 {
		return cycle
	}
	at := x.l15.touch(line)
	if at == sim.Never {
		at = x.fillL15(line, cycle)
	}
	for n := line + 1; n <= line+x.l15Ahead && n < x.lines; n++ {
		if x.l15.at[n] == sim.Never && at > cycle {
			x.fillL15(n, cycle)
		}
	}
	return max(at, cycle)
}

func (x *fetcher) fillL15(line int, cycle uint64) uint64 {
	start := max(float64(cycle+x.l15Latency), x.l15Free)
	x.l15Free = start + x.l15Cycles
	at := uint64(x.l15Free)
	x.l15.fill(line, at)
	return at
}

// ahead is the number of lines that must be under way for a stream to run at the bandwidth of one line in the given cycles.
func ahead(latency uint64, lineCycles float64) int {
	if lineCycles <= 0 {
		return 0
	}
	return int(float64(latency)/lineCycles) + 2
}
