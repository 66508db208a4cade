package measure

import (
	"strconv"
	"time"

	"github.com/accelgate/accelgate/internal/engine"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/reference/history"
)

// Options are the flags that run, baseline update and the action share.
type Options struct {
	Config          string
	pipedConfig     []byte // what --config held, where it is no file
	Baseline        string // a file in place of <baselines>/baseline-<label>.json
	History         string // folder of kept runs
	HostLabel       string
	Suites          []string
	Only, Skip      []string
	Threshold       string
	RequireBaseline bool
	Repeats         int
	Out             string // folder of run.json and the journal
	ModelDir        string // in place of the suites' own
	Profile         string
	Tags, SkipTags  []string
	Shard           string   // "2/3"
	Durations       []string // run.json, or folders of them, whose times balance the shards
	Devices         []string
	Health          string // "auto" or "off"
	WaitHealthy     time.Duration
	MaxCells        int
	Budget          time.Duration
	Resume          bool
	AB              string // checkout of the base, a commit, or one of the words in ab.go
	abNext          string // what --ab is to be next time, where it was not given
	Desk            bool   // a person runs this and did not say how to compare
	Pairs           int
	PairSeed        uint64
	isBase          bool   // these are the options of the base itself
	ABRevision      string // commit of the base; "" for what git says
	Revision        string
	InjectSlowdown  string
	WeightSeed      string
	// onBranch returns the kept runs of a host that are not in a folder, nil if there
	// are none; nil where nobody looks elsewhere.
	OnBranch func(label string) *history.File
	Secret   string // the action's token, used on GitHub and kept out of results
}

// DefaultConfig is the configuration where --config names none.
const DefaultConfig = "accelgate.yaml"

// DefaultOut is where a run leaves its files, beside the configuration.
const DefaultOut = ".accelgate"

// Check refuses what would only be found after measuring.
func (o *Options) Check() error {
	if o.Repeats > MaxRepeats {
		return exit.Usagef("--repeats is %d: use 1 to %d", o.Repeats, MaxRepeats)
	}
	var slowdown engine.Slowdown
	if o.InjectSlowdown != "" {
		if err := slowdown.Set(o.InjectSlowdown); err != nil {
			return exit.Usagef("--inject-slowdown: %w", err)
		}
	}
	if o.WeightSeed != "" {
		if _, err := strconv.ParseUint(o.WeightSeed, 10, 64); err != nil {
			return exit.Usagef("--weight-seed is %q: use a whole number from 0", o.WeightSeed)
		}
	}
	return nil
}

// MaxRepeats bounds processes a cell and rounds.
const MaxRepeats = 1000

// EngineArgs are what the demonstration flags add to the embedded engine's
// command.
func (o *Options) EngineArgs() []string {
	var args []string
	if o.InjectSlowdown != "" {
		args = append(args, "--inject-slowdown", o.InjectSlowdown)
	}
	if o.WeightSeed != "" {
		args = append(args, "--seed", o.WeightSeed)
	}
	return args
}
