package sm

import (
	"testing"

	"github.com/sarchlab/smsim/isa"
)

// stream is a loop of body, n times, whose loop code is two instructions and a branch.
func stream(n uint32, body ...isa.Inst) *isa.Program {
	p := []isa.Inst{stall(6, op(isa.OpMOV, isa.R(0), isa.I(0))), stall(6, op(isa.OpMOV, isa.R(1), isa.I(4096)))}
	p = append(p, body...)
	step := stall(6, op(isa.OpIADD3, isa.R(0), isa.R(0), isa.I(1), isa.R(isa.RZ)))
	cmp := stall(13, op(isa.OpISETP, isa.P(0), isa.R(0), isa.I(n), isa.P(isa.PT)))
	cmp.NDst, cmp.Dst[1], cmp.Mod.Cmp = 2, isa.P(isa.PT), isa.CmpLT
	back := stall(5, op(isa.OpBRA, none, isa.Label(2)))
	back.Guard = isa.P(0)
	prog := code(append(p, step, cmp, back, exit())...)
	prog.SharedBytes = 16384
	return prog
}

// integerBody is 48 integer instructions of which a third each are additions, logic and multiply-adds.
func integerBody() []isa.Inst {
	var body []isa.Inst
	for i := range isa.Reg(48) {
		d := 8 + i%12
		switch i % 3 {
		case 0:
			body = append(body, stall(2, iadd3(d, d, 2, 3)))
		case 1:
			body = append(body, stall(2, imad(d, d, 3, 4)))
		default:
			in := stall(2, op(isa.OpLOP3, isa.R(d), isa.R(d), isa.R(3), isa.R(isa.RZ)))
			in.Mod.Lut = 0x3c
			body = append(body, in)
		}
	}
	return body
}

// loadBody replaces every fourth instruction by a shared load.
func loadBody() []isa.Inst {
	body := integerBody()
	for i := 3; i < len(body); i += 4 {
		in := ctl{stall: 1, set: i / 4 % 6}.on(op(isa.OpLDS, isa.R(24+isa.Reg(i/4%6)), isa.Mem(1, int64(i*16), false)))
		in.Mod.Size = 4
		body[i] = in
		body[(i+16)%len(body)].Ctrl.WaitMask |= 1 << (i / 4 % 6)
	}
	return body
}

func benchmarkStream(b *testing.B, body []isa.Inst) {
	a := arch(b, "sm_90")
	// Two blocks of 1024 threads: 16 warps a sub-partition.
	const loopOverhead = 3
	n := uint32(max(1, b.N/(64*(len(body)+loopOverhead))))
	p := stream(n, body...)
	b.ReportAllocs()
	b.ResetTimer()
	cpu := cpuTime()
	r, err := Run(a, p, launch(2, 1024), Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(r.WarpInstructions)/max(cpuTime()-cpu, 1).Seconds(), "warp-instr/cpu-s")
	b.ReportMetric(r.IPC, "IPC")
}

// BenchmarkIntegerStream: one operation is about one warp-instruction.
func BenchmarkIntegerStream(b *testing.B) { benchmarkStream(b, integerBody()) }

// BenchmarkLoadQuarter has one shared load in four instructions.
func BenchmarkLoadQuarter(b *testing.B) { benchmarkStream(b, loadBody()) }
