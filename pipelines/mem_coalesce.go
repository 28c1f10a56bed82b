package pipelines

import "math/bits"

// lineReq is one cache line touched by a warp access.
type lineReq struct {
	line    uint64    // address / line size
	sectors uint32    // touched sectors of the line, bit i: bytes [i*sector, (i+1)*sector)
	mask    [2]uint64 // bytes touched, of the first 128; filled for stores
	array   ticks     // L2's data array takes for a store's part of it,
	partial ticks     // the input of the slice more than that
	bytes   uint32    // bytes of lanes in it, the same byte counted for every lane that touches it
}

// maxLines is the most lines a warp access can touch: 32 lanes of at most 16 aligned bytes, and for local memory
// five words of up to 32 different offsets.
const maxLines = 160

// byteMasks fills the masks of the lines that global has found.
func (c *coalescer) byteMasks(addr *[32]uint64, mask uint32, size uint64, lineShift uint) {
	at := 0
	for m := mask; m != 0; m &= m - 1 {
		a := addr[bits.TrailingZeros32(m)&31]
		line := a >> lineShift
		for i := 0; c.lines[at].line != line && i < c.n; i++ {
			if at++; at >= c.n {
				at = 0
			}
		}
		off := a & (1<<lineShift - 1)
		c.lines[at].mask[off>>6&1] |= (1<<size - 1) << (off & 63)
	}
}

// coalescer turns lane addresses into lines and sectors. Its list is reused.
type coalescer struct {
	lines [maxLines]lineReq
	n     int
}

// global merges the lanes' addresses. Lines keep the order of the first lane that touches them.
func (c *coalescer) global(addr *[32]uint64, mask uint32, size uint64, lineShift, sectorShift uint) {
	c.n = 0
	var top uint64       // highest line so far
	before := ^uint64(0) // sector of the lane before
	for m := mask; m != 0; m &= m - 1 {
		a := addr[bits.TrailingZeros32(m)&31]
		first, last := a>>sectorShift, (a+size-1)>>sectorShift
		if first == before && last == before {
			c.lines[c.n-1].bytes += uint32(size)
			continue
		}
		for s := first; ; s++ {
			line := s >> (lineShift - sectorShift)
			bit := uint32(1) << (s & (1<<(lineShift-sectorShift) - 1))
			top = c.add(line, bit, uint32(size), top)
			if s >= last {
				break
			}
		}
		before = ^uint64(0)
		if first == last && c.lines[c.n-1].line == first>>(lineShift-sectorShift) {
			before = first
		}
	}
}

// local merges offsets within the lanes' local memory. The words of the 32 lanes of a warp at one offset are neighbours,
// so equal offsets in all lanes touch one 128-byte line a word.
func (c *coalescer) local(addr *[32]uint64, mask uint32, size, base uint64, lineShift, sectorShift uint) {
	c.n = 0
	var top uint64
	for m := mask; m != 0; m &= m - 1 {
		lane := uint64(bits.TrailingZeros32(m))
		a := addr[lane&31]
		for w := a / 4; w <= (a+size-1)/4; w++ {
			phys := base + w*128 + lane*4
			s := phys >> sectorShift
			top = c.add(s>>(lineShift-sectorShift), uint32(1)<<(s&(1<<(lineShift-sectorShift)-1)), 4, top)
			lo, hi := max(a, 4*w)-4*w, min(a+size, 4*w+4)-4*w // bytes of the word
			l := c.at(phys >> lineShift)
			off := phys & (1<<lineShift - 1)
			l.mask[off>>6&1] |= (1<<hi - 1) &^ (1<<lo - 1) << (off & 63)
		}
	}
}

// at is the entry of a line in the list; searched from the end, where the newest are.
func (c *coalescer) at(line uint64) *lineReq {
	for i := c.n - 1; i > 0; i-- {
		if c.lines[i].line == line {
			return &c.lines[i]
		}
	}
	return &c.lines[0]
}

// add notes one sector; top is the highest line in the list.
func (c *coalescer) add(line uint64, bit, bytes uint32, top uint64) uint64 {
	if c.n > 0 {
		if l := &c.lines[c.n-1]; l.line == line {
			l.sectors |= bit
			l.bytes += bytes
			return top
		}
		if line <= top {
			for i := 0; i < c.n; i++ {
				if c.lines[i].line == line {
					c.lines[i].sectors |= bit
					c.lines[i].bytes += bytes
					return top
				}
			}
		} else {
			top = line
		}
	} else {
		top = line
	}
	if c.n < maxLines {
		c.lines[c.n] = lineReq{line: line, sectors: bit, bytes: bytes}
		c.n++
	}
	return top
}
