package strictyaml

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// Trim drops the byte order mark that some editors put before UTF-8 text, and the zero bytes behind what a program wrote from a
// C string with its end (PTX from nvrtcGetPTX or clGetProgramInfo).
func Trim(text []byte) []byte {
	return bytes.TrimRight(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), "\x00")
}

// Binary says why the bytes are no text: the first control byte that text files do not have. It is "" for text.
func Binary(text []byte) string {
	for i, b := range text {
		if b < ' ' && b != '\t' && b != '\n' && b != '\r' && b != '\f' && b != '\v' || b == 0x7f {
			return fmt.Sprintf("not a text file (byte %d is %#02x)", i, b)
		}
	}
	return ""
}

// invalidUTF8 is the index of the first byte that is not UTF-8, -1 if there is none.
func invalidUTF8(text []byte) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n <= 1 {
			return i
		}
		i += n
	}
	return -1
}
