package study

import "io"

// Picture is one file with a plot.
type Picture struct {
	Name  string // file name with extension
	Write func(io.Writer) error
}

// Pictures draws the report.
func Pictures(rep *Report) ([]Picture, error) { return nil, nil }
