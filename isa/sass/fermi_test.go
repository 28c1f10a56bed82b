package sass

import (
	"encoding/binary"
	"testing"

	"github.com/sarchlab/smsim/isa"
)

// Kernels in the form that cuobjdump printed for compute capability 2.1: the encoding in front of the text,
// blanks inside constant references, no control words, parameters from c[0x0][0x20] on.
const fermiListing = `
	code for sm_21
		Function : monadic
	/*0000*/     /*0x00005de428004404*/ 	MOV R1, c [0x1] [0x100];
	/*0008*/     /*0x80009de428004000*/ 	MOV R2, c [0x0] [0x20];
	/*0010*/     /*0x9000dde428004000*/ 	MOV R3, c [0x0] [0x24];
	/*0018*/     /*0x00201c858c000000*/ 	LDU.E R0, [R2];
	/*0020*/     /*0x04001c034800c000*/ 	IADD R0, R0, 0x1;
	/*0028*/     /*0x00201c8594000000*/ 	ST.E [R2], R0;
	/*0030*/     /*0x00001de780000000*/ 	EXIT;
		Function : dyadic
	/*0000*/     /*0x00005de428004404*/ 	MOV R1, c [0x1] [0x100];
	/*0008*/     /*0x80009de428004000*/ 	MOV R2, c [0x0] [0x20];
	/*0010*/     /*0x9000dde428004000*/ 	MOV R3, c [0x0] [0x24];
	/*0018*/     /*0xa0011de428004000*/ 	MOV R4, c [0x0] [0x28];
	/*0020*/     /*0xb0015de428004000*/ 	MOV R5, c [0x0] [0x2c];
	/*0028*/     /*0x00201c8584000000*/ 	LD.E R0, [R2];
	/*0030*/     /*0xfc01dc23190e0000*/ 	ISETP.EQ.AND P0, pt, R0, RZ, pt;
	/*0038*/     /*0x000001e780000000*/ 	@P0 EXIT;
	/*0040*/     /*0x00419c8584000000*/ 	LD.E R6, [R4];
	/*0048*/     /*0xfc01dde428000000*/ 	MOV R7, RZ;
	/*0050*/     /*0x00619c0348000000*/ 	IADD R6, R6, R0;
	/*0058*/     /*0x0471dc034800c000*/ 	IADD R7, R7, 0x1;
	/*0060*/     /*0x00419c8594000000*/ 	ST.E [R4], R6;
	/*0068*/     /*0x00201c8584000000*/ 	LD.E R0, [R2];
	/*0070*/     /*0x0071dc03188e0000*/ 	ISETP.LT.U32.AND P0, pt, R7, R0, pt;
	/*0078*/     /*0x600001e74003ffff*/ 	@P0 BRA.U 0x50;
	/*0080*/     /*0x00001de440000000*/ 	NOP CC.T;
	/*0088*/     /*0x00001de780000000*/ 	EXIT;
		Function : triadic
	/*0000*/     /*0x00005de428004404*/ 	MOV R1, c [0x1] [0x100];
	/*0008*/     /*0x80009de428004000*/ 	MOV R2, c [0x0] [0x20];
	/*0010*/     /*0x9000dde428004000*/ 	MOV R3, c [0x0] [0x24];
	/*0018*/     /*0xa0011de428004000*/ 	MOV R4, c [0x0] [0x28];
	/*0020*/     /*0xb0015de428004000*/ 	MOV R5, c [0x0] [0x2c];
	/*0028*/     /*0xc0019de428004000*/ 	MOV R6, c [0x0] [0x30];
	/*0030*/     /*0xd001dde428004000*/ 	MOV R7, c [0x0] [0x34];
	/*0038*/     /*0x00201c858c000000*/ 	LDU.E R0, [R2];
	/*0040*/     /*0x00409c858c000000*/ 	LDU.E R2, [R4];
	/*0048*/     /*0x0060dc858c000000*/ 	LDU.E R3, [R6];
	/*0050*/     /*0x08001c0300000000*/ 	VADD.U32.U32.ACC R0, R0, R2, R3;
	/*0058*/     /*0x00401c8594000000*/ 	ST.E [R4], R0;
	/*0060*/     /*0x00001de780000000*/ 	EXIT;
`

func TestFermiListing(t *testing.T) {
	l, err := Read("fermi.sass", []byte(fermiListing))
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		kernel string
		in     []uint32 // one word a parameter
		result int      // which parameter holds the result
		want   uint32
	}{
		{"monadic", []uint32{41}, 0, 42},
		{"dyadic", []uint32{7, 100}, 1, 149},
		{"dyadic", []uint32{0, 100}, 1, 100},
		{"triadic", []uint32{5, 0xfffffffe, 9}, 1, 12},
	}
	for _, c := range cases {
		f, err := l.Entry(c.kernel)
		if err != nil {
			t.Fatal(err)
		}
		p, err := l.Program(f, 0)
		if err != nil {
			t.Fatal(err)
		}
		if p.Control != isa.ControlComputed || p.ParamBase != 0x20 {
			t.Errorf("%s: control %v, parameters at %#x", c.kernel, p.Control, p.ParamBase)
		}
		mem := isa.NewMemory()
		la := &isa.Launch{Grid: isa.Dim3{X: 1, Y: 1, Z: 1}, Block: isa.Dim3{X: 1, Y: 1, Z: 1}, Mem: mem, MaxSteps: 1000}
		var bufs []*isa.Buffer
		for _, v := range c.in {
			b := mem.Alloc("a", 4)
			binary.LittleEndian.PutUint32(b.Data, v)
			bufs = append(bufs, b)
			la.Params = binary.LittleEndian.AppendUint64(la.Params, b.Addr)
		}
		k, err := isa.Bind(p, isa.NewTarget(p.SM), la)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := k.RunBlock(0); err != nil {
			t.Fatalf("%s: %v", c.kernel, err)
		}
		if got := binary.LittleEndian.Uint32(bufs[c.result].Data); got != c.want {
			t.Errorf("%s%v: %d, want %d", c.kernel, c.in, got, c.want)
		}
	}
}
