package lower

import (
	"cmp"
	"errors"
	"slices"

	"github.com/sarchlab/smsim/isa/ptx"
)

// checkNames resolves every name of the module's own declarations, of the kernel and of the device functions it calls.
func checkNames(m *ptx.Module, src *ptx.Func) []error {
	var errs []error
	add := func(err error) {
		if found, ok := err.(ptx.Errors); ok {
			for _, e := range found {
				errs = append(errs, e)
			}
		}
	}
	add(ptx.CheckModule(m))
	seen := map[*ptx.Func]bool{}
	var visit func(fu *ptx.Func)
	var body func(b *ptx.Block)
	body = func(b *ptx.Block) {
		for _, st := range b.Stmts {
			switch x := st.(type) {
			case *ptx.Block:
				body(x)
			case *ptx.Instr:
				if x.Op != "call" || len(x.Args) == 0 {
					continue
				}
				for _, fu := range m.Funcs {
					if fu.Name == x.Args[0].Name && !fu.Entry {
						visit(fu)
					}
				}
			}
		}
	}
	visit = func(fu *ptx.Func) {
		if seen[fu] || fu.Body == nil {
			return
		}
		seen[fu] = true
		add(ptx.Check(fu, m))
		body(fu.Body)
	}
	visit(src)
	return errs
}

// mergeErrors joins errors about names with those of lowering in the order of the text. Lowering stumbles over the same
// names, so its errors in their lines are left out.
func mergeErrors(names, found []error) []error {
	line := map[int]bool{}
	for _, e := range names {
		var p *ptx.Error
		if errors.As(e, &p) {
			line[p.Pos.Line] = true
		}
	}
	out := names
	for _, e := range found {
		var p *ptx.Error
		if errors.As(e, &p) && line[p.Pos.Line] {
			continue
		}
		out = append(out, e)
	}
	pos := func(e error) ptx.Pos {
		var p *ptx.Error
		if !errors.As(e, &p) {
			return ptx.Pos{}
		}
		return p.Pos
	}
	slices.SortStableFunc(out, func(x, y error) int {
		a, b := pos(x), pos(y)
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	return out
}
