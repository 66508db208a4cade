package cli

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/accelgate/accelgate/internal/engine"
	"github.com/accelgate/accelgate/internal/reference/history"
	"github.com/accelgate/accelgate/internal/text"
)

// flagError turns a complaint about a flag into a usage error with the nearest
// flag that exists.
func flagError(cmd *cobra.Command, err error) error {
	near := ""
	if name, ok := strings.CutPrefix(err.Error(), "unknown flag: --"); ok {
		if near = text.Nearest(name, flagNames(cmd)); near != "" {
			near = "--" + near
		}
	}
	return complaint(cmd, err, near)
}

func flagNames(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

// options are the flags that run, baseline update and the action share.
type options struct {
	config          string
	pipedConfig     []byte // what --config held, where it is no file
	baseline        string // a file in place of <baselines>/baseline-<label>.json
	history         string // folder of the history
	hostLabel       string
	suites          []string
	only, skip      []string
	threshold       string
	requireBaseline bool
	repeats         int
	out             string // folder of run.json and the journal
	modelDir        string // in place of the suites' own
	profile         string
	tags, skipTags  []string
	shard           string   // "2/3"
	durations       []string // run.json, or folders of them, whose times balance the shards
	devices         []string
	health          string // "auto" or "off"
	waitHealthy     time.Duration
	maxCells        int
	budget          time.Duration
	resume          bool
	ab              string // checkout of the base, a commit, or one of the words in ab.go
	abNext          string // what --ab is to be next time, where it was not given
	desk            bool   // a person runs this and did not say how to compare
	pairs           int
	pairSeed        uint64
	isBase          bool   // these are the options of the base itself
	abRevision      string // commit of the base; "" for what git says
	revision        string
	injectSlowdown  string
	weightSeed      string
	// onBranch returns the runs of a host's history that are not in a folder, nil if there
	// are none; nil where nobody looks elsewhere.
	onBranch func(label string) *history.File
	secret   string // the action's token, used on GitHub and kept out of results
}

// defaultConfig is the configuration where --config names none.
const defaultConfig = "accelgate.yaml"

// defaultOut is where a run leaves its files, beside the configuration.
const defaultOut = ".accelgate"

func (o *options) addConfig(f *pflag.FlagSet) {
	f.StringVar(&o.config, "config", defaultConfig, "the configuration `file`")
}

// addHost adds the flags that choose the baseline.
func (o *options) addHost(f *pflag.FlagSet) {
	f.StringVar(&o.hostLabel, "host-label", "", "`label` of this host (default: ACCELGATE_HOST_LABEL, the configuration's, or derived from the machine)")
	f.StringVar(&o.baseline, "baseline", "", "baseline `file` (default: baseline-<label>.json in the configuration's folder of baselines)")
}

// addHistory adds the flag that names the folder of the history.
func (o *options) addHistory(f *pflag.FlagSet) {
	f.StringVar(&o.history, "history", "", "`folder` of the history, history-<label>.jsonl (default: the configuration's, or "+defaultHistory+" in its folder of baselines)")
}

// addPolicy adds the flags that change what blocks.
func (o *options) addPolicy(f *pflag.FlagSet) {
	f.StringVar(&o.threshold, "threshold", "", "change for the worse, in `percent`, beyond which a metric blocks (default: the configuration's, or 10)")
	f.BoolVar(&o.requireBaseline, "require-baseline", false, "do not pass when no baseline can judge the speed")
}

// addMeasure adds the flags of what and how to measure.
func (o *options) addMeasure(f *pflag.FlagSet) {
	o.addMeasuring(f)
	o.addParts(f)
}

// addMeasuring adds the flags of how to measure, and of which suites and cells
// by name.
func (o *options) addMeasuring(f *pflag.FlagSet) {
	f.StringSliceVar(&o.suites, "suite", nil, "`names` of the suites to run, separated by commas (default: all)")
	o.addNames(f)
	f.Var((*count)(&o.repeats), "repeats", "processes per cell, `n` in place of each suite's own")
	f.StringSliceVar(&o.devices, "devices", nil, "`ids` of the accelerators to measure on, one cell at a time on each, as in 0,1 (default: ACCELGATE_DEVICES or the configuration's)")
	f.StringVar(&o.health, "health", "", "`mode`: auto watches the machine while it measures, off does not (default: ACCELGATE_HEALTH, the configuration's, or auto)")
	f.Var((*period)(&o.waitHealthy), "wait-healthy", "wait up to this `time` for a healthy host before measuring, as in 10m")
	f.Var((*period)(&o.budget), "budget", "end measuring after this `time` and declare what was left out (default: the configuration's)")
	f.BoolVar(&o.resume, "resume", false, "keep what an interrupted run of the same build and configuration has measured; failures are measured again")
	f.StringVar(&o.ab, "ab", "", "the `base` to measure in pairs with: auto finds the merge base with the default branch and builds it, off measures no pairs; else a folder with a checkout that is built, or a commit (default: auto on a desk, off in CI)")
	f.Var((*count)(&o.pairs), "pairs", "`n` pairs of every cell at first; cells that may be slower are measured in up to 30 (default: 2)")
	f.Uint64Var(&o.pairSeed, "pair-seed", 0, "`seed` of the order within pairs, as in run.json (default: chosen)")
	f.StringVar(&o.out, "out", "", "`folder` for run.json and the journal (default: "+defaultOut+" beside the configuration)")
	f.StringVar(&o.revision, "revision", "", "`commit` of the code under test (default: what git says)")
}

// addDemonstration adds the flags that make the embedded engine slow or wrong. No
// command that records, or proves something of the gate, has them.
func (o *options) addDemonstration(f *pflag.FlagSet) {
	f.StringVar(&o.injectSlowdown, "inject-slowdown", "", "make the embedded engine slower by `PHASE=PERCENT`, as in decode=30%, to see the gate fail")
	f.StringVar(&o.weightSeed, "weight-seed", "", "give the embedded engine other weights by this `seed`, to see the gate fail")
}

// addSelection adds the flags that choose cells.
func (o *options) addSelection(f *pflag.FlagSet) {
	o.addNames(f)
	o.addParts(f)
}

// addNames adds the flags that choose cells by their ids.
func (o *options) addNames(f *pflag.FlagSet) {
	f.StringArrayVar(&o.only, "only", nil, "measure only this case `id` or glob; may be repeated")
	f.StringArrayVar(&o.skip, "skip", nil, "leave out this case `id` or glob; may be repeated")
}

// addParts adds the flags that choose cells by what the configuration says.
func (o *options) addParts(f *pflag.FlagSet) {
	o.addModels(f)
	f.StringVar(&o.profile, "profile", "", "measure only the cells of this profile, `name` as in smoke")
	f.StringSliceVar(&o.tags, "tags", nil, "measure only cells with one of these `tags`")
	f.StringSliceVar(&o.skipTags, "skip-tags", nil, "leave out cells with one of these `tags`")
	f.StringVar(&o.shard, "shard", "", "measure only part `k/n` of the cells")
	f.StringArrayVar(&o.durations, "durations", nil, "`run.json` of an earlier run, or a folder of them, whose times make the shards equally long; may be repeated")
	f.Var((*count)(&o.maxCells), "max-cells", "measure at most `n` cells and declare what was left out (default: the configuration's)")
}

// count is a flag that takes a whole number from 1 on; 0 means that it was not
// given, so a script that computes 0 does not measure everything.
type count int

func (c *count) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return errors.New("use a whole number from 1 on")
	}
	*c = count(n)
	return nil
}

func (c *count) String() string { return "" }
func (c *count) Type() string   { return "int" }

// period is a flag that takes a positive duration.
type period time.Duration

func (p *period) Set(s string) error {
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return errors.New("use a positive duration such as 30m")
	}
	*p = period(d)
	return nil
}

func (p *period) String() string { return "" }
func (p *period) Type() string   { return "duration" }

// addModels adds the flag that says where models are.
func (o *options) addModels(f *pflag.FlagSet) {
	f.StringVar(&o.modelDir, "model-dir", "", "`folder` in which suites look for models (default: the configuration's)")
}

// check refuses what would only be found after measuring.
func (o *options) check() error {
	if o.repeats > maxRepeats {
		return usagef("--repeats is %d: use 1 to %d", o.repeats, maxRepeats)
	}
	var slowdown engine.Slowdown
	if o.injectSlowdown != "" {
		if err := slowdown.Set(o.injectSlowdown); err != nil {
			return usagef("--inject-slowdown: %w", err)
		}
	}
	if o.weightSeed != "" {
		if _, err := strconv.ParseUint(o.weightSeed, 10, 64); err != nil {
			return usagef("--weight-seed is %q: use a whole number from 0", o.weightSeed)
		}
	}
	return nil
}

const maxRepeats = 1000

// engineArgs are what the demonstration flags add to the embedded engine's
// command.
func (o *options) engineArgs() []string {
	var args []string
	if o.injectSlowdown != "" {
		args = append(args, "--inject-slowdown", o.injectSlowdown)
	}
	if o.weightSeed != "" {
		args = append(args, "--seed", o.weightSeed)
	}
	return args
}
