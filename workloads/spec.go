package workloads

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sarchlab/smsim/configs/strictyaml"
	"github.com/sarchlab/smsim/isa"
)

// Dim is a grid or block size: one number or a list of up to three, x first.
type Dim struct {
	isa.Dim3
	At strictyaml.Place // of the value, zero if it stands nowhere
}

// size is a number of bytes with its place.
type size struct {
	Bytes int
	At    strictyaml.Place
}

// UnmarshalNode reads a whole number of 0 or more.
func (s *size) UnmarshalNode(n strictyaml.Node) error {
	u, err := n.Uint()
	if err != nil {
		return err
	}
	if u > math.MaxInt32 {
		return n.Errorf("a size in bytes must be at most %d, not %d", math.MaxInt32, u)
	}
	s.Bytes, s.At = int(u), n.Place()
	return nil
}

// UnmarshalNode reads 132 or [16, 16] or [8, 8, 4].
func (d *Dim) UnmarshalNode(n strictyaml.Node) error {
	items := []strictyaml.Node{n}
	if n.Kind == strictyaml.Sequence {
		items = n.Items
	}
	if len(items) == 0 || len(items) > 3 {
		return n.Errorf("expected one to three sizes, found %d", len(items))
	}
	v := [3]uint32{1, 1, 1}
	for i, item := range items {
		u, err := item.Uint()
		if err != nil {
			return err
		}
		if u == 0 || u > 1<<31-1 {
			return item.Errorf("a size must be 1 to 2147483647, not %d", u)
		}
		v[i] = uint32(u)
	}
	d.Dim3, d.At = isa.Dim3{X: v[0], Y: v[1], Z: v[2]}, n.Place()
	return nil
}

// ParseDim reads "132", "16,16" or "8x8x4".
func ParseDim(s string) (isa.Dim3, error) {
	v := [3]uint32{1, 1, 1}
	parts := strings.Split(strings.ReplaceAll(s, "x", ","), ",")
	if len(parts) > 3 {
		return isa.Dim3{}, fmt.Errorf("%q is not a size such as 132, 16,16 or 8x8x4", s)
	}
	for i, p := range parts {
		u, err := strconv.ParseUint(strings.TrimSpace(p), 10, 31)
		switch {
		case errors.Is(err, strconv.ErrRange):
			return isa.Dim3{}, fmt.Errorf("size %s is too large; the largest is %d", strings.TrimSpace(p), 1<<31-1)
		case err != nil:
			return isa.Dim3{}, fmt.Errorf("%q is not a size such as 132, 16,16 or 8x8x4", s)
		case u == 0:
			return isa.Dim3{}, fmt.Errorf("%q has a size of 0; the least is 1", s)
		}
		v[i] = uint32(u)
	}
	return isa.Dim3{X: v[0], Y: v[1], Z: v[2]}, nil
}

// Blocks says which blocks of the grid the simulated SM runs.
type Blocks struct {
	Mode  BlocksMode
	Count int   // BlocksCount
	List  []int // BlocksList
}

// BlocksMode is the way Blocks chooses.
type BlocksMode uint8

// Ways to choose blocks.
const (
	BlocksShare BlocksMode = iota // SM 0's share: blocks 0, nSM, 2*nSM, ...
	BlocksWhole                   // every block, on this one SM
	BlocksCount                   // Count blocks
	BlocksList                    // exactly those
)

// MaxBlocksRun bounds the blocks that one SM simulates.
const MaxBlocksRun = 1 << 20

// Select lists the linear indices of the blocks to run, in launch order, for a grid of total blocks on sms SMs.
// A count takes the first blocks of SM 0's share if the share has as many, otherwise blocks 0 to Count-1.
func (b Blocks) Select(total, sms int) ([]int, error) {
	step, n := 1, 0
	switch b.Mode {
	case BlocksList:
		for _, i := range b.List {
			if i >= total {
				return nil, fmt.Errorf("block %d is not in the grid of %d blocks", i, total)
			}
		}
		return slices.Clone(b.List), nil
	case BlocksShare:
		step, n = sms, (total+sms-1)/sms
	case BlocksWhole:
		n = total
	case BlocksCount:
		n = b.Count
		if n > total {
			return nil, fmt.Errorf("%d blocks asked for, the grid has %d", n, total)
		}
		if (n-1)*sms < total {
			step = sms
		}
	}
	if n > MaxBlocksRun {
		return nil, fmt.Errorf("%d blocks for one SM are more than the limit of %d; choose fewer with blocks", n, MaxBlocksRun)
	}
	out := make([]int, n)
	for i := range out {
		out[i] = i * step
	}
	return out, nil
}

// String is the notation that ParseBlocks reads.
func (b Blocks) String() string {
	switch b.Mode {
	case BlocksWhole:
		return "whole"
	case BlocksCount:
		return strconv.Itoa(b.Count)
	case BlocksList:
		s := make([]string, len(b.List))
		for i, v := range b.List {
			s[i] = strconv.Itoa(v)
		}
		return "[" + strings.Join(s, ",") + "]"
	}
	return "sm-share"
}

// ParseBlocks reads "sm-share", "whole", a count such as "8", or a list such as "[0,132]" or "0,132"; "0" is the list of block 0.
func ParseBlocks(s string) (Blocks, error) {
	bad := fmt.Errorf("%q is not a choice of blocks: sm-share, whole, a count such as 8, or a list of blocks such as [0,132] or 0,132 (0: block 0)", s)
	switch s {
	case "sm-share":
		return Blocks{}, nil
	case "whole":
		return Blocks{Mode: BlocksWhole}, nil
	}
	switch n, err := strconv.ParseUint(s, 10, 31); {
	case err == nil && n == 0:
		return Blocks{Mode: BlocksList, List: []int{0}}, nil
	case err == nil:
		return Blocks{Mode: BlocksCount, Count: int(n)}, nil
	}
	if !strings.HasPrefix(s, "[") && !strings.Contains(s, ",") {
		return Blocks{}, bad
	}
	b := Blocks{Mode: BlocksList}
	for p := range strings.SplitSeq(strings.Trim(s, "[] "), ",") {
		n, err := strconv.ParseUint(strings.TrimSpace(p), 10, 31)
		if err != nil || slices.Contains(b.List, int(n)) {
			return Blocks{}, bad
		}
		b.List = append(b.List, int(n))
	}
	return b, nil
}

// UnmarshalNode reads sm-share, whole, a count or a list of block indices.
func (b *Blocks) UnmarshalNode(n strictyaml.Node) error {
	text := n.Text
	switch n.Kind {
	case strictyaml.Sequence:
		parts := make([]string, len(n.Items))
		for i, item := range n.Items {
			if item.Kind != strictyaml.Int {
				return item.Errorf("expected a block index")
			}
			parts[i] = item.Text
		}
		text = "[" + strings.Join(parts, ",") + "]"
	case strictyaml.Int, strictyaml.String:
	default:
		text = n.Kind.String()
	}
	v, err := ParseBlocks(text)
	if err != nil {
		return n.Errorf("%s", err)
	}
	*b = v
	return nil
}

// Override sets one number of the architecture, for example lsu.l1_latency to 40.
type Override struct {
	Key, Value string
	Place      strictyaml.Place
}

// Overrides is the overrides section: key paths with scalars, nested mappings joined by dots.
type Overrides []Override

// UnmarshalNode reads {lsu.l1_latency: 40} or {lsu: {l1_latency: 40}}.
func (o *Overrides) UnmarshalNode(n strictyaml.Node) error {
	if err := o.add("", n); err != nil {
		return err
	}
	first := map[string]strictyaml.Place{}
	for _, x := range *o {
		if p, dup := first[x.Key]; dup {
			return x.Place.Errorf("override %s is here twice; the first is in line %d", x.Key, p.Pos.Line)
		}
		first[x.Key] = x.Place
	}
	return nil
}

func (o *Overrides) add(prefix string, n strictyaml.Node) error {
	if n.Kind != strictyaml.Mapping {
		return n.Errorf("overrides are a mapping from architecture keys to values")
	}
	for _, p := range n.Pairs {
		key := prefix + p.Key
		switch p.Value.Kind {
		case strictyaml.Mapping:
			if err := o.add(key+".", p.Value); err != nil {
				return err
			}
		case strictyaml.Null:
			return p.Value.Errorf("override %q has no value", key)
		case strictyaml.Sequence:
			parts := make([]string, len(p.Value.Items))
			for i, item := range p.Value.Items {
				parts[i] = item.Text
			}
			*o = append(*o, Override{key, "[" + strings.Join(parts, ", ") + "]", n.PlaceAt(p.At)})
		default:
			*o = append(*o, Override{key, p.Value.Text, n.PlaceAt(p.At)})
		}
	}
	return nil
}

// Outputs says what to write beside the report on standard output.
type Outputs struct {
	Dir     string   `yaml:"dir"`     // folder for files, relative to the working directory
	Formats []string `yaml:"formats"` // text, json, csv: files written to Dir
	Plots   bool     `yaml:"plots"`   // pictures, in Dir
}

// CheckMode says how much of the output is compared with what is expected.
type CheckMode string

// Check modes.
const (
	CheckAuto  CheckMode = "auto"  // the blocks that ran; the whole output too if the other blocks are cheap to execute
	CheckRun   CheckMode = "run"   // only the blocks that ran
	CheckWhole CheckMode = "whole" // the whole output: the blocks that did not run are executed without timing
	CheckNone  CheckMode = "none"
)

// CheckModes lists them for messages.
var checkModes = []string{string(CheckAuto), string(CheckRun), string(CheckWhole), string(CheckNone)}

// UnmarshalNode reads a check mode.
func (m *CheckMode) UnmarshalNode(n strictyaml.Node) error {
	v, err := ParseCheckMode(n.Text)
	if err != nil || n.Kind != strictyaml.String {
		return n.Errorf("expected a check mode: %s", strings.Join(checkModes, ", "))
	}
	*m = v
	return nil
}

// ParseCheckMode reads auto, run, whole or none; empty is auto.
func ParseCheckMode(s string) (CheckMode, error) {
	if s == "" {
		return CheckAuto, nil
	}
	if !slices.Contains(checkModes, s) {
		return "", fmt.Errorf("unknown check mode %q%s", s, strictyaml.DidYouMean(s, checkModes))
	}
	return CheckMode(s), nil
}

// Caches is the state of the caches at the launch.
type Caches string

// States of the caches.
const (
	CachesWarm Caches = "warm" // as an earlier identical launch left them
	CachesCold Caches = "cold" // flushed
)

// UnmarshalNode reads warm or cold.
func (c *Caches) UnmarshalNode(n strictyaml.Node) error {
	v, err := ParseCaches(n.Text)
	if err != nil || n.Kind != strictyaml.String {
		return n.Errorf("expected warm or cold")
	}
	*c = v
	return nil
}

// ParseCaches reads warm or cold; empty is warm.
func ParseCaches(s string) (Caches, error) {
	switch s {
	case "", string(CachesWarm):
		return CachesWarm, nil
	case string(CachesCold):
		return CachesCold, nil
	}
	return "", fmt.Errorf("unknown state of the caches %q: warm or cold", s)
}
