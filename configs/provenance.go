package configs

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sarchlab/smsim/configs/strictyaml"
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
func takeOrigins(tree, below strictyaml.Node) (strictyaml.Node, provenance, error) {
	p := provenance{map[string]Origin{}, map[string]Origin{}}
	for _, s := range tree.Pairs {
		section, old := s.Value, child(below, s.Key)
		if section.Kind != strictyaml.Mapping {
			continue
		}
		if s.Key == "classes" || s.Key == "pipes" {
			rows, err := p.takeRows(s.Key, section, old)
			if err != nil {
				return tree, p, err
			}
			tree = tree.With(s.Key, rows)
			continue
		}
		if old.Kind != strictyaml.Mapping {
			tree = tree.With(s.Key, markAssumed(section))
			continue
		}
		o, err := ownOrigin(section, s.Key)
		if err != nil {
			return tree, p, err
		}
		section = section.Without(originKeys...)
		p.note(s.Key, section, o)
		tree = tree.With(s.Key, section)
	}
	return tree, p, nil
}

// takeRows does the same for the rows of a table.
func (p *provenance) takeRows(table string, rows, old strictyaml.Node) (strictyaml.Node, error) {
	for _, r := range rows.Pairs {
		path, before := table+"."+r.Key, child(old, r.Key)
		if r.Value.Kind == strictyaml.Mapping && before.Kind == strictyaml.Mapping {
			o, err := ownOrigin(r.Value, path)
			if err != nil {
				return rows, err
			}
			p.note(path, r.Value, o)
			p.rows[path] = originOf(before)
		}
		rows = rows.With(r.Key, markAssumed(r.Value))
	}
	return rows, nil
}

// note records the origin of the keys that a section or row gives.
func (p *provenance) note(path string, section strictyaml.Node, o Origin) {
	for _, leaf := range section.Pairs {
		if !slices.Contains(originKeys, leaf.Key) {
			p.keys[path+"."+leaf.Key] = o
		}
	}
}

// child is the value of a key, empty if there is none.
func child(n strictyaml.Node, key string) strictyaml.Node {
	c, _ := n.Get(key)
	return c
}

// markAssumed adds the provenance that a row lacks.
func markAssumed(row strictyaml.Node) strictyaml.Node {
	if _, given := row.Get("confidence"); given || row.Kind != strictyaml.Mapping {
		return row
	}
	row = row.With("confidence", strictyaml.StringAt(row, string(Assumed)))
	if _, given := row.Get("source"); !given {
		row = row.With("source", strictyaml.StringAt(row, row.File()))
	}
	return row
}

// originOf is what the keys of a section say of where it comes from.
func originOf(n strictyaml.Node) Origin {
	return Origin{Source: child(n, "source").Text, Confidence: Confidence(child(n, "confidence").Text), Note: child(n, "note").Text}
}

// ownOrigin is the origin that a user's section gives, completed as a guess of the file.
func ownOrigin(n strictyaml.Node, path string) (Origin, error) {
	o := originOf(n)
	for _, key := range originKeys[:2] {
		if c, given := n.Get(key); given {
			if f := checkOrigin(key, c.Text, path+"."+key); f != nil {
				return o, c.Errorf("%s", f.message)
			}
		}
	}
	if o.Source == "" {
		o.Source = n.File()
	}
	if o.Confidence == "" {
		o.Confidence = Assumed
	}
	return o, nil
}

// disown takes the origin from the numbers of a user's file that differ from those of the architecture with its compute capability and
// yet name the same source: a file begun as a copy (smsim arch show --format yaml), in which a number was changed and not the source
// beside it. They count as assumed.
func (a *Arch) disown(file string) error {
	ref, err := Load(a.ComputeCapability, nil)
	if err != nil {
		return err
	}
	was := map[string]Key{}
	for _, k := range ref.Keys() {
		was[k.Path] = k
	}
	for _, k := range a.Keys() {
		old, known := was[k.Path]
		if !known || k.Value == old.Value || k.Origin != old.Origin || k.Confidence == Assumed {
			continue
		}
		o := Origin{Source: file, Confidence: Assumed, Note: fmt.Sprintf("%s in %s, from where the file has its source", old.Value, ref.Name)}
		a.own.keys[k.Path] = o
		a.Disowned = append(a.Disowned, k.Path)
		a.setRowOrigin(k.Path, o)
	}
	return nil
}

// OwnGuesses are the keys, sorted, that the user's file or an override gave a value that counts as assumed.
func (a *Arch) OwnGuesses() []string {
	guesses := map[string]bool{}
	for path, o := range a.own.keys {
		if o.Confidence == Assumed {
			guesses[path] = true
		}
	}
	for _, o := range a.Overrides {
		guesses[o.Key] = true
	}
	return slices.Sorted(maps.Keys(guesses))
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
