package workloads

import (
	"encoding/hex"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sarchlab/smsim/configs/strictyaml"
)

// Generator names how a buffer is filled. docs/workloads.md describes each exactly.
type Generator string

// Generators.
const (
	GenLCG    Generator = "lcg"    // 32-bit words x = x*1664525 + 1013904223 mod 2^32 from x = seed; word 0 is the first value after the seed
	GenZero   Generator = "zero"   // all bytes zero
	GenIota   Generator = "iota"   // 32-bit words value, value+1, value+2, ...
	GenConst  Generator = "const"  // every 32-bit word is value
	GenRandom Generator = "random" // SplitMix64 from seed, each output as two 32-bit words, low word first
	GenFile   Generator = "file"   // bytes of a file, then zeros
)

var generators = []string{"lcg", "zero", "iota", "const", "random", "file"}

// scalarTypes are the scalar kinds an argument can have, with their size in bytes.
var scalarTypes = map[string]int{
	"u8": 1, "u16": 2, "u32": 4, "u64": 8, "s8": 1, "s16": 2, "s32": 4, "s64": 8,
	"b8": 1, "b16": 2, "b32": 4, "b64": 8, "f32": 4, "f64": 8,
}

var scalarNames = []string{"u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "b8", "b16", "b32", "b64", "f32", "f64", "hex"}

// Arg is one kernel argument: a buffer, a scalar, or the raw bytes of a structure passed by value.
type Arg struct {
	strictyaml.Place
	Name string

	// Buffers.
	Buffer  Generator // "" for the other kinds
	Bytes   uint64
	Seed    uint64
	Value   uint32 // iota: first word, const: every word
	Mask    uint32 // every generated word is ANDed with it
	Path    string // file: as written, relative to the run file
	Data    []byte // file: its content
	Texture *Image // the kernel reads it as a texture; nil: it does not
	Out     bool   // the kernel writes it: shown and checked after the run

	// Scalars: Type is a PTX type name; Raw its little-endian bytes. Type "hex": bytes of a structure.
	Type string
	Raw  []byte
}

// IsBuffer says whether the argument is a pointer to an allocation.
func (a *Arg) IsBuffer() bool { return a.Buffer != "" }

// What describes the argument for messages: "buffer img" or "u32 pitch".
func (a *Arg) What() string {
	kind := a.Type
	if a.IsBuffer() {
		kind = "buffer"
	}
	if a.Name != "" {
		return kind + " " + a.Name
	}
	return kind
}

var argKeys = append([]string{"name", "buffer", "words", "bytes", "seed", "value", "mask", "path", "out", "texture"}, scalarNames...)

// UnmarshalNode reads {name: x, buffer: lcg, words: 16, seed: 1} or {name: n, u32: 12}.
func (a *Arg) UnmarshalNode(n strictyaml.Node) error {
	if n.Kind != strictyaml.Mapping {
		return n.Errorf("an argument is a mapping such as {buffer: lcg, words: 1024} or {u32: 12}")
	}
	a.Place = n.Place()
	a.Mask = math.MaxUint32
	kind := ""
	for _, p := range n.Pairs {
		if p.Key != "buffer" && !slices.Contains(scalarNames, p.Key) {
			continue
		}
		if kind != "" {
			return n.ErrorAt(p.At, "an argument has one kind; this one has %s and %s", kind, p.Key)
		}
		kind = p.Key
		if err := a.setKind(p); err != nil {
			return err
		}
	}
	if kind == "" {
		for _, p := range n.Pairs {
			if !slices.Contains(argKeys, p.Key) {
				return p.UnknownKey(argKeys)
			}
		}
		return n.Errorf("the argument needs a kind: buffer, or one of %s", strings.Join(scalarNames, ", "))
	}
	for _, p := range n.Pairs {
		if p.Key == kind {
			continue
		}
		if err := a.setField(n, p); err != nil {
			return err
		}
	}
	return nil
}

func (a *Arg) setKind(p strictyaml.Pair) error {
	if p.Key != "buffer" {
		raw, err := scalarNode(p.Key, p.Value)
		a.Type, a.Raw = p.Key, raw
		return err
	}
	if p.Value.Kind != strictyaml.String || !slices.Contains(generators, p.Value.Text) {
		return p.Value.Errorf("unknown buffer generator %q%s", p.Value.Text, strictyaml.DidYouMean(p.Value.Text, generators))
	}
	a.Buffer = Generator(p.Value.Text)
	return nil
}

// bufferKeys lists what a buffer of each generator accepts beside name, buffer, out and texture.
var bufferKeys = map[Generator][]string{
	GenLCG:    {"words", "bytes", "seed", "mask"},
	GenZero:   {"words", "bytes"},
	GenIota:   {"words", "bytes", "value", "mask"},
	GenConst:  {"words", "bytes", "value"},
	GenRandom: {"words", "bytes", "seed", "mask"},
	GenFile:   {"words", "bytes", "path"},
}

func (a *Arg) keys() []string {
	if a.IsBuffer() {
		return append([]string{"name", "buffer", "out", "texture"}, bufferKeys[a.Buffer]...)
	}
	return []string{"name", a.Type}
}

func (a *Arg) setField(n strictyaml.Node, p strictyaml.Pair) error {
	if !slices.Contains(a.keys(), p.Key) {
		if slices.Contains(argKeys, p.Key) {
			return n.ErrorAt(p.At, "key %q does not go with %s; valid here: %s", p.Key, a.kindWords(), strings.Join(a.keys(), ", "))
		}
		return p.UnknownKey(a.keys())
	}
	switch p.Key {
	case "name":
		return p.Value.Decode(&a.Name)
	case "out":
		return p.Value.Decode(&a.Out)
	case "texture":
		a.Texture = new(Image)
		return a.Texture.UnmarshalNode(p.Value)
	case "words", "bytes":
		u, err := p.Value.Uint()
		if err != nil {
			return err
		}
		if p.Key == "words" {
			if u > MaxBufferBytes/4 {
				return p.Value.Errorf("%d words are more than the limit of %d bytes", u, uint64(MaxBufferBytes))
			}
			u *= 4
		}
		if u > MaxBufferBytes {
			return p.Value.Errorf("%d bytes are more than the limit of %d", u, uint64(MaxBufferBytes))
		}
		if u == 0 {
			return p.Value.Errorf("a buffer needs at least one byte")
		}
		a.Bytes = u
	case "seed":
		u, err := p.Value.Uint()
		a.Seed = u
		return err
	case "value":
		return word32(p.Value, &a.Value)
	case "mask":
		return word32(p.Value, &a.Mask)
	case "path":
		return p.Value.Decode(&a.Path)
	case "buffer":
		return a.setKind(p)
	}
	return nil
}

func (a *Arg) kindWords() string {
	if a.IsBuffer() {
		return "buffer: " + string(a.Buffer)
	}
	return a.Type
}

// MaxBufferBytes bounds one allocation.
const MaxBufferBytes = 4 << 30

// word32 reads a 32-bit word, signed or unsigned.
func word32(n strictyaml.Node, to *uint32) error {
	i, err := n.Int()
	if err != nil {
		return err
	}
	if i < math.MinInt32 || i > math.MaxUint32 {
		return n.Errorf("%s does not fit in 32 bits", n.Text)
	}
	*to = uint32(i)
	return nil
}

func scalarNode(typ string, n strictyaml.Node) ([]byte, error) {
	switch {
	case typ == "hex" && n.Kind != strictyaml.String:
		return nil, n.Errorf("expected hexadecimal bytes in quotes")
	case n.Kind == strictyaml.Int, n.Kind == strictyaml.Float, typ == "hex":
	default:
		return nil, n.Errorf("expected a number for %s", typ)
	}
	raw, why := Scalar(typ, n.Text)
	if why != "" {
		return nil, n.Errorf("%s", why)
	}
	return raw, nil
}

// Scalar gives the little-endian bytes of a value of a PTX type ("u32", "s64", "f32", "b16", or "hex" for raw bytes).
// why says what is wrong with the text and is empty if nothing is.
func Scalar(typ, text string) (raw []byte, why string) {
	size, ok := scalarTypes[typ]
	if typ == "hex" {
		b, err := hex.DecodeString(text)
		if err != nil || len(b) == 0 {
			return nil, strconv.Quote(text) + " is not a list of hexadecimal bytes such as \"00ff10a0\""
		}
		return b, ""
	}
	if !ok {
		return nil, "unknown scalar type " + strconv.Quote(typ) + strictyaml.DidYouMean(typ, scalarNames)
	}
	var bits uint64
	switch typ[0] {
	case 'f':
		f, err := strconv.ParseFloat(yamlFloats.Replace(text), size*8)
		if err != nil {
			return nil, strconv.Quote(text) + " is not a " + typ + " value"
		}
		bits = math.Float64bits(f)
		if size == 4 {
			bits = uint64(math.Float32bits(float32(f)))
		}
	default:
		var why string
		if bits, why = integerBits(typ, size, text); why != "" {
			return nil, why
		}
	}
	raw = make([]byte, size)
	for i := range raw {
		raw[i] = byte(bits >> (8 * i))
	}
	return raw, ""
}

// yamlFloats turns YAML's spelling of the special values into Go's.
var yamlFloats = strings.NewReplacer(".inf", "inf", ".Inf", "inf", ".INF", "inf", ".nan", "nan", ".NaN", "nan", ".NAN", "nan")

func integerBits(typ string, size int, text string) (bits uint64, why string) {
	var err error
	signed := typ[0] == 's' || (typ[0] == 'b' && strings.HasPrefix(text, "-"))
	if signed {
		var i int64
		i, err = strconv.ParseInt(text, 0, size*8)
		bits = uint64(i)
	} else {
		bits, err = strconv.ParseUint(text, 0, size*8)
	}
	switch {
	case err == nil:
		return bits, ""
	case strings.Contains(err.Error(), "value out of range"), strings.HasPrefix(text, "-") && !signed:
		return 0, text + " does not fit in " + typ
	}
	return 0, strconv.Quote(text) + " is not a " + typ + " value"
}
