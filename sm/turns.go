package sm

import "math/bits"

// turns decides which of the warps that can issue comes next when the scheduler does not stay with the last one ("gty"): one of the
// block that was launched first; of its warps the youngest that has not passed its turn lately; if all have, the one that passed
// longest ago.
//
// A warp passes with an instruction whose yield bit is clear, and with one that had to wait for room in the queue of memory
// instructions or of the transcendental unit, whose order is that of arrival.
//
// Measured on the H200 with the clock read after every 6 to 80 instructions of each warp (testdata/h200_turns.csv): with two or four blocks on
// the SM one ends after the other, whatever the bits and the instructions; within a block four warps take turns at every instruction with the
// bit clear (3 2 1 0 3 2 1 0), in the order in which they began; without any, two of them run until they end. Of eight warps that pass after
// every 6 or 10 instructions all take turns, after 18 to 20 five, after 24 to 40 three, after 50 and more two: passes live for 50 to 85 issues.
type turns struct {
	inOrder  bool         // blocks come one after the other
	lasts    uint64       // issues of the sub-partition after which a pass is forgotten (sm.pass_issues)
	blocks   []blockWarps // in launch order
	issues   uint64       // of the sub-partition
	passed   uint64       // warps that may have passed lately
	passedAt [maxLocal]uint64
}

// blockWarps are a block's warps in the sub-partition.
type blockWarps struct {
	block *residentBlock
	warps uint64
}

// join adds a warp of a block.
func (u *turns) join(b *residentBlock, i int) {
	for k := range u.blocks {
		if u.blocks[k].block == b {
			u.blocks[k].warps |= 1 << i
			return
		}
	}
	u.blocks = append(u.blocks, blockWarps{b, 1 << i})
}

// leave removes a warp that has ended.
func (u *turns) leave(b *residentBlock, i int) {
	u.passed &^= 1 << i
	for k := range u.blocks {
		if e := &u.blocks[k]; e.block == b {
			if e.warps &^= 1 << i; e.warps == 0 {
				u.blocks = append(u.blocks[:k], u.blocks[k+1:]...)
			}
			return
		}
	}
}

// issued counts an instruction of a warp.
func (u *turns) issued(i int, pass bool) {
	u.issues++
	if pass {
		u.passed |= 1 << i
		u.passedAt[i] = u.issues
	}
}

// pick chooses among the warps of the mask, which is not empty.
func (u *turns) pick(eligible uint64) int {
	for k := 0; u.inOrder && k < len(u.blocks); k++ {
		if m := eligible & u.blocks[k].warps; m != 0 {
			eligible = m
			break
		}
	}
	if eligible&(eligible-1) == 0 {
		return lowest(eligible)
	}
	first, oldest := -1, uint64(0)
	for m := eligible & u.passed; m != 0; m &= m - 1 {
		i := lowest(m)
		at := u.passedAt[i]
		if u.issues-at >= u.lasts {
			u.passed &^= 1 << i
		} else if first < 0 || at < oldest {
			first, oldest = i, at
		}
	}
	if fresh := eligible &^ u.passed; fresh != 0 {
		return 63 - bits.LeadingZeros64(fresh)
	}
	return first
}
