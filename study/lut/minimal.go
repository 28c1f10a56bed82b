package lut

import (
	"strings"
	"sync"
)

// formula is a smallest expression of one function of three inputs. Leaves are 'a', 'b', 'c', '0', '1'.
type formula struct {
	op   byte // 'v', '0', '1', '~', '&', '|', '^', '?'
	kids [3]uint8
	ops  int // operators in the whole expression; -1: not found yet
	size int // characters of the expression with one-letter names
}

// Truth tables of the three inputs as LOP3 orders them.
const (
	LutA = 0xf0
	LutB = 0xcc
	LutC = 0xaa
)

// minimal finds for each of the 256 functions an expression with the fewest operators ~ & | ^ ?: (each counts 1), by
// dynamic programming over the number of operators: the functions with n operators are those that one operator makes
// from functions with n-1 in total and that no fewer give. Constants are no operands: c ? 0 : x says less than x & ~c.
// Among equals the shortest text wins, then the first by alphabet.
var minimal = sync.OnceValue(func() *[256]formula {
	var best [256]formula
	for i := range best {
		best[i].ops = -1
	}
	best[0], best[0xff] = formula{op: '0', size: 1}, formula{op: '1', size: 1}
	level := [][]uint8{{LutA, LutB, LutC}}
	for _, f := range level[0] {
		best[f] = formula{op: 'v', size: 1}
	}
	letters := [3]string{"a", "b", "c"}
	found := 5
	for n := 1; found < 256; n++ {
		var fresh []uint8
		offer := func(f uint8, op byte, kids [3]uint8) {
			b := &best[f]
			if b.ops >= 0 && b.ops < n {
				return
			}
			x := formula{op: op, kids: kids, ops: n}
			x.size = len(x.text(&best, letters))
			if b.ops < 0 {
				fresh = append(fresh, f)
			} else if x.size > b.size || x.size == b.size && x.text(&best, letters) >= b.text(&best, letters) {
				return
			}
			*b = x
		}
		for _, f := range level[n-1] {
			offer(^f, '~', [3]uint8{f})
		}
		for i := 0; i < n; i++ {
			for _, f := range level[i] {
				for _, g := range level[n-1-i] {
					offer(f&g, '&', [3]uint8{f, g})
					offer(f|g, '|', [3]uint8{f, g})
					offer(f^g, '^', [3]uint8{f, g})
				}
				for j := 0; i+j < n; j++ {
					for _, g := range level[j] {
						for _, h := range level[n-1-i-j] {
							offer(f&g|^f&h, '?', [3]uint8{f, g, h})
						}
					}
				}
			}
		}
		level = append(level, fresh)
		found += len(fresh)
	}
	return &best
})

// Minimal writes the function with the fewest operators ~ & | ^ ?:, and says how many these are.
func Minimal(lut uint8, names [3]string) (expr string, operators int) {
	best := minimal()
	f := &best[lut]
	if f.op == 'v' {
		return leaf(lut, names), 0
	}
	return f.text(best, names), f.ops
}

func leaf(lut uint8, names [3]string) string {
	switch lut {
	case LutA:
		return names[0]
	case LutB:
		return names[1]
	}
	return names[2]
}

// binding says how tightly an operator binds.
func binding(op byte) int { return strings.IndexByte("?|^&~v01", op) }

func (f *formula) text(best *[256]formula, names [3]string) string {
	kid := func(i, least int) string {
		k := &best[f.kids[i]]
		s := ""
		if k.op == 'v' {
			s = leaf(f.kids[i], names)
		} else {
			s = k.text(best, names)
		}
		if binding(k.op) < least {
			return "(" + s + ")"
		}
		return s
	}
	switch f.op {
	case '0', '1':
		return string(f.op)
	case '~':
		return "~" + kid(0, binding('~'))
	case '?':
		return kid(0, 1) + " ? " + kid(1, 1) + " : " + kid(2, 1)
	}
	return kid(0, binding(f.op)) + " " + string(f.op) + " " + kid(1, binding(f.op)+boolInt(best[f.kids[1]].op != f.op))
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
