package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sarchlab/smsim/configs"
	"github.com/sarchlab/smsim/isa"
	"github.com/sarchlab/smsim/isa/lower"
	"github.com/sarchlab/smsim/isa/sass"
	"github.com/sarchlab/smsim/study"
	"github.com/sarchlab/smsim/study/conform"
)

func newConform() *cobra.Command {
	var c conformCommand
	cmd := &cobra.Command{
		Use:   "conform",
		Short: "compare the result of every PTX integer form with what a GPU gave",
		Long: `conform executes every form of the PTX integer instructions on operand vectors whose results were
recorded on an NVIDIA H200, on each target, and says where a result differs. A form that ptxas
rejects must be rejected.

--data names a folder with forms.json, inputs.bin and results.bin (each may be compressed, with
.gz) or with such a folder forms/ in it, or one with intrinsics.json, results.ptx and results.bin
(whose inputs.bin is there or in ../forms); without it the bundled subset is used. --sass executes
the functions k<id> of a machine-code listing instead of lowering the forms; the listing says for
which target it is, and forms that it lacks are not counted.

equal: all vectors; listed: a known reason stands beside it; failed: the first difference is shown.
With --semantics document, scalar video instructions, bit fields and fns are compared with the
pseudo-code of the PTX document; listed are then the forms for which it says something else than
the GPU gave.
Exit code: 0 fine, 1 a form failed, 2 wrong usage or input.`,
		Example: `  smsim conform
  smsim conform --data measured/forms --arch sm_61,sm_90 --format json
  smsim conform --data measured/forms --sass expansion_sm90.sass`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&c.data, "data", "", "folder with recorded results (default: the bundled subset)")
	f.StringVar(&c.sass, "sass", "", "machine-code listing to execute instead of lowered PTX; may be compressed (.gz), - is standard input")
	f.StringSliceVar(&c.archs, "arch", []string{"all"}, "targets, such as sm_61,sm_90, or all")
	f.StringVar(&c.format, "format", "text", "text or json")
	f.StringVar(&c.semantics, "semantics", "hardware", "whose results count where GPUs and the PTX document differ: hardware or document")
	f.IntVar(&c.workers, "workers", 0, "forms at once (default: one per CPU)")
	f.BoolVar(&c.quiet, "quiet", false, "no progress")
	return cmd
}

type conformCommand struct {
	data, sass, format, semantics string
	archs                         []string
	workers                       int
	quiet                         bool
}

// measured is what both kinds of data folders can do.
type measured interface {
	RunTargets([]*isa.Target, conform.Options) []conform.Target
	RunListings(*sass.Listing, conform.Options) []conform.Target
}

func (c *conformCommand) run(cmd *cobra.Command) error {
	if err := oneOf("format", c.format, "text", "json"); err != nil {
		return err
	}
	sem, err := semanticsOf(c.semantics)
	if err != nil {
		return err
	}
	if sem == lower.Document && c.sass != "" {
		return usageError{errors.New("--semantics: a listing computes what its machine code says; leave it out")}
	}
	set, what, vectors, err := c.load()
	if err != nil {
		return &study.InputError{Err: err}
	}
	bar := newProgress(cmd.ErrOrStderr(), c.quiet)
	opt := conform.Options{Semantics: sem, Workers: c.workers, Progress: func(done, total int) {
		bar.count("forms", done, total)
	}}
	var out []conform.Target
	if c.sass != "" {
		if cmd.Flags().Changed("arch") {
			return usageError{errors.New("--arch: a listing is for the target that it names; leave --arch out")}
		}
		l, err := c.listing(cmd.InOrStdin())
		if err != nil {
			return &study.InputError{Err: err}
		}
		out = set.RunListings(l, opt)
		what += " in the machine code of " + filepath.Base(c.sass)
		if len(out) == 0 {
			return &study.InputError{Err: fmt.Errorf("%s has no function k<id> of the %s", c.sass, what)}
		}
	} else {
		ts, err := conformTargets(c.archs)
		if err != nil {
			return err
		}
		out = set.RunTargets(ts, opt)
	}
	bar.finish()
	if c.format == "json" {
		err = conform.WriteJSON(cmd.OutOrStdout(), vectors, out)
	} else {
		err = conform.WriteText(cmd.OutOrStdout(), what, vectors, out)
	}
	if err != nil {
		return err
	}
	failed := 0
	for _, t := range out {
		failed += t.Failed
	}
	if failed > 0 {
		return fmt.Errorf("%d forms failed", failed)
	}
	return nil
}

// semanticsOf is the value of --semantics.
func semanticsOf(name string) (lower.Semantics, error) {
	if err := oneOf("semantics", name, "hardware", "document"); err != nil {
		return lower.Hardware, err
	}
	if name == "document" {
		return lower.Document, nil
	}
	return lower.Hardware, nil
}

// load reads the data folder, or takes the bundled subset.
func (c *conformCommand) load() (set measured, what string, vectors int, err error) {
	if c.data == "" {
		s, err := conform.Bundled()
		if err != nil {
			return nil, "", 0, err
		}
		return s, "PTX forms (bundled subset)", s.Vectors, nil
	}
	if st, err := os.Stat(c.data); err != nil || !st.IsDir() {
		return nil, "", 0, fmt.Errorf("--data %s is not a folder", c.data)
	}
	dir := os.DirFS(c.data)
	if sub := filepath.Join(c.data, "forms"); !hasFile(dir, "forms.json") && hasFile(os.DirFS(sub), "forms.json") { // as validate takes it
		dir = os.DirFS(sub)
	}
	if !hasFile(dir, "intrinsics.json") {
		s, err := conform.Load(dir)
		if err != nil {
			return nil, "", 0, fmt.Errorf("%s: %w", c.data, err)
		}
		return s, "PTX forms", s.Vectors, nil
	}
	operands := dir
	if !hasFile(dir, "inputs.bin") {
		operands = os.DirFS(filepath.Join(c.data, "../forms"))
	}
	s, err := conform.LoadIntrinsicFolder(dir, operands)
	if err != nil {
		return nil, "", 0, fmt.Errorf("%s: %w", c.data, err)
	}
	return s, "CUDA intrinsics", s.Vectors(), nil
}

func hasFile(dir fs.FS, name string) bool {
	for _, n := range []string{name, name + ".gz"} {
		if _, err := fs.Stat(dir, n); err == nil {
			return true
		}
	}
	return false
}

// listing reads the listing; compressed ones are unpacked.
func (c *conformCommand) listing(in io.Reader) (*sass.Listing, error) {
	var b []byte
	var err error
	name := c.sass
	if name == "-" {
		name = "<stdin>"
		b, err = io.ReadAll(io.LimitReader(in, maxInput))
	} else {
		b, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, readError(name, err)
	}
	if strings.HasSuffix(name, ".gz") {
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", name, err)
		}
		if b, err = io.ReadAll(io.LimitReader(z, maxInput)); err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", name, err)
		}
	}
	return sass.Read(name, b)
}

// conformTargets are the targets of the named architectures; all: every architecture, in order.
func conformTargets(names []string) ([]*isa.Target, error) {
	if len(names) == 1 && names[0] == "all" {
		names = configs.List()
	}
	var out []*isa.Target
	for _, n := range names {
		a, err := configs.Load(n, nil)
		if err != nil {
			return nil, &study.InputError{Err: err}
		}
		out = append(out, a.Target())
	}
	return out, nil
}
