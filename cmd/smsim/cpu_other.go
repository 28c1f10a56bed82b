//go:build !unix

package main

// cpuSeconds is 0 where the system does not tell the CPU time of a process in a portable way.
func cpuSeconds() float64 { return 0 }
