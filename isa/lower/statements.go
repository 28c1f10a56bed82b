package lower

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/sarchlab/smsim/isa/ptx"
)

// compiler walks the statements of bodies.
type compiler struct {
	f    *fn
	b    *builder
	errs *[]error
}

func (c *compiler) report(err error) { *c.errs = append(*c.errs, err) }

// block translates the statements of one { } in a scope of its own.
func (c *compiler) block(body *ptx.Block, parent *scope) {
	s := newScope(parent)
	if s.literals = parent.literals; s.literals == nil {
		s.literals = literalsOf(body, parent)
	}
	for i, st := range body.Stmts {
		switch x := st.(type) {
		case *ptx.Label:
			s.names[x.Name] = &symbol{name: x.Name, kind: symLabel, blk: &block{label: x.Name}}
		case *ptx.Prototype:
			s.names[x.Label] = &symbol{name: x.Label, kind: symPrototype, proto: x}
		case *ptx.Targets:
			s.names[x.Label] = &symbol{name: x.Label, kind: symTargets, names: x.Names}
			// The label may also have been parsed as one that precedes the directive.
			if i > 0 {
				if l, ok := body.Stmts[i-1].(*ptx.Label); ok && x.Label == "" {
					s.names[l.Name] = &symbol{name: l.Name, kind: symTargets, names: x.Names}
				}
			}
		}
	}
	for _, st := range body.Stmts {
		c.b.scope = s
		switch x := st.(type) {
		case *ptx.Var:
			if err := s.declare(c.f, x); err != nil {
				c.report(c.f.m.Errorf(x.Pos, "", "%v", err))
			}
		case *ptx.Label:
			if y := s.names[x.Name]; y.kind == symLabel {
				c.b.place(y.blk)
			}
		case *ptx.Pragma:
			if nounroll([]string{x.Text}) { // it stands in the header of its loop, before any instruction
				c.b.cur.noUnroll = true
			}
		case *ptx.Block:
			c.block(x, s)
		case *ptx.Instr:
			c.instr(x, s)
		}
	}
	c.b.scope = parent
}

func (c *compiler) instr(in *ptx.Instr, s *scope) {
	b := c.b
	b.in, b.err, b.scope, b.guard = in, nil, s, word{}
	if in.Guard != nil {
		b.guard = b.predValue(&ptx.Arg{Kind: ptx.ArgName, Pos: in.Guard.Pos, Name: in.Guard.Name, Neg: in.Guard.Neg})
	}
	c.f.sizes[c.f.position(in)] = statementCount{known: statementSize(in), partial: partialSize(in), slct: in.Op == "slct"}
	var err error
	switch in.Op {
	case "bra":
		if b.checkSyntax(in); b.err == nil {
			c.branch(in)
		}
	case "brx":
		c.branchTable(in)
	case "call":
		c.call(in, s)
	case "ret":
		if b.checkBare(in); b.returnTo != nil {
			c.jumpTo(b.returnTo)
		} else {
			c.exit()
		}
	case "exit":
		b.checkBare(in)
		c.exit()
	default:
		if c.paramAccess(in) {
			b.checkOperands(in)
			break
		}
		b.in = b.splitVectors(in)
		sel, ok := selectors[in.Op]
		if !ok {
			e := b.errorf("instruction %s is not modelled", in.Name())
			if near := ptx.Suggest(in.Op, slices.Sorted(maps.Keys(selectors))); near != "" {
				e.Advise("did you mean %s?", near)
			}
			err = e
			break
		}
		if err = sel(b); err == nil { // a rule knows better what is wrong
			b.checkSyntax(in)
			b.checkOperands(in)
		}
	}
	if err == nil && b.err == nil {
		b.checkGates(in)
		b.noteEmulated(in)
	}
	if err == nil {
		err = b.err
	}
	if err != nil {
		if msg := unknownModifier(in); msg != "" && selectors[in.Op] != nil && !strings.Contains(err.Error(), "not modelled") {
			err = c.f.m.Errorf(in.Pos, "", "%s", msg)
		}
		if !errors.As(err, new(*ptx.Error)) {
			err = c.f.m.Errorf(in.Pos, "", "%v", err)
		}
		if p := new(*ptx.Error); errors.As(err, p) && strings.Contains((*p).Msg, "not modelled") {
			(*p).Advise(modelledHint)
		}
		c.report(err)
	}
}
