package ptx

// Rules of declarations, as ptxas 13.0 has them.

// declarationProblem is what is wrong with a variable on its own, "" if nothing is.
func declarationProblem(v *Var) (msg, hint string) {
	size := v.elementBytes()
	switch {
	case v.Space == "reg" && len(v.Dims) > 0:
		return "an array cannot be in registers", "write .reg ." + v.Type + " " + v.Name + "<N> for N registers, or declare it .local"
	case v.Type == "pred" && v.Space != "reg":
		return "predicates are registers only", "keep it as a number and compare that with setp"
	case v.Vector > 0 && size > 16 && v.Space != "reg":
		return "a vector has at most 128 bits", ""
	case len(v.Init) > 0 && v.Space != "global" && v.Space != "const":
		return "variables in ." + v.Space + " have no initial values", "store them in the kernel, or declare it .global or .const"
	case !v.Extern && v.Space != "param" && len(v.Dims) > 0 && v.Dims[0] < 0:
		return "an array without a size, and without initial values that tell it", "write the number of elements, or .extern before it"
	}
	return "", ""
}

// mismatched is the first initial value that is a floating-point number where the variable is an integer, or the reverse; nil if all fit.
func mismatched(v *Var) *InitValue {
	float := v.Type == "f16" || v.Type == "bf16" || v.Type == "f32" || v.Type == "f64"
	for i := range v.Init {
		x := &v.Init[i]
		if x.Symbol == "" && x.Field == "" && (float && !x.IsFloat && x.Int != 0 || !float && v.Type[0] != 'b' && x.IsFloat) {
			return x
		}
	}
	return nil
}

// clashes says whether two declarations of one name cannot stand together. Compilers repeat ranges of registers, which ptxas 13.0
// does not take any more.
func clashes(old, v *Var) bool {
	same := old.Space == v.Space && old.Type == v.Type && old.Vector == v.Vector
	return !same || v.Space != "reg" && !old.Extern && !v.Extern
}

// header checks what stands around the body of a function.
func (c *checker) header(f *Func) {
	zero := func(d [3]int) bool { return d != [3]int{} && d[0]*d[1]*d[2] == 0 }
	switch {
	case zero(f.MaxNTid), zero(f.ReqNTid):
		c.errorAt(f.Pos, "", "kernel %s is for blocks without a thread: .maxntid and .reqntid are at least 1", f.Name)
	case f.Entry && f.Extern && f.Body != nil:
		c.errorAt(f.Pos, "", "kernel %s is .extern and has a body", f.Name)
	}
	for _, v := range f.Params {
		if f.Entry && v.Space != "param" {
			c.errorAt(v.Pos, "write .param", "parameter %s of kernel %s is in .%s", v.Name, f.Name, v.Space)
		}
	}
}

// prototypes compares the declarations of a function with each other.
func (c *checker) prototypes() {
	first := map[string]*Func{}
	for _, f := range c.m.Funcs {
		old := first[f.Name]
		if old == nil {
			first[f.Name] = f
			continue
		}
		if old.Body != nil && f.Body != nil {
			continue // defined twice, which is reported
		} else if len(old.Params) != len(f.Params) || len(old.Returns) != len(f.Returns) || old.Entry != f.Entry {
			c.errorAt(f.Pos, "", "%s is declared otherwise on line %d: %d parameters and %d results there, %d and %d here",
				f.Name, old.Pos.Line, len(old.Params), len(old.Returns), len(f.Params), len(f.Returns))
		}
	}
}
