package configs

import (
	"cmp"
	"slices"
)

// Difference is a key whose value differs between two architectures; a side that lacks the row is nil.
type Difference struct {
	Path string
	A, B *Key
}

// Diff lists the keys in which two architectures differ, in the order of the first; rows that only the
// second has come last.
func Diff(a, b *Arch) []Difference {
	keysA, keysB := a.Keys(), b.Keys()
	inB := make(map[string]*Key, len(keysB))
	for i := range keysB {
		inB[keysB[i].Path] = &keysB[i]
	}
	var out []Difference
	for i := range keysA {
		k := &keysA[i]
		other := inB[k.Path]
		delete(inB, k.Path)
		if other == nil || other.Value != k.Value {
			out = append(out, Difference{k.Path, k, other})
		}
	}
	var rest []Difference
	for path, k := range inB {
		rest = append(rest, Difference{path, nil, k})
	}
	slices.SortFunc(rest, func(x, y Difference) int { return cmp.Compare(x.Path, y.Path) })
	return append(out, rest...)
}
