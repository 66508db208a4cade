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

// Options are all that can be asked of measuring. A command embeds the groups that it has flags
// for, and makes Options of them; the zero value is what a plain `accelgate run` means.
type Options struct {
	HostOptions
	SelectOptions
	MeasureOptions
	PairOptions
	PolicyOptions
	DemonstrationOptions
}

// HostOptions are the configuration, the host, and what a run of it is compared with.
type HostOptions struct {
	Config      string
	pipedConfig []byte // what Config held, where it is no file
	HostLabel   string
	Baseline    string // a file in place of <baselines>/baseline-<label>.json
	History     string // folder of earlier runs
	ModelDir    string // in place of the suites' own
	Secret      string // the action's token, used on GitHub and kept out of results
	// OnBranch returns the earlier runs of a host that are not in a folder, nil if
	// there are none; nil where they are looked for in folders alone.
	OnBranch func(label string) *history.File
	// Remote reads a file of the repository that has the baselines; nil where git does.
	// ok is false where git is to read it all the same.
	Remote func(ctx context.Context, b config.Baselines, path string) (f remote.File, ok bool, err error)
}

// SelectOptions choose cells. All of them must want a cell.
type SelectOptions struct {
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

// MeasureOptions are how cells are measured and where the results go.
type MeasureOptions struct {
	Repeats     int // processes a cell; 0 for each suite's own
	Devices     []string
	Health      string        // "auto" or "off"; "" for the configuration's
	WaitHealthy time.Duration // 0 for no wait
	Budget      time.Duration // 0 for the configuration's
	Resume      bool
	Out         string // folder of run.json and the journal
	Revision    string // of the code under test; "" for what git says
	Offline     bool   // download nothing
	NoFetch     bool   // artifacts that the cache lacks stay absent: nothing is measured
	Unlisted    bool   // suites whose cells a program lists have none
}

// PairOptions choose the base that cells are measured in pairs with.
type PairOptions struct {
	AB         string // checkout of the base, a commit, or one of the words of base_open.go
	Desk       bool   // a person runs this and did not say how to compare
	Pairs      int    // of each cell at first; 0 for the procedure's own
	PairSeed   uint64 // 0 for a random one
	ABRevision string // commit of the base; "" for what git says
}

// PolicyOptions change what blocks.
type PolicyOptions struct {
	Threshold       string // percent; "" for the configuration's
	RequireBaseline bool
	Strict          bool // exit with 1 if a loss beyond its limit is undecided
}

// DemonstrationOptions make the embedded engine slow or wrong, to show that the gate can fail.
type DemonstrationOptions struct {
	InjectSlowdown string // PHASE=PERCENT
	WeightSeed     string
}

// DefaultConfig is the configuration where --config names none.
const DefaultConfig = "accelgate.yaml"

// DefaultOut is where a run leaves its files, beside the configuration.
const DefaultOut = ".accelgate"

// check refuses what would only be found after measuring.
func (o *Options) check() error {
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
func (o *DemonstrationOptions) EngineArgs() []string {
	var args []string
	if o.InjectSlowdown != "" {
		args = append(args, "--inject-slowdown", o.InjectSlowdown)
	}
	if o.WeightSeed != "" {
		args = append(args, "--seed", o.WeightSeed)
	}
	return args
}
