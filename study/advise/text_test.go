package advise

import (
	"strings"
	"testing"
)

// TestChangesAgreeWithPoints: what is said of resident warps is true of the points listed below it.
func TestChangesAgreeWithPoints(t *testing.T) {
	for _, c := range []struct {
		gains []float64
		want  string
	}{
		{[]float64{1.10, 1.20}, "nothing: it pays as launched, and with one block on the SM"},
		{[]float64{1.01, 1.20, 1.06}, "nothing: it pays as launched, from 2.0 resident warps a scheduler on"},
		{[]float64{1.01, 1.20, 1.03}, "it pays as launched and from 2.0 resident warps a scheduler on, but not with all: with 3.0 it is limited by alu"},
		{[]float64{1.04, 1.03}, "it pays as launched, but not with the resident warps below where the rest of the machine is as busy: at most 1.04x, limited by alu"},
	} {
		w := Warps{PaysAt: paysAt}
		for i, g := range c.gains {
			p := WarpPoint{Blocks: i + 1, Warps: float64(i + 1), SpeedUp: g, Limiter: "alu"}
			w.Points = append(w.Points, p)
			if w.PaysFrom == 0 && g >= paysAt {
				w.PaysFrom = p.Warps
			}
		}
		a := &Advice{Warps: map[string]Warps{"sm_90": w}, Work: map[string]Work{}}
		if got := strings.Join(a.changes("sm_90"), "; "); got != c.want {
			t.Errorf("%v: %s\nwant %s", c.gains, got, c.want)
		}
	}
}
