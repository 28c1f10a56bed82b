package study

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sarchlab/smsim/sim"
)

// Answer says in words what the comparisons of a report show: a headline over everything, for each architecture its
// gains and points (lines that begin with "- ") with the reasons, and what more work a thread gives.
// All of it is computed from the runs.
func Answer(rep *Report) []string {
	if len(rep.Comparisons) == 0 {
		return nil
	}
	out := []string{headline(rep)}
	for _, a := range rep.Archs() {
		out = append(out, archPoints(rep, a)...)
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
	return fmt.Sprintf("Speed of %s relative to %s for equal work: %s.", v, b, strings.Join(parts, "; "))
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

// archPoints is the answer for one architecture: the range of every pair, then for the first pair the launches with
// the smallest and the largest gain and what differs between them, then the other pairs where they differ.
func archPoints(rep *Report, arch string) []string {
	ls := labels(rep.Comparisons)
	var ranges []string
	for _, l := range ls {
		low, high := extremes(rep.Comparisons, func(c *Comparison) bool { return c.Arch == arch && pairLabel(c) == l })
		if low != nil {
			ranges = append(ranges, l+" "+span(low.SpeedUp, high.SpeedUp))
		}
	}
	if ranges == nil {
		return nil
	}
	s := []string{fmt.Sprintf("%s: %s.", arch, strings.Join(ranges, ", "))}
	low, high := extremes(rep.Comparisons, func(c *Comparison) bool { return c.Arch == arch && pairLabel(c) == ls[0] })
	if low == nil {
		return s
	}
	s = append(s, "- "+explain(low))
	if high != low {
		s = append(s, "- "+strings.TrimSpace(explain(high)+" "+whyDifferent(low, high)))
	}
	for _, l := range ls[1:] {
		for i := range rep.Comparisons {
			c := &rep.Comparisons[i]
			if c.Arch == arch && pairLabel(c) == l && c.Launch == high.Launch && differs(c.SpeedUp, high.SpeedUp, 1.15) {
				s = append(s, "- "+explain(c))
			}
		}
	}
	return s
}

// differs says that two positive numbers are apart by more than a factor.
func differs(a, b, factor float64) bool { return a > b*factor || b > a*factor }

// explain is one comparison with its reason: instructions saved, what became of the saving, and the two limiters.
func explain(c *Comparison) string {
	variant, base := sides(c)
	at := capital(pairLabel(c))
	if c.Launch != "" {
		at += fmt.Sprintf(" with %s (%s)", c.Launch, warpsWords(c))
	}
	s := fmt.Sprintf("%s: %s from %s", at, times(c.SpeedUp), fewer(c.InstructionRatio))
	switch {
	case c.IPCRatio < 0.93:
		s += fmt.Sprintf(", because IPC falls from %.2f to %.2f", c.base.IPC, c.vari.IPC)
	case c.IPCRatio > 1.07:
		s += fmt.Sprintf(", and IPC rises from %.2f to %.2f", c.base.IPC, c.vari.IPC)
	default:
		s += fmt.Sprintf(", and IPC stays (%.2f and %.2f)", c.base.IPC, c.vari.IPC)
	}
	if limiterKey(c.base) == limiterKey(c.vari) && ShortLimiter(c.base) == ShortLimiter(c.vari) {
		return s + fmt.Sprintf("; both are limited by %s.", ShortLimiter(c.base))
	}
	return s + fmt.Sprintf("; %s is limited by %s, %s by %s.", base, ShortLimiter(c.base), variant, ShortLimiter(c.vari))
}

// warpsWords says how many warps are resident, of both sides if they differ.
func warpsWords(c *Comparison) string {
	b, v := residentWarps(c.base), residentWarps(c.vari)
	if differs(b, v, 1.2) {
		return fmt.Sprintf("%.1f and %.1f warps a scheduler", b, v)
	}
	return fmt.Sprintf("%.1f warps a scheduler", v)
}

func times(x float64) string {
	switch {
	case x >= 0.97 && x <= 1.03:
		return fmt.Sprintf("no gain (%.2fx)", x)
	case x < 1:
		return fmt.Sprintf("a loss (%.2fx)", x)
	}
	return fmt.Sprintf("%.2fx", x)
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

// whyDifferent says what moves between the launches with the smallest and the largest gain of one pair, "" if little does.
func whyDifferent(low, high *Comparison) string {
	if !differs(high.SpeedUp, low.SpeedUp, 1.1) {
		return ""
	}
	variant, base := sides(low)
	var reasons []string
	if differs(high.InstructionRatio, low.InstructionRatio, 1.1) {
		reasons = append(reasons, fmt.Sprintf("the saving in instructions grows from %.2fx to %.2fx", low.InstructionRatio, high.InstructionRatio))
	}
	if limiterKey(low.base) != limiterKey(high.base) {
		reasons = append(reasons, fmt.Sprintf("the limit of %s moves from %s to %s", base, ShortLimiter(low.base), ShortLimiter(high.base)))
	}
	if limiterKey(low.vari) != limiterKey(high.vari) {
		reasons = append(reasons, fmt.Sprintf("the limit of %s moves from %s to %s", variant, ShortLimiter(low.vari), ShortLimiter(high.vari)))
	}
	if reasons == nil {
		reasons = append(reasons, fmt.Sprintf("more warps hide what the saved instructions used to hide: IPC of %s is %.0f %% of that of %s there and %.0f %% here",
			variant, 100*low.IPCRatio, base, 100*high.IPCRatio))
	}
	s := "The gain grows because " + strings.Join(reasons, " and ")
	if r := relief(high); r != "" && high.base.Limiter.Kind == sim.LimitPipe {
		s += ", and " + r
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
	variant, base := sides(c)
	return fmt.Sprintf("%s needs %.0f %% of the cycles of the %s pipe that %s needs", variant, 100*float64(q.BusyCycles)*work/float64(p.BusyCycles), p.Name, base)
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
		s += fmt.Sprintf(" On %s %s executes %s (%s) and is limited by %s.", c.Arch, variant, fewer(c.InstructionRatio), changeWords(c), ShortLimiter(c.vari))
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

// alongX says what moving along the x axis gives to each group, on the last launch, over the architectures.
func alongX(rep *Report) string {
	if rep.XAxis == "" || rep.WorkUnit == "" {
		return ""
	}
	launches := rep.Launches()
	last := launches[len(launches)-1]
	var groups []string
	for i := range rep.Runs {
		if g := rep.Runs[i].Group; g != "" && !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	var parts []string
	var from, to float64
	for _, g := range groups {
		low, high := 0.0, 0.0
		for _, arch := range rep.Archs() {
			first, end := xEnds(rep, arch, last, g)
			if first == nil || *first.X == *end.X {
				continue
			}
			from, to = *first.X, *end.X
			gain := end.WorkCycle / first.WorkCycle
			if low == 0 || gain < low {
				low = gain
			}
			high = max(high, gain)
		}
		if low > 0 {
			parts = append(parts, fmt.Sprintf("%s for %s", span(low, high), g))
		}
	}
	if parts == nil {
		return ""
	}
	at := ""
	if last != "" {
		at = " with " + last
	}
	return fmt.Sprintf("From %g to %g %s%s, %s a cycle grow by %s.", from, to, rep.XAxis, at, rep.WorkUnit, strings.Join(parts, " and "))
}

// xEnds are the runs of a group with the smallest and the largest x, nil if none has work.
func xEnds(rep *Report, arch, launch, group string) (first, last *Run) {
	for i := range rep.Runs {
		r := &rep.Runs[i]
		if r.Arch != arch || r.Launch != launch || r.Group != group || r.X == nil || r.WorkCycle == 0 {
			continue
		}
		if first == nil || *r.X < *first.X {
			first = r
		}
		if last == nil || *r.X > *last.X {
			last = r
		}
	}
	return first, last
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
