package workloads

import (
	"path/filepath"
	"regexp"
	"strings"
)

// TextKind says what a text is.
type TextKind uint8

// Kinds of text.
const (
	TextOther   TextKind = iota // YAML, or nothing known
	TextPTX                     // a PTX module
	TextListing                 // machine code as cuobjdump -sass, nvdisasm or cuda-gdb print it
)

func (k TextKind) String() string {
	return [...]string{"other text", "a PTX file", "a machine-code listing"}[k]
}

// listingMark matches a line that only machine-code listings have: a function, target or section header, an instruction
// behind its address, in cuobjdump's notation or cuda-gdb's, the list of nvdisasm's JSON; and what smsim disasm prints, whose reader
// says more than "unknown".
var listingMark = regexp.MustCompile(`"(sass-instructions|control_information)"\s*:|^\S+ on sm_\d+ \([A-Za-z]+\): \d+ instruction|` +
	`^\s*(=>)?\s*0x[0-9a-f]+\s+<.*>:\s|^\s*(Dump of assembler code|Function\s*:\s*\S|code for sm_\d|\.section\s+\.text\.|\.text\.[^:\s]+:|\.headerflags\b|(\[?B[0-9-]{6}:R.*)?\{?\s*/\*[0-9a-fA-F]{4,8}\*/)`)

// Recognise tells PTX, machine-code listings and other text by the file's extension, else by the first line that belongs
// to only one of them.
func Recognise(name string, text []byte) TextKind {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".ptx":
		return TextPTX
	case ".sass":
		return TextListing
	case ".yaml", ".yml":
		return TextOther
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		t := strings.TrimSpace(line)
		switch {
		case listingMark.MatchString(line):
			return TextListing
		case strings.HasPrefix(t, ".version"), strings.HasPrefix(t, ".address_size"):
			return TextPTX
		}
		if n++; n > recogniseLines {
			break
		}
	}
	return TextOther
}

// recogniseLines bounds the search: both kinds show themselves in the first lines, comments may precede.
const recogniseLines = 100_000

// IsListing says whether the file is a machine-code listing.
func (f *KernelFile) IsListing() bool { return Recognise(f.Path, f.Text) == TextListing }
