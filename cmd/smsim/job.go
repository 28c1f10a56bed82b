package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/sarchlab/smsim/study"
)

// job is what the commands that simulate have in common: their settings, where the answer goes, and the progress shown
// meanwhile.
type job struct {
	*settings
	cmd    *cobra.Command
	format string // on standard output
	quiet  bool
	dir    string // of the answer's files, "" for none
	draw   bool   // pictures are among them
	bar    *progress
}

// newJob reads flags and environment.
func newJob(cmd *cobra.Command) (*job, error) {
	s, err := newSettings(cmd)
	if err != nil {
		return nil, err
	}
	j := &job{settings: s, cmd: cmd, quiet: s.v.GetBool("quiet")}
	j.format, err = s.format()
	return j, err
}

// filesTo says where the answer's files go (none are written if dir is empty) and whether pictures are among them. It fails if
// files cannot be written there, before anything is simulated.
func (j *job) filesTo(dir string, draw bool) error {
	if draw && dir == "" {
		return usageError{errors.New("plots are files: give their directory with --out DIR")}
	}
	if err := checkDir(dir); err != nil {
		return &study.InputError{Err: err}
	}
	j.dir, j.draw = dir, draw
	return nil
}

// filesToOut is filesTo with --out and --plots.
func (j *job) filesToOut() error { return j.filesTo(j.v.GetString("out"), j.v.GetBool("plots")) }

// options are the choices of a simulation, whose progress is shown until finish.
func (j *job) options() study.Options {
	j.bar = newProgress(j.cmd.ErrOrStderr(), j.quiet)
	return study.Options{Workers: j.v.GetInt("workers"), Progress: j.bar.update}
}

// finish ends the progress.
func (j *job) finish() {
	if j.bar != nil {
		j.bar.finish()
	}
}

// outputFile is a file of an answer: a format and the name without directory.
type outputFile struct{ format, name string }

// allFormats are the files of an answer in every format.
func allFormats(name string) []outputFile {
	return []outputFile{{"text", name + ".txt"}, {"json", name + ".json"}, {"csv", name + ".csv"}}
}

// deliver writes the files NAME.txt, NAME.json and NAME.csv with the pictures and prints the answer. Files come first:
// whoever closes the pipe (| head) still gets them. If they cannot be written, the answer is printed all the same.
func (j *job) deliver(name string, write func(io.Writer, string) error, pictures func() ([]study.Picture, error)) error {
	saved := j.save(allFormats(name), write, pictures)
	return errors.Join(saved, write(j.cmd.OutOrStdout(), j.format))
}

// save writes an answer's files, if they have a directory.
func (j *job) save(files []outputFile, write func(io.Writer, string) error, pictures func() ([]study.Picture, error)) error {
	if j.dir == "" {
		return nil
	}
	if !j.draw {
		pictures = nil
	}
	n, err := writeFiles(j.dir, files, write, pictures)
	if err == nil && !j.quiet {
		fmt.Fprintf(j.cmd.ErrOrStderr(), "%d files written to %s\n", n, j.dir)
	}
	return err
}

// writeFiles writes an answer in some formats and its pictures (nil: none) to a directory, and gives the number of
// files. The directory is created only now, when there is something to write; every file appears complete or not at all.
func writeFiles(dir string, files []outputFile, write func(io.Writer, string) error, pictures func() ([]study.Picture, error)) (n int, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, &study.InputError{Err: fmt.Errorf("cannot create the output directory: %w", err)}
	}
	for _, f := range files {
		if err := writeAtomic(filepath.Join(dir, f.name), func(w io.Writer) error { return write(w, f.format) }); err != nil {
			return n, err
		}
		n++
	}
	if pictures == nil {
		return n, nil
	}
	drawn, err := pictures()
	if err != nil {
		return n, err
	}
	for _, p := range drawn {
		if err := writeAtomic(filepath.Join(dir, p.Name), p.Write); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
