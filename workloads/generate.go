package workloads

import "encoding/binary"

// Fill writes the argument's content into an allocation of its size.
func (a *Arg) Fill(to []byte) {
	switch a.Buffer {
	case GenFile:
		copy(to, a.Data)
	case GenLCG:
		x := uint32(a.Seed)
		fillWords(to, func(int) uint32 {
			x = x*1664525 + 1013904223
			return x & a.Mask
		})
	case GenIota:
		fillWords(to, func(i int) uint32 { return (a.Value + uint32(i)) & a.Mask })
	case GenConst:
		fillWords(to, func(int) uint32 { return a.Value })
	case GenRandom:
		r := splitMix64(a.Seed)
		var pair uint64
		fillWords(to, func(i int) uint32 {
			if i%2 == 0 {
				pair = r.next()
			} else {
				pair >>= 32
			}
			return uint32(pair) & a.Mask
		})
	}
}

// fillWords writes little-endian 32-bit words; a tail of one to three bytes takes the low bytes of one more word.
func fillWords(to []byte, word func(i int) uint32) {
	n := len(to) / 4
	for i := range n {
		binary.LittleEndian.PutUint32(to[4*i:], word(i))
	}
	if tail := to[4*n:]; len(tail) > 0 {
		var w [4]byte
		binary.LittleEndian.PutUint32(w[:], word(n))
		copy(tail, w[:])
	}
}

// splitMix64 is the generator of Steele, Lea and Flood (OOPSLA 2014): a counter and a mixing function.
type splitMix64 uint64

func (s *splitMix64) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// FNV1a64 is the 64-bit FNV-1a checksum of the bytes, the one that the expected outputs are given in.
func FNV1a64(b []byte) uint64 {
	h := uint64(0xcbf29ce484222325)
	for _, c := range b {
		h = (h ^ uint64(c)) * 0x100000001b3
	}
	return h
}
