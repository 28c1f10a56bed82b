package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sarchlab/smsim/study"
	"github.com/sarchlab/smsim/workloads"
)

func newRank() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rank FILE",
		Short: "run a kernel on all architectures and rank them by time",
		Long: `rank runs a kernel on every architecture that can run it, natively or by emulation, and ranks them
by the time on a board: cycles, limit, whether DP4A, IMAD, DPX, LOP3 and SIMD video instructions
are native or emulated there, and a picture. Architectures that cannot run it are listed with the
reason.

FILE is a workload or study file, a bundled workload or a PTX file with its launch (--grid, --block,
--arg as in smsim run); FILE:KERNEL is one kernel or variant of it. Of a study all variants are
ranked with the last launch, unless --launch and --kernel choose.`,
		Example: `  smsim rank ncc:dp4a_c4
  smsim rank sha256 --boards all --format csv
  smsim rank kernel.ptx --grid 256 --block 128 --arg buf:1M --arg zero:1M --plots --out results`,
		Args: oneFile,
	}
	addRunFlags(cmd.Flags())
	setOutUsage(cmd.Flags(), "ranking")
	cmd.Flags().Lookup("arch").Usage = "architectures, such as sm_86,sm_90, or files of your own (default all)"
	cmd.Flags().StringSlice("boards", nil, "boards instead of each architecture's own: all, or names")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return rank(cmd, args[0]) }
	return cmd
}

func rank(cmd *cobra.Command, name string) error {
	j, err := newJob(cmd)
	if err != nil {
		return err
	}
	plan, err := j.plan(name, cmd.InOrStdin())
	if err != nil {
		return err
	}
	// The outputs that a run file asks for are those of its own question.
	if err := j.filesToOut(); err != nil {
		return err
	}
	if err := j.rankable(plan); err != nil {
		return err
	}
	boards, err := j.rankBoards(plan)
	if err != nil {
		return err
	}
	j.wholeGrid(plan)
	if _, chosen := j.origin("launch"); plan.Study && !chosen {
		lastLaunch(plan)
	}
	ks, err := study.Rank(plan, boards, j.options())
	j.finish()
	if err != nil {
		return err
	}
	return j.deliver("ranking", func(w io.Writer, f string) error { return study.WriteRankings(w, ks, f) },
		func() ([]study.Picture, error) { return study.RankPictures(ks) })
}

// rankable refuses a machine-code listing on all architectures: it runs on its own alone.
func (s *settings) rankable(plan *workloads.Plan) error {
	for _, key := range []string{"arch", "board", "boards"} {
		if _, chosen := s.origin(key); chosen {
			return nil
		}
	}
	for _, c := range plan.Cases {
		if c.Kernel.IsListing() {
			return &study.InputError{Err: fmt.Errorf("%s is machine code, which runs on its own architecture only; rank needs the kernel's PTX (cuobjdump -ptx, "+
				"or nvcc -ptx), which is compiled for each. smsim run simulates the listing; --arch with several architectures ranks a listing that has code for them", c.Kernel.Path)}
		}
	}
	return nil
}

// rankBoards are the boards of --boards; none: each architecture's own. It leaves the plan with the architectures of
// --arch or --board, none for all: those of a run file are its author's choice for another question.
func (s *settings) rankBoards(plan *workloads.Plan) ([]string, error) {
	_, arch := s.origin("arch")
	_, board := s.origin("board")
	from, ok := s.origin("boards")
	switch {
	case ok && (arch || board):
		return nil, bad(from, errors.New("names the boards, and with them the architectures: leave --arch and --board"))
	case ok:
		names := s.list("boards")
		if len(names) == 1 && names[0] == "all" {
			return study.BoardNames()
		}
		return names, nil
	}
	if !arch && !board {
		plan.Archs, plan.Board = nil, ""
	}
	return nil, nil
}

// wholeGrid lets the whole grid run on each board's own SMs, so that the times compare: the SM count and the choice of
// blocks in a run file stand for the board that its author had.
func (s *settings) wholeGrid(plan *workloads.Plan) {
	if _, ok := s.origin("sms"); !ok {
		plan.SMs = 0
	}
	if _, ok := s.origin("blocks"); !ok {
		plan.Blocks = workloads.Blocks{}
	}
}

// lastLaunch keeps the cases of a study's last launch.
func lastLaunch(plan *workloads.Plan) {
	launches := plan.Launches()
	last := launches[len(launches)-1]
	var keep []*workloads.Case
	for _, c := range plan.Cases {
		if c.Launch == last {
			keep = append(keep, c)
		}
	}
	plan.Cases = keep
}
