package lower

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

type symKind uint8

const (
	symReg symKind = iota
	symParam
	symShared
	symLocal
	symConst
	symGlobal
	symFunc
	symLabel
	symTargets
	symPrototype
	symUnplaced // module variable that nothing has named yet
)

// symbol is a name that instructions can refer to.
type symbol struct {
	name   string
	kind   symKind
	v      *ptx.Var
	typ    string    // registers: declared type
	words  []isa.Reg // registers, and parameters of inlined functions: virtual registers, low word first
	pred   bool
	offset int64 // byte offset in its space; globals: of the address slot in constant bank 4
	fn     *ptx.Func
	blk    *block   // labels
	names  []string // branch and call targets
	proto  *ptx.Prototype
}

// scope maps names to symbols; lookups fall back to the parent.
type scope struct {
	parent *scope
	names  map[string]*symbol
	ranges map[string][]*ptx.Var // "%r" -> declarations of %r<N>

	literals map[string]literal // registers of the body around that only one instruction writes, a mov of this literal
}

func newScope(parent *scope) *scope {
	return &scope{parent: parent, names: map[string]*symbol{}, ranges: map[string][]*ptx.Var{}}
}

// lookup finds a name; registers of a range are created when first used.
func (s *scope) lookup(f *fn, name string) *symbol {
	for ; s != nil; s = s.parent {
		if y := s.names[name]; y != nil {
			if y.kind == symUnplaced {
				f.placeUsed(y)
			}
			return y
		}
		if len(s.ranges) == 0 {
			continue
		}
		stem := strings.TrimRight(name, "0123456789")
		if len(stem) == len(name) {
			continue
		}
		// The prefix of a range can itself end in digits ("r1<4>" declares r10 to r13).
		for end := len(stem); end < len(name); end++ {
			for _, v := range s.ranges[name[:end]] {
				n, err := strconv.Atoi(name[end:])
				if err != nil || n >= v.Range || (name[end] == '0' && end+1 != len(name)) {
					continue
				}
				y := f.newRegSymbol(name, v)
				s.names[name] = y
				return y
			}
		}
	}
	return nil
}

// declare adds a variable declaration of a body or parameter list.
func (s *scope) declare(f *fn, v *ptx.Var) error {
	switch v.Space {
	case "reg":
		if typeBits(v.Type) == 0 {
			return fmt.Errorf("register type .%s is not known", v.Type)
		}
		if v.Range > 0 {
			s.ranges[v.Name] = append(s.ranges[v.Name], v)
			return nil
		}
		s.names[v.Name] = f.newRegSymbol(v.Name, v)
		return nil
	case "shared", "local", "const", "global":
		y, err := f.placeVar(v)
		if err != nil {
			return err
		}
		s.names[v.Name] = y
		return nil
	case "param":
		// A parameter space variable of a call sequence: it lives in registers.
		n := (varSize(v) + 3) / 4
		y := &symbol{name: v.Name, kind: symParam, v: v, typ: v.Type}
		for range max(n, int64(typeWords(v.Type))) {
			y.words = append(y.words, f.newReg())
		}
		s.names[v.Name] = y
		return nil
	case "sreg", "tex":
		return nil
	}
	return fmt.Errorf("state space .%s is not known", v.Space)
}

func (f *fn) newRegSymbol(name string, v *ptx.Var) *symbol {
	y := &symbol{name: name, kind: symReg, v: v, typ: v.Type}
	if v.Type == "pred" {
		y.pred = true
		y.words = []isa.Reg{f.newPred()}
		return y
	}
	n := typeWords(v.Type) * max(1, v.Vector)
	for range n {
		y.words = append(y.words, f.newReg())
	}
	if n == 2 || n == 4 {
		f.setTuple(y.words)
	}
	if n == 1 && typeBits(v.Type) == 16 {
		f.halves[y.words[0]] = true
	}
	return y
}

// elemSize is the size in bytes of one element of a variable.
func elemSize(v *ptx.Var) int64 {
	return int64(max(1, typeBits(v.Type)/8)) * int64(max(1, v.Vector))
}

// varSize is the size of a variable in bytes; 0 for an extern array without extent.
func varSize(v *ptx.Var) int64 {
	n := elemSize(v)
	for i, d := range v.Dims {
		if d < 0 {
			if i == 0 && len(v.Init) > 0 {
				rest := int64(1)
				for _, e := range v.Dims[1:] {
					rest *= int64(e)
				}
				per := rest * int64(max(1, v.Vector))
				d = int((int64(len(v.Init)) + per - 1) / per)
			} else {
				return 0
			}
		}
		n *= int64(d)
	}
	return n
}

func varAlign(v *ptx.Var) int64 {
	if v.Align > 0 {
		return int64(v.Align)
	}
	return max(1, elemSize(v))
}

func alignUp(n, a int64) int64 { return (n + a - 1) / a * a }

// placeVar gives a variable its place in its memory space.
func (f *fn) placeVar(v *ptx.Var) (*symbol, error) {
	placed := f.syms
	if v.Space == "local" { // in the frame of this unit
		placed = f.locals
	}
	if y := placed[v]; y != nil {
		return y, nil
	}
	y := &symbol{name: v.Name, v: v, typ: v.Type}
	size, align := varSize(v), varAlign(v)
	switch v.Space {
	case "tex":
		f.placeTexture(y)
	case "shared":
		y.kind = symShared
		if v.Extern || size == 0 {
			y.offset = -1 // dynamic: behind the static variables, known when all are placed
			break
		}
		f.shared = alignUp(f.shared, align)
		y.offset = f.shared
		f.shared += size
	case "local":
		y.kind = symLocal
		f.localAlign = max(f.localAlign, align)
		f.localMem = alignUp(f.localMem, align)
		y.offset = f.localMem
		f.localMem += size
	case "const":
		if err := f.placeConst(y, size, align); err != nil {
			return nil, err
		}
	case "global":
		if v.Type == "texref" || v.Type == "surfref" {
			f.placeTexture(y)
			break
		}
		if err := f.placeGlobal(y, size, align); err != nil {
			return nil, err
		}
	}
	placed[v] = y
	return y, nil
}

// placeConst puts a constant variable into bank 3.
func (f *fn) placeConst(y *symbol, size, align int64) error {
	y.kind = symConst
	data, relocs, err := f.initData(y.v, size)
	if err != nil {
		return err
	}
	at := alignUp(int64(len(f.constMem)), align)
	if at+size > 64<<10 {
		return fmt.Errorf("constant variables need %d bytes, more than the 65536 of the constant bank", at+size)
	}
	f.constMem = append(f.constMem, make([]byte, at-int64(len(f.constMem)))...)
	f.constMem = append(f.constMem, data...)
	y.offset = at
	f.syms[y.v] = y // its own address may be in it
	rest, err := f.resolve(y.v, relocs, -1, at, func() []byte { return f.constMem[at:] })
	for _, r := range rest {
		r.Offset += uint64(at)
		f.constRelocs = append(f.constRelocs, isa.ConstReloc{Bank: 3, Reloc: r})
	}
	return err
}

// placeGlobal makes a variable in global memory, whose address is in bank 4.
func (f *fn) placeGlobal(y *symbol, size, align int64) error {
	y.kind = symGlobal
	data, relocs, err := f.initData(y.v, size)
	if err != nil {
		return err
	}
	y.offset = int64(len(f.bank4))
	f.bank4 = append(f.bank4, make([]byte, 8)...)
	n := len(f.globals)
	f.globals = append(f.globals, isa.Global{Name: y.v.Name, Bytes: uint64(size), Align: uint64(align), Init: data,
		ConstBank: 4, ConstOff: uint32(y.offset)})
	f.syms[y.v] = y
	rest, err := f.resolve(y.v, relocs, n, 0, func() []byte { return data })
	f.globals[n].Relocs = append(f.globals[n].Relocs, rest...)
	return err
}

// resolve writes the addresses in a variable's initial data that are known now; addresses of functions are noted for later, by
// the variable's number among the globals (-1: constants) and its place. The rest are those the launch knows.
func (f *fn) resolve(v *ptx.Var, relocs []dataAddress, n int, at int64, data func() []byte) (rest []isa.Reloc, err error) {
	for _, r := range relocs {
		if f.functionInData(r.Reloc, n, at) {
			continue
		}
		known, err := f.addressInData(v, &r)
		if err != nil {
			return nil, err
		}
		if known >= 0 {
			putWord(data()[r.Offset:], int(r.Bytes), uint64(known)>>r.Shift)
			continue
		}
		rest = append(rest, r.Reloc)
	}
	return rest, nil
}

// placeTexture gives a texture reference a slot for its handle.
func (f *fn) placeTexture(y *symbol) {
	y.kind, y.offset = symGlobal, int64(len(f.bank4))
	f.bank4 = append(f.bank4, make([]byte, 8)...)
	f.texRefs = append(f.texRefs, isa.TexRef{Name: y.name, ConstBank: 4, ConstOff: uint32(y.offset)})
}

// placeUsed places a module variable when it is first named, and the variables its initialiser refers to.
func (f *fn) placeUsed(y *symbol) {
	placed, err := f.placeVar(y.v)
	if err != nil {
		f.errs = append(f.errs, f.m.Errorf(y.v.Pos, "", "%v", err))
		y.kind = symConst
		return
	}
	*y = *placed
}

// addressInData places the variable whose address stands in an initialiser of v. A global variable's address is known
// only at launch: -1; others are offsets in their space, or with generic() addresses in its window.
func (f *fn) addressInData(v *ptx.Var, r *dataAddress) (int64, error) {
	for _, o := range f.m.Vars {
		if o.Name != r.Symbol {
			continue
		}
		y, err := f.placeVar(o)
		if err != nil {
			return 0, err
		}
		switch {
		case y.kind == symGlobal:
			return -1, nil
		case y.kind == symConst && r.generic:
			f.windowSlot(3)
			r.Symbol, r.Addend = f.windowName(3), r.Addend+y.offset
			return -1, nil
		case y.kind == symConst:
			return y.offset + r.Addend, nil
		case y.kind == symShared && y.offset >= 0 && r.generic:
			return int64(isa.SharedGeneric(uint64(f.sharedStart()+y.offset+r.Addend), f.m.AddressSize == 64)), nil
		case y.kind == symShared && y.offset >= 0:
			return f.sharedStart() + y.offset + r.Addend, nil
		}
		return 0, fmt.Errorf("%s: the address of %s, which is known only while a thread runs, cannot be an initialiser", v.Name, o.Name)
	}
	return 0, fmt.Errorf("%s is initialised with the address of %s, which is not declared", v.Name, r.Symbol)
}

// dataAddress is an address in initialised data.
type dataAddress struct {
	isa.Reloc
	generic bool // written generic(symbol)
}

// windowName is the name of the copy in global memory of a constant bank, 0 (parameters) or 3 (constant variables).
func (f *fn) windowName(bank int) string {
	if bank == 0 {
		return "parameters of " + f.link.units[0].src.Name
	}
	return "constants of " + f.link.units[0].src.Name
}

// windowSlot is the offset in constant bank 4 of the address at which the parameters (bank 0) or the constant variables (bank 3)
// are found by generic addresses: a copy in global memory, as the driver maps it.
func (f *fn) windowSlot(bank int) int64 {
	name := f.windowName(bank)
	for i := range f.globals {
		if f.globals[i].Name == name {
			return int64(f.globals[i].ConstOff)
		}
	}
	at := int64(len(f.bank4))
	f.bank4 = append(f.bank4, make([]byte, 8)...)
	f.globals = append(f.globals, isa.Global{Name: name, Bytes: windowBytes, Align: 256, ConstBank: 4, ConstOff: uint32(at), Params: bank == 0})
	return at
}

// windowBytes is the size of a constant bank.
const windowBytes = 64 << 10

// fillWindow gives the copy of the constant variables its content.
func (f *fn) fillWindow() {
	for i := range f.globals {
		if g := &f.globals[i]; g.Name == f.windowName(3) {
			g.Init = f.constMem
			for _, r := range f.constRelocs {
				g.Relocs = append(g.Relocs, r.Reloc)
			}
		}
	}
}

// putWord stores the low n bytes of x.
func putWord(data []byte, n int, x uint64) {
	for k := range n {
		data[k] = byte(x >> (8 * k))
	}
}

// initData is the initial content of a variable and the addresses in it; nil data when there is no initialiser.
func (f *fn) initData(v *ptx.Var, size int64) ([]byte, []dataAddress, error) {
	if len(v.Init) == 0 {
		if v.Space == "const" {
			return make([]byte, size), nil, nil
		}
		return nil, nil, nil
	}
	w := int64(typeBits(v.Type) / 8)
	if w == 0 || w > 8 {
		return nil, nil, fmt.Errorf("%s: initialisers of type .%s are not modelled", v.Name, v.Type)
	}
	if int64(len(v.Init))*w > size {
		return nil, nil, fmt.Errorf("%s has %d initialisers for %d bytes", v.Name, len(v.Init), size)
	}
	data := make([]byte, size)
	var relocs []dataAddress
	for i, e := range v.Init {
		at := int64(i) * w
		u := e.Int
		if e.IsFloat {
			if w == 8 {
				u = math.Float64bits(e.Float)
			} else {
				u = uint64(math.Float32bits(float32(e.Float)))
			}
		}
		if e.Symbol != "" {
			r := isa.Reloc{Offset: uint64(at), Symbol: e.Symbol, Addend: int64(e.Int), Bytes: uint8(w)}
			if e.Mask != 0 { // one byte of the address
				r.Shift, r.Bytes = uint8(bits.TrailingZeros64(e.Mask)), 1
			}
			relocs = append(relocs, dataAddress{r, e.Generic})
			u = 0
		}
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], u)
		copy(data[at:at+w], b[:w])
	}
	return data, relocs, nil
}

// layoutParams places the kernel's parameters in constant bank 0.
func layoutParams(m *ptx.Module, f *ptx.Func, s *scope) []isa.Param {
	var out []isa.Param
	at := int64(0)
	for _, v := range f.Params {
		size, align := varSize(v), varAlign(v)
		at = alignUp(at, align)
		out = append(out, isa.Param{Name: v.Name, Offset: uint32(at), Size: uint32(size), Align: uint32(align),
			Pointer: v.Ptr, Type: isaType(v.Type)})
		s.names[v.Name] = &symbol{name: v.Name, kind: symParam, v: v, typ: v.Type, offset: at}
		at += size
	}
	return out
}

// isaType is the machine type of a PTX type name.
func isaType(typ string) isa.Type {
	switch typ {
	case "u8", "b8":
		return isa.U8
	case "s8":
		return isa.S8
	case "u16", "b16":
		return isa.U16
	case "s16":
		return isa.S16
	case "u32":
		return isa.U32
	case "s32":
		return isa.S32
	case "b32":
		return isa.B32
	case "u64":
		return isa.U64
	case "s64":
		return isa.S64
	case "b64":
		return isa.B64
	case "b128":
		return isa.U128
	case "f16":
		return isa.F16
	case "bf16":
		return isa.BF16
	case "f32":
		return isa.F32
	case "f64":
		return isa.F64
	case "f16x2":
		return isa.F16x2
	case "bf16x2":
		return isa.BF16x2
	case "u16x2":
		return isa.U16x2
	case "s16x2":
		return isa.S16x2
	case "u8x4":
		return isa.U8x4
	case "s8x4":
		return isa.S8x4
	case "tf32":
		return isa.TF32
	case "e4m3":
		return isa.E4M3
	case "e5m2":
		return isa.E5M2
	}
	return isa.TypeNone
}
