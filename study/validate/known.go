package validate

import "strings"

// executions of its operation by one chain of a form kernel: 16 in the body, 32 times, one warp (latency), and the instructions that
// 16 warps of four chains give a sub-partition, 4 warps x 4 chains x 8 in the body, 64 times (throughput). A kernel that takes fewer
// cycles than these does not execute its operation as often as its PTX says.
const (
	latencyExecutions    = 512
	throughputExecutions = 8192
)

// knownReason says why a row is off, as far as that is understood.
func knownReason(r *Result) string {
	if r.Set == "forms" || r.Set == "intrinsics" {
		n := float64(throughputExecutions)
		if strings.HasPrefix(r.Name, "L ") {
			n = latencyExecutions
		}
		switch {
		case r.Measured >= n:
		case r.Input == FromPTX:
			return "fewer cycles than executions: ptxas shortened the timed loop, the lowering here did not, or less"
		case r.Measured < 1000:
			return "ptxas removed the loop: a few instructions between two clock reads, tens of cycles of skew between the 16 warps"
		}
	}
	for _, k := range knownReasons {
		if r.Set == k.set && strings.HasPrefix(r.Group, k.group) && (k.input == "" || k.input == r.Input) {
			return k.reason
		}
	}
	if r.Input == FromPTX {
		return "the lowering chooses other instructions or another order than ptxas"
	}
	return "not understood"
}

// knownReasons explain errors by the kind of row. What begins with "not understood" names what is known.
var knownReasons = []struct {
	set, group string
	input      Input
	reason     string
}{
	{"surfaces", "ptx atoms", FromSASS, "not understood: lanes on one word, aggregated with VOTE, SHFL and a branch; with 5 to 7 warps sub-partitions get the load/store unit in turn, here in order of arrival"},
	{"surfaces", "ptx shfl", FromSASS, "5 to 7 warps: sub-partitions get the load/store unit in turn, here in order of arrival"},
	{"surfaces", "ptx ldc", FromSASS, "ULDC with an indexed address from many warps: its unit is not measured by itself"},
	{"surfaces", "", FromSASS, "not understood"},
	{"mixes", "2 IMAD.WIDE", FromSASS, "beside a transcendental instruction: both pipes are busy 8 of 8 cycles, the hardware needs 9, why is not known"},
	{"mixes", "", FromSASS, "IMAD.WIDE whose reads with two more instructions fill a register bank exactly: the order of the reads is a rule for one neighbour only"},
	{"registerfile", "IMAD.WIDE+IADD3", FromSASS, "three odd sources in each: 8 reads of a bank are counted, the hardware needs 7 cycles"},
	{"control", "icache", FromSASS, "many warps a sub-partition: how warps at different places of the code share fetched lines is modelled by their distance only"},
	{"control", "bra", FromSASS, "from three warps a sub-partition on, the fetch of targets slows branches more than the two-warp rule says"},
	{"control", "loop_lop3", FromSASS, "loops of a few instructions from several warps: as chains of branches"},
	{"control", "barand", FromSASS, "a barrier with a reduction: from 16 warps the result's reads queue longer here"},
	{"control", "barwarp", FromSASS, "not understood: four short rounds of NOPs, 3.5 cycles a round more on the hardware"},
	{"control", "membar", FromSASS, "from 24 warps a memory barrier of the chip takes more than the 3 cycles a warp modelled"},
	{"control", "div", FromSASS, "four warps a sub-partition: their changes of path disturb each other more"},
	{"control", "brx", FromSASS, "an indexed branch of many warps costs more for each target than from one warp; two targets less"},
	{"memory", "mlp", "", "measured with one batch of loads: a few cycles of latency spread are a large part"},
	{"memory", "stgburst", "", "issue time of a few stores: a difference of some cycles is a large part"},
	{"memory", "satomadd64", "", "a loop of compare-and-swap: the interleaving of the warps decides how many passes fail"},
	{"kernels_cold", "overhead", "", "an empty kernel: start and end of a launch are most of it"},
	{"kernels_warm", "overhead", "", "an empty kernel: start and end of a launch are most of it"},
}
