package workloads

import (
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the generated files of the tests")

// nccReference computes one launch of the ncc kernels on the CPU, from the definition in ncc.cu:
// per output position n*sum(I*T) - sum(I)*sum(T) and n*sum(I*I) - sum(I)^2 modulo 2^32.
func nccReference(c *Case) []byte {
	arg := map[string]*Arg{}
	for i := range c.Args {
		arg[c.Args[i].Name] = &c.Args[i]
	}
	fill := func(name string) []byte {
		b := make([]byte, arg[name].Bytes)
		arg[name].Fill(b)
		return b
	}
	u32 := func(name string) int { return int(binary.LittleEndian.Uint32(arg[name].Raw)) }
	img, tpl, out := fill("img"), fill("tpl"), fill("out")
	pitch, tw, th, rows, sumT := 4*u32("pitch"), 4*u32("tw4"), u32("th"), u32("rows"), uint32(u32("sumT"))
	width := int(c.Block.X) * int(c.X) // positions a row
	n := uint32(tw * th)
	for row := range int(c.Grid.X) * rows {
		// Block b starts at image row b*rows and writes rows b*rows .. (b+1)*rows-1.
		for x := range width {
			var sxy, sx, sxx uint32
			for j := range th {
				line := img[(row+j)*pitch+x:][:tw]
				for i, v := range line {
					b := uint32(v)
					sxy += b * uint32(tpl[j*tw+i])
					sx += b
					sxx += b * b
				}
			}
			o := out[8*(row*width+x):]
			binary.LittleEndian.PutUint32(o, n*sxy-sx*sumT)
			binary.LittleEndian.PutUint32(o[4:], n*sxx-sx*sx)
		}
	}
	return out
}

// TestNCCExpected compares the CPU reference with the checksums of the H200's whole output and with the list of
// block checksums of every launch. -update rewrites the lists, only from outputs that equal the H200's.
func TestNCCExpected(t *testing.T) {
	if testing.Short() {
		t.Skip("computes 300 million byte products")
	}
	p, err := LoadFS(Bundled(), "ncc/study.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range p.Cases {
		if c.Group != "imad" { // dp4a variants share launch, buffers and expectations
			continue
		}
		e := &c.Expect[0]
		out := nccReference(c)
		if got := FNV1a64(out); got != e.Whole.Value {
			t.Errorf("%s %s: reference has checksum %016x, the H200 %016x", c.Variant, c.Launch, got, e.Whole.Value)
			continue
		}
		blocks := c.Grid.Count()
		var list strings.Builder
		fmt.Fprintf(&list, "# FNV-1a 64 of each block's %d output words, blocks 0 to %d\n", e.WordsPerBlock, blocks-1)
		for b := range blocks {
			sum := FNV1a64(out[4*b*e.WordsPerBlock : 4*(b+1)*e.WordsPerBlock])
			fmt.Fprintf(&list, "%016x\n", sum)
			if want := e.Blocks[b]; !*update && (want == nil || want.Value != sum) {
				t.Errorf("%s: block %d has checksum %016x in the reference, another in the list", e.BlocksFile, b, sum)
			}
		}
		if *update {
			if err := os.WriteFile(filepath.Join("ncc", e.BlocksFile), []byte(list.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
