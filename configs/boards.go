package configs

import (
	"fmt"
	"strings"
	"sync"
	"unicode"

	"github.com/sarchlab/smsim/configs/strictyaml"
)

type boardFile struct {
	Boards []Board `yaml:"boards"`
}

// boardTable reads boards.yaml once.
var boardTable = sync.OnceValues(func() ([]Board, error) {
	text, err := files.ReadFile("boards.yaml")
	if err != nil {
		return nil, err
	}
	return parseBoards("boards.yaml", text)
})

func parseBoards(name string, text []byte) ([]Board, error) {
	tree, err := parseDocument(name, text)
	if err != nil {
		return nil, err
	}
	var f boardFile
	if err := tree.Decode(&f); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for i, b := range f.Boards {
		n := child(tree, "boards").Items[i]
		id := boardID(b.Name)
		_, archKnown := nameOf(b.Arch)
		switch {
		case id == "" || seen[id]:
			return nil, n.Errorf("board %d: missing or repeated name %q", i+1, b.Name)
		case !archKnown:
			return nil, n.Errorf("board %s: arch %q", b.Name, b.Arch)
		case b.SMs < 1 || b.ClockMHz <= 0 || b.MemoryGBs <= 0 || b.L2KB < 0:
			return nil, n.Errorf("board %s: sms, clock_mhz and memory_gb_s must be positive", b.Name)
		case b.Source == "":
			return nil, n.Errorf("board %s: no source", b.Name)
		}
		if flt := checkOrigin("confidence", string(b.Confidence), "confidence"); flt != nil {
			return nil, n.Errorf("board %s: %s", b.Name, flt.message)
		}
		seen[id] = true
	}
	return f.Boards, nil
}

// Boards lists the known products, oldest architecture first.
func Boards() ([]Board, error) { return boardTable() }

// LoadBoard finds a board by name, without regard to case, spaces, and the words NVIDIA, GeForce, RTX and the like.
func LoadBoard(name string) (*Board, error) {
	boards, err := boardTable()
	if err != nil {
		return nil, err
	}
	id := boardID(name)
	var names []string
	for i := range boards {
		if boardID(boards[i].Name) == id {
			b := boards[i]
			return &b, nil
		}
		names = append(names, boards[i].Name)
	}
	message := fmt.Sprintf("no board %q", name)
	if n := strictyaml.Nearest(name, names); n != "" {
		return nil, fmt.Errorf("%s; did you mean %q?", message, n)
	}
	return nil, fmt.Errorf("%s; known: %s", message, some(names))
}

// boardAliases are shorter or longer names of one board.
var boardAliases = map[string]string{
	"h100": "h100sxm", "h100sxm5": "h100sxm", "h100pcie80gb": "h100pcie", "h200sxm": "h200", "a100sxm4": "a100", "a10080gb": "a100",
	"a100pcie": "a100pcie40gb", "v10016gb": "v100", "v100sxm2": "v100", "p100pcie": "p100", "k20c": "k20", "k20m": "k20", "k40m": "k40", "k40c": "k40",
	"4601gb": "460",
}

// boardID reduces a product name to what people agree on: "GeForce RTX 3060", "rtx3060" and "3060" are one.
func boardID(name string) string {
	s := strings.ToLower(name)
	for _, w := range []string{"nvidia", "geforce", "tesla", "quadro", "rtx", "gtx"} {
		s = strings.ReplaceAll(s, w, "")
	}
	s = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
	if full, ok := boardAliases[s]; ok {
		return full
	}
	return s
}
