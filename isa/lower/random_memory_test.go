package lower

import (
	"encoding/binary"
	"fmt"
	"math/rand"
	"testing"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/ptx"
)

// memoryWriter writes random kernels in the shapes of real ones: loops that step pointers or indices through an input, with bounds that all
// lanes share or that differ, with ways out and continuing early, around each other; loads and stores of all widths, under guards, in branches and
// in rounds that are unrolled; addresses and numbers that all lanes share; local and constant arrays; case distinctions.
type memoryWriter struct {
	programWriter
	pointers int // %q registers so far
	loops    []string

	exchanges bool // between lanes, where all are together
	parted    int  // branches around that part them
}

const (
	partBytes  = 256 // a thread's part of the output: results up to 96, then 64 bytes that the kernel reads and writes, from scratchAt
	scratchAt  = 128
	inputBytes = 4096
	tableWords = 16
	threads    = 64
)

func (w *memoryWriter) newLabel() int { w.label++; return w.label }

func (w *memoryWriter) pointer() string { w.pointers++; return fmt.Sprintf("%%q%d", w.pointers) }

// index is a register with a number from 0 to limit-1, limit a power of two: of one lane or of all.
func (w *memoryWriter) index(limit int) string {
	w.temp++
	t := fmt.Sprintf("%%t%d", w.temp)
	src := w.onlyReg()
	switch k := w.r.Intn(6); {
	case k == 0 && !w.onlyShared:
		src = "%r1"
	case k == 1:
		src = w.pick("%r0", "%r2", "%r3")
	case k >= 4 && len(w.loops) > 0:
		src = w.loops[w.r.Intn(len(w.loops))]
		if w.r.Intn(2) == 0 && !w.onlyShared {
			w.out("add.s32 %s, %s, %s;", t, src, w.pick("%r1", "%r0", "3"))
			src = t
		}
	}
	w.out("and.b32 %s, %s, %d;", t, src, limit-1)
	return t
}

// address is the place of an element of size bytes in the input, or in the thread's scratch memory.
func (w *memoryWriter) address(size int, scratch bool) string {
	base, room := "%rd2", inputBytes/2 // of the other half are offsets
	if scratch {
		base, room = "%rd4", 64
	}
	if scratch && w.r.Intn(2) == 0 {
		return fmt.Sprintf("%%rd4+%d", size*w.r.Intn(64/size))
	}
	i, q := w.index(room/size), w.pointer()
	shift := map[int]int{1: 0, 2: 1, 4: 2, 8: 3, 16: 4}[size]
	switch w.r.Intn(5) {
	case 0:
		w.out("mad.wide.u32 %s, %s, %d, %s;", q, i, size, base)
	case 1:
		w.out("mul.wide.%s %s, %s, %d;", w.pick("u32", "s32"), q, i, size)
		w.out("add.s64 %s, %s, %s;", q, base, q)
	case 2:
		w.out("cvt.u64.u32 %s, %s;", q, i)
		w.out("shl.b64 %s, %s, %d;", q, q, shift)
		w.out("add.s64 %s, %s, %s;", q, q, base)
	case 3: // from the end
		w.out("sub.s32 %s, %d, %s;", i, room/size-1, i)
		w.out("mul.wide.s32 %s, %s, %d;", q, i, size)
		w.out("add.s64 %s, %s, %s;", q, base, q)
	default: // scaled as a word, as for array[i * size]
		w.out("shl.b32 %s, %s, %d;", i, i, shift)
		w.out("cvt.s64.s32 %s, %s;", q, i)
		w.out("add.s64 %s, %s, %s;", q, q, base)
	}
	if scratch {
		return q
	}
	return fmt.Sprintf("%s+%d", q, size*w.r.Intn(inputBytes/2/size)&^1023|size*w.r.Intn(4))
}

// guard is empty or a predicate before an instruction.
func (w *memoryWriter) guard() string {
	if w.r.Intn(4) > 0 {
		return ""
	}
	return fmt.Sprintf("@%s%s ", w.pick("", "!"), w.pred())
}

// load reads the input or the thread's scratch memory.
func (w *memoryWriter) load() {
	space := w.pick("ld.global", "ld.global", "ld.global.nc")
	scratch := w.r.Intn(4) == 0 && !w.onlyShared
	if scratch {
		space = "ld.global"
	}
	g := w.guard()
	switch w.r.Intn(8) {
	case 0:
		w.out("%s%s.%s %s, [%s];", g, space, w.pick("u8", "s8"), w.onlyReg(), w.address(1, scratch))
	case 1:
		w.out("%s%s.%s %s, [%s];", g, space, w.pick("u16", "s16"), w.onlyReg(), w.address(2, scratch))
	case 2:
		w.out("%s%s.u64 %s, [%s];", g, space, w.wide(), w.address(8, scratch))
	case 3, 4:
		n := 2 + 2*w.r.Intn(2)
		list := ""
		for _, k := range w.r.Perm(8)[:n] { // different registers
			list += fmt.Sprintf(", %%v%d", k)
		}
		w.out("%s%s.v%d.u32 {%s}, [%s];", g, space, n, list[2:], w.address(4*n, scratch))
		w.out("%s %s, %s, %%v%d;", w.pick("add.s32", "xor.b32", "max.s32"), w.onlyReg(), w.onlyReg(), w.r.Intn(8))
	default:
		d, a := w.onlyReg(), w.address(4, scratch)
		w.out("%s%s.u32 %s, [%s];", g, space, d, a)
		if w.r.Intn(2) == 0 { // its neighbour as well
			w.out("%s.u32 %s, [%s+4];", space, w.onlyReg(), a)
		}
	}
}

func (w *memoryWriter) store() {
	g := w.guard()
	switch w.r.Intn(6) {
	case 0:
		w.out("%sst.global.u8 [%s], %s;", g, w.address(1, true), w.onlyReg())
	case 1:
		w.out("%sst.global.u16 [%s], %s;", g, w.address(2, true), w.onlyReg())
	case 2:
		w.out("%sst.global.u64 [%s], %s;", g, w.address(8, true), w.wide())
	case 3:
		w.out("%sst.global.v2.u32 [%s], {%s, %s};", g, w.address(8, true), w.onlyReg(), w.onlyReg())
	default:
		w.out("%sst.global.u32 [%s], %s;", g, w.address(4, true), w.reg())
	}
}

// constants puts parts of the constant array from fixed places together.
func (w *memoryWriter) constants() {
	var parts []string
	for range 1 + w.r.Intn(3) {
		w.temp++
		kind := w.pick("u8", "s8", "u16", "s16", "u32")
		size := map[byte]int{'8': 1, '1': 2, '3': 4}[kind[1]]
		parts = append(parts, fmt.Sprintf("%%t%d", w.temp))
		w.out("ld.const.%s %%t%d, [table+%d];", kind, w.temp, size*w.r.Intn(4*tableWords/size))
	}
	for range w.r.Intn(3) {
		w.temp++
		w.out("prmt.b32 %%t%d, %s, %s, 0x%04x;", w.temp, w.pick(parts...), w.pick(append(parts, "0", "%r2")...), w.r.Intn(1<<16))
		parts = append(parts, fmt.Sprintf("%%t%d", w.temp))
	}
	w.out("%s %s, %s, %s;", w.pick("add.s32", "xor.b32", "mul.lo.s32", "max.s32"), w.onlyReg(), w.onlyReg(), parts[len(parts)-1])
}

// array reads or writes the local or reads the constant array.
func (w *memoryWriter) array() {
	if w.r.Intn(2) == 0 {
		i, q := w.index(tableWords), w.pointer()
		w.out("mul.wide.u32 %s, %s, 4;", q, i)
		w.out("add.s64 %s, %%rd6, %s;", q, q)
		w.out("ld.const.u32 %s, [%s];", w.onlyReg(), q)
		return
	}
	place := fmt.Sprintf("%%rd5+%d", 4*w.r.Intn(16))
	if w.r.Intn(3) > 0 {
		i, q := w.index(16), w.pointer()
		w.out("mul.wide.u32 %s, %s, 4;", q, i)
		w.out("add.s64 %s, %%rd5, %s;", q, q)
		place = q
	}
	if w.r.Intn(2) == 0 {
		w.out("%sst.local.u32 [%s], %s;", w.guard(), place, w.onlyReg())
	} else {
		w.out("%sld.local.u32 %s, [%s];", w.guard(), w.onlyReg(), place)
	}
}

// sharedPart is some instructions on what all lanes share.
func (w *memoryWriter) sharedPart() {
	w.onlyShared, w.last = true, 0
	for range 1 + w.r.Intn(3) {
		switch w.r.Intn(6) {
		case 0:
			w.load()
		case 1:
			w.out("prmt.b32 %s, %s, %s, 0x%04x;", w.onlyReg(), w.onlyReg(), w.onlyReg(), w.r.Intn(1<<16))
		default:
			w.out("%s %s, %s, %s;", w.pick("add.s32", "sub.s32", "xor.b32", "and.b32", "mul.lo.s32", "min.u32"), w.onlyReg(), w.onlyReg(), w.pick(w.reg(), "%r0", "%r2", "%r3"))
		}
	}
	w.onlyShared, w.last = false, 0
}

// exchange lets lanes see each other's values.
func (w *memoryWriter) exchange() {
	d, a := w.onlyReg(), w.onlyReg()
	switch w.r.Intn(7) {
	case 0:
		w.out("shfl.sync.%s.b32 %s, %s, %d, 31, -1;", w.pick("bfly", "idx"), d, a, w.r.Intn(32))
	case 1:
		w.temp++
		w.out("shfl.sync.%s.b32 %s|%%p%d, %s, %d, %s, -1;", w.pick("up", "down", "bfly"), d, w.temp, a, 1<<w.r.Intn(5), w.pick("0", "31", "6159"))
		w.out("@%%p%d %s %s, %s, %s;", w.temp, w.pick("add.s32", "max.s32", "xor.b32"), a, a, d)
	case 2:
		w.out("shfl.sync.idx.b32 %s, %s, %s, 31, -1;", d, a, w.index(32))
	case 3:
		w.out("vote.sync.ballot.b32 %s, %s, -1;", d, w.condition())
	case 4:
		w.temp++
		t := w.temp
		w.out("vote.sync.%s.pred %%p%d, %s, -1;", w.pick("any", "all"), t, w.condition())
		w.out("selp.b32 %s, %s, %s, %%p%d;", d, a, w.reg(), t)
	case 5:
		w.temp++
		t := w.temp
		w.out("bar.red.popc.u32 %%t%d, 0, %s;", t, w.condition())
		w.out("add.s32 %s, %s, %%t%d;", d, d, t)
	case 6: // through shared memory
		i := w.index(threads)
		w.temp++
		w.out("st.shared.u32 [%%sh], %s;", a)
		w.out("bar.sync 0;")
		w.out("shl.b32 %%t%d, %s, 4;", w.temp, i)
		w.out("add.s32 %%t%d, %%t%d, %%sb;", w.temp, w.temp)
		w.out("ld.shared.u32 %s, [%%t%d];", d, w.temp)
		w.out("bar.sync 0;")
	}
}

func (w *memoryWriter) statement(depth int) {
	if w.exchanges && w.parted == 0 && w.r.Intn(5) == 0 {
		w.exchange()
		return
	}
	switch k := w.r.Intn(20); {
	case k < 6:
		w.load()
	case k < 8:
		w.store()
	case k < 9:
		w.array()
	case k < 10:
		w.sharedPart()
	case k < 11:
		w.constants()
	case k < 13 && depth > 0:
		w.branch(depth)
	case k < 16 && depth > 0:
		w.loop(depth)
	case k < 17 && depth > 0:
		w.cases(depth)
	default:
		w.instruction()
	}
}

func (w *memoryWriter) body(depth, statements int) {
	w.last = 0
	for range 1 + w.r.Intn(statements) {
		w.statement(depth)
	}
	w.last = 0
}

// memoryKernel takes the output, the input, and two numbers.
func memoryKernel(seed int64, exchanges bool) string {
	w := &memoryWriter{programWriter: programWriter{r: rand.New(rand.NewSource(seed)), shared: 4, wideShared: 2}, exchanges: exchanges}
	for range 2 + w.r.Intn(3) {
		w.body(2, 5)
		w.loop(2)
		if w.r.Intn(3) == 0 {
			w.out("bar.sync 0;")
		}
	}
	w.body(0, 4)
	body := w.sb.String()
	w.sb.Reset()
	w.sb.WriteString(".version 7.0\n.target sm_61\n.address_size 64\n")
	w.sb.WriteString(".const .align 4 .u32 table[16] = {")
	for i := range uint32(tableWords) {
		if i > 0 {
			w.sb.WriteString(", ")
		}
		fmt.Fprint(&w.sb, tableWord(i))
	}
	w.sb.WriteString("};\n.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n, .param .u32 m)\n{\n")
	fmt.Fprintf(&w.sb, "\t.reg .b32 %%r<24>, %%v<8>, %%t<%d>, %%c<%d>, %%sh, %%sb;\n\t.reg .b64 %%rd<20>, %%q<%d>;\n\t.reg .b16 %%h<4>;\n\t.reg .pred %%p<%d>;\n", w.temp+1, w.label+1, w.pointers+1, w.temp+1)
	w.sb.WriteString("\t.shared .align 4 .b8 buf[2048];\n\t.local .align 8 .b8 depot[64];\n")
	for _, line := range []string{
		"mov.u32 %r0, %ctaid.x;", "mov.u32 %r1, %tid.x;",
		"ld.param.u64 %rd1, [out];", "ld.param.u64 %rd2, [in];", "ld.param.u32 %r2, [n];", "ld.param.u32 %r3, [m];",
		"mov.u32 %sb, buf;", "shl.b32 %sh, %r1, 4;", "add.s32 %sh, %sh, %sb;",
		"mov.u64 %rd5, depot;", "mov.u64 %rd6, table;",
		"mul.wide.u32 %rd3, %r1, 256;", "add.s64 %rd3, %rd1, %rd3;", "add.s64 %rd4, %rd3, 128;",
		"add.s32 %r18, %r0, %r2;", "mul.lo.s32 %r19, %r0, %r3;", "sub.s32 %r20, %r2, %r3;", "xor.b32 %r21, %r2, 5;",
		"cvt.u64.u32 %rd14, %r2;", "mul.wide.u32 %rd15, %r0, %r3;",
	} {
		w.sb.WriteString("\t" + line + "\n")
	}
	for i := range 4 {
		w.out("st.shared.u32 [%%sh+%d], %%r2;", 4*i)
	}
	for i := range 16 {
		w.out("st.local.u32 [%%rd5+%d], %d;", 4*i, i*7)
	}
	for i := range 8 {
		w.out("mov.u32 %%v%d, %d;", i, i)
		w.out("mad.lo.s32 %%r%d, %%r1, %d, %d;", 10+i, int32(w.r.Uint32())|1, int32(w.r.Uint32()))
	}
	for i := range 4 {
		w.out("mul.wide.u32 %%rd%d, %%r%d, %%r%d;", 10+i, 10+i, 12+i)
	}
	w.sb.WriteString(body)
	for i := range 12 {
		w.out("st.global.u32 [%%rd3+%d], %%r%d;", 4*i, 10+i)
	}
	for i := range 6 {
		w.out("st.global.u64 [%%rd3+%d], %%rd%d;", 48+8*i, 10+i)
	}
	w.out("ret;")
	w.sb.WriteString("}\n")
	return w.sb.String()
}

func tableWord(i uint32) uint32 { return i*0x9e3779b9 ^ i<<7 }

func inputWord(i uint32) uint32 { x := (i + 1) * 0x85ebca6b; return x ^ x>>13 }

// runMemory executes block 2 of the kernel.
func runMemory(p *isa.Program, t *isa.Target, n uint32) ([]byte, error) {
	mem := isa.NewMemory()
	out, in := mem.Alloc("out", partBytes*threads), mem.Alloc("in", inputBytes)
	for i := range uint32(inputBytes / 4) {
		binary.LittleEndian.PutUint32(in.Data[4*i:], inputWord(i))
	}
	params := binary.LittleEndian.AppendUint64(nil, out.Addr)
	params = binary.LittleEndian.AppendUint64(params, in.Addr)
	params = binary.LittleEndian.AppendUint32(params, n)
	params = binary.LittleEndian.AppendUint32(params, n&3)
	k, err := isa.Bind(p, t, &isa.Launch{Grid: isa.Dim3{X: 3, Y: 1, Z: 1}, Block: isa.Dim3{X: threads, Y: 1, Z: 1}, Params: params, Mem: mem, MaxSteps: 2000000})
	if err != nil {
		return nil, err
	}
	_, err = k.RunBlock(2)
	return out.Data, err
}

// TestRandomMemoryKernels compares these kernels, optimised for every generation, with the reference.
func TestRandomMemoryKernels(t *testing.T) {
	n := 12
	if testing.Short() {
		n = 8
	}
	for seed := range int64(n) {
		checkMemory(t, seed, randomTargets)
	}
}

// TestRandomExchanges compares kernels whose lanes see each other's values, optimised and not.
func TestRandomExchanges(t *testing.T) {
	n := 12
	if testing.Short() {
		n = 3
	}
	for seed := range int64(n) {
		checkExchanges(t, seed, []int{70, 75, 86, 90, 100, 120})
	}
}

// roundsOf is the number that the kernel gets, of rounds among other things.
func roundsOf(seed int64) uint32 { return uint32(5 + uint64(seed)%9) }

func checkExchanges(t *testing.T, seed int64, targets []int) {
	t.Helper()
	m, err := ptx.Parse("random.ptx", []byte(memoryKernel(seed, true)))
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	run := func(p *isa.Program, t *isa.Target) ([]byte, error) { return runMemory(p, t, roundsOf(seed)) }
	first := testTarget(targets[0])
	plain, err := Compile(m, "k", first, Options{NoOptimise: true})
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	want, err := run(plain, first)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	for _, sm := range targets {
		compareKernel(t, seed, m, sm, []Options{{}}, run, want)
	}
}

// FuzzMemoryKernels is the same for any seed, on one target each.
func FuzzMemoryKernels(f *testing.F) {
	f.Add(int64(1), uint8(0))
	f.Fuzz(func(t *testing.T, seed int64, k uint8) {
		checkMemory(t, seed, randomTargets[int(k)%len(randomTargets):][:1])
	})
}

func checkMemory(t *testing.T, seed int64, targets []int) {
	t.Helper()
	m, err := ptx.Parse("random.ptx", []byte(memoryKernel(seed, false)))
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	r := newReference(m)
	r.stride = partBytes
	for i := range uint32(inputBytes / 4) {
		r.in = binary.LittleEndian.AppendUint32(r.in, inputWord(i))
	}
	for i := range uint32(tableWords) {
		r.consts = binary.LittleEndian.AppendUint32(r.consts, tableWord(i))
	}
	n := uint64(roundsOf(seed))
	want := make([]byte, partBytes*threads)
	for tid := range uint64(threads) {
		if err := r.run(tid, 2, n); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		copy(want[partBytes*tid:], r.out)
	}
	run := func(p *isa.Program, t *isa.Target) ([]byte, error) { return runMemory(p, t, uint32(n)) }
	for i, sm := range targets {
		options := []Options{{}}
		if uint64(i) == uint64(seed)%uint64(len(targets)) { // the rest on one target
			options = []Options{{NoOptimise: true}, {}, {MaxRegs: 32}}
		}
		compareKernel(t, seed, m, sm, options, run, want)
	}
}
