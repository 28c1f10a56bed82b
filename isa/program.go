package isa

import "fmt"

// ControlOrigin says where a program's control information came from.
type ControlOrigin uint8

// Origins of control information.
const (
	ControlComputed ControlOrigin = iota // by isa/lower from the target's latencies
	ControlDecoded                       // from the listing's control words
)

// Program is one kernel in machine instructions of one target, ready to be launched.
type Program struct {
	Name   string // entry name
	SM     int    // target, for example 86 for sm_86
	Insts  []Inst // in address order; Label operands index this slice
	Regs   int    // general registers a thread, as the compiler would report them
	UsesCC bool   // condition code is live somewhere (before Volta)

	SharedBytes int    // static shared memory a block
	SharedBase  uint32 // offset of the first static shared byte: 0, or 0x400 where the listing's addresses include the system's part
	// SharedUnit is the unit in which shared memory is allocated, bytes: accesses may reach to the end of the last one. 0: exactly what is asked for.
	// (ptxas reads the last words of an array 16 bytes at a time, past the bytes that the listing declares.)
	SharedUnit  int
	LocalBytes  int    // local memory (stack) a thread
	Address32   bool   // addresses of global memory have 32 bits
	ParamBase   uint32 // offset of the first parameter in constant bank 0
	Params      []Param
	ConstBanks  map[uint8][]byte // initialised constant banks other than bank 0 (parameters)
	ConstRelocs []ConstReloc     // addresses of globals inside ConstBanks
	Globals     []Global         // module-scope global variables, placed at launch

	// Indexed are the targets of indexed branches, by instruction index, where they are known.
	Indexed map[int][]int

	TexRefs []TexRef // texture references, bound to the launch's images by name

	MaxThreads int  // .maxntid / launch bounds, 0: none
	ReqBlock   Dim3 // .reqntid, zero: none
	MinBlocks  int  // .minnctapersm, 0: none
	Barriers   int  // named barriers used, at least 1 if any
	Control    ControlOrigin
	Files      []string // CUDA source files named by line information
	SourceFile string   // the PTX or SASS file
	Source     []string // its lines, for reports; may be nil
	Notes      []string // things a reader of the results should know (newer .target, emulated instructions)
	InstBytes  uint32   // bytes of one instruction: 8 (Tesla to Pascal) or 16
	// Unknown holds the texts of instructions whose meaning is not known, by index: they are NOPs with an assumed class
	// (Mod.Assumed), which take time and change nothing.
	Unknown      map[int]string
	SchedPadding bool // addresses include control words (Kepler, Maxwell, Pascal)
}

// Param is one kernel parameter.
type Param struct {
	Name    string
	Offset  uint32 // from ParamBase
	Size    uint32 // bytes
	Align   uint32
	Pointer bool // known to be a pointer (.ptr, or 64-bit and used as an address)
	Type    Type
}

// Global is a module-scope variable in global memory. Relocs place addresses of other symbols in Init.
type Global struct {
	Name   string
	Bytes  uint64
	Align  uint64
	Init   []byte
	Relocs []Reloc
	// Uses are the places in the program that need the variable's address: constant bank 4 style
	// slots that Launch fills.
	ConstBank uint8  // bank of the slot that holds the address
	ConstOff  uint32 // its offset
	// Params: a copy of the launch's parameter bank up to Bytes, for parameters with generic addresses.
	Params bool
}

// TexRef is a texture reference and the slot of constant bank ConstBank that holds its handle.
type TexRef struct {
	Name      string
	ConstBank uint8
	ConstOff  uint32
}

// Reloc is an address to be stored into initialised data.
type Reloc struct {
	Offset uint64 // in Init
	Symbol string
	Addend int64
	Bytes  uint8 // stored: 1, 2, 4 or 8; 0: 8 where the data reach that far
	Shift  uint8 // bits of the address below those stored
}

// Put stores the bytes of an address.
func (r *Reloc) Put(data []byte, addr uint64) error {
	n := uint64(r.Bytes)
	if n == 0 {
		n = 8
		if r.Offset+8 > uint64(len(data)) {
			n = 4
		}
	}
	if r.Offset > uint64(len(data)) || r.Offset+n > uint64(len(data)) {
		return fmt.Errorf("the address of %s at offset %d lies outside of its %d bytes", r.Symbol, r.Offset, len(data))
	}
	v := (addr + uint64(r.Addend)) >> r.Shift
	for k := range n {
		data[r.Offset+k] = byte(v >> (8 * k))
	}
	return nil
}

// ConstReloc is an address to be stored into a constant bank when the launch has placed the globals.
type ConstReloc struct {
	Bank uint8
	Reloc
}

// Dim3 is a CUDA dimension triple.
type Dim3 struct{ X, Y, Z uint32 }

// Count is X*Y*Z.
func (d Dim3) Count() int { return int(d.X) * int(d.Y) * int(d.Z) }

// At is the triple with linear index i (x fastest) in an extent of d.
func (d Dim3) At(i int) Dim3 {
	return Dim3{uint32(i) % d.X, uint32(i) / d.X % d.Y, uint32(i) / (d.X * d.Y)}
}

// Launch is everything a program needs to run: geometry, parameter bytes and memory.
type Launch struct {
	Grid, Block   Dim3
	DynamicShared int    // bytes
	Params        []byte // parameter block, laid out by Program.Params
	Mem           *Memory
	Textures      []Texture
	// SMID and NumSMs answer %smid and %nsmid.
	SMID, NumSMs int
	// MaxSteps ends a run that executes more warp-instructions (0: no limit), with an error that names the loop.
	MaxSteps uint64
}

// ReadsBank says whether the program reads a constant bank.
func (p *Program) ReadsBank(bank uint8) bool {
	for i := range p.Insts {
		in := &p.Insts[i]
		for _, o := range in.Src[:min(in.NSrc, MaxSrc)] {
			if o.Kind == KindConst && o.Bank == bank {
				return true
			}
		}
	}
	return false
}
