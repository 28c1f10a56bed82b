package validate

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// bufferBytes is the size of the data buffer of the micro kernels.
const bufferBytes = 4 << 30

// chain is a pointer chain that visits count elements, stride bytes apart, in random order and then begins again.
type chain struct {
	count, stride, seed uint64
}

// maxChain is the largest chain in elements: one of 64 bytes or more in the data buffer.
const maxChain = bufferBytes / 64

// parseChain reads chase:ELEMENTS:STRIDE:SEED; ok is false for a buffer of zeros.
func parseChain(init string) (c chain, ok bool, err error) {
	f := strings.Split(init, ":")
	if f[0] == "none" || f[0] == "" {
		return c, false, nil
	}
	if f[0] != "chase" || len(f) != 4 {
		return c, false, fmt.Errorf("buffer contents %q are not known; known: none, chase:ELEMENTS:STRIDE:SEED", init)
	}
	for i, p := range []*uint64{&c.count, &c.stride, &c.seed} {
		if *p, err = strconv.ParseUint(f[i+1], 10, 64); err != nil {
			return c, false, fmt.Errorf("buffer contents %q: %q is not a number", init, f[i+1])
		}
	}
	if c.count < 1 || c.count > maxChain || c.stride < 8 || c.count*c.stride > bufferBytes {
		return c, false, fmt.Errorf("buffer contents %q: the chain does not fit %d bytes", init, uint64(bufferBytes))
	}
	return c, true, nil
}

// write stores the chain's first steps links at the beginning of data, which lies at address base: as many as the kernel
// follows. The order is a random cycle (Sattolo's algorithm); which one, does not matter to the measurement.
func (c *chain) write(data []byte, base, steps uint64) {
	order := make([]uint32, c.count)
	for i := range order {
		order[i] = uint32(i)
	}
	rng := rand.New(rand.NewPCG(c.seed, c.count))
	for i := len(order) - 1; i > 0; i-- {
		j := rng.IntN(i)
		order[i], order[j] = order[j], order[i]
	}
	// The kernel starts at element 0; order[i] follows i.
	at := uint64(0)
	for range min(steps, c.count) {
		next := uint64(order[at])
		binary.LittleEndian.PutUint64(data[at*c.stride:], base+next*c.stride)
		at = next
	}
}
