package configs

import (
	"slices"
	"strings"
)

// provenance is what a user's file or --set changed in an architecture: the origin of the single keys that were given, and
// the origin that the rest of a changed row of a table (classes.idp) had before, since the row itself then counts as a guess.
type provenance struct {
	keys map[string]Origin
	rows map[string]Origin
}

// originKeys are the keys that say where a number comes from.
var originKeys = []string{"source", "confidence", "note"}

// takeOrigins takes the origins out of the sections of a user's file that its base has too: they hold for the keys that
// the file gives, and the base's for the rest. Rows of tables get an origin of their own, a guess if the file gives none.
func takeOrigins(tree, below *node) (provenance, error) {
	p := provenance{map[string]Origin{}, map[string]Origin{}}
	for _, k := range tree.keys {
		section := tree.fields[k].value
		if section.kind != mapNode {
			continue
		}
		if k != "classes" && k != "pipes" {
			old := below.child(k)
			if old == nil || old.kind != mapNode {
				section.markAssumed()
				continue
			}
			o, err := section.ownOrigin(k)
			if err != nil {
				return p, err
			}
			section.dropOrigin()
			p.note(k, section, o)
			continue
		}
		for _, name := range section.keys {
			row, path := section.fields[name].value, k+"."+name
			old := below.child(k).child(name)
			if row.kind == mapNode && old != nil && old.kind == mapNode {
				o, err := row.ownOrigin(path)
				if err != nil {
					return p, err
				}
				p.note(path, row, o)
				p.rows[path] = old.origin()
			}
			row.markAssumed()
		}
	}
	return p, nil
}

// note records the origin of the keys that a section or row gives.
func (p *provenance) note(path string, section *node, o Origin) {
	for _, leaf := range section.keys {
		if !slices.Contains(originKeys, leaf) {
			p.keys[path+"."+leaf] = o
		}
	}
}

// child is the value of a key, nil if there is none.
func (n *node) child(key string) *node {
	if n == nil || n.kind != mapNode || n.fields[key] == nil {
		return nil
	}
	return n.fields[key].value
}

// origin is what the keys of a section say of where it comes from.
func (n *node) origin() Origin {
	text := func(key string) string {
		if c := n.child(key); c != nil {
			return c.text
		}
		return ""
	}
	return Origin{Source: text("source"), Confidence: Confidence(text("confidence")), Note: text("note")}
}

// ownOrigin is the origin that a user's section gives, completed as a guess of the file.
func (n *node) ownOrigin(path string) (Origin, error) {
	o := n.origin()
	for _, key := range originKeys[:2] {
		if c := n.child(key); c != nil {
			if f := checkOrigin(key, c.text, path+"."+key); f != nil {
				return o, c.errorf("%s", f.message)
			}
		}
	}
	if o.Source == "" {
		o.Source = n.src.name
	}
	if o.Confidence == "" {
		o.Confidence = Assumed
	}
	return o, nil
}

// dropOrigin takes the origin out of a section.
func (n *node) dropOrigin() {
	for _, k := range originKeys {
		delete(n.fields, k)
	}
	n.keys = slices.DeleteFunc(n.keys, func(k string) bool { return slices.Contains(originKeys, k) })
}

// of is the origin of a key whose section or row has the given one.
func (p *provenance) of(path string, o Origin) Origin {
	if own, ok := p.keys[path]; ok {
		return own
	}
	if i := strings.LastIndexByte(path, '.'); i > 0 {
		if before, ok := p.rows[path[:i]]; ok {
			return before
		}
	}
	return o
}
