package lazy

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
)

// TestGet: each value is made once, whoever asks, and so is an error.
func TestGet(t *testing.T) {
	var made atomic.Int32
	var m Values[int, int]
	odd := errors.New("odd")
	build := func(k int) func() (int, error) {
		return func() (int, error) {
			made.Add(1)
			if k%2 == 1 {
				return 0, odd
			}
			return 10 * k, nil
		}
	}
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			k := i % 4
			v, err := m.Get(k, build(k))
			if k%2 == 1 && err != odd || k%2 == 0 && (err != nil || v != 10*k) {
				t.Errorf("%d: %d, %v", k, v, err)
			}
		})
	}
	wg.Wait()
	if n := made.Load(); n != 4 {
		t.Errorf("%d values made, want 4", n)
	}
}
