package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"github.com/sarchlab/smsim/configs/strictyaml"
	"github.com/sarchlab/smsim/study"
	"github.com/sarchlab/smsim/workloads"
)

// envPrefix begins the environment variables that replace flags: SMSIM_CYCLE_LIMIT for --cycle-limit.
const envPrefix = "SMSIM"

func addTargetFlags(f *pflag.FlagSet) {
	f.StringSlice("arch", nil, "architectures, such as sm_86,sm_90, or files of your own (default: those of FILE, else "+study.DefaultArch+")")
	f.StringArray("set", nil, "change a number of the architecture, such as lsu.l1_latency=40 (repeatable; smsim arch show NAME lists the keys)")
	f.StringSlice("kernel", nil, "one kernel of a PTX file, machine-code listing or workload; one or more variants of a study")
	addKernelFlags(f)
}

// addKernelFlags adds how kernel files are read, once.
func addKernelFlags(f *pflag.FlagSet) {
	if f.Lookup("assume-unknown") != nil {
		return
	}
	f.Bool("assume-unknown", false, "unknown instructions of a machine-code listing take time by their name's family and change nothing")
	f.String("semantics", "hardware", "whose results count where GPUs and the PTX document differ: hardware or document")
}

func addRunFlags(f *pflag.FlagSet) {
	addTargetFlags(f)
	addLaunchFlags(f)
	f.String("board", "", "product that gives SM count, clock and memory (default: the architecture's)")
	f.StringSlice("launch", nil, "launches of a study to run (default: all)")
	f.String("blocks", "", "blocks this SM runs: sm-share (0, nSM, 2 nSM, ...), whole, a count such as 8, or a list of blocks such as [0,132] or 0,132 (0: block 0)")
	f.Int("sms", 0, "SMs that share the grid (default: the board's)")
	f.String("caches", "", "caches at the launch: warm or cold (default warm)")
	f.String("check", "", "compare the output: auto, run (blocks that ran), whole or none (default auto)")
	f.Uint64("cycle-limit", 0, fmt.Sprintf("end a simulation after that many cycles (default %d)", uint64(study.DefaultCycleLimit)))
	f.String("out", "", "directory for report.txt, report.json, runs.csv and pictures")
	f.String("format", "", "format on standard output: text, json or csv (default text)")
	f.Bool("plots", false, "write pictures (SVG and PNG) to the output directory")
	f.Bool("quiet", false, "no progress, no messages")
	f.Int("workers", 0, "simulations at once (default: one per CPU)")
}

// setOutUsage says which files a command with addRunFlags writes.
func setOutUsage(f *pflag.FlagSet, name string) {
	f.Lookup("out").Usage = fmt.Sprintf("directory for %s.txt, .json and .csv, and with --plots pictures", name)
}

// addLaunchFlags adds what makes a launch of a bare kernel file.
func addLaunchFlags(f *pflag.FlagSet) {
	f.String("grid", "", "blocks, such as 132 or 16,16")
	f.String("block", "", "threads a block, such as 128 or 32,8")
	f.Int("shared", 0, "dynamic shared memory a block, bytes")
	f.Int("static-shared", 0, "static shared memory a block of a machine-code listing without resource lines, bytes (default: what the code touches)")
	f.StringArray("const", nil, "BANK:OFFSET=WORD,...: words of a constant bank that a machine-code listing does not show, such as 2:0=0x01010101 (repeatable)")
	f.String("module", "", "PTX file that declares the module variables (__device__, __constant__) of a machine-code listing")
	f.StringArray("arg", nil, "kernel argument (repeatable, in order; smsim run --help shows the notation)")
	addKernelFlags(f)
}

// kernelSettings puts the settings of addKernelFlags into the plan.
func (s *settings) kernelSettings(plan *workloads.Plan) error {
	plan.AssumeUnknown = s.v.GetBool("assume-unknown")
	if s.flags.Lookup("semantics") == nil {
		return nil
	}
	var err error
	plan.Semantics, err = semanticsOf(s.v.GetString("semantics"))
	return err
}

// settings merges flags, environment and run file.
type settings struct {
	v     *viper.Viper
	flags *pflag.FlagSet
	// both says that settings for machine-code listings are given for whichever of two kernels is one.
	both bool
}

// newSettings reads flags and environment. An environment variable with the prefix that is no setting is an error.
func newSettings(cmd *cobra.Command) (*settings, error) {
	s := &settings{v: viper.New(), flags: cmd.Flags()}
	s.v.SetEnvPrefix(envPrefix)
	s.v.SetEnvKeyReplacer(strings.NewReplacer("-", "_"))
	s.v.AutomaticEnv()
	if err := s.v.BindPFlags(s.flags); err != nil {
		return nil, err
	}
	var names []string
	s.flags.VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" {
			names = append(names, envName(f.Name))
		}
	})
	all := slices.Concat(names, []string{envName("arch")}, runEnvNames())
	for _, kv := range os.Environ() {
		name, value, _ := strings.Cut(kv, "=")
		if value != "" && strings.HasPrefix(name, envPrefix+"_") && !slices.Contains(all, name) {
			return nil, usageError{fmt.Errorf("environment variable %s is not a setting%s", name, strictyaml.DidYouMean(name, all))}
		}
	}
	for _, name := range names {
		if err := s.checkEnv(name); err != nil {
			return nil, err
		}
	}
	if s.flags.Lookup("workers") != nil {
		if from, ok := s.origin("workers"); ok && s.v.GetInt("workers") < 0 {
			return nil, bad(from, fmt.Errorf("%d is negative; 0 is one per CPU", s.v.GetInt("workers")))
		}
	}
	return s, nil
}

// runEnvNames are the variables of all commands: one that another command knows is no mistake.
func runEnvNames() []string {
	var out []string
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	addRunFlags(f)
	addOwnRunFlags(f)
	f.VisitAll(func(f *pflag.Flag) { out = append(out, envName(f.Name)) })
	return out
}

func envName(flag string) string {
	return envPrefix + "_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// checkEnv parses the variable as its flag would be: viper turns wrong numbers into zero.
func (s *settings) checkEnv(name string) error {
	value := os.Getenv(name)
	if value == "" {
		return nil
	}
	var err error
	s.flags.VisitAll(func(f *pflag.Flag) {
		if envName(f.Name) != name {
			return
		}
		switch f.Value.Type() {
		case "int":
			_, err = strconv.Atoi(value)
		case "uint64":
			_, err = strconv.ParseUint(value, 10, 64)
		case "bool":
			_, err = strconv.ParseBool(value)
		}
	})
	if err != nil {
		return usageError{fmt.Errorf("environment variable %s=%q: %s", name, value, "not a value of --"+strings.ToLower(strings.ReplaceAll(name[len(envPrefix)+1:], "_", "-")))}
	}
	return nil
}

// origin names where a setting was given outside the run file: a flag or an environment variable; ok is false if nowhere.
func (s *settings) origin(key string) (name string, ok bool) {
	if s.flags.Changed(key) {
		return "--" + key, true
	}
	if os.Getenv(envName(key)) != "" {
		return envName(key), true
	}
	return "", false
}

// text is a setting with one value, "" if the command does not have it.
func (s *settings) text(key string) string {
	if s.flags.Lookup(key) == nil {
		return ""
	}
	return s.v.GetString(key)
}

// list is a setting with several values; in the environment they are separated by commas or spaces.
func (s *settings) list(key string) []string {
	if f := s.flags.Lookup(key); f != nil && f.Changed {
		if v, ok := f.Value.(pflag.SliceValue); ok {
			return v.GetSlice()
		}
	}
	return strings.FieldsFunc(os.Getenv(envName(key)), func(r rune) bool { return r == ',' || r == ' ' })
}

// bad is the error for a setting with a wrong value.
func bad(origin string, err error) error { return usageError{fmt.Errorf("%s: %w", origin, err)} }

// format is the format on standard output.
func (s *settings) format() (string, error) {
	f := s.v.GetString("format")
	if f == "" {
		return "text", nil
	}
	f, err := workloads.ParseFormat(f)
	if err != nil {
		from, _ := s.origin("format")
		return "", bad(from, err)
	}
	return f, nil
}

// plan reads FILE or FILE:KERNEL and applies flags and environment. A kernel behind the file's name stands before --kernel.
func (s *settings) plan(name string, in io.Reader) (*workloads.Plan, error) {
	file, kernel := splitKernel(name)
	plan, err := s.load(file, in)
	if err != nil {
		return nil, err
	}
	if err := s.fill(plan); err != nil {
		return nil, err
	}
	if err := choose(plan, name, kernel); err != nil {
		return nil, err
	}
	return plan, launched(plan)
}

// fill applies flags and environment to what a file says.
func (s *settings) fill(plan *workloads.Plan) error {
	if err := s.applyTarget(plan); err != nil {
		return err
	}
	if err := s.applyChoices(plan); err != nil {
		return err
	}
	if plan.Study {
		return s.applyStudy(plan)
	}
	return s.applyLaunch(plan)
}

// applyTarget replaces architectures, board and numbers of the architecture.
func (s *settings) applyTarget(plan *workloads.Plan) error {
	if from, ok := s.origin("arch"); ok {
		plan.Archs, plan.Places = s.list("arch"), nil
		if len(plan.Archs) == 0 || slices.Contains(plan.Archs, "") {
			return bad(from, errors.New("the name of an architecture is empty; give one such as sm_86"))
		}
	}
	if b := s.text("board"); b != "" {
		plan.Board = b
		delete(plan.Places, "board")
		if _, ok := s.origin("arch"); !ok && len(plan.Archs) != 1 {
			arch, err := study.BoardArch(b)
			if err != nil {
				from, _ := s.origin("board")
				return bad(from, err)
			}
			plan.Archs = []string{arch}
		}
	}
	if err := s.kernelSettings(plan); err != nil {
		return err
	}
	from, _ := s.origin("set")
	for _, kv := range s.list("set") {
		k, v, ok := strings.Cut(kv, "=")
		if !ok || k == "" || v == "" {
			return bad(from, fmt.Errorf("%q is not key=value, such as lsu.l1_latency=40", kv))
		}
		plan.Overrides = append(plan.Overrides, workloads.Override{Key: k, Value: v, Place: strictyaml.Place{File: from}})
	}
	return nil
}

// applyChoices replaces what is simulated of the grid, checks and outputs.
func (s *settings) applyChoices(plan *workloads.Plan) error {
	var err error
	if from, ok := s.origin("blocks"); ok {
		if plan.Places == nil {
			plan.Places = map[string]strictyaml.Place{}
		}
		plan.Places["blocks"] = strictyaml.Place{File: from}
		if plan.Blocks, err = workloads.ParseBlocks(s.v.GetString("blocks")); err != nil {
			return bad(from, err)
		}
	}
	if from, ok := s.origin("sms"); ok {
		if plan.SMs = s.v.GetInt("sms"); plan.SMs < 1 {
			return bad(from, fmt.Errorf("must be 1 or more, not %d", plan.SMs))
		}
	}
	if from, ok := s.origin("caches"); ok {
		if plan.Caches, err = workloads.ParseCaches(s.v.GetString("caches")); err != nil {
			return bad(from, err)
		}
	}
	if from, ok := s.origin("check"); ok {
		if plan.Check, err = workloads.ParseCheckMode(s.v.GetString("check")); err != nil {
			return bad(from, err)
		}
	}
	if from, ok := s.origin("cycle-limit"); ok {
		if plan.CycleLimit = s.v.GetUint64("cycle-limit"); plan.CycleLimit == 0 {
			return bad(from, fmt.Errorf("must be 1 or more"))
		}
	}
	if _, ok := s.origin("out"); ok {
		plan.Outputs.Dir = s.v.GetString("out")
	}
	if _, ok := s.origin("plots"); ok {
		plan.Outputs.Plots = s.v.GetBool("plots")
	}
	return nil
}

// applyStudy selects variants and launches. The geometry of a study stands in its file.
func (s *settings) applyStudy(plan *workloads.Plan) error {
	for _, key := range []string{"grid", "block", "shared", "static-shared", "const", "module", "arg"} {
		if from, ok := s.origin(key); ok {
			return bad(from, fmt.Errorf("%s is a study, whose launches stand in the file; choose some with --launch and --kernel", plan.Path))
		}
	}
	for _, sel := range []struct {
		key, what string
		known     []string
		of        func(*workloads.Case) []string
	}{
		{"launch", "launch", plan.Launches(), func(c *workloads.Case) []string { return []string{c.Launch} }},
		{"kernel", "variant or kernel", plan.Variants(), func(c *workloads.Case) []string { return []string{c.Variant, c.Entry} }},
	} {
		from, ok := s.origin(sel.key)
		if !ok {
			continue
		}
		wanted := s.list(sel.key)
		used := map[string]bool{}
		plan.Cases = slices.DeleteFunc(plan.Cases, func(c *workloads.Case) bool {
			keep := false
			for _, n := range sel.of(c) {
				if slices.Contains(wanted, n) {
					keep, used[n] = true, true
				}
			}
			return !keep
		})
		for _, w := range wanted {
			if !used[w] {
				return bad(from, fmt.Errorf("%s has no %s %q%s", plan.Path, sel.what, w, strictyaml.DidYouMean(w, sel.known)))
			}
		}
	}
	return nil
}
