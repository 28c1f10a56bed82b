package validate

import (
	"fmt"
	"strings"

	"github.com/sarchlab/smsim/plots"
)

// Picture plots predicted against measured cycles of the rows from one input, a cloud for each set; nil if there are none.
func Picture(rep *Report, in Input) *plots.Scatter {
	s := &plots.Scatter{Title: fmt.Sprintf("Predicted and measured cycles, %s (input %s)", rep.Arch, strings.ToUpper(string(in))), Unit: "cycles", Error: 0.1,
		Note: "NVIDIA H200; mean absolute error in brackets" + scope(rep)}
	for _, set := range rep.Sets {
		if set.Input != in {
			continue
		}
		c := plots.Cloud{Name: fmt.Sprintf("%s (%.1f %%)", set.Name, set.MAPE)}
		for _, r := range set.Results {
			if r.Failure == "" && r.Predicted > 0 { // a logarithmic axis has no zero
				c.Measured, c.Predicted = append(c.Measured, r.Measured), append(c.Predicted, r.Predicted)
			}
		}
		if len(c.Measured) > 0 {
			s.Clouds = append(s.Clouds, c)
		}
	}
	if len(s.Clouds) == 0 {
		return nil
	}
	return s
}
