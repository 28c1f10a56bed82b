package ptx

import (
	"fmt"
	"strings"
)

// Rules of declarations, as ptxas 13.0 has them.

// declarationProblem is what is wrong with a variable on its own, "" if nothing is.
func declarationProblem(v *Var) (msg, hint string) {
	size := v.elementBytes()
	switch {
	case v.Type == "pred" && v.Vector > 0:
		return "there are no vectors of predicates", ""
	case v.Space == "reg" && len(v.Dims) > 0:
		return "an array cannot be in registers", "write .reg ." + v.Type + " " + v.Name + "<N> for N registers, or declare it .local"
	case v.Type == "pred" && v.Space != "reg":
		return "predicates are registers only", "keep it as a number and compare that with setp"
	case v.Vector > 0 && size > 16 && v.Space != "reg":
		return "a vector has at most 128 bits", ""
	case len(v.Init) > 0 && v.Space != "global" && v.Space != "const":
		return "variables in ." + v.Space + " have no initial values", "store them in the kernel, or declare it .global or .const"
	case !v.Extern && v.Space != "param" && len(v.Dims) > 0 && v.Bytes() == 0:
		return "an array without elements", "write the number of elements"
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

// clashes says whether two declarations of one name cannot stand together.
func clashes(old, v *Var) bool {
	same := old.Space == v.Space && old.Type == v.Type && old.Vector == v.Vector
	return !same || !old.Extern && !v.Extern
}

// header checks what stands around the body of a function.
func (c *checker) header(f *Func) {
	zero := func(d [3]int) bool { return d != [3]int{} && d[0]*d[1]*d[2] == 0 }
	c.directives(f)
	switch {
	case zero(f.MaxNTid), zero(f.ReqNTid):
		c.errorAt(f.Pos, "", "kernel %s is for blocks without a thread: .maxntid and .reqntid are at least 1", f.Name)
	case f.Entry && f.Extern && f.Body != nil:
		c.errorAt(f.Pos, "", "kernel %s is .extern and has a body", f.Name)
	}
	for _, v := range f.Params {
		switch {
		case f.Entry && v.Space != "param":
			c.errorAt(v.Pos, "write .param", "parameter %s of kernel %s is in .%s", v.Name, f.Name, v.Space)
		case f.Entry && (len(v.Dims) > 0 && v.Dims[0] <= 0):
			c.errorAt(v.Pos, "write the number of elements", "parameter %s of kernel %s is an array without a size", v.Name, f.Name)
		case f.Entry && v.Vector > 0:
			c.errorAt(v.Pos, "pass an array of bytes and load vectors from it", "parameter %s of kernel %s is a vector", v.Name, f.Name)
		}
	}
	if f.Entry {
		c.parameterSpace(f)
	}
}

// Bytes of parameters that a kernel can have: before PTX 8.1 and from then on.
const (
	oldParamBytes = 4352
	newParamBytes = 32764
)

func (c *checker) parameterSpace(f *Func) {
	n := 0
	for _, v := range f.Params {
		a := max(v.Align, min(v.elementBytes(), 16), 1)
		n = (n+a-1)/a*a + v.Bytes()
	}
	switch {
	case n > newParamBytes:
		c.errorAt(f.Pos, "put them into memory and pass its address", "kernel %s has %d bytes of parameters, of which %d is the most", f.Name, n, newParamBytes)
	case n > oldParamBytes && !c.m.atLeast(8, 1):
		c.errorAt(f.Pos, "raise .version to 8.1 (up to 32764 bytes)", "kernel %s has %d bytes of parameters; .version %d.%d has at most %d",
			f.Name, n, c.m.Major, c.m.Minor, oldParamBytes)
	}
}

// atLeast compares the .version.
func (m *Module) atLeast(major, minor int) bool {
	return m.Major > major || m.Major == major && m.Minor >= minor
}

// directives checks what stands between the parameters and the body.
func (c *checker) directives(f *Func) {
	if f.NoReturn {
		switch {
		case f.Entry:
			c.errorAt(f.Pos, "leave it out", ".noreturn of kernel %s: it is for functions", f.Name)
		case len(f.Returns) > 0:
			c.errorAt(f.Pos, "leave it out", ".noreturn of function %s, which returns a value", f.Name)
		case !c.m.atLeast(6, 4):
			c.errorAt(f.Pos, "raise .version", ".noreturn of function %s needs .version 6.4 or newer; the module says .version %d.%d", f.Name, c.m.Major, c.m.Minor)
		}
	}
	for _, d := range f.Directives {
		word, _, _ := strings.Cut(d, " ")
		switch word {
		case ".maxnctapersm":
			if c.m.atLeast(2, 1) {
				c.errorAt(f.Pos, "write .minnctapersm", ".maxnctapersm of %s went with PTX 2.1", f.Name)
			}
		case ".reqnctapercluster", ".explicitcluster", ".maxclusterrank", ".blocksareclusters":
			if c.m.SM < 90 {
				c.errorAt(f.Pos, "", "%s of %s needs .target sm_90 or newer; the module says .target %s", word, f.Name, c.m.Target)
			} else if word == ".blocksareclusters" && !c.m.atLeast(9, 0) {
				c.errorAt(f.Pos, "", "%s of %s needs .version 9.0 or newer; the module says .version %d.%d", word, f.Name, c.m.Major, c.m.Minor)
			}
		case ".abi_preserve", ".abi_preserve_control":
			if f.Entry {
				c.errorAt(f.Pos, "leave it out", "%s of kernel %s: it is for functions", word, f.Name)
			}
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
		} else if a, b := differing(old, f); a != nil {
			c.errorAt(b.Pos, "", "%s is declared otherwise on line %d: %s there, %s here", f.Name, old.Pos.Line, typeText(a), typeText(b))
		}
	}
}

// differing is the first pair of parameters or results that two declarations of a function give another type.
func differing(f, g *Func) (a, b *Var) {
	x, y := append(append([]*Var{}, f.Returns...), f.Params...), append(append([]*Var{}, g.Returns...), g.Params...)
	for i := range x {
		if x[i].Type != y[i].Type || x[i].Space != y[i].Space || x[i].Bytes() != y[i].Bytes() || len(x[i].Dims) != len(y[i].Dims) {
			return x[i], y[i]
		}
	}
	return nil, nil
}

// typeText is a declaration without its name: ".param .b8[16]".
func typeText(v *Var) string {
	s := "." + v.Space + " ." + v.Type
	for _, d := range v.Dims {
		s += fmt.Sprintf("[%d]", d)
	}
	return s
}
