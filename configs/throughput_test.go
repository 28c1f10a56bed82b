package configs

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sarchlab/smsim/isa"
)

// throughputRows maps the rows of NVIDIA's arithmetic throughput table (as collected in
// testdata/throughput.csv) to the classes that carry them out; the first that a target has counts.
var throughputRows = map[string][]string{
	"fp16_add_mul_fma":                                 {"hfma2"},
	"fp32_add_mul_fma":                                 {"ffma"},
	"fp64_add_mul_fma":                                 {"dfma"},
	"mufu_rcp_rsqrt_lg2_ex2_sin_cos":                   {"mufu"},
	"int32_add_sub_addc_subc":                          {"iadd", "iadd3"},
	"int32_compare_min_max":                            {"imnmx", "isetp"},
	"int32_mul_mad_lo (IMAD/IMUL)":                     {"imad"},
	"int32_mul_hi / mul.wide / extended-precision mad": {"imad_hi"},
	"int24_mul (__[u]mul24)":                           {"imul24"},
	"int32_shift":                                      {"shf"},
	"funnel_shift (shf)":                               {"shf"},
	"int32_and_or_xor":                                 {"lop"},
	"int32_bit_reverse":                                {"brev", "bfe"},
	"bit_field_extract_insert":                         {"bfe"},
	"count_leading_zeros / find_msb (FLO)":             {"flo"},
	"population_count":                                 {"popc"},
	"warp_shuffle":                                     {"shfl"},
	"warp_reduce (redux.sync)":                         {"redux"},
	"warp_vote":                                        {"vote"},
	"sum_of_abs_diff (sad)":                            {"vabsdiff"},
	"simd_video_vabsdiff2":                             {"vabsdiff4"}, // VABSDIFF2 has that class
	"simd_video_vabsdiff4":                             {"vabsdiff4"},
	"simd_video_other":                                 {"video4", "video"},
	"conv_8_16bit_int_to_32bit":                        {"i2i"},
	"conv_other (I2F F2I ...)":                         {"f2i"},
	"dp4a (IDP.4A)":                                    {"idp"},
	"dp2a (IDP.2A)":                                    {"idp"},
	"prmt":                                             {"prmt"},
	"lop3":                                             {"lop"},
	"xmad":                                             {"xmad"},
	"shared_load_32bit_threads":                        {"lds"},
	"lsu_issue (LD/ST thread-slots)":                   {"ldg"},
	"barrier_syncthreads":                              {"bar"},
	"dpx___viaddmax_s32":                               {"viaddmnmx"},
	"dpx___viaddmax_s32_relu":                          {"viaddmnmx"},
	"dpx___viaddmax_s16x2":                             {"viaddmnmx"},
	"dpx___viaddmax_s16x2_relu":                        {"viaddmnmx"},
	"dpx___vimax3_s32":                                 {"vimnmx3"},
	"dpx___vimax3_s32_relu":                            {"vimnmx3"},
	"dpx___vimax3_s16x2":                               {"vimnmx3"},
	"dpx___vimax3_s16x2_relu":                          {"vimnmx3"},
}

// sequenceRows are rates of instruction sequences, not of one class.
var sequenceRows = []string{"conv_to_from_64bit", "match.any (MATCH)", "dpx_guide_note", "dpx___vimax_s32_relu", "dpx___vimax_s16x2_relu", "dpx___vibmax_s32"}

var cellNumber = regexp.MustCompile(`^(~|<=)?(\d+(?:\.\d+)?)`)

// modelRate is what the architecture gives for a row of the table; ok is false when no class does it.
func modelRate(a *Arch, row string, classes []string) (string, float64, bool) {
	if row == "simd_video_vabsdiff2" && !isa.OpVABSDIFF2.OnTarget(a.SMNumber()) {
		return "", 0, false
	}
	for _, name := range classes {
		c, known := isa.ClassByName(name)
		if !known {
			panic("no class " + name)
		}
		rate, ok := a.Throughput(c)
		if !ok {
			continue
		}
		switch row {
		case "fp16_add_mul_fma": // two halves a lane; HFMA2.MMA adds its own pipe
			if m, ok := a.Classes["hfma2_mma"]; ok && len(a.Classes["hfma2"].Pipe) == 1 && m.Pipe[0] != a.Classes["hfma2"].Pipe[0] {
				extra, _ := a.Throughput(isa.ClassHFMA2MMA)
				rate += extra
			}
			rate *= 2
		case "barrier_syncthreads":
			rate = 32 / a.Control.BarPerWarp
		}
		return name, rate, true
	}
	return "", 0, false
}

// TestThroughputTable compares the rate of every class of every architecture with the published table. Each
// difference must stand in testdata/throughput_conflicts.csv with the value and the reason, and each line
// there must be a difference.
func TestThroughputTable(t *testing.T) {
	type key struct{ row, cc string }
	conflicts := map[key]map[string]string{}
	for _, c := range readTable(t, "testdata/throughput_conflicts.csv") {
		for _, cc := range strings.Fields(c["cc"]) {
			conflicts[key{c["op_class"], cc}] = c
		}
		if c["reason"] == "" {
			t.Errorf("conflict %s %s has no reason", c["op_class"], c["cc"])
		}
	}
	sequences := strings.Join(sequenceRows, "\n")
	archs := map[string]*Arch{}
	for _, name := range List() {
		a := load(t, name)
		archs[a.ComputeCapability] = a
	}
	compared := 0
	for _, row := range readTable(t, "testdata/throughput.csv") {
		op := row["op_class"]
		classes, ok := throughputRows[op]
		if !ok {
			if !strings.Contains(sequences, op) {
				t.Errorf("row %q of the table is not mapped", op)
			}
			continue
		}
		for cc, cell := range row {
			a, isArch := archs[cc]
			if !isArch || cell == "" {
				continue
			}
			class, rate, has := modelRate(a, op, classes)
			if !has && strings.HasPrefix(op, "dpx") {
				continue // before 9.0 these are rates of sequences
			}
			agrees := !has
			if m := cellNumber.FindStringSubmatch(cell); m != nil {
				want, _ := strconv.ParseFloat(m[2], 64)
				agrees = has && (rate == want || m[1] == "<=" && rate <= want)
			}
			compared++
			c, listed := conflicts[key{op, cc}]
			got := "none"
			if has {
				got = fmt.Sprintf("%g", rate)
			}
			delete(conflicts, key{op, cc})
			switch {
			case !agrees && !listed:
				t.Errorf("%s: %s (class %s) gives %s results a clock an SM, the table has %q", a.Name, op, class, got, cell)
			case agrees && listed:
				t.Errorf("%s: %s agrees with the table (%s); take it off the list of conflicts", a.Name, op, got)
			case listed && c["model"] != got:
				t.Errorf("%s: %s gives %s, the list of conflicts says %s", a.Name, op, got, c["model"])
			}
		}
	}
	for k := range conflicts {
		t.Errorf("conflict %s %s is not in the table", k.row, k.cc)
	}
	if compared < 600 {
		t.Errorf("only %d cells compared", compared)
	}
}
