package workloads

import (
	"encoding/binary"
	"fmt"
	"maps"
	"strconv"
	"strings"
)

// ConstWords are 32-bit words of a constant bank from a byte offset on.
type ConstWords struct {
	Bank   uint8
	Offset int
	Words  []uint32
}

// maxConstBank is the number of constant banks that instructions can name.
const maxConstBank = 32

// ParseConst reads BANK:OFFSET=WORD[,WORD...], such as 2:0=0x01010101 or 3:0x10=1,2,3. Bank 0 is the launch's own.
func ParseConst(s string) (ConstWords, error) {
	var c ConstWords
	place, values, ok := strings.Cut(s, "=")
	bank, offset, ok2 := strings.Cut(place, ":")
	if !ok || !ok2 || values == "" {
		return c, fmt.Errorf("%q is not BANK:OFFSET=WORD,..., such as 2:0=0x01010101", s)
	}
	b, err := strconv.ParseUint(bank, 0, 8)
	if err != nil || b == 0 || b >= maxConstBank {
		return c, fmt.Errorf("%q: the bank must be a number from 1 to %d: bank 0 holds the parameters", s, maxConstBank-1)
	}
	o, err := strconv.ParseUint(offset, 0, 16)
	if err != nil || o%4 != 0 {
		return c, fmt.Errorf("%q: the offset must be a multiple of 4 below 65536", s)
	}
	c.Bank, c.Offset = uint8(b), int(o)
	for _, w := range strings.Split(values, ",") {
		v, err := strconv.ParseInt(strings.TrimSpace(w), 0, 64)
		if err != nil || v < -1<<31 || v > 1<<32-1 {
			return c, fmt.Errorf("%q: %q is not a word of 32 bits", s, w)
		}
		c.Words = append(c.Words, uint32(v))
	}
	if c.Offset+4*len(c.Words) > 1<<16 {
		return c, fmt.Errorf("%q: a constant bank has 65536 bytes", s)
	}
	return c, nil
}

// AddConsts is the banks with the words stored in them; the given map and its slices stay as they are.
func AddConsts(banks map[uint8][]byte, consts []ConstWords) map[uint8][]byte {
	if len(consts) == 0 {
		return banks
	}
	out := maps.Clone(banks)
	if out == nil {
		out = map[uint8][]byte{}
	}
	for _, c := range consts {
		data := append([]byte(nil), out[c.Bank]...)
		if need := c.Offset + 4*len(c.Words); len(data) < need {
			data = append(data, make([]byte, need-len(data))...)
		}
		for i, w := range c.Words {
			binary.LittleEndian.PutUint32(data[c.Offset+4*i:], w)
		}
		out[c.Bank] = data
	}
	return out
}
