package advise

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sarchlab/smsim/isa/ptx"
)

// site is a place where a rule applies: its instructions and what replaces them.
type site struct {
	at     []*inst              // the instructions it is about, for the report
	drop   []*inst              // go
	before map[int][]*ptx.Instr // new instructions, in front of the instruction with that number
	params []launchParam        // the launch values that it relies on; none: it holds always
}

func (s *site) put(at *inst, in *ptx.Instr) {
	if s.before == nil {
		s.before = map[int][]*ptx.Instr{}
	}
	in.Loc = at.Loc
	s.before[at.n] = append(s.before[at.n], in)
}

// namer gives registers of its own to the rewritten code.
type namer struct {
	prefix map[string]string // by type
	next   map[string]int
}

func (k *kernel) newNamer() *namer {
	n := &namer{prefix: map[string]string{}, next: map[string]int{}}
	var names []string
	for _, s := range k.scopes {
		for _, v := range s.vars {
			names = append(names, v.Name)
		}
	}
	for _, t := range []string{"b32", "b64"} {
		for i := 0; ; i++ {
			p := fmt.Sprintf("%%adv%d%s_", i, t)
			if !slices.ContainsFunc(names, func(x string) bool {
				return strings.HasPrefix(x, p) || strings.HasPrefix(p, x) && strings.HasPrefix(x, "%adv")
			}) {
				n.prefix[t] = p
				break
			}
		}
	}
	return n
}

// fresh is a new register of a type, b32 or b64.
func (n *namer) fresh(typ string) ptx.Arg {
	i := n.next[typ]
	n.next[typ]++
	return name(fmt.Sprintf("%s%d", n.prefix[typ], i))
}

func name(s string) ptx.Arg { return ptx.Arg{Kind: ptx.ArgName, Name: s} }
func num(v int64) ptx.Arg   { return ptx.Arg{Kind: ptx.ArgInt, Int: v} }
func vec(e ...ptx.Arg) ptx.Arg {
	return ptx.Arg{Kind: ptx.ArgVector, Elems: e}
}

// op builds an instruction: op("mad.lo.u32", d, a, b, c).
func op(full string, args ...ptx.Arg) *ptx.Instr {
	w := strings.Split(full, ".")
	in := &ptx.Instr{Op: w[0], Mods: w[1:], Args: args}
	in.Text = in.String()
	return in
}

// rewrite puts the sites' code into the kernel, removes what nobody reads any more and gives the new text of the module, and what
// parameters must be for it.
func (k *kernel) rewrite(sites []*site, n *namer) (string, []launchParam, error) {
	drop := map[*ptx.Instr]bool{}
	before := map[*ptx.Instr][]*ptx.Instr{}
	for _, s := range sites {
		for _, in := range s.drop {
			drop[in.Instr] = true
		}
		for at, list := range s.before {
			before[k.insts[at].Instr] = append(before[k.insts[at].Instr], list...)
		}
	}
	dead := k.deadBefore()
	read := map[string]bool{}
	for _, list := range before {
		for _, in := range list {
			for _, a := range in.Args {
				walk(a, func(name string) { read[name] = true })
			}
		}
	}
	covered, fits, words := k.whole(func(name string) bool { return read[name] }, before)
	after, halves := k.splits(func(name string) bool { return read[name] })
	edit(k.fn.Body, func(in *ptx.Instr) []*ptx.Instr {
		out := slices.Clone(before[in])
		if !drop[in] {
			out = append(out, in)
		}
		return append(out, after[in]...)
	})
	for _, t := range []string{"b64", "b32"} {
		if n.next[t] > 0 {
			v := &ptx.Var{Space: "reg", Type: t, Name: n.prefix[t], Range: n.next[t]}
			k.fn.Body.Stmts = slices.Insert(k.fn.Body.Stmts, 0, ptx.Stmt(v))
		}
	}
	for _, r := range []ptx.Var{{Name: k.loadPrefix, Range: words}, {Name: k.halfPrefix, Range: halves}} {
		if r.Range > 0 {
			k.fn.Body.Stmts = slices.Insert(k.fn.Body.Stmts, 0, ptx.Stmt(&ptx.Var{Space: "reg", Type: "b32", Name: r.Name, Range: r.Range}))
		}
	}
	k.sweep(dead, covered)
	k.raiseTarget()
	text := k.mod.String()
	_, err := ptx.Parse(k.mod.File, []byte(text))
	return text, fits, err
}

func edit(b *ptx.Block, f func(*ptx.Instr) []*ptx.Instr) {
	var out []ptx.Stmt
	for _, st := range b.Stmts {
		switch x := st.(type) {
		case *ptx.Instr:
			for _, in := range f(x) {
				out = append(out, in)
			}
			continue
		case *ptx.Block:
			edit(x, f)
		}
		out = append(out, st)
	}
	b.Stmts = out
}

// deadBefore are the instructions without readers in the original: they stay.
func (k *kernel) deadBefore() map[*ptx.Instr]bool {
	read := map[reg]bool{}
	for _, in := range k.insts {
		for _, r := range in.reads {
			read[r] = true
		}
	}
	out := map[*ptx.Instr]bool{}
	for _, in := range k.insts {
		if len(in.sets) > 0 && !slices.ContainsFunc(in.sets, func(r reg) bool { return read[r] }) {
			out[in.Instr] = true
		}
	}
	return out
}

// sweep removes instructions whose results the rewrites left without readers, and of the loads those given.
func (k *kernel) sweep(keep, loads map[*ptx.Instr]bool) {
	for {
		after, err := newKernel(k.mod, k.fn, nil)
		if err != nil {
			return
		}
		dead := after.deadBefore()
		n := 0
		edit(k.fn.Body, func(in *ptx.Instr) []*ptx.Instr {
			if dead[in] && !keep[in] && !setsCarry(in) && (pure[in.Op] || in.Op == "ld" && in.Has("param") || loads[in]) {
				n++
				return nil
			}
			return []*ptx.Instr{in}
		})
		if n == 0 {
			return
		}
	}
}

// needs are the first target and PTX version (times ten) that have an instruction which rules write.
var needs = []struct {
	op, mod     string
	sm, version int
}{
	{"dp4a", "", 61, 50}, {"dp2a", "", 61, 50}, {"shf", "", 32, 31}, {"lop3", "", 50, 43}, {"vabsdiff4", "", 30, 30}, {"prmt", "", 20, 20}, {"max", "relu", 90, 80}, {"min", "relu", 90, 80},
	{"add", "cc", 20, 12}, {"sad", "", 10, 10}, {"add", "s16x2", 90, 80}, {"add", "u16x2", 90, 80}, {"min", "s16x2", 90, 80}, {"min", "u16x2", 90, 80}, {"max", "s16x2", 90, 80}, {"max", "u16x2", 90, 80},
}

// needed are the first target and PTX version (times ten) that have all such instructions of the kernel.
func (k *kernel) needed() (sm, version int) {
	edit(k.fn.Body, func(in *ptx.Instr) []*ptx.Instr {
		for _, x := range needs {
			if in.Op == x.op && (x.mod == "" || in.Has(x.mod)) {
				sm, version = max(sm, x.sm), max(version, x.version)
			}
		}
		return []*ptx.Instr{in}
	})
	return sm, version
}

// raiseTarget makes the module's target and version new enough for its instructions.
func (k *kernel) raiseTarget() {
	sm, version := k.needed()
	if k.mod.SM < sm {
		k.mod.SM, k.mod.Target = sm, fmt.Sprintf("sm_%d", sm)
	}
	if 10*k.mod.Major+k.mod.Minor < version {
		k.mod.Major, k.mod.Minor = version/10, version%10
	}
}
