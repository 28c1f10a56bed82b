package ptx

import (
	"regexp"
	"strings"
)

// Marks of texts that are given instead of PTX by mistake. Only the start of the text is looked at.
var foreign = []struct {
	mark      *regexp.Regexp
	what, fix string
}{
	{regexp.MustCompile(`(?m)^\s*(Fatbin (elf|ptx) code:|code for sm_\d+|Function : \S+|\.headerflags\b|\.elftype\b|/\*[0-9a-f]{4}\*/\s+\S)`),
		"a SASS listing", "give it as a .sass file, or extract the PTX with cuobjdump -ptx"},
	{regexp.MustCompile(`(?m)^\s*(#\s*include\b|#\s*define\b|extern "C"|template\s*<|__global__\b|__device__\b|using namespace\b)|__global__\s+void`),
		"CUDA C++ source", "compile it first: nvcc -arch=sm_80 -ptx FILE.cu"},
	{regexp.MustCompile(`(?m)^(target triple|target datalayout|source_filename|define\s.*\{)`),
		"LLVM IR", "compile it first: llc -mcpu=sm_80"},
	{regexp.MustCompile(`(?m)^\s*(<\?xml|<!DOCTYPE|<html)`), "markup", "check how the file was downloaded"},
}

// binaries are magic numbers of files that hold PTX or machine code.
var binaries = []struct{ magic, what, fix string }{
	{"\x7fELF", "an ELF file (cubin or executable)", "extract its PTX with cuobjdump -ptx, or its SASS with cuobjdump -sass"},
	{"\x50\xed\x55\xba", "a fatbin", "extract its PTX with cuobjdump -ptx"},
	{"BC\xc0\xde", "LLVM bitcode", "compile it with llc -mcpu=sm_80"},
	{"\x1f\x8b", "gzip-compressed data", "decompress it first"},
	{"PK\x03\x04", "a zip archive", "unpack it first"},
	{"\xff\xfe", "UTF-16 text", "save it as UTF-8"},
	{"\xfe\xff", "UTF-16 text", "save it as UTF-8"},
}

// foreignWindow is how much of the text is searched for the marks of other languages.
const foreignWindow = 64 << 10

// notPTX recognises common texts that are no PTX at all and says what they are; nil for anything else.
func notPTX(m *Module, src string) *Error {
	for _, b := range binaries {
		if strings.HasPrefix(src, b.magic) {
			e := m.Errorf(Pos{1, 1}, b.fix, "this is %s, not PTX text", b.what)
			e.Line = ""
			return e
		}
	}
	head := src[:min(len(src), foreignWindow)]
	l := lexer{src: head, line: 1}
	if t := l.next(func(Pos, string, string, ...any) {}); t.kind == tokDot && head[t.off:t.end] == ".version" {
		return nil
	}
	for _, f := range foreign {
		if loc := f.mark.FindStringIndex(head); loc != nil {
			at := loc[0] + len(head[loc[0]:loc[1]]) - len(strings.TrimLeft(head[loc[0]:loc[1]], " \t\r\n"))
			line := 1 + strings.Count(head[:at], "\n")
			col := at - strings.LastIndexByte(head[:at], '\n')
			return m.Errorf(Pos{line, col}, f.fix, "this is %s, not PTX", f.what)
		}
	}
	return nil
}

// sizeInferred says whether the module may lack .address_size: before PTX 2.3 only the compiler's -m64 told.
func (m *Module) sizeInferred() bool { return m.Major < 2 || m.Major == 2 && m.Minor < 3 }

// inferAddressSize gives 64 if an address register is declared 64 bits wide, else 32.
func inferAddressSize(m *Module) int {
	for _, f := range m.Funcs {
		if f.Body != nil && hasWideAddress(f.Body, nil) {
			return 64
		}
	}
	return 32
}

func hasWideAddress(b *Block, outer []*Var) bool {
	regs := outer[:len(outer):len(outer)]
	for _, s := range b.Stmts {
		switch x := s.(type) {
		case *Var:
			if x.Space == "reg" && TypeBytes(x.Type) == 8 {
				regs = append(regs, x)
			}
		case *Block:
			if hasWideAddress(x, regs) {
				return true
			}
		case *Instr:
			for _, a := range x.Args {
				if a.Kind != ArgAddr || a.Name == "" {
					continue
				}
				for _, v := range regs {
					if v.Declares(a.Name) {
						return true
					}
				}
			}
		}
	}
	return false
}

// maxRangeDigits is how many digits the number of a register of a range has at most.
const maxRangeDigits = 8

// Declares says whether the declaration is of that name; of %r<3> those are %r0, %r1 and %r2.
func (v *Var) Declares(name string) bool {
	if v.Range == 0 {
		return v.Name == name
	}
	digits, ok := strings.CutPrefix(name, v.Name)
	if !ok || digits == "" || len(digits) > maxRangeDigits || digits[0] == '0' && len(digits) > 1 {
		return false
	}
	n := 0
	for i := 0; i < len(digits); i++ {
		if !isDigit(digits[i]) {
			return false
		}
		n = n*10 + int(digits[i]-'0')
	}
	return n < v.Range
}
