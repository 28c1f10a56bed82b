package configs

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/sarchlab/smsim/isa"
)

// fault is something wrong with a decoded architecture: the dotted path of the value and a message.
type fault struct{ path, message string }

// bounds is the range of a number, both ends included.
type bounds struct{ low, high float64 }

const unlimited = 1e9

// limits holds the ranges that differ from the usual 0 to 1e9. A path element * stands for any row.
var limits = map[string]bounds{
	"sm.sub_partitions":           {1, 16},
	"sm.issue_interval":           {1, 16},
	"sm.issue_width":              {1, 2},
	"sm.predicate_latency":        {1, 1000},
	"sm.branch_predicate_latency": {1, 1000},
	"sm.guard_latency":            {1, 1000},

	"occupancy.max_warps":                {1, 256},
	"occupancy.max_blocks":               {1, 256},
	"occupancy.max_threads":              {32, 8192},
	"occupancy.max_threads_per_block":    {1, 4096},
	"occupancy.registers":                {1, 1 << 24},
	"occupancy.max_registers_per_block":  {1, 1 << 24},
	"occupancy.max_registers_per_thread": {1, 255},
	"occupancy.register_unit":            {1, 1 << 16},
	"occupancy.warp_granularity":         {1, 64},
	"occupancy.launch_warp_granularity":  {1, 64},
	"occupancy.shared_unit":              {1, 1 << 16},
	"occupancy.max_barriers_per_block":   {1, 64},

	"register_file.banks":      {1, 16},
	"register_file.read_ports": {1, 16},

	"classes.*.issue_interval": {1, 10000},
	"classes.*.latency":        {1, 100000},

	"fetch.line_bytes":          {8, 4096},
	"fetch.buffer":              {1, 64},
	"fetch.l1_bytes_per_cycle":  {0.01, unlimited},
	"fetch.l15_bytes_per_cycle": {0.01, unlimited},
	"fetch.l2_bytes_per_cycle":  {0.01, unlimited},

	"control_flow.branch_taken": {1, 10000},

	"lsu.queue_depth":           {1, 10000},
	"lsu.lg_queue_depth":        {1, 10000},
	"lsu.shared_banks":          {1, 128},
	"lsu.bank_bytes":            {1, 64},
	"lsu.shared_latency":        {1, 100000},
	"lsu.shared_latency_64":     {1, 100000},
	"lsu.shared_latency_128":    {1, 100000},
	"lsu.shared_atomic_latency": {1, 100000},
	"lsu.local_latency":         {1, 100000},
	"lsu.constant_latency":      {1, 100000},
	"lsu.constant_miss":         {1, 100000},
	"lsu.constant_miss_l2":      {1, 100000},
	"lsu.l1_latency":            {1, 100000},
	"lsu.l1_line_bytes":         {4, 4096},
	"lsu.sector_bytes":          {4, 4096},
	"lsu.l1_ways":               {1, 4096},
	"lsu.l1_tags_per_cycle":     {1, 128},
	"lsu.l1_bytes_per_cycle":    {1, 4096},
	"lsu.l1_old_lines":          {0, 1 << 20},
	"lsu.l1_old_line_cycles":    {0, 1 << 10},
	"lsu.misses_in_flight":      {1, 1 << 20},
	"lsu.store_bytes_per_cycle": {1, 4096},

	"memory.l2_latency":                   {1, 1e6},
	"memory.l2_far_share":                 {0, 1},
	"memory.dram_latency":                 {1, 1e6},
	"memory.atomic_latency":               {1, 1e6},
	"memory.l2_bytes_per_cycle":           {0.01, unlimited},
	"memory.l2_bytes_per_cycle_all":       {0.01, unlimited},
	"memory.dram_queues_all":              {0, 1024},
	"memory.l2_request_all":               {0, 100},
	"memory.l2_request_queues":            {0, 1024},
	"memory.l2_array_bytes_per_cycle_all": {0, unlimited},
	"memory.l2_slices":                    {0, 4096},
	"memory.dram_write_batch":             {0, 4096},
	"memory.block_neighbours":             {0, 64},
	"memory.dram_atom_bytes":              {0, 128},
	"memory.dram_lone_atom_all":           {0, 100},
	"memory.dram_row_open":                {0, 1e6},
	"memory.l2_array_read":                {0, 1},
	"memory.l2_partial_write":             {0, 100},
	"memory.l2_dirty_share":               {0, 1},
	"memory.l2_array_queues":              {0, 1024},
	"memory.l2_store_queue":               {0, 1 << 20},
	"memory.l2_drain_queue":               {0, 1 << 20},
	"memory.dram_bytes_per_cycle":         {0.01, unlimited},
	"memory.l2_line_bytes":                {4, 4096},
}

// words holds the allowed words of a text value.
var words = map[string][]string{
	"warp_scheduler":           {"gty", "gto", "lrr"},
	"occupancy.register_scope": {"warp", "block"},
	"pipes.*.per":              {"sub_partition", "sm"},
	"pipes.*.stall":            stallNames,
}

// stallNames are the warp states that a busy pipe can put a warp into, in Nsight Compute's words.
var stallNames = []string{"math_pipe_throttle", "mio_throttle", "lg_throttle", "tex_throttle", "dispatch_stall"}

var confidences = []string{string(Measured), string(Published), string(Derived), string(Assumed)}

// check finds the first thing that is wrong with an architecture, or nil.
func check(a *Arch) *fault {
	if f := checkValues(reflect.ValueOf(a).Elem(), "", ""); f != nil {
		return f
	}
	for _, part := range []func(*Arch) *fault{checkIdentity, checkOccupancy, checkShape, checkClasses, checkTimes, checkMemory, checkOrder} {
		if f := part(a); f != nil {
			return f
		}
	}
	return nil
}

// checkValues checks ranges, words and provenance of everything below v. pattern is path with * for row names.
func checkValues(v reflect.Value, path, pattern string) *fault {
	switch v.Kind() {
	case reflect.Struct:
		for _, m := range members(v.Type()) {
			f := v.FieldByIndex(m.index)
			p, pp := join(path, m.name), join(pattern, m.name)
			if m.origin {
				if flt := checkOrigin(m.name, f.String(), p); flt != nil {
					return flt
				}
				continue
			}
			if flt := checkValues(f, p, pp); flt != nil {
				return flt
			}
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, k := range keys {
			if flt := checkValues(v.MapIndex(k), path+"."+k.String(), pattern+".*"); flt != nil {
				return flt
			}
		}
	case reflect.Int:
		return checkNumber(float64(v.Int()), path, pattern)
	case reflect.Float64:
		return checkNumber(v.Float(), path, pattern)
	case reflect.Slice:
		for i := range v.Len() {
			if e := v.Index(i); e.Kind() == reflect.Int {
				if flt := checkNumber(float64(e.Int()), path, pattern); flt != nil {
					return flt
				}
			}
		}
	case reflect.String:
		if allowed, ok := words[pattern]; ok && !slices.Contains(allowed, v.String()) {
			return &fault{path, fmt.Sprintf("%s: %q is not one of %s", path, v.String(), strings.Join(allowed, ", "))}
		}
	}
	return nil
}

// formatNumber writes a number with all its digits and no exponent.
func formatNumber(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// boundsOf are the limits of the number with a key, given with * for row names.
func boundsOf(pattern string) bounds {
	if b, ok := limits[pattern]; ok {
		return b
	}
	return bounds{0, unlimited}
}

func checkNumber(x float64, path, pattern string) *fault {
	b := boundsOf(pattern)
	if !(x >= b.low && x <= b.high) { // nor is it a number if it is neither
		if x < b.low && b.high >= unlimited {
			return &fault{path, fmt.Sprintf("%s: %s is out of range: at least %s", path, formatNumber(x), formatNumber(b.low))}
		}
		return &fault{path, fmt.Sprintf("%s: %s is out of range: %s to %s", path, formatNumber(x), formatNumber(b.low), formatNumber(b.high))}
	}
	return nil
}

func checkOrigin(name, text, path string) *fault {
	switch {
	case name == "source" && strings.TrimSpace(text) == "":
		return &fault{path, path + ": say where the numbers come from"}
	case name == "confidence" && !slices.Contains(confidences, text):
		return &fault{path, fmt.Sprintf("%s: %q is not one of %s", path, text, strings.Join(confidences, ", "))}
	}
	return nil
}

func checkOccupancy(a *Arch) *fault {
	o := a.Occupancy
	switch {
	case o.MaxThreads > 32*o.MaxWarps:
		return &fault{"occupancy.max_threads", fmt.Sprintf("occupancy.max_threads: %d threads do not fit into %d warps", o.MaxThreads, o.MaxWarps)}
	case o.MaxThreadsBlock > o.MaxThreads:
		return &fault{"occupancy.max_threads_per_block", fmt.Sprintf("occupancy.max_threads_per_block: %d is more than the SM's %d threads", o.MaxThreadsBlock, o.MaxThreads)}
	case o.SharedBlock > o.SharedBytes:
		return &fault{"occupancy.shared_bytes_per_block", fmt.Sprintf("occupancy.shared_bytes_per_block: %d is more than the SM's %d bytes", o.SharedBlock, o.SharedBytes)}
	case o.SharedBlockOptin+o.SharedReserved > o.SharedBytes:
		return &fault{"occupancy.shared_bytes_per_block_optin", fmt.Sprintf(
			"occupancy.shared_bytes_per_block_optin: %d and %d reserved are more than the SM's %d bytes", o.SharedBlockOptin, o.SharedReserved, o.SharedBytes)}
	case len(o.RegCountsCoarse) > 0 && o.RegUnitCoarse < 1:
		return &fault{"occupancy.register_unit_coarse", "occupancy.register_unit_coarse: give the unit of the listed register counts"}
	case !slices.IsSorted(o.SharedCarveouts):
		return &fault{"occupancy.shared_carveouts", "occupancy.shared_carveouts: must ascend"}
	case len(o.SharedCarveouts) > 0 && o.SharedCarveouts[len(o.SharedCarveouts)-1] > o.SharedBytes:
		return &fault{"occupancy.shared_carveouts", fmt.Sprintf("occupancy.shared_carveouts: the largest is more than the SM's %d bytes", o.SharedBytes)}
	}
	return nil
}

// checkClasses makes sure that every class of the target has a row and every row names existing pipes.
func checkClasses(a *Arch) *fault {
	pipes := slices.Sorted(maps.Keys(a.Pipes))
	for _, name := range slices.Sorted(maps.Keys(a.Classes)) {
		row, path := a.Classes[name], "classes."+name
		if len(row.Pipe) == 0 {
			return &fault{path + ".pipe", fmt.Sprintf("%s.pipe: name the pipe, one of %s", path, strings.Join(pipes, ", "))}
		}
		for _, p := range row.Pipe {
			if _, ok := a.Pipes[p]; !ok {
				return &fault{path + ".pipe", suggest(fmt.Sprintf("%s.pipe: no pipe %q", path, p), p, pipes)}
			}
		}
		for _, p := range row.Holds {
			if _, ok := a.Pipes[p]; !ok {
				return &fault{path + ".holds", suggest(fmt.Sprintf("%s.holds: no pipe %q", path, p), p, pipes)}
			}
		}
		if row.SharedPipe != "" {
			_, ok := a.Pipes[row.SharedPipe]
			switch {
			case !ok:
				return &fault{path + ".shared_pipe", suggest(fmt.Sprintf("%s.shared_pipe: no pipe %q", path, row.SharedPipe), row.SharedPipe, pipes)}
			case row.SharedHold < 1:
				return &fault{path + ".shared_hold", fmt.Sprintf("%s.shared_hold: give the cycles that it holds %s, at least 1", path, row.SharedPipe)}
			}
		}
	}
	var missing []string
	for c, on := range targetClasses(a.SMNumber()) {
		if _, ok := a.Classes[isa.Class(c).String()]; on && !ok {
			missing = append(missing, isa.Class(c).String())
		}
	}
	if len(missing) > 0 {
		return &fault{"compute_capability", fmt.Sprintf("classes: compute capability %s has opcodes of class %s, but there is no row for it", a.ComputeCapability, strings.Join(missing, ", "))}
	}
	return nil
}

func checkMemory(a *Arch) *fault {
	l, m := a.LSU, a.Memory
	switch {
	case m.L2LatencyFar != 0 && m.L2LatencyFar < m.L2Latency:
		return &fault{"memory.l2_latency_far", fmt.Sprintf("memory.l2_latency_far: %d is less than the near latency memory.l2_latency, %d; "+
			"change both, for example --set memory.l2_latency_far=%d", m.L2LatencyFar, m.L2Latency, m.L2Latency)}
	case m.DRAMLatency < m.L2Latency:
		return &fault{"memory.dram_latency", fmt.Sprintf("memory.dram_latency: %d is less than memory.l2_latency %d; set memory.dram_latency too, to %d or more", m.DRAMLatency, m.L2Latency, m.L2Latency)}
	case m.L2Latency < l.L1Latency && l.L1CachesGlobal:
		return &fault{"memory.l2_latency", fmt.Sprintf("memory.l2_latency: %d is less than lsu.l1_latency %d; set memory.l2_latency too, to %d or more", m.L2Latency, l.L1Latency, l.L1Latency)}
	case l.L1LineBytes%l.SectorBytes != 0:
		return &fault{"lsu.l1_line_bytes", fmt.Sprintf("lsu.l1_line_bytes: %d is no multiple of the sector of %d bytes", l.L1LineBytes, l.SectorBytes)}
	}
	return nil
}
