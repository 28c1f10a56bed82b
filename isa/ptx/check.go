package ptx

import (
	"fmt"
	"slices"
	"strings"
)

// Check resolves every name of a function: registers, variables, labels, called functions, jump tables and prototypes.
// It returns nil or Errors with a place and, where something close exists, a "did you mean". It knows nothing of
// operand types; lowering checks those.
func Check(f *Func, m *Module) error {
	return checkIn(f, m, moduleScope(m))
}

// CheckAll is CheckModule and Check of every function.
func CheckAll(m *Module) error {
	all, _ := CheckModule(m).(Errors)
	s := moduleScope(m)
	for _, f := range m.Funcs {
		if err, ok := checkIn(f, m, s).(Errors); ok {
			all = append(all, err...)
		}
		if len(all) >= maxErrors {
			return all[:maxErrors]
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

func checkIn(f *Func, m *Module, module *scope) error {
	c := &checker{m: m, f: f}
	if other := module.funcs[f.Name]; other != nil && other != f && other.Body != nil && f.Body != nil {
		second, first := f, other
		if before(f.Pos, other.Pos) {
			second, first = other, f
		}
		c.errorAt(second.Pos, "", "%s is defined twice; first on line %d", f.Name, first.Pos.Line)
	}
	c.header(f)
	s := newScope(module, f.Body)
	for _, v := range append(append([]*Var{}, f.Returns...), f.Params...) {
		c.declare(s, v)
	}
	if f.Body != nil {
		c.block(s, f.Body)
	}
	if len(c.errs) == 0 {
		return nil
	}
	return c.errs
}

// CheckModule reports what is wrong outside of functions: variables declared twice, aliases and initialisers that name nothing. It
// returns nil or Errors, as Check.
func CheckModule(m *Module) error {
	c := &checker{m: m}
	s := newScope(nil, nil)
	whole := moduleScope(m)
	c.target()
	c.constantSpace()
	for _, v := range m.Vars {
		c.declare(s, v)
		c.moduleVar(v)
		for _, x := range v.Init {
			if x.Symbol != "" && x.Field == "" && whole.variable(x.Symbol) == nil && whole.function(x.Symbol) == nil {
				c.errorAt(x.Pos, didYouMean(x.Symbol, whole.candidates(false)), "undeclared name %s in the initialiser of %s", x.Symbol, v.Name)
			}
		}
	}
	for _, v := range m.Vars {
		if f := whole.funcs[v.Name]; f != nil {
			c.errorAt(v.Pos, "", "variable %s has the name of a function, on line %d", v.Name, f.Pos.Line)
		}
	}
	c.prototypes()
	for _, a := range m.Aliases {
		if whole.function(a.Target) == nil {
			c.errorAt(a.Pos, didYouMean(a.Target, whole.candidates(false)), ".alias of %s, which is not a function of this file", a.Target)
		}
	}
	if len(c.errs) == 0 {
		return nil
	}
	return c.errs
}

type checker struct {
	m    *Module
	f    *Func
	errs Errors
}

func (c *checker) errorAt(pos Pos, hint, format string, args ...any) {
	if len(c.errs) < maxErrors {
		c.errs = append(c.errs, c.m.Errorf(pos, hint, format, args...))
	}
}

func didYouMean(word string, candidates []string) string {
	if s := Suggest(word, candidates); s != "" {
		return "did you mean " + s + "?"
	}
	return ""
}

func (c *checker) declare(s *scope, v *Var) {
	if msg, hint := declarationProblem(v); msg != "" {
		c.errorAt(v.Pos, hint, "declaration of %s: %s", v.Name, msg)
	}
	if x := mismatched(v); x != nil {
		c.errorAt(x.Pos, "", "initial value of %s, which is .%s: integers and floating-point numbers are not converted", v.Name, v.Type)
	}
	if pos, ok := s.labels[v.Name]; ok {
		c.errorAt(v.Pos, "", "%s is a label, too, on line %d", v.Name, pos.Line)
	}
	if old := s.add(v); old != nil {
		c.errorAt(v.Pos, "", "%s is declared twice in one block; first on line %d", v.Name, old.Pos.Line)
	}
	if IsSpecial(v.Name) && v.Space != "sreg" && (v.Space != "reg" || v.Vector > 0) { // a scalar %tid stands beside %tid.x
		c.errorAt(v.Pos, "rename the variable", "%s is the name of a special register", v.Name)
	}
}

// block checks the statements of a block whose scope has been opened.
func (c *checker) block(s *scope, b *Block) {
	s.labels = map[string]Pos{}
	s.lists = map[string]Stmt{}
	for _, st := range b.Stmts {
		name, pos := "", st.stmtPos()
		switch x := st.(type) {
		case *Label:
			name = x.Name
		case *Targets:
			name = x.Label
		case *Prototype:
			name = x.Label
		default:
			continue
		}
		if old, twice := s.labels[name]; twice {
			c.errorAt(pos, "", "label %s is defined twice in one block; first on line %d", name, old.Line)
		} else if old := s.lists[name]; old != nil {
			c.errorAt(pos, "", "label %s is defined twice in one block; first on line %d", name, old.stmtPos().Line)
		}
		if _, ok := st.(*Label); ok {
			s.labels[name] = pos
		} else {
			s.lists[name] = st
		}
	}
	for _, st := range b.Stmts {
		if len(c.errs) >= maxErrors {
			return // looking for suggestions is slow
		}
		switch x := st.(type) {
		case *Var:
			c.declare(s, x)
		case *Block:
			c.block(newScope(s, x), x)
		case *Instr:
			c.instr(s, x)
		case *Targets:
			for _, n := range x.Names {
				if x.Call && s.function(n) == nil {
					c.errorAt(x.Pos, didYouMean(n, s.candidates(false)), "undefined function %s in .calltargets", n)
				} else if !x.Call && !s.label(n) {
					c.errorAt(x.Pos, didYouMean(n, s.candidates(true)), "undefined label %s in .branchtargets", n)
				}
			}
		}
	}
}

func (c *checker) instr(s *scope, in *Instr) {
	if g := in.Guard; g != nil {
		if v := s.variable(g.Name); v == nil {
			c.undeclared(s, g.Name, g.Pos, "predicate")
		} else if v.Type != "pred" || v.Space != "reg" {
			c.errorAt(g.Pos, "set a predicate with setp and guard with it", "guard %s is a .%s .%s, not a predicate register", g.Name, v.Space, v.Type)
		}
	}
	args := in.Args
	switch {
	case in.Op == "bra" && len(args) == 1:
		c.branchTarget(s, args[0])
		return
	case in.Op == "brx" && len(args) == 2:
		c.arg(s, args[0])
		if t, ok := s.list(args[1].Name).(*Targets); !ok || t.Call {
			c.errorAt(args[1].Pos, "write name: .branchtargets L1, L2, ...; before the jump", "%s needs the label of a .branchtargets, not %s", in.Name(), args[1])
		}
		return
	case in.Op == "call" && len(args) > 0:
		c.call(s, in)
		return
	}
	for i := range args {
		c.arg(s, args[i])
		c.negated(s, in, &args[i])
	}
}

func (c *checker) branchTarget(s *scope, a Arg) {
	switch {
	case a.Kind == ArgName && a.Member == "" && a.Int == 0 && s.label(a.Name):
	case a.Kind != ArgName:
		c.errorAt(a.Pos, "", "bra needs a label, not %s", a)
	case s.variable(a.Name) != nil:
		c.errorAt(a.Pos, "jump through a table with brx.idx and .branchtargets", "bra needs a label, not the variable %s", a.Name)
	default:
		hint := didYouMean(a.Name, s.candidates(true))
		if line := labelLine(c.f.Body, a.Name); line > 0 {
			hint = fmt.Sprintf("the label on line %d is inside a { } block; labels are seen only within their block", line)
		}
		c.errorAt(a.Pos, hint, "undefined label %s", a.Name)
	}
}

// labelLine finds a label anywhere in the body.
func labelLine(b *Block, name string) int {
	for _, st := range b.Stmts {
		switch x := st.(type) {
		case *Label:
			if x.Name == name {
				return x.Pos.Line
			}
		case *Block:
			if n := labelLine(x, name); n > 0 {
				return n
			}
		}
	}
	return 0
}

func (c *checker) call(s *scope, in *Instr) {
	for _, a := range slices.Concat(in.CallRet, in.CallArgs) {
		c.arg(s, a)
	}
	target := in.Args[0]
	indirect := false
	switch {
	case target.Kind != ArgName:
		c.errorAt(target.Pos, "", "call needs a function or a register, not %s", target)
	case s.function(target.Name) != nil:
		c.callee(s, in, s.function(target.Name))
	case s.variable(target.Name) != nil:
		indirect = true
	default:
		c.errorAt(target.Pos, didYouMean(target.Name, s.candidates(false)), "undefined function %s", target.Name)
	}
	if len(in.Args) == 1 {
		if indirect {
			c.errorAt(target.Pos, "name a .callprototype or .calltargets after the arguments", "indirect call through %s without a prototype", target.Name)
		}
		return
	}
	for _, a := range in.Args[1:] {
		switch x := s.list(a.Name).(type) {
		case *Prototype:
		case *Targets:
			if !x.Call {
				c.errorAt(a.Pos, "", "%s is a .branchtargets; a call needs .callprototype or .calltargets", a.Name)
			}
		default:
			c.errorAt(a.Pos, "", "%s is not the label of a .callprototype or .calltargets", a)
		}
	}
}

// arg checks the names in an operand.
func (c *checker) arg(s *scope, a Arg) {
	for _, e := range a.Elems {
		c.arg(s, e)
	}
	if a.Kind != ArgName && a.Kind != ArgAddr && a.Kind != ArgIndex || a.Name == "" {
		return
	}
	if s.variable(a.Name) != nil || IsSpecial(a.Name) || s.function(a.Name) != nil || s.label(a.Name) || s.list(a.Name) != nil {
		return
	}
	c.undeclared(s, a.Name, a.Pos, "name")
}

// negated: ! stands before predicates only, and - before constants.
func (c *checker) negated(s *scope, in *Instr, a *Arg) {
	if v := s.variable(a.Name); a.Kind == ArgName && a.Neg && (!a.Not && in.Op[0] != 'v' || a.Not && v != nil && v.Type != "pred") {
		sign := "-"
		if a.Not {
			sign = "!"
		}
		c.errorAt(a.Pos, "negate it with neg or not first: ! is for predicates, - for operands of vmad", "operand %s%s of %s", sign, a.Name, in.Name())
	}
}

func (c *checker) undeclared(s *scope, name string, pos Pos, what string) {
	hint := didYouMean(name, s.candidates(false))
	if strings.HasPrefix(name, "%") {
		what = "register"
		if sp := Suggest(name, specialRegisters); sp != "" && hint == "" {
			hint = "did you mean " + sp + "?"
		}
	}
	base := strings.TrimRight(name, "0123456789")
	if what == "register" && base != name {
		hint = "no .reg in sight declares " + base + "<N>" // the nearest name of another base would only mislead
	}
	for x := s; x != nil; x = x.outer {
		if v := x.ranges[base]; v != nil && base != name {
			hint = fmt.Sprintf("line %d declares %s0 to %s%d only", v.Pos.Line, base, base, v.Range-1)
			break
		}
	}
	if v := findVar(c.f.Body, name); v != nil {
		if before(pos, v.Pos) {
			hint = fmt.Sprintf("it is declared later, on line %d", v.Pos.Line)
		} else {
			hint = fmt.Sprintf("the one declared on line %d is gone: its { } block has ended", v.Pos.Line)
		}
	}
	c.errorAt(pos, hint, "undeclared %s %s", what, name)
}

// findVar finds a declaration of the name anywhere in the body, scopes aside.
func findVar(b *Block, name string) *Var {
	for _, st := range b.Stmts {
		switch x := st.(type) {
		case *Var:
			if x.Declares(name) {
				return x
			}
		case *Block:
			if v := findVar(x, name); v != nil {
				return v
			}
		}
	}
	return nil
}

// FindEntry finds the kernel of that name, or the only kernel for an empty name. Its error lists what there is.
func (m *Module) FindEntry(name string) (*Func, error) {
	if f := m.Entry(name); f != nil {
		return f, nil
	}
	var names []string
	for _, f := range m.Entries() {
		names = append(names, f.Name)
	}
	list := strings.Join(names[:min(len(names), 10)], ", ")
	if len(names) > 10 {
		list += fmt.Sprintf(" and %d more", len(names)-10)
	}
	switch {
	case len(names) == 0:
		return nil, fmt.Errorf("%s: no kernel (.entry with a body) in this file", m.File)
	case name == "":
		return nil, fmt.Errorf("%s: %d kernels in this file: name one of %s", m.File, len(names), list)
	}
	hint := didYouMean(name, names)
	for _, n := range names {
		if strings.Contains(n, fmt.Sprint(len(name))+name) { // C++ mangling: length and name
			hint = "did you mean " + n + "?"
			break
		}
	}
	if hint != "" {
		hint = "; " + hint
	}
	return nil, fmt.Errorf("%s: no kernel %s in this file; it has %s%s", m.File, quote(name), list, hint)
}
