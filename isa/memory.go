package isa

import (
	"fmt"
	"sort"
)

// Memory is the functional global memory: separate allocations with bounds, shared by all blocks.
// It is not safe for concurrent use.
type Memory struct {
	buffers []*Buffer // by ascending address
	next    uint64
	globals map[string]*Buffer // module-scope variables by name
}

// Buffer is one allocation.
type Buffer struct {
	Name string
	Addr uint64 // virtual address, 256-byte aligned at least
	Data []byte
}

// Where allocations start: beyond 4 GiB as on 64-bit systems, so that code which drops the high word of a pointer fails.
const (
	memoryBase   = 0x7_2000_0000
	memoryBase32 = 0x2000_0000
	allocAlign   = 256
	// guardBytes separates allocations, so that running over the end of one does not reach the next.
	guardBytes = 4096
)

// NewMemory is an empty memory with 64-bit addresses.
func NewMemory() *Memory { return &Memory{next: memoryBase, globals: map[string]*Buffer{}} }

// NewMemory32 is an empty memory whose addresses fit 32 bits, for programs with 32-bit pointers.
func NewMemory32() *Memory { return &Memory{next: memoryBase32, globals: map[string]*Buffer{}} }

// Alloc makes a zeroed allocation of size bytes. Addresses are the same in every run.
func (m *Memory) Alloc(name string, size uint64) *Buffer {
	return m.AllocAligned(name, size, allocAlign)
}

// AllocAligned is Alloc with at least the given power-of-two alignment.
func (m *Memory) AllocAligned(name string, size, align uint64) *Buffer {
	align = max(align, allocAlign)
	addr := (m.next + align - 1) &^ (align - 1)
	b := &Buffer{Name: name, Addr: addr, Data: make([]byte, size)}
	m.next = addr + size + guardBytes
	m.buffers = append(m.buffers, b)
	return b
}

// Buffers lists the allocations in order.
func (m *Memory) Buffers() []*Buffer { return m.buffers }

// Global is the allocation of a module-scope variable, nil before a kernel that has it was bound.
func (m *Memory) Global(name string) *Buffer { return m.globals[name] }

// find is the allocation that holds all of [addr, addr+size), nil if none does.
func (m *Memory) find(addr, size uint64) *Buffer {
	i := sort.Search(len(m.buffers), func(i int) bool { return m.buffers[i].Addr > addr }) - 1
	if i < 0 {
		return nil
	}
	if b := m.buffers[i]; b.holds(addr, size) {
		return b
	}
	return nil
}

// holds says whether [addr, addr+size) lies inside the allocation.
func (b *Buffer) holds(addr, size uint64) bool {
	off := addr - b.Addr
	n := uint64(len(b.Data))
	return off < n && n-off >= size
}

// describe says in words where an address outside of every allocation lies.
func (m *Memory) describe(addr, size uint64) string {
	if addr < 4096 {
		return "null pointer"
	}
	if len(m.buffers) == 0 {
		return "no global memory is allocated"
	}
	var near *Buffer
	best := ^uint64(0)
	for _, b := range m.buffers {
		end := b.Addr + uint64(len(b.Data))
		d := uint64(0)
		switch {
		case addr < b.Addr:
			d = b.Addr - addr
		case addr+size > end:
			d = addr + size - end
		}
		if d < best {
			near, best = b, d
		}
	}
	n := len(near.Data)
	switch off := int64(addr - near.Addr); {
	case off < 0:
		return fmt.Sprintf("%d bytes before buffer %s (%d bytes)", -off, near.Name, n)
	case off >= int64(n):
		return fmt.Sprintf("%d bytes past the end of buffer %s (%d bytes, offset %d)", off-int64(n), near.Name, n, off)
	default:
		return fmt.Sprintf("crosses the end of buffer %s (%d bytes, offset %d)", near.Name, n, off)
	}
}

// Attach makes an allocation out of existing memory, so that large buffers can be shared by successive launches.
func (m *Memory) Attach(name string, data []byte) *Buffer {
	addr := (m.next + allocAlign - 1) &^ (allocAlign - 1)
	b := &Buffer{Name: name, Addr: addr, Data: data}
	m.next = addr + uint64(len(data)) + guardBytes
	m.buffers = append(m.buffers, b)
	return b
}
