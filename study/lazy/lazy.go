// Package lazy keeps values that are made when somebody first asks for them, for many goroutines.
package lazy

import "sync"

// Values makes a value of each key once. The zero value is empty and ready for use; it must not be copied.
type Values[K comparable, V any] struct {
	mu     sync.Mutex
	values map[K]*value[V]
}

type value[V any] struct {
	once sync.Once
	v    V
	err  error
}

// Get is the value of a key, made by the first caller; others wait for it. An error stays, too.
func (m *Values[K, V]) Get(key K, build func() (V, error)) (V, error) {
	m.mu.Lock()
	x := m.values[key]
	if x == nil {
		if m.values == nil {
			m.values = map[K]*value[V]{}
		}
		x = &value[V]{}
		m.values[key] = x
	}
	m.mu.Unlock()
	x.once.Do(func() { x.v, x.err = build() })
	return x.v, x.err
}
