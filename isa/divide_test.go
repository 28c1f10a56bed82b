package isa_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/sarchlab/smsim/isa"
)

// TestDivision runs the sequence that compilers emit for unsigned division on sm_90 (reciprocal estimate, one Newton step, two corrections):
// the quotient must be exact for every pair, which holds the estimate of MUFU.RCP and the rounding of I2F to what the sequence relies on.
// Division by zero gives all ones, as on the hardware.
func TestDivision(t *testing.T) {
	p := assemble(t, 90, `
		I2F.U32.RP R0, R11
		IADD3 R13, RZ, -R11, RZ
		ISETP.NE.U32.AND P2, PT, R11, RZ, PT
		MUFU.RCP R0, R0
		IADD3 R6, R0, 0xffffffe, RZ
		F2I.FTZ.U32.TRUNC.NTZ R7, R6
		HFMA2.MMA R6, -RZ, RZ, 0, 0
		IMAD R13, R13, R7, RZ
		IMAD.HI.U32 R7, R7, R13, R6
		IMAD.HI.U32 R7, R7, R2, RZ
		IMAD.MOV R3, RZ, RZ, -R7
		IMAD R2, R11, R3, R2
		ISETP.GE.U32.AND P0, PT, R2, R11, PT
		@P0 IADD3 R2, -R11, R2, RZ
		@P0 IADD3 R7, R7, 0x1, RZ
		ISETP.GE.U32.AND P1, PT, R2, R11, PT
		@P1 VIADD R7, R7, 0x1
		@!P2 LOP3.LUT R7, RZ, R11, RZ, 0x33, !PT
		EXIT`)
	k, _ := start(t, p, 32, nil, nil)
	rapid.Check(t, func(t *rapid.T) {
		b := k.NewBlock(0)
		w := b.Warps[0]
		var n, d [32]uint32
		for l := range 32 {
			n[l], d[l] = word(t), word(t)
			if l%4 == 0 { // quotients just around an integer
				n[l] = d[l]*(n[l]%7) - uint32(l/4)
			}
			w.SetReg(2, l, n[l])
			w.SetReg(11, l, d[l])
		}
		var e isa.Effect
		for range len(p.Insts) - 1 {
			if err := w.Step(&e); err != nil {
				t.Fatal(err)
			}
		}
		for l := range 32 {
			want := ^uint32(0)
			if d[l] != 0 {
				want = n[l] / d[l]
			}
			if got := w.Reg(7, l); got != want {
				t.Fatalf("%d / %d = %d, want %d", n[l], d[l], got, want)
			}
		}
		k.Recycle(b)
	})
}
