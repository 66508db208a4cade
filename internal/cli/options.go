package cli

import (
	"strconv"
	"time"

	"github.com/accelgate/accelgate/internal/engine"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/reference/history"
)

// options are the flags that run, baseline update and the action share.
type options struct {
	config          string
	pipedConfig     []byte // what --config held, where it is no file
	baseline        string // a file in place of <baselines>/baseline-<label>.json
	history         string // folder of kept runs
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
	// onBranch returns the kept runs of a host that are not in a folder, nil if there
	// are none; nil where nobody looks elsewhere.
	onBranch func(label string) *history.File
	secret   string // the action's token, used on GitHub and kept out of results
}

// defaultConfig is the configuration where --config names none.
const defaultConfig = "accelgate.yaml"

// defaultOut is where a run leaves its files, beside the configuration.
const defaultOut = ".accelgate"

// check refuses what would only be found after measuring.
func (o *options) check() error {
	if o.repeats > maxRepeats {
		return exit.Usagef("--repeats is %d: use 1 to %d", o.repeats, maxRepeats)
	}
	var slowdown engine.Slowdown
	if o.injectSlowdown != "" {
		if err := slowdown.Set(o.injectSlowdown); err != nil {
			return exit.Usagef("--inject-slowdown: %w", err)
		}
	}
	if o.weightSeed != "" {
		if _, err := strconv.ParseUint(o.weightSeed, 10, 64); err != nil {
			return exit.Usagef("--weight-seed is %q: use a whole number from 0", o.weightSeed)
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
