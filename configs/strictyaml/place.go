package strictyaml

import "fmt"

// Place is where a value came from: a line of a file or, with File alone, a command-line flag or an
// environment variable. Errors found long after decoding still name it. A struct field named Place of this type
// receives the place of the mapping that the struct was decoded from.
type Place struct {
	File string
	Pos  Pos
	Line string
}

// Place is where the node stands.
func (n Node) Place() Place { return n.PlaceAt(n.Pos) }

// PlaceAt is another position in the node's file.
func (n Node) PlaceAt(at Pos) Place {
	p := Place{File: n.src.file, Pos: at}
	if at.Line > 0 && at.Line <= len(n.src.lines) {
		p.Line = n.src.lines[at.Line-1]
	}
	return p
}

// Errorf is an error at the place.
func (p Place) Errorf(format string, args ...any) error {
	return &Error{File: p.File, Pos: p.Pos, Line: p.Line, Message: fmt.Sprintf(format, args...)}
}

// IsZero says that the place is unknown.
func (p Place) IsZero() bool { return p.File == "" }
