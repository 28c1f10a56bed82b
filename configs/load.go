package configs

import (
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

	"github.com/sarchlab/smsim/configs/strictyaml"
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
// YAML file of the user, usually with a `base:`. A number of such a file that is not that of the target's own architecture, but names the
// same source, counts as assumed. Load checks the result, applies the overrides in order
// and those that they imply ([Arch.Followed]), and checks again when all are in. Errors are [*strictyaml.Error] with position and suggestion.
func Load(nameOrPath string, overrides []Override) (*Arch, error) {
	tree, own, err := loadTree(nameOrPath)
	if err != nil {
		return nil, err
	}
	a := &Arch{own: own}
	if err := tree.Decode(a); err != nil {
		return nil, err
	}
	if missing := missingKey(tree, reflect.TypeFor[Arch](), ""); missing != "" {
		return nil, located(tree, &fault{missing, missing + " is missing; every number of the model must be given, here or in the base"})
	}
	if f := check(a); f != nil {
		return nil, located(tree, f)
	}
	if _, bundled := nameOf(nameOrPath); !bundled {
		if err := a.disown(tree.File()); err != nil {
			return nil, err
		}
	}
	if err := a.override(overrides); err != nil {
		return nil, err
	}
	return a, nil
}

// located gives a fault a position: the value that causes it when the user's file (the one read first)
// gives it, else the closest key above it in that file, else the value in the base.
func located(tree strictyaml.Node, f *fault) error {
	keys := strings.Split(f.path, ".")
	var path []strictyaml.Pair // as much of it as the document has
	own := -1                  // the last of it that the user's file gives
	for n := tree; len(path) < len(keys); {
		p, ok := n.Find(keys[len(path)])
		if !ok {
			break
		}
		if n = p.Value; n.SameFile(tree) {
			own = len(path)
		}
		path = append(path, p)
	}
	last := len(path) - 1
	switch {
	case last < 0:
		return &strictyaml.Error{File: tree.File(), Message: f.message}
	case own >= 0 && own < last:
		return path[own].Errorf("%s", f.message)
	case len(path) == len(keys) && path[last].Value.IsScalar():
		return path[last].Value.Errorf("%s", f.message)
	}
	return path[last].Errorf("%s", f.message)
}

// loadTree reads the file of an architecture and lays it over its base. Rows that only the base has
// and that speak of opcodes the target lacks are dropped.
func loadTree(nameOrPath string) (strictyaml.Node, provenance, error) {
	own := provenance{map[string]Origin{}, map[string]Origin{}}
	top, bundled, err := readTree(nameOrPath)
	if err != nil {
		return top, own, err
	}
	var chain []strictyaml.Node // of bases, the nearest first
	for file := top; ; {
		base, ok := file.Find("base")
		if !ok {
			break
		}
		if file, err = readBase(base, !bundled && len(chain) == 0); err != nil {
			return top, own, err
		}
		chain = append(chain, file)
	}
	tree := top
	if len(chain) > 0 {
		below := chain[len(chain)-1]
		for _, n := range slices.Backward(chain[:len(chain)-1]) {
			below = strictyaml.Overlay(below, n)
		}
		if !bundled {
			if tree, own, err = takeOrigins(tree, below); err != nil {
				return top, own, err
			}
		}
		tree = strictyaml.Overlay(below, tree)
	}
	if name, ok := tree.Get("name"); !ok || !name.SameFile(top) {
		stem := strings.TrimSuffix(filepath.Base(top.File()), filepath.Ext(top.File()))
		tree = tree.With("name", strictyaml.StringAt(top, stem))
	}
	tree, err = withoutForeignClasses(tree, top)
	return tree, own, err
}

// readTree reads the file of an architecture; bundled says that it came with smsim.
func readTree(nameOrPath string) (tree strictyaml.Node, bundled bool, err error) {
	if name, ok := nameOf(nameOrPath); ok {
		path := "architectures/" + name + ".yaml"
		if text, err := files.ReadFile(path); err == nil {
			tree, err = parseDocument(path, text)
			return tree, true, err
		}
		return tree, false, unreadable(nameOrPath, "there is no such architecture; known: %s", strings.Join(List(), ", "))
	}
	ext := strings.ToLower(filepath.Ext(nameOrPath))
	if ext != ".yaml" && ext != ".yml" && !strings.ContainsAny(nameOrPath, `/\`) {
		if b, err := LoadBoard(nameOrPath); err == nil {
			return tree, false, unreadable(nameOrPath, "a board, not an architecture; its architecture is %s, and the board itself goes with --board or board:", b.Arch)
		}
		return tree, false, unreadable(nameOrPath, "%s; architectures are written sm_86, 8.6 or 86", suggest("not an architecture and not a .yaml file", nameOrPath, List()))
	}
	text, err := os.ReadFile(nameOrPath)
	if err != nil {
		return tree, false, unreadable(nameOrPath, "cannot read the architecture file: %s", reason(err))
	}
	tree, err = parseDocument(nameOrPath, text)
	return tree, false, err
}

// unreadable is the error for an architecture that is not there.
func unreadable(nameOrPath, format string, args ...any) error {
	return &strictyaml.Error{File: nameOrPath, Message: fmt.Sprintf(format, args...)}
}

// parseDocument parses the text of an architecture, family or board file: a map of keys.
func parseDocument(name string, text []byte) (strictyaml.Node, error) {
	n, err := strictyaml.Parse(name, text)
	if err == nil && n.Kind != strictyaml.Mapping {
		err = n.Errorf("expected a mapping at the top of the file, found %s", n.Kind)
	}
	return n, err
}

func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// readBase reads the file that a `base:` names: an architecture (only for a user's file) or a family of smsim. A family
// has no base itself, so a chain has at most three files: the user's, an architecture, its family.
func readBase(base strictyaml.Pair, mayNameArch bool) (strictyaml.Node, error) {
	if !base.Value.IsScalar() || base.Value.Text == "" {
		return base.Value, base.Errorf("base must name one architecture (sm_90) or family (families/volta)")
	}
	name := strings.TrimSuffix(base.Value.Text, ".yaml")
	path := name + ".yaml"
	arch, isArch := nameOf(name)
	switch {
	case isArch && !slices.Contains(List(), arch):
		return base.Value, base.Value.Errorf("no architecture %s; known: %s", arch, strings.Join(List(), ", "))
	case isArch && !mayNameArch:
		return base.Value, base.Value.Errorf("an architecture builds on a family, not on %s", arch)
	case isArch:
		path = "architectures/" + arch + ".yaml"
	case !slices.Contains(Families(), name):
		return base.Value, base.Value.Errorf("%s", suggest(fmt.Sprintf("no base %q: a base is an architecture or a family that comes with smsim", base.Value.Text), name, append(List(), Families()...)))
	}
	text, err := files.ReadFile(path)
	if err != nil {
		return base.Value, base.Value.Errorf("cannot read %s: %s", path, reason(err))
	}
	tree, err := parseDocument(path, text)
	if err != nil {
		return tree, err
	}
	if second, ok := tree.Find("base"); ok && !isArch {
		return tree, second.Errorf("a family has no base")
	}
	return tree, nil
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

// withoutForeignClasses drops the class rows that the base has for other targets of its family. A row
// for a class the target lacks is an error when the file itself writes it: it would have no effect.
func withoutForeignClasses(tree, top strictyaml.Node) (strictyaml.Node, error) {
	classes, _ := tree.Get("classes")
	capability, given := tree.Get("compute_capability")
	if classes.Kind != strictyaml.Mapping || !given {
		return tree, nil
	}
	sm, ok := smNumber(capability.Text)
	if !ok {
		return tree, capability.Errorf("compute_capability: expected major.minor such as \"8.6\", found %q", capability.Text)
	}
	onTarget := targetClasses(sm)
	var foreign []string
	for _, row := range classes.Pairs {
		c, known := isa.ClassByName(row.Key)
		switch {
		case !known:
			message := fmt.Sprintf("unknown opcode class %q", row.Key)
			if c, ok := classAlias(row.Key); ok {
				return tree, row.Errorf("%s; did you mean %q?", message, c.String())
			}
			return tree, row.Errorf("%s", suggest(message, row.Key, allClassNames()))
		case onTarget[c]:
		case row.Value.SameFile(top):
			return tree, row.Errorf("compute capability %s has no opcode of class %s; remove the row", capability.Text, row.Key)
		default:
			foreign = append(foreign, row.Key)
		}
	}
	return tree.With("classes", classes.Without(foreign...)), nil
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
