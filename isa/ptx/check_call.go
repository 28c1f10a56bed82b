package ptx

// Rules of calls, as ptxas 13.0 has them.

// callee checks a call of a named function against its declaration.
func (c *checker) callee(s *scope, in *Instr, f *Func) {
	target := in.Args[0]
	if first := c.firstDeclared(f.Name); first != nil && before(in.Pos, first.Pos) && f != c.f {
		c.errorAt(target.Pos, "declare it before: .func ... "+f.Name+"(...);", "%s is called before its declaration, on line %d", f.Name, first.Pos.Line)
	}
	c.formals(s, in.CallArgs, f.Params, "argument", f)
	if len(in.CallRet) == 0 && len(f.Returns) > 0 {
		c.errorAt(target.Pos, "name a variable for it: call (result), "+f.Name+", ...", "%s returns a value, which this call does not take", f.Name)
		return
	}
	c.formals(s, in.CallRet, f.Returns, "result", f)
}

// firstDeclared is the first declaration or definition of a function in the file.
func (c *checker) firstDeclared(name string) *Func {
	for _, f := range c.m.Funcs {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// formals compares what is passed with what a function declares; lowering reports other numbers of arguments.
func (c *checker) formals(s *scope, actual []Arg, formal []*Var, what string, f *Func) {
	if len(actual) != len(formal) {
		return
	}
	for i, a := range actual {
		v := s.variable(a.Name)
		if a.Kind != ArgName || a.Member != "" || v == nil || fits(v, formal[i]) {
			continue
		}
		c.errorAt(a.Pos, "", "%s %s of %s is %s, and %s is declared %s", what, a.Name, f.Name, typeText(v), formal[i].Name, typeText(formal[i]))
	}
}

// fits says whether a variable can stand for a parameter: sizes are the same, bits fit everything, integers fit integers.
func fits(v, formal *Var) bool {
	array := func(x *Var) bool { return len(x.Dims) > 0 }
	if v.Type == "pred" || formal.Type == "pred" {
		return v.Type == formal.Type
	}
	if v.elementBytes() == 0 || formal.elementBytes() == 0 || v.Range > 0 && v.Space != "reg" {
		return true // opaque
	}
	if array(v) != array(formal) || v.Bytes() != formal.Bytes() {
		return false
	}
	kind := func(x *Var) byte {
		switch x.Type[0] {
		case 'u', 's':
			return 'i'
		}
		return x.Type[0]
	}
	a, b := kind(v), kind(formal)
	return a == b || a == 'b' || b == 'b'
}
