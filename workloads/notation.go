package workloads

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/sarchlab/smsim/configs/strictyaml"
)

// notations are the words that begin a buffer in the notation of ParseArg, with their generators.
var notations = map[string]Generator{
	"buf": GenLCG, "lcg": GenLCG, "zero": GenZero, "iota": GenIota, "const": GenConst, "random": GenRandom, "file": GenFile,
}

var notationNames = append([]string{"buf", "zero", "iota", "const", "random", "file", "lcg"}, scalarNames...)

// ParseArg reads an argument in the notation of the command line: [NAME=]KIND:VALUE[:KEY=VALUE...], for example
// buf:4096:seed=7, zero:1024, file:data.bin, u32:12, s64:-3, f32:1.5, img=buf:1024w.
// A file is read at once.
func ParseArg(s string) (Arg, error) {
	a := Arg{Mask: math.MaxUint32}
	head, rest, ok := strings.Cut(s, ":")
	if name, kind, named := strings.Cut(head, "="); named {
		a.Name, head = name, kind
	}
	if !ok || rest == "" {
		return a, fmt.Errorf("%q is not an argument such as buf:4096:seed=7, zero:1024, file:PATH, u32:12 or f32:1.5", s)
	}
	gen, buffer := notations[head]
	if !buffer {
		raw, why := Scalar(head, rest)
		if !slices.Contains(scalarNames, head) {
			why = fmt.Sprintf("unknown kind of argument %q%s", head, strictyaml.DidYouMean(head, notationNames))
		}
		if why != "" {
			return a, fmt.Errorf("%q: %s", s, why)
		}
		a.Type, a.Raw = head, raw
		return a, nil
	}
	a.Buffer, a.Out = gen, gen == GenZero
	value, options, _ := strings.Cut(rest, ":")
	var err error
	if gen == GenFile {
		value, options = splitPath(rest)
		a.Path = value
		if a.Data, err = os.ReadFile(value); err != nil {
			return a, fmt.Errorf("%q: cannot read %s: %s", s, value, cause(err))
		}
		a.Bytes = uint64(len(a.Data))
	} else if a.Bytes, err = ParseSize(value); err != nil {
		return a, fmt.Errorf("%q: %w", s, err)
	}
	for opt := range strings.SplitSeq(options, ":") {
		if err := a.option(opt); err != nil {
			return a, fmt.Errorf("%q: %w", s, err)
		}
	}
	if a.Bytes == 0 {
		return a, fmt.Errorf("%q: a buffer needs at least one byte", s)
	}
	if a.Data != nil && uint64(len(a.Data)) > a.Bytes {
		a.Data = a.Data[:a.Bytes]
	}
	return a, nil
}

// splitPath separates a path, which may hold colons, from the options after it.
func splitPath(s string) (path, options string) {
	for {
		i := strings.LastIndexByte(s, ':')
		if i < 0 {
			return s, options
		}
		opt := s[i+1:]
		if key, _, ok := strings.Cut(opt, "="); opt != "out" && (!ok || key != "bytes") {
			return s, options
		}
		if options != "" {
			opt += ":" + options
		}
		s, options = s[:i], opt
	}
}

func (a *Arg) option(opt string) error {
	if opt == "" {
		return nil
	}
	key, value, _ := strings.Cut(opt, "=")
	valid := []string{"out"}
	for _, k := range bufferKeys[a.Buffer] {
		switch k {
		case "seed", "mask", "value":
			valid = append(valid, k)
		}
	}
	if a.Buffer == GenFile {
		valid = append(valid, "bytes")
	}
	if !slices.Contains(valid, key) {
		return fmt.Errorf("unknown option %q%s", key, strictyaml.DidYouMean(key, valid))
	}
	var err error
	switch key {
	case "out":
		if value != "" {
			return errors.New("out takes no value")
		}
		a.Out = true
	case "seed":
		a.Seed, err = strconv.ParseUint(value, 0, 64)
	case "bytes":
		a.Bytes, err = ParseSize(value)
	case "mask", "value":
		raw, why := Scalar("b32", value)
		if why != "" {
			return fmt.Errorf("%s: %s", key, why)
		}
		w := uint32(raw[0]) | uint32(raw[1])<<8 | uint32(raw[2])<<16 | uint32(raw[3])<<24
		if key == "mask" {
			a.Mask = w
		} else {
			a.Value = w
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %q is not a number", key, value)
	}
	return nil
}

// ParseSize reads a size in bytes: 4096, 4K and 2M (1024 and 1024^2 bytes), 1024w (32-bit words).
func ParseSize(s string) (uint64, error) {
	unit := uint64(1)
	digits := s
	if s != "" {
		switch s[len(s)-1] {
		case 'w':
			unit = 4
		case 'K', 'k':
			unit = 1 << 10
		case 'M':
			unit = 1 << 20
		case 'G':
			unit = 1 << 30
		}
		if unit > 1 {
			digits = s[:len(s)-1]
		}
	}
	n, err := strconv.ParseUint(digits, 0, 64)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%q is not a size such as 4096, 4K, 2M or 1024w", s)
	case n == 0:
		return 0, errors.New("a buffer needs at least one byte")
	case n > MaxBufferBytes/unit:
		return 0, fmt.Errorf("%s is more than the limit of %d bytes", s, uint64(MaxBufferBytes))
	}
	return n * unit, nil
}
