package configs

import (
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// WriteYAML writes the architecture as a file that [Load] reads again to the same numbers with the same sources: a start for an
// architecture of one's own. It is complete and has no base; its name is that of the file it is kept in. With a filter it is
// the differing kind of file instead: `base:` and the keys that contain the text, which count as assumed then, since they are there to
// be changed.
func (a *Arch) WriteYAML(w io.Writer, filter string) error {
	y := &yamlWriter{filter: filter}
	if filter == "" {
		y.printf("# The numbers of %s, complete, as smsim has them. A number that you change is no longer what its source says:\n", a.Name)
		y.printf("# it counts as assumed unless you change source and confidence beside it, too. Shorter: `base: %s` and only what differs.\n", a.Name)
		for _, k := range []struct{ key, value string }{{"compute_capability", a.ComputeCapability}, {"family", a.Family}, {"board", a.Board}, {"warp_scheduler", a.WarpScheduler}} {
			y.printf("%s: %s\n", k.key, quoted(k.value))
		}
	} else {
		base := a.Name
		if !slices.Contains(List(), base) {
			base = a.Base
		}
		y.printf("# Keys of %s that contain %q. What is not here is as in the base.\nbase: %s\n", a.Name, filter, base)
		if strings.Contains("warp_scheduler", filter) {
			y.printf("warp_scheduler: %s\n", a.WarpScheduler)
		}
	}
	v := reflect.ValueOf(a).Elem()
	for _, m := range members(v.Type()) {
		switch f := v.FieldByIndex(m.index); f.Kind() {
		case reflect.Struct:
			y.section(m.name, f)
		case reflect.Map:
			y.table(m.name, f)
		}
	}
	_, err := io.WriteString(w, y.text.String())
	return err
}

type yamlWriter struct {
	filter string
	text   strings.Builder
}

func (y *yamlWriter) printf(format string, args ...any) { fmt.Fprintf(&y.text, format, args...) }

// wanted says that the filter lets a key through.
func (y *yamlWriter) wanted(path string) bool { return strings.Contains(path, y.filter) }

// section writes a section, a key a line with its meaning.
func (y *yamlWriter) section(name string, v reflect.Value) {
	begun := false
	for _, m := range members(v.Type()) {
		f := v.FieldByIndex(m.index)
		if y.filter != "" && m.origin || !y.wanted(name+"."+m.name) && !m.origin || left(m, f) && y.filter == "" {
			continue
		}
		if !begun {
			y.printf("\n%s:\n", name)
			begun = true
		}
		line := fmt.Sprintf("  %s: %s", m.name, yamlValue(f))
		if doc := fieldDocs()[m.owner]; doc != "" && !m.origin {
			line = fmt.Sprintf("%-36s # %s", line, strings.Join(strings.Fields(doc), " "))
		}
		y.printf("%s\n", line)
	}
}

// table writes the rows of a table, a row a line.
func (y *yamlWriter) table(name string, v reflect.Value) {
	begun := false
	for _, row := range mapKeys(v) {
		r := v.MapIndex(reflect.ValueOf(row))
		var parts []string
		var origins []string
		for _, m := range members(r.Type()) {
			f := r.FieldByIndex(m.index)
			part := m.name + ": " + yamlValue(f)
			switch {
			case m.origin && y.filter == "" && !left(m, f):
				origins = append(origins, part)
			case m.origin, left(m, f), !y.wanted(name + "." + row + "." + m.name):
			default:
				parts = append(parts, part)
			}
		}
		if len(parts) == 0 {
			continue
		}
		if !begun {
			y.printf("\n%s:\n", name)
			begun = true
		}
		y.printf("  %s: {%s}\n", row, strings.Join(append(parts, origins...), ", "))
	}
}

// left says that a key can be left out: it is optional, a switch or a list, and has the value that it has when it is not there.
func left(m member, v reflect.Value) bool {
	return (m.optional || v.Kind() == reflect.Bool || v.Kind() == reflect.Slice) && (v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0)
}

func yamlValue(v reflect.Value) string {
	switch v.Kind() {
	case reflect.String:
		return quoted(v.String())
	case reflect.Slice:
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = yamlValue(v.Index(i))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return formatScalar(v)
}

// plainText is text that means itself in YAML without quotes.
var plainText = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

func quoted(s string) string {
	if plainText.MatchString(s) && s != "true" && s != "false" && s != "null" {
		return s
	}
	return strconv.Quote(s)
}
