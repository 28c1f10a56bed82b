package lower

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"slices"

	"github.com/sarchlab/smsim/isa"
)

// errNothingToSpill says that every register that is in the way is a temporary of earlier spills.
var errNothingToSpill = errors.New("no register can be spilled to make room")

func trailing(x uint64) int { return bits.TrailingZeros64(x) }

// spillable is a unit and what its loads and stores would cost for each unit that it makes room for.
type spillable struct {
	unit int32
	cost float64
}

// spill moves registers to local memory so that the next attempt needs fewer: for every unit that found no
// register, the cheapest candidates among it and its neighbours, that many each.
func (f *fn) spill(a *allocation, failed []int32, each int) error {
	chosen := map[int32]bool{}
	// A group of coalesced registers can be spilled as long as one of them is not a temporary of an earlier spill.
	free := map[int32]bool{}
	for i := range a.alias {
		if a.used[i] && !f.unspillable[int32(i)] {
			free[a.find(int32(i))] = true
		}
	}
	for _, u := range failed {
		file := a.n.file(u)
		if file >= 2 {
			return fmt.Errorf("more uniform registers are live than the target has")
		}
		if a.nowhere(u) { // making room does not help
			chosen[u] = true
			continue
		}
		var candidates []spillable
		relieved := false // a neighbour goes already: the next round shows whether that is enough
		consider := func(id int32) {
			id = a.find(id)
			w := a.unit[id]
			if a.parts[w] == nil {
				w = id
			}
			relieved = relieved || file == 1 && chosen[w]
			some := false
			for _, m := range a.members(w) {
				some = some || free[a.find(m)]
			}
			if !some || chosen[w] || a.isTied(w) {
				return
			}
			candidates = append(candidates, spillable{w, a.cost[id] / float64(1+len(a.adj[id]))})
		}
		consider(u)
		for _, m := range a.members(u) {
			for _, j := range a.adj[a.find(m)] {
				consider(j)
			}
		}
		if relieved {
			continue
		}
		if len(candidates) == 0 {
			if len(chosen) > 0 {
				continue // what is chosen already may make room; the next round shows
			}
			return errNothingToSpill
		}
		slices.SortStableFunc(candidates, func(x, y spillable) int { return cmp.Compare(x.cost, y.cost) })
		for _, c := range candidates[:min(each, len(candidates))] {
			chosen[c.unit] = true
		}
	}
	f.spillUnits(a, slices.Sorted(maps.Keys(chosen)))
	return nil
}

// spillUnits moves groups of registers to local memory.
func (f *fn) spillUnits(a *allocation, ids []int32) {
	if f.unspillable == nil {
		f.unspillable = map[int32]bool{}
	}
	before := f.numbering()
	// Every register that shares the place of a chosen one gets the same slot.
	home := map[isa.Reg]int64{}
	predHome := map[isa.Reg]isa.Reg{}
	for _, u := range ids {
		for _, m := range a.members(u) {
			root := a.find(m)
			var slot int64 = -1
			var reg isa.Reg
			lo, hi := a.n.rangeOf(a.n.file(u))
			for i := lo; i < hi; i++ {
				if a.find(int32(i)) != root {
					continue
				}
				kind, r := a.n.kindOf(i)
				if kind == isa.KindPred {
					if reg == 0 {
						reg = f.newReg()
					}
					predHome[r] = reg
					continue
				}
				if slot < 0 {
					f.localMem = alignUp(f.localMem, 4)
					slot = f.localMem
					f.localMem += 4
					f.spillBytes += 4
				}
				home[r] = slot
			}
		}
	}
	for r := range home {
		f.unpass(r)
	}
	f.rewriteSpills(home, predHome)
	after := f.numbering()
	// Temporaries made here must not be spilled again. Dense numbers of general registers stay; the others move.
	moved := map[int32]bool{}
	for id := range f.unspillable {
		if int(id) >= before.preds {
			id += int32(after.preds - before.preds)
		}
		moved[id] = true
	}
	f.unspillable = moved
	for i := before.preds; i < after.preds; i++ {
		if !f.keepSpillable[isa.VirtualBase+isa.Reg(i)] {
			f.unspillable[int32(i)] = true
		}
	}
	for i := before.uregs - before.preds; i < after.uregs-after.preds; i++ {
		f.unspillable[int32(after.preds+i)] = true
	}
}

func (a *allocation) members(u int32) []int32 {
	if p := a.parts[u]; p != nil {
		return p
	}
	return []int32{u}
}

// rewriteSpills loads spilled registers before their uses and stores them after their definitions. A spilled
// predicate lives in a general register.
func (f *fn) rewriteSpills(home map[isa.Reg]int64, predHome map[isa.Reg]isa.Reg) {
	if f.keepSpillable == nil {
		f.keepSpillable = map[isa.Reg]bool{}
	}
	for _, r := range predHome {
		f.keepSpillable[r] = true
	}
	for _, b := range f.blocks {
		var out []isa.Inst
		for i := range b.insts {
			in := b.insts[i]
			var after []isa.Inst
			local := map[isa.Reg]isa.Reg{}
			localPred := map[isa.Reg]isa.Reg{}
			replace := func(o *isa.Operand, def bool) {
				switch o.Kind {
				case isa.KindPred:
					hr, ok := predHome[o.Reg]
					if !ok {
						return
					}
					p, have := localPred[o.Reg]
					if !have {
						p = f.newPred()
						localPred[o.Reg] = p
						if !def || in.Guard.Kind != isa.KindNone {
							out = append(out, isa.Inst{Op: isa.OpISETP, Mod: isa.Mod{Type: isa.S32, Cmp: isa.CmpNE}, NDst: 2, NSrc: 3, Pos: in.Pos,
								Dst: [isa.MaxDst]isa.Operand{isa.P(p), pt}, Src: [isa.MaxSrc]isa.Operand{isa.R(hr), rz, pt}})
						}
					}
					if def {
						after = append(after, isa.Inst{Op: isa.OpSEL, NDst: 1, NSrc: 3, Pos: in.Pos,
							Dst: [isa.MaxDst]isa.Operand{isa.R(hr)}, Src: [isa.MaxSrc]isa.Operand{rz, imm(1), isa.NotP(p)}})
					}
					o.Reg = p
				case isa.KindReg, isa.KindMem, isa.KindConst:
					if o.Reg < isa.VirtualBase {
						return
					}
					if _, ok := home[o.Reg]; !ok {
						return
					}
					regs := []isa.Reg{o.Reg}
					if o.Flags&(flagPair|flagQuad) != 0 || !def && readsTuple(&in, o.Reg) {
						regs = f.tuples[o.Reg]
					}
					t, have := local[o.Reg]
					if !have {
						fresh := make([]isa.Reg, len(regs))
						for k := range fresh {
							fresh[k] = f.newReg()
						}
						if len(fresh) > 1 {
							f.setTuple(fresh)
						}
						t = fresh[0]
						local[o.Reg] = t
						if !def || in.Guard.Kind != isa.KindNone {
							for k, r := range regs {
								if s, ok := home[r]; ok {
									out = append(out, f.spillLoad(fresh[k], s, in.Pos))
								}
							}
						}
					}
					if def {
						fresh := []isa.Reg{t}
						if len(regs) > 1 {
							fresh = f.tuples[t]
						}
						for k, r := range regs {
							if s, ok := home[r]; ok {
								after = append(after, f.spillStore(fresh[k], s, in.Pos))
							}
						}
					}
					o.Reg = t
				}
			}
			replace(&in.Guard, false)
			for k := range in.Src[:in.NSrc] {
				replace(&in.Src[k], false)
			}
			clear(local)
			for k := range in.Dst[:in.NDst] {
				replace(&in.Dst[k], true)
			}
			// A branch stays last in its block; its definitions (there are none) would have no place.
			out = append(out, in)
			out = append(out, after...)
		}
		b.insts = out
	}
}

// readsTuple says that the instruction reads a tuple that begins with the register; it may read the register as a word too.
func readsTuple(in *isa.Inst, r isa.Reg) bool {
	for i := range in.Src[:in.NSrc] {
		if o := &in.Src[i]; (o.Kind == isa.KindReg || o.Kind == isa.KindMem) && o.Reg == r && o.Flags&(flagPair|flagQuad) != 0 {
			return true
		}
	}
	return false
}

func (f *fn) spillLoad(r isa.Reg, slot int64, pos isa.SourcePos) isa.Inst {
	return isa.Inst{Op: isa.OpLDL, Mod: isa.Mod{Size: 4, Type: isa.U32}, NDst: 1, NSrc: 1, Pos: pos,
		Dst: [isa.MaxDst]isa.Operand{isa.R(r)}, Src: [isa.MaxSrc]isa.Operand{isa.Mem(f.stackBase(), slot, false)}}
}

func (f *fn) spillStore(r isa.Reg, slot int64, pos isa.SourcePos) isa.Inst {
	return isa.Inst{Op: isa.OpSTL, Mod: isa.Mod{Size: 4, Type: isa.U32}, NSrc: 2, Pos: pos,
		Src: [isa.MaxSrc]isa.Operand{isa.Mem(f.stackBase(), slot, false), isa.R(r)}}
}
