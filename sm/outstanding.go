package sm

// outstanding keeps the completion cycles of the newest operations on each dependency barrier, so that DEPBAR.LE SBn, k
// can wait until at most k are left. Barriers count to 63.
type outstanding struct {
	done [6][64]uint64
	next [6]uint8
}

// add notes an operation on the barrier. A nil receiver ignores it: the program has no DEPBAR.
func (o *outstanding) add(bar uint8, done uint64) {
	if o == nil {
		return
	}
	o.done[bar][o.next[bar]%64] = done
	o.next[bar]++
}

// until is the cycle from which at most count of the barrier's operations are outstanding.
func (o *outstanding) until(bar, count int, clear uint64) uint64 {
	if o == nil || count == 0 {
		return clear
	}
	if count >= 64 {
		return 0
	}
	// The wait ends when all but the count latest completions have passed: the (count+1)-th largest cycle.
	top := make([]uint64, 0, 64)
	top = append(top, o.done[bar][:]...)
	for i := range count + 1 {
		for j := i + 1; j < len(top); j++ {
			if top[j] > top[i] {
				top[i], top[j] = top[j], top[i]
			}
		}
	}
	return top[count]
}

func (o *outstanding) reset() {
	if o != nil {
		*o = outstanding{}
	}
}
