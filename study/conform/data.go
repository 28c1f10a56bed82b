// Package conform replays single PTX instructions, and CUDA intrinsics as the compiler expands them, on every
// target and compares the results with what a GPU gave.
package conform

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// Form is one PTX instruction (or short sequence) with its operands. In PTX, %a %b %c stand for the operands, %d for
// the result and %e for the second one.
type Form struct {
	ID       int      `json:"id"`
	PTX      string   `json:"ptx"`
	Result   string   `json:"result"`
	Operands []string `json:"operands"`
	Second   string   `json:"second"`   // type of %e, "" when there is none
	Accepted bool     `json:"accepted"` // by ptxas
	Error    string   `json:"error"`    // what ptxas said otherwise
	// Halves says that the kernel loads operands of 8 and 16 bits as halves; else it truncates 64-bit words, and the compiler does
	// not know that the upper half of the register is zero.
	Halves bool `json:"halves,omitempty"`
}

// Set is a folder of measured forms: operand vectors, and for each accepted form the results as 64-bit words,
// zero-extended.
type Set struct {
	Vectors int
	Forms   []Form
	A, B, C []uint64
	D, E    map[int][]uint64 // by form id
}

// NoSecond is what the second result holds where a form has none.
const NoSecond = 0xdeadbeefdeadbeef

// Load reads forms.json, inputs.bin and results.bin, each as it is or with .gz behind its name.
func Load(dir fs.FS) (*Set, error) {
	text, err := read(dir, "forms.json")
	if err != nil {
		return nil, err
	}
	var doc struct {
		Vectors int    `json:"vectors"`
		Forms   []Form `json:"forms"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("forms.json: %w", err)
	}
	if doc.Vectors <= 0 {
		return nil, fmt.Errorf("forms.json: vectors is %d, not a positive number", doc.Vectors)
	}
	s := &Set{Vectors: doc.Vectors, Forms: doc.Forms, D: map[int][]uint64{}, E: map[int][]uint64{}}
	if err := s.loadInputs(dir); err != nil {
		return nil, err
	}
	raw, err := read(dir, "results.bin")
	if err != nil {
		return nil, err
	}
	n := 0
	for _, f := range s.Forms {
		if f.Accepted {
			n++
		}
	}
	if want := n * 2 * 8 * s.Vectors; len(raw) != want {
		return nil, fmt.Errorf("results.bin holds %d bytes, not the %d of %d forms with %d vectors", len(raw), want, n, s.Vectors)
	}
	for _, f := range s.Forms {
		if !f.Accepted {
			continue
		}
		s.D[f.ID], raw = words(raw, s.Vectors)
		s.E[f.ID], raw = words(raw, s.Vectors)
	}
	return s, nil
}

func (s *Set) loadInputs(dir fs.FS) error {
	raw, err := read(dir, "inputs.bin")
	if err != nil {
		return err
	}
	if want := 3 * 8 * s.Vectors; len(raw) != want {
		return fmt.Errorf("inputs.bin holds %d bytes, not the %d of three arrays of %d words", len(raw), want, s.Vectors)
	}
	s.A, raw = words(raw, s.Vectors)
	s.B, raw = words(raw, s.Vectors)
	s.C, _ = words(raw, s.Vectors)
	return nil
}

func words(raw []byte, n int) ([]uint64, []byte) {
	w := make([]uint64, n)
	for i := range w {
		w[i] = binary.LittleEndian.Uint64(raw[8*i:])
	}
	return w, raw[8*n:]
}

// read reads name or name.gz, unpacked.
func read(dir fs.FS, name string) ([]byte, error) {
	if b, err := fs.ReadFile(dir, name); err == nil {
		return b, nil
	}
	z, err := fs.ReadFile(dir, name+".gz")
	if err != nil {
		return nil, fmt.Errorf("neither %s nor %s.gz is there", name, name)
	}
	r, err := gzip.NewReader(bytes.NewReader(z))
	if err != nil {
		return nil, fmt.Errorf("%s.gz: %w", name, err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s.gz: %w", name, err)
	}
	return b, nil
}

// Write stores the set with only the vectors of the given indices, in the format that Load reads: files by name.
func (s *Set) Write(pick []int) (map[string][]byte, error) {
	forms, err := json.Marshal(map[string]any{"vectors": len(pick), "forms": s.Forms})
	if err != nil {
		return nil, err
	}
	var in, out []byte
	for _, w := range [][]uint64{s.A, s.B, s.C} {
		in = pickWords(in, w, pick)
	}
	for _, f := range s.Forms {
		if f.Accepted {
			out = pickWords(pickWords(out, s.D[f.ID], pick), s.E[f.ID], pick)
		}
	}
	return pack(map[string][]byte{"forms.json.gz": forms, "inputs.bin.gz": in, "results.bin.gz": out})
}

// pickWords appends the words of the given indices.
func pickWords(to []byte, w []uint64, pick []int) []byte {
	for _, i := range pick {
		to = binary.LittleEndian.AppendUint64(to, w[i])
	}
	return to
}

// pack compresses the files.
func pack(files map[string][]byte) (map[string][]byte, error) {
	out := map[string][]byte{}
	for name, b := range files {
		var z bytes.Buffer
		w, err := gzip.NewWriterLevel(&z, gzip.BestCompression)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(b); err != nil {
			return nil, err
		}
		if err := w.Close(); err != nil {
			return nil, err
		}
		out[name] = z.Bytes()
	}
	return out, nil
}

// target is the PTX target that has the form: from sm_70 on shuffles and votes have .sync.
func (f *Form) target() string {
	if lanes := strings.Contains(f.PTX, "shfl.") || strings.Contains(f.PTX, "vote."); lanes && !strings.Contains(f.PTX, ".sync") {
		return "sm_60"
	}
	return "sm_90"
}

// Kernel is the form as a PTX kernel k<id>(A, B, C, D, E): each thread loads its operands from 8-byte elements,
// executes the form once and stores %d to D and, where there is one, %e to E.
func (f *Form) Kernel() string {
	var sb strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&sb, format+"\n", args...) }
	p(".version 8.7\n.target %s\n.address_size 64\n", f.target())
	p(".visible .entry k%d(.param .u64 A, .param .u64 B, .param .u64 C, .param .u64 D, .param .u64 E)\n{", f.ID)
	p("\t.reg .b16 %%h<9>;\n\t.reg .b32 %%r<9>;\n\t.reg .b64 %%rd<20>;")
	names := []string{"a", "b", "c"}
	for i, t := range f.Operands {
		p("\t.reg .%s %%%s;", Register(t), names[i])
	}
	p("\t.reg .%s %%d;", Register(f.Result))
	if f.Second != "" {
		p("\t.reg .%s %%e;", Register(f.Second))
	}
	p("\tmov.u32 %%r1, %%ctaid.x;\n\tmov.u32 %%r2, %%ntid.x;\n\tmov.u32 %%r3, %%tid.x;\n\tmad.lo.s32 %%r4, %%r1, %%r2, %%r3;\n\tmul.wide.u32 %%rd9, %%r4, 8;")
	for i, t := range f.Operands {
		p("\tld.param.u64 %%rd1, [%s];\n\tadd.s64 %%rd%d, %%rd1, %%rd9;", strings.ToUpper(names[i]), 10+i)
		switch Register(t) {
		case "b16":
			if f.Halves {
				p("\tld.global.u16 %%%s, [%%rd%d];", names[i], 10+i)
			} else {
				p("\tld.global.u64 %%rd%d, [%%rd%d];\n\tcvt.u16.u64 %%%s, %%rd%d;", 16+i, 10+i, names[i], 16+i)
			}
			switch t {
			case "u8":
				p("\tand.b16 %%%s, %%%s, 255; // %%h", names[i], names[i])
			case "s8":
				p("\tand.b16 %%h1, %%%s, 255; // %%h\n\tshl.b16 %%h2, %%h1, 8;\n\tshr.s16 %%%s, %%h2, 8;", names[i], names[i])
			}
		default:
			p("\tld.global.%s %%%s, [%%rd%d];", strings.Replace(t, "s", "u", 1), names[i], 10+i)
		}
	}
	if f.merges() {
		if Register(f.Result) == "b64" {
			p("\tmov.u64 %%d, 0;")
		} else {
			p("\tmov.%s %%d, 0;", strings.Replace(Register(f.Result), "f32", "b32", 1))
		}
	}
	p("\t%s", f.PTX)
	f.store(p, "d", f.Result, "D", 13)
	if f.Second != "" {
		f.store(p, "e", f.Second, "E", 14)
	}
	p("\tret;\n}")
	return sb.String()
}

// merges says that the form leaves a part of %d as it was, so that %d needs a value before.
func (f *Form) merges() bool {
	d, _, _ := strings.Cut(f.PTX, ",")
	return strings.Contains(d, "%d.")
}

// store widens a result to 64 bits and stores it.
func (f *Form) store(p func(string, ...any), name, typ, param string, n int) {
	p("\tld.param.u64 %%rd2, [%s];\n\tadd.s64 %%rd%d, %%rd2, %%rd9;", param, n)
	switch Register(typ) {
	case "b64":
		p("\tst.global.u64 [%%rd%d], %%%s;", n, name)
		return
	case "f32":
		p("\tmov.b32 %%r5, %%%s;\n\tcvt.u64.u32 %%rd3, %%r5;", name)
	case "b16":
		p("\tcvt.u64.u16 %%rd3, %%%s;", name)
	default:
		p("\tcvt.u64.u32 %%rd3, %%%s;", name)
	}
	p("\tst.global.u64 [%%rd%d], %%rd3;", n)
}

// Register is the register type of an operand: 8-bit values live in 16-bit registers.
func Register(t string) string {
	switch {
	case t == "f32":
		return "f32"
	case strings.HasSuffix(t, "64"):
		return "b64"
	case strings.HasSuffix(t, "32"):
		return "b32"
	}
	return "b16"
}
