package configs

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/sarchlab/smsim/configs/strictyaml"
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
		name, rest, _ := strings.Cut(tag, ",")
		options := strings.Split(rest, ",")
		switch {
		case f.Anonymous && slices.Contains(options, "inline"):
			for _, m := range members(f.Type) {
				m.index = append([]int{i}, m.index...)
				out = append(out, m)
			}
		case name == "" || name == "-":
		default:
			out = append(out, member{name: name, index: []int{i}, owner: t.Name() + "." + f.Name, typ: f.Type,
				optional: slices.Contains(options, "optional"), origin: t == originType})
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
		if errors.Is(err, strconv.ErrRange) {
			return fmt.Errorf("%s is too large", text)
		}
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

// missingKey is the path of the first key of a struct type that the document leaves out, "" if there is none. Numbers and texts
// must be written, so that an incomplete model cannot load; switches and lists may be absent.
func missingKey(n strictyaml.Node, t reflect.Type, path string) string {
	for _, m := range members(t) {
		p := join(path, m.name)
		value, given := n.Get(m.name)
		switch {
		case !given && (m.optional || m.typ.Kind() == reflect.Bool || m.typ.Kind() == reflect.Slice):
		case !given:
			return p
		case m.typ.Kind() == reflect.Struct:
			if s := missingKey(value, m.typ, p); s != "" {
				return s
			}
		case m.typ.Kind() == reflect.Map:
			rows := slices.SortedFunc(slices.Values(value.Pairs), func(a, b strictyaml.Pair) int { return strings.Compare(a.Key, b.Key) })
			for _, row := range rows {
				if s := missingKey(row.Value, m.typ.Elem(), p+"."+row.Key); s != "" {
					return s
				}
			}
		}
	}
	return ""
}
