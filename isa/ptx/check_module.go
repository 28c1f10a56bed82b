package ptx

import "slices"

// Rules of what stands outside of functions, as ptxas 13.0 has them.

// constBytes is the size of the constant bank that .const variables share.
const constBytes = 65536

// withABI says that the module is written for the calling convention of PTX 3.0 and sm_20, which took registers, local variables and
// parameters away from the module.
func (m *Module) withABI() bool { return m.atLeast(3, 0) && m.SM >= 20 }

// moduleVar checks where a variable of the module is.
func (c *checker) moduleVar(v *Var) {
	switch {
	case (v.Space == "reg" || v.Space == "local") && c.m.withABI():
		c.errorAt(v.Pos, "declare it in the body of a function", "variable %s of the module is in .%s, which only functions have since PTX 3.0", v.Name, v.Space)
	case v.Space == "param":
		c.errorAt(v.Pos, "declare it between the parentheses of a kernel", "parameter %s outside of any function", v.Name)
	case v.Space == "tex" && c.m.atLeast(1, 5):
		c.errorAt(v.Pos, "write .global .texref "+v.Name, ".tex variable %s: they went with PTX 1.5", v.Name)
	case v.Bank != 0 && c.m.atLeast(2, 2):
		c.errorAt(v.Pos, "write .const", "constant bank of %s: numbers of banks went with PTX 2.2", v.Name)
	case v.Type == "samplerref" && !slices.Contains(c.m.TargetFlags, "texmode_independent"):
		c.errorAt(v.Pos, "write .target "+c.m.Target+", texmode_independent", "sampler %s in a module whose textures bring their own", v.Name)
	}
}

// constantSpace checks how large all constants are together.
func (c *checker) constantSpace() {
	n := 0
	for _, v := range c.m.Vars {
		if v.Space != "const" || v.Extern || v.Bank != 0 {
			continue
		}
		a := max(v.Align, v.elementBytes(), 1)
		if n = (n+a-1)/a*a + v.Bytes(); n > constBytes {
			c.errorAt(v.Pos, "declare the larger ones .global", "the constants up to %s have %d bytes, of which %d is the most", v.Name, n, constBytes)
			return
		}
	}
}

// target checks the words behind .target.
func (c *checker) target() {
	m := c.m
	at := Pos{1, 1}
	has := func(word string) bool { return slices.Contains(m.TargetFlags, word) }
	if has("texmode_unified") && has("texmode_independent") {
		c.errorAt(at, "keep one", ".target has texmode_unified and texmode_independent, which exclude each other")
	}
	if has("map_f64_to_f32") && m.SM >= 13 {
		c.errorAt(at, "leave it out", ".target %s, map_f64_to_f32: sm_13 and newer have double precision", m.Target)
	}
}
