package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/configs/strictyaml"
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/study"
	"github.com/sarchlab/smsim/workloads"
)

func newOccupancy() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "occupancy [FILE]",
		Short: "resident blocks and warps of a kernel, what limits them, and the calculator's curves",
		Long: `occupancy computes how many blocks of a kernel are resident on one SM, as NVIDIA's occupancy
calculator does, with the arithmetic of every resource and the curves against block size,
registers and shared memory. Registers and shared memory come from flags, or from a kernel: FILE
is a PTX file, a workload or study file, or the name of a bundled workload, and FILE:KERNEL one
kernel or variant of it. * marks the limiting resource, > the kernel's own place in a curve.`,
		Example: `  smsim occupancy --arch 2.0 --block 224 --regs 48
  smsim occupancy --board "RTX 3060" --block 256 --regs 40 --shared 12288 --format json
  smsim occupancy kernel.ptx --kernel scale --block 128 --arch sm_86
  smsim occupancy ncc --kernel ncc_dp4a_c1 --arch sm_61,sm_90 --plots --out results`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError{fmt.Errorf("%s takes at most one file, %d given", cmd.CommandPath(), len(args))}
			}
			return nil
		},
	}
	f := cmd.Flags()
	addOccupancyFlags(f)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return runOccupancy(cmd, args) }
	return cmd
}

func addOccupancyFlags(f *pflag.FlagSet) {
	addTargetFlags(f)
	addBoardFlag(f)
	f.String("block", "", "threads a block, such as 128 or 32,8")
	f.Int("regs", 0, "registers a thread")
	f.Int("shared", 0, "shared memory a block, bytes; with FILE: dynamic shared memory")
	f.StringSlice("launch", nil, "launches of a study (default: all)")
	f.String("format", "", "format on standard output: text, json or csv (default text)")
	f.Bool("plots", false, "write the curves as pictures (SVG and PNG) to the output directory")
	f.String("out", "", "directory for the pictures")
}

// addBoardFlag adds --board to commands whose other flags do not bring it.
func addBoardFlag(f *pflag.FlagSet) {
	if f.Lookup("board") == nil {
		f.String("board", "", "product that stands for its architecture, such as \"RTX 3060\" for sm_86")
	}
}

func runOccupancy(cmd *cobra.Command, args []string) error {
	j, err := newJob(cmd)
	if err != nil {
		return err
	}
	if err := j.filesToOut(); err != nil {
		return err
	}
	if j.dir != "" && !j.draw {
		return usageError{errors.New("--out is for pictures: add --plots")}
	}
	var qs []*study.Occupancy
	if len(args) == 1 {
		qs, err = j.occupancyOfFile(cmd, args[0])
	} else {
		qs, err = j.occupancyOfNumbers()
	}
	if err != nil {
		return err
	}
	if err := study.WriteOccupancy(cmd.OutOrStdout(), qs, j.format); err != nil || !j.draw {
		return err
	}
	if len(qs) > 1 {
		return usageError{fmt.Errorf("--plots draws one kernel, launch and architecture; these are %d: choose with --kernel, --launch and --arch", len(qs))}
	}
	_, err = writeFiles(j.dir, nil, nil, func() ([]study.Picture, error) { return study.OccupancyPictures(qs[0]) })
	return err
}

// targets are the architectures of --arch, else the one of --board, else the default.
func (s *settings) targets() ([]*configs.Arch, error) {
	plan := &workloads.Plan{}
	if err := s.applyTarget(plan); err != nil {
		return nil, err
	}
	if len(plan.Archs) == 0 {
		plan.Archs = []string{study.DefaultArch}
	}
	archs, err := study.LoadArchs(plan)
	if err != nil {
		return nil, err
	}
	return archs, nil
}

func (s *settings) occupancyOfNumbers() ([]*study.Occupancy, error) {
	for _, key := range []string{"kernel", "launch"} {
		if from, ok := s.origin(key); ok {
			return nil, bad(from, errors.New("goes with a file"))
		}
	}
	block, err := s.blockSize()
	if err != nil {
		return nil, err
	}
	if _, ok := s.origin("regs"); !ok {
		return nil, usageError{errors.New("give the registers a thread with --regs, or a FILE with the kernel")}
	}
	for _, key := range []string{"regs", "shared"} {
		if v := s.v.GetInt(key); v < 0 {
			from, _ := s.origin(key)
			return nil, bad(from, fmt.Errorf("%d is negative", v))
		}
	}
	archs, err := s.targets()
	if err != nil {
		return nil, err
	}
	if err := s.fitsSome(archs); err != nil {
		return nil, err
	}
	var qs []*study.Occupancy
	for _, a := range archs {
		q := study.OccupancyOf(a, block.Count(), s.v.GetInt("regs"), s.v.GetInt("shared"))
		if name := s.v.GetString("board"); name != "" {
			board, err := configs.LoadBoard(name)
			if err != nil {
				return nil, &study.InputError{Err: err}
			}
			q.Board = board.Name
		}
		qs = append(qs, q)
	}
	return qs, nil
}

// fitsSome refuses numbers that a block has on none of the architectures: they are mistakes, not residencies of zero.
func (s *settings) fitsSome(archs []*configs.Arch) error {
	regs, shared := 0, 0
	for _, a := range archs {
		o := &a.Occupancy
		regs, shared = max(regs, o.MaxRegsThread), max(shared, o.SharedBlock, o.SharedBlockOptin)
	}
	for _, x := range []struct {
		key, what string
		most      int
	}{{"regs", "registers a thread", regs}, {"shared", "bytes of shared memory a block", shared}} {
		if v := s.v.GetInt(x.key); v > x.most {
			from, _ := s.origin(x.key)
			return bad(from, fmt.Errorf("%d %s are more than any of the architectures has: at most %d", v, x.what, x.most))
		}
	}
	return nil
}

func (s *settings) blockSize() (isa.Dim3, error) {
	from, ok := s.origin("block")
	if !ok {
		return isa.Dim3{}, usageError{errors.New("give the threads a block with --block")}
	}
	d, err := workloads.ParseDim(s.v.GetString("block"))
	if err != nil {
		return d, bad(from, err)
	}
	return d, nil
}

func (s *settings) occupancyOfFile(cmd *cobra.Command, name string) ([]*study.Occupancy, error) {
	if from, ok := s.origin("regs"); ok {
		return nil, bad(from, fmt.Errorf("the registers are those of the kernel in %s", name))
	}
	file, kernel := splitKernel(name)
	plan, err := s.load(file, cmd.InOrStdin())
	if err != nil {
		return nil, err
	}
	if err := choose(plan, name, kernel); err != nil {
		return nil, err
	}
	plan.Archs = nil // not all of a study; --arch names them
	if err := s.applyTarget(plan); err != nil {
		return nil, err
	}
	if plan.Study {
		if err := s.applyStudy(plan); err != nil {
			return nil, err
		}
		return study.OccupancyOfPlan(plan)
	}
	c := plan.Cases[0]
	if names := s.list("kernel"); len(names) > 0 && kernel == "" {
		plan.Cases = nil
		for _, n := range names {
			other := *c
			other.Entry = n
			other.EntryAt.File, _ = s.origin("kernel")
			plan.Cases = append(plan.Cases, &other)
		}
	}
	for _, c := range plan.Cases {
		if from, ok := s.origin("block"); ok || plan.Bare {
			if c.Block, err = s.blockSize(); err != nil {
				return nil, err
			}
			c.At.Block = strictyaml.Place{File: from}
		}
		if from, ok := s.origin("shared"); ok {
			if c.DynamicShared = s.v.GetInt("shared"); c.DynamicShared < 0 {
				return nil, bad(from, fmt.Errorf("%d is negative", c.DynamicShared))
			}
		}
	}
	return study.OccupancyOfPlan(plan)
}

// targetsOrAll are the architectures of --arch or --board, else all.
func (s *settings) targetsOrAll() ([]*configs.Arch, error) {
	_, arch := s.origin("arch")
	_, board := s.origin("board")
	_, set := s.origin("set")
	if !arch && !board && !set {
		return study.AllArchs()
	}
	return s.targets()
}
