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
	for i := range results {
		r := &results[i]
		switch {
		case r.Error != "":
			t.Errorf("%s, %s on %s: %s", r.Set, r.Probe, r.Arch, r.Error)
		case !r.Agrees() && r.Doubt == "":
			t.Errorf("%s, %s of %s on %s (%s): %.4g, published %.4g, %+.0f %%", r.Set, r.Quantity, r.Probe, r.Arch, r.Source, r.Predicted, r.Published, 100*r.Deviation())
		}
	}
}
