package configs

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// source is the text of one file, kept for messages.
type source struct {
	name  string
	lines []string
}

func newSource(name string, text []byte) *source {
	return &source{name: name, lines: strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n")}
}

// errorAt is an error at a position of the file.
func (s *source) errorAt(line, col, width int, format string, args ...any) *Error {
	e := &Error{File: s.name, Line: line, Col: max(col, 1), Width: width, Message: fmt.Sprintf(format, args...)}
	if line >= 1 && line <= len(s.lines) {
		e.Text = s.lines[line-1]
	}
	return e
}

type nodeKind uint8

const (
	scalarNode nodeKind = iota
	listNode
	mapNode
)

func (k nodeKind) String() string {
	return [...]string{"a single value", "a list", "a map of keys"}[k]
}

// node is one value of a YAML document with its place in the file. Merging two documents keeps the
// place of each value, so that a fault found late still points at the line that holds it.
type node struct {
	src       *source
	line, col int
	kind      nodeKind
	text      string // scalar
	null      bool   // scalar without a value
	items     []*node
	keys      []string // map, in file order
	fields    map[string]*field
}

// field is a key of a map and its value.
type field struct {
	line, col int
	src       *source
	name      string
	value     *node
}

func (n *node) errorf(format string, args ...any) *Error {
	return n.src.errorAt(n.line, n.col, len(n.text), format, args...)
}

func (f *field) errorf(format string, args ...any) *Error {
	return f.src.errorAt(f.line, f.col, len(f.name), format, args...)
}

// parseDocument reads one YAML file into a node tree. Only plain YAML is accepted: maps, lists and
// scalars, no anchors, tags or merge keys, so that what a file says can be read from it directly.
func parseDocument(name string, text []byte) (*node, error) {
	src := newSource(name, text)
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, syntaxError(src, err)
	}
	if len(file.Docs) > 1 && file.Docs[1].Body != nil {
		t := file.Docs[1].Body.GetToken().Position
		return nil, src.errorAt(t.Line, t.Column, 1, "a second YAML document; one file describes one architecture")
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return nil, src.errorAt(1, 1, 1, "the file is empty")
	}
	n, err := buildNode(src, file.Docs[0].Body)
	if err != nil {
		return nil, err
	}
	if n.kind != mapNode {
		return nil, n.errorf("expected a map of keys at the top of the file, found %s", n.kind)
	}
	return n, nil
}

func syntaxError(src *source, err error) error {
	var t *token.Token
	message := err.Error()
	var syntax *yaml.SyntaxError
	if errors.As(err, &syntax) {
		t, message = syntax.GetToken(), syntax.GetMessage()
	}
	if t == nil || t.Position == nil {
		return src.errorAt(0, 0, 0, "not valid YAML: %s", message)
	}
	return src.errorAt(t.Position.Line, t.Position.Column, len(t.Value), "not valid YAML: %s", message)
}

func buildNode(src *source, a ast.Node) (*node, error) {
	p := a.GetToken().Position
	n := &node{src: src, line: p.Line, col: p.Column}
	switch v := a.(type) {
	case *ast.MappingNode:
		n.kind, n.fields = mapNode, map[string]*field{}
		for _, kv := range v.Values {
			if err := n.addField(kv); err != nil {
				return nil, err
			}
		}
		if len(v.Values) > 0 && !v.IsFlowStyle {
			first := v.Values[0].Key.GetToken().Position
			n.line, n.col = first.Line, first.Column
		}
	case *ast.MappingValueNode:
		n.kind, n.fields = mapNode, map[string]*field{}
		if err := n.addField(v); err != nil {
			return nil, err
		}
		first := v.Key.GetToken().Position
		n.line, n.col = first.Line, first.Column
	case *ast.SequenceNode:
		n.kind = listNode
		for _, item := range v.Values {
			c, err := buildNode(src, item)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, c)
		}
	case *ast.NullNode:
		n.null = true
	case *ast.LiteralNode:
		n.text = strings.TrimSpace(v.Value.Value)
	case *ast.StringNode:
		n.text = v.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		n.text = a.GetToken().Value
	default:
		return nil, n.errorf("%s is not used in these files; write the value out", strings.ToLower(a.Type().String()))
	}
	return n, nil
}

func (n *node) addField(kv *ast.MappingValueNode) error {
	t := kv.Key.GetToken()
	f := &field{line: t.Position.Line, col: t.Position.Column, src: n.src, name: t.Value}
	if _, merge := kv.Key.(*ast.MergeKeyNode); merge {
		return f.errorf("merge keys are not used in these files; write `base:` to inherit")
	}
	if old, dup := n.fields[f.name]; dup {
		return f.errorf("key %q is already given on line %d", f.name, old.line)
	}
	v, err := buildNode(n.src, kv.Value)
	if err != nil {
		return err
	}
	f.value = v
	n.keys = append(n.keys, f.name)
	n.fields[f.name] = f
	return nil
}

// merge returns base with the values of over laid on top: maps are merged key by key, anything else
// is replaced. Neither argument is changed.
func merge(base, over *node) *node {
	if base == nil || base.kind != mapNode || over.kind != mapNode {
		return over
	}
	out := &node{src: over.src, line: over.line, col: over.col, kind: mapNode, keys: slices.Clone(base.keys), fields: map[string]*field{}}
	for k, f := range base.fields {
		out.fields[k] = f
	}
	for _, k := range over.keys {
		f := over.fields[k]
		if old, both := out.fields[k]; both {
			f = &field{line: f.line, col: f.col, src: f.src, name: k, value: merge(old.value, f.value)}
		} else {
			out.keys = append(out.keys, k)
		}
		out.fields[k] = f
	}
	return out
}
