package sm

import (
	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/sim"
)

// fetcher is the instruction memory of an SM: one L0 a sub-partition, an L1 and a second level. Lines of the program are numbered, so
// every cache is an array over lines. Sequential lines are prefetched; a jump to a line that is not there waits.
// Each line that comes from beyond a level asks for the next one, so a stream of instructions runs at that level's bytes a cycle, and
// streams at different places of the program do not slow each other down: measured on the H200 (testdata/h200_kernels.csv: two, pair, one), two groups of warps
// in code of 196 KB each need 5.6 cycles an instruction, whether they share a sub-partition or not, one alone 5.4.
type fetcher struct {
	lineInsts         uint32
	prefetch          int
	l0                []lineCache
	l1, l15           lineCache
	l0Latency         uint64
	l1Latency         uint64
	l15Latency        uint64
	l0Cycles          float64 // cycles a line takes from L1 to an L0
	l1Cycles          float64 // a line of a stream takes from the second level to L1
	l15Cycles         float64 // from L2 to the second level
	l0Free            []float64
	launchCycles      float64 // between the lines that a launch brings to the second level
	startLines        int     // lines of L1 that still come at the rate of a cold start
	startCycles       float64
	l1Ahead, l15Ahead int // lines fetched behind a miss of L1, of the second level
	lines             int
	unmodelled        bool
}

// newFetcher is the fetch unit as a launch finds it. The launch itself has brought the first lines of the program to the second
// level (launch_prefetch_bytes); on a warm chip the levels hold what a launch before left that went through the program once.
//
// Measured on the H200 ("icache_once", one pass after a warm launch, and the very first launch of a kernel): passes over
// more than 32 KB miss L1 in the sets that hold more than 4 lines, then everywhere; beyond 128 KB all but the first 64 KB come
// from L2; cold, the first 64 KB run at the second level's rate too.
func newFetcher(f *configs.Fetch, subPartitions, insts, instBytes int, warm, allSMs bool) *fetcher {
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
	if allSMs && f.L15BytesCycleAll > 0 {
		x.l1Cycles = cycles(f.L15BytesCycleAll)
	}
	if allSMs && !warm {
		x.startLines, x.startCycles = f.StartLines, max(cycles(f.StartBytesCycle), x.l1Cycles)
	}
	x.launchCycles = x.l1Cycles
	if f.LaunchLine > 0 {
		x.launchCycles = f.LaunchLine
	}
	if allSMs && f.L2BytesCycleAll > 0 {
		x.l15Cycles = cycles(f.L2BytesCycleAll)
	}
	x.l1Ahead, x.l15Ahead = ahead(x.l1Latency, x.l1Cycles), ahead(x.l15Latency, x.l15Cycles)
	if allSMs && f.L1MissLatencyAll > 0 {
		x.l1Latency = uint64(f.L1MissLatencyAll) // no more lines are under way for it
	}
	l0 := f.L0Bytes
	if l0 <= 0 {
		l0 = f.L1Bytes // generations without L0: one level a sub-partition of the L1's size
	}
	if l0 <= 0 {
		x.unmodelled = true
		return x
	}
	x.l1 = newLineCache(f.L1Bytes, f.L1Ways, line, lines)
	x.l15 = newLineCache(f.L15Bytes, f.L15Ways, line, lines)
	for range subPartitions {
		x.l0 = append(x.l0, newLineCache(l0, 0, line, lines))
	}
	x.l0Free = make([]float64, subPartitions)
	if warm {
		x.pass()
	}
	x.prefetchProgram(f.LaunchPrefetch / line)
	return x
}

// prefetchProgram brings the first lines of the program into the second level, from the launch on. On the H200 a first pass through
// code that no cache holds runs at the second level's 8 bytes a cycle up to 4096 instructions, 64 KB, and at 2.1 behind them; what
// a launch names as its program's size is fetched before its first warp asks. The lines follow each other as the second level
// hands them on.
func (x *fetcher) prefetchProgram(lines int) {
	if !x.l15.exists() {
		return
	}
	for i := range min(lines, x.lines) {
		if x.l15.touch(i) == sim.Never {
			x.l15.fill(i, x.l15Latency+uint64(float64(i+1)*x.launchCycles))
		}
	}
}

// pass leaves the caches as one pass over the program does.
func (x *fetcher) pass() {
	for i := range x.lines {
		for s := range x.l0 {
			x.l0[s].fill(i, 0)
		}
		if x.l1.exists() {
			x.l1.fill(i, 0)
		}
		if x.l15.exists() {
			x.l15.fill(i, 0)
		}
	}
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
	if !x.l1.exists() {
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
	apart := x.l1Cycles
	if x.startLines > 0 {
		x.startLines--
		apart = x.startCycles
	}
	at := x.l1.follow(line, x.fromL15(line, cycle)+x.l1Latency, apart)
	x.l1.fill(line, at)
	return at
}

// fromL15 is the cycle at which the second level has the line.
func (x *fetcher) fromL15(line int, cycle uint64) uint64 {
	if !x.l15.exists() {
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
	at := x.l15.follow(line, cycle+x.l15Latency, x.l15Cycles)
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
