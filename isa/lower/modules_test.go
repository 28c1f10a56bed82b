package lower

import (
	"strconv"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
	"github.com/sarchlab/smsim/isa/zipped"
)

// TestModules: headers, declarations, directives, calls and single instructions as other compilers and people write them are taken and refused as by ptxas 13.0, but
// for the differences that testdata/modules.txt.gz states. A difference that is none any more is an error, too.
func TestModules(t *testing.T) {
	text := string(zipped.Read(t, "testdata/modules.txt.gz"))
	cases, differ := 0, 0
	for _, c := range strings.Split(text, "\n== ")[1:] {
		head, source, _ := strings.Cut(c, "\n")
		words := strings.SplitN(head, " ", 4)
		sm, err := strconv.Atoi(strings.TrimPrefix(words[1], "sm_"))
		if err != nil {
			t.Fatalf("%s: %v", head, err)
		}
		cases++
		taken := words[2] == "taken"
		if len(words) == 4 {
			taken = !taken
			differ++
		}
		m, err := ptx.Parse(words[0]+".ptx", []byte(source))
		if err == nil {
			if err = ptx.CheckAll(m); err == nil {
				_, err = Compile(m, "k", isa.NewTarget(sm), Options{})
			}
		}
		switch {
		case taken && err != nil:
			t.Errorf("%s: refused: %v", head, err)
		case !taken && err == nil:
			t.Errorf("%s: taken", head)
		}
	}
	if cases < 450 || differ > 50 {
		t.Errorf("%d cases, %d of them known to differ", cases, differ)
	}
}
