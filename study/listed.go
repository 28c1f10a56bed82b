package study

import (
	"fmt"
	"strings"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/workloads"
)

// listedCase is a listing's program with what the listing does not say and the case does: parameters, and static
// shared memory where no resource line gives it.
func listedCase(base *isa.Program, cs *workloads.Case, t *isa.Target) (*isa.Program, error) {
	p := *base
	p.Notes = append([]string(nil), base.Notes...)
	if err := addModule(&p, cs, t); err != nil {
		return nil, err
	}
	p.ConstBanks = workloads.AddConsts(p.ConstBanks, cs.Consts)
	if len(p.Params) == 0 || len(p.Params) != len(cs.Args) {
		p.Params = listedParams(base, cs.Args)
	}
	p.Address32 = pointerBytes(base) == 4
	if o, bank, ok := unseenBank(&p); ok {
		return nil, cs.Errorf("kernel %s reads constant bank %d, %s, which the listing does not show (line %d: %s): %s",
			p.Name, bank, bankHolds[min(int(bank), len(bankHolds)-1)], o.Pos.Line, o.String(), howToGive(bank))
	}
	if err := unknownSymbol(&p, cs); err != nil {
		return nil, err
	}
	if err := checkParams(&p, cs); err != nil {
		return nil, err
	}
	switch {
	case cs.StaticShared > 0:
		p.SharedBytes = cs.StaticShared
	case p.SharedBytes < 0:
		n, err := touchedShared(&p, cs, t)
		if err != nil {
			return nil, err
		}
		if n-cs.DynamicShared > mostStatic {
			return nil, cs.Errorf("kernel %s: block 0 touches %d bytes of shared memory, more than the %d that a kernel can declare: are the arguments right? --shared gives dynamic, --static-shared static shared memory",
				p.Name, n, mostStatic)
		}
		if p.SharedBytes = max(0, n-cs.DynamicShared); n > 0 {
			p.Notes = append(p.Notes, fmt.Sprintf("the listing does not say how much shared memory the kernel has: block 0 touches %s (set it with --static-shared)", bytesText(n)))
		}
	}
	return &p, nil
}

// listedParams lays the arguments out in order, each at the next multiple of its natural alignment: a scalar its size,
// a pointer 8 (4 in 32-bit code), the bytes of a structure the largest power of two up to 8 that divides their number.
func listedParams(p *isa.Program, args []workloads.Arg) []isa.Param {
	pointer := pointerBytes(p)
	var out []isa.Param
	end := uint32(0)
	for i := range args {
		a := &args[i]
		q := isa.Param{Name: a.Name, Size: uint32(len(a.Raw)), Pointer: a.IsBuffer()}
		if q.Name == "" {
			q.Name = fmt.Sprintf("%d", i+1)
		}
		if a.IsBuffer() {
			q.Size = pointer
		}
		q.Align = max(1, min(8, q.Size&-q.Size))
		end = (end + q.Align - 1) &^ (q.Align - 1)
		q.Offset = end
		end += q.Size
		out = append(out, q)
	}
	return out
}

// pointerBytes is 4 if the program has global accesses and none of them has 64-bit addresses (code of 32-bit programs
// for compute capability 1.x to 3.x, or lowered from 32-bit PTX), else 8.
func pointerBytes(p *isa.Program) uint32 {
	any := false
	for i := range p.Insts {
		in := &p.Insts[i]
		switch in.Op {
		case isa.OpLD, isa.OpLDU, isa.OpST, isa.OpATOM, isa.OpRED, isa.OpLDG, isa.OpSTG, isa.OpATOMG:
			any = true
			if in.Mod.Has(isa.ModE64) {
				return 8
			}
		}
	}
	if any {
		return 4
	}
	return 8
}

// paramBytes is the end of the parameters that the program reads, relative to the first.
func paramBytes(p *isa.Program) (end int64, at *isa.Inst) {
	for i := range p.Insts {
		in := &p.Insts[i]
		for k, o := range in.Src[:in.NSrc] {
			if o.Kind != isa.KindConst || o.Bank != 0 || o.Reg != isa.RZ || o.Is(isa.HasUReg) || o.Imm < int64(p.ParamBase) {
				continue
			}
			if e := o.Imm - int64(p.ParamBase) + constBytes(in, k); e > end {
				end, at = e, in
			}
		}
	}
	return end, at
}

// constBytes is the number of bytes that source k reads from a constant bank.
func constBytes(in *isa.Inst, k int) int64 {
	switch in.Op {
	case isa.OpLDC, isa.OpULDC, isa.OpLDCU:
		return max(1, int64(in.Mod.Size))
	case isa.OpDADD, isa.OpDMUL, isa.OpDFMA, isa.OpDSETP, isa.OpDMNMX:
		return 8
	case isa.OpIMAD:
		if in.Mod.Has(isa.ModWide) && k == 2 {
			return 8
		}
	}
	return 4
}

// checkParams compares the arguments with the parameters that the code reads.
func checkParams(p *isa.Program, cs *workloads.Case) error {
	have := int64(0)
	var parts []string
	for i := range p.Params {
		q := &p.Params[i]
		have = int64(q.Offset + q.Size)
		parts = append(parts, fmt.Sprintf("%s at c[0x0][%#x]", cs.Args[i].What(), p.ParamBase+q.Offset))
	}
	need, at := paramBytes(p)
	if need <= have {
		return nil
	}
	given := "none are given"
	if len(parts) > 0 {
		given = fmt.Sprintf("given are %d bytes: %s", have, strings.Join(parts, ", "))
	}
	return cs.Errorf("kernel %s reads %d bytes of parameters (line %d: %s); %s. A listing does not declare parameters: give one --arg for each, in order, with its type",
		p.Name, need, at.Pos.Line, at.String(), given)
}

// mostShared bounds the search for the shared memory in use: the largest block of any architecture.
const mostShared = 227 << 10

// mostStatic is the static shared memory that a kernel can declare on every architecture from Fermi on.
const mostStatic = 48 << 10

// touchedSteps bounds the warp-instructions of that search.
const touchedSteps = 20_000_000

// touchedShared executes the first block without timing, with all the shared memory that a block can have, and gives
// the end of what it touches, in bytes from the block's first own byte, rounded up to 4.
func touchedShared(p *isa.Program, cs *workloads.Case, t *isa.Target) (int, error) {
	if !usesShared(p) {
		return 0, nil
	}
	q := *p
	q.SharedBytes = mostShared
	l, _, err := cs.NewLaunch(&q)
	if err != nil {
		return 0, err
	}
	l.NumSMs, l.DynamicShared, l.MaxSteps = 1, 0, touchedSteps
	k, err := isa.Bind(&q, t, l)
	if err != nil {
		return 0, err
	}
	end := uint64(p.SharedBase)
	// An error ends the search: the simulation meets it again and reports it with its place.
	_, _ = k.WatchBlock(0, 0, func(_ *isa.Warp, e *isa.Effect) {
		if !e.Load && !e.Store || e.Addr == nil {
			return
		}
		for lane := range 32 {
			if e.Exec>>lane&1 == 0 {
				continue
			}
			if at, shared := e.SharedOffset(lane); shared {
				end = max(end, at+uint64(e.Size))
			}
			if e.Addr2 != nil {
				end = max(end, e.Addr2[lane]+uint64(e.Size))
			}
		}
	})
	return int(end-uint64(p.SharedBase)+3) &^ 3, nil
}

// usesShared says whether an instruction can reach shared memory.
func usesShared(p *isa.Program) bool {
	for i := range p.Insts {
		switch p.Insts[i].Op {
		case isa.OpLDS, isa.OpSTS, isa.OpATOMS, isa.OpLD, isa.OpST, isa.OpATOM, isa.OpLDGSTS, isa.OpSYNCS, isa.OpARRIVES:
			return true
		}
	}
	return false
}

// unseenBank finds an instruction that reads a constant bank of which the program has no contents. Bank 0 is made by the
// launch; bank 1 before compute capability 3.0 holds the stack pointer.
func unseenBank(p *isa.Program) (in *isa.Inst, bank uint8, ok bool) {
	for i := range p.Insts {
		in := &p.Insts[i]
		for _, o := range in.Src[:in.NSrc] {
			if o.Kind == isa.KindConst && o.Bank > 0 && (o.Bank > 1 || p.SM >= 30) && p.ConstBanks[o.Bank] == nil {
				return in, o.Bank, true
			}
		}
	}
	return nil, 0, false
}
