package study

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sarchlab/smsim/configs/strictyaml"
	"github.com/sarchlab/smsim/plots"
)

// PlotOptions say how saved results are drawn.
type PlotOptions struct {
	Kinds         []string // of pictures; empty: all that the result has, but for occupancy curves
	Formats       []string // svg, png, pdf
	Metrics       []string // of sweeps, see [Metrics]; empty: the usual ones
	Style         string   // one of plots.Looks
	Width, Height float64  // points; 0: each picture's own
}

// pictureKinds are the kinds of pictures with what they show.
var pictureKinds = []struct{ name, what string }{
	{"throughput", "bars over architectures and variants"},
	{"speedup", "bars of the speed-ups"},
	{"states", "where warps spend their time, stacked"},
	{"pipes", "utilisation of issue and pipes"},
	{"roofline", "integer roofline with a ceiling for each pipe"},
	{"warps", "throughput against resident warps"},
	{"x", "throughput along the study's x axis"},
	{"mix", "executed instructions by class"},
	{"timeline", "pipe utilisation over time (run --timeline)"},
	{"issues", "issue timeline, a row a warp (run --issues)"},
	{"occupancy", "resident warps against block size, registers, shared memory"},
	{"curves", "a number along a swept key, with a band over seeds"},
	{"heat", "a number over two swept keys, with contours"},
	{"bars", "a sweep's points as bars"},
	{"whatif", "response to changed numbers"},
	{"sensitivity", "tornado of a sensitivity analysis"},
	{"gain", "gain of an instruction over chains and warps, loads and latency (gainmap)"},
	{"scatter", "predicted against measured"},
}

// PictureKinds lists the kinds, one line each.
func PictureKinds() []string {
	var out []string
	for _, k := range pictureKinds {
		out = append(out, fmt.Sprintf("%-12s %s", k.name, k.what))
	}
	return out
}

// kindOf is the kind of a picture from its name, in which an architecture may come first and a launch last.
func kindOf(name string) string {
	if strings.HasPrefix(name, "whatif_states") {
		return "states"
	}
	for _, k := range pictureKinds {
		if name == k.name || strings.HasPrefix(name, k.name+"_") {
			return k.name
		}
	}
	for _, k := range pictureKinds {
		if strings.HasSuffix(name, "_"+k.name) {
			return k.name
		}
	}
	return name
}

// CheckKinds is the error for a kind that does not exist.
func CheckKinds(kinds []string) error {
	var known []string
	for _, k := range pictureKinds {
		known = append(known, k.name)
	}
	for _, k := range kinds {
		if !slices.Contains(known, k) {
			return fmt.Errorf("unknown kind of picture %q%s", k, strictyaml.DidYouMean(k, known))
		}
	}
	return nil
}

// Drawing is a picture that another package makes, with the name of its files.
type Drawing struct {
	Name   string
	Figure plots.Figure
}

// Plot draws a saved result. It is an error if it has no picture of the kinds asked for.
func Plot(s *Saved, opt PlotOptions) ([]Picture, error) {
	figs, err := s.figures(slices.Contains(opt.Kinds, "occupancy"), opt.Metrics)
	if err != nil {
		return nil, err
	}
	var have []string
	for _, f := range figs {
		have = appendNew(have, kindOf(f.name))
	}
	if len(opt.Kinds) > 0 {
		figs = slices.DeleteFunc(figs, func(f figure) bool { return !slices.Contains(opt.Kinds, kindOf(f.name)) })
	}
	if len(figs) == 0 {
		return nil, &InputError{fmt.Errorf("the result has no picture of kind %s; it has %s", strings.Join(opt.Kinds, ", "), strings.Join(have, ", "))}
	}
	return encodeAs(figs, opt.Formats, opt.Style, opt.Width, opt.Height)
}

func (s *Saved) figures(occupancy bool, metrics []string) ([]figure, error) {
	switch {
	case s.Versus != nil:
		return versusFigures(s.Versus)
	case s.WhatIf != nil:
		return whatIfFigures(s.WhatIf)
	case s.Sensitivity != nil:
		return sensitivityFigures(s.Sensitivity), nil
	case s.Sweep != nil:
		return sweepFigures(s.Sweep, metrics)
	case s.Drawings != nil:
		var figs []figure
		for _, d := range s.Drawings {
			figs = append(figs, figure{d.Name, d.Figure, 0})
		}
		return figs, nil
	case s.Scatter != nil:
		return []figure{{"scatter", s.Scatter, 0}}, nil
	}
	figs, err := reportFigures(s.Report)
	if err != nil || !occupancy {
		return figs, err
	}
	for _, arch := range s.Report.Archs() {
		for i := range s.Report.Runs {
			r := &s.Report.Runs[i]
			if r.Arch != arch {
				continue
			}
			a, err := archOf(r)
			if err != nil {
				return nil, err
			}
			for _, f := range occupancyFigures(OccupancyOf(a, dim(r.Block).Count(), r.Registers, r.SharedBytes)) {
				f.name += "_" + fileName(strings.Trim(arch+"_"+r.Variant+"_"+r.Launch, "_"))
				figs = append(figs, f)
			}
		}
	}
	return figs, nil
}
