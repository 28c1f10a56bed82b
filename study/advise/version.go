package advise

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sarchlab/smsim/isa/ptx"
)

// launchParam is a parameter with what it is at the launch: its value, or some low bits of it.
type launchParam struct {
	name  string
	bits  int    // of the parameter
	mask  uint64 // the bits that matter; 0: all
	value uint64
}

func (p launchParam) String() string {
	switch {
	case p.mask == 0 && p.bits == 32:
		return fmt.Sprintf("%s = %d", p.name, int32(uint32(p.value)))
	case p.mask == 0:
		return fmt.Sprintf("%s = %d", p.name, int64(p.value))
	case p.value == 0:
		return fmt.Sprintf("%s a multiple of %d", p.name, p.mask+1)
	}
	return fmt.Sprintf("%s = %d modulo %d", p.name, p.value, p.mask+1)
}

// version makes a kernel with two bodies: fast, which holds for the parameters' values only, and the original, to which the kernel goes when
// a parameter has another value. So the result is right for every launch.
func version(file string, original []byte, fast, entry string, params []launchParam) (string, error) {
	m, err := ptx.Parse(file, original)
	if err != nil {
		return "", err
	}
	n, err := ptx.Parse(file, []byte(fast))
	if err != nil {
		return "", err
	}
	fn, own := m.Entry(entry), n.Entry(entry)
	fastBody, slowBody := *own.Body, *fn.Body
	// Both bodies use the same shared and local memory.
	var outer []ptx.Stmt
	slowBody.Stmts = slices.DeleteFunc(slices.Clone(slowBody.Stmts), func(st ptx.Stmt) bool {
		v, ok := st.(*ptx.Var)
		hoist := ok && v.Space != "reg"
		if hoist {
			outer = append(outer, v)
		}
		return hoist
	})
	fastBody.Stmts = slices.DeleteFunc(slices.Clone(fastBody.Stmts), func(st ptx.Stmt) bool {
		v, ok := st.(*ptx.Var)
		return ok && v.Space != "reg"
	})
	label := freshLabel(m, "GENERAL")
	outer = append(outer, &ptx.Var{Space: "reg", Type: "pred", Name: "%adv_p", Range: len(params)}, &ptx.Var{Space: "reg", Type: "b32", Name: "%adv_v", Range: len(params)},
		&ptx.Var{Space: "reg", Type: "b64", Name: "%adv_q", Range: len(params)})
	for i, p := range params {
		v, q := fmt.Sprintf("%%adv_v%d", i), fmt.Sprintf("%%adv_p%d", i)
		branch := op("bra", name(label))
		branch.Guard = &ptx.Guard{Name: q}
		from := ptx.Arg{Kind: ptx.ArgAddr, Name: p.name}
		wide := name(fmt.Sprintf("%%adv_q%d", i))
		special, member, isSize := strings.Cut(p.name, ".")
		switch {
		case isSize && special[0] == '%':
			outer = append(outer, op("mov.u32", name(v), ptx.Arg{Kind: ptx.ArgName, Name: special, Member: member}))
		case p.bits == 64 && p.mask == 0:
			outer = append(outer, op("ld.param.u64", wide, from), op("setp.ne.u64", name(q), wide, num(int64(p.value))), branch)
			continue
		case p.bits == 64:
			outer = append(outer, op("ld.param.u64", wide, from), op("cvt.u32.u64", name(v), wide))
		default:
			outer = append(outer, op("ld.param.u32", name(v), from))
		}
		if p.mask != 0 {
			outer = append(outer, op("and.b32", name(v), name(v), num(int64(p.mask))))
		}
		outer = append(outer, op("setp.ne.u32", name(q), name(v), num(int64(p.value))), branch)
	}
	fn.Body.Stmts = append(outer, &fastBody, &ptx.Label{Name: label}, &slowBody)
	m.Target, m.SM, m.Major, m.Minor = n.Target, n.SM, n.Major, n.Minor
	text := m.String()
	_, err = ptx.Parse(file, []byte(text))
	return text, err
}

// freshLabel is a label that the module does not have.
func freshLabel(m *ptx.Module, base string) string {
	used := map[string]bool{}
	var see func(b *ptx.Block)
	see = func(b *ptx.Block) {
		for _, st := range b.Stmts {
			switch x := st.(type) {
			case *ptx.Label:
				used[x.Name] = true
			case *ptx.Block:
				see(x)
			}
		}
	}
	for _, f := range m.Funcs {
		if f.Body != nil {
			see(f.Body)
		}
	}
	for i := 0; ; i++ {
		if l := fmt.Sprintf("$ADV_%s%d", base, i); !used[l] {
			return l
		}
	}
}
