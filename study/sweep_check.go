package study

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sarchlab/smsim/configs"
)

// lockName is the file in the directory of the results that one sweep at a time holds.
const lockName = ".sweep.lock"

// lockDir keeps other sweeps out of the directory until the function it gives is called.
func lockDir(dir string) (unlock func(), err error) {
	name := filepath.Join(dir, lockName)
	f, busy, err := lockFile(name)
	switch {
	case busy:
		return nil, &InputError{fmt.Errorf("another sweep is writing to %s (it holds %s); wait for its end, or give another directory with --out", dir, name)}
	case err != nil:
		return nil, &InputError{fmt.Errorf("cannot lock the directory of the results: %w", err)}
	}
	return func() {
		_ = os.Remove(name) // what stays does no harm
		f.Close()
	}, nil
}

// checkedValues is the number of values of a key that are tried before a sweep starts.
const checkedValues = 8

// checkOverrides refuses keys and values that no architecture of the sweep takes, with their place, before anything runs. What only some of
// the architectures refuse fails the points of those.
func (f *sweepFile) checkOverrides(s *Sweep) error {
	var archs []*configs.Arch
	load := func(name string) error {
		if slices.ContainsFunc(archs, func(a *configs.Arch) bool { return a.Name == name }) {
			return nil
		}
		a, err := configs.Load(name, nil)
		if err == nil {
			archs = append(archs, a)
		}
		return err
	}
	for _, p := range s.sources {
		for _, name := range f.archs(p) {
			if err := load(name); err != nil {
				return err
			}
		}
	}
	axes := slices.Clone(f.Overrides)
	for _, spec := range f.Points {
		if spec.Arch != "" {
			if err := load(spec.Arch); err != nil {
				return spec.Errorf("%s", err)
			}
		}
		axes = append(axes, spec.Overrides...)
	}
	adds := func(x sweepAxis) bool { return strings.HasPrefix(x.key, "pipes.") && strings.Count(x.key, ".") == 1 }
	if slices.ContainsFunc(axes, adds) {
		return nil // keys and values may be of the pipes that are added
	}
	for _, x := range axes {
		if err := noneTakes(archs, func(a *configs.Arch) error { _, err := a.KeyOf(x.key); return err }); err != nil {
			return x.Errorf("%s", err)
		}
		// Loading an architecture takes a while: of many values the first and the last show what is wrong with a range.
		values := x.values
		if len(values) > checkedValues {
			values = slices.Concat(values[:checkedValues-1], values[len(values)-1:])
		}
		for _, v := range values {
			if err := noneTakes(archs, func(a *configs.Arch) error {
				_, err := configs.Load(a.Name, []configs.Override{{Key: x.key, Value: v, From: x.key}})
				return err
			}); err != nil {
				return x.Errorf("%s", err)
			}
		}
	}
	return nil
}

// noneTakes is the first architecture's error if all of them give one, else nil.
func noneTakes(archs []*configs.Arch, try func(*configs.Arch) error) error {
	var first error
	for _, a := range archs {
		err := try(a)
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}
