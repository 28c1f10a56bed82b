package sm

import (
	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/sim"
)

// constLineBytes is the line of the constant caches (published dissections of Volta to Turing: 64 bytes in the first level).
const constLineBytes = 64

// constLine numbers the lines of all constant banks.
func constLine(bank uint8, offset uint32) int32 {
	return int32(bank)<<16 | int32(offset/constLineBytes)
}

// constCache is the constant memory of an SM: a small first level that serves constant operands and LDC, and a
// second level. A first-level miss holds the warp that needs the line (imc_miss); others go on.
type constCache struct {
	first, second constLevel
	miss, missL2  uint64
}

// constLevel is a fully associative level with least-recently-used replacement.
type constLevel struct {
	capacity int
	lines    map[int32]int // line -> index into entries
	entries  []constEntry
	stamp    uint64
}

type constEntry struct {
	line int32
	at   uint64
	used uint64
}

func newConstCache(l *configs.LSU) *constCache {
	c := &constCache{miss: uint64(l.ConstantMiss), missL2: uint64(max(l.ConstantMiss, l.ConstantMissL2))}
	c.first = constLevel{capacity: l.ConstantBytes / constLineBytes, lines: map[int32]int{}}
	c.second = constLevel{capacity: l.Constant15Bytes / constLineBytes, lines: map[int32]int{}}
	return c
}

func (v *constLevel) get(line int32) (uint64, bool) {
	i, ok := v.lines[line]
	if !ok {
		return sim.Never, false
	}
	v.stamp++
	v.entries[i].used = v.stamp
	return v.entries[i].at, true
}

func (v *constLevel) put(line int32, at uint64) {
	v.stamp++
	e := constEntry{line: line, at: at, used: v.stamp}
	if len(v.entries) < v.capacity {
		v.lines[line] = len(v.entries)
		v.entries = append(v.entries, e)
		return
	}
	if v.capacity == 0 {
		return
	}
	victim := 0
	for i := range v.entries {
		if v.entries[i].used < v.entries[victim].used {
			victim = i
		}
	}
	delete(v.lines, v.entries[victim].line)
	v.entries[victim] = e
	v.lines[line] = victim
}

// ready is the first cycle, at or after the given one, at which the line can be read.
func (c *constCache) ready(line int32, cycle uint64) uint64 {
	if c.first.capacity == 0 {
		return cycle
	}
	if at, ok := c.first.get(line); ok {
		return max(at, cycle)
	}
	lat := c.miss
	if c.second.capacity > 0 {
		if _, ok := c.second.get(line); !ok {
			lat = c.missL2
			c.second.put(line, cycle+lat)
		}
	}
	at := cycle + lat
	c.first.put(line, at)
	return at
}
