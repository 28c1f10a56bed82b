package conform

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
)

func TestLocal(t *testing.T) {
	dir := os.Getenv("FORMS")
	if dir == "" {
		t.Skip()
	}
	s, err := Load(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := strconv.Atoi(os.Getenv("STEP")); n > 1 {
		pick := func(w []uint64) (o []uint64) {
			for i := 0; i < len(w); i += n {
				o = append(o, w[i])
			}
			return
		}
		s.A, s.B, s.C = pick(s.A), pick(s.B), pick(s.C)
		for k := range s.D {
			s.D[k], s.E[k] = pick(s.D[k]), pick(s.E[k])
		}
		s.Vectors = len(s.A)
	}
	lo, hi := 0, 1<<30
	if r := os.Getenv("IDS"); r != "" {
		fmt.Sscanf(r, "%d-%d", &lo, &hi)
	}
	out, _ := os.Create(os.Getenv("COUNTS"))
	for _, sm := range strings.Fields(os.Getenv("SMS")) {
		n, _ := strconv.Atoi(sm)
		tg := isa.NewTarget(n)
		eq, bad := 0, 0
		for i := range s.Forms {
			f := &s.Forms[i]
			if f.ID < lo || f.ID > hi {
				continue
			}
			r := s.RunForm(f, tg)
			if r.Outcome == Equal {
				eq++
			} else {
				bad++
				if bad < 3000 {
					msg := strings.SplitN(r.Err, "\n", 3)
					fmt.Printf("sm_%d FAIL %d %s: ", n, f.ID, f.PTX)
					if r.Diff != nil {
						fmt.Printf("%+v\n", fmt.Sprintf("v%d a=%x b=%x c=%x got %x want %x gotE %x wantE %x", r.Diff.Vector, r.Diff.A, r.Diff.B, r.Diff.C, r.Diff.Got, r.Diff.Want, r.Diff.GotE, r.Diff.WantE))
					} else {
						fmt.Printf("%.300s\n", strings.Join(msg, " | "))
					}
				}
			}
			if out != nil {
				fmt.Fprintf(out, "%d %d %d %d\n", n, f.ID, r.Core, r.Outcome)
			}
		}
		fmt.Printf("sm_%d: equal %d failed %d\n", n, eq, bad)
	}
}
