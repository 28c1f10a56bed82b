package sm

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/lower"
	"github.com/sarchlab/smsim/sim"
)

// kind says which rule times an instruction beyond its pipe.
type kind uint8

const (
	kindPlain  kind = iota
	kindMemory      // goes to the load/store unit
	kindConst       // reads a constant bank with a latency: LDC, ULDC
	kindBranch      // BRA, JMP, BRX
	kindCall
	kindBar
	kindMembar
	kindSleep
	kindReconverge // BSYNC, SYNC, WARPSYNC: may change to another path
	kindDepBar
	kindCopyGroup // LDGDEPBAR: its barrier clears when the copies before it are there
	kindExit
)

// maxAlternatives is the number of pipes of which one instruction can take any.
const maxAlternatives = 8

// maxBanks bounds the register file banks.
const maxBanks = 8

// timing is what the model knows of one static instruction before it runs.
type timing struct {
	kind     kind
	key      uint8 // readiness group, see keys
	class    isa.Class
	stall    uint8
	writeBar uint8
	readBar  uint8
	waitMask uint8
	yield    bool // encoded bit: stay with the warp
	dual     bool // may issue together with the next instruction
	variable bool
	indexed  bool         // BRX, JMX: one target at a time; LDC: address in a register
	long     bool         // a wait for its barrier is long_scoreboard
	origin   lower.Origin // of a memory instruction's address
	stride   lower.Stride // of it, from block to block
	// Register reads of the first and second pass; Seq: when the previous instruction of the program was the warp's
	// previous one (reuse cache).
	first, firstSeq, second, secondSeq reads
	passes                             uint8
	late                               reads // of a two-pass instruction: the port read last, in the bank of the second word of its 64-bit source
	pipe                               int16 // first alternative, index into machine.pipes
	hold                               uint16
	offHold                            uint16
	latency                            uint16
	extraHold                          uint16 // cycles beyond the stall count for which the warp is held
	passHold                           uint16 // of these, those of a second pass: dispatch_stall
	shared                             int16  // SM-wide unit after the pipe, -1: none
	sharedFor                          uint16
	hasConst                           bool // constant operand with a fixed address
	uniformConst                       bool // it goes to a uniform register
	constBank                          uint8
	constAddr                          uint32
	queued                             bool  // goes through the memory path's instruction queue
	depBar                             uint8 // DEPBAR: barrier, and the number of instructions that may be outstanding
	depCount                           uint8
}

// reads counts 32-lane register reads.
type reads struct {
	bank    [maxBanks]uint8
	ports   [maxBanks]uint8 // by bank, bit i: a register of source i is read
	busiest uint8           // largest of bank
}

// key is a group of instructions that the same shared resources hold back. All ready warps of a sub-partition whose
// next instruction has the same key are blocked, or can issue, together: the scheduler checks keys, not warps.
type key struct {
	pipes   []int // alternatives
	holds   []int // further pipes that must be free too
	shared  int   // the unit behind it, -1: none; of an instruction for the memory queue: that has its own queue
	branch  bool  // taken-branch port
	control bool  // its pipe is the convergence unit
	memory  bool
	class   isa.Class // memory only
}

// machine is the static description that all sub-partitions share.
type machine struct {
	arch  *configs.Arch
	pipes []pipeSpec
	keys  []key
	code  []timing
	banks int
	// queuePipe is the pipe of shared-memory loads: the queue of memory instructions in front of the load/store unit,
	// which is unit lsu. Instructions of other classes on the same pipe share the queue. -1: none.
	queuePipe, lsu int
}

// pipeSpec is one named pipe of the architecture file.
type pipeSpec struct {
	name  string
	perSM bool
	queue int
	stall sim.WarpState
}

// unitName is a name as Akita wants it: capitalised, without underscores.
func unitName(s string) string { return strings.ToUpper(strings.ReplaceAll(s, "_", "")) }

func stateByName(name string) (sim.WarpState, bool) {
	for s := sim.WarpState(0); s < sim.NumWarpStates; s++ {
		if s.String() == name {
			return s, true
		}
	}
	return 0, false
}

// newMachine joins the architecture's tables with the program. An instruction whose class the architecture does not
// describe is an error that names both.
func newMachine(a *configs.Arch, p *isa.Program, params []byte) (*machine, error) {
	m := &machine{arch: a, banks: max(1, a.RegisterFile.Banks)}
	if m.banks > maxBanks {
		return nil, fmt.Errorf("%s: register_file.banks is %d, at most %d are modelled", a.Name, m.banks, maxBanks)
	}
	index, err := m.addPipes()
	if err != nil {
		return nil, err
	}
	keyIndex := map[string]int{}
	m.code = make([]timing, len(p.Insts))
	origins := lower.AddressOrigins(p, params)
	for i := range p.Insts {
		in := &p.Insts[i]
		t, k, err := m.decode(in, index)
		t.origin = origins[i]
		if err != nil {
			return nil, fmt.Errorf("%s: instruction %d (%s) of %s: %w", a.Name, i, in.Op, p.Name, err)
		}
		id := fmt.Sprint(k)
		n, ok := keyIndex[id]
		if !ok {
			n = len(m.keys)
			keyIndex[id] = n
			m.keys = append(m.keys, k)
		}
		if n >= maxKeys {
			return nil, fmt.Errorf("%s: %s uses more than %d combinations of pipes", a.Name, p.Name, maxKeys)
		}
		t.key = uint8(n)
		passes := max(1, a.Classes[t.class.String()].ReadPasses)
		prev := (*isa.Inst)(nil)
		if i > 0 && a.RegisterFile.ReuseCache {
			prev = &p.Insts[i-1]
		}
		t.passes = uint8(passes)
		t.first, t.firstSeq = m.registerReads(in, nil, 0, passes), m.registerReads(in, prev, 0, passes)
		if passes > 1 {
			t.second, t.secondSeq = m.registerReads(in, nil, 1, passes), m.registerReads(in, prev, 1, passes)
			t.late = m.lateReads(in, &t.second)
		}
		m.code[i] = t
		if i > 0 {
			m.holdForResult(&p.Insts[i-1], in, &m.code[i-1], &t)
		}
	}
	return m, nil
}

// addPipes lists the architecture's pipes, gives their indices by name, and finds the queue in front of the load/store unit and the unit.
func (m *machine) addPipes() (index map[string]int, err error) {
	a := m.arch
	index = map[string]int{}
	for _, name := range sortedKeys(a.Pipes) {
		row := a.Pipes[name]
		stall := sim.MathPipeThrottle
		if row.Stall != "" {
			s, ok := stateByName(row.Stall)
			if !ok {
				return nil, fmt.Errorf("%s: pipes.%s.stall: %q is not a warp state", a.Name, name, row.Stall)
			}
			stall = s
		}
		index[name] = len(m.pipes)
		m.pipes = append(m.pipes, pipeSpec{name: name, perSM: row.Per == "sm", queue: row.Queue, stall: stall})
	}
	m.queuePipe, m.lsu = -1, -1
	for _, c := range []isa.Class{isa.ClassLDS, isa.ClassLDG} {
		if row, ok := a.Classes[c.String()]; ok && len(row.Pipe) > 0 && m.lsu < 0 {
			if n, ok := index[row.Pipe[0]]; ok {
				m.queuePipe, m.lsu = n, n
			}
			if n, ok := index[row.SharedPipe]; ok {
				m.lsu = n
			}
		}
	}
	return index, nil
}

// resultHold is how much longer than its stall count says an instruction holds its warp when the next one reads its
// result and the first pass of a two-pass instruction takes part: it reads the result, or the result is the first pass's (the
// low word of IMAD.WIDE). Measured on the H200: IMAD.HI with stall 6 in a dependent chain 9.1 cycles, but 6.1 and 10.1 with stall 4 and
// 8 among independent ones; PRMT, IMAD.WIDE, SHF in a chain two cycles more than counts and passes; IMAD.WIDE with its high word moved none.
const resultHold = 1

// holdForResult lengthens the hold of an instruction of fixed latency for a reader right behind it.
func (m *machine) holdForResult(from, to *isa.Inst, f, t *timing) {
	if f.variable || f.kind != kindPlain || from.NDst == 0 || from.Dst[0].Kind != isa.KindReg || from.Dst[0].Reg == isa.RZ {
		return
	}
	low := from.Dst[0].Reg
	high := low
	if from.Class() == isa.ClassIMADWIDE {
		high++
	}
	early := f.passes > 1 && high != low // the low word comes from the first pass, the high word from the second
	if !early && t.passes < 2 {
		return
	}
	for i := range to.NSrc {
		o := &to.Src[i]
		if o.Kind != isa.KindReg && o.Kind != isa.KindMem || o.Reg == isa.RZ {
			continue
		}
		if t.passes > 1 && (o.Reg == low || o.Reg == high) || early && o.Reg <= low && low < o.Reg+isa.Reg(sourceWidth(to, int(i))) {
			f.extraHold += resultHold
			return
		}
	}
}

// decode finds the class row of an instruction and makes its timing and readiness key.
func (m *machine) decode(in *isa.Inst, index map[string]int) (timing, key, error) {
	c := in.Class()
	row, ok := m.arch.Classes[c.String()]
	if !ok {
		return timing{}, key{}, fmt.Errorf("class %s is not in the architecture's table (classes.%s)", c, c)
	}
	t := timing{class: c, stall: in.Ctrl.Stall, writeBar: in.Ctrl.WriteBar, readBar: in.Ctrl.ReadBar, waitMask: in.Ctrl.WaitMask,
		yield: in.Ctrl.Yield, dual: in.Ctrl.DualIssue || in.Ctrl.Stall == 0, variable: row.Variable, pipe: -1, shared: -1,
		hold: uint16(row.IssueInterval), offHold: uint16(row.IssueInterval), latency: uint16(row.Latency), extraHold: uint16(row.ExtraHold), passHold: uint16(row.ExtraHold),
		long: isLong(c)}
	if row.RegisterOperand > 0 && registerSources(in) > 1 {
		t.hold += uint16(row.RegisterOperand)
		t.latency += uint16(row.RegisterOperand)
	}
	unit := row.SharedPipe
	ofBlock := in.NSrc > 0 && in.Src[0].Kind == isa.KindSpecial && !isa.LaneSpecial(in.Src[0].Reg) && in.Src[0].Reg != isa.SRVirtID
	if ofBlock {
		t.latency += uint16(row.WarpRegister)
	}
	if (ofBlock || in.Op == isa.OpB2R) && row.WarpPipe != "" {
		unit = row.WarpPipe
	}
	if row.PredicateResult > 0 && setsPredicate(in) {
		t.latency += uint16(row.PredicateResult)
	}
	if row.PredicatedOff > 0 {
		t.offHold = uint16(row.PredicatedOff)
	}
	if in.Op == isa.OpBREAK { // nobody leaves: measured 5 cycles, its stall count, from one to 16 warps (break4 of testdata/h200_paths.csv)
		t.offHold = 0
	}
	k, err := t.takePipes(&row, unit, index)
	if err != nil {
		return t, k, err
	}
	t.setKind(in)
	k.branch = t.kind == kindBranch || t.kind == kindCall
	k.control = c.IsControl()
	if t.kind == kindMemory || (t.pipe >= 0 && int(t.pipe) == m.queuePipe) {
		// The memory path's own model books its queue and port, so the class table's pipe is not booked again.
		k = key{shared: -1, memory: true, class: c}
		t.queued = true
		if t.kind != kindMemory && t.shared >= 0 && m.pipes[t.shared].perSM && m.pipes[t.shared].queue > 0 {
			k.shared = int(t.shared)
		}
	}
	if t.kind != kindConst {
		for i := range in.NSrc {
			if o := &in.Src[i]; fixedAddress(o) {
				t.hasConst, t.constBank, t.constAddr = true, o.Bank, uint32(o.Imm)
				t.uniformConst = c == isa.ClassULDC
			}
		}
	}
	return t, k, nil
}

// takePipes resolves the pipes of a class row: its alternatives, what it holds beside them, and the unit behind.
func (t *timing) takePipes(row *configs.ClassRow, unit string, index map[string]int) (key, error) {
	k := key{shared: -1}
	for i, name := range row.Pipe {
		n, ok := index[name]
		if !ok {
			return k, fmt.Errorf("classes.%s.pipe: no pipe %q", t.class, name)
		}
		if i == 0 {
			t.pipe = int16(n)
		}
		k.pipes = append(k.pipes, n)
	}
	if len(k.pipes) > maxAlternatives {
		return k, fmt.Errorf("classes.%s.pipe: more than %d alternatives", t.class, maxAlternatives)
	}
	for _, name := range row.Holds {
		n, ok := index[name]
		if !ok {
			return k, fmt.Errorf("classes.%s.holds: no pipe %q", t.class, name)
		}
		k.holds = append(k.holds, n)
	}
	if unit != "" && row.SharedHold > 0 {
		n, ok := index[unit]
		if !ok {
			return k, fmt.Errorf("classes.%s: no pipe %q", t.class, unit)
		}
		t.shared, t.sharedFor, k.shared = int16(n), uint16(row.SharedHold), n
	}
	return k, nil
}

// setKind says what an instruction does beside using its pipe.
func (t *timing) setKind(in *isa.Inst) {
	switch t.class {
	case isa.ClassBRA:
		t.kind = kindBranch
		t.indexed = in.Op == isa.OpBRX || in.Op == isa.OpJMX
	case isa.ClassCALL:
		t.kind = kindCall
		t.indexed = throughRegister(in)
	case isa.ClassBSYNC:
		t.kind = kindReconverge
	case isa.ClassWARPSYNC:
		t.kind = kindReconverge
		if in.Op == isa.OpNANOSLEEP {
			t.kind = kindSleep
		}
	case isa.ClassBAR:
		t.kind = kindBar
	case isa.ClassMEMBAR:
		if in.Op == isa.OpMEMBAR || in.Op == isa.OpFENCE {
			t.kind = kindMembar
		}
	case isa.ClassDEPBAR:
		if in.Op == isa.OpLDGDEPBAR {
			t.kind = kindCopyGroup
			break
		}
		t.kind = kindDepBar
		t.depBar, t.depCount = depBarOperands(in)
	case isa.ClassEXIT:
		t.kind = kindExit
	case isa.ClassLDC, isa.ClassULDC:
		// ULDC without a barrier has a fixed latency: like an arithmetic instruction it waits for its constant before it issues.
		if t.class == isa.ClassLDC || t.writeBar < 6 {
			t.kind = kindConst
			t.indexed = in.NSrc > 0 && !fixedAddress(&in.Src[0])
		}
	default:
		if t.class.IsMemory() {
			t.kind = kindMemory
		}
	}
}

// fixedAddress says whether an operand is a constant whose address no register takes part in.
func fixedAddress(o *isa.Operand) bool {
	return o.Kind == isa.KindConst && o.Reg == isa.RZ && !o.Is(isa.HasUReg)
}

// setsPredicate says whether a predicate is among the results.
func setsPredicate(in *isa.Inst) bool {
	for i := range in.NDst {
		if o := &in.Dst[i]; o.Kind == isa.KindPred && o.Reg != isa.PT {
			return true
		}
	}
	return false
}

// registerSources is the number of sources that are registers, a register named twice counted twice.
func registerSources(in *isa.Inst) (n int) {
	for i := range in.NSrc {
		if o := &in.Src[i]; o.Kind == isa.KindReg && o.Reg != isa.RZ {
			n++
		}
	}
	return n
}

// depBarOperands reads DEPBAR.LE SBn, k.
func depBarOperands(in *isa.Inst) (bar, count uint8) {
	bar = isa.NoBar
	for i := range in.NSrc {
		o := &in.Src[i]
		switch {
		case o.Kind == isa.KindBarrier:
			bar = uint8(o.Reg)
		case o.Kind == isa.KindImm && bar == isa.NoBar && in.NSrc > 1:
			bar = uint8(o.Imm)
		case o.Kind == isa.KindImm:
			count = uint8(o.Imm)
		}
	}
	if bar > 5 {
		bar = isa.NoBar
	}
	return bar, count
}

// isLong says whether a wait for the class's result is long_scoreboard: operations of the L1TEX
// (global, local, surface, texture); all other barriers are short_scoreboard.
func isLong(c isa.Class) bool {
	switch c {
	case isa.ClassLDG, isa.ClassSTG, isa.ClassLDL, isa.ClassSTL, isa.ClassATOMG, isa.ClassRED, isa.ClassLDGSTS, isa.ClassTEX:
		return true
	}
	return false
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	for i := 1; i < len(out); i++ {
		for j := i; j > 0 && out[j] < out[j-1]; j-- {
			out[j], out[j-1] = out[j-1], out[j]
		}
	}
	return out
}

// lowest is the index of the lowest set bit.
func lowest(m uint64) int { return bits.TrailingZeros64(m) }

// throughRegister says whether a call or a return goes to an address in a register.
func throughRegister(in *isa.Inst) bool {
	for i := range in.NSrc {
		if in.Src[i].Kind == isa.KindReg {
			return true
		}
	}
	return false
}
