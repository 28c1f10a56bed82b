package pipelines

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/sarchlab/smsim/configs"
)

// ConstCache is the constant path of an SM: small first levels, a second level, and L2 behind them. It serves constant
// operands of arithmetic instructions and loads of uniform registers (which wait before issue, warp state imc_miss) and LDC (which waits for a
// result). All levels are empty at the start of a launch.
//
// There is a first level of LDC (Nsight Compute's IDC), one of operands (IMC), and one of uniform loads in each sub-partition.
//
// Measured on the H200 (testdata/constants_h200.csv: cycles of 40 ULDC or LDC in a row at strides of 4 to 512 bytes): 64 bytes come from the second
// level in 58 cycles (ULDC) or 65 (LDC) and 256 bytes from L2 in 270, warm launches too, 610 from DRAM in cold ones; four warps in
// four sub-partitions that walk through the same lines by ULDC get one each 132 cycles, by LDC as fast as one warp.
type ConstCache struct {
	first, operands                     sectorCache
	uniform                             []sectorCache // by sub-partition
	cold                                bool          // a cold launch
	apart                               bool          // operands and uniform loads have first levels of their own
	second                              sectorCache
	lineShift, sectorShift, secondShift uint
	latency, missSecond, missBeyond     uint64
	missModule                          uint64 // missBeyond of banks that the launch does not fill
	operandSecond, uniformSecond        uint64 // missSecond of an operand, of a uniform load
	index                               uint64 // more for an address in a register
	port                                uniformPort
}

// NewConstCache builds the caches of an architecture, empty, as a launch finds them; in a cold one L2 is empty too.
func NewConstCache(a *configs.Arch, cold bool) (*ConstCache, error) {
	l := &a.LSU
	line := orInt(l.ConstantLine, 64)
	sector := orInt(l.ConstantSector, min(32, line))
	second := max(orInt(l.Constant15Line, line), line)
	if !powerOfTwo(line) || !powerOfTwo(sector) || !powerOfTwo(second) || sector > line || line/sector > 32 {
		return nil, fmt.Errorf("constant cache of %s: lsu.constant_line_bytes %d, lsu.constant_sector_bytes %d and lsu.constant_l15_line_bytes %d must be powers of two, line >= sector", a.Name, line, sector, second)
	}
	c := &ConstCache{
		first:         newSectorCache(orInt(l.ConstantBytes, 2048), line, orInt(l.ConstantWays, 4)),
		apart:         l.ConstantApart,
		cold:          cold,
		second:        newSectorCache(orInt(l.Constant15Bytes, 65536), second, 8),
		lineShift:     log2(line),
		sectorShift:   log2(sector),
		secondShift:   log2(second),
		latency:       uint64(max(l.ConstantLatency, 1)),
		index:         uint64(max(l.ConstantIndex, 0)),
		missSecond:    uint64(max(l.ConstantMiss, 0)),
		operandSecond: orUint(l.ConstantOperandMiss, uint64(max(l.ConstantMiss, 0))),
		uniformSecond: orUint(l.ConstantUniformMiss, orUint(l.ConstantOperandMiss, uint64(max(l.ConstantMiss, 0)))),
		missBeyond:    orUint(l.ConstantMissL2, uint64(max(l.ConstantMiss, 0))),
		port:          uniformPort{near: uint64(max(l.ConstantPortNear, 0)), far: uint64(max(l.ConstantPort, 0))},
	}
	c.missModule = orUint(l.ConstantModuleMiss, c.missBeyond)
	if cold {
		c.missModule = orUint(l.ConstantModuleCold, c.missModule)
	}
	c.operands = c.first.empty()
	for range max(1, a.SM.SubPartitions) {
		c.uniform = append(c.uniform, c.first.empty())
	}
	return c, nil
}

// partsOfLine is the number of first-level lines in a line of the second level that are told apart, partOwners that of first levels: of more
// sub-partitions than seven some share theirs.
const (
	partsOfLine = 4
	partOwners  = 32 / partsOfLine
)

// Operand looks up a constant operand of an instruction that could issue at the cycle. ready is the first cycle at which
// it has the value: the same cycle when the first level holds it. The miss is under way after the first call; calling
// again while it is gives the same answer.
func (c *ConstCache) Operand(cycle uint64, bank uint8, addr uint32) (ready uint64, hit bool) {
	first, n := &c.first, 0
	if c.alone(bank) {
		first, n = &c.operands, 1
	}
	ready = c.lookup(first, n, cycle, bank, addr, c.operandSecond)
	return ready, ready <= cycle
}

// Uniform is Operand for a load of a uniform register by a warp of the sub-partition.
func (c *ConstCache) Uniform(cycle uint64, subPartition int, bank uint8, addr uint32) (ready uint64, hit bool) {
	if !c.alone(bank) {
		return c.Operand(cycle, bank, addr)
	}
	ready = c.lookup(&c.uniform[subPartition], 2+subPartition, cycle, bank, addr, c.uniformSecond)
	return ready, ready <= cycle
}

// alone says whether operands and uniform loads of the bank do not find what LDC brought. Measured on the H200: `overhead` reads c[0x0][0x210] by LDC, then its ULDC
// of c[0x0][0x208], in the same sector, waits 46 cycles in cold launches; the 284 cycles of its repeated launches leave no room for that. Constants of the module are
// alone in warm launches too.
func (c *ConstCache) alone(bank uint8) bool { return c.apart && (c.cold || bank != launchBank) }

// Load books an LDC issued at the cycle for one address and returns when its result can be used.
func (c *ConstCache) Load(cycle uint64, bank uint8, addr uint32) (result uint64) {
	return c.lookup(&c.first, 0, cycle, bank, addr, c.missSecond) + c.latency
}

// ConstPasses is the number of passes of an LDC whose lanes read the given addresses: one for each distinct address, whether or not
// two lie in one word. Measured on the H200: `utf8v`, byte tables indexed by lane, asks the constant cache 9457 times an SM, exactly
// the distinct byte addresses (3819 distinct words). No active lane: one pass.
func ConstPasses(addr *[32]uint64, mask uint32) int {
	_, n := distinct(addr, mask)
	return max(n, 1)
}

// distinct gathers the different addresses of the lanes, in the order of their first lanes.
func distinct(addr *[32]uint64, mask uint32) (seen [32]uint64, n int) {
	for ; mask != 0; mask &= mask - 1 {
		a := addr[bits.TrailingZeros32(mask)]
		if !slices.Contains(seen[:n], a) {
			seen[n] = a
			n++
		}
	}
	return seen, n
}

// LoadLanes books an LDC whose lanes read the given addresses: the first distinct one is looked up at the cycle, each further one
// interval cycles later. It returns when the last can be used. Measured on the H200: chains of LDC with the address in a register 28.0
// cycles a link, of a fixed address 25.
func (c *ConstCache) LoadLanes(cycle, interval uint64, bank uint8, addr *[32]uint64, mask uint32) (result uint64) {
	seen, n := distinct(addr, mask)
	result = cycle
	for i, a := range seen[:n] {
		result = max(result, c.lookup(&c.first, 0, cycle+uint64(i)*interval, bank, uint32(a), c.missSecond))
	}
	return result + c.latency + c.index
}

// lookup returns the cycle at which first level n has the sector; second is the time the second level takes. What is new in the second level goes to
// a first level as a whole line, what was there before, sector by sector.
func (c *ConstCache) lookup(first *sectorCache, n int, cycle uint64, bank uint8, addr uint32, second uint64) uint64 {
	line := uint64(bank)<<32 | uint64(addr>>c.lineShift)
	bit := uint32(1) << (addr >> c.sectorShift & (1<<(c.lineShift-c.sectorShift) - 1))
	entry, victim := first.find(line)
	if entry == nil {
		first.replace(victim, line)
		entry = victim
	}
	if entry.sectors&bit != 0 {
		return max(cycle, entry.ready)
	}
	wide := uint64(bank)<<32 | uint64(addr>>c.secondShift)
	there, v := c.second.find(wide)
	at := cycle
	if there != nil {
		at = max(at, there.ready)
	} else {
		beyond := c.missModule
		if bank == launchBank {
			beyond = c.missBeyond
		}
		at += beyond - min(second, beyond)
		if v != nil {
			c.second.replace(v, wide)
			there = v
			there.ready = at
		}
	}
	part := uint32(1) << (partsOfLine*(n%partOwners) + int(addr>>c.lineShift&(1<<(c.secondShift-c.lineShift)-1)%partsOfLine))
	if there == nil || there.sectors&part == 0 {
		bit = ^uint32(0)
	}
	if there != nil {
		there.sectors |= part
	}
	if n > 1 {
		near := c.first.peek(line)
		at = c.port.take(cycle, at, near != nil)
	}
	entry.sectors |= bit
	entry.ready = max(entry.ready, at+second)
	return entry.ready
}

// uniformPort hands lines to the uniform loads of the sub-partitions, one after the other: lines that LDC has brought to its first level, and
// others from the second level, which take longer.
//
// Measured on the H200, one warp in each sub-partition: for one line after the other by ULDC 132 cycles a line, alone 62; for a line that LDC has brought 27 more
// than alone on average (`overhead`: 46 and 73; ULDC beside LDC of the same words: 99 and 124 a line).
type uniformPort struct {
	near, far uint64 // cycles that it takes for a line
	free      uint64 // first cycle at which it can take another
	late      uint64 // when a line comes that several wait for, and when the last of them has it
	lateEnd   uint64
}

// take is the cycle at which a line leaves that is asked for at cycle and in the second level at the other one.
func (u *uniformPort) take(cycle, at uint64, near bool) (start uint64) {
	cycles := u.far
	if near {
		cycles = u.near
	}
	if at > cycle { // it leaves when it comes, for one after the other
		if u.late != at {
			u.late, u.lateEnd = at, at
		}
		u.lateEnd += cycles
		return u.lateEnd - cycles
	}
	start = max(cycle, u.free)
	if start < u.lateEnd && start+cycles > u.late {
		start = u.lateEnd
	}
	u.free = start + cycles
	return start
}

// launchBank is the bank that a launch fills: parameters, sizes of block and grid. It is nearer than those of the module.
const launchBank = 0
