package cli

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/measure"
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

func addConfig(o *measure.HostOptions, f *pflag.FlagSet) {
	f.StringVar(&o.Config, "config", measure.DefaultConfig, "the configuration `file`")
}

// addHost adds the flags that choose the baseline.
func addHost(o *measure.HostOptions, f *pflag.FlagSet) {
	addLabel(o, f)
	f.StringVar(&o.Baseline, "baseline", "", "baseline `file` (default: baseline-<label>.json in the configuration's folder of baselines)")
}

// addLabel adds the flag that names this host.
func addLabel(o *measure.HostOptions, f *pflag.FlagSet) {
	f.StringVar(&o.HostLabel, "host-label", "",
		"`label` of this host (default: ACCELGATE_HOST_LABEL, the configuration's, or derived from the hardware)")
}

// addHistory adds the flag that names the folder of the history.
func addHistory(o *measure.HostOptions, f *pflag.FlagSet) {
	f.StringVar(&o.History, "history", "",
		"`folder` of the history, history-<label>.jsonl (default: the configuration's, or "+measure.DefaultHistory+" in its folder of baselines)")
}

// addPolicy adds the flags that change what blocks.
func addPolicy(o *measure.PolicyOptions, f *pflag.FlagSet) {
	addThreshold(o, f)
	f.BoolVar(&o.RequireBaseline, "require-baseline", false, "do not pass when no baseline can judge the speed")
	f.BoolVar(&o.Strict, "strict", false, "exit with 1 if a loss beyond its limit is undecided")
}

// addThreshold adds the flag that a command has whose exit code does not follow from the decision.
func addThreshold(o *measure.PolicyOptions, f *pflag.FlagSet) {
	f.StringVar(&o.Threshold, "threshold", "",
		"change for the worse, in `percent`, beyond which a metric blocks (default: the configuration's, or 10)")
}

// addSuites adds the flags that choose suites and cells by name.
func addSuites(o *measure.SelectOptions, f *pflag.FlagSet) {
	f.StringSliceVar(&o.Suites, "suite", nil, "`names` of the suites to run, separated by commas (default: all)")
	addNames(o, f)
}

// addMeasure adds the flags of how to measure.
func addMeasure(o *measure.MeasureOptions, f *pflag.FlagSet) {
	f.BoolVar(&o.Offline, "offline", false, "download nothing; an artifact that the cache lacks is an error (default: ACCELGATE_OFFLINE)")
	f.Var((*count)(&o.Repeats), "repeats", "processes per cell, `n` in place of each suite's own")
	f.StringVar(&o.Health, "health", "",
		"`mode`: auto watches the host while it measures, off does not (default: ACCELGATE_HEALTH, the configuration's, or auto)")
	f.Var((*period)(&o.WaitHealthy), "wait-healthy", "wait up to this `time` for a healthy host before measuring, as in 10m")
	f.Var((*period)(&o.Budget), "budget", "end measuring after this `time` and list the cells left out (default: the configuration's)")
	f.BoolVar(&o.Resume, "resume", false,
		"keep the measurements of an interrupted run of the same build and configuration; failures are measured again")
	f.StringVar(&o.Out, "out", "", "`folder` for run.json and the journal (default: "+measure.DefaultOut+" beside the configuration)")
	f.StringVar(&o.Revision, "revision", "", "`commit` of the code under test (default: git's HEAD)")
}

// addDevices adds the flag that names accelerators.
func addDevices(o *measure.MeasureOptions, f *pflag.FlagSet) {
	f.StringSliceVar(&o.Devices, "devices", nil,
		"`ids` of the accelerators to measure on, one cell at a time on each, as in 0,1 (default: ACCELGATE_DEVICES or the configuration's)")
}

// addPairs adds the flags of pairs with a base. Commands that compare a run with itself
// have none.
func addPairs(o *measure.PairOptions, f *pflag.FlagSet) {
	f.StringVar(&o.AB, "ab", "",
		"the `base` to measure in pairs with: auto finds the merge base with the default branch and builds it, off measures no pairs; else a folder with a checkout that is built, or a commit (default: auto on a desk, off in CI)")
	f.Var((*count)(&o.Pairs), "pairs", "`n` pairs of every cell at first; cells that may be slower are measured in up to 30 (default: 2)")
	f.Uint64Var(&o.PairSeed, "pair-seed", 0, "`seed` of the order within pairs, as in run.json (default: chosen)")
}

// unmeasured refuses the flags of measuring beside --from, where they have no effect.
// Those of has do have one.
func unmeasured(flags *pflag.FlagSet, from string, has ...string) (err error) {
	if from == "" {
		return nil
	}
	var measuring pflag.FlagSet
	addAllOfMeasuring(&measure.Options{}, &measuring)
	flags.Visit(func(f *pflag.Flag) {
		if err == nil && measuring.Lookup(f.Name) != nil && !slices.Contains(has, f.Name) {
			err = exit.Usagef("--%s has no effect beside --from, which takes the run as it is: leave one of the two out", f.Name)
		}
	})
	return err
}

// addDemonstration adds the flags that make the embedded engine slow or wrong. No
// command that records, or proves something of the gate, has them.
func addDemonstration(o *measure.DemonstrationOptions, f *pflag.FlagSet) {
	f.StringVar(&o.InjectSlowdown, "inject-slowdown", "",
		"make the embedded engine slower by `PHASE=PERCENT`, as in decode=30%, to see the gate fail")
	f.StringVar(&o.WeightSeed, "weight-seed", "", "give the embedded engine other weights by this `seed`, to see the gate fail")
}

// addAllOfMeasuring adds the flags of a command that measures in pairs, too.
func addAllOfMeasuring(o *measure.Options, f *pflag.FlagSet) {
	addSuites(&o.SelectOptions, f)
	addParts(&o.SelectOptions, f)
	addMeasure(&o.MeasureOptions, f)
	addDevices(&o.MeasureOptions, f)
	addPairs(&o.PairOptions, f)
}

// addNames adds the flags that choose cells by their ids.
func addNames(o *measure.SelectOptions, f *pflag.FlagSet) {
	f.StringArrayVar(&o.Only, "only", nil, "measure only this case `id` or glob; may be repeated")
	f.StringArrayVar(&o.Skip, "skip", nil, "leave out this case `id` or glob; may be repeated")
}

// addParts adds the flags that choose cells by what the configuration says.
func addParts(o *measure.SelectOptions, f *pflag.FlagSet) {
	f.StringVar(&o.Profile, "profile", "", "measure only the cells of this profile, `name` as in smoke")
	f.StringSliceVar(&o.Tags, "tags", nil, "measure only cells with one of these `tags`")
	f.StringSliceVar(&o.SkipTags, "skip-tags", nil, "leave out cells with one of these `tags`")
	f.StringVar(&o.Shard, "shard", "", "measure only part `k/n` of the cells")
	f.StringArrayVar(&o.Durations, "durations", nil, "`run.json` of an earlier run, a history, or a folder of them, "+
		"whose times make the shards equally long, and pack cells onto devices; may be repeated")
	f.Var((*count)(&o.MaxCells), "max-cells", "measure at most `n` cells and list those left out (default: the configuration's)")
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
func addModels(o *measure.HostOptions, f *pflag.FlagSet) {
	f.StringVar(&o.ModelDir, "model-dir", "", "`folder` in which suites look for models (default: the configuration's)")
}

// refuseEmpty refuses some flags that are given without a value, as by a variable that is not set: they
// would have no effect.
func refuseEmpty(cmd *cobra.Command, flags ...string) error {
	for _, name := range flags {
		if f := cmd.Flags().Lookup(name); f.Changed && f.Value.String() == "" {
			return exit.Usagef("--%s is empty: give it a value, or leave it out", name)
		}
	}
	return nil
}
