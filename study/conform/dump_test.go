package conform

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/lower"
	"github.com/sarchlab/smsim/isa/ptx"
)

func TestDump(t *testing.T) {
	ids := os.Getenv("DUMP")
	if ids == "" {
		t.Skip()
	}
	s, err := Load(os.DirFS(os.Getenv("FORMS")))
	if err != nil {
		t.Fatal(err)
	}
	sm, _ := strconv.Atoi(os.Getenv("SMS"))
	for _, id := range strings.Fields(ids) {
		n, _ := strconv.Atoi(id)
		f := &s.Forms[n]
		m, err := ptx.Parse("x.ptx", []byte(f.Kernel()))
		if err != nil {
			t.Fatal(err)
		}
		p, err := lower.Compile(m, "", isa.NewTarget(sm), lower.Options{})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("==", f.ID, f.PTX)
		for i := range p.Insts {
			fmt.Println("   ", p.Insts[i].String())
		}
	}
}
