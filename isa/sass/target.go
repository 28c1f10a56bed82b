package sass

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// targets are the compute capabilities that machine code has been made for, times ten.
var targets = []int{10, 11, 12, 13, 20, 21, 30, 32, 35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 88, 89, 90, 100, 101, 103, 110, 120, 121}

var (
	reCode   = regexp.MustCompile(`\bcode for sm_(\d+)`)
	reTarget = regexp.MustCompile(`^\s*\.target\s+sm_(\d+)`)
	// reHeader leaves out the virtual target that the code was made from: EF_CUDA_VIRTUAL_SM(EF_CUDA_SM75).
	reHeader = regexp.MustCompile(`(?:^|[\s"])EF_CUDA_SM(\d+)`)
)

// targetState follows the lines that say for which target the code is. cuobjdump prints "code for sm_NN", ".target" and,
// within each function, ".headerflags"; nvdisasm prints ".headerflags" or ".target" in front of its sections. A file
// may hold several such listings, one behind the other.
type targetState struct {
	sm    int
	line  int  // that said so, counted from 1
	whole bool // "code for sm_NN": holds up to the next such line
	fresh bool // no function has begun since
}

// targetLine takes a line that names the target; taken is false for other lines. f is the open function or nil.
func (l *Listing) targetLine(ts *targetState, f *Function, s string, n int) (taken bool, err error) {
	if !strings.Contains(s, "sm_") && !strings.Contains(s, "EF_CUDA") {
		return false, nil
	}
	for _, re := range []*regexp.Regexp{reCode, reTarget, reHeader} {
		m := re.FindStringSubmatchIndex(s)
		if m == nil {
			continue
		}
		number := s[m[2]:m[3]]
		sm, err := strconv.Atoi(number)
		if err != nil || !slices.Contains(targets, sm) {
			return true, l.errorIn(n, m[2]+1, targetHint, "unknown target sm_%s: known are sm_%d to sm_%d", number, targets[0], targets[len(targets)-1])
		}
		head := re == reHeader && f != nil && len(f.Insts) == 0 // belongs to the function that has just begun
		if re != reCode && ts.sm != 0 && ts.sm != sm && (ts.whole || ts.fresh || head) {
			return true, l.errorIn(n, m[2]+1, "keep the code of one target, or begin each with its \"code for sm_NN\"",
				"target sm_%d contradicts sm_%d of line %d: the listing is damaged or was put together from two", sm, ts.sm, ts.line)
		}
		if ts.sm != sm || re == reCode {
			*ts = targetState{sm: sm, line: n, whole: re == reCode, fresh: !head}
		}
		if head {
			f.SM = sm
		}
		return true, nil
	}
	return false, nil
}
