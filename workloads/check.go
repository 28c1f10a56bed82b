package workloads

import (
	"fmt"
	"strings"

	"github.com/sarchlab/smsim/isa"
)

// Verdict is the outcome of comparing a run's output with what is expected.
type Verdict struct {
	Status string // passed, failed or none
	Note   string // what was compared, the first mismatch, or why nothing was
}

// Statuses of a verdict.
const (
	Passed  = "passed"
	Failed  = "failed"
	NoCheck = "none"
)

// NeedsWhole says that some expectation of the case is about a whole buffer, so that every block must have run.
func (c *Case) NeedsWhole() bool {
	for i := range c.Expect {
		if c.Expect[i].needsWhole() {
			return true
		}
	}
	return false
}

// CoversBlocks says that for every block that ran some expectation has a checksum.
func (c *Case) CoversBlocks(ran []int) bool {
	for _, b := range ran {
		covered := false
		for i := range c.Expect {
			covered = covered || c.Expect[i].Blocks[b] != nil
		}
		if !covered {
			return false
		}
	}
	return true
}

// Check compares the buffers (in argument order, as NewLaunch gave them) with the expectations. ran lists the blocks
// that were executed; complete says that these are all blocks of the grid.
func (c *Case) Check(bufs []*isa.Buffer, ran []int, complete bool) Verdict {
	if len(c.Expect) == 0 {
		return Verdict{NoCheck, "no expected output is given"}
	}
	blocks, whole := 0, 0
	for i := range c.Expect {
		e := &c.Expect[i]
		data := c.buffer(bufs, e.Buffer)
		n, mismatch := e.checkBlocks(data, ran)
		if mismatch == "" && e.needsWhole() && complete {
			mismatch = e.checkWhole(data)
			whole++
		}
		if mismatch != "" {
			return Verdict{Failed, mismatch}
		}
		blocks += n
	}
	var parts []string
	if whole > 0 {
		parts = append(parts, "the whole output")
	}
	if blocks > 0 {
		parts = append(parts, fmt.Sprintf("the output of %d of %s simulated", blocks, count(len(ran), "block")))
	}
	if parts == nil {
		return Verdict{NoCheck, "the expected values need blocks that did not run"}
	}
	return Verdict{Passed, strings.Join(parts, " and ") + " as expected, bit for bit"}
}

func (c *Case) buffer(bufs []*isa.Buffer, name string) []byte {
	for i := range c.Args {
		if c.Args[i].Name == name && bufs[i] != nil {
			return bufs[i].Data
		}
	}
	panic("workloads: expectation of an unknown buffer passed validation: " + name)
}
