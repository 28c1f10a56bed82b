// Package page is the form of reports: the width, wrapped paragraphs and tables of text, and the layout of JSON.
package page

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Width is the number of columns that text reports keep to.
const Width = 100

// Joiner is a space at which no line is broken: between a number and its unit. It is written as a space.
const Joiner = "\u00a0"

// Paragraph is a lead and text behind it, wrapped to the width of reports; further lines stand under the text.
func Paragraph(lead, s string) string {
	var b strings.Builder
	indent := text.StringWidth(lead)
	for i, line := range Wrap(s, Width-indent) {
		if i > 0 {
			lead = strings.Repeat(" ", indent)
		}
		b.WriteString(strings.TrimRight(lead+strings.ReplaceAll(line, Joiner, " "), " ") + "\n")
	}
	return b.String()
}

// Wrap breaks text at spaces into lines of at most width characters.
func Wrap(s string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.SplitSeq(strings.ReplaceAll(s, " %", Joiner+"%"), " ") {
		if word == "" {
			continue
		}
		if line != "" && text.StringWidth(line)+1+text.StringWidth(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// NewTable is a table in the style of all reports: no outer border, a line under the header.
func NewTable(header ...any) table.Writer {
	t := table.NewWriter()
	style := table.StyleLight
	style.Options = table.Options{SeparateHeader: true, SeparateColumns: true}
	style.Box.MiddleVertical = " "
	style.Box.MiddleSeparator = "─"
	style.Format.Header = text.FormatDefault
	style.Box.PaddingLeft, style.Box.PaddingRight = "", " "
	t.SetStyle(style)
	t.AppendHeader(header)
	return t
}

// leastColumn is the width below which a column is not cut.
const leastColumn = 8

// FittedTable is a table of the rows that keeps to the width of reports: of the given columns, counted from 0, the widest
// are cut as far as needed.
func FittedTable(header []any, rows [][]any, flexible ...int) table.Writer {
	widths := make([]int, len(header))
	for _, row := range append([][]any{header}, rows...) {
		for i, c := range row {
			widths[i] = max(widths[i], text.StringWidth(fmt.Sprint(c)))
		}
	}
	total := 0
	for _, w := range widths {
		if w > 0 { // a column without text, such as one for remarks, stands last
			total += w + 2
		}
	}
	for total -= 2; total > Width; total-- {
		widest := flexible[0]
		for _, i := range flexible {
			if widths[i] > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= leastColumn {
			break
		}
		widths[widest]--
	}
	t := NewTable(header...)
	for _, row := range rows {
		cut := slices.Clone(row)
		for _, i := range flexible {
			cut[i] = Clip(fmt.Sprint(cut[i]), widths[i])
		}
		t.AppendRow(cut)
	}
	return t
}

// Right aligns the columns from the given one (counted from 1) to the last of n to the right.
func Right(t table.Writer, from, n int) {
	var cfg []table.ColumnConfig
	for i := from; i <= n; i++ {
		cfg = append(cfg, table.ColumnConfig{Number: i, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(cfg)
}

// Text is a rendered table, its lines without trailing spaces; the line under the header ends with the page.
func Text(t table.Writer) string {
	var b strings.Builder
	for line := range strings.SplitSeq(t.Render(), "\n") {
		line = strings.TrimRight(line, " ")
		if r := []rune(line); strings.HasPrefix(line, "─") {
			line = string(r[:min(len(r), Width)]) // it goes on under the last column's padding
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// Clip cuts text to n characters.
func Clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}

// Thousands writes an integer in groups: 1 234 567.
func Thousands(n uint64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + Joiner + s[i:]
	}
	return s
}

// Plural is a number of things: "1 block", "3 blocks".
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
