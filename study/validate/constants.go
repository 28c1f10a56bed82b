package validate

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"

	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/lower"
	"github.com/sarchlab/smsim/isa/ptx"
)

// Listings do not hold constant banks. Bank 3 (constant variables) of the micro kernels comes from their PTX, or is zero
// where there is none; bank 2 (jump tables) follows from the code.
const (
	constantBank  = 3
	jumpTableBank = 2
	bankBytes     = 64 << 10
)

// constants gives a program of micro/ the constant banks that it reads.
func (l *library) constants(p *isa.Program) error {
	used := map[uint8]bool{}
	for i := range p.Insts {
		in := &p.Insts[i]
		for _, o := range in.Src[:in.NSrc] {
			if o.Kind == isa.KindConst {
				used[o.Bank] = true
			}
		}
	}
	if p.ConstBanks == nil {
		p.ConstBanks = map[uint8][]byte{}
	}
	if used[jumpTableBank] {
		p.ConstBanks[jumpTableBank] = jumpTable(p)
	}
	if !used[constantBank] {
		return nil
	}
	bank := make([]byte, bankBytes)
	sources, err := l.consts()
	if err != nil {
		return err
	}
	copy(bank, sources[p.Name][constantBank])
	p.ConstBanks[constantBank] = bank
	return nil
}

var reEntry = regexp.MustCompile(`\.entry\s+(\w+)`)

// readConstants compiles the PTX of the micro kernels that have constant variables, for their initial values.
func (l *library) readConstants() (map[string]map[uint8][]byte, error) {
	const path = "micro/timed_ptx.tar.gz"
	banks := map[string]map[uint8][]byte{}
	b, err := fs.ReadFile(l.dir, path)
	if errors.Is(err, fs.ErrNotExist) {
		return banks, nil
	}
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if err == io.EOF {
			return banks, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		text, err := io.ReadAll(t)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", path, h.Name, err)
		}
		if !bytes.Contains(text, []byte(".const ")) {
			continue
		}
		m, err := ptx.Parse(h.Name, text)
		if err != nil {
			return nil, err
		}
		for _, e := range reEntry.FindAllSubmatch(text, -1) {
			p, err := lower.Compile(m, string(e[1]), l.arch.Target(), lower.Options{})
			if err != nil {
				return nil, err
			}
			banks[p.Name] = p.ConstBanks
		}
	}
}

// jumpTable gives the table of an indexed branch: the compiler lays its targets out one after another behind the branch, each
// but the last ended by an unconditional branch to where they meet.
func jumpTable(p *isa.Program) []byte {
	at := 0
	for at < len(p.Insts) && p.Insts[at].Op != isa.OpBRX {
		at++
	}
	var table []byte
	starts := true
	for i := at + 1; i < len(p.Insts) && p.Insts[i].Op != isa.OpBSYNC && p.Insts[i].Op != isa.OpEXIT; i++ {
		in := &p.Insts[i]
		if starts {
			table = binary.LittleEndian.AppendUint32(table, in.PC)
		}
		starts = in.Op == isa.OpBRA && in.Guard.Kind == isa.KindNone
	}
	return table
}
