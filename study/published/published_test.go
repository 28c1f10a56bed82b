package published

import "testing"

func TestPublished(t *testing.T) {
	figures, err := Figures()
	if err != nil {
		t.Fatal(err)
	}
	results, err := Run(figures)
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for i := range results {
		r := &results[i]
		if r.Doubt == "" {
			compared++
		}
		switch {
		case r.Error != "":
			t.Errorf("%s, %s on %s: %s", r.Set, r.Probe, r.Arch, r.Error)
		case !r.Agrees() && r.Doubt == "":
			t.Errorf("%s, %s of %s on %s (%s): %.4g, published %.4g, %+.0f %%", r.Set, r.Quantity, r.Probe, r.Arch, r.Source, r.Predicted, r.Published, 100*r.Deviation())
		}
	}
	if compared < 150 {
		t.Errorf("only %d figures are compared", compared)
	}
}

// TestTolerance: a figure outside its tolerance is seen, one at its edge is not.
func TestTolerance(t *testing.T) {
	for _, c := range []struct {
		set, quantity        string
		published, predicted float64
		want                 bool
	}{
		{"latency", Latency, 20, 22.9, true}, {"latency", Latency, 20, 23.2, false}, {"latency", Latency, 4, 5, true}, {"latency", Latency, 4, 5.2, false},
		{"rate", Rate, 64, 58, true}, {"rate", Rate, 64, 57, false}, {"DPX rate", Rate, 64, 54, true}, {"peak", "gops/2", 100, 76, true}, {"peak", "gops/2", 100, 74, false},
		{"register banks", Clocks, 3, 2.85, true}, {"register banks", Clocks, 3, 2, false},
	} {
		r := Result{Figure: Figure{Set: c.set, Quantity: c.quantity, Published: c.published}, Predicted: c.predicted}
		if r.Agrees() != c.want {
			t.Errorf("%+v: %v", c, r.Agrees())
		}
	}
}
