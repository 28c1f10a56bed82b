package configs

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sarchlab/smsim/isa"
)

//go:embed architectures/*.yaml families/*.yaml boards.yaml
var files embed.FS

// List names the architectures that come with smsim, oldest first: "sm_10" ... "sm_121".
func List() []string {
	entries, err := fs.ReadDir(files, "architectures")
	if err != nil {
		panic("configs: embedded architectures: " + err.Error())
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(number(a), number(b)) })
	return names
}

func number(name string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(name, "sm_"))
	return n
}

var capabilityForm = regexp.MustCompile(`^(?:sm_?|compute_?|cc ?)?(\d+)(?:\.(\d))?[af]?$`)

// nameOf turns the ways people write a compute capability (sm_86, 8.6, 86, sm_90a) into "sm_86".
func nameOf(text string) (string, bool) {
	m := capabilityForm.FindStringSubmatch(strings.ToLower(strings.TrimSpace(text)))
	if m == nil {
		return "", false
	}
	return "sm_" + m[1] + m[2], true
}

// Load reads an architecture: one of [List] in any usual spelling (sm_86, 8.6, 86), or the path of a
// YAML file of the user, usually with a `base:`. It checks the result, applies the overrides in order
// and checks again when all are in. Errors are [*Error] with position and suggestion.
func Load(nameOrPath string, overrides []Override) (*Arch, error) {
	tree, own, err := loadTree(nameOrPath)
	if err != nil {
		return nil, err
	}
	a := &Arch{own: own}
	if err := decode(tree, reflect.ValueOf(a).Elem(), ""); err != nil {
		return nil, err
	}
	if missing := checkPresent(tree, reflect.TypeFor[Arch](), ""); missing != "" {
		return nil, located(tree, &fault{missing, missing + " is missing; every number of the model must be given, here or in the base"})
	}
	if f := check(a); f != nil {
		return nil, located(tree, f)
	}
	if err := a.override(overrides); err != nil {
		return nil, err
	}
	return a, nil
}

// located gives a fault a position: the value that causes it when the user's file (the one read first)
// gives it, else the closest key above it in that file, else the value in the base.
func located(tree *node, f *fault) error {
	var at, own *field
	whole, n := true, tree
	for _, k := range strings.Split(f.path, ".") {
		if n.kind != mapNode || n.fields[k] == nil {
			whole = false
			break
		}
		at = n.fields[k]
		if n = at.value; at.src == tree.src {
			own = at
		}
	}
	switch {
	case at == nil:
		return tree.src.errorAt(0, 0, 0, "%s", f.message)
	case own != nil && own != at:
		return own.errorf("%s", f.message)
	case whole && at.value.kind == scalarNode:
		return at.value.errorf("%s", f.message)
	}
	return at.errorf("%s", f.message)
}

// loadTree reads the file of an architecture and lays it over its base. Rows that only the base has
// and that speak of opcodes the target lacks are dropped.
func loadTree(nameOrPath string) (*node, provenance, error) {
	tree, err := readTree(nameOrPath)
	if err != nil {
		return nil, provenance{}, err
	}
	top := tree.src
	var below *node // all bases
	for base := tree.fields["base"]; base != nil; {
		next, err := readBase(base)
		if err != nil {
			return nil, provenance{}, err
		}
		base = next.fields["base"]
		if below == nil {
			below = next
		} else {
			below = merge(next, below)
		}
	}
	own := provenance{map[string]Origin{}, map[string]Origin{}}
	if !strings.HasPrefix(top.name, "architectures/") {
		if own, err = takeOrigins(tree, below); err != nil {
			return nil, own, err
		}
	}
	tree = merge(below, tree)
	if tree.fields["name"] == nil {
		stem := strings.TrimSuffix(filepath.Base(top.name), filepath.Ext(top.name))
		tree.setDefault("name", stem)
	} else if f := tree.fields["name"]; f.src != top {
		f.value = &node{src: top, line: 1, col: 1, text: strings.TrimSuffix(filepath.Base(top.name), filepath.Ext(top.name))}
	}
	return tree, own, dropForeignClasses(tree, top)
}

func (n *node) setDefault(key, text string) {
	n.keys = append(n.keys, key)
	n.fields[key] = &field{src: n.src, line: n.line, col: n.col, name: key, value: &node{src: n.src, line: n.line, col: n.col, text: text}}
}

func readTree(nameOrPath string) (*node, error) {
	if name, ok := nameOf(nameOrPath); ok {
		path := "architectures/" + name + ".yaml"
		if text, err := files.ReadFile(path); err == nil {
			return parseDocument(path, text)
		}
		return nil, &Error{File: nameOrPath, Message: fmt.Sprintf("no architecture %s; known: %s", name, strings.Join(List(), ", "))}
	}
	ext := strings.ToLower(filepath.Ext(nameOrPath))
	if ext != ".yaml" && ext != ".yml" && !strings.ContainsAny(nameOrPath, `/\`) {
		return nil, &Error{File: nameOrPath, Message: suggest("not an architecture and not a .yaml file", nameOrPath, List()) +
			"; architectures are written sm_86, 8.6 or 86"}
	}
	text, err := os.ReadFile(nameOrPath)
	if err != nil {
		return nil, &Error{File: nameOrPath, Message: "cannot read the architecture file: " + reason(err)}
	}
	return parseDocument(nameOrPath, bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))) // some editors put a byte order mark before UTF-8
}

// markAssumed adds the provenance that a row lacks.
func (n *node) markAssumed() {
	if n.kind != mapNode || n.fields["confidence"] != nil {
		return
	}
	n.setDefault("confidence", string(Assumed))
	if n.fields["source"] == nil {
		n.setDefault("source", n.src.name)
	}
}

func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// readBase reads the file that a `base:` names: an architecture or a family of smsim. A family has no
// base itself, so a chain has at most three files: the user's, an architecture, its family.
func readBase(base *field) (*node, error) {
	name := strings.TrimSuffix(base.value.text, ".yaml")
	if arch, ok := nameOf(name); ok {
		if text, err := files.ReadFile("architectures/" + arch + ".yaml"); err == nil {
			if strings.HasPrefix(base.src.name, "architectures/") {
				return nil, base.value.errorf("an architecture builds on a family, not on %s", arch)
			}
			return parseDocument("architectures/"+arch+".yaml", text)
		}
	}
	known := append(List(), Families()...)
	if arch, ok := nameOf(name); ok {
		return nil, base.value.errorf("no architecture %s; known: %s", arch, strings.Join(List(), ", "))
	}
	if slices.Contains(known, name) {
		text, err := files.ReadFile(name + ".yaml")
		if err != nil {
			return nil, base.value.errorf("cannot read %s: %s", name, reason(err))
		}
		tree, err := parseDocument(name+".yaml", text)
		if err == nil && tree.fields["base"] != nil {
			err = tree.fields["base"].errorf("a family has no base")
		}
		return tree, err
	}
	if base.value.kind != scalarNode || base.value.text == "" {
		return nil, base.errorf("base must name one architecture (sm_90) or family (families/volta)")
	}
	return nil, base.value.errorf("%s", suggest(fmt.Sprintf("no base %q", name), name, known))
}

// Families names the family files that an architecture can build on: "families/ampere" ...
func Families() []string {
	entries, err := fs.ReadDir(files, "families")
	if err != nil {
		panic("configs: embedded families: " + err.Error())
	}
	var names []string
	for _, e := range entries {
		names = append(names, "families/"+strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// dropForeignClasses removes the class rows that the base has for other targets of its family. A row
// for a class the target lacks is an error when the file itself writes it: it would have no effect.
func dropForeignClasses(tree *node, top *source) error {
	classes, capability := tree.fields["classes"], tree.fields["compute_capability"]
	if classes == nil || classes.value.kind != mapNode || capability == nil {
		return nil
	}
	sm, ok := smNumber(capability.value.text)
	if !ok {
		return capability.value.errorf("compute_capability: expected major.minor such as \"8.6\", found %q", capability.value.text)
	}
	onTarget := targetClasses(sm)
	rows := classes.value
	var keep []string
	for _, k := range rows.keys {
		c, known := isa.ClassByName(k)
		f := rows.fields[k]
		switch {
		case !known:
			message := fmt.Sprintf("unknown opcode class %q", k)
			if c, ok := classAlias(k); ok {
				return f.errorf("%s; did you mean %q?", message, c.String())
			}
			return f.errorf("%s", suggest(message, k, allClassNames()))
		case onTarget[c]:
			keep = append(keep, k)
		case f.src == top && !strings.HasPrefix(top.name, "families/"):
			return f.errorf("compute capability %s has no opcode of class %s; remove the row", capability.value.text, k)
		default:
			delete(rows.fields, k)
		}
	}
	rows.keys = keep
	return nil
}

// smNumber is 86 for "8.6".
func smNumber(capability string) (int, bool) {
	major, minor, ok := strings.Cut(capability, ".")
	a, err1 := strconv.Atoi(major)
	b, err2 := strconv.Atoi(minor)
	if !ok || err1 != nil || err2 != nil || a < 1 || b < 0 || b > 9 {
		return 0, false
	}
	return a*10 + b, true
}
