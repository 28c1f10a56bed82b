package ptx

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// String is the module as PTX text. Parsing it gives the same module apart from positions and the text of comments: what is printed of
// that is the same text.
func (m *Module) String() string {
	p := printer{}
	p.module(m)
	return p.b.String()
}

func (f *Func) String() string {
	p := printer{}
	p.function(f)
	return p.b.String()
}

func (v *Var) String() string {
	p := printer{}
	p.variable(v)
	return p.b.String() + ";"
}

func (in *Instr) String() string {
	p := printer{}
	p.instr(in)
	return p.b.String() + ";"
}

func (a Arg) String() string {
	p := printer{}
	p.arg(a)
	return p.b.String()
}

type printer struct {
	b      strings.Builder
	indent string
}

func (p *printer) put(parts ...string) {
	for _, s := range parts {
		p.b.WriteString(s)
	}
}

func (p *printer) putf(format string, args ...any) { fmt.Fprintf(&p.b, format, args...) }

func (p *printer) line(parts ...string) {
	p.put(p.indent)
	p.put(parts...)
	p.put("\n")
}

func (p *printer) module(m *Module) {
	p.putf(".version %d.%d\n", m.Major, m.Minor)
	p.line(".target ", strings.Join(append([]string{m.Target}, m.TargetFlags...), ", "))
	if !m.sizeInferred() || m.AddressSize != inferAddressSize(m) {
		p.putf(".address_size %d\n", m.AddressSize)
	}
	nums := make([]int, 0, len(m.Files))
	for n := range m.Files {
		nums = append(nums, n)
	}
	sort.Ints(nums)
	for _, n := range nums {
		p.putf(".file %d \"%s\"\n", n, m.Files[n])
	}
	for _, s := range m.Pragmas {
		p.line(`.pragma "`, s, `";`)
	}
	for _, v := range m.Vars {
		p.variable(v)
		p.put(";\n")
	}
	for _, f := range m.Funcs {
		p.put("\n")
		p.function(f)
	}
	for _, a := range m.Aliases {
		p.line(".alias ", a.Name, ", ", a.Target, ";")
	}
	for _, s := range m.Sections {
		p.line(".section ", s.Name)
		p.line("{")
		for _, it := range s.Items {
			if it.Label != "" {
				p.line(it.Label, ":")
			} else {
				p.line(".", it.Type, " ", strings.Join(it.Values, ", "))
			}
		}
		p.line("}")
	}
}

func (p *printer) linkage(extern, visible, weak, common bool) {
	for _, x := range []struct {
		on   bool
		word string
	}{{extern, ".extern "}, {visible, ".visible "}, {weak, ".weak "}, {common, ".common "}} {
		if x.on {
			p.put(x.word)
		}
	}
}

func (p *printer) attributes(list []string) {
	for _, a := range list {
		p.put(".attribute(", a, ") ")
	}
}

// declaration prints a variable without its initialiser.
func (p *printer) declaration(v *Var) {
	p.linkage(v.Extern, v.Visible, v.Weak, v.Common)
	p.put(".", v.Space)
	if v.Bank > 0 {
		p.putf("[%d]", v.Bank)
	}
	p.put(" ")
	p.attributes(v.Attributes)
	if v.Align > 0 {
		p.putf(".align %d ", v.Align)
	}
	if v.Vector > 0 {
		p.putf(".v%d ", v.Vector)
	}
	p.put(".", v.Type)
	if v.Ptr {
		p.put(" .ptr")
		if v.PtrSpace != "" {
			p.put(" .", v.PtrSpace)
		}
		if v.PtrAlign > 0 {
			p.putf(" .align %d", v.PtrAlign)
		}
	}
	if v.Name != "" {
		p.put(" ", v.Name)
	}
	if v.Range > 0 {
		p.putf("<%d>", v.Range)
	}
	for _, d := range v.Dims {
		if d < 0 {
			p.put("[]")
		} else {
			p.putf("[%d]", d)
		}
	}
}

func (p *printer) variable(v *Var) {
	p.declaration(v)
	if v.Init == nil {
		return
	}
	p.put(" = ")
	if v.Dims == nil && v.Vector == 0 && v.Init[0].Field == "" {
		p.initValue(v.Init[0])
		return
	}
	// Flat lists fill rows in row-major order whatever the dimensions.
	p.put("{")
	for i, x := range v.Init {
		if i > 0 {
			p.put(", ")
		}
		p.initValue(x)
	}
	p.put("}")
}

func (p *printer) initValue(x InitValue) {
	if x.Field != "" {
		p.put(x.Field, " = ")
		if x.Symbol != "" {
			p.put(x.Symbol)
			return
		}
	}
	if x.Symbol == "" {
		if x.IsFloat {
			p.hexFloat(x.Int, x.Single)
		} else {
			p.integer(x.Int)
		}
		return
	}
	if x.Mask != 0 {
		p.putf("0x%X(", x.Mask)
	}
	if x.Generic {
		p.put("generic(", x.Symbol, ")")
	} else {
		p.put(x.Symbol)
	}
	p.offset(int64(x.Int))
	if x.Mask != 0 {
		p.put(")")
	}
}

func (p *printer) hexFloat(bits uint64, single bool) {
	if single {
		p.putf("0f%08X", uint32(bits))
	} else {
		p.putf("0d%016X", bits)
	}
}

func (p *printer) intLiteral(a Arg) {
	if a.Unsigned {
		p.put(strconv.FormatUint(uint64(a.Int), 10), "U")
	} else {
		p.integer(uint64(a.Int))
	}
}

// integer prints the bits as a signed number, which is read back as the same 64 bits.
func (p *printer) integer(bits uint64) { p.put(strconv.FormatInt(int64(bits), 10)) }

func (p *printer) offset(n int64) {
	if n != 0 {
		p.put("+", strconv.FormatInt(n, 10)) // "+-4" for a negative one, as nvcc writes it
	}
}

func (p *printer) paramList(vars []*Var) {
	p.put("(")
	for i, v := range vars {
		if i > 0 {
			p.put(", ")
		}
		p.declaration(v)
	}
	p.put(")")
}

func (p *printer) function(f *Func) {
	p.linkage(f.Extern, f.Visible, f.Weak, false)
	if f.Entry {
		p.put(".entry ")
	} else {
		p.put(".func ")
	}
	p.attributes(f.Attributes)
	if f.Returns != nil {
		p.paramList(f.Returns)
		p.put(" ")
	}
	p.put(f.Name)
	if f.Params != nil {
		p.paramList(f.Params)
	}
	if f.NoReturn {
		p.put(" .noreturn")
	}
	for _, x := range []struct {
		word string
		dims [3]int
	}{{".maxntid", f.MaxNTid}, {".reqntid", f.ReqNTid}} {
		if x.dims != [3]int{} {
			p.putf("\n%s %d, %d, %d", x.word, x.dims[0], x.dims[1], x.dims[2])
		}
	}
	if f.MinNCTA > 0 {
		p.putf("\n.minnctapersm %d", f.MinNCTA)
	}
	if f.MaxNReg > 0 {
		p.putf("\n.maxnreg %d", f.MaxNReg)
	}
	for _, d := range f.Directives {
		p.put("\n", d)
	}
	for _, s := range f.Pragmas {
		p.put("\n.pragma \"", s, "\";")
	}
	if f.Body == nil {
		p.put(";\n")
		return
	}
	p.put("\n")
	p.block(f.Body)
}

func (p *printer) block(b *Block) {
	p.line("{")
	outer := p.indent
	p.indent += "\t"
	for _, s := range b.Stmts {
		p.stmt(s, outer)
	}
	p.indent = outer
	p.line("}")
}

func (p *printer) stmt(s Stmt, outer string) {
	switch x := s.(type) {
	case *Block:
		p.block(x)
		return
	case *Label:
		p.put(outer, x.Name, ":\n")
		return
	}
	p.put(p.indent)
	switch x := s.(type) {
	case *Var:
		p.variable(x)
		p.put(";")
	case *Instr:
		p.instr(x)
		p.put(";")
	case *Pragma:
		p.put(`.pragma "`, x.Text, `";`)
	case *Loc:
		p.putf(".loc %d %d %d", x.File, x.Line, x.Col)
		if x.Function != "" {
			p.put(", function_name ", x.Function)
		}
		if x.InlinedAt {
			p.putf(", inlined_at %d %d %d", x.InFile, x.InLine, x.InCol)
		}
	case *Targets:
		word := ": .branchtargets "
		if x.Call {
			word = ": .calltargets "
		}
		p.put(x.Label, word, strings.Join(x.Names, ", "), ";")
	case *Prototype:
		p.put(x.Label, ": .callprototype ")
		if x.Returns != nil {
			p.paramList(x.Returns)
			p.put(" ")
		}
		p.put("_")
		if x.Params != nil {
			p.put(" ")
			p.paramList(x.Params)
		}
		for _, d := range x.Directives {
			p.put(" ", d)
		}
		p.put(";")
	}
	p.put("\n")
}

func (p *printer) instr(in *Instr) {
	if g := in.Guard; g != nil {
		p.put("@")
		if g.Neg {
			p.put("!")
		}
		p.put(g.Name, " ")
	}
	p.put(in.Name())
	sep := " "
	if in.CallRet != nil {
		p.put(sep, "(")
		p.args(in.CallRet)
		p.put(")")
		sep = ", "
	}
	for i, a := range in.Args {
		p.put(sep)
		p.arg(a)
		sep = ", "
		if i == 0 && in.CallArgs != nil {
			p.put(sep, "(")
			p.args(in.CallArgs)
			p.put(")")
		}
	}
}

func (p *printer) args(list []Arg) {
	for i, a := range list {
		if i > 0 {
			p.put(", ")
		}
		p.arg(a)
	}
}

func (p *printer) name(a Arg) {
	p.put(a.Name)
	if a.Member != "" {
		p.put(".", a.Member)
	}
}

func (p *printer) arg(a Arg) {
	if a.Neg {
		if a.Not {
			p.put("!")
		} else {
			p.put("-")
		}
	}
	switch a.Kind {
	case ArgName:
		p.name(a)
		p.offset(a.Int)
	case ArgInt:
		p.intLiteral(a)
	case ArgFloat:
		if a.HexFloat {
			p.hexFloat(a.Bits, a.Single)
		} else {
			p.decimal(a.Float)
		}
	case ArgAddr:
		p.put("[")
		if a.Name == "" {
			p.intLiteral(a)
		} else {
			p.name(a)
			p.offset(a.Int)
		}
		p.put("]")
		if a.Unified {
			p.put(".unified")
		}
	case ArgIndex:
		p.name(a)
		for _, e := range a.Elems {
			p.put("[")
			p.arg(e)
			p.put("]")
		}
	case ArgVector:
		p.put("{")
		p.args(a.Elems)
		p.put("}")
	case ArgPair:
		p.arg(a.Elems[0])
		p.put("|")
		p.arg(a.Elems[1])
	case ArgSink:
		p.put("_")
	case ArgString:
		p.put(`"`, a.Name, `"`)
	case ArgTexAddr:
		p.put("[")
		p.args(a.Elems)
		p.put("]")
	}
}

// decimal prints so that the literal stays a float and comes back to the same bits.
func (p *printer) decimal(f float64) {
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	p.put(s)
}
