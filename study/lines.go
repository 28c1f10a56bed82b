package study

import (
	"fmt"
	"io"

	"github.com/sarchlab/smsim/configs"
)

// WriteLines writes one line for each run: name, cycles, IPC, check and limiter.
func WriteLines(w io.Writer, rep *Report) error {
	for i := range rep.Runs {
		r := &rep.Runs[i]
		if _, err := fmt.Fprintf(w, "%s: %s cycles, IPC %.2f, check %s, limit %s\n", RunName(r), thousands(r.Cycles), r.IPC, r.Check, ShortLimiter(r)); err != nil {
			return err
		}
	}
	return nil
}

// BoardArch is the architecture of a board.
func BoardArch(name string) (string, error) {
	b, err := configs.LoadBoard(name)
	if err != nil {
		return "", err
	}
	return b.Arch, nil
}
