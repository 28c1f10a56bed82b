package workloads

import (
	"fmt"

	"github.com/sarchlab/smsim/isa"
)

// MaxMemoryBytes bounds the buffers of one launch together.
const MaxMemoryBytes = 8 << 30

// maxMemory32 bounds them where addresses have 32 bits.
const maxMemory32 = 3 << 30

// NewLaunch allocates and fills the buffers of a case and lays out the parameters of the compiled kernel.
// The buffers come back in argument order; scalars have nil. Errors name the argument, the parameter and its declared type.
func (c *Case) NewLaunch(p *isa.Program) (*isa.Launch, []*isa.Buffer, error) {
	params, images := c.split(p)
	slots, ok := c.slots(p, params)
	if !ok {
		at := c.ArgsAt
		if at.IsZero() {
			at = c.Place
		}
		return nil, nil, at.Errorf("kernel %s has %s, %s given: %s", p.Name, count(len(p.Params), "parameter"),
			count(len(params), "argument"), signature(p))
	}
	if len(slots) == len(p.Params) {
		if err := c.namesInOrder(p, params); err != nil {
			return nil, nil, err
		}
	}
	total := uint64(0)
	for _, s := range slots {
		if err := c.Args[s.arg].fits(s.arg, &s.declared, p); err != nil {
			return nil, nil, err
		}
	}
	for i := range c.Args {
		if total += c.Args[i].Bytes; total > MaxMemoryBytes {
			return nil, nil, c.Args[i].Errorf("the buffers need %d bytes, more than the limit of %d", total, uint64(MaxMemoryBytes))
		}
	}
	l := &isa.Launch{Grid: c.Grid, Block: c.Block, DynamicShared: c.DynamicShared, Mem: isa.NewMemory()}
	if p.Address32 {
		if total > maxMemory32 {
			return nil, nil, c.Place.Errorf("the buffers need %d bytes, but kernel %s has addresses of 32 bits, which reach %d", total, p.Name, uint64(maxMemory32))
		}
		l.Mem = isa.NewMemory32()
	}
	bufs := make([]*isa.Buffer, len(c.Args))
	for _, i := range images {
		a := &c.Args[i]
		bufs[i] = l.Mem.Alloc(a.label(i), a.Bytes)
		a.Fill(bufs[i].Data)
		a.addTexture(l, bufs[i])
	}
	for _, s := range slots {
		i := s.arg
		a, param := &c.Args[i], &p.Params[s.param]
		if end := int(param.Offset + param.Size); end > len(l.Params) {
			l.Params = append(l.Params, make([]byte, end-len(l.Params))...)
		}
		to := l.Params[s.declared.Offset:][:s.declared.Size]
		if !a.IsBuffer() {
			copy(to, a.Raw)
			continue
		}
		bufs[i] = l.Mem.Alloc(a.label(i), a.Bytes)
		a.Fill(bufs[i].Data)
		a.addTexture(l, bufs[i])
		for j := range to {
			to[j] = byte(bufs[i].Addr >> (8 * j))
		}
	}
	return l, bufs, nil
}

// slot is the place of an argument: a parameter, or a field of one that is a structure.
type slot struct {
	arg, param int
	declared   isa.Param // of a field: as the argument says, at its place among the parameters
}

// slots lays the arguments out: one for each parameter, but that a structure passed by value may be given as its fields, each at the next
// multiple of its own size, until the structure is full. It is not ok if a parameter or an argument is left, or half of a structure.
func (c *Case) slots(p *isa.Program, args []int) (list []slot, ok bool) {
	taken := 0
	for k := range p.Params {
		param := &p.Params[k]
		if taken == len(args) {
			return nil, false
		}
		size := func() uint32 {
			switch a := &c.Args[args[taken]]; {
			case !a.IsBuffer():
				return uint32(len(a.Raw))
			case p.Address32:
				return 4
			}
			return 8
		}
		if n, ok := scalarTypes[TypeName(param.Type)]; ok && uint32(n) == param.Size || size() == param.Size || c.Args[args[taken]].Type == "hex" {
			list = append(list, slot{args[taken], k, *param})
			taken++
			continue
		}
		at := uint32(0)
		for ; at < param.Size && taken < len(args) && c.Args[args[taken]].Type != "hex"; taken++ {
			n := size()
			if at = (at + n - 1) / n * n; at+n > param.Size {
				break
			}
			list = append(list, slot{args[taken], k, isa.Param{Name: param.Name, Offset: param.Offset + at, Size: n, Align: n, Pointer: c.Args[args[taken]].IsBuffer()}})
			at += n
		}
		if at+8 <= param.Size { // less may be padding
			return nil, false
		}
	}
	return list, taken == len(args)
}

// namesInOrder refuses an argument that has the name of another parameter: arguments go by position, and whoever
// wrote the name meant that parameter.
func (c *Case) namesInOrder(p *isa.Program, params []int) error {
	for i, arg := range params {
		a := &c.Args[arg]
		if a.Name == "" || a.Name == p.Params[i].Name {
			continue
		}
		for j := range p.Params {
			if p.Params[j].Name == a.Name {
				return a.Errorf("argument %d is named %s, but parameter %d of kernel %s is %s and %s is parameter %d: give the arguments in the kernel's order",
					i+1, a.Name, i+1, p.Name, p.Params[i].Name, a.Name, j+1)
			}
		}
	}
	return nil
}

// label is the name of a buffer in messages.
func (a *Arg) label(i int) string {
	if a.Name != "" {
		return a.Name
	}
	return fmt.Sprintf("argument %d", i+1)
}

// fits checks the argument against the parameter of the kernel that it is for.
func (a *Arg) fits(i int, p *isa.Param, kernel *isa.Program) error {
	declared := TypeName(p.Type)
	bad := func(format string, args ...any) error {
		return a.Errorf("argument %d (%s) does not fit parameter %s of kernel %s, declared %s: %s", i+1, a.What(), p.Name, kernel.Name,
			declare(p), fmt.Sprintf(format, args...))
	}
	size := uint32(len(a.Raw))
	switch {
	case a.IsBuffer() && p.Size != 8 && p.Size != 4, a.IsBuffer() && isFloat(declared), a.IsBuffer() && p.Size == 4 && !p.Pointer && !kernel.Address32:
		return bad("a buffer needs a pointer parameter")
	case a.IsBuffer():
		return nil
	case p.Pointer && a.Type != "u64" && a.Type != "b64" && p.Size == 8:
		return bad("it is a pointer; give a buffer")
	case a.Type == "hex" && size == p.Size:
		return nil
	case size != p.Size:
		return bad("it has %s, the parameter %s", count(int(size), "byte"), count(int(p.Size), "byte"))
	case a.Type == "hex", a.Type[0] == 'b', declared == "", declared[0] == 'b':
		return nil
	case isFloat(a.Type) != isFloat(declared):
		return bad("give it as %s", declared)
	}
	return nil
}

func isFloat(typ string) bool { return typ != "" && typ[0] == 'f' }

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// declare is the parameter's declaration as PTX writes it.
func declare(p *isa.Param) string {
	t := TypeName(p.Type)
	if size, ok := scalarTypes[t]; ok && uint32(size) == p.Size {
		return "." + t
	}
	return fmt.Sprintf(".align %d .b8[%d]", p.Align, p.Size)
}

// signature lists the parameters with their declared types.
func signature(p *isa.Program) string {
	if len(p.Params) == 0 {
		return "it takes none"
	}
	s := ""
	for i := range p.Params {
		if i > 0 {
			s += ", "
		}
		s += declare(&p.Params[i]) + " " + p.Params[i].Name
	}
	return s
}

// TypeName is the PTX name of a scalar type, "" for others.
func TypeName(t isa.Type) string {
	return map[isa.Type]string{
		isa.U8: "u8", isa.S8: "s8", isa.U16: "u16", isa.S16: "s16", isa.U32: "u32", isa.S32: "s32", isa.U64: "u64", isa.S64: "s64",
		isa.F32: "f32", isa.F64: "f64", isa.B32: "b32", isa.B64: "b64",
	}[t]
}
