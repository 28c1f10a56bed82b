package configs

import "strings"

// Unit is the unit of the number with a key, for axes of pictures: "cycles" (of the SM's clock), "bytes" or "bytes a cycle", as
// the last part of the key says; "" for counts, shares, words, and numbers whose key does not say it.
func Unit(key string) string {
	name := key[strings.LastIndexByte(key, '.')+1:]
	switch {
	case strings.Contains(name, "bytes_per_cycle"):
		return "bytes a cycle"
	case strings.Contains(name, "bytes"):
		return "bytes"
	case strings.Contains(name, "latency"), strings.HasSuffix(name, "interval"), strings.HasSuffix(name, "_hold"):
		return "cycles"
	}
	return ""
}
