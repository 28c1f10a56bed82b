package sass

import (
	"fmt"
	"strings"
	"testing"
)

func BenchmarkRead(b *testing.B) {
	var s strings.Builder
	s.WriteString("code for sm_90\n")
	for f := range 20 {
		fmt.Fprintf(&s, " Function : k%d\n", f)
		for i := range 1000 {
			fmt.Fprintf(&s, " /*%04x*/ IADD3 R24, PT, PT, R24, R17.reuse, R18 ; /* 0x0000001118187210 */\n /* 0x000fe40000000f00 */\n", 16*i)
		}
	}
	text := []byte(s.String())
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := Read("x", text); err != nil {
			b.Fatal(err)
		}
	}
}
