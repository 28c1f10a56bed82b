package strictyaml

import "slices"

// Overlay lays one node over another, of the same or of another file: mappings are merged key by key, in the order of
// base with new keys last; anything else is replaced. Every value keeps its place, so that a fault found late still
// points at the line that holds it. Neither argument is changed.
func Overlay(base, over Node) Node {
	if base.Kind != Mapping || over.Kind != Mapping {
		return over
	}
	out := over
	out.Pairs = slices.Clone(base.Pairs)
	for _, p := range over.Pairs {
		if i := out.index(p.Key); i >= 0 {
			out.Pairs[i] = Pair{p.Key, p.At, Overlay(out.Pairs[i].Value, p.Value)}
		} else {
			out.Pairs = append(out.Pairs, p)
		}
	}
	return out
}

// With is the mapping with a key set to another value.
func (n Node) With(key string, value Node) Node {
	n.Pairs = slices.Clone(n.Pairs)
	if i := n.index(key); i >= 0 {
		n.Pairs[i].Value = value
	} else {
		n.Pairs = append(n.Pairs, Pair{key, n.Pos, value})
	}
	return n
}

// Without is the mapping without some keys.
func (n Node) Without(keys ...string) Node {
	n.Pairs = slices.DeleteFunc(slices.Clone(n.Pairs), func(p Pair) bool { return slices.Contains(keys, p.Key) })
	return n
}

// StringAt is a string at the place of a node, for what a file implies without saying it.
func StringAt(place Node, text string) Node {
	return Node{src: place.src, Kind: String, Pos: place.Pos, Text: text}
}
