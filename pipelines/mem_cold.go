package pipelines

import (
	"math"
	"slices"
)

// MemBuffer is an allocation of the launch's memory.
type MemBuffer struct {
	Addr, Bytes uint64
}

// coldShare is what DRAM has still to bring of some data for this SM. When the whole chip runs the launch and its data fits L2, each byte
// comes from DRAM once, for the SM that asks first. So an SM brings in its part of a buffer and no more; the rest of its misses find what
// others have brought in. (In the NCC kernels on a cold H200, whose SMs share the image, that is three misses in five.)
type coldShare struct {
	first, end  uint64  // addresses
	total, left int64   // bytes of this SM's part, and of these those that have not been brought in
	gathers     bool    // only gathers share: the launch as a whole does not fit L2, but what they look up again and again stays there
	missing     float64 // what is left as a part of the total, expected: without the steps of single misses
	due         float64 // own misses of gathers not yet counted
	draws       uint64  // made by farHit
}

// newColdShares divides the launch's data, buffer by buffer if they are known: a small table that all SMs gather from is in L2 long before a
// stream beside it has been read. (`csrvec`, `aos12`, `huff`, `spmv` and `hprobe` on a cold H200, where the table used up the share of the
// streams or the streams' that of the table: 12 to 26 % fast, or 35 % slow.)
func newColdShares(cfg *MemConfig) []coldShare {
	if !cfg.AllSMsActive || cfg.FootprintBytes == 0 {
		return nil
	}
	sms := int64(max(cfg.SMs, 1))
	fits := cfg.L2Bytes <= 0 || cfg.FootprintBytes <= uint64(cfg.L2Bytes)
	if len(cfg.Buffers) == 0 {
		if !fits {
			return nil
		}
		read := cfg.FootprintBytes
		if cfg.ReadBytes > 0 {
			read = min(read, cfg.ReadBytes)
		}
		return []coldShare{{end: math.MaxUint64, total: int64(read) / sms, left: int64(read) / sms, missing: 1}}
	}
	var out []coldShare
	for _, b := range cfg.Buffers {
		if fits || staysInL2(b.Bytes, cfg.L2Bytes) {
			part := int64(b.Bytes) / sms
			out = append(out, coldShare{first: b.Addr, end: b.Addr + b.Bytes, total: part, left: part, missing: 1, gathers: !fits})
		}
	}
	slices.SortFunc(out, func(a, b coldShare) int {
		if a.first < b.first {
			return -1
		}
		return 1
	})
	return out
}

// staysInL2 says whether a buffer that is looked up at random survives there what streams past it.
func staysInL2(bytes uint64, l2 int) bool { return float64(bytes) <= chipKeeps*float64(l2) }

// share is the part of the launch's data that an access belongs to, nil if each of its misses is this SM's own.
func (m *MemPath) share(line uint64, gather bool) *coldShare {
	at := line << m.par.lineShift
	i, found := slices.BinarySearchFunc(m.shares, at, func(s coldShare, at uint64) int {
		switch {
		case s.end <= at:
			return -1
		case s.first > at:
			return 1
		}
		return 0
	})
	if !found || m.shares[i].gathers && !gather {
		return nil
	}
	return &m.shares[i]
}

// ownMisses counts L2 misses of a read: how many of the sectors this SM has to get from DRAM itself. missing sectors were asked for,
// brought are those that DRAM would bring, at 64 bytes a time. The addresses of a gather are as likely to be another SM's as this one's,
// see gatherMisses.
func (m *MemPath) ownMisses(missing, brought int, s *coldShare, gather bool, t *MemTiming) (own int) {
	own = brought
	if s != nil && missing > 0 {
		part := float64(m.par.sectorBytes) / float64(max(s.total, 1)) // one sector of the share
		expected := float64(brought)
		if gather {
			expected *= s.missing
			own = s.gatherMisses(brought)
		}
		own = min(own, int(s.left/int64(m.par.sectorBytes)))
		s.left -= int64(own) * int64(m.par.sectorBytes)
		s.missing = max(s.missing-expected*part, 0)
	}
	t.L2SectorHits += max(missing-own, 0)
	t.DRAMBytes += own * int(m.par.sectorBytes)
	return own
}

// gatherMisses counts the sectors of a gather that nobody has brought in yet. All SMs gather from the same data, so what is still missing
// of it falls as all of them go on: it is the part of its share that this SM has not brought in. (chase_warp on a cold H200, 132 and 264
// warps with 300 links in 2 MB: DRAM reads 1.46 and 1.89 MB, so 58 and 38 in a hundred links miss.)
func (s *coldShare) gatherMisses(sectors int) int {
	s.due += float64(sectors) * s.missing
	own := min(int(s.due+0.5)/max(sectors, 1)*sectors, sectors)
	s.due -= float64(own)
	return own
}

// farHit says whether a gather that finds what another SM brought in finds it in the far partition only. A line belongs to one of the two; the
// SMs of the other half have to fetch it from there once. If f of the data is still missing, the square root of f has not been asked for
// by one half of the SMs. (chase_warp and chase_lane on a cold H200 were 4 to 10 % fast, their links that hit as fast as in a repeated launch.)
func (s *coldShare) farHit() bool {
	s.draws++
	return float64(hashLine(s.draws)>>11&0xffff) < (math.Sqrt(s.missing)-s.missing)/2*0x10000
}
