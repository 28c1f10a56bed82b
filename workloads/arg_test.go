package workloads

import (
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/configs/strictyaml"
	"github.com/sarchlab/smsim/isa"
)

// TestGenerators compares the first bytes of every generator with values worked out apart from this code: the LCG by
// hand from its recurrence, SplitMix64 from the published reference for seed 0.
func TestGenerators(t *testing.T) {
	for _, c := range []struct {
		arg  string
		want string // hexadecimal
	}{
		{"buf:8:seed=0", "5ff36e3c32295047"}, // 0x3c6ef35f, 0x47502932
		{"zero:6", "000000000000"},
		{"iota:12:value=5", "050000000600000007000000"},
		{"iota:8:value=255:mask=0xff", "ff00000000000000"},
		{"iota:8:value=-1", "ffffffff00000000"},
		{"const:7:value=0x01020304", "04030201040302"},
		{"random:8:seed=0", "afcd1d7b39a820e2"}, // 0xe220a8397b1dcdaf
	} {
		a, err := ParseArg(c.arg)
		if err != nil {
			t.Errorf("%s: %v", c.arg, err)
			continue
		}
		b := make([]byte, a.Bytes)
		a.Fill(b)
		if got := hex.EncodeToString(b); got != c.want {
			t.Errorf("%s gives %s, want %s", c.arg, got, c.want)
		}
	}
}

// TestFNV1a64 uses the published test vectors of the checksum.
func TestFNV1a64(t *testing.T) {
	for text, want := range map[string]uint64{"": 0xcbf29ce484222325, "a": 0xaf63dc4c8601ec8c, "foobar": 0x85944171f73967e8} {
		if got := FNV1a64([]byte(text)); got != want {
			t.Errorf("FNV-1a of %q is %016x, want %016x", text, got, want)
		}
	}
}

// TestParseArg: notation, then what it gives or what the error says.
func TestParseArg(t *testing.T) {
	file := filepath.Join(t.TempDir(), "data.bin")
	if err := os.WriteFile(file, []byte{1, 2, 3, 4, 5}, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, want string }{
		{"u32:12", "u32 0c000000"},
		{"n=u16:0xffff", "u16 n ffff"},
		{"s64:-3", "s64 fdffffffffffffff"},
		{"s8:-128", "s8 80"},
		{"b32:-1", "b32 ffffffff"},
		{"f32:1.5", "f32 0000c03f"},
		{"f64:-0.5", "f64 000000000000e0bf"},
		{"f32:inf", "f32 0000807f"},
		{"hex:00ff10", "hex 00ff10"},
		{"buf:4096:seed=7", "buffer lcg 4096 seed 7"},
		{"x=buf:16w:seed=7:out", "buffer x lcg 64 seed 7 out"},
		{"zero:2K", "buffer zero 2048 out"},
		{"random:1M", "buffer random 1048576"},
		{"file:" + file, "buffer file 5"},
		{"file:" + file + ":bytes=8:out", "buffer file 8 out"},
		{"file:" + file + ":bytes=2", "buffer file 2"},
		{"u32:-1", "! does not fit in u32"},
		{"u8:256", "! does not fit in u8"},
		{"s8:128", "! does not fit in s8"},
		{"u32:1.5", "! is not a u32 value"},
		{"u32:", "! is not an argument"},
		{"12", "! is not an argument"},
		{"f32:x", "! is not a f32 value"},
		{"f32:1e99", "! is not a f32 value"},
		{"hex:0", "! is not a list of hexadecimal bytes"},
		{"i32:3", "! unknown kind of argument \"i32\"; did you mean"},
		{"buf:many", "! is not a size such as"},
		{"buf:0", "! at least one byte"},
		{"buf:5G", "! more than the limit"},
		{"buf:16:seed=x", "! seed: \"x\" is not a number"},
		{"zero:16:seed=1", "! unknown option \"seed\""},
		{"iota:16:value=99999999999", "! value: 99999999999 does not fit"},
		{"file:" + file + ":bytes=0", "! bytes: \"0\" is not a number"},
		{"file:/no/such/file", "! no such file"},
	} {
		a, err := ParseArg(c.text)
		if want, ok := strings.CutPrefix(c.want, "! "); ok {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v, want %q", c.text, err, want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		got := a.What()
		if a.IsBuffer() {
			got += " " + string(a.Buffer) + " " + strconv.FormatUint(a.Bytes, 10)
			if a.Seed != 0 {
				got += " seed " + strconv.FormatUint(a.Seed, 10)
			}
			if a.Out {
				got += " out"
			}
		} else {
			got += " " + hex.EncodeToString(a.Raw)
		}
		if got != c.want {
			t.Errorf("%s gives %q, want %q", c.text, got, c.want)
		}
	}
}

// TestBlocksSelect: choice, blocks in the grid, SMs, then the blocks or what the error says.
func TestBlocksSelect(t *testing.T) {
	for _, c := range []struct {
		choice     string
		total, sms int
		want       []int
		err        string
	}{
		{"sm-share", 10, 4, []int{0, 4, 8}, ""},
		{"sm-share", 3, 4, []int{0}, ""},
		{"sm-share", 8, 4, []int{0, 4}, ""},
		{"", 8, 4, nil, "is not a choice of blocks"},
		{"whole", 3, 4, []int{0, 1, 2}, ""},
		{"2", 10, 4, []int{0, 4}, ""},
		{"3", 10, 4, []int{0, 4, 8}, ""},
		{"4", 10, 4, []int{0, 1, 2, 3}, ""}, // the share has only three
		{"11", 10, 4, nil, "11 blocks asked for, the grid has 10"},
		{"[7,3]", 10, 4, []int{7, 3}, ""},
		{"0,9", 10, 4, []int{0, 9}, ""},
		{"[10]", 10, 4, nil, "block 10 is not in the grid"},
		{"whole", 2_000_000, 4, nil, "more than the limit"},
		{"[1,1]", 10, 4, nil, "is not a choice of blocks"},
		{"0", 10, 4, []int{0}, ""},
		{"-3", 10, 4, nil, "is not a choice of blocks"},
		{"some", 10, 4, nil, "is not a choice of blocks"},
	} {
		b, err := ParseBlocks(c.choice)
		var got []int
		if err == nil {
			got, err = b.Select(c.total, c.sms)
		}
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q of %d: error %v, want %q", c.choice, c.total, err, c.err)
			}
			continue
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q of %d blocks on %d SMs: %v, %v; want %v", c.choice, c.total, c.sms, got, err, c.want)
		}
		if again, err := ParseBlocks(b.String()); err != nil || again.String() != b.String() {
			t.Errorf("%q is printed as %q, which reads as %q, %v", c.choice, b, again, err)
		}
	}
}

// TestNewLaunch lays out parameters of different sizes and rejects arguments that do not fit.
func TestNewLaunch(t *testing.T) {
	p := &isa.Program{Name: "k", Params: []isa.Param{
		{Name: "buf", Offset: 0, Size: 8, Align: 8, Type: isa.U64, Pointer: true},
		{Name: "n", Offset: 8, Size: 4, Align: 4, Type: isa.U32},
		{Name: "f", Offset: 12, Size: 4, Align: 4, Type: isa.F32},
		{Name: "h", Offset: 16, Size: 2, Align: 2, Type: isa.U16},
		{Name: "s", Offset: 24, Size: 16, Align: 8, Type: isa.U8},
	}}
	args := func(texts ...string) []Arg {
		out := make([]Arg, len(texts))
		for i, s := range texts {
			a, err := ParseArg(s)
			if err != nil {
				t.Fatal(err)
			}
			a.Place = strictyaml.Place{File: "test"}
			out[i] = a
		}
		return out
	}
	good := []string{"buf:16", "u32:5", "f32:1", "u16:7", "hex:000102030405060708090a0b0c0d0e0f"}
	c := &Case{Place: strictyaml.Place{File: "test"}, Grid: isa.Dim3{X: 1, Y: 1, Z: 1}, Block: isa.Dim3{X: 32, Y: 1, Z: 1}, Args: args(good...)}
	l, bufs, err := c.NewLaunch(p)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := hex.EncodeToString(l.Params[8:]), "05000000"+"0000803f"+"0700000000000000"+"000102030405060708090a0b0c0d0e0f"; got != want {
		t.Errorf("parameters %s, want %s", got, want)
	}
	if binary.LittleEndian.Uint64(l.Params) != bufs[0].Addr || bufs[1] != nil {
		t.Errorf("the pointer parameter holds %#x, the buffer is at %#x", binary.LittleEndian.Uint64(l.Params), bufs[0].Addr)
	}
	for _, bad := range []struct {
		at   int
		text string
		want string
	}{
		{0, "u32:1", "argument 1 (u32) does not fit parameter buf of kernel k, declared .u64: it is a pointer; give a buffer"},
		{1, "buf:4", "declared .u32: a buffer needs a pointer parameter"},
		{1, "f32:5", "declared .u32: give it as u32"},
		{1, "u64:5", "it has 8 bytes, the parameter 4 bytes"},
		{2, "u32:5", "declared .f32: give it as f32"},
		{2, "buf:4", "a buffer needs a pointer parameter"},
		{3, "u32:5", "declared .u16: it has 4 bytes, the parameter 2 bytes"},
		{4, "hex:0001", "declared .align 8 .b8[16]: it has 2 bytes, the parameter 16 bytes"},
	} {
		texts := slices.Clone(good)
		texts[bad.at] = bad.text
		c.Args = args(texts...)
		if _, _, err := c.NewLaunch(p); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%s as argument %d: error %v, want %q", bad.text, bad.at+1, err, bad.want)
		}
	}
	// Signedness is no difference, and untyped bits go everywhere.
	for _, ok := range []struct {
		at   int
		text string
	}{{1, "s32:-5"}, {1, "b32:5"}, {2, "b32:5"}, {0, "u64:4096"}} {
		texts := slices.Clone(good)
		texts[ok.at] = ok.text
		c.Args = args(texts...)
		if _, _, err := c.NewLaunch(p); err != nil {
			t.Errorf("%s as argument %d: %v", ok.text, ok.at+1, err)
		}
	}
	// A structure as its fields, with a pointer among them.
	c.Args = args("buf:16", "u32:5", "f32:1", "u16:7", "buf:4", "u8:9", "u16:0x1234")
	if l, bufs, err = c.NewLaunch(p); err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(l.Params[32:]); got != "0900341200000000" || binary.LittleEndian.Uint64(l.Params[24:]) != bufs[4].Addr {
		t.Errorf("fields of a structure: %s at %#x", got, l.Params[24:32])
	}
	for _, bad := range [][]string{append(slices.Clone(good[:4]), "u32:1"), append(slices.Clone(good[:4]), "u64:1", "u64:2", "u32:3"), append(slices.Clone(good[:4]), "u64:1", "hex:00")} {
		c.Args = args(bad...)
		if _, _, err := c.NewLaunch(p); err == nil || !strings.Contains(err.Error(), "kernel k has 5 parameters") {
			t.Errorf("%v: %v", bad, err)
		}
	}
	c.Args = args(good[:3]...)
	if _, _, err := c.NewLaunch(p); err == nil || !strings.Contains(err.Error(), "kernel k has 5 parameters, 3 arguments given: .u64 buf, .u32 n, .f32 f, .u16 h, .align 8 .b8[16] s") {
		t.Errorf("three arguments for five parameters: %v", err)
	}
}
