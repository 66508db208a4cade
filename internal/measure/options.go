package measure

import (
	"context"
	"strconv"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/engine"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/reference/history"
	"github.com/accelgate/accelgate/internal/reference/remote"
)

// Options are what commands and the action ask of measuring, by theme. Each flag
// sets one field; the zero value is what a plain `accelgate run` means.
type Options struct {
	Sources
	Selection
	Measuring
	Pairing
	Limits
	Injected
}

// Sources are the configuration, and what a run of a host is compared with.
type Sources struct {
	Config      string
	pipedConfig []byte // what Config held, where it is no file
	HostLabel   string
	Baseline    string // a file in place of <baselines>/baseline-<label>.json
	History     string // folder of earlier runs
	// OnBranch returns the earlier runs of a host that are not in a folder, nil if
	// there are none; nil where they are looked for in folders alone.
	OnBranch func(label string) *history.File
	// Remote reads a file of the repository that has the baselines; nil where git does.
	// ok is false where git is to read it all the same.
	Remote func(ctx context.Context, b config.Baselines, path string) (f remote.File, ok bool, err error)
}

// Selection chooses cells. All of them must want a cell.
type Selection struct {
	Suites         []string // names; empty for all
	Only, Skip     []string // ids or globs
	Profile        string
	Tags, SkipTags []string
	Shard          string   // "2/3"
	Durations      []string // run.json, or folders of them, whose times balance the shards and pack cells onto devices
	MaxCells       int      // 0 for the configuration's

	// Runs, if not nil, holds earlier runs by path, so that plans of several hosts read them once.
	Runs map[string]*bench.Run
}

// Measuring says how cells are measured and where the results go.
type Measuring struct {
	Repeats     int // processes a cell; 0 for each suite's own
	Devices     []string
	Health      string        // "auto" or "off"; "" for the configuration's
	WaitHealthy time.Duration // 0 for no wait
	Budget      time.Duration // 0 for the configuration's
	Resume      bool
	Out         string // folder of run.json and the journal
	ModelDir    string // in place of the suites' own
	Revision    string // of the code under test; "" for what git says
	Offline     bool   // download nothing
	NoFetch     bool   // artifacts that the cache lacks stay absent: nothing is measured
	Unlisted    bool   // suites whose cells a program lists have none
	Secret      string // the action's token, used on GitHub and kept out of results
}

// Pairing chooses the base that cells are measured in pairs with.
type Pairing struct {
	AB         string // checkout of the base, a commit, or one of the words of base_open.go
	Desk       bool   // a person runs this and did not say how to compare
	Pairs      int    // of each cell at first; 0 for the procedure's own
	PairSeed   uint64 // 0 for a random one
	ABRevision string // commit of the base; "" for what git says
}

// Limits change what blocks.
type Limits struct {
	Threshold       string // percent; "" for the configuration's
	RequireBaseline bool
	Strict          bool // exit with 1 if a loss beyond its limit is undecided
}

// Injected makes the embedded engine slow or wrong, to show that the gate can fail.
type Injected struct {
	InjectSlowdown string // PHASE=PERCENT
	WeightSeed     string
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
