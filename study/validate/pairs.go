package validate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/sarchlab/smsim/study/page"
)

// Pairs is how well the model predicts what choosing another variant of a kernel does to its time: the question "does this instruction help here,
// and by how much". Variants are kernels named ALGORITHM_VARIANT whose launches have the same blocks and leave the same results; each is compared with
// the first of its algorithm in kernels.json. Launches are pairs of launches.
type Pairs struct {
	Launches int     `json:"launches"`
	Off      Percent `json:"off"`       // mean absolute error of the ratio of cycles
	P50      Percent `json:"p50"`       // and its median
	Clear    int     `json:"clear"`     // launches whose measured cycles differ by more than clearly
	SameSide int     `json:"same_side"` // of these, those for which the model finds the same variant faster
	Variants []Pair  `json:"variants"`
}

// Pair is a variant against the first of its algorithm: cycles of the variant over those of the first, as geometric means over launches.
type Pair struct {
	Variant   string  `json:"variant"`
	First     string  `json:"first"`
	Launches  int     `json:"launches"`
	Measured  float64 `json:"measured"`
	Predicted float64 `json:"predicted"`
	Off       Percent `json:"off"` // mean absolute error of the ratio over launches
}

// clearly is the least difference of two variants that decides which one is faster: measurements repeat to a few per cent at worst.
const clearly = 0.05

// work says which launches do the same: those of variants of an algorithm with the same blocks and the same results. It is empty for a kernel
// whose name says nothing of variants.
func (l *launch) work() string {
	algorithm, _, ok := strings.Cut(l.Function, "_")
	if sum := l.Checksums["0"]; ok && sum != "" {
		return fmt.Sprint(algorithm, l.Grid, l.Block, sum)
	}
	return ""
}

// pairUp compares variants among a set's results, in their order; nil if there are none.
func pairUp(results []*Result) *Pairs {
	first := map[string]*Result{}
	at := map[[2]string]int{}
	p := &Pairs{}
	var off []float64
	var each [][]float64
	for _, r := range results {
		if r.work == "" || r.Failure != "" {
			continue
		}
		f := first[r.work]
		if f == nil {
			first[r.work] = r
			continue
		}
		measured, predicted := r.Measured/f.Measured, r.Predicted/f.Predicted
		e := 100 * math.Abs(predicted/measured-1)
		off = append(off, e)
		p.Launches++
		if math.Abs(measured-1) > clearly {
			p.Clear++
			if (measured > 1) == (predicted > 1) {
				p.SameSide++
			}
		}
		key := [2]string{r.Kernel, f.Kernel}
		i, known := at[key]
		if !known {
			i = len(p.Variants)
			at[key] = i
			p.Variants, each = append(p.Variants, Pair{Variant: r.Kernel, First: f.Kernel}), append(each, nil)
		}
		v := &p.Variants[i]
		v.Launches++
		v.Measured += math.Log(measured)
		v.Predicted += math.Log(predicted)
		each[i] = append(each[i], e)
	}
	if p.Launches == 0 {
		return nil
	}
	for i := range p.Variants {
		v := &p.Variants[i]
		v.Measured, v.Predicted = math.Exp(v.Measured/float64(v.Launches)), math.Exp(v.Predicted/float64(v.Launches))
		v.Off = Percent(mean(each[i]))
	}
	p.Off = Percent(mean(off))
	slices.Sort(off)
	p.P50 = Percent(quantile(off, 0.5))
	return p
}

// summary says in one line how far off the ratios are.
func (p *Pairs) summary() string {
	s := fmt.Sprintf("%d pairs of launches: the ratio of cycles is off by %s %% in the mean, %s %% in the median", p.Launches, p.Off.format("%.1f"), p.P50.format("%.1f"))
	if p.Clear > 0 {
		s += fmt.Sprintf("; the faster variant is the right one in %d of %d that differ by more than %.0f %%", p.SameSide, p.Clear, 100*clearly)
	}
	return s
}

// rows are the cells of the table of variants, below pairHead.
func (p *Pairs) rows() (rows [][]string) {
	for _, v := range p.Variants {
		rows = append(rows, []string{v.Variant + " / " + v.First, fmt.Sprint(v.Launches), fmt.Sprintf("%.2f", v.Measured), fmt.Sprintf("%.2f", v.Predicted), v.Off.format("%.1f")})
	}
	return rows
}

// pairHead are the columns of rows.
var pairHead = []string{"cycles of a variant", "launches", "measured", "predicted", "off by %"}

// pairTable is the comparison as text.
func pairTable(s *Set) string {
	var head []any
	for _, c := range pairHead {
		head = append(head, c)
	}
	t := page.NewTable(head...)
	for _, row := range s.Pairs.rows() {
		cells := table.Row{}
		for _, c := range row {
			cells = append(cells, c)
		}
		t.AppendRow(cells)
	}
	page.Right(t, 2, len(pairHead))
	return fmt.Sprintf("\nVariants of one algorithm: %s, %s\n%s%s", s.Name, s.Input, page.Paragraph("", s.Pairs.summary()), page.Text(t))
}
