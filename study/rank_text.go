package study

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sarchlab/smsim/plots"
	"github.com/sarchlab/smsim/study/page"
)

// WriteRankings writes rankings as text, json or csv.
func WriteRankings(w io.Writer, ks []*Ranking, format string) error {
	return WriteIn(w, format, ks, writeRankingsText, writeRankingsCSV)
}

func writeRankingsCSV(w io.Writer, ks []*Ranking) error {
	rows := [][]string{{"kernel", "variant", "launch", "grid", "block", "rank", "arch", "family", "board", "sms", "clock_mhz", "cycles", "time_us", "times_the_fastest", "limiter",
		"occupancy_achieved", "dp4a", "imad", "dpx", "lop3", "video", "confidence", "check", "scaled", "cannot_run"}}
	for _, k := range ks {
		for i := range k.Entries {
			e := &k.Entries[i]
			rows = append(rows, []string{k.Kernel, k.Variant, k.Launch, dims(dim(k.Grid)), dims(dim(k.Block)), strconv.Itoa(e.Rank), e.Arch, e.Family, e.Board, strconv.Itoa(e.SMs), number(e.ClockMHz),
				whole(e.Cycles), number(e.TimeUS), number(e.Slower), e.Limiter, number(e.Occupancy), e.Features["DP4A"], e.Features["IMAD"], e.Features["DPX"],
				e.Features["LOP3"], e.Features["VIDEO"], e.Confidence, e.Check, strconv.FormatBool(e.Scaled), ""})
		}
		for _, c := range k.Cannot {
			row := make([]string, len(rows[0]))
			copy(row, []string{k.Kernel, k.Variant, k.Launch, dims(dim(k.Grid)), dims(dim(k.Block)), "", c.Arch, "", c.Board})
			row[len(row)-1] = c.Reason
			rows = append(rows, row)
		}
	}
	return csv.NewWriter(w).WriteAll(rows)
}

func writeRankingsText(w io.Writer, ks []*Ranking) error {
	t := &textWriter{w: w}
	for i, k := range ks {
		if i > 0 {
			t.printf("\n")
		}
		t.ranking(k)
	}
	return t.err
}

func (t *textWriter) ranking(k *Ranking) {
	t.paragraph(k.title()+": "+k.sentence(), "")
	head := []any{"", "board", "arch", "cycles", "time (µs)", "x best", "limited by"}
	if len(k.Features) > 0 {
		head = append(head, "emulated")
	}
	sameCheck := !slices.ContainsFunc(k.Entries, func(e RankEntry) bool { return e.Check != k.Entries[0].Check })
	if !sameCheck {
		head = append(head, "check")
	}
	var rows [][]any
	scaled := false
	for i := range k.Entries {
		e := &k.Entries[i]
		about := ""
		if e.Scaled {
			about, scaled = "~", true
		}
		row := []any{e.Rank, e.Board, e.Arch, about + thousands(e.Cycles), about + microseconds(e.TimeUS), fmt.Sprintf("%.2f", e.Slower), e.Limiter}
		if len(k.Features) > 0 {
			row = append(row, strings.Join(k.emulated(e), " "))
		}
		if !sameCheck {
			row = append(row, e.Check)
		}
		rows = append(rows, row)
	}
	tw := page.FittedTable(head, rows, 1, 6)
	page.Right(tw, 4, 6)
	t.table("", tw)
	if len(k.Cannot) > 0 {
		t.printf("\nCannot run it\n")
		for _, c := range k.Cannot {
			t.paragraph(fmt.Sprintf("  %s (%s): %s", c.Arch, c.Board, c.Reason), "    ")
		}
	}
	t.printf("\n")
	if scaled {
		t.paragraph(fmt.Sprintf("~ : scaled up from the first %d waves of resident blocks.", mostWaves), "")
	}
	about := "Time: of the whole grid on the board, as one SM with its share of the blocks, of L2 and of memory bandwidth takes."
	if len(k.Features) > 0 {
		about += " emulated: which of " + list(k.Features) + " the lowered kernel replaces by other instructions."
	}
	if sameCheck {
		about += " Check of the outputs: " + k.Entries[0].Check + " on all."
	}
	t.paragraph(about, "")
}

// emulated are the kernel's kinds of instructions that an entry's architecture replaces by others.
func (k *Ranking) emulated(e *RankEntry) []string {
	var out []string
	for _, f := range k.Features {
		if e.Features[f] == "emulated" {
			out = append(out, f)
		}
	}
	return out
}

// sentence is the answer in words.
func (k *Ranking) sentence() string {
	best := &k.Entries[0]
	s := fmt.Sprintf("fastest on %s (%s) with %s µs", best.Board, best.Arch, microseconds(best.TimeUS))
	if n := len(k.Entries); n > 1 {
		last := &k.Entries[n-1]
		s += fmt.Sprintf(", slowest on %s (%s) with %s µs", last.Board, last.Arch, microseconds(last.TimeUS))
	}
	for _, f := range k.Features {
		native := 0
		for i := range k.Entries {
			if k.Entries[i].Features[f] == "native" {
				native++
			}
		}
		s += fmt.Sprintf("; %s native on %d of %d", f, native, len(k.Entries))
	}
	return s + "."
}

// logFrom is the ratio of the fastest to the slowest board from which the slow ones' bars would not be seen on a linear axis.
const logFrom = 30

// RankPictures draws how often a board runs the kernel in a millisecond, fastest first, one picture a ranking. A star
// marks boards that emulate one of the kernel's instructions.
func RankPictures(ks []*Ranking) ([]Picture, error) {
	var figs []figure
	for _, k := range ks {
		b := &plots.Bars{Title: "Speed by architecture: " + k.title(), YLabel: "launches per millisecond", XLabel: "board (architecture)", Note: k.sentence(),
			Series: []string{"launches per millisecond; * one of the kernel's instructions is emulated"}}
		var speed []float64
		for j := range k.Entries {
			e := &k.Entries[j]
			star := ""
			for _, f := range k.Features {
				if e.Features[f] == "emulated" {
					star = " *"
				}
			}
			b.Groups = append(b.Groups, fmt.Sprintf("%s (%s)%s", e.Board, e.Arch, star))
			speed = append(speed, 1000/finiteTime(e))
		}
		b.Values = [][]float64{speed}
		if len(speed) > 0 && slices.Max(speed) > logFrom*slices.Min(speed) {
			b.Log = true
			b.YLabel += " (logarithmic)"
		}
		name := named("ranking", strings.Trim(k.Variant+"_"+k.Launch, "_"))
		if k.Variant == "" && k.Launch == "" {
			name = named("ranking", k.Kernel)
		}
		figs = append(figs, figure{name, b, 420})
	}
	return encode(figs)
}

// microseconds writes a time with four digits, long ones in full.
func microseconds(us float64) string {
	if us >= 9999.5 {
		return thousands(uint64(math.Round(us)))
	}
	return fmt.Sprintf("%.4g", us)
}
