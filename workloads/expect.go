package workloads

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sarchlab/smsim/configs/strictyaml"
)

// Expect is one expectation about a buffer after the run.
//
// fnv1a64, file and the value lists are about the whole buffer and need every block of the grid;
// block checksums are about the words [b*WordsPerBlock, (b+1)*WordsPerBlock) that block b writes.
type Expect struct {
	strictyaml.Place `yaml:"-"`
	Buffer           string            `yaml:"buffer,required"` // name of the argument
	Whole            Checksum          `yaml:"fnv1a64"`
	WordsPerBlock    int               `yaml:"words_per_block"`
	Blocks           map[int]*Checksum `yaml:"blocks"`      // by block index
	BlocksFile       string            `yaml:"blocks_file"` // list of block checksums, one a line in block order
	File             string            `yaml:"file"`        // the whole content
	At               int               `yaml:"at"`          // index of the first value, in elements
	Values           Values            `yaml:"values"`      // {u32: [1, 2, 3]}

	Content []byte // of File
}

// Checksum is an FNV-1a 64 value, 16 hexadecimal digits.
type Checksum struct {
	Value uint64
	Given bool
}

// UnmarshalNode reads sixteen hexadecimal digits in a string.
func (c *Checksum) UnmarshalNode(n strictyaml.Node) error {
	if n.Kind != strictyaml.String {
		return n.Errorf("a checksum is a string of 16 hexadecimal digits; put it in quotes")
	}
	v, err := strconv.ParseUint(n.Text, 16, 64)
	if err != nil || len(n.Text) != 16 || strings.ToLower(n.Text) != n.Text {
		return n.Errorf("%q is not 16 hexadecimal digits in lower case", n.Text)
	}
	*c = Checksum{v, true}
	return nil
}

// Values is a list of numbers of one type.
type Values struct {
	Type string
	Raw  []byte // little-endian
	Size int    // bytes an element
}

// UnmarshalNode reads {u32: [1, 2, 3]}.
func (v *Values) UnmarshalNode(n strictyaml.Node) error {
	if n.Kind != strictyaml.Mapping || len(n.Pairs) != 1 {
		return n.Errorf("values are a mapping from one type to a list, such as {u32: [1, 2, 3]}")
	}
	p := n.Pairs[0]
	size, ok := scalarTypes[p.Key]
	if !ok {
		return p.UnknownKey(scalarNames[:len(scalarNames)-1])
	}
	if p.Value.Kind != strictyaml.Sequence || len(p.Value.Items) == 0 {
		return p.Value.Errorf("expected a list of %s values", p.Key)
	}
	v.Type, v.Size = p.Key, size
	for _, item := range p.Value.Items {
		raw, err := scalarNode(p.Key, item)
		if err != nil {
			return err
		}
		v.Raw = append(v.Raw, raw...)
	}
	return nil
}

// readChecksums reads a list of block checksums: one of 16 hexadecimal digits a line, in block order;
// empty lines and lines that start with # are skipped.
func readChecksums(file string, text []byte) (map[int]*Checksum, error) {
	out := map[int]*Checksum{}
	sc := bufio.NewScanner(bytes.NewReader(text))
	for line := 1; sc.Scan(); line++ {
		s := strings.TrimSpace(sc.Text())
		if s == "" || s[0] == '#' {
			continue
		}
		v, err := strconv.ParseUint(s, 16, 64)
		if err != nil || len(s) != 16 {
			return nil, &strictyaml.Error{File: file, Pos: strictyaml.Pos{Line: line, Col: 1}, Line: sc.Text(),
				Message: "expected 16 hexadecimal digits"}
		}
		out[len(out)] = &Checksum{v, true}
	}
	return out, sc.Err()
}

// needsWhole says that the expectation is about the whole buffer.
func (e *Expect) needsWhole() bool {
	return e.Whole.Given || e.File != "" || len(e.Values.Raw) > 0
}

func (e *Expect) validate(args []Arg) error {
	i := slices.IndexFunc(args, func(a Arg) bool { return a.Name == e.Buffer && a.IsBuffer() })
	if i < 0 {
		var names []string
		for _, a := range args {
			if a.IsBuffer() && a.Name != "" {
				names = append(names, a.Name)
			}
		}
		return e.Errorf("no buffer argument is named %q%s", e.Buffer, strictyaml.DidYouMean(e.Buffer, names))
	}
	size := args[i].Bytes
	perBlock := len(e.Blocks) > 0
	switch {
	case !e.needsWhole() && !perBlock:
		return e.Errorf("nothing is expected of buffer %q: give fnv1a64, blocks, blocks_file, file or values", e.Buffer)
	case perBlock && e.WordsPerBlock <= 0:
		return e.Errorf("block checksums need words_per_block, 1 or more")
	case !perBlock && e.WordsPerBlock != 0:
		return e.Errorf("words_per_block goes with blocks or blocks_file")
	case e.At != 0 && len(e.Values.Raw) == 0:
		return e.Errorf("at goes with values")
	case e.File != "" && uint64(len(e.Content)) > size:
		return e.Errorf("file %s has %d bytes, buffer %q has %d", e.File, len(e.Content), e.Buffer, size)
	case e.At < 0 || uint64(e.At*e.Values.Size+len(e.Values.Raw)) > size:
		return e.Errorf("the values reach beyond the %d bytes of buffer %q", size, e.Buffer)
	}
	for b := range e.Blocks {
		if b < 0 || uint64(b+1)*uint64(e.WordsPerBlock)*4 > size {
			return e.Errorf("block %d of %d words lies beyond the %d bytes of buffer %q", b, e.WordsPerBlock, size, e.Buffer)
		}
	}
	return nil
}

// checkBlocks compares the checksums of the blocks that ran; it gives how many were compared and the first mismatch.
func (e *Expect) checkBlocks(data []byte, ran []int) (compared int, mismatch string) {
	for _, b := range ran {
		want := e.Blocks[b]
		if want == nil {
			continue
		}
		compared++
		from := 4 * b * e.WordsPerBlock
		if got := FNV1a64(data[from : from+4*e.WordsPerBlock]); got != want.Value && mismatch == "" {
			mismatch = fmt.Sprintf("words %d to %d of buffer %s, written by block %d, have checksum %016x, expected %016x",
				b*e.WordsPerBlock, (b+1)*e.WordsPerBlock-1, e.Buffer, b, got, want.Value)
		}
	}
	return compared, mismatch
}

// checkWhole compares what is expected of the whole buffer; the result is the mismatch, empty if there is none.
func (e *Expect) checkWhole(data []byte) string {
	if e.Whole.Given {
		if got := FNV1a64(data); got != e.Whole.Value {
			return fmt.Sprintf("buffer %s has checksum %016x, expected %016x", e.Buffer, got, e.Whole.Value)
		}
	}
	if e.File != "" {
		for i, want := range e.Content {
			if data[i] != want {
				return fmt.Sprintf("byte %d of buffer %s is 0x%02x, file %s has 0x%02x", i, e.Buffer, data[i], e.File, want)
			}
		}
	}
	for i := 0; i*e.Values.Size < len(e.Values.Raw); i++ {
		want := e.Values.Raw[i*e.Values.Size:][:e.Values.Size]
		if got := data[(e.At+i)*e.Values.Size:][:e.Values.Size]; !bytes.Equal(got, want) {
			return fmt.Sprintf("element %d of buffer %s is %s, expected %s", e.At+i, e.Buffer,
				showValue(e.Values.Type, got), showValue(e.Values.Type, want))
		}
	}
	return ""
}

// showValue is the little-endian bytes as a number of the PTX type.
func showValue(typ string, raw []byte) string {
	var b [8]byte
	copy(b[:], raw)
	bits := binary.LittleEndian.Uint64(b[:])
	shift := 64 - 8*len(raw)
	switch typ {
	case "f32":
		return strconv.FormatFloat(float64(math.Float32frombits(uint32(bits))), 'g', -1, 32)
	case "f64":
		return strconv.FormatFloat(math.Float64frombits(bits), 'g', -1, 64)
	case "s8", "s16", "s32", "s64":
		return strconv.FormatInt(int64(bits<<shift)>>shift, 10)
	case "b8", "b16", "b32", "b64":
		return fmt.Sprintf("0x%0*x", 2*len(raw), bits)
	}
	return strconv.FormatUint(bits, 10)
}
