package sass

import (
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
)

// The sample listings are cuobjdump's output of one probe kernel for eight targets.
func TestSamples(t *testing.T) {
	files, err := filepath.Glob("testdata/sm_*.sass")
	if err != nil || len(files) == 0 {
		t.Fatal("no samples", err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		l, err := Read(f, b)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		fn, err := l.Entry("")
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		p, err := l.Program(fn, 0)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if want := fmt.Sprintf("sm_%d.sass", p.SM); filepath.Base(f) != want {
			t.Errorf("%s: target %d", f, p.SM)
		}
		if p.Control != isa.ControlDecoded {
			t.Errorf("%s: control information not decoded for all instructions", f)
		}
		exits := 0
		for i := range p.Insts {
			if p.Insts[i].Op == isa.OpEXIT {
				exits++
			}
		}
		if exits == 0 || len(p.Insts) < 10 {
			t.Errorf("%s: %d instructions, %d EXIT", f, len(p.Insts), exits)
		}
	}
}

// Control words checked by hand against the field layout of each generation.
func TestControlWords(t *testing.T) {
	cases := []struct {
		name string
		sm   int
		raw  rawInst
		want isa.Control
	}{
		{"Volta: stall 4, waits for barrier 2", 80, rawInst{words: []uint64{0x0000000500007224, 0x004fc800078e0206}}, isa.Control{Stall: 4, WriteBar: isa.NoBar, ReadBar: isa.NoBar, WaitMask: 4}},
		{"Volta: S2R sets barrier 0", 80, rawInst{words: []uint64{0x0000000000007919, 0x000e220000002100}}, isa.Control{Stall: 1, Yield: true, WriteBar: 0, ReadBar: isa.NoBar}},
		{"Maxwell slot 0", 50, rawInst{sched: 0x001fc800fe2007f6, slot: 0}, isa.Control{Stall: 6, Yield: true, WriteBar: isa.NoBar, ReadBar: isa.NoBar}},
		{"Maxwell slot 1", 50, rawInst{sched: 0x001fc800fe2007f6, slot: 1}, isa.Control{Stall: 1, Yield: true, WriteBar: isa.NoBar, ReadBar: isa.NoBar}},
		{"Maxwell slot 2", 50, rawInst{sched: 0x001fc800fe2007f6, slot: 2}, isa.Control{Stall: 2, Yield: true, WriteBar: isa.NoBar, ReadBar: isa.NoBar}},
		{"sm_35 slot 1: with the next", 35, rawInst{sched: 0x08fc8c8c10a010c0, slot: 1}, isa.Control{Yield: true, WriteBar: isa.NoBar, ReadBar: isa.NoBar, DualIssue: true}},
		{"sm_35 slot 2: wait 9", 35, rawInst{sched: 0x08fc8c8c10a010c0, slot: 2}, isa.Control{Stall: 9, Yield: true, WriteBar: isa.NoBar, ReadBar: isa.NoBar}},
		{"assembler prefix", 90, rawInst{ctrl: "B-1--4-:R0:W2:Y:S07"}, isa.Control{Stall: 7, WriteBar: 2, ReadBar: 0, WaitMask: 1<<1 | 1<<4}},
	}
	for _, c := range cases {
		var in isa.Inst
		if ok, err := decodeControl(c.sm, &c.raw, &in); !ok || err != nil {
			t.Errorf("%s: no control information, %v", c.name, err)
			continue
		}
		if in.Ctrl != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, in.Ctrl, c.want)
		}
	}
}

// Each line: text, then the fields that must come out.
func TestInstructions(t *testing.T) {
	type want struct {
		op         isa.Op
		nd, ns     uint8
		flags      isa.ModFlags
		typ, btype isa.Type
		check      func(in *isa.Inst) bool
	}
	cases := map[string]want{
		"@!P0 IMAD.WIDE.U32.X R30, P5, R14, R37, RZ, P5": {op: isa.OpIMAD, nd: 2, ns: 4, flags: isa.ModWide | isa.ModX, typ: isa.U32,
			check: func(in *isa.Inst) bool {
				return in.Guard == isa.NotP(0) && in.Dst[1] == isa.P(5) && in.Src[3] == isa.P(5)
			}},
		"LOP3.LUT R39, R39.reuse, ~R27, RZ, 0x3c, !PT": {op: isa.OpLOP3, nd: 1, ns: 4,
			check: func(in *isa.Inst) bool {
				return in.Mod.Lut == 0x3c && in.Src[0].Is(isa.Reuse) && in.Src[1].Is(isa.Inv) && in.Src[2].Reg == isa.RZ
			}},
		"LOP3.LUT P0, RZ, R4, 0x3, RZ, 0xc0, !PT": {op: isa.OpLOP3, nd: 2, ns: 4, check: func(in *isa.Inst) bool { return in.Mod.Lut == 0xc0 && in.Src[1].Imm == 3 }},
		"PLOP3.LUT P0, PT, R2.reuse.SIGN, P1, PT, 0x80, 0x8": {op: isa.OpPLOP3, nd: 2, ns: 3,
			check: func(in *isa.Inst) bool { return in.Mod.Lut == 0x80 && in.Mod.Lut2 == 8 && in.Src[0].Is(isa.Sign) }},
		"LDG.E.128.CONSTANT R4, desc[UR4][R4.64+UR8+-0x10]": {op: isa.OpLDG, nd: 1, ns: 1, flags: isa.ModE64 | isa.ModConstant,
			check: func(in *isa.Inst) bool {
				return in.Mod.Size == 16 && in.Src[0].Is(isa.Wide64|isa.HasUReg|isa.UWide64|isa.HasDesc) && in.Src[0].Imm == -16 && in.Src[0].UReg == 8
			}},
		"STG.E.U8.SYS [R5.U32+UR4], R2": {op: isa.OpSTG, ns: 2, flags: isa.ModE64 | isa.ModSys, typ: isa.U8,
			check: func(in *isa.Inst) bool {
				return in.Mod.Size == 1 && !in.Src[0].Is(isa.Wide64) && in.Src[0].Is(isa.UWide64)
			}},
		"HFMA2.MMA R3, -RZ, RZ, 0, 5.9604644775390625e-08": {op: isa.OpHFMA2, nd: 1, ns: 3, flags: isa.ModMMA,
			check: func(in *isa.Inst) bool { return in.Src[2].Imm == 1 && in.Src[0].Is(isa.Neg) }},
		"HFMA2 R3, -RZ, RZ, 1.875, -INF": {op: isa.OpHFMA2, nd: 1, ns: 3, check: func(in *isa.Inst) bool { return in.Src[2].Imm == 0x3f80fc00 }},
		"FSETP.GEU.AND P1, PT, |R7|, +INF, PT": {op: isa.OpFSETP, nd: 2, ns: 3, check: func(in *isa.Inst) bool {
			return in.Mod.Cmp == isa.CmpGEU && in.Src[1].Imm == 0x7f800000 && in.Src[0].Is(isa.Abs)
		}},
		"I2F.U32.RP R2, UR8":                        {op: isa.OpI2F, nd: 1, ns: 1, typ: isa.F32, btype: isa.U32, check: func(in *isa.Inst) bool { return in.Mod.Round == isa.RP }},
		"F2I.FTZ.U32.F32.TRUNC R7, R7":              {op: isa.OpF2I, nd: 1, ns: 1, flags: isa.ModFTZ, typ: isa.U32, btype: isa.F32, check: func(in *isa.Inst) bool { return in.Mod.Round == isa.RZero }},
		"IDP.2A.HI.U16.S8 R8, R2, R5, R6":           {op: isa.OpIDP, nd: 1, ns: 3, typ: isa.U16, btype: isa.S8, check: func(in *isa.Inst) bool { return in.Mod.Sub == isa.Sub2AHi }},
		"XMAD.PSL.CBCC R0, R0.H1, R7.H1, R5":        {op: isa.OpXMAD, nd: 1, ns: 3, flags: isa.ModPSL, check: func(in *isa.Inst) bool { return in.Mod.Sub == isa.SubCBCC && in.Src[0].Is(isa.SelH1) }},
		"VIMNMX.S16x2.RELU R0, PT, PT, R2, R5, !PT": {op: isa.OpVIMNMX, nd: 3, ns: 3, flags: isa.ModRelu, typ: isa.S16x2},
		"RET.REL.NODEC R6 0x0":                      {op: isa.OpRET, ns: 2, flags: isa.ModREL | isa.ModNoInc},
		"VOTE.ANY R24, PT, P0":                      {op: isa.OpVOTE, nd: 2, ns: 1, check: func(in *isa.Inst) bool { return in.Mod.Sub == isa.SubAny }},
		"ATOMS.POPC.INC.32 RZ, [R15+UR4]":           {op: isa.OpATOMS, nd: 1, ns: 1, flags: isa.ModPopcInc},
		"R2P PR, R4, 0x7f":                          {op: isa.OpR2P, ns: 2},
		"UP2UR UR13, UPR, URZ, 0x1":                 {op: isa.OpUP2UR, nd: 1, ns: 2},
		"DEPBAR.LE SB0, 0x0, {4,1}":                 {op: isa.OpDEPBAR, ns: 2, check: func(in *isa.Inst) bool { return in.Ctrl.WaitMask == 1<<4|1<<1 }},
		"DEPBAR.LE SB0, 0x1, {2":                    {op: isa.OpDEPBAR, ns: 2, check: func(in *isa.Inst) bool { return in.Ctrl.WaitMask == 1<<2 }},
		"IADD R4.CC, R2, c [0x0] [0x20]":            {op: isa.OpIADD, nd: 1, ns: 2, flags: isa.ModCC, check: func(in *isa.Inst) bool { return in.Src[1].Bank == 0 && in.Src[1].Imm == 0x20 }},
		"LDC R0, c[0x3][R5+0x10]":                   {op: isa.OpLDC, nd: 1, ns: 1, check: func(in *isa.Inst) bool { return in.Src[0].Reg == 5 && in.Src[0].Imm == 16 && in.Src[0].Bank == 3 }},
		"BAR.RED.POPC.DEFER_BLOCKING 0x0, P0":       {op: isa.OpBAR, ns: 2, flags: isa.ModDeferBlk, check: func(in *isa.Inst) bool { return in.Mod.Sub == isa.SubRedPopc }},
		"B2R.RESULT RZ, P0":                         {op: isa.OpB2R, nd: 2, check: func(in *isa.Inst) bool { return in.Dst[0].Reg == isa.RZ && in.Dst[1] == isa.P(0) }},
		"SEL.64 R2, R4, -0x1, P0":                   {op: isa.OpSEL, nd: 1, ns: 3, flags: isa.ModWide, check: func(in *isa.Inst) bool { return in.Src[1].Imm == -1 }},
	}
	for text, w := range cases {
		in, _, err := parseText(90, text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if in.Op != w.op || in.NDst != w.nd || in.NSrc != w.ns || !in.Mod.Has(w.flags) || in.Mod.Type != w.typ || in.Mod.BType != w.btype {
			t.Errorf("%s: op %v, %d destinations, %d sources, flags %x, types %d %d", text, in.Op, in.NDst, in.NSrc, in.Mod.Flags, in.Mod.Type, in.Mod.BType)
		}
		if w.check != nil && !w.check(&in) {
			t.Errorf("%s: parsed as %+v", text, in)
		}
	}
}

// TestResources reads figures that stand in the listing, under the function's name before or after it, or in sections.
func TestResources(t *testing.T) {
	code := "code for sm_86\n\t\tFunction : k\n/*0000*/ EXIT ;\n"
	for name, c := range map[string]struct {
		text                string
		regs, shared, local int
	}{
		"nothing":     {code, 0, -1, 0},
		"within":      {strings.Replace(code, ": k\n", ": k\n REG:24 STACK:16 SHARED:512\n", 1), 24, 512, 16},
		"before":      {"Resource usage:\n Common:\n  GLOBAL:0\n Function k:\n  REG:10 STACK:8 SHARED:32 LOCAL:0 CONSTANT[0]:380 TEXTURE:0 SURFACE:0 SAMPLER:0\n" + code, 10, 32, 8},
		"after":       {code + " Function other:\n  REG:99 STACK:0 SHARED:1\n Function k:\n  REG:12 STACK:0 SHARED:0 LOCAL:0\n", 12, 0, 0},
		"ptxas":       {"ptxas info    : Compiling entry function 'k' for 'sm_86'\nptxas info    : Function properties for k\n    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\nptxas info    : Used 38 registers, 4096 bytes smem, 376 bytes cmem[0]\n" + code, 38, 4096, 0},
		"other ptxas": {"ptxas info    : Compiling entry function 'k' for 'sm_75'\nptxas info    : Used 38 registers, 376 bytes cmem[0]\n" + code, 0, -1, 0},
		"sections":    {"\t.section\t.nv.shared.k,\"aw\",@nobits\n\t.align\t4\n.nv.shared.k:\n\t.zero\t1024\n\t.section\t.text.k,\"ax\"\n\t.sectioninfo\t@\"SHI_REGISTERS=9\"\n\t.headerflags\t@\"EF_CUDA_SM86\"\n.text.k:\n/*0000*/ EXIT ;\n", 9, 1024, 0},
	} {
		l, err := Read("x", []byte(c.text))
		if err != nil {
			t.Fatal(name, err)
		}
		p, err := l.Read(l.Funcs[0], Options{})
		if err != nil {
			t.Fatal(name, err)
		}
		if len(l.Funcs) != 1 || p.SM != 86 || len(p.Insts) != 1 || p.Regs != c.regs || p.SharedBytes != c.shared || p.LocalBytes != c.local {
			t.Errorf("%s: %d functions, sm %d, %d instructions, %d registers, %d shared, %d local", name, len(l.Funcs), p.SM, len(p.Insts), p.Regs, p.SharedBytes, p.LocalBytes)
		}
	}
}

// TestMissingEnd: a listing that was cut off is an error when it is bound, not a run into nothing.
func TestMissingEnd(t *testing.T) {
	for _, c := range []struct {
		code string
		ok   bool
	}{
		{"MOV R0, 0x1", false},
		{"@P0 EXIT", false},
		{"EXIT", true},
		{"@!PT EXIT", false},
		{"@PT EXIT", true},
		{"BRA 0x0", true},
		{"BRA P0, 0x0", false},
	} {
		l, err := Read("x", []byte("code for sm_80\nFunction : k\n/*0000*/ "+c.code+" ;\n"))
		if err != nil {
			t.Fatal(err)
		}
		p, err := l.Program(l.Funcs[0], 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = isa.Bind(p, isa.NewTarget(80), &isa.Launch{Grid: isa.Dim3{X: 1, Y: 1, Z: 1}, Block: isa.Dim3{X: 1, Y: 1, Z: 1}})
		if c.ok != (err == nil) || err != nil && !strings.Contains(err.Error(), "control runs past the last instruction") {
			t.Errorf("%s: %v", c.code, err)
		}
	}
}

// on90 is a listing of one function for sm_90.
func on90(code string) string { return "code for sm_90\nFunction : k\n" + code + "\n" }

// everyRegister is code that names R0 to R253 and Rpc, which takes two.
func everyRegister() string {
	var b strings.Builder
	for r := range 254 {
		fmt.Fprintf(&b, "/*%04x*/ MOV R%d, 0x1 ;\n", 16*r, r)
	}
	fmt.Fprintf(&b, "/*%04x*/ RPCMOV.32 Rpc.LO, R4 ;", 16*254)
	return b.String()
}

// TestReturnAddressRegisters: Rpc is in registers that the code does not name, however high its own are.
func TestReturnAddressRegisters(t *testing.T) {
	for top, want := range map[int][2]isa.Reg{8: {9, 10}, 252: {253, 254}, 253: {254, 1}, 254: {1, 2}} {
		text := on90(fmt.Sprintf("/*0000*/ RPCMOV.32 Rpc.LO, R%d ;\n/*0010*/ RPCMOV.32 R0, Rpc.HI ;\n/*0020*/ EXIT ;", top))
		l, err := Read("x.sass", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		p, err := l.Program(l.Funcs[0], 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]isa.Reg{p.Insts[0].Dst[0].Reg, p.Insts[1].Src[0].Reg}; got != want {
			t.Errorf("up to R%d: Rpc in %v, want %v", top, got, want)
		}
	}
}

var update = flag.Bool("update", false, "write the errors of testdata/errors.txt anew")

// TestErrors: testdata/errors.txt holds listings with one mistake each ("== name"), and behind "=>" the whole error.
func TestErrors(t *testing.T) {
	const file = "testdata/errors.txt"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for i, c := range strings.Split(string(text), "== ") {
		if i == 0 {
			continue // nothing stands before the first
		}
		name, rest, _ := strings.Cut(c, "\n")
		listing, want, ok := strings.Cut(rest, "\n=>\n")
		if !ok {
			t.Fatalf("%s: no => behind the listing", name)
		}
		err := errorOf(listing + "\n")
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		fmt.Fprintf(&out, "== %s\n%s\n=>\n%v\n", name, listing, err)
		if got := err.Error() + "\n"; got != want && !*update {
			t.Errorf("%s:\n got %swant %s", name, got, want)
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := "x.sass:257:10: function k names all registers of a thread, none is left for Rpc\n    /*0fe0*/ RPCMOV.32 Rpc.LO, R4 ;\n             ^"
	if err := errorOf(on90(everyRegister())); err == nil || err.Error() != want {
		t.Errorf("every register: %v\nwant %s", err, want)
	}
}

// errorOf is what reading a listing and its first function says.
func errorOf(listing string) error {
	l, err := Read("x.sass", []byte(listing))
	if err == nil {
		_, err = l.Program(l.Funcs[0], 0)
	}
	return err
}

// Distances of two branches of real listings.
func TestBranchDistance(t *testing.T) {
	for _, c := range []struct {
		words []uint64
		want  int64
	}{
		{[]uint64{0xfffffffc00e48947, 0x000fea000383ffff}, -0x70},
		{[]uint64{0x0000000000340947, 0x000fea0003800000}, 0xd0},
		{[]uint64{0xfffffff800746947, 0x000fea000383ffff}, -0x630},
	} {
		if d, ok := branchDistance(c.words); !ok || d != c.want {
			t.Errorf("%x: %#x, want %#x", c.words, d, c.want)
		}
	}
}

// nvdisasm prints sections and labels instead of "Function :" and addresses.
func TestNvdisasmLabels(t *testing.T) {
	text := "\t.headerflags\t@\"EF_CUDA_SM80 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM80)\"\n.section\t.text.k,\"ax\",@progbits\n.text.k:\n        /*0000*/                   MOV R1, c[0x0][0x28] ;\n.L_x_1:\n        /*0010*/                   BRA `(.L_x_1);\n"
	l, err := Read("x", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	p, err := l.Program(l.Funcs[0], 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Funcs) != 1 || p.SM != 80 || p.Insts[1].Src[0] != isa.Label(1) || p.Control != isa.ControlComputed {
		t.Errorf("%d functions, sm %d, target %+v", len(l.Funcs), p.SM, p.Insts[1].Src[0])
	}
}

// FuzzRead reads any text, interprets its functions with and without assumptions, and executes what can be bound for a
// few instructions: errors are fine, panics and inner errors are not.
func FuzzRead(f *testing.F) {
	f.Add("code for sm_90\nFunction : k\n/*0000*/ IADD3 R1, PT, PT, R2, 0x1, R3 ; /* 0x0 */\n/* 0x0 */\n")
	f.Add("Function : k\n/*0008*/ BRA `(.L_1);")
	f.Add(fermiListing)
	f.Add("Dump of assembler code for function k(int*):\n=> 0x0000000202156400 <+0>:\tS2R R0, SR_TID.X \n   0x0000000202156410 <+16>:\t@P0 BRA 0x0 \n")
	f.Add(`[{"SM":{"version":{"major":9,"minor":0}}},[{"function-name":"k","start":0,"length":32,"sass-instructions":[{"predicate":"@P0","opcode":"MOV","operands":"R1,0x1"},{"opcode":""},{"opcode":"EXIT"}]}]]`)
	files, err := filepath.Glob("testdata/*/*.sass")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	f.Fuzz(func(t *testing.T, s string) {
		l, err := Read("f", []byte(s))
		if err != nil {
			return
		}
		for _, fn := range l.Funcs {
			for _, assume := range []bool{false, true} {
				p, err := l.Read(fn, Options{SM: 90, AssumeUnknown: assume})
				if err != nil {
					continue
				}
				fuzzRun(t, p)
			}
		}
	})
}

// fuzzRun executes a few steps of two warps.
func fuzzRun(t *testing.T, p *isa.Program) {
	if len(p.Insts) == 0 || p.LocalBytes > 1<<12 {
		return
	}
	p.SharedBytes = 256
	mem := isa.NewMemory()
	out := mem.Alloc("out", 256)
	la := &isa.Launch{Grid: isa.Dim3{X: 1, Y: 1, Z: 1}, Block: isa.Dim3{X: 40, Y: 1, Z: 1}, Mem: mem, MaxSteps: 200,
		Params: binary.LittleEndian.AppendUint64(nil, out.Addr)}
	target := isa.NewTarget(p.SM)
	_ = p.Check(target)
	k, err := isa.Bind(p, target, la)
	if err == nil {
		_, err = k.RunBlock(0)
	}
	if err != nil && strings.Contains(err.Error(), "internal error") {
		t.Fatal(err)
	}
}

// TestLayout: addresses that no instruction is missing between, and several listings in one file.
func TestLayout(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		targets []int
	}{
		"scheduling words of Pascal": {"code for sm_61\nFunction : k\n/*0008*/ NOP ;\n/*0010*/ NOP ;\n/*0018*/ NOP ;\n/*0028*/ EXIT ;", []int{61}},
		"scheduling words of Kepler": {"code for sm_35\nFunction : k\n/*0008*/ NOP ;\n/*0010*/ NOP ;\n/*0018*/ NOP ;\n/*0020*/ NOP ;\n/*0028*/ NOP ;\n/*0030*/ NOP ;\n/*0038*/ NOP ;\n/*0048*/ EXIT ;", []int{35}},
		"Pascal without words":       {"code for sm_61\nFunction : k\n/*0000*/ NOP ;\n/*0008*/ NOP ;\n/*0010*/ NOP ;\n/*0018*/ NOP ;\n/*0020*/ EXIT ;", []int{61}},
		"half instructions of 1.x":   {"code for sm_13\nFunction : k\n/*0000*/ NOP;\n/*0004*/ NOP;\n/*0008*/ NOP;\n/*0010*/ EXIT;", []int{13}},
		"two targets of cuobjdump":   {"code for sm_80\n.target sm_80\nFunction : k\n.headerflags @\"EF_CUDA_SM80\"\n/*0000*/ EXIT ;\ncode for sm_90\nFunction : k\n/*0000*/ EXIT ;\n", []int{80, 90}},
		"two outputs of nvdisasm":    {".headerflags @\"EF_CUDA_SM80\"\n.section .text.k,\"ax\"\n/*0000*/ EXIT ;\n.headerflags @\"EF_CUDA_SM90 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM75)\"\n.section .text.k2,\"ax\"\n/*0000*/ EXIT ;\n", []int{80, 90}},
		"some have addresses":        {"code for sm_90\nFunction : k\nB------:R-:W-:Y:S01 NOP ;\n/*0010*/ NOP ;\nB------:R-:W-:Y:S01 EXIT ;\n", []int{90}},
		"a form shares the number":   {on90("/*0000*/ ERRBAR ; /* 0x00000000000079ab */\n/* 0x000fc00000000000 */\n/*0010*/ CGAERRBAR ; /* 0x00000000000075ab */\n/* 0x000fc00000000000 */\n/*0020*/ EXIT ; /* 0x000000000000794d */\n/* 0x000fea0003800000 */"), []int{90}},
	} {
		l, err := Read("x", []byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []int
		for _, f := range l.Funcs {
			if _, err := l.Program(f, 0); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			got = append(got, f.SM)
		}
		if !slices.Equal(got, c.targets) {
			t.Errorf("%s: targets %v, want %v", name, got, c.targets)
		}
	}
}
