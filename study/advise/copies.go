package advise

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sarchlab/smsim/isa/ptx"
)

// Copies gives every thread of a kernel n independent pieces of work in the place of one: the instructions that depend on a buffer are
// there n times, interleaved, each copy with registers, shared and local memory and buffers of its own, the further buffers as parameters
// behind those of the kernel, copy by copy. What depends on no buffer (the thread's place, loop counters, scalar parameters) is computed
// once, and control flow is that of the first copy, so that the copies' buffers must hold what the first's do.
//
// buffers says of each parameter whether it is one. The dynamic shared memory of a launch must grow to n times shared bytes, rounded up to
// [sharedStep]. The error says why a kernel cannot be multiplied.
func Copies(file string, text []byte, entry string, buffers []bool, shared, n int) (string, error) {
	m, err := ptx.Parse(file, text)
	if err != nil {
		return "", err
	}
	fn := m.Entry(entry)
	if fn == nil {
		return "", fmt.Errorf("there is no kernel %q", entry)
	}
	k, err := newKernel(m, fn, nil)
	if err != nil {
		return "", err
	}
	c := &copier{k: k, own: map[string]bool{}, regs: map[reg]bool{}, in: map[*ptx.Instr]bool{}, shared: roundUp(shared), n: n}
	for i, p := range fn.Params {
		if i < len(buffers) && buffers[i] {
			c.own[p.Name] = true
		}
	}
	if err := c.variables(); err != nil {
		return "", err
	}
	if err := c.spread(); err != nil {
		return "", err
	}
	c.declare()
	c.body(fn.Body)
	out := m.String()
	if _, err := ptx.Parse(file, []byte(out)); err != nil {
		return "", err
	}
	return out, nil
}

// sharedStep is the alignment of each copy's dynamic shared memory in bytes.
const sharedStep = 128

func roundUp(shared int) int { return (shared + sharedStep - 1) / sharedStep * sharedStep }

// copier multiplies a kernel.
type copier struct {
	k      *kernel
	prefix string
	own    map[string]bool     // parameters and variables that each copy has for itself
	extern string              // the dynamic shared memory
	regs   map[reg]bool        // registers that each copy has for itself
	in     map[*ptx.Instr]bool // instructions that each copy has
	shared int
	n      int
}

// once are the instructions that a thread executes once, however many copies there are.
var once = wordSet("bra brx ret exit trap bar barrier membar fence nanosleep pmevent brkpt griddepcontrol activemask elect")

// variables finds the shared and local variables.
func (c *copier) variables() error {
	var names []string
	see := func(v *ptx.Var) error {
		names = append(names, v.Name)
		switch {
		case v.Space == "shared" && v.Extern:
			c.extern = v.Name
		case v.Space == "shared", v.Space == "local":
			c.own[v.Name] = true
		case v.Space == "global" && v.Init == nil && c.names(v.Name):
			return fmt.Errorf("it uses the variable %s of the module", v.Name)
		}
		return nil
	}
	for _, v := range c.k.mod.Vars {
		if err := see(v); err != nil {
			return err
		}
	}
	for _, p := range c.k.fn.Params {
		names = append(names, p.Name)
	}
	for s := range c.k.scopes {
		for _, st := range s.Stmts {
			if v, ok := st.(*ptx.Var); ok {
				if err := see(v); err != nil {
					return err
				}
			}
		}
	}
	for i := 0; ; i++ {
		c.prefix = fmt.Sprintf("copy%d_", i)
		if !slices.ContainsFunc(names, func(x string) bool { return strings.HasPrefix(strings.TrimPrefix(x, "%"), c.prefix) }) {
			return nil
		}
	}
}

// names says whether the kernel's instructions have the name.
func (c *copier) names(name string) bool {
	for _, in := range c.k.insts {
		for _, a := range in.Args {
			found := false
			walk(a, func(x string) { found = found || x == name })
			if found {
				return true
			}
		}
	}
	return false
}

// spread marks the instructions of the copies: those that read what a copy has for itself, and all that set a register which one of them sets.
func (c *copier) spread() error {
	for changed := true; changed; {
		changed = false
		mark := func(in *inst) {
			if c.in[in.Instr] {
				return
			}
			c.in[in.Instr], changed = true, true
			for _, r := range in.sets {
				c.regs[r] = true
			}
		}
		for i, in := range c.k.insts {
			if in.Op == "call" {
				return errors.New("it calls functions")
			}
			if once[in.Op] && len(in.sets) == 0 {
				continue
			}
			if slices.ContainsFunc(in.sets, c.has) || slices.ContainsFunc(in.reads, c.has) || slices.ContainsFunc(in.Args, func(a ptx.Arg) bool { return c.mine(in, a) }) {
				mark(in)
			}
			// A copy's carry must not meet another's, so that all between the setting and the last reading of the flag is one piece.
			if c.in[in.Instr] && (setsCarry(in.Instr) || readsCarry(in.Instr)) {
				from, to := c.chainAround(i)
				for _, x := range c.k.insts[from:to] {
					mark(x)
				}
			}
		}
	}
	for _, in := range c.k.insts {
		if c.in[in.Instr] && (in.Op == "st" || in.Op == "atom" || in.Op == "red") {
			return nil
		}
	}
	return errors.New("it writes to none of its buffers")
}

func (c *copier) has(r reg) bool { return c.regs[r] }

// mine says whether an operand names a parameter or variable that each copy has for itself.
func (c *copier) mine(in *inst, a ptx.Arg) bool {
	found := false
	walk(a, func(name string) {
		if _, isReg := in.scope.resolve(name); !isReg && (c.own[name] || name == c.extern && name != "") {
			found = true
		}
	})
	return found
}

// chainAround is the run of instructions [from, to) through which the carry flag that instruction i touches is handed on.
func (c *copier) chainAround(i int) (from, to int) {
	insts := c.k.insts
	from, to = i, i+1
	for j := i; j >= insts[i].blk.first; j-- {
		if in := insts[j].Instr; setsCarry(in) || readsCarry(in) {
			from = j
			if !readsCarry(in) {
				break
			}
		}
	}
	for j := i + 1; j < insts[i].blk.last; j++ {
		in := insts[j].Instr
		if setsCarry(in) && !readsCarry(in) {
			break
		}
		if readsCarry(in) {
			to = j + 1
		}
	}
	return from, to
}

// renamed is the name that something has in copy i.
func (c *copier) renamed(name string, i int) string {
	if i == 0 {
		return name
	}
	tail, isReg := strings.CutPrefix(name, "%")
	out := fmt.Sprintf("%s%d_%s", c.prefix, i, tail)
	if isReg {
		out = "%" + out
	}
	return out
}

// declare gives the copies their parameters, variables and registers.
func (c *copier) declare() {
	fn := c.k.fn
	params := slices.Clone(fn.Params)
	for i := 1; i < c.n; i++ {
		for _, p := range params {
			if c.own[p.Name] {
				fn.Params = append(fn.Params, c.variable(p, i))
			}
		}
	}
	for _, v := range slices.Clone(c.k.mod.Vars) {
		for i := 1; i < c.n && c.own[v.Name]; i++ {
			c.k.mod.Vars = append(c.k.mod.Vars, c.variable(v, i))
		}
	}
	for s := range c.k.scopes {
		var out []ptx.Stmt
		for _, st := range s.Stmts {
			out = append(out, st)
			if v, ok := st.(*ptx.Var); ok && (v.Space == "reg" || c.own[v.Name]) {
				for i := 1; i < c.n; i++ {
					out = append(out, c.variable(v, i))
				}
			}
		}
		s.Stmts = out
	}
}

func (c *copier) variable(v *ptx.Var, i int) *ptx.Var {
	x := *v
	x.Name = c.renamed(v.Name, i)
	return &x
}

// body writes the instructions of a scope with their copies.
func (c *copier) body(b *ptx.Block) {
	insts := map[*ptx.Instr]*inst{}
	for _, in := range c.k.insts {
		insts[in.Instr] = in
	}
	var out []ptx.Stmt
	for n := 0; n < len(b.Stmts); n++ {
		in, ok := b.Stmts[n].(*ptx.Instr)
		if !ok {
			if inner, isBlock := b.Stmts[n].(*ptx.Block); isBlock {
				c.body(inner)
			}
			out = append(out, b.Stmts[n])
			continue
		}
		piece := []ptx.Stmt{in}
		if c.in[in] && setsCarry(in) {
			_, to := c.chainAround(insts[in].n)
			for end := insts[c.k.insts[to-1].Instr]; piece[len(piece)-1] != ptx.Stmt(end.Instr) && n+1 < len(b.Stmts); {
				n++
				piece = append(piece, b.Stmts[n])
			}
		}
		out = append(out, piece...)
		for i := 1; i < c.n; i++ {
			for _, st := range piece {
				if x, ok := st.(*ptx.Instr); ok && c.in[x] {
					out = append(out, c.instr(insts[x], i))
				}
			}
		}
	}
	b.Stmts = out
}

func (c *copier) instr(in *inst, i int) *ptx.Instr {
	x := *in.Instr
	if g := x.Guard; g != nil {
		if r, ok := in.scope.resolve(g.Name); ok && c.regs[r] {
			x.Guard = &ptx.Guard{Pos: g.Pos, Name: c.renamed(g.Name, i), Neg: g.Neg}
		}
	}
	x.Args = c.args(in, x.Args, i)
	x.Text = x.String()
	return &x
}

func (c *copier) args(in *inst, args []ptx.Arg, i int) []ptx.Arg {
	out := slices.Clone(args)
	for j := range out {
		a := &out[j]
		if r, ok := in.scope.resolve(a.Name); ok {
			if c.regs[r] {
				a.Name = c.renamed(a.Name, i)
			}
		} else if c.own[a.Name] {
			a.Name = c.renamed(a.Name, i)
		} else if a.Name != "" && a.Name == c.extern {
			a.Int += int64(i * c.shared)
		}
		if a.Elems != nil {
			a.Elems = c.args(in, a.Elems, i)
		}
	}
	return out
}
