package configs

import (
	_ "embed"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Key is one settable number or word of an architecture.
type Key struct {
	Path  string // "classes.idp.issue_interval"
	Value string // current value, as --set takes it
	Kind  string // "a whole number", "true or false", ...
	Doc   string // what it is, with its unit; times are SM cycles unless it says otherwise
	Origin
}

// Keys lists every key that an override can set, in file order, rows of a table by name. A key that
// was overridden has source "override" and confidence assumed; what stays keeps its origin.
func (a *Arch) Keys() []Key {
	var keys []Key
	collect(reflect.ValueOf(a).Elem(), "", a.SM.Origin, &keys)
	for i := range keys {
		keys[i].Origin = a.own.of(keys[i].Path, keys[i].Origin)
	}
	keys = slices.DeleteFunc(keys, func(k Key) bool { return slices.Contains(fixedKeys, k.Path) })
	for i := range keys {
		for _, o := range a.Overrides {
			if o.Key == keys[i].Path {
				keys[i].Origin = Origin{Source: overrideSource, Confidence: Assumed, Note: "set by the user"}
			}
		}
	}
	return keys
}

func collect(v reflect.Value, path string, origin Origin, keys *[]Key) {
	t := v.Type()
	if f := v.FieldByName("Origin"); f.IsValid() && f.Type() == originType {
		origin = f.Interface().(Origin)
	}
	for _, m := range members(t) {
		if m.origin {
			continue
		}
		f, p := v.FieldByIndex(m.index), join(path, m.name)
		switch f.Kind() {
		case reflect.Struct:
			collect(f, p, origin, keys)
		case reflect.Map:
			for _, k := range mapKeys(f) {
				collect(f.MapIndex(reflect.ValueOf(k)), p+"."+k, origin, keys)
			}
		default:
			*keys = append(*keys, Key{Path: p, Value: formatScalar(f), Kind: kindName(f.Type()), Doc: fieldDocs()[m.owner], Origin: origin})
		}
	}
}

// OriginOf is the provenance of the value at a dotted path; ok is false when there is no such key.
func (a *Arch) OriginOf(path string) (o Origin, ok bool) {
	for _, k := range a.Keys() {
		if k.Path == path {
			return k.Origin, true
		}
	}
	return Origin{}, false
}

// KeyOf is the key that a user's spelling stands for (pipes.idp.issue_interval is classes.idp.issue_interval), with its
// current value. The error is that of an override with the key.
func (a *Arch) KeyOf(spelling string) (Key, error) {
	o := Override{Key: a.resolveAlias(spelling)}
	if _, err := a.value(o); err != nil {
		return Key{}, err
	}
	for _, k := range a.Keys() {
		if k.Path == o.Key {
			return k, nil
		}
	}
	return Key{}, o.errorf(0, len(o.Key), "%s cannot be overridden", o.Key)
}

//go:embed arch.go
var archSource string

// fieldDocs reads the comments beside the struct fields of arch.go, so that what `smsim arch show`
// prints and what a programmer reads is one text. Keys are "Struct.Field".
var fieldDocs = sync.OnceValue(func() map[string]string {
	docs := map[string]string{}
	file, err := parser.ParseFile(token.NewFileSet(), "arch.go", archSource, parser.ParseComments)
	if err != nil {
		panic("configs: embedded arch.go: " + err.Error())
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		s, ok := spec.Type.(*ast.StructType)
		if !ok {
			return true
		}
		lead := ""
		for _, f := range s.Fields.List {
			if f.Doc != nil {
				lead = f.Doc.Text() // also of the fields below it that have no comment of their own
			}
			text := lead
			if f.Comment != nil {
				text, lead = f.Comment.Text(), ""
			}
			for _, name := range f.Names {
				docs[spec.Name.Name+"."+name.Name] = strings.TrimSpace(text)
			}
		}
		return true
	})
	return docs
})
