package advise

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sarchlab/smsim/isa/ptx"
)

// kernel is a function's body with what the rules ask about it: which definition a use sees, and who uses a definition.
type kernel struct {
	mod    *ptx.Module
	fn     *ptx.Func
	params map[string]uint64 // values of scalar parameters at the launch, by parameter name, and of sizes: %ntid.x
	insts  []*inst
	blocks []*basicBlock
	defs   map[reg][]*inst
	scopes map[*ptx.Block]*scope

	parts      map[partKey]loadPart   // registers that are loaded as parts of words
	loaded     map[string]*loadedWord // by the name of the register that would hold the word
	loadPrefix string
	rests      map[reg]rest
	longs      []word // 64-bit values whose words are read as registers of 32 bits
	halfPrefix string
}

// inst is an instruction with its place.
type inst struct {
	*ptx.Instr
	n     int // in the order of the text
	blk   *basicBlock
	scope *scope
	sets  []reg
	reads []reg
	users []*inst // instructions that read a value which only this one can have set
	loose bool    // other instructions may read it too, through a loop or a join
}

// reg is a register: its name and the scope that declares it.
type reg struct {
	name string
	in   *scope
	typ  string
}

// bits is the width of the register, 1 for predicates.
func (r reg) bits() int {
	if n, err := strconv.Atoi(strings.TrimLeft(r.typ, "bfsu")); err == nil {
		return n
	}
	return 1
}

type scope struct {
	parent *scope
	vars   []*ptx.Var
	labels map[string]*basicBlock
}

type basicBlock struct {
	n           int
	first, last int // instructions [first, last)
	next        []*basicBlock
	from        []*basicBlock
	dom         []bool // blocks that dominate this one
}

// word is a value that a register holds: the instruction that set it, or the block at whose start it is there.
type word struct {
	reg reg
	def *inst
	blk *basicBlock
}

// newKernel analyses a kernel. The error tells what keeps the rules from working on it.
func newKernel(m *ptx.Module, fn *ptx.Func, params map[string]uint64) (*kernel, error) {
	k := &kernel{mod: m, fn: fn, params: params, defs: map[reg][]*inst{}, scopes: map[*ptx.Block]*scope{}}
	k.newBlock(nil)
	k.collect(fn.Body, nil)
	k.blocks[len(k.blocks)-1].last = len(k.insts)
	if err := k.link(); err != nil {
		return nil, err
	}
	k.dominators()
	for _, in := range k.insts {
		for _, r := range in.sets {
			k.defs[r] = append(k.defs[r], in)
		}
	}
	k.uses()
	k.findLoads()
	return k, nil
}

func (k *kernel) newBlock(from *basicBlock) *basicBlock {
	b := &basicBlock{n: len(k.blocks), first: len(k.insts)}
	if n := len(k.blocks); n > 0 {
		k.blocks[n-1].last = len(k.insts)
	}
	k.blocks = append(k.blocks, b)
	if from != nil {
		from.next = append(from.next, b)
	}
	return b
}

// collect lists the instructions of a scope, with basic blocks cut at labels and jumps.
func (k *kernel) collect(body *ptx.Block, parent *scope) {
	s := &scope{parent: parent, labels: map[string]*basicBlock{}}
	k.scopes[body] = s
	for _, st := range body.Stmts {
		if v, ok := st.(*ptx.Var); ok && v.Space == "reg" {
			s.vars = append(s.vars, v)
		}
	}
	for _, st := range body.Stmts {
		cur := k.blocks[len(k.blocks)-1]
		switch x := st.(type) {
		case *ptx.Block:
			k.collect(x, s)
		case *ptx.Label:
			s.labels[x.Name] = k.newBlock(cur)
		case *ptx.Instr:
			in := &inst{Instr: x, n: len(k.insts), blk: cur, scope: s}
			in.sets, in.reads = k.operands(in)
			k.insts = append(k.insts, in)
			switch x.Op {
			case "bra", "brx", "ret", "exit", "trap":
				if x.Guard != nil {
					k.newBlock(cur)
				} else {
					k.newBlock(nil)
				}
			}
		}
	}
}

// link adds the edges of jumps.
func (k *kernel) link() error {
	for _, in := range k.insts {
		switch in.Op {
		case "bra":
			if len(in.Args) != 1 {
				return fmt.Errorf("line %d: %s has no label", in.Pos.Line, in.Name())
			}
			to := in.scope.label(in.Args[0].Name)
			if to == nil {
				return fmt.Errorf("line %d: the label %s is not in this kernel", in.Pos.Line, in.Args[0].Name)
			}
			in.blk.next = append(in.blk.next, to)
		case "brx":
			// A table may lead anywhere: every labelled block.
			in.blk.next = append(in.blk.next, k.blocks...)
		}
	}
	for _, b := range k.blocks {
		for _, to := range b.next {
			to.from = append(to.from, b)
		}
	}
	return nil
}

func (s *scope) label(name string) *basicBlock {
	for ; s != nil; s = s.parent {
		if b := s.labels[name]; b != nil {
			return b
		}
	}
	return nil
}

// resolve finds the register that a name means in a scope.
func (s *scope) resolve(name string) (reg, bool) {
	for ; s != nil; s = s.parent {
		for _, v := range s.vars {
			if v.Range == 0 && v.Name == name {
				return reg{name, s, v.Type}, true
			}
			if tail, ok := strings.CutPrefix(name, v.Name); ok && v.Range > 0 {
				if n, err := strconv.Atoi(tail); err == nil && n >= 0 && n < v.Range && strconv.Itoa(n) == tail {
					return reg{name, s, v.Type}, true
				}
			}
		}
	}
	return reg{}, false
}

// dominators finds for each block the blocks that every path to it passes.
func (k *kernel) dominators() {
	n := len(k.blocks)
	for i, b := range k.blocks {
		b.dom = make([]bool, n)
		for j := range b.dom {
			b.dom[j] = i != 0 || j == 0
		}
	}
	for changed := true; changed; {
		changed = false
		for i, b := range k.blocks[1:] {
			for j := range b.dom {
				if !b.dom[j] || j == i+1 {
					continue
				}
				for _, f := range b.from {
					if !f.dom[j] {
						b.dom[j], changed = false, true
						break
					}
				}
			}
		}
	}
}

// word is the value that a register holds when instruction at reads it.
func (k *kernel) word(at *inst, r reg) word {
	for n := at.n - 1; n >= at.blk.first; n-- {
		if in := k.insts[n]; slices.Contains(in.sets, r) {
			if in.Guard != nil {
				return word{reg: r, def: in, blk: at.blk} // either value: equal only within the block
			}
			return word{reg: r, def: in}
		}
	}
	// With a single definition that dominates, each path from it to here leaves the value as it is.
	if d := k.defs[r]; len(d) == 1 && d[0].Guard == nil && d[0].blk != at.blk && at.blk.dom[d[0].blk.n] {
		return word{reg: r, def: d[0]}
	}
	return word{reg: r, blk: at.blk}
}

// def is the instruction that alone can have set the value, nil if there are several.
func (w word) setter() *inst {
	if w.blk != nil {
		return nil
	}
	return w.def
}

// argWord is the value of a register operand.
func (k *kernel) argWord(at *inst, a ptx.Arg) (word, bool) {
	if a.Kind != ptx.ArgName || a.Neg || a.Member != "" || a.Int != 0 {
		return word{}, false
	}
	r, ok := at.scope.resolve(a.Name)
	if !ok {
		return word{}, false
	}
	return k.word(at, r), true
}

// available says whether the value can be read by name at an instruction.
func (k *kernel) available(w word, at *inst) bool {
	if w.reg.in == nil { // a word that is loaded whole, where its parts are now, or one of a 64-bit value, where that is set
		return w.def.blk == at.blk && w.def.n < at.n || w.def.blk != at.blk && at.blk.dom[w.def.blk.n]
	}
	r, ok := at.scope.resolve(w.reg.name)
	return ok && r == w.reg && k.word(at, r) == w
}

// uses notes who reads the value of each instruction, and where a value may reach instructions that other values reach too.
func (k *kernel) uses() {
	for _, in := range k.insts {
		for _, r := range in.reads {
			w := k.word(in, r)
			if d := w.setter(); d != nil {
				if !slices.Contains(d.users, in) {
					d.users = append(d.users, in)
				}
				continue
			}
			for _, d := range k.defs[r] {
				if k.exposed(d, r) || w.def == d || w.def != nil && w.blk == d.blk {
					d.loose = true
				}
			}
		}
	}
}

// exposed says whether the value of a definition can leave its block.
func (k *kernel) exposed(d *inst, r reg) bool {
	for n := d.n + 1; n < d.blk.last; n++ {
		if in := k.insts[n]; in.Guard == nil && slices.Contains(in.sets, r) {
			return false
		}
	}
	return true
}

// only says that the value of d is read by the one instruction, in the same block.
func (k *kernel) only(d, user *inst) bool {
	return d != nil && d.Guard == nil && !d.loose && len(d.users) == 1 && d.users[0] == user && d.blk == user.blk && len(d.sets) == 1
}
