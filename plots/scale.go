package plots

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// scale maps numbers to 0..1, linearly or by logarithm.
type scale struct {
	min, max float64
	log      bool
}

func (s scale) norm(v float64) float64 {
	if s.log {
		return math.Log(v/s.min) / math.Log(s.max/s.min)
	}
	return (v - s.min) / (s.max - s.min)
}

// tick is a mark on an axis; without a label it is a minor one.
type tick struct {
	at    float64
	label string
}

// axis is a numeric axis.
type axis struct {
	label string
	scale
	ticks []tick
}

// linearAxis covers 0 to most with round ticks, and air above: a fraction of the whole height.
func linearAxis(label string, most, air float64) axis {
	if most <= 0 {
		most = 1
	}
	a := axis{label: label, scale: scale{0, most / (1 - air), false}}
	step := roundStep(a.max / 5)
	for i := 0; float64(i)*step <= a.max; i++ {
		a.ticks = append(a.ticks, tick{float64(i) * step, compact(float64(i) * step)})
	}
	return a
}

// roundStep is the least of 1, 2, 2.5 and 5 times a power of ten that is not below the value.
func roundStep(v float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 2.5, 5} {
		if m*unit >= v*0.999 {
			return m * unit
		}
	}
	return 10 * unit
}

// logAxis covers the positive values. Its ticks are the values themselves where these are few, powers of two or
// powers of ten.
func logAxis(label string, values []float64) axis {
	lo, hi := math.Inf(1), math.Inf(-1)
	powers := true
	for _, v := range values {
		lo, hi = min(lo, v), max(hi, v)
		if e := math.Log2(v); e != math.Trunc(e) {
			powers = false
		}
	}
	a := axis{label: label, scale: scale{lo / 1.15, hi * 1.15, true}}
	decades := math.Log10(a.max / a.min)
	switch {
	case powers && hi/lo <= 1<<12 && lo >= 1.0/1024:
		for v := lo; v <= hi; v *= 2 {
			a.ticks = append(a.ticks, tick{v, compact(v)})
		}
	case decades < 1.2:
		for e := math.Floor(math.Log10(a.min)); e <= math.Log10(a.max); e++ {
			for _, m := range []float64{1, 1.5, 2, 3, 4, 5, 6, 8} {
				if v := m * math.Pow(10, e); v >= a.min && v <= a.max {
					a.ticks = append(a.ticks, tick{v, compact(v)})
				}
			}
		}
	default:
		step := math.Ceil(decades / 7)
		for e := math.Floor(math.Log10(a.min)); e <= math.Ceil(math.Log10(a.max)); e++ {
			for m := 1.0; m < 10; m++ {
				v := m * math.Pow(10, e)
				if v < a.min || v > a.max {
					continue
				}
				t := tick{at: v}
				if m == 1 && math.Mod(e, step) == 0 || decades < 2.5 && (m == 2 || m == 5) {
					t.label = compact(v)
				}
				a.ticks = append(a.ticks, t)
			}
		}
	}
	return a
}

// logBarAxis covers half the least value, so that its bar has a height, to the most, with air above: a fraction of the whole height.
func logBarAxis(label string, least, most, air float64) axis {
	if most <= 0 {
		least, most = 1, 1 // no bar at all
	}
	low := least / 2
	high := low * math.Pow(most/low, 1/(1-air))
	return logAxis(label, []float64{low * 1.15, high / 1.15})
}

// compact prints a number with up to three significant digits and a suffix for thousands, millions and so on.
func compact(v float64) string {
	abs := math.Abs(v)
	if abs == 0 {
		return "0" // also of -0, which rounding leaves
	}
	suffix := ""
	for _, s := range []struct {
		unit float64
		name string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e4, "k"}} {
		if abs >= s.unit*0.9995 {
			if s.name == "k" {
				s.unit = 1e3
			}
			v, suffix = v/s.unit, s.name
			break
		}
	}
	if abs != 0 && abs < 1e-3 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	digits := 2
	switch abs = math.Abs(v); {
	case abs >= 99.95:
		digits = 0
	case abs >= 9.995:
		digits = 1
	case abs < 0.0995 && abs > 0:
		digits = 4
	case abs < 0.995 && abs > 0:
		digits = 3
	}
	s := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s + suffix
}

func finite(values ...float64) bool {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// checkLog says what is wrong with values on a logarithmic axis.
func checkLog(what string, values ...float64) error {
	for _, v := range values {
		if !(v > 0) || math.IsInf(v, 0) {
			return fmt.Errorf("%s: %g cannot stand on a logarithmic axis", what, v)
		}
	}
	return nil
}
