package study

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/sim"
)

// unfelt says in a clause why a run cannot feel a key, "" where it can.
func unfelt(key string, r *Run) string {
	parts := strings.Split(key, ".")
	switch {
	case parts[0] == "classes" && len(parts) == 3:
		if !ran(r, parts[1]) {
			return fmt.Sprintf("no instruction of class %s runs in this kernel", parts[1])
		}
		return elsewhere(parts[1], parts[2])
	case parts[0] == "pipes" && len(parts) > 1:
		if p := pipe(r, parts[1]); p == nil || p.BusyCycles == 0 {
			return fmt.Sprintf("no instruction of this kernel uses the %s pipe", parts[1])
		}
	case !felt(parts[0], parts[len(parts)-1], r):
		return "nothing that it times happens in this kernel"
	}
	return ""
}

// pathKeys are the keys of a class row that the load/store path does not read: it books its own queue, port and array. (The pipe counts where two
// instructions issue together.)
var pathKeys = []string{"holds", "latency", "shared_pipe", "shared_hold", "predicated_off", "register_operand", "warp_register", "warp_pipe", "predicate_result"}

// elsewhere says that a key of a class row has no say in the time of its instructions, and which keys have; "" if it has. Such
// rows are there for the compiler, which orders instructions by them, and for tables.
func elsewhere(class, key string) string {
	c, ok := isa.ClassByName(class)
	switch {
	case !ok:
		return ""
	case c == isa.ClassLDC && key == "latency":
		return "how long a constant takes is lsu.constant_latency, lsu.constant_miss and lsu.constant_miss_l2"
	case !c.IsMemory() || !slices.Contains(pathKeys, key):
		return ""
	case c == isa.ClassLDS || c == isa.ClassSTS || c == isa.ClassATOMS:
		return fmt.Sprintf("the time of %s is in the keys of lsu, such as lsu.shared_latency", class)
	}
	return fmt.Sprintf("the time of %s is in the keys of lsu and memory, such as lsu.l1_latency and memory.l2_latency", class)
}

func ran(r *Run, classes ...string) bool {
	return slices.ContainsFunc(r.Classes, func(c sim.ClassCount) bool { return slices.Contains(classes, c.Class) })
}

// felt says whether anything happens in a run that a section's key is about.
func felt(section, key string, r *Run) bool {
	m := &r.Memory
	global := m.GlobalLoads+m.GlobalStores+m.LocalLoads+m.LocalStores+m.Atomics > 0
	shared := m.SharedLoads+m.SharedStores+m.SharedWavefronts > 0
	switch section {
	case "control_flow":
		switch {
		case strings.HasPrefix(key, "bar_"):
			return ran(r, "bar")
		case strings.HasPrefix(key, "membar"):
			return ran(r, "membar")
		case key == "nanosleep":
			return ran(r, "nanosleep")
		case key == "call_return":
			return ran(r, "call", "ret")
		}
	case "lsu":
		switch {
		case strings.HasPrefix(key, "constant"):
			return true
		case key == "local_latency":
			return m.LocalLoads+m.LocalStores > 0
		case strings.HasPrefix(key, "l1_") || strings.HasPrefix(key, "global_") || strings.HasPrefix(key, "miss") || key == "lg_queue_depth" || key == "sector_bytes":
			return global
		case strings.HasPrefix(key, "store_"):
			return m.GlobalStores+m.LocalStores+m.SharedStores+m.Atomics > 0
		case strings.HasPrefix(key, "shared_atomic"):
			return ran(r, "atoms")
		case strings.HasPrefix(key, "shared_") || strings.HasPrefix(key, "bank"):
			return shared
		}
		return global || shared
	case "memory":
		switch {
		case strings.Contains(key, "atomic") || strings.HasPrefix(key, "reduction"):
			return m.Atomics > 0
		case strings.HasPrefix(key, "dram"):
			return m.DRAMBytes > 0
		}
		return m.L2Sectors > 0 || global
	}
	return true
}
