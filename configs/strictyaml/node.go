package strictyaml

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

// Kind is what a node is.
type Kind uint8

// Kinds of nodes.
const (
	Null Kind = iota
	Bool
	Int
	Float
	String
	Sequence
	Mapping
)

func (k Kind) String() string {
	return [...]string{"nothing", "a boolean", "an integer", "a number with fraction", "a string", "a list", "a mapping"}[k]
}

// Node is a value in the file with its place.
type Node struct {
	src   *source
	Kind  Kind
	Pos   Pos
	Text  string // scalars: the value as written, without quotes
	Items []Node // Sequence
	Pairs []Pair // Mapping, in file order
}

// Pair is one entry of a mapping.
type Pair struct {
	Key   string
	At    Pos
	Value Node
}

type source struct {
	file    string
	lines   []string
	anchors map[string]ast.Node
	open    map[string]bool // anchors whose value is being converted
	depth   int
}

// Parse reads the only document of a YAML text. file is the name used in errors.
func Parse(file string, text []byte) (Node, error) {
	text = Trim(text)
	src := &source{file: file, lines: strings.Split(string(text), "\n"), anchors: map[string]ast.Node{}, open: map[string]bool{}}
	for i, l := range src.lines {
		src.lines[i] = strings.TrimSuffix(l, "\r")
	}
	if len(text) > MaxBytes {
		return Node{}, src.errorAt(Pos{}, "the file has %d bytes; at most %d are read", len(text), MaxBytes)
	}
	if why := Binary(text); why != "" {
		return Node{}, src.errorAt(Pos{}, "%s; expected YAML", why)
	}
	if i := invalidUTF8(text); i >= 0 {
		return Node{}, src.errorAt(Pos{}, "byte %d is %#02x, which is not UTF-8; save the file as UTF-8", i, text[i])
	}
	f, err := parse(text)
	if err != nil {
		var ye yaml.Error
		if errors.As(err, &ye) && ye.GetToken() != nil {
			return Node{}, src.errorAt(src.pos(ye.GetToken()), "not valid YAML: %s", ye.GetMessage())
		}
		return Node{}, src.errorAt(Pos{}, "not valid YAML: %s", strings.SplitN(err.Error(), "\n", 2)[0])
	}
	var docs []ast.Node
	for _, d := range f.Docs {
		if d.Body != nil {
			docs = append(docs, d.Body)
		}
	}
	switch len(docs) {
	case 0:
		return Node{}, src.errorAt(Pos{}, "the file is empty")
	case 1:
		return src.convert(docs[0])
	}
	return Node{}, src.errorAt(src.pos(docs[1].GetToken()), "a second YAML document; the file must hold one")
}

// MaxBytes bounds the size of a file: people write them by hand, and the parser's time can grow with the square.
const MaxBytes = 1 << 20

// parse calls the YAML parser, which is not ours: should a hostile text make it panic, that is an error like others.
func parse(text []byte) (f *ast.File, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the parser gives up (%v)", r)
		}
	}()
	return parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey())
}

func (s *source) errorAt(p Pos, format string, args ...any) *Error {
	e := &Error{File: s.file, Pos: p, Message: fmt.Sprintf(format, args...)}
	if p.Line > 0 && p.Line <= len(s.lines) {
		e.Line = s.lines[p.Line-1]
	}
	return e
}

func (s *source) pos(t *token.Token) Pos {
	if t == nil || t.Position == nil {
		return Pos{}
	}
	return Pos{t.Position.Line, t.Position.Column}
}

// maxDepth bounds nesting and alias expansion.
const maxDepth = 100

func (s *source) convert(n ast.Node) (Node, error) {
	s.depth++
	defer func() { s.depth-- }()
	if s.depth > maxDepth {
		return Node{}, s.errorAt(s.pos(n.GetToken()), "nested more than %d levels deep", maxDepth)
	}
	out := Node{src: s, Pos: s.pos(n.GetToken())}
	switch n := n.(type) {
	case *ast.NullNode:
		return out, nil
	case *ast.BoolNode:
		out.Kind, out.Text = Bool, n.Token.Value
	case *ast.IntegerNode:
		out.Kind, out.Text = Int, n.Token.Value
	case *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		out.Kind, out.Text = Float, n.GetToken().Value
	case *ast.StringNode:
		out.Kind, out.Text = String, n.Value
	case *ast.LiteralNode:
		out.Kind, out.Text = String, n.Value.Value
	case *ast.AnchorNode:
		name := n.Name.GetToken().Value
		s.anchors[name] = n.Value
		return s.inside(name, n.Value)
	case *ast.AliasNode:
		name := n.Value.GetToken().Value
		target, ok := s.anchors[name]
		if !ok {
			return out, s.errorAt(out.Pos, "no anchor &%s before this place", name)
		}
		if s.open[name] {
			return out, s.errorAt(out.Pos, "the alias *%s stands inside its own anchor &%s: the value would contain itself", name, name)
		}
		return s.inside(name, target)
	case *ast.SequenceNode:
		out.Kind = Sequence
		for _, v := range n.Values {
			item, err := s.convert(v)
			if err != nil {
				return out, err
			}
			out.Items = append(out.Items, item)
		}
	case *ast.MappingNode:
		return s.mapping(out, n.Values)
	case *ast.MappingValueNode:
		return s.mapping(out, []*ast.MappingValueNode{n})
	case *ast.TagNode:
		return out, s.errorAt(out.Pos, "YAML tags are not accepted")
	default:
		return out, s.errorAt(out.Pos, "unexpected %s", n.Type())
	}
	return out, nil
}

// inside converts the value of an anchor.
func (s *source) inside(name string, value ast.Node) (Node, error) {
	before := s.open[name]
	s.open[name] = true
	defer func() { s.open[name] = before }()
	return s.convert(value)
}

func (s *source) mapping(out Node, values []*ast.MappingValueNode) (Node, error) {
	out.Kind = Mapping
	seen := map[string]Pos{}
	for i, mv := range values {
		kt := mv.Key.GetToken()
		p := s.pos(kt)
		if i == 0 {
			out.Pos = p
		}
		if _, ok := mv.Key.(*ast.MergeKeyNode); ok {
			return out, s.errorAt(p, "YAML merge keys (<<) are not accepted; write the keys out")
		}
		if mv.Key.IsMergeKey() {
			return out, s.errorAt(p, "YAML merge keys (<<) are not accepted; write the keys out")
		}
		key := kt.Value
		if first, dup := seen[key]; dup {
			return out, s.errorAt(p, "key %q is here twice; the first is in line %d", key, first.Line)
		}
		seen[key] = p
		v, err := s.convert(mv.Value)
		if err != nil {
			return out, err
		}
		if v.Pos.Line == 0 || v.Kind == Null {
			v.Pos = p
		}
		out.Pairs = append(out.Pairs, Pair{key, p, v})
	}
	return out, nil
}

// Errorf is an error at the node.
func (n Node) Errorf(format string, args ...any) error { return n.src.errorAt(n.Pos, format, args...) }

// ErrorAt is an error at another place of the node's file.
func (n Node) ErrorAt(p Pos, format string, args ...any) error {
	return n.src.errorAt(p, format, args...)
}

// Errorf is an error at the key.
func (p Pair) Errorf(format string, args ...any) error {
	return p.Value.src.errorAt(p.At, format, args...)
}

// IsScalar says that the node is a single value.
func (n Node) IsScalar() bool {
	return n.Kind == Bool || n.Kind == Int || n.Kind == Float || n.Kind == String
}

// File is the name of the node's file.
func (n Node) File() string { return n.src.file }

// SameFile says that two nodes were read from one text.
func (n Node) SameFile(o Node) bool { return n.src == o.src }

// Get finds the value of a mapping's key.
func (n Node) Get(key string) (Node, bool) {
	p, ok := n.Find(key)
	return p.Value, ok
}

// Find finds a mapping's key with its value.
func (n Node) Find(key string) (Pair, bool) {
	if i := n.index(key); i >= 0 {
		return n.Pairs[i], true
	}
	return Pair{}, false
}

// index is the index of a mapping's key, -1 if it has none of that name.
func (n Node) index(key string) int {
	return slices.IndexFunc(n.Pairs, func(p Pair) bool { return p.Key == key })
}

// show is the node as a reader sees it, for messages.
func (n Node) show() string {
	switch n.Kind {
	case Bool, Int, Float:
		return n.Text
	case String:
		if len(n.Text) > 30 {
			return fmt.Sprintf("%q...", n.Text[:30])
		}
		return fmt.Sprintf("%q", n.Text)
	}
	return n.Kind.String()
}
