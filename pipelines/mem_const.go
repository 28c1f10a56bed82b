package pipelines

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/sarchlab/smsim/configs"
)

// ConstCache is the constant path of an SM: a small first level, a second level, and L2 behind them. It serves constant
// operands of arithmetic instructions (which wait before issue, warp state imc_miss) and LDC, ULDC (which wait for a
// result). Both levels are empty at the start of a launch.
//
// A first-level line fills sector by sector from the second level and as a whole from beyond it. Operands have a first level of their
// own (Nsight Compute's IMC) beside that of LDC (IDC) after OperandsApart.
type ConstCache struct {
	first, second                   sectorCache
	operands                        *sectorCache // first level of operands; nil: first
	lineShift, sectorShift          uint
	latency, missSecond, missBeyond uint64
	operandSecond                   uint64 // missSecond of an operand
	index                           uint64 // more for an address in a register
}

// NewConstCache builds the caches of an architecture, empty.
func NewConstCache(a *configs.Arch) (*ConstCache, error) {
	l := &a.LSU
	line := orInt(l.ConstantLine, 64)
	sector := orInt(l.ConstantSector, min(32, line))
	if !powerOfTwo(line) || !powerOfTwo(sector) || sector > line || line/sector > 32 {
		return nil, fmt.Errorf("constant cache of %s: lsu.constant_line_bytes %d and lsu.constant_sector_bytes %d must be powers of two, line >= sector", a.Name, line, sector)
	}
	return &ConstCache{
		first:         newSectorCache(orInt(l.ConstantBytes, 2048), line, orInt(l.ConstantWays, 4)),
		second:        newSectorCache(orInt(l.Constant15Bytes, 65536), line, 8),
		lineShift:     log2(line),
		sectorShift:   log2(sector),
		latency:       uint64(max(l.ConstantLatency, 1)),
		index:         uint64(max(l.ConstantIndex, 0)),
		missSecond:    uint64(max(l.ConstantMiss, 0)),
		operandSecond: orUint(l.ConstantOperandMiss, uint64(max(l.ConstantMiss, 0))),
		missBeyond:    orUint(l.ConstantMissL2, uint64(max(l.ConstantMiss, 0))),
	}, nil
}

// OperandsApart gives operands a first level of their own. Measured on the H200 in cold launches: `overhead` reads c[0x0][0x210] by LDC, then its ULDC of
// c[0x0][0x208], in the same sector, waits about 58 cycles as imc_miss. The 284 cycles of its repeated launches leave no room for that.
func (c *ConstCache) OperandsApart() {
	own := c.first.empty()
	c.operands = &own
}

// Operand looks up a constant operand of an instruction that could issue at the cycle. ready is the first cycle at which
// it has the value: the same cycle when the first level holds it. The miss is under way after the first call; calling
// again while it is gives the same answer.
func (c *ConstCache) Operand(cycle uint64, bank uint8, addr uint32) (ready uint64, hit bool) {
	first := &c.first
	if c.operands != nil {
		first = c.operands
	}
	ready = c.lookup(first, cycle, bank, addr, c.operandSecond)
	return ready, ready <= cycle
}

// Load books an LDC or ULDC issued at the cycle for one address and returns when its result can be used.
func (c *ConstCache) Load(cycle uint64, bank uint8, addr uint32) (result uint64) {
	return c.lookup(&c.first, cycle, bank, addr, c.missSecond) + c.latency
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
		result = max(result, c.lookup(&c.first, cycle+uint64(i)*interval, bank, uint32(a), c.missSecond))
	}
	return result + c.latency + c.index
}

// lookup returns the cycle at which a first level has the sector; second is the time the second level takes.
func (c *ConstCache) lookup(first *sectorCache, cycle uint64, bank uint8, addr uint32, second uint64) uint64 {
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
	if there, v := c.second.find(line); there != nil {
		entry.sectors |= bit
		entry.ready = max(entry.ready, cycle+second)
	} else {
		if v != nil {
			c.second.replace(v, line)
		}
		entry.sectors = ^uint32(0)
		entry.ready = max(entry.ready, cycle+c.missBeyond)
	}
	return entry.ready
}
