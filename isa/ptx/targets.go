package ptx

import (
	"maps"
	"slices"
	"strconv"
)

// targetVersions are the targets of PTX and the version from which each exists, times ten: the .target directive of the PTX document,
// for sm_75 to 120 as ptxas 13.0 has it. Of sm_21 there are only cubins.
var targetVersions = map[int]int{
	10: 10, 11: 10, 12: 12, 13: 12, 20: 20, 21: 20, 30: 30, 32: 40, 35: 31, 37: 41, 50: 40, 52: 41, 53: 42, 60: 50, 61: 50, 62: 50,
	70: 60, 72: 61, 75: 63, 80: 70, 86: 71, 87: 74, 88: 90, 89: 78, 90: 78, 100: 86, 101: 86, 103: 88, 110: 90, 120: 87, 121: 88,
}

// knownTargets lists them: "sm_10, sm_11, ...".
func knownTargets() string {
	s := ""
	for _, n := range slices.Sorted(maps.Keys(targetVersions)) {
		if s != "" {
			s += ", "
		}
		s += "sm_" + strconv.Itoa(n)
	}
	return s
}
