package study

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/workloads"
)

// probe is the PTX of which the sample listings of isa/sass are the compiler's code; the DP4A is left out for targets
// that lack it.
const probe = `.version 8.5
.target sm_90
.address_size 64
.visible .entry k(.param .u64 pi,.param .u64 po){
.reg .b32 %a,%b,%c,%r,%t; .reg .b64 %pi,%po;
ld.param.u64 %pi,[pi]; ld.param.u64 %po,[po]; cvta.to.global.u64 %pi,%pi; cvta.to.global.u64 %po,%po;
ld.global.u32 %a,[%pi]; ld.global.u32 %b,[%pi+4]; ld.global.u32 %c,[%pi+8];
mad.lo.s32 %r,%a,%b,%c; dp4a.u32.s32 %r,%r,%b,%c; popc.b32 %r,%r; min.s32 %r,%r,%c;
st.global.u32 [%po],%r;
ret; }
`

// probeValue is what the probe computes.
func probeValue(a, b, c uint32, dp4a bool) uint32 {
	r := a*b + c
	if dp4a {
		sum := c
		for i := range 4 {
			sum += uint32(int32(uint8(r>>(8*i))) * int32(int8(b>>(8*i))))
		}
		r = sum
	}
	return uint32(min(int32(bits.OnesCount32(r)), int32(c)))
}

// TestProbeSamples runs the compiler's code of one kernel for eight targets from Kepler to Hopper, and the same kernel
// from PTX: both give what the kernel computes.
func TestProbeSamples(t *testing.T) {
	files, err := filepath.Glob("../isa/sass/testdata/sm_*.sass")
	if err != nil || len(files) != 8 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		arch := strings.TrimSuffix(filepath.Base(path), ".sass")
		dp4a := strings.Contains(string(text), "IDP.4A")
		source := probe
		if !dp4a {
			source = strings.Replace(source, "dp4a.u32.s32 %r,%r,%b,%c;", "", 1)
		}
		c, err := newCompiler(&workloads.Plan{}, []string{arch})
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range []*workloads.KernelFile{{Path: path, Text: text}, {Path: "probe.ptx", Text: []byte(source)}} {
			in := uint32(12345)
			for range 50 {
				var v [3]uint32
				var data []byte
				for i := range v {
					in = in*1664525 + 1013904223
					v[i] = in
					data = binary.LittleEndian.AppendUint32(data, in)
				}
				cs := &workloads.Case{Kernel: file, Grid: isa.Dim3{X: 1, Y: 1, Z: 1}, Block: isa.Dim3{X: 1, Y: 1, Z: 1}, Args: []workloads.Arg{
					{Name: "pi", Buffer: workloads.GenFile, Bytes: 12, Data: data}, {Name: "po", Buffer: workloads.GenZero, Bytes: 4, Out: true}}}
				if got, want := runOnce(t, c, cs, arch), probeValue(v[0], v[1], v[2], dp4a); got != want {
					t.Fatalf("%s: %#x gives %#x, want %#x", file.Path, v, got, want)
				}
			}
		}
	}
}

// runOnce executes the case's only block and gives the first word of its last argument.
func runOnce(t *testing.T, c *compiler, cs *workloads.Case, arch string) uint32 {
	t.Helper()
	m := c.machines[arch]
	p, err := c.program(cs, m)
	if err != nil {
		t.Fatal(err)
	}
	l, bufs, err := cs.NewLaunch(p)
	if err != nil {
		t.Fatal(err)
	}
	k, err := isa.Bind(p, m.target, l)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.RunBlock(0); err != nil {
		t.Fatal(fmt.Errorf("%s: %w", arch, err))
	}
	return binary.LittleEndian.Uint32(bufs[len(bufs)-1].Data)
}
