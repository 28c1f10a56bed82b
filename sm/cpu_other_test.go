//go:build !unix

package sm

import "time"

var started = time.Now()

// cpuTime is wall time where processor time is not at hand.
func cpuTime() time.Duration { return time.Since(started) }
