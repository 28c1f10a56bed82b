package lower

import (
	"slices"

	"github.com/sarchlab/smsim/isa"
)

// uniformBranches is the compute capability from which branches on what all lanes share are BRA.U on a uniform predicate. Before, ptxas
// 13.0 compares on the uniform datapath only with a copy to a general predicate behind it.
const uniformBranches = 100

// maxTests bounds the uniform predicates that live from one block to another; seven are all there are.
const maxTests = 6

// test is a comparison of values that all lanes share, for branches that they take together.
type test struct {
	pred     isa.Reg
	at       reader
	branches []*block // whose terminators read the predicate
}

// collectTests finds the comparisons that only branches read, all in blocks that the lanes of a warp execute together.
func (d *datapath) collectTests(u *uniformity, sites []defSite) {
	f := d.f
	if f.t.SM < uniformBranches {
		return
	}
	for _, b := range f.rpo {
		for i := range b.insts {
			in := &b.insts[i]
			if d.parted[b] || in.Op != isa.OpISETP || in.Guard.Kind != isa.KindNone || in.Mod.Has(isa.ModEX) || in.NDst != 2 || in.Dst[1] != pt || in.Src[2] != pt || in.Dst[0].Kind != isa.KindPred {
				continue
			}
			id := d.n.of(isa.KindPred, in.Dst[0].Reg)
			if id < 0 || !sites[id].value() || u.divergent[id] {
				continue
			}
			d.tests = append(d.tests, &test{pred: in.Dst[0].Reg, at: reader{b: b, in: in}})
		}
	}
	byPred := map[isa.Reg]*test{}
	for _, t := range d.tests {
		byPred[t.pred] = t
	}
	for _, b := range f.rpo {
		for i := range b.insts {
			in := &b.insts[i]
			branch := in == b.terminator() && in.Op == isa.OpBRA && in.NSrc == 1 && !d.parted[b]
			f.uses(in, d.n, func(id int) {
				kind, r := d.n.kindOf(id)
				t := byPred[r]
				if kind != isa.KindPred || t == nil {
					return
				}
				if t.branches = append(t.branches, b); !branch {
					delete(byPred, r)
				}
			})
		}
	}
	d.tests = slices.DeleteFunc(d.tests, func(t *test) bool { return byPred[t.pred] == nil || len(t.branches) == 0 })
	d.fewTests()
	d.isTest = map[*isa.Inst]*test{}
	for _, t := range d.tests {
		d.isTest[t.at.in] = t
	}
}

// fewTests drops tests until no more live from one block to another than there are uniform predicates.
func (d *datapath) fewTests() {
	l := d.f.live()
	count := map[*block]int{}
	d.tests = slices.DeleteFunc(d.tests, func(t *test) bool {
		id := d.n.of(isa.KindPred, t.pred)
		var through []*block
		for _, b := range d.f.rpo {
			if l.out[b.id].has(id) {
				if count[b] >= maxTests {
					return true
				}
				through = append(through, b)
			}
		}
		for _, b := range through {
			count[b]++
		}
		return false
	})
}

// settleTests drops tests whose sources are not all constants or chosen registers.
func (d *datapath) settleTests() (changed bool) {
	for in, t := range d.isTest {
		for k, o := range in.Src[:2] {
			switch {
			case o.Kind == isa.KindImm && k == 1 && o.Imm < dynamicShared/2, isZero(o):
			case o.Kind == isa.KindConst && o.Reg == isa.RZ && o.Flags == 0 && o.Bank == 0 && (d.all || !d.readsGeneral(t.at.b, o)):
			case o.Kind == isa.KindReg && d.chosen[o.Reg] && o.Flags == 0:
			default:
				delete(d.isTest, in)
				changed = true
			}
		}
	}
	return changed
}

// rewriteTest moves a comparison to the uniform datapath, with the branches that read it.
func (d *datapath) rewriteTest(in *isa.Inst, t *test) {
	up := d.f.compareUniform(in)
	for _, b := range t.branches {
		br := b.terminator()
		up.Flags = br.Guard.Flags
		br.Guard = up
		br.Mod.Flags |= isa.ModU
	}
}

// readsGeneral says that block b reads the word from a general register: it is loaded into one outside all loops or in a loop around b.
func (d *datapath) readsGeneral(b *block, o isa.Operand) bool {
	at := d.general[o]
	if at == nil {
		return false
	}
	at = d.f.wordHome(at)
	return at.loop == nil || at.loop.contains(b)
}
