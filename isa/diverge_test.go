package isa_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
)

// outProgram runs text for one block and returns R0 of every lane of warp 0 at the end, through a store to out[tid].
func outProgram(t *testing.T, sm int, threads uint32, text string) []uint32 {
	t.Helper()
	mem := isa.NewMemory()
	out := mem.Alloc("out", uint64(4*threads))
	p := assemble(t, sm, text)
	_, b := start(t, p, threads, mem, binary.LittleEndian.AppendUint64(nil, out.Addr))
	if err := run(b); err != nil {
		t.Fatal(err)
	}
	var v []uint32
	for i := range threads {
		v = append(v, binary.LittleEndian.Uint32(out.Data[4*i:]))
	}
	return v
}

// store is the epilogue of the programs below: out[tid] = R0.
const store86 = `
done: S2R R20, SR_TID.X
IMAD.WIDE.U32 R22, R20, 0x4, c[0x0][0x160]
STG.E [R22.64], R0
EXIT
`

const store61 = `
done: S2R R20, SR_TID.X
MOV R22, c[0x0][0x140]
MOV R23, c[0x0][0x144]
ISCADD R22, R20, R22, 0x2
STG.E [R22], R0
EXIT
`

func TestDivergence(t *testing.T) {
	for _, c := range []struct {
		name string
		sm   int
		text string
		want func(tid uint32) uint32
	}{
		{"nested if, convergence barriers", 86, `
			S2R R1, SR_TID.X
			MOV R0, RZ
			BSSY B0, j0
			ISETP.GE.AND P0, PT, R1, 0x10, PT
			@P0 BRA else0
			BSSY B1, j1
			ISETP.GE.AND P1, PT, R1, 0x8, PT
			@P1 BRA else1
			IADD3 R0, R0, 0x1, RZ
			BRA j1
			else1: IADD3 R0, R0, 0x2, RZ
			j1: BSYNC B1
			VOTE.ANY R2, PT, PT          // all 16 lanes are together again
			POPC R2, R2
			IADD3 R0, R0, R2, RZ
			BRA j0
			else0: IADD3 R0, R0, 0x64, RZ
			j0: BSYNC B0
			VOTE.ANY R2, PT, PT
			POPC R2, R2
			IADD3 R0, R0, R2, RZ` + store86,
			func(i uint32) uint32 {
				switch {
				case i < 8:
					return 1 + 16 + 32
				case i < 16:
					return 2 + 16 + 32
				}
				return 100 + 32
			}},
		{"BRA.DIV with a mask: all its lanes are here", 90, `
			S2R R1, SR_TID.X
			MOV R0, 0x7
			ISETP.GE.AND P0, PT, R1, 0x10, PT
			BSSY B0, j
			@P0 BRA j
			VOTE.ANY R2, PT, PT
			R2UR UR4, R2
			BRA.DIV UR4, slow
			MOV R0, 0x1
			BRA.DIV ~URZ, slow
			MOV R0, 0x2
			slow: IADD3 R0, R0, 0x10, RZ
			j: BSYNC B0` + strings.ReplaceAll(store86, "0x160", "0x210"),
			func(i uint32) uint32 {
				if i < 16 {
					return 0x11
				}
				return 7
			}},
		{"lanes that yield are not waited for", 86, `
			S2R R1, SR_TID.X
			MOV R0, RZ
			MOV R3, RZ
			BSSY B0, j
			top: ISETP.GE.U32.AND P0, PT, R0, R1, PT
			@P0 BRA j
			YIELD
			IADD3 R0, R0, 0x1, RZ
			BRA top
			j: BSYNC B0
			VOTE.ANY R2, PT, PT
			POPC R2, R2
			IMAD R0, R2, 0x64, R0` + store86,
			func(i uint32) uint32 { return 100 + i }},
		{"loop with different trip counts", 86, `
			S2R R1, SR_TID.X
			MOV R0, RZ
			BSSY B0, j
			top: ISETP.GE.U32.AND P0, PT, R0, R1, PT
			@P0 BRA j
			IADD3 R0, R0, 0x1, RZ
			BRA top
			j: BSYNC B0
			VOTE.ANY R2, PT, PT
			POPC R2, R2
			IMAD R0, R2, 0x64, R0` + store86,
			func(i uint32) uint32 { return 3200 + i }},
		{"break out of a nested region", 86, `
			S2R R1, SR_TID.X
			MOV R0, RZ
			BSSY B0, out
			top: BSSY B1, j1
			ISETP.NE.AND P0, PT, R0, R1, PT
			@P0 BRA j1
			BREAK B1                     // these lanes leave the loop and will not come to j1
			BRA out
			j1: BSYNC B1
			IADD3 R0, R0, 0x1, RZ
			BRA top
			out: BSYNC B0
			VOTE.ANY R2, PT, PT
			POPC R2, R2
			IMAD R0, R2, 0x64, R0` + store86,
			func(i uint32) uint32 { return 3200 + i }},
		{"early exit frees a barrier", 86, `
			S2R R1, SR_TID.X
			MOV R0, RZ
			BSSY B0, j
			ISETP.GE.AND P0, PT, R1, 0x4, PT
			@P0 BRA j
			EXIT
			j: BSYNC B0
			VOTE.ANY R2, PT, PT
			POPC R0, R2` + store86,
			func(i uint32) uint32 {
				if i < 4 {
					return 0
				}
				return 28
			}},
		{"warpsync joins what a branch parted", 86, `
			S2R R1, SR_TID.X
			ISETP.GE.AND P0, PT, R1, 0x10, PT
			@P0 BRA there
			NOP
			there: WARPSYNC 0xffffffff
			VOTE.ANY R2, PT, PT
			POPC R0, R2` + store86,
			func(uint32) uint32 { return 32 }},
		{"lanes that meet by chance stay apart", 86, `
			S2R R1, SR_TID.X
			ISETP.GE.AND P0, PT, R1, 0x10, PT
			@P0 BRA there
			NOP
			there: VOTE.ANY R2, PT, PT
			POPC R0, R2` + store86,
			func(uint32) uint32 { return 16 }},
		{"call and return through a register", 86, `
			S2R R1, SR_TID.X
			MOV R4, 0x50
			MOV R5, 0x0
			CALL.REL.NOINC sub
			NOP
			IADD3 R0, R0, 0x1, RZ        // at 0x50
			BRA done
			sub: IADD3 R0, R1, 0xa, RZ
			RET.REL.NODEC R4 0x0` + store86,
			func(i uint32) uint32 { return i + 11 }},
		{"spin lock inside a warp", 86, `
			S2R R1, SR_TID.X
			MOV R0, RZ
			BSSY B0, j
			top: ATOMS.CAS R2, [RZ], RZ, R30
			ISETP.NE.AND P0, PT, R2, RZ, PT
			@P0 BRA top
			LDS R3, [0x4]                // critical section: a counter
			IADD3 R3, R3, 0x1, RZ
			STS [0x4], R3
			MOV R0, R3
			ATOMS.EXCH R2, [RZ], RZ
			j: BSYNC B0
			LDS R0, [0x4]` + store86,
			func(uint32) uint32 { return 32 }},
		{"nested if, token stack", 61, `
			S2R R1, SR_TID.X
			MOV R0, RZ
			SSY j0
			ISETP.GE.AND P0, PT, R1, 0x10, PT
			@P0 BRA else0
			SSY j1
			ISETP.GE.AND P1, PT, R1, 0x8, PT
			@P1 BRA else1
			IADD R0, R0, 0x1
			SYNC
			else1: IADD R0, R0, 0x2
			SYNC
			j1: VOTE.ANY R2, PT, PT
			POPC R2, R2
			IADD R0, R0, R2
			SYNC
			else0: IADD R0, R0, 0x64
			SYNC
			j0: VOTE.ANY R2, PT, PT
			POPC R2, R2
			IADD R0, R0, R2` + store61,
			func(i uint32) uint32 {
				switch {
				case i < 8:
					return 1 + 16 + 32
				case i < 16:
					return 2 + 16 + 32
				}
				return 100 + 32
			}},
		{"break from a divergent if, token stack", 61, `
			S2R R1, SR_TID.X
			MOV R0, RZ
			PBK out
			top: SSY j1
			ISETP.EQ.AND P0, PT, R0, R1, PT
			@!P0 BRA else1
			BRK
			else1: SYNC
			j1: IADD R0, R0, 0x1
			BRA top
			out: VOTE.ANY R2, PT, PT
			POPC R2, R2
			XMAD R0, R2, 0x64, R0` + store61,
			func(i uint32) uint32 { return 3200 + i }},
		{"continue, token stack", 61, `
			S2R R1, SR_TID.X
			MOV R0, RZ
			MOV R3, RZ
			PBK out
			top: PCNT next
			LOP.AND R4, R3, 0x1
			ISETP.EQ.AND P0, PT, R4, RZ, PT
			@P0 CONT                     // even rounds add nothing
			IADD R0, R0, R1
			CONT
			next: IADD R3, R3, 0x1
			ISETP.GE.AND P1, PT, R3, 0xa, PT
			@P1 BRK
			BRA top
			out: IADD R0, R0, 0x1` + store61,
			func(i uint32) uint32 { return 5*i + 1 }},
		{"call and return, token stack", 61, `
			S2R R1, SR_TID.X
			ISETP.GE.AND P0, PT, R1, 0x8, PT
			MOV R0, R1
			@P0 CALL sub
			IADD R0, R0, 0x1
			BRA done
			sub: IADD R0, R0, 0xa
			RET` + store61,
			func(i uint32) uint32 {
				if i >= 8 {
					return i + 11
				}
				return i + 1
			}},
		{".S pops like SYNC", 35, `
			S2R R1, SR_TID.X
			MOV R0, RZ
			SSY j
			ISETP.GE.AND P0, PT, R1, 0x10, PT
			@P0 BRA else
			IADD.S R0, R0, 0x1
			else: IADD.S R0, R0, 0x2
			j: VOTE.ANY R2, PT, PT
			POPC R2, R2
			IADD R0, R0, R2
			S2R R20, SR_TID.X
			MOV R22, c[0x0][0x140]
			MOV R23, c[0x0][0x144]
			ISCADD R22, R20, R22, 0x2
			ST.E [R22], R0
			EXIT`,
			func(i uint32) uint32 {
				if i < 16 {
					return 33
				}
				return 34
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := c.text
			if strings.Contains(text, "R30") { // the lock's value
				text = "MOV R30, 0x1\n" + text
			}
			for i, got := range outProgram(t, c.sm, 32, text) {
				if want := c.want(uint32(i)); got != want {
					t.Errorf("thread %d: %d, want %d", i, got, want)
				}
			}
		})
	}
}

func TestBlockBarriers(t *testing.T) {
	for _, c := range []struct {
		name string
		text string
		want func(tid uint32) uint32
	}{
		{"all warps, values through shared memory", `
			S2R R1, SR_TID.X
			SHF.L.U32 R2, R1, 0x2, RZ
			STS [R2], R1
			BAR.SYNC.DEFER_BLOCKING 0x0
			IADD3 R3, -R1, 0x7f, RZ
			SHF.L.U32 R3, R3, 0x2, RZ
			LDS R0, [R3]` + store86,
			func(i uint32) uint32 { return 127 - i }},
		{"exited warps count as arrived", `
			S2R R1, SR_TID.X
			ISETP.GE.AND P0, PT, R1, 0x40, PT
			@P0 EXIT
			BAR.SYNC.DEFER_BLOCKING 0x0
			MOV R0, 0x5` + store86,
			func(i uint32) uint32 {
				if i >= 64 {
					return 0
				}
				return 5
			}},
		{"reduction of a predicate", `
			S2R R1, SR_TID.X
			ISETP.GE.AND P1, PT, R1, 0x28, PT
			BAR.RED.POPC.DEFER_BLOCKING 0x0, P1
			B2R.RESULT R0` + store86,
			func(uint32) uint32 { return 88 }},
		{"two warps of four on a named barrier", `
			S2R R1, SR_TID.X
			ISETP.GE.AND P0, PT, R1, 0x40, PT
			@P0 BRA second
			BAR.SYNC 0x1, 0x40
			MOV R0, 0x1
			BRA done
			second: BAR.SYNC 0x2, 0x40
			MOV R0, 0x2` + store86,
			func(i uint32) uint32 { return 1 + i/64 }},
		{"producers arrive, consumers wait", `
			S2R R1, SR_TID.X
			ISETP.GE.AND P0, PT, R1, 0x40, PT
			@P0 BRA second
			MOV R3, 0x7
			STS [RZ], R3
			BAR.ARV 0x1, 0x80
			MOV R0, 0x1
			BRA done
			second: BAR.SYNC 0x1, 0x80
			LDS R0, [RZ]` + store86,
			func(i uint32) uint32 {
				if i < 64 {
					return 1
				}
				return 7
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i, got := range outProgram(t, 86, 128, c.text) {
				if want := c.want(uint32(i)); got != want {
					t.Errorf("thread %d: %d, want %d", i, got, want)
				}
			}
		})
	}
}

// TestReleased checks what a timing model sees of a barrier: every warp but the last waits, and the last releases them.
func TestReleased(t *testing.T) {
	p := assemble(t, 86, "BAR.SYNC 0x0\nEXIT")
	_, b := start(t, p, 96, nil, nil)
	var e isa.Effect
	for i, w := range b.Warps {
		if err := w.Step(&e); err != nil {
			t.Fatal(err)
		}
		last := i == 2
		if !e.BarrierArrived || e.Waiting == last {
			t.Errorf("warp %d: arrived %v, waiting %v", i, e.BarrierArrived, e.Waiting)
		}
		if got := len(b.Released()); got != map[bool]int{false: 0, true: 2}[last] {
			t.Errorf("warp %d releases %d warps", i, got)
		}
		if (w.PC() == -1) == last {
			t.Errorf("warp %d: PC %d", i, w.PC())
		}
	}
	for _, w := range b.Warps {
		if w.PC() != 1 {
			t.Errorf("warp %d continues at %d", w.Index, w.PC())
		}
	}
}

// TestExclusive: WARPSYNC.EXCLUSIVE gives lanes with different masks their turn; lanes that its guard excludes go on, and a lane whose own mask
// lacks it waits for the others of the mask only.
func TestExclusive(t *testing.T) {
	for name, mask := range map[string]string{"own mask": "SHF.L.U32 R2, R3, R1, RZ", "none": "MOV R2, RZ", "lowest": "MOV R2, 0x1"} {
		for _, guard := range []string{"", "@P0 ", "@!P0 "} {
			got := outProgram(t, 86, 32, `S2R R1, SR_LANEID
ISETP.GE.U32.AND P0, PT, R1, 0x8, PT
MOV R3, 0x1
`+mask+`
`+guard+`WARPSYNC.EXCLUSIVE R2
IADD3 R0, R1, 0x1, RZ
`+store86)
			for lane, v := range got {
				if v != uint32(lane+1) {
					t.Errorf("%s, guard %q: lane %d stores %d", name, guard, lane, v)
				}
			}
		}
	}
}

// TestCollective: tiles of 16 lanes with masks of their own leave the straight path together and have their turn one after the other.
func TestCollective(t *testing.T) {
	got := outProgram(t, 90, 32, `S2R R1, SR_LANEID
MOV R3, 0xffff
LOP3.LUT R4, R1, 0xfffffff0, RZ, 0xc0, !PT
SHF.L.U32 R12, R3, R4, RZ
REDUX.OR UR4, R12
R2UR P0, URZ, R12
@!P0 BRA.DIV UR4, slow
MOV R0, 0x100
BRA done
slow: BSSY B1, back
WARPSYNC.COLLECTIVE R12, end
REDUX.MAX UR6, R1
MOV R0, UR6
ENDCOLLECTIVE
end: BSYNC B1
back: IADD3 R0, R0, 0x1, RZ
`+strings.ReplaceAll(store86, "0x160", "0x210"))
	for lane, v := range got {
		if want := uint32(lane&16 + 16); v != want {
			t.Errorf("lane %d stores %d, want %d", lane, v, want)
		}
	}
}

// TestSavedBarrier: lanes of a caller that come to its barrier while others are in a function that uses the same register wait for those.
func TestSavedBarrier(t *testing.T) {
	got := outProgram(t, 90, 32, `S2R R1, SR_LANEID
BSSY B6, behind
ISETP.GE.U32.AND P0, PT, R1, 0x8, PT
@P0 BRA meet
MOV R20, 0x60
CALL.REL.NOINC function
BRA meet
meet: BSYNC B6
behind: VOTE.ANY R0, PT, PT
BRA done
function: BMOV.32.CLEAR R18, B6
BSSY B6, leave
MOV R2, RZ
round: IADD3 R2, R2, 0x1, RZ
ISETP.LT.U32.AND P1, PT, R2, 0x40, PT
@P1 BRA round
BSYNC B6
leave: BMOV.32 B6, R18
RET.REL.NODEC R20 0x0
`+strings.ReplaceAll(store86, "0x160", "0x210"))
	for lane, v := range got {
		if v != 0xffffffff {
			t.Errorf("lane %d goes on with lanes %#x", lane, v)
		}
	}
}
