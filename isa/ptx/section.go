package ptx

import (
	"strconv"
	"strings"
)

// file reads .file 1 "a.cu" and .file 1 "a.cu", timestamp, size.
func (p *parser) file() bool {
	p.advance()
	n, ok := p.integer("a file number", 0, 1<<31-1)
	if !ok {
		return false
	}
	name, ok := p.stringText("a file name")
	if !ok {
		return false
	}
	for p.accept(',') {
		if _, ok := p.expr(0, 0); !ok {
			return false
		}
	}
	p.accept(';')
	p.m.Files[n] = name
	return true
}

// locDirective reads .loc file line column[, function_name label[+n], inlined_at file line column].
func (p *parser) locDirective() *Loc {
	l := &Loc{Pos: p.tok.pos}
	p.advance()
	if !p.place(&l.File, &l.Line, &l.Col) {
		return nil
	}
	for p.accept(',') {
		word, ok := p.ident("function_name or inlined_at")
		if !ok {
			return nil
		}
		switch word {
		case "function_name":
			if l.Function, ok = p.ident("a label of .debug_str"); !ok {
				return nil
			}
			if p.accept('+') {
				n, ok := p.integer("an offset into .debug_str", 0, 1<<31-1)
				if !ok {
					return nil
				}
				l.Function += "+" + strconv.Itoa(n)
			}
		case "inlined_at":
			l.InlinedAt = true
			if !p.place(&l.InFile, &l.InLine, &l.InCol) {
				return nil
			}
		default:
			p.errorAt(p.prev.pos, "", "unknown attribute %s of .loc", quote(word))
			return nil
		}
	}
	p.accept(';')
	return l
}

func (p *parser) place(file, line, col *int) bool {
	for _, x := range []*int{file, line, col} {
		if p.tok.kind != tokNumber || p.tok.newLine {
			p.unexpected("file, line and column")
			return false
		}
		n, ok := p.integer("a place in a .loc", 0, 1<<31-1)
		if !ok {
			return false
		}
		*x = n
	}
	return true
}

// section reads .section .name { rows of data }.
func (p *parser) section() bool {
	s := &Section{Pos: p.tok.pos}
	var name []string
	p.advance()
	for p.tok.kind == tokDot || p.tok.kind == tokIdent {
		name = append(name, p.text(p.tok))
		p.advance()
	}
	s.Name = strings.Join(name, "")
	open := p.tok.pos
	if s.Name == "" {
		p.unexpected("a section name such as .debug_str")
		return false
	}
	if p.tok.kind == tokString { // .section .debug_info, "", @progbits of early assemblers never reached PTX
		p.unexpected("{")
		return false
	}
	if !p.want('{', "after the name of a section") {
		return false
	}
	for !p.is('}') {
		switch p.tok.kind {
		case tokEOF:
			p.errorAt(open, "", "this { of section %s is never closed", s.Name)
			return true
		case tokIdent:
			item := SectionItem{Pos: p.tok.pos, Label: p.text(p.tok)}
			p.advance()
			if !p.want(':', "after a label in a section") {
				p.skipStatement(-1)
				continue
			}
			s.Items = append(s.Items, item)
		case tokDot:
			item := SectionItem{Pos: p.tok.pos, Type: p.text(p.tok)[1:]}
			p.advance()
			if !p.sectionValues(&item) {
				p.skipStatement(-1)
				continue
			}
			s.Items = append(s.Items, item)
		default:
			p.unexpected("data such as .b8 1, 2 or a label")
			p.skipStatement(p.tok.off)
		}
	}
	p.advance()
	p.m.Sections = append(p.m.Sections, s)
	return true
}

func (p *parser) sectionValues(item *SectionItem) bool {
	for {
		var b strings.Builder
		for {
			switch {
			case p.is('+') || p.is('-'):
				b.WriteString(p.text(p.tok))
				p.advance()
				continue
			case p.tok.kind == tokNumber || p.tok.kind == tokIdent || p.tok.kind == tokDot || p.tok.kind == tokString:
				b.WriteString(p.text(p.tok))
				p.advance()
			default:
				p.unexpected("a number or symbol")
				return false
			}
			if !p.is('+') && !p.is('-') {
				break
			}
		}
		item.Values = append(item.Values, b.String())
		if !p.accept(',') {
			break
		}
	}
	p.accept(';')
	return true
}
