package sass

import (
	"sort"

	"github.com/sarchlab/smsim/isa"
)

// reservedStack is the stack of recursion and of calls through pointers, whose depth cannot be known, in bytes a thread: what
// lowering of PTX gives as well.
const reservedStack = 8 << 10

// callGraph says whether the program calls functions, and whether the depth of its calls is open: a function that reaches
// itself, or a call through a register. A function's code reaches from its first instruction to that of the next.
func callGraph(p *isa.Program) (calls, deep bool) {
	start := []int{0}
	for i := range p.Insts {
		in := &p.Insts[i]
		if in.Op != isa.OpCALL {
			continue
		}
		calls = true
		if in.Src[0].Kind == isa.KindLabel {
			start = append(start, int(in.Src[0].Imm))
		} else {
			deep = true
		}
	}
	if !calls || deep {
		return calls, deep
	}
	sort.Ints(start)
	function := func(i int) int { return sort.SearchInts(start, i+1) - 1 }
	callees := map[int][]int{}
	for i := range p.Insts {
		if in := &p.Insts[i]; in.Op == isa.OpCALL {
			callees[function(i)] = append(callees[function(i)], function(int(in.Src[0].Imm)))
		}
	}
	state := map[int]int{} // 1: being visited, 2: done
	var cyclic func(f int) bool
	cyclic = func(f int) bool {
		if state[f] != 0 {
			return state[f] == 1
		}
		state[f] = 1
		for _, g := range callees[f] {
			if cyclic(g) {
				return true
			}
		}
		state[f] = 2
		return false
	}
	return true, cyclic(0)
}
