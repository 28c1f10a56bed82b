package lower

// parted is the blocks that only some lanes of a warp may execute: those on one side of a branch where lanes can go two ways.
func (f *fn) parted() map[*block]bool {
	parted := map[*block]bool{}
	f.eachParted(func(_ *block, body map[*block]bool) {
		for x := range body {
			parted[x] = true
		}
	})
	return parted
}

// eachParted calls visit for every branch where lanes can go two ways, with the blocks that some of them may execute before or after others.
func (f *fn) eachParted(visit func(branch *block, body map[*block]bool)) {
	u := f.uniformity()
	meets := f.willMeet()
	walk := func(body map[*block]bool, from []*block, stop *block, toBarrier bool) {
		work := append([]*block(nil), from...)
		for len(work) > 0 {
			x := work[len(work)-1]
			work = work[:len(work)-1]
			if x == stop || body[x] {
				continue
			}
			body[x] = true
			if !toBarrier || !hasBlockBarrier(x) {
				work = append(work, x.succs...)
			}
		}
	}
	for _, b := range f.rpo {
		if len(b.succs) < 2 || !u.divergentBranch(b) {
			continue
		}
		stop := b.ipdom
		if f.t.SM >= 70 && stop != nil && !lonelyExit(stop) {
			if r := f.regionOf(b); r == nil || r.entry != nil && r.head == b {
				stop = nil // nothing gathers the lanes there, or only those that come through the entry
			}
		}
		body := map[*block]bool{}
		walk(body, b.succs, stop, false)
		if stop != nil && len(meets) > 0 {
			late := meets[stop] // the lanes meet at a barrier of the block only
			for x := range body {
				late = late || meets[x] && x.loop != nil && !x.loop.contains(stop)
			}
			if late {
				walk(body, []*block{stop}, nil, true)
			}
		}
		visit(b, body)
	}
}

// willMeet are the blocks where meetInLoops is going to gather lanes before barriers of the whole block.
func (f *fn) willMeet() map[*block]bool {
	meets := map[*block]bool{}
	f.eachMeeting(func(b *block, _ bool) bool {
		if hasBlockBarrier(b) {
			meets[b] = true
		}
		return meets[b]
	})
	return meets
}
