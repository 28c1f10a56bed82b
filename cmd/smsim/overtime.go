package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/sarchlab/smsim/sim/observe"
	"github.com/sarchlab/smsim/study"
)

// addOwnRunFlags are the flags that only smsim run has: those that look into a run over time, and its statistics.
func addOwnRunFlags(f *pflag.FlagSet) {
	f.Bool("stats", false, "print time and warp-instructions a CPU-second on standard error")
	f.Uint64("timeline", 0, "record issue and pipe use over time, in samples of that many cycles (report.json, --plots)")
	f.String("issues", "", "show what each warp does in a window of cycles, FROM..TO (one kernel, launch and architecture)")
}

// maxWindow bounds the cycles of an issue timeline.
const maxWindow = 2000

// overTime sets the options that the flags ask for.
func (s *settings) overTime(opt *study.Options) error {
	opt.SampleCycles = s.v.GetUint64("timeline")
	if from, ok := s.origin("timeline"); ok && opt.SampleCycles == 0 {
		return bad(from, fmt.Errorf("must be 1 or more"))
	}
	text := s.v.GetString("issues")
	if text == "" {
		return nil
	}
	from, _ := s.origin("issues")
	a, b, ok := strings.Cut(text, "..")
	lo, err := strconv.ParseUint(strings.TrimSpace(a), 10, 63)
	hi, err2 := strconv.ParseUint(strings.TrimSpace(b), 10, 63)
	switch {
	case !ok || err != nil || err2 != nil || hi <= lo:
		return bad(from, fmt.Errorf("%q is not a window of cycles such as 1000..1080", text))
	case hi-lo > maxWindow:
		return bad(from, fmt.Errorf("a window of %d cycles is too wide; at most %d", hi-lo, maxWindow))
	}
	opt.Issues = &observe.IssueTrace{From: lo, To: hi}
	return nil
}
