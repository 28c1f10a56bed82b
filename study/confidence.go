package study

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sarchlab/smsim/workloads"
)

// Inputs of a run, as smsim validate names them.
const (
	inputPTX  = "ptx"
	inputSASS = "sass"
)

func inputOf(f *workloads.KernelFile) string {
	if f.IsListing() {
		return inputSASS
	}
	return inputPTX
}

// inputName names an input in a report.
func inputName(input string) string {
	if input == inputSASS {
		return "machine code"
	}
	return "PTX"
}

// measuredArch is the architecture whose kernels were timed on hardware, an H200.
const measuredArch = "sm_90"

// unseen is the error of the cycles of real kernels that were written and measured after the model, per cent of the measured cycles:
// the 785 launches of study/validate/testdata/heldout4 to heldout8 at first sight, caches warm and cold; and the mean error of the
// ratio of two variants' cycles, of heldout5. It is what a kernel of somebody else's can expect, unlike the errors in
// docs/validation.md of kernels that the model has seen.
var unseen = map[string]struct{ median, mean, ratio string }{
	inputSASS: {"2 to 4 %", "4 to 7 %", "4 to 5 %"},
	inputPTX:  {"4 to 7 %", "7 to 14 %", "14 to 15 %"},
}

// RestsOn says what a report's numbers rest on: the confidence of the architectures' numbers, and the error of the way from the kernel
// files to cycles, and to speed-ups if the report gives some. It is "" if nothing ran.
func RestsOn(rep *Report, speedUps bool) string {
	c := confidence(rep)
	if c == "" {
		return ""
	}
	return confidenceWords(c, ownNumbers(rep)) + " " + inputWords(rep, speedUps)
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

// ownNumbers are the keys of the user's own numbers that some run could feel.
func ownNumbers(rep *Report) []string {
	var keys []string
	for i := range rep.Runs {
		for _, k := range rep.Runs[i].OwnNumbers {
			if !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
		}
	}
	return keys
}

// confidenceWords explains the confidence of a report: where the timing of the instructions comes from that make up the kernels (sim.Result.Confidence).
func confidenceWords(c string, own []string) string {
	s := "Confidence: " + c + ". The timing of "
	switch {
	case c == "measured":
		return s + "the instructions that make up the kernel was measured on hardware for this model."
	case c == "published":
		return s + "some instructions that make up the kernel comes from documents or others' measurements."
	case c == "derived":
		return s + "some instructions that make up the kernel is inferred from published or measured numbers of this or a neighbouring generation."
	case len(own) > mostNamed:
		return fmt.Sprintf("Confidence: %s. It rests on %d numbers of your own, such as %s.", c, len(own), own[0])
	case len(own) > 0:
		return fmt.Sprintf("Confidence: %s. It rests on numbers of your own: %s.", c, strings.Join(own, ", "))
	}
	return s + "some instructions that make up the kernel is assumed (smsim arch show NAME lists them); treat differences that hang on them with care."
}

// mostNamed bounds the architectures, and the keys, that are named in the sentence.
const mostNamed = 6

// inputWords gives the measured error of cycles for the kinds of kernel files that ran, and that of speed-ups where there are some.
func inputWords(rep *Report, speedUps bool) string {
	where := "on an H200"
	switch others := slices.DeleteFunc(rep.Archs(), func(a string) bool { return a == measuredArch }); {
	case len(others) > mostNamed:
		where = "on an H200; no kernel was timed on other architectures"
	case len(others) > 0:
		where = "on an H200; no kernel was timed on " + strings.Join(others, ", ")
	}
	s, p := unseen[inputSASS], unseen[inputPTX]
	if !slices.ContainsFunc(rep.Runs, func(r Run) bool { return r.Input == inputPTX }) {
		ratio := ""
		if speedUps {
			ratio = ", speed-ups by " + s.ratio
		}
		return fmt.Sprintf("From machine code, the cycles of kernels that the model had not seen were off by %s in the median, %s on average%s (%s).",
			s.median, s.mean, ratio, where)
	}
	ratio := ""
	if speedUps {
		ratio = fmt.Sprintf(", speed-ups by %s and %s", p.ratio, s.ratio)
	}
	return fmt.Sprintf("From PTX, whose instructions and their order smsim chooses in place of ptxas, the cycles of kernels that the model had not seen "+
		"were off by %s in the median, %s on average, from machine code by %s and %s%s (%s).", p.median, p.mean, s.median, s.mean, ratio, where)
}
