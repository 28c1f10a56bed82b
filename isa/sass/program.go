package sass

import (
	"fmt"
	"strings"

	"github.com/sarchlab/smsim/isa"
)

// Entry finds a function by name; an empty name finds the only one.
func (l *Listing) Entry(name string) (*Function, error) {
	var names []string
	for _, f := range l.Funcs {
		if f.Name == name || name == "" && len(l.Funcs) == 1 {
			return f, nil
		}
		names = append(names, f.Name)
	}
	if name == "" {
		return nil, fmt.Errorf("%s: %d functions: choose one with --kernel: %s", l.File, len(names), strings.Join(names, ", "))
	}
	return nil, fmt.Errorf("%s: no function %q; the file has %s", l.File, name, strings.Join(names, ", "))
}

// Options of reading a function.
type Options struct {
	SM int // the target when the listing does not name one, 90 for sm_90
	// AssumeUnknown gives unknown instructions a class by their name and no effect on values, instead of an error.
	AssumeUnknown bool
}

// Program is the function as Read gives it, with no shared memory where the listing does not say how much it has.
func (l *Listing) Program(f *Function, sm int) (*isa.Program, error) {
	p, err := l.Read(f, Options{SM: sm})
	if err == nil {
		p.SharedBytes = max(p.SharedBytes, 0)
	}
	return p, err
}

// Read interprets a function's instructions. All unknown opcodes, modifiers and operands are reported at once, with
// counts and the first place of each. SharedBytes is -1 if no resource line gives it; registers are then counted from
// the code, and there is no local memory.
func (l *Listing) Read(f *Function, opt Options) (*isa.Program, error) {
	sm := opt.SM
	if f.SM != 0 {
		sm = f.SM
	}
	if sm == 0 {
		return nil, l.errorIn(f.Line, 1, "name it with --arch", "the listing does not say for which target it is (\"code for sm_NN\")")
	}
	t := isa.NewTarget(sm)
	p := &isa.Program{Name: f.Name, SM: sm, ParamBase: t.ParamBase, InstBytes: t.InstBytes, SourceFile: l.File, Source: l.Lines, Control: isa.ControlComputed}
	p.SchedPadding = sm >= 30 && sm < 70
	byAddr, err := l.checkLayout(f, sm)
	if err != nil {
		return nil, err
	}
	if err := l.checkOpcodes(f, sm); err != nil {
		return nil, err
	}
	decoded, err := l.decode(f, p, opt, byAddr)
	if err != nil {
		return nil, err
	}
	used := registersUsed(p.Insts)
	if i := beyond(p.Insts, f.Regs); i >= 0 {
		return nil, l.errorAt(&f.Insts[i], "correct the figure of registers, or leave it out: they are counted then",
			"the listing gives function %s %d registers a thread, and this instruction names R%d: the figure or the code is of something else",
			f.Name, f.Regs, registersUsed(p.Insts[i:i+1]).count()-1)
	}
	if i := used.placeRPC(p.Insts); i >= 0 {
		return nil, l.errorAt(&f.Insts[i], "", "function %s names all registers of a thread, none is left for Rpc", f.Name)
	}
	if decoded == len(f.Insts) && decoded > 0 {
		p.Control = isa.ControlDecoded
	}
	if len(p.Unknown) > 0 {
		p.Notes = append(p.Notes, assumptions(p))
	} else if err := p.Check(t); err != nil {
		return nil, err
	}
	l.setResources(f, p, used.count())
	return p, nil
}

// decode makes the function's instructions and says how many have control information.
func (l *Listing) decode(f *Function, p *isa.Program, opt Options, byAddr map[uint32]int) (decoded int, err error) {
	unknown := map[string]int{}
	first := map[string]*rawInst{}
	p.Insts = make([]isa.Inst, len(f.Insts))
	for i := range f.Insts {
		r := &f.Insts[i]
		in, label, err := parseText(p.SM, r.text)
		if err != nil && opt.AssumeUnknown {
			in, label, err = assume(p.SM, r.text), "", nil
			if p.Unknown == nil {
				p.Unknown = map[int]string{}
			}
			p.Unknown[i] = r.text
		}
		if err != nil {
			unknown[err.Error()]++
			if first[err.Error()] == nil {
				first[err.Error()] = r
			}
			continue
		}
		in.PC = r.addr
		in.Pos = isa.SourcePos{Line: int32(r.line), Col: int32(r.col), CUFile: -1}
		switch ok, err := decodeControl(p.SM, r, &in); {
		case err != nil:
			return 0, l.errorAt(r, "correct the control information, or leave it out of all instructions: it is computed then", "impossible %v", err)
		case ok:
			decoded++
		}
		if r.dual {
			in.Ctrl.DualIssue = true
		}
		if err := l.resolve(f, p.SM, r, &in, label, byAddr); err != nil {
			return 0, err
		}
		if err := l.resolveTargets(f, p, i); err != nil {
			return 0, err
		}
		p.Insts[i] = in
	}
	if len(unknown) > 0 {
		return 0, l.unknownError(f, p.SM, unknown, first)
	}
	return decoded, nil
}

// resolveTargets turns the labels in the note on an indexed branch, instruction i, into the program's indices.
func (l *Listing) resolveTargets(f *Function, p *isa.Program, i int) error {
	r := &f.Insts[i]
	for _, name := range r.to {
		k, ok := f.Labels[name]
		if !ok || k >= len(f.Insts) {
			return l.errorAt(r, againHint, "label %s is not in function %s", name, f.Name)
		}
		if p.Indexed == nil {
			p.Indexed = map[int][]int{}
		}
		p.Indexed[i] = append(p.Indexed[i], k)
	}
	return nil
}

// setResources sets what a thread and a block need, from the listing's resource lines and from the code, which names so many registers.
func (l *Listing) setResources(f *Function, p *isa.Program, named int) {
	p.Regs = f.Regs
	if p.Regs < 0 {
		p.Regs = named
		if p.SM >= 70 && p.Regs > 0 {
			p.Regs += systemRegs
		}
	}
	p.SharedBytes, p.SharedUnit = f.SharedBytes, sharedUnit
	p.Params = l.declaredParams(f.Name)
	l.attach(f, p)
	if p.SM >= 90 {
		p.SharedBase = systemShared
		if f.sharedBase >= 0 {
			p.SharedBase = uint32(f.sharedBase)
		}
	}
	p.LocalBytes = f.LocalBytes
	if calls, deep := callGraph(p); p.LocalBytes < 0 || calls {
		p.LocalBytes = max(p.LocalBytes, frameBytes(p.Insts))
		if deep {
			p.LocalBytes += reservedStack
			p.Notes = append(p.Notes, fmt.Sprintf("the code calls itself or calls through pointers: %d bytes of stack a thread are added", reservedStack))
		}
	}
	for i := range p.Insts {
		if p.Insts[i].Op == isa.OpBAR {
			p.Barriers = max(p.Barriers, 1)
		}
		if p.Insts[i].Mod.Flags&(isa.ModCC|isa.ModX) != 0 && p.SM < 70 {
			p.UsesCC = true
		}
	}
}

// systemShared is the part of a block's shared memory that the system takes from Hopper on; code adds it to
// its addresses (MOV R0, 0x400), and resource figures leave it out.
const systemShared = 0x400

// sharedUnit is the smallest unit of any target in which blocks get shared memory, bytes.
const sharedUnit = 128

// resolve turns the target of a jump into an instruction index.
func (l *Listing) resolve(f *Function, sm int, r *rawInst, in *isa.Inst, label string, byAddr map[uint32]int) error {
	if in.Op == isa.OpBRX && !in.Mod.Has(isa.ModREL) {
		for i := range in.Src[:in.NSrc] {
			// The listing prints the distance from the next instruction to where the register counts from.
			if o := &in.Src[i]; o.Kind == isa.KindImm && o.Imm < 0 {
				o.Imm += int64(r.addr) + int64(isa.NewTarget(max(f.SM, 70)).InstBytes)
			}
		}
	}
	if (in.Op == isa.OpRET || in.Op == isa.OpCALL || in.Op == isa.OpBRX || in.Op == isa.OpJMX) && label == f.Name {
		for i := range in.Src[:in.NSrc] { // nvdisasm: the register counts from the function's start
			if o := &in.Src[i]; o.Kind == isa.KindLabel {
				*o = isa.Operand{Kind: isa.KindImm, Imm: int64(f.Insts[0].addr)}
			}
		}
		return nil
	}
	if !jumps(in.Op) {
		return nil
	}
	for i := range in.Src[:in.NSrc] {
		o := &in.Src[i]
		switch {
		case o.Kind == isa.KindLabel:
			k, ok := f.Labels[label]
			if !ok || k >= len(f.Insts) {
				return l.errorAt(r, againHint, "label %s is not in function %s", label, f.Name)
			}
			*o = isa.Label(k)
		case o.Kind == isa.KindImm:
			if o.Imm < 0 { // text made apart from the function: it gives a distance, and the encoding, if there, knows better
				step := int64(isa.NewTarget(max(f.SM, 70)).InstBytes)
				if d, ok := branchDistance(r.words); ok {
					o.Imm = d
				}
				o.Imm += int64(r.addr) + step
			}
			k, ok := byAddr[uint32(o.Imm)]
			if !ok && sm < 70 { // a target may be the scheduling word in front of the instruction
				k, ok = byAddr[uint32(o.Imm)+8]
			}
			if !ok {
				return l.errorAt(r, fmt.Sprintf("its instructions stand at %#x to %#x", f.Insts[0].addr, f.Insts[len(f.Insts)-1].addr),
					"no instruction of function %s starts at target 0x%x", f.Name, o.Imm)
			}
			*o = isa.Label(k)
		}
	}
	return nil
}

// branchDistance decodes the distance from the next instruction in bytes out of a branch's 128-bit
// encoding: bits 16-23 are the low byte, bits 34-81 the rest, in units of 4 bytes.
func branchDistance(words []uint64) (int64, bool) {
	if len(words) != 2 {
		return 0, false
	}
	high := words[0]>>34 | words[1]&0x3ffff<<30
	return (int64(high<<16)>>16<<8 | int64(words[0]>>16&0xff)) * 4, true
}

// jumps says whether an immediate of the opcode is a code address.
func jumps(op isa.Op) bool {
	switch op {
	case isa.OpBRA, isa.OpJMP, isa.OpCALL, isa.OpBSSY, isa.OpSSY, isa.OpPBK, isa.OpPCNT, isa.OpPRET:
		return true
	}
	return false
}

// frameBytes is the local memory that the code takes for itself: what it subtracts from the stack pointer R1 in all its functions.
func frameBytes(insts []isa.Inst) int {
	total := int64(0)
	for i := range insts {
		in := &insts[i]
		switch in.Op {
		case isa.OpIADD3, isa.OpIADD, isa.OpIADD32I, isa.OpVIADD:
		default:
			continue
		}
		if in.NDst == 0 || in.Dst[0].Kind != isa.KindReg || in.Dst[0].Reg != 1 || in.Src[0].Kind != isa.KindReg || in.Src[0].Reg != 1 {
			continue
		}
		if o := &in.Src[1]; o.Kind == isa.KindImm && int32(o.Imm) < 0 {
			total -= int64(int32(o.Imm))
		}
	}
	return int(min(total, 512<<10))
}
