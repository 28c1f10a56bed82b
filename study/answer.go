package study

import (
	"fmt"
	"slices"
	"strings"
)

// Answer says in words what the comparisons of a report show: a headline over everything, a paragraph for each
// architecture with the smallest and the largest gain and their reasons, and what more work a thread gives.
// All of it is computed from the runs.
func Answer(rep *Report) []string {
	if len(rep.Comparisons) == 0 {
		return nil
	}
	out := []string{headline(rep)}
	for _, a := range rep.Archs() {
		if s := archParagraph(rep, a); s != "" {
			out = append(out, s)
		}
	}
	if s := acrossArchs(rep); s != "" {
		out = append(out, s)
	}
	if s := alongX(rep); s != "" {
		out = append(out, s)
	}
	return out
}

// extremes are the comparisons with the smallest and largest speed-up of those that the filter keeps.
func extremes(cs []Comparison, keep func(*Comparison) bool) (low, high *Comparison) {
	for i := range cs {
		c := &cs[i]
		if !keep(c) {
			continue
		}
		if low == nil || c.SpeedUp < low.SpeedUp {
			low = c
		}
		if high == nil || c.SpeedUp > high.SpeedUp {
			high = c
		}
	}
	return low, high
}

// labels lists the pair labels in order of appearance.
func labels(cs []Comparison) []string {
	var out []string
	seen := map[string]bool{}
	for _, c := range cs {
		if l := pairLabel(&c); !seen[l] {
			seen[l] = true
			out = append(out, l)
		}
	}
	return out
}

func pairLabel(c *Comparison) string {
	if c.Label != "" {
		return c.Label
	}
	return c.Variant + " / " + c.Baseline
}

// sides names the two sides of a comparison: their groups where they have them.
func sides(c *Comparison) (variant, baseline string) {
	if c.vari.Group != "" && c.base.Group != "" && c.vari.Group != c.base.Group {
		return c.vari.Group, c.base.Group
	}
	return c.Variant, c.Baseline
}

func headline(rep *Report) string {
	var parts []string
	for _, l := range labels(rep.Comparisons) {
		low, high := extremes(rep.Comparisons, func(c *Comparison) bool { return pairLabel(c) == l })
		parts = append(parts, fmt.Sprintf("%s %s (%s)", l, span(low.SpeedUp, high.SpeedUp), where(rep, low, high)))
	}
	v, b := sides(&rep.Comparisons[0])
	return fmt.Sprintf("For equal work %s is faster than %s by: %s.", v, b, strings.Join(parts, "; "))
}

// where names the places of the smallest and the largest gain.
func where(rep *Report, low, high *Comparison) string {
	if low == high {
		return place(rep, low)
	}
	return place(rep, low) + " to " + place(rep, high)
}

func place(rep *Report, c *Comparison) string {
	switch {
	case len(rep.Archs()) == 1 && c.Launch != "":
		return c.Launch
	case len(rep.Launches()) == 1:
		return c.Arch
	}
	return c.Arch + " " + c.Launch
}

func span(low, high float64) string {
	if fmt.Sprintf("%.2f", low) == fmt.Sprintf("%.2f", high) {
		return fmt.Sprintf("%.2fx", low)
	}
	return fmt.Sprintf("%.2fx to %.2fx", low, high)
}

func archParagraph(rep *Report, arch string) string {
	low, high := extremes(rep.Comparisons, func(c *Comparison) bool { return c.Arch == arch })
	if low == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString(arch + ": " + explain(low) + ".")
	if high != low {
		b.WriteString(" " + capital(explain(high)) + ".")
		b.WriteString(" " + whyDifferent(low, high))
	}
	return b.String()
}

// explain is one comparison with its reason: instructions saved, what became of the saving, and the two limiters.
func explain(c *Comparison) string {
	variant, base := sides(c)
	at := pairLabel(c)
	if c.Launch != "" {
		at += " with " + c.Launch
	}
	s := fmt.Sprintf("%s: %s is %s", at, variant, times(c.SpeedUp))
	s += fmt.Sprintf("; it executes %s", fewer(c.InstructionRatio))
	switch {
	case c.IPCRatio < 0.93:
		s += fmt.Sprintf(", of which part is lost because IPC falls from %.2f to %.2f", c.base.IPC, c.vari.IPC)
	case c.IPCRatio > 1.07:
		s += fmt.Sprintf(", and IPC rises from %.2f to %.2f", c.base.IPC, c.vari.IPC)
	default:
		s += fmt.Sprintf(" at about the same IPC (%.2f and %.2f)", c.base.IPC, c.vari.IPC)
	}
	return s + fmt.Sprintf(" (%s: %s; %s: %s)", base, limitWords(c.base), variant, limitWords(c.vari))
}

func times(x float64) string {
	switch {
	case x >= 0.97 && x <= 1.03:
		return fmt.Sprintf("as fast (%.2fx)", x)
	case x < 1:
		return fmt.Sprintf("slower (%.2fx)", x)
	}
	return fmt.Sprintf("%.2fx as fast", x)
}

func fewer(x float64) string {
	switch {
	case x >= 0.995 && x <= 1.005:
		return "as many warp-instructions"
	case x < 1:
		return fmt.Sprintf("%.2fx as many warp-instructions", 1/x)
	}
	return fmt.Sprintf("%.2fx fewer warp-instructions", x)
}

// limitWords is the limiter of a run with the largest stall behind it.
func limitWords(r *Run) string {
	s := shortLimiter(r)
	if st := topStalls(r, 1); len(st) > 0 && r.Limiter.What != st[0].State {
		s += fmt.Sprintf(", warps mostly in %s", st[0].State)
	}
	return s
}

// whyDifferent compares the smallest with the largest gain of one architecture.
func whyDifferent(low, high *Comparison) string {
	if high.SpeedUp/low.SpeedUp < 1.1 {
		return "The gain hardly depends on the launch."
	}
	lw, hw := residentWarps(low.vari), residentWarps(high.vari)
	var reasons []string
	if r := high.InstructionRatio / low.InstructionRatio; r > 1.1 || r < 0.9 {
		reasons = append(reasons, fmt.Sprintf("the saving in instructions differs (%.2fx against %.2fx)", low.InstructionRatio, high.InstructionRatio))
	}
	if limiterKey(low.vari) != limiterKey(high.vari) || limiterKey(low.base) != limiterKey(high.base) {
		_, base := sides(low)
		variant, _ := sides(low)
		reasons = append(reasons, fmt.Sprintf("the limit moves, for %s from %s to %s and for %s from %s to %s", base, shortLimiter(low.base),
			shortLimiter(high.base), variant, shortLimiter(low.vari), shortLimiter(high.vari)))
	}
	if p, q := relief(low), relief(high); p != "" && q != "" && p != q {
		reasons = append(reasons, "of the pipe that is busiest in the baseline the variant needs "+p+" there and "+q+" here")
	}
	s := "The gain changes because "
	if len(reasons) == 0 {
		s += fmt.Sprintf("IPC falls to %.0f %% of the baseline's there and to %.0f %% here", 100*low.IPCRatio, 100*high.IPCRatio)
	} else {
		s += strings.Join(reasons, ", and ")
	}
	if hw >= 1.5*lw || lw >= 1.5*hw {
		s += fmt.Sprintf("; %.1f warps a scheduler are resident there, %.1f here", lw, hw)
	}
	return s + "."
}

// residentWarps is the average number of resident warps of a scheduler.
func residentWarps(r *Run) float64 {
	if r.Cycles == 0 || r.IssueSlots.Total == 0 {
		return 0
	}
	return r.Occupancy.AchievedWarps * float64(r.Cycles) / float64(r.IssueSlots.Total)
}

// relief says how much of the baseline's busiest pipe the variant needs for equal work, "" without pipes.
func relief(c *Comparison) string {
	p := busiest(c.base)
	if p == nil || p.BusyCycles == 0 {
		return ""
	}
	q := pipe(c.vari, p.Name)
	if q == nil {
		return ""
	}
	work := c.InstructionRatio * float64(c.vari.WarpInstructions) / float64(c.base.WarpInstructions)
	return fmt.Sprintf("%.0f %% (%s)", 100*float64(q.BusyCycles)*work/float64(p.BusyCycles), p.Name)
}

// acrossArchs says how the gain of the last launch differs between architectures, and whether instruction counts explain it.
func acrossArchs(rep *Report) string {
	if len(rep.Archs()) < 2 {
		return ""
	}
	launches := rep.Launches()
	last := launches[len(launches)-1]
	label := labels(rep.Comparisons)[0]
	low, high := extremes(rep.Comparisons, func(c *Comparison) bool { return c.Launch == last && pairLabel(c) == label })
	if low == nil || low == high {
		return ""
	}
	at := label
	if last != "" {
		at += " and " + last
	}
	s := fmt.Sprintf("Between architectures, at %s: %.2fx on %s, %.2fx on %s.", at, low.SpeedUp, low.Arch, high.SpeedUp, high.Arch)
	for _, c := range []*Comparison{low, high} {
		variant, _ := sides(c)
		s += fmt.Sprintf(" On %s %s executes %s (%s)", c.Arch, variant, fewer(c.InstructionRatio), changeWords(c))
		s += fmt.Sprintf(" and is limited by %s.", shortLimiter(c.vari))
	}
	return s
}

// changeWords lists the largest changes in executed instructions by class.
func changeWords(c *Comparison) string {
	var parts []string
	for _, k := range classChanges(c, 4) {
		parts = append(parts, fmt.Sprintf("%s %.0f to %.0f", k.class, k.base, k.now))
	}
	if parts == nil {
		return "the same mix of classes"
	}
	return "in per cent of the baseline's instructions: " + strings.Join(parts, ", ")
}

// alongX says what moving along the x axis gives to each group, on the last launch.
func alongX(rep *Report) string {
	if rep.XAxis == "" {
		return ""
	}
	launches := rep.Launches()
	last := launches[len(launches)-1]
	var groups []string
	type ends struct{ low, high *Run }
	var parts []string
	for i := range rep.Runs {
		if g := rep.Runs[i].Group; g != "" && !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	for _, arch := range rep.Archs() {
		var gains []string
		for _, g := range groups {
			var e ends
			for i := range rep.Runs {
				r := &rep.Runs[i]
				if r.Arch != arch || r.Launch != last || r.Group != g || r.X == nil || r.WorkCycle == 0 {
					continue
				}
				if e.low == nil || *r.X < *e.low.X {
					e.low = r
				}
				if e.high == nil || *r.X > *e.high.X {
					e.high = r
				}
			}
			if e.low != nil && *e.low.X < *e.high.X {
				gains = append(gains, fmt.Sprintf("%s %.2fx", g, e.high.WorkCycle/e.low.WorkCycle))
			}
		}
		if gains != nil {
			parts = append(parts, arch+" "+strings.Join(gains, ", "))
		}
	}
	if parts == nil {
		return ""
	}
	at := ""
	if last != "" {
		at = " with " + last
	}
	return fmt.Sprintf("From the fewest to the most %s%s, %s a cycle grow by: %s.", rep.XAxis, at, rep.WorkUnit, strings.Join(parts, "; "))
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// confidence is the weakest confidence among the runs.
func confidence(rep *Report) string {
	worst := ""
	rank := map[string]int{"measured": 1, "published": 2, "derived": 3, "assumed": 4}
	for i := range rep.Runs {
		if c := rep.Runs[i].Confidence; rank[c] > rank[worst] {
			worst = c
		}
	}
	return worst
}
