package study

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"path"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/sass"
	"github.com/sarchlab/smsim/isa/zipped"
	"github.com/sarchlab/smsim/workloads"
)

// compiledFiles reads an archive of testdata/compiled. kernels.tar.gz holds small kernels of everything that integer CUDA code uses (src/*.cu), their PTX and
// machine code as nvcc and ptxas 13.0 made them for sm_75, 90 and 120 (without encodings; with .nvdisasm the whole output of nvdisasm),
// and the checksums of what an H200 computed; mbarrier.tar.gz kernels with barriers in shared memory for sm_80, 90 and 120.
func compiledFiles(t *testing.T, archive string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for r := tar.NewReader(bytes.NewReader(zipped.Read(t, "testdata/compiled/"+archive))); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name] = string(text)
	}
}

// compiledCase is the launch of all these kernels, k(out, in, n) or k(out, in, n, image) as the H200 executed them.
func compiledCase(file *workloads.KernelFile, kernel string) *workloads.Case {
	all := ^uint32(0)
	c := &workloads.Case{Kernel: file, Entry: kernel, Grid: isa.Dim3{X: 2, Y: 1, Z: 1}, Block: isa.Dim3{X: 128, Y: 1, Z: 1}, DynamicShared: 1024,
		Args: []workloads.Arg{{Buffer: workloads.GenZero, Bytes: 65536, Out: true, Mask: all}, {Buffer: workloads.GenLCG, Bytes: 65536, Seed: 1, Mask: all},
			{Type: "u32", Raw: []byte{5, 0, 0, 0}}}}
	image := &workloads.Image{Width: 32, Height: 32, Channels: 1, Format: isa.U32}
	switch kernel {
	case "t_1dfetch", "t_loop", "t_1d", "su_read1d":
		image.Width, image.Height = 1024, 1
	case "t_1dfetchi":
		image.Width, image.Height, image.Format = 1024, 1, isa.S32
	case "t_2dv4", "su_v4":
		image.Channels = 4
	case "tf_u8norm":
		image.Format, image.Normalized = isa.U8, true
	case "tf_v4":
		image.Format, image.Channels, image.Normalized = isa.U8, 4, true
	case "tf_u8":
		image.Format, image.Channels = isa.U8, 4
	}
	if prefix, _, _ := strings.Cut(kernel, "_"); prefix == "t" || prefix == "tf" || prefix == "su" {
		c.Args = append(c.Args, workloads.Arg{Buffer: workloads.GenLCG, Bytes: 16384, Seed: 7, Mask: all, Texture: image})
	}
	return c
}

// checksum executes the case's program and gives the checksum of its first buffer.
func checksum(p *isa.Program, c *workloads.Case, m *machine) (string, error) {
	l, bufs, err := c.NewLaunch(p)
	if err != nil {
		return "", err
	}
	l.NumSMs, l.MaxSteps = 132, 3_000_000
	k, err := isa.Bind(p, m.target, l)
	if err != nil {
		return "", err
	}
	if _, err := k.RunGrid(nil); err != nil {
		return "", err
	}
	h := fnv.New64a()
	_, _ = h.Write(bufs[0].Data)
	return fmt.Sprintf("%016x", h.Sum64()), nil
}

// TestCompiledKernels: PTX and machine code of the same kernels leave in memory what they left on an H200. Listings of cuobjdump get
// their module variables from the PTX; what they cannot know, the literals and tables of bank 2, must be said; nvdisasm's know all.
func TestCompiledKernels(t *testing.T) {
	files := compiledFiles(t, "kernels.tar.gz")
	machines := map[string]*machine{}
	for _, a := range []string{"sm_75", "sm_90", "sm_120"} {
		m, err := loadMachine(a, &workloads.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		machines[a] = m
	}
	sources := map[string]*source{}
	open := func(name string) (*source, *workloads.KernelFile) {
		text, ok := files[name]
		if !ok {
			return nil, nil
		}
		f := &workloads.KernelFile{Path: strings.Replace(name, ".nvdisasm", ".sass", 1), Text: []byte(text)}
		if sources[name] == nil {
			s, err := readSource(f)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			sources[name] = s
		}
		return sources[name], f
	}
	ran, unknown := 0, 0
	for line := range strings.Lines(files["results.txt"]) {
		w := strings.Fields(line)
		if len(w) != 3 || w[0] == "#" {
			continue
		}
		base, kernel, want := w[0], w[1], w[2]
		module, ptxFile := open(base + ".ptx")
		c := compiledCase(ptxFile, kernel)
		p, err := module.program(kernel, machines["sm_90"].target, &workloads.Plan{})
		if err != nil {
			t.Errorf("%s: %v", path.Join(base, kernel), err)
			continue
		}
		got, err := checksum(p, c, machines["sm_90"])
		if contracted := kernel == "h_half"; err != nil || (got != want) != contracted { // docs/deviations.md, "Contraction"
			t.Errorf("%s from PTX: %s, want %s (%v)", path.Join(base, kernel), got, want, err)
		}
		for arch, m := range machines {
			for _, kind := range []string{"sass", "nvdisasm"} {
				name := base + "." + arch + "." + kind
				s, f := open(name)
				if s == nil {
					continue
				}
				c := compiledCase(f, kernel)
				if kind == "sass" {
					c.Module = ptxFile
				}
				got, err := runListed(s, c, m)
				switch {
				case err == nil && got == want:
					ran++
				case err != nil && kind == "sass" && strings.Contains(err.Error(), "reads constant bank 2") && strings.Contains(err.Error(), "take the listing of nvdisasm"):
					unknown++
				default:
					t.Errorf("%s of %s: %s, want %s (%v)", kernel, name, got, want, err)
				}
			}
		}
	}
	if ran < 540 || unknown > 10 {
		t.Errorf("%d listings ran, %d lack literals", ran, unknown)
	}
}

// runListed executes a function of a listing without computing its timing.
func runListed(s *source, c *workloads.Case, m *machine) (string, error) {
	f, err := s.listing.Entry(c.Entry)
	if err != nil {
		return "", err
	}
	p, err := s.listing.Read(f, sass.Options{})
	if err != nil {
		return "", err
	}
	if p, err = listedCase(p, c, m.target); err != nil {
		return "", err
	}
	return checksum(p, c, m)
}
