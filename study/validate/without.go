package validate

import (
	"fmt"

	"github.com/sarchlab/smsim/configs"
)

// Mechanism is a part of the model that can be switched off, to see what it is worth.
type Mechanism struct {
	Name string
	What string // what no longer happens
	keys []string
}

// mechanisms are switched off by values of the architecture that leave them nothing to do.
var mechanisms = [...]Mechanism{
	{"register_banks", "operands are read without bank conflicts", []string{"register_file.read_ports=8"}},
	{"reuse_cache", "reuse flags save no register read", []string{"register_file.reuse_cache=false"}},
	{"operand_ports", "second passes hold no operand ports", []string{"register_file.free_ports=true"}},
	{"register_operands", "a second register costs SHFL nothing, registers of a block S2R neither", []string{"classes.shfl.register_operand=0", "classes.s2r.warp_register=0"}},
	{"predicate_results", "a predicate of SHFL comes with its register", []string{"classes.shfl.predicate_result=0"}},
	{"unit_queue", "constants and block registers wait with memory instructions", []string{"pipes.adu.queue=0"}},
	{"special_register_units", "all special registers come from one unit", []string{"classes.s2r.shared_pipe=adu"}},
	{"cross_pipe_latency", "results cross between pipes at no cost", []string{"sm.cross_pipe_latency=0"}},
	{"scheduler", "warps take turns at every instruction", []string{"warp_scheduler=lrr"}},
	{"turn_memory", "a warp that passed its turn comes behind the others for good", []string{"sm.pass_issues=1048576"}},
	{"block_order", "warps take turns whatever their block", []string{"sm.block_order=false"}},
	{"instruction_fetch", "all code is in the first instruction cache", []string{"fetch.l0_bytes=16777216", "fetch.l1_bytes=16777216", "fetch.l15_bytes=16777216"}},
	{"launch_prefetch", "a cold launch starts without code", []string{"fetch.launch_prefetch_bytes=0"}},
	{"branch_cost", "a taken branch costs one cycle", []string{"control_flow.branch_taken=1", "control_flow.branch_port=0",
		"control_flow.branch_overlap=0", "control_flow.branch_apart=0", "control_flow.register_return=0", "fetch.chunk_bytes=0"}},
	{"branch_overlap", "branches of two warps do not disturb each other", []string{"control_flow.branch_overlap=0", "control_flow.branch_apart=0"}},
	{"fetch_chunks", "targets of branches and warps in line get their instructions side by side", []string{"fetch.chunk_bytes=0"}},
	{"indexed_turns", "indexed branches of two warps do not disturb each other", []string{"control_flow.indexed_port=0"}},
	{"convergence_turns", "turns to other paths and jumps to registers do not hold their unit", []string{"control_flow.turn_hold=0"}},
	{"convergence_unit", "BSSY and BSYNC issue every cycle", []string{"classes.bssy.issue_interval=1", "classes.bsync.issue_interval=1"}},
	{"branch_predicate", "a branch sees its predicate like any other instruction", []string{"sm.branch_predicate_latency=4", "sm.guard_latency=4"}},
	{"divergence_cost", "divergence and reconvergence cost nothing", []string{"control_flow.reconverge=0", "control_flow.diverged_path=0",
		"control_flow.older_path=0", "control_flow.warpsync_wait=0", "control_flow.break_leave=0", "control_flow.indexed_branch=0"}},
	{"barrier_cost", "block barriers open at once", []string{"control_flow.bar_base=0", "control_flow.bar_per_warp=0", "control_flow.bar_reduction=0"}},
	{"mio_queue", "the memory input/output queue never fills", []string{"pipes.mio.queue=64", "lsu.queue_depth=64", "lsu.lg_queue_depth=64"}},
	{"shared_banks", "shared memory takes one pass for any addresses", []string{"lsu.bank_bytes=64"}},
	{"l1_tags", "the L1 cache looks up any number of lines a cycle", []string{"lsu.l1_tags_per_cycle=32"}},
	{"l1_cache", "global loads go to L2", []string{"lsu.l1_caches_global=false"}},
	{"l1_spill", "a line that finds its set of L1 full replaces one of that set", []string{"lsu.l1_fixed_sets=true"}},
	{"store_combining", "stores of a warp to the same lines leave one by one", []string{"lsu.stores_apart=true"}},
	{"local_write_through", "local stores stay in L1", []string{"lsu.local_stays=true"}},
	{"miss_limit", "any number of misses can be outstanding", []string{"lsu.misses_in_flight=1048576"}},
	{"store_queue", "stores leave the SM at once", []string{"lsu.store_buffer=65536", "lsu.store_bytes_per_cycle=4096"}},
	{"constant_operands", "constant operands, loads of uniform registers and LDC share a first level", []string{"lsu.constant_operands_apart=false"}},
	{"constant_cache", "constants are a load's latency away at most", []string{"lsu.constant_operand_miss=1", "lsu.constant_uniform_miss=1", "lsu.constant_miss=25", "lsu.constant_miss_l2=25",
		"lsu.constant_module_miss=25", "lsu.constant_module_miss_cold=25", "lsu.constant_port_cycles=1", "lsu.constant_port_near_cycles=1"}},
	{"l2_bandwidth", "L2 answers at any rate", []string{"memory.l2_bytes_per_cycle=4096", "memory.l2_bytes_per_cycle_all=4096"}},
	{"l2_array", "L2's data array takes any number of writes", []string{"memory.l2_array_bytes_per_cycle_all=4096"}},
	{"partial_writes", "L2 writes parts of a sector like whole ones", []string{"memory.l2_partial_write=0"}},
	{"dirty_limit", "all of L2 can hold written data", []string{"memory.l2_dirty_share=1"}},
	{"atomic_slices", "one unit performs all atomics that SMs share", []string{"memory.l2_slices=1"}},
	{"dram_write_batch", "DRAM writes back sector by sector", []string{"memory.dram_write_batch=1"}},
	{"block_neighbours", "what other SMs ask a cold L2 for is not inferred", []string{"memory.block_neighbours=0"}},
	{"dram_rows", "DRAM brings halves of lines at the rate of whole ones", []string{"memory.dram_lone_atom_all=0"}},
	{"dram_atom", "DRAM brings single sectors", []string{"memory.dram_atom_bytes=32"}},
	{"l2_far", "all of L2 is near", []string{"memory.l2_far_share=0"}},
	{"l2_spread", "all lines of L2 are equally far", []string{"memory.l2_latency_spread=0"}},
	{"dram_bandwidth", "DRAM answers at any rate", []string{"memory.dram_bytes_per_cycle=4096", "memory.dram_bytes_per_cycle_all=4096"}},
}

// Mechanisms lists what can be switched off.
func Mechanisms() []Mechanism { return append([]Mechanism(nil), mechanisms[:]...) }

// without gives the overrides that switch a mechanism off; "" switches nothing off.
func without(name string) ([]configs.Override, error) {
	if name == "" {
		return nil, nil
	}
	var names []string
	for _, m := range mechanisms {
		names = append(names, m.Name)
		if m.Name != name {
			continue
		}
		var out []configs.Override
		for _, k := range m.keys {
			o, err := configs.ParseOverride(k)
			if err != nil {
				return nil, err
			}
			o.From = "--without " + name
			out = append(out, o)
		}
		return out, nil
	}
	return nil, fmt.Errorf("there is no mechanism %q; the mechanisms are %s", name, list(names))
}
