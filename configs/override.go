package configs

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/sarchlab/smsim/configs/strictyaml"
)

// Override replaces one number of an architecture: Key is the dotted path of the YAML key, for
// example "classes.idp.issue_interval", "lsu.l1_latency" or "warp_scheduler".
type Override struct {
	Key, Value string
	From       string // where it was written, for messages: "--set", or a file with line; empty means --set
}

// ParseOverride splits "key=value".
func ParseOverride(text string) (Override, error) {
	k, v, ok := strings.Cut(text, "=")
	o := Override{Key: strings.TrimSpace(k), Value: strings.TrimSpace(v)}
	if !ok || o.Key == "" || o.Value == "" {
		return Override{}, &strictyaml.Error{File: "--set", Pos: strictyaml.Pos{Col: 1}, Width: len(text), Line: text,
			Message: "expected key=value, for example classes.idp.issue_interval=1"}
	}
	return o, nil
}

// String is the override as it is written on the command line, the key alone where it has no value.
func (o Override) String() string {
	if o.Value == "" {
		return o.Key
	}
	return o.Key + "=" + o.Value
}

// errorf is an error with carets under width characters of the override, from (from 0) on.
func (o Override) errorf(from, width int, format string, args ...any) error {
	file := o.From
	if file == "" {
		file = "--set"
	}
	return &strictyaml.Error{File: file, Pos: strictyaml.Pos{Col: from + 1}, Width: width, Line: o.String(), Message: fmt.Sprintf(format, args...)}
}

// fixedKeys cannot be overridden: they say which instruction set the architecture has.
var fixedKeys = []string{"name", "compute_capability", "family", "base"}

// override applies all overrides and those that they imply, then checks the architecture. A fault is put down to the
// override of the key that it is about, or else to the last one.
func (a *Arch) override(overrides []Override) error {
	if len(overrides) == 0 {
		return nil
	}
	a.Followed = a.follow(overrides)
	for _, o := range slices.Concat(overrides, a.Followed) {
		if err := a.apply(o); err != nil {
			return err
		}
	}
	f := check(a)
	if f == nil {
		return nil
	}
	guilty := overrides[len(overrides)-1]
	for _, o := range overrides {
		if a.resolveAlias(o.Key) == f.path {
			guilty = o
		}
	}
	return guilty.errorf(len(guilty.Key)+1, len(guilty.Value), "%s", f.message)
}

// apply sets one key of the architecture and notes the change in a.Overrides.
func (a *Arch) apply(o Override) error {
	o.Key = a.resolveAlias(o.Key)
	if slices.Contains(fixedKeys, o.Key) {
		return o.errorf(0, len(o.Key), "%s cannot be overridden; choose another architecture, or write a file with `base: %s`", o.Key, a.Name)
	}
	if name, ok := a.newPipe(o.Key); ok {
		return a.addPipe(o, name)
	}
	before, err := a.value(o)
	if err != nil {
		return err
	}
	if class, ok := ownPipe(o); ok {
		if o, err = a.addOwnPipe(o, class, before); err != nil {
			return err
		}
	}
	if v, ok := Scaled(o.Value, before); ok {
		o.Value = v
	}
	if err := a.set(o); err != nil {
		return err
	}
	after, err := a.value(o)
	if err != nil {
		return err
	}
	if before != after {
		a.Overrides = append(a.Overrides, o)
		a.markRow(o)
	}
	return nil
}

// newPipe says that the key is pipes.NAME with a name that no pipe has: a pipe to be added.
func (a *Arch) newPipe(key string) (name string, ok bool) {
	name, ok = strings.CutPrefix(key, "pipes.")
	if !ok || name == "" || strings.Contains(name, ".") {
		return "", false
	}
	_, known := a.Pipes[name]
	return name, !known
}

// addPipe adds a pipe like an existing one: pipes.int=fma, then classes.imad.pipe=int gives IMAD a pipe of its own.
func (a *Arch) addPipe(o Override, name string) error {
	row, ok := a.Pipes[o.Value]
	if !ok {
		message := fmt.Sprintf("pipe %q is new; its value is the existing pipe that it is like, and there is no pipe %q", name, o.Value)
		return o.errorf(len(o.Key)+1, len(o.Value), "%s", suggest(message, o.Value, mapKeys(reflect.ValueOf(a.Pipes))))
	}
	row.Origin = Origin{Source: overrideSource, Confidence: Assumed, Note: "set by the user: " + o.String()}
	a.Pipes[name] = row
	a.Overrides = append(a.Overrides, o)
	return nil
}

// OwnPipe as the value of classes.NAME.pipe gives the class a pipe of its own, like the one that it uses.
const OwnPipe = "own"

// ownPipe is the class of classes.NAME.pipe=own.
func ownPipe(o Override) (class string, ok bool) {
	parts := strings.Split(o.Key, ".")
	if len(parts) == 3 && parts[0] == "classes" && parts[2] == "pipe" && o.Value == OwnPipe {
		return parts[1], true
	}
	return "", false
}

// addOwnPipe adds the pipe of a class, named after it, and gives the override that names it.
func (a *Arch) addOwnPipe(o Override, class, present string) (Override, error) {
	first, _, _ := strings.Cut(strings.Trim(present, "[] "), ",")
	name := class
	for n := 2; ; n++ {
		if _, taken := a.Pipes[name]; !taken {
			break
		}
		name = fmt.Sprintf("%s%d", class, n)
	}
	if err := a.addPipe(Override{Key: "pipes." + name, Value: strings.TrimSpace(first), From: o.From}, name); err != nil {
		return o, err
	}
	o.Value = name
	return o, nil
}

// Scaled is the value that x2 or x0.5 stands for, a multiple of the present one; whole numbers stay whole. It is false for other values.
func Scaled(value, present string) (string, bool) {
	factor, ok := strings.CutPrefix(value, "x")
	f, err := strconv.ParseFloat(factor, 64)
	p, err2 := strconv.ParseFloat(present, 64)
	if !ok || err != nil || err2 != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return "", false
	}
	if _, err := strconv.ParseInt(present, 10, 64); err == nil {
		return strconv.FormatFloat(math.Round(f*p), 'f', -1, 64), true
	}
	return strconv.FormatFloat(f*p, 'g', 12, 64), true
}

// markRow gives the row of a table that was changed the provenance of a guess.
func (a *Arch) markRow(o Override) {
	a.setRowOrigin(o.Key, Origin{Source: overrideSource, Confidence: Assumed, Note: "set by the user: " + o.String()})
}

// setRowOrigin gives the row of a table that a key belongs to another provenance, so that a result that rests on it says so; the row's other
// keys keep theirs.
func (a *Arch) setRowOrigin(key string, origin Origin) {
	table, rest, _ := strings.Cut(key, ".")
	name, _, _ := strings.Cut(rest, ".")
	switch table {
	case "classes":
		row := a.Classes[name]
		a.keepOrigin(table+"."+name, row.Origin)
		row.Origin = origin
		a.Classes[name] = row
	case "pipes":
		row := a.Pipes[name]
		a.keepOrigin(table+"."+name, row.Origin)
		row.Origin = origin
		a.Pipes[name] = row
	}
}

// keepOrigin notes the origin that the keys of a row keep which are not changed.
func (a *Arch) keepOrigin(row string, o Origin) {
	if _, known := a.own.rows[row]; !known {
		a.own.rows[row] = o
	}
}

// overrideSource is the source of a value that the user set.
const overrideSource = "override"

// resolveAlias finds the row that pipes.idp.issue_interval, classes.dp4a.latency or classes.IADD3.latency
// means: intervals belong to classes, but people think of "the DP4A unit" and of opcodes.
func (a *Arch) resolveAlias(key string) string {
	parts := strings.Split(key, ".")
	if len(parts) != 3 || parts[0] != "pipes" && parts[0] != "classes" {
		return key
	}
	if _, isPipe := a.Pipes[parts[1]]; parts[0] == "pipes" && isPipe {
		return key
	}
	if c, ok := classAlias(parts[1]); ok {
		if _, has := a.Classes[c.String()]; has {
			return "classes." + c.String() + "." + parts[2]
		}
	}
	return key
}

// set stores the value. Map rows are copied, changed and put back, since Go's map values have no address.
func (a *Arch) set(o Override) error {
	parts := strings.Split(o.Key, ".")
	return walk(reflect.ValueOf(a).Elem(), parts, 0, o, func(v reflect.Value) error {
		text := o.Value
		if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.String && text == "" {
			return o.errorf(0, len(o.Key), "%s: expected %s", o.Key, kindName(v.Type()))
		}
		if err := setScalar(v, text); err != nil {
			return o.errorf(len(o.Key)+1, len(o.Value), "%s: %v", o.Key, err)
		}
		return nil
	})
}

// value reads the current value of the key as text.
func (a *Arch) value(o Override) (string, error) {
	var text string
	err := walk(reflect.ValueOf(a).Elem(), strings.Split(o.Key, "."), 0, o, func(v reflect.Value) error {
		text = formatScalar(v)
		return nil
	})
	return text, err
}

// walk follows parts[i:] below v and calls act on the settable leaf.
func walk(v reflect.Value, parts []string, i int, o Override, act func(reflect.Value) error) error {
	col := 0
	for _, p := range parts[:min(i, len(parts))] {
		col += len(p) + 1
	}
	at := strings.Join(parts[:i], ".")
	switch v.Kind() {
	case reflect.Struct:
		ms := slices.DeleteFunc(members(v.Type()), func(m member) bool { return m.origin })
		if i == len(parts) {
			return o.errorf(0, len(o.Key), "%s is a section; set one of its keys: %s", at, some(memberNames(ms)))
		}
		for _, m := range ms {
			if m.name == parts[i] {
				return walk(v.FieldByIndex(m.index), parts, i+1, o, act)
			}
		}
		return o.errorf(col, len(parts[i]), "%s", unknownKey(parts, i, at, memberNames(ms)))
	case reflect.Map:
		rows := mapKeys(v)
		if i == len(parts) {
			return o.errorf(0, len(o.Key), "%s is a table; set a key of one of its rows: %s", at, some(rows))
		}
		row := v.MapIndex(reflect.ValueOf(parts[i]))
		if c, known := classAlias(parts[i]); !row.IsValid() && known && at == "classes" {
			return o.errorf(col, len(parts[i]), "the architecture has no instruction of class %s", c)
		}
		if !row.IsValid() {
			return o.errorf(col, len(parts[i]), "%s", unknownKey(parts, i, at, rows))
		}
		item := reflect.New(v.Type().Elem()).Elem()
		item.Set(row)
		if err := walk(item, parts, i+1, o, act); err != nil {
			return err
		}
		v.SetMapIndex(reflect.ValueOf(parts[i]), item)
		return nil
	}
	if i < len(parts) {
		return o.errorf(col, len(parts[i]), "%s is a single value and has no key %q", at, parts[i])
	}
	return act(v)
}

func mapKeys(v reflect.Value) []string {
	var keys []string
	for _, k := range v.MapKeys() {
		keys = append(keys, k.String())
	}
	slices.Sort(keys)
	return keys
}

// unknownKey words the message for a key that does not exist; a bare name is searched in all sections.
func unknownKey(parts []string, i int, at string, here []string) string {
	message := fmt.Sprintf("unknown key %q", strings.Join(parts[:i+1], "."))
	if at == "pipes" && len(parts) > 1 {
		return suggest(message+": no such pipe", parts[i], here)
	}
	if len(parts) == 3 && parts[0] == "pipes" && i == 2 && (parts[2] == "issue_interval" || parts[2] == "latency") {
		return fmt.Sprintf("%s; %s belongs to the opcode classes that use the pipe: classes.CLASS.%s", message, parts[2], parts[2])
	}
	if full := leafPaths()[parts[i]]; full != "" && i == 1 && len(parts) == 2 { // right but for its section
		return fmt.Sprintf("%s; did you mean %q?", message, full)
	}
	if n := strictyaml.Nearest(parts[i], here); n != "" && len(parts) > 1 {
		return fmt.Sprintf("%s; did you mean %q?", message, join(at, n))
	}
	if i == 0 {
		paths := leafPaths() // a bare name
		if full := paths[strictyaml.Nearest(parts[len(parts)-1], slices.Sorted(maps.Keys(paths)))]; full != "" {
			return fmt.Sprintf("%s; did you mean %q?", message, full)
		}
	}
	if i > 0 && strictyaml.Nearest(parts[i], here) == "" && len(here) > 0 {
		return fmt.Sprintf("%s; %s has %s (smsim arch show NAME lists all keys)", message, at, some(here))
	}
	return suggest(message, parts[i], here)
}

// leafPaths are the section.key of all keys of sections by their last element.
func leafPaths() map[string]string {
	paths := map[string]string{}
	for _, m := range members(reflect.TypeFor[Arch]()) {
		if m.typ.Kind() != reflect.Struct {
			continue
		}
		for _, leaf := range members(m.typ) {
			if !leaf.origin {
				paths[leaf.name] = m.name + "." + leaf.name
			}
		}
	}
	return paths
}
