package lower

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
)

// wordsLoop is a kernel with a loop that keeps some words across its rounds, loads another through a pointer and stores through a second one.
func wordsLoop(words int) string {
	var b strings.Builder
	b.WriteString(`.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n) {
.reg .b32 %r<99>; .reg .b64 %rd<9>; .reg .pred %p<3>;
ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; ld.param.u32 %r90, [n]; mov.u32 %r91, %tid.x;
`)
	for i := range words {
		fmt.Fprintf(&b, "mul.lo.u32 %%r%d, %%r91, %d;\n", i, 2*i+3)
	}
	b.WriteString("L: mul.wide.u32 %rd3, %r91, 4; add.s64 %rd4, %rd1, %rd3; ld.global.u32 %r92, [%rd4];\n")
	for i := range words {
		fmt.Fprintf(&b, "mad.lo.u32 %%r%d, %%r%d, %%r92, %%r%d;\n", i, i, (i+1)%words)
	}
	b.WriteString("add.s64 %rd5, %rd2, %rd3; st.global.u32 [%rd5], %r0; add.u32 %r91, %r91, 32; setp.lt.u32 %p1, %r91, %r90; @%p1 bra L; ret; }\n")
	return b.String()
}

// TestSinkWords: pointers are loaded before a loop that has registers for them, and inside one that has not.
func TestSinkWords(t *testing.T) {
	for _, c := range []struct{ words, inside int }{{4, 0}, {14, 0}, {24, 2}} {
		p := compileText(t, wordsLoop(c.words), 90)
		head := 0
		for i := range p.Insts {
			if in := &p.Insts[i]; in.Op == isa.OpBRA && in.NSrc > 0 && in.Src[0].Imm < int64(i) {
				head = int(in.Src[0].Imm)
			}
		}
		inside, all := 0, 0
		for i := range p.Insts {
			if in := &p.Insts[i]; in.Op == isa.OpLDC && in.Mod.Size == 8 {
				all++
				if head > 0 && i >= head {
					inside++
				}
			}
		}
		if inside != c.inside || all != 2 {
			t.Errorf("%d words: %d of %d pointers are loaded in the loop, want %d of 2", c.words, inside, all, c.inside)
		}
	}
}
