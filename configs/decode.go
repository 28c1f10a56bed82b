package configs

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// originType is the provenance that rows and sections embed; its keys are not model values.
var originType = reflect.TypeFor[Origin]()

// member is a key of a struct that files can set.
type member struct {
	name     string // YAML key
	index    []int  // for reflect.Value.FieldByIndex
	owner    string // Go struct and field, for the description
	typ      reflect.Type
	optional bool
	origin   bool // source, confidence or note
}

// members lists the keys of a struct in declaration order, embedded structs flattened.
func members(t reflect.Type) []member {
	var out []member
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("yaml")
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case f.Anonymous && options == "inline":
			for _, m := range members(f.Type) {
				m.index = append([]int{i}, m.index...)
				out = append(out, m)
			}
		case name == "" || name == "-":
		default:
			out = append(out, member{name: name, index: []int{i}, owner: t.Name() + "." + f.Name, typ: f.Type,
				optional: strings.Contains(options, "omitempty"), origin: t == originType})
		}
	}
	return out
}

func memberNames(ms []member) []string {
	names := make([]string, len(ms))
	for i, m := range ms {
		names[i] = m.name
	}
	return names
}

// decode fills v from n and rejects keys that v does not have and values of another kind.
// path is the dotted path of v, for messages.
func decode(n *node, v reflect.Value, path string) error {
	switch v.Kind() {
	case reflect.Struct:
		return decodeStruct(n, v, path)
	case reflect.Map:
		if n.kind != mapNode {
			return n.errorf("%s: expected a map of keys, found %s", path, n.kind)
		}
		v.Set(reflect.MakeMap(v.Type()))
		for _, k := range n.keys {
			f := n.fields[k]
			item := reflect.New(v.Type().Elem()).Elem()
			if f.value.null {
				return f.errorf("%s.%s has no value", path, k)
			}
			if err := decode(f.value, item, path+"."+k); err != nil {
				return err
			}
			v.SetMapIndex(reflect.ValueOf(k), item)
		}
		return nil
	case reflect.Slice:
		items := n.items
		if n.kind == scalarNode && !n.null {
			items = []*node{n}
		} else if n.kind != listNode {
			return n.errorf("%s: expected a list, found %s", path, n.kind)
		}
		s := reflect.MakeSlice(v.Type(), len(items), len(items))
		for i, item := range items {
			if err := decode(item, s.Index(i), path); err != nil {
				return err
			}
		}
		v.Set(s)
		return nil
	}
	if n.kind != scalarNode || n.null {
		found := n.kind.String()
		if n.null {
			found = "nothing"
		}
		return n.errorf("%s: expected %s, found %s", path, kindName(v.Type()), found)
	}
	if err := setScalar(v, n.text); err != nil {
		return n.errorf("%s: %v", path, err)
	}
	return nil
}

func decodeStruct(n *node, v reflect.Value, path string) error {
	if n.kind != mapNode {
		return n.errorf("%s: expected a map of keys, found %s", path, n.kind)
	}
	ms := members(v.Type())
	byName := map[string]member{}
	for _, m := range ms {
		byName[m.name] = m
	}
	for _, k := range n.keys {
		f := n.fields[k]
		m, ok := byName[k]
		if !ok {
			where := ""
			if path != "" {
				where = " in " + path
			}
			return f.errorf("%s", suggest(fmt.Sprintf("unknown key %q%s", k, where), k, memberNames(ms)))
		}
		if f.value.null {
			return f.errorf("%s has no value", join(path, k))
		}
		if err := decode(f.value, v.FieldByIndex(m.index), join(path, k)); err != nil {
			return err
		}
	}
	return nil
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// kindName says in words what a value of the type looks like.
func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list of " + strings.TrimPrefix(strings.TrimPrefix(kindName(t.Elem()), "a "), "whole ") + "s"
	}
	return "text"
}

// setScalar stores text into v, which is an int, float64, bool, string, or a slice of these written
// with commas. Numbers may have underscores between digits.
func setScalar(v reflect.Value, text string) error {
	switch v.Kind() {
	case reflect.Int:
		i, err := strconv.Atoi(strings.ReplaceAll(text, "_", ""))
		if err != nil {
			return fmt.Errorf("expected a whole number, found %q", text)
		}
		v.SetInt(int64(i))
	case reflect.Float64:
		f, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("expected a number, found %q", text)
		}
		v.SetFloat(f)
	case reflect.Bool:
		switch text {
		case "true", "false":
			v.SetBool(text == "true")
		default:
			return fmt.Errorf("expected true or false, found %q", text)
		}
	case reflect.String:
		v.SetString(text)
	case reflect.Slice:
		var parts []string
		if trimmed := strings.Trim(strings.TrimSpace(text), "[]"); trimmed != "" {
			parts = strings.Split(trimmed, ",")
		}
		s := reflect.MakeSlice(v.Type(), len(parts), len(parts))
		for i, p := range parts {
			if err := setScalar(s.Index(i), strings.TrimSpace(p)); err != nil {
				return err
			}
		}
		v.Set(s)
	default:
		panic("configs: no scalar form for " + v.Type().String())
	}
	return nil
}

// formatScalar is the inverse of setScalar.
func formatScalar(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Slice:
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = formatScalar(v.Index(i))
		}
		return strings.Join(parts, ",")
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	}
	return fmt.Sprint(v.Interface())
}

// checkPresent reports the first key of a struct type that the document leaves out. Numbers and texts
// must be written, so that an incomplete model cannot load; switches and lists may be absent.
func checkPresent(n *node, t reflect.Type, path string) (missing string) {
	for _, m := range members(t) {
		p := join(path, m.name)
		f := n.fields[m.name]
		switch {
		case f == nil && (m.optional || m.typ.Kind() == reflect.Bool || m.typ.Kind() == reflect.Slice):
		case f == nil:
			return p
		case m.typ.Kind() == reflect.Struct:
			if s := checkPresent(f.value, m.typ, p); s != "" {
				return s
			}
		case m.typ.Kind() == reflect.Map:
			for _, k := range slices.Sorted(maps.Keys(f.value.fields)) {
				if s := checkPresent(f.value.fields[k].value, m.typ.Elem(), p+"."+k); s != "" {
					return s
				}
			}
		}
	}
	return ""
}
