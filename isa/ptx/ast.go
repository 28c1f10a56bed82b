// Package ptx reads PTX text into a syntax tree. It knows the full grammar of PTX ISA 1.0 to 9.x and
// nothing of targets: an unknown instruction parses, and whoever lowers the kernel rejects it.
package ptx

import (
	"fmt"
	"strings"
)

// Pos is a place in the text, both counted from 1; Col counts bytes.
type Pos struct{ Line, Col int }

func (p Pos) String() string { return fmt.Sprintf("%d:%d", p.Line, p.Col) }

// Module is one PTX file.
type Module struct {
	File        string
	Lines       []string // the text, for diagnostics and reports
	Major       int      // .version
	Minor       int
	Target      string         // "sm_86", with suffix ("sm_90a")
	SM          int            // 86
	TargetFlags []string       // "texmode_independent", "debug", ...
	AddressSize int            // 32 or 64
	Vars        []*Var         // module scope, in order
	Funcs       []*Func        // entries and device functions, declarations too, in order
	Files       map[int]string // .file
	Aliases     []Alias        // .alias
	Pragmas     []string       // .pragma at module scope
	Sections    []*Section     // debug data
}

// Alias is .alias NAME, TARGET: two names for one function.
type Alias struct {
	Pos          Pos
	Name, Target string
}

// Section is a .section with debug data. smsim reads it only for function names (.debug_str).
type Section struct {
	Pos   Pos
	Name  string // ".debug_str"
	Items []SectionItem
}

// SectionItem is a label ("$L__info_string0") or a row of data.
type SectionItem struct {
	Pos    Pos
	Label  string
	Type   string   // "b8", "4byte", ...
	Values []string // numbers, symbols, sums and differences of them, without blanks
}

// Entry finds the kernel of that name; an empty name finds the only kernel.
func (m *Module) Entry(name string) *Func {
	var only *Func
	n := 0
	for _, f := range m.Funcs {
		if !f.Entry || f.Body == nil {
			continue
		}
		if f.Name == name {
			return f
		}
		only, n = f, n+1
	}
	if name == "" && n == 1 {
		return only
	}
	return nil
}

// Entries lists the kernels with a body, in file order.
func (m *Module) Entries() []*Func {
	var out []*Func
	for _, f := range m.Funcs {
		if f.Entry && f.Body != nil {
			out = append(out, f)
		}
	}
	return out
}

// Var is a variable declaration in any space, a register declaration or a parameter.
type Var struct {
	Pos                           Pos
	Space                         string // reg, param, shared, local, const, global, tex, sreg
	Name                          string
	Type                          string // "u32", "b64", "pred", "f32", "texref", ...
	Vector                        int    // 0, 2 or 4 (.v2, .v4)
	Align                         int    // .align, 0: natural
	Range                         int    // %r<N>: N registers Name0 .. Name(N-1); 0: a single name
	Dims                          []int  // array dimensions; -1 for an empty [] ; nil: scalar
	Init                          []InitValue
	Extern, Visible, Weak, Common bool
	Ptr                           bool   // parameter attribute .ptr
	PtrSpace                      string // .ptr .global
	PtrAlign                      int
	Bank                          int      // .const[N] of PTX 1.x and 2.x
	Attributes                    []string // of .attribute(...), verbatim: ".managed"
}

// InitValue is one element of an initialiser, flattened in row-major order.
type InitValue struct {
	Pos     Pos
	Int     uint64
	Float   float64
	IsFloat bool   // Int then holds the bits of Float, or with Single those of a float32
	Single  bool   // written as 0fXXXXXXXX
	Field   string // attribute of a sampler or texture initialiser: "filter_mode", with its value in Symbol or Int
	Symbol  string // address of a variable or function, plus Int
	Generic bool   // generic(sym)
	Mask    uint64 // 0xFF(sym): byte selector mask, 0: none
}

// Func is an .entry or .func, with or without body.
type Func struct {
	Pos                   Pos
	Name                  string
	Entry                 bool
	Params                []*Var
	Returns               []*Var
	Body                  *Block // nil: declaration
	Extern, Visible, Weak bool
	NoReturn              bool
	MaxNTid               [3]int // .maxntid, zeros: none
	ReqNTid               [3]int
	MinNCTA               int // .minnctapersm
	MaxNReg               int
	Pragmas               []string
	Directives            []string // other performance directives, verbatim: ".reqnctapercluster 2, 1, 1"
	Attributes            []string // of .attribute(...), verbatim
}

// Block is a { } scope.
type Block struct {
	Pos   Pos
	End   Pos
	Stmts []Stmt
}

// Stmt is one of *Instr, *Label, *Var, *Block, *Loc, *Pragma, *Targets, *Prototype.
type Stmt interface{ stmtPos() Pos }

// Label is a jump target, local to its block.
type Label struct {
	Pos  Pos
	Name string
}

// Loc is a .loc directive.
type Loc struct {
	Pos             Pos
	File, Line, Col int
	InlinedAt       bool
	Function        string // function_name operand: a .debug_str label, with "+N" if written so
	InFile          int    // place it was inlined at
	InLine, InCol   int
}

// Pragma is a .pragma in a body.
type Pragma struct {
	Pos  Pos
	Text string
}

// Targets is .branchtargets or .calltargets with its label.
type Targets struct {
	Pos   Pos
	Label string
	Call  bool
	Names []string
}

// Prototype is a .callprototype with its label.
type Prototype struct {
	Pos     Pos
	Label   string
	Returns []*Var
	Params  []*Var

	Directives []string // ".noreturn", verbatim
}

// Guard is the predicate of an instruction: @p or @!p.
type Guard struct {
	Pos  Pos
	Name string
	Neg  bool
}

// Instr is one instruction. "mad.lo.u32 %r1, %r2, %r3, %r4;" has Op "mad" and Mods ["lo","u32"].
// A "::" qualifier stays in its modifier ("shared::cta").
type Instr struct {
	Pos      Pos
	Guard    *Guard
	Op       string
	Mods     []string
	Args     []Arg
	CallRet  []Arg  // call (ret), f, (args): the returned values
	CallArgs []Arg  // the arguments
	Loc      *Loc   // the .loc in force, nil: none
	Text     string // as written, without comments
}

// Name is the instruction with its modifiers, "mad.lo.u32".
func (in *Instr) Name() string {
	if len(in.Mods) == 0 {
		return in.Op
	}
	return in.Op + "." + strings.Join(in.Mods, ".")
}

// Has says whether the instruction has the modifier.
func (in *Instr) Has(mod string) bool {
	for _, m := range in.Mods {
		if m == mod {
			return true
		}
	}
	return false
}

// ArgKind tells which fields of an Arg count.
type ArgKind uint8

// Kinds of operands.
const (
	ArgName    ArgKind = iota // register, variable, label, function or special register (Name, with .x in Member); Name + Int of a variable
	ArgInt                    // integer literal: Int (two's complement bits), Unsigned for a U suffix
	ArgFloat                  // floating literal: Float; Bits and Single for 0f/0d forms
	ArgAddr                   // [base + Int]: Name or, for an absolute address, none
	ArgVector                 // {a, b, ...}: Elems
	ArgPair                   // d|p: Elems has two
	ArgSink                   // _
	ArgString                 // "text"
	ArgTexAddr                // [tex, {coords}] or [tex, sampler, {coords}]: Elems
	ArgIndex                  // name[i] with a register index: Name and one Elems per dimension (constant ones become ArgName or ArgAddr)
)

// Arg is one operand.
type Arg struct {
	Pos      Pos
	Kind     ArgKind
	Name     string
	Member   string // x, y, z, w, b0-b3, h0, h1, b3210-like selectors; combined ones keep their dots
	Neg      bool   // -a or !p
	Not      bool   // Neg was written as !
	Unified  bool   // of an address: [a].unified, a hint on what caches it
	Int      int64
	Unsigned bool
	Float    float64
	Bits     uint64 // of 0f (32 bit) and 0d literals
	HexFloat bool
	Single   bool // 0f form
	Elems    []Arg
}

func (x *Instr) stmtPos() Pos     { return x.Pos }
func (x *Label) stmtPos() Pos     { return x.Pos }
func (x *Var) stmtPos() Pos       { return x.Pos }
func (x *Block) stmtPos() Pos     { return x.Pos }
func (x *Loc) stmtPos() Pos       { return x.Pos }
func (x *Pragma) stmtPos() Pos    { return x.Pos }
func (x *Targets) stmtPos() Pos   { return x.Pos }
func (x *Prototype) stmtPos() Pos { return x.Pos }
