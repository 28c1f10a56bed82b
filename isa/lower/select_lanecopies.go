package lower

import "github.com/sarchlab/smsim/isa"

// ptxas expands sign extensions, saturations and absolute values only after it has merged copies, and its
// expansion ends with a copy to the variable. The lanes of a SIMD video instruction share variables, so in most
// of them one side of such a copy is live where the other is written and the copy stays: in 40 % of the SIMD video
// forms on Volta and later. Which ones stay follows from ptxas's schedule and register allocation, which are
// not modelled; how many do depends on little: the lanes, which sources are signed, saturation, and the
// generation. The numbers below are what CUDA 13.0 leaves, fitted to the instructions with default selectors and all
// lanes written; on 205 others (selectors, masks; study/conform, TestHeldOutCost) they give the right number in 72 to 81 %
// of the cases by target, no copies at all in 40 to 52 %.

// laneSigns says which sources of a SIMD instruction are signed.
type laneSigns uint8

const (
	signsBoth laneSigns = iota
	signsFirst
	signsSecond
	signsNone
)

func (s *simd) signs() laneSigns {
	switch a, b := s.at.signed(), s.bt.signed(); {
	case a && b:
		return signsBoth
	case a:
		return signsFirst
	case b:
		return signsSecond
	}
	return signsNone
}

// byteCopies are the copies of a four-lane instruction by its sources' signs (both, first, second, none), without
// saturation, with saturation to unsigned and to signed bytes.
type byteCopies struct{ plain, unsigned, signed [4]int }

// Rows by operation; "" is vadd, vsub, vmin and vmax. Up to Ada the numbers follow a formula, see laneCopies.
var hopperCopies = map[string]byteCopies{
	"":         {[4]int{2, 0, 0, 0}, [4]int{5, 1, 1, 0}, [4]int{7, 4, 3, 1}},
	"vset":     {plain: [4]int{5, 1, 1, 0}},
	"vavrg":    {[4]int{2, 2, 2, 0}, [4]int{2, 2, 2, 0}, [4]int{2, 4, 2, 1}},
	"vabsdiff": {[4]int{6, 2, 2, 1}, [4]int{3, 1, 0, 0}, [4]int{6, 3, 1, 3}},
}

var blackwellCopies = map[string]byteCopies{
	"":         {[4]int{4, 3, 3, 0}, [4]int{6, 1, 1, 0}, [4]int{5, 4, 5, 3}},
	"vset":     {plain: [4]int{3, 1, 1, 0}},
	"vavrg":    {[4]int{}, [4]int{6, 3, 1, 0}, [4]int{9, 5, 6, 3}},
	"vabsdiff": {[4]int{7, 3, 3, 2}, [4]int{0, 2, 1, 0}, [4]int{9, 4, 6, 3}},
}

// laneCopies is how many copies stay in the lane-by-lane expansion.
func (x *expander) laneCopies(s *simd) int {
	signs := s.signs()
	count := [4]int{2, 1, 1, 0}[signs] // signed sources
	both, first := signs == signsBoth, signs <= signsFirst
	toSigned := s.sat && s.dt.signed()
	one := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	switch sm := x.sm(); {
	case sm < 70:
		return 0
	case sm < 90 && s.n == 4:
		// The last lane's signed sources; saturation keeps one more alive, its signed results two more.
		switch {
		case s.op == "vavrg" && !s.add:
			return one(both)
		case s.op == "vabsdiff" && !s.sat && !s.add:
			return count + one(first) + one(both)*(2*one(s.dt.signed())-1)
		}
		return count + one(s.sat && both) + one(toSigned)*(1+one(first))
	case sm < 90:
		return x.halfCopiesVolta(s, signs, count)
	case s.n == 4:
		rows := hopperCopies
		if sm >= 110 {
			rows = blackwellCopies
		}
		r, ok := rows[s.op]
		if !ok {
			r = rows[""]
		}
		switch {
		case toSigned:
			return r.signed[signs]
		case s.sat:
			return r.unsigned[signs]
		}
		return r.plain[signs]
	case sm < 110:
		return halfCopiesHopper(s, signs)
	}
	return halfCopiesBlackwell(s, signs)
}

// halfCopiesVolta: each signed source of the upper lane is copied, unless an addition shifts the other source in.
func (x *expander) halfCopiesVolta(s *simd, signs laneSigns, count int) int {
	sum := s.op == "vadd" || s.op == "vavrg"
	switch {
	case s.add && s.op != "vsub" && !sum:
		return 0
	case sum && signs == signsFirst && !(s.add && s.op == "vadd"):
		return 0
	case s.op == "vabsdiff" && count > 0 && !s.sat:
		return count + 2 // and both results
	case s.op == "vabsdiff" && s.dt.signed() && signs <= signsFirst:
		return count + 1
	}
	return count
}

func halfCopiesHopper(s *simd, signs laneSigns) int {
	var r [4]int
	switch {
	case s.add:
		r = map[string][4]int{"vadd": {1, 1, 0, 0}, "vsub": {1, 0, 0, 0}, "vavrg": {2, 0, 1, 0}, "vmin": {0, 1, 0, 0}, "vmax": {0, 1, 0, 0},
			"vabsdiff": {0, 2, 0, 0}}[s.op]
	case s.op == "vset":
		r = [4]int{2, 1, 1, 0}
	case s.op == "vavrg" && s.sat:
		r = [4]int{1, 0, 1, 0}
	case s.op == "vavrg":
		r = [4]int{2, 0, 1, 0}
	case s.op == "vabsdiff" && !s.sat:
		r = [4]int{4, 3, 3, 1}
	case s.op == "vabsdiff" && s.dt.signed():
		r = [4]int{1, 2, 2, 0}
	case s.op == "vabsdiff":
		r = [4]int{1, 1, 1, 0}
	case s.sat && s.dt.signed():
		r = [4]int{0, 0, 1, 0}
	case s.sat && s.op == "vadd":
		r = [4]int{2, 0, 1, 0}
	case s.sat:
		r = [4]int{2, 1, 1, 0}
	case s.op == "vadd":
		r = [4]int{0, 1, 1, 0}
	default:
		r = [4]int{0, 2, 1, 0}
	}
	return r[signs]
}

func halfCopiesBlackwell(s *simd, signs laneSigns) int {
	var r [4]int
	switch {
	case s.add:
	case s.op == "vabsdiff" && !s.sat:
		r = [4]int{3, 2, 2, 1}
	case s.op == "vset" || s.op == "vavrg" && !s.sat:
		r = [4]int{2, 0, 0, 0}
	case s.op == "vavrg" && s.dt.signed():
		r = [4]int{4, 1, 1, 1}
	case s.op == "vavrg":
		r = [4]int{2, 1, 1, 0}
	case s.sat && s.dt.signed():
		r = [4]int{0, 1, 1, 1}
	case s.sat:
		r = [4]int{0, 1, 1, 0}
	case s.op != "vadd":
		r = [4]int{0, 2, 0, 0}
	}
	return r[signs]
}

// keepSourceCopies copies signed source lanes, the last ones first, and returns how many of n copies are left.
func (x *expander) keepSourceCopies(s *simd, la, lb []simdLane, n int) int {
	for i := s.n - 1; i >= 0; i-- {
		for _, l := range []struct {
			lane   *simdLane
			signed bool
		}{{&la[i], s.at.signed()}, {&lb[i], s.bt.signed()}} {
			if n > 0 && l.signed && !l.lane.upper && (!s.add || s.mask&(1<<i) != 0) {
				l.lane.v = x.movKeep(l.lane.v)
				n--
			}
		}
	}
	return n
}

// keepResultCopies copies n results, the first lanes first.
func (x *expander) keepResultCopies(lanes []word, n int) {
	for i := range min(n, len(lanes)) {
		if lanes[i].Kind == isa.KindReg {
			lanes[i] = x.movKeep(lanes[i])
		}
	}
}

// movKeep is a copy that stays.
func (x *expander) movKeep(a word) word {
	d := x.reg()
	x.emit(isa.OpMOV, isa.Mod{Flags: modKeep}, []word{d}, []word{a})
	return d
}
