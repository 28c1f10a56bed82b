package configs

import (
	"slices"
	"strconv"
)

// order is a pair of keys of which the first cannot be more than the second: what is farther away takes longer, and a
// share is no more than the whole.
type order struct{ low, high string }

// orders are the pairs that hold on the architecture.
func (a *Arch) orders() []order {
	out := []order{
		{"memory.l2_latency", "memory.dram_latency"},
		{"lsu.constant_latency", "lsu.constant_miss"},
		{"lsu.constant_miss", "lsu.constant_miss_l2"},
		{"memory.l2_bytes_per_cycle_all", "memory.l2_bytes_per_cycle"},
		{"memory.dram_bytes_per_cycle_all", "memory.dram_bytes_per_cycle"},
	}
	if a.Memory.L2LatencyFar != 0 {
		out = append(out, order{"memory.l2_latency", "memory.l2_latency_far"})
	}
	if a.LSU.L1CachesGlobal {
		out = append(out, order{"lsu.l1_latency", "memory.l2_latency"})
	}
	return out
}

// follow gives further overrides that a question such as "twice the L2 latency" implies: keys that may not be less (or
// not be more) than a changed one go with it as far as they must. Keys that are set stay as they are, so that settings
// which contradict each other are still refused. The architecture is the unchanged one.
func (a *Arch) follow(set []Override) []Override {
	moved, value := map[string]bool{}, map[string]float64{}
	orders := a.orders()
	for _, o := range orders {
		for _, k := range []string{o.low, o.high} {
			text, err := a.value(Override{Key: k})
			if err != nil {
				continue
			}
			value[k], _ = strconv.ParseFloat(text, 64)
			for _, s := range set {
				if a.resolveAlias(s.Key) != k {
					continue
				}
				moved[k] = true
				if scaled, ok := Scaled(s.Value, text); ok {
					s.Value = scaled
				}
				// What its own limits refuse is followed by nothing: the error is then of the key that was set.
				if v, err := strconv.ParseFloat(s.Value, 64); err == nil && v >= boundsOf(k).low && v <= boundsOf(k).high {
					value[k] = v
				}
			}
		}
	}
	var out []Override
	follow := func(key string, v float64) {
		moved[key], value[key] = true, v
		out = append(out, Override{Key: key, Value: formatNumber(v)})
	}
	for again := true; again; {
		again = false
		for _, o := range orders {
			// A key that nobody moved is not touched for one that nobody moved either.
			if value[o.low] <= value[o.high] || moved[o.low] == moved[o.high] {
				continue
			}
			again = true
			if moved[o.low] {
				follow(o.high, value[o.low])
			} else {
				follow(o.low, value[o.high])
			}
		}
	}
	slices.SortFunc(out, func(x, y Override) int {
		if x.Key < y.Key {
			return -1
		}
		return 1
	})
	return out
}
