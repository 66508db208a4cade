// Package policy makes the gate's policy from a configuration. It decides nothing: what a policy means is in package gate.
package policy

import (
	"cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/compat"
)

// Flags are what a command line sets over the configuration.
type Flags struct {
	Threshold       string // percent, "" for that of the configuration
	RequireBaseline bool
	Strict          bool
	Profile         string
	Part            bool // of the matrix: other jobs measure the rest
}

// Kind has what a kind of suite reads of its own configuration and files for the gate; nil where it has none of it. They
// are read wherever a run is judged, and never taken from a run.
type Kind struct {
	Expect func(s *config.Suite, dir string) ([]bench.Expected, error)
	// Operators compares operators that Expect read.
	Operators gate.OperatorJudge
	Demand    func(s *config.Suite) (func(bench.Cell) []bench.Demand, error)
	Limits    func(s *config.Suite) ([]config.Limit, error)
	Shown     func(s *config.Suite) ([]string, error)
}

// Kinds are the kinds of suites by name.
type Kinds map[string]Kind

// hasEntries reports whether the configuration's entries about cells count: some other tools have none.
func hasEntries(file *config.File) bool { return compat.Tool(file.Policy.Compat).Rules().Entries }

// Of settles what blocks: flag over file over built-in.
func Of(file *config.File, flags Flags, kinds Kinds) (gate.Policy, error) {
	p := gate.DefaultPolicy()
	if file.Policy.Threshold != nil {
		p.Threshold = float64(*file.Policy.Threshold)
	}
	if flags.Threshold != "" {
		var percent config.Percent
		if err := percent.UnmarshalText([]byte(flags.Threshold)); err != nil {
			return p, exit.Usagef("--threshold: %w", err)
		}
		p.Threshold = float64(percent)
	}
	p.RequireBaseline = flags.RequireBaseline || file.Policy.RequireBaseline != nil && *file.Policy.RequireBaseline
	p.Strict = flags.Strict
	p.Part = flags.Part
	p.Profile = flags.Profile
	p.Fingerprint, p.LeftOut, p.Compat = file.Policy.Fingerprint, file.Policy.LeftOut, compat.Tool(file.Policy.Compat)
	if file.Policy.Improvement == gate.ImprovementFail {
		p.Improvement = gate.ImprovementFail
	}
	p.Method, p.Inconclusive, p.Unhealthy = gate.Method(file.Policy.Method), file.Policy.Inconclusive, file.Policy.Unhealthy
	if file.Policy.FalseAlarms != nil {
		p.FalseAlarms = float64(*file.Policy.FalseAlarms)
	}
	p.Runs = file.Baselines.LastRuns()
	p.OneLook = file.Policy.Remeasure != nil && *file.Policy.Remeasure == 0
	if file.Policy.Threshold != nil || flags.Threshold != "" {
		p.MinEffect = max(p.Threshold, minimumEffect) // a given limit is that of evidence, too
	}
	if m := file.Policy.MinEffect; m != nil && flags.Threshold == "" {
		p.MinEffect = max(float64(*m), minimumEffect)
	}
	p.Drift = max(gate.DefaultDrift, p.Threshold) // what is allowed in one step is no drift
	if d := file.Policy.Drift; d != nil {
		p.Drift = float64(*d)
	}
	if f := file.Policy.Implausible; f != nil {
		p.Implausible = float64(*f)
	}
	var err error
	if p.Expected, err = kinds.expected(file); err != nil {
		return p, err
	}
	p.Operators = kinds.operators(file)
	if p.Demands, err = kinds.demanded(file); err != nil {
		return p, err
	}
	for _, read := range []func(*config.File) ([]gate.Rule, error){kinds.limits, kinds.shown, fits} {
		rules, err := read(file)
		if err != nil {
			return p, err
		}
		p.Rules = append(p.Rules, rules...)
	}
	p.LargestLimit = largest(p.Rules)
	return p, refuseLevels(file)
}

// minimumEffect stands for 0 %, which the gate takes for an absent limit.
const minimumEffect = 0.001

// Check refuses limits, fits and levels of a suite that nothing in it can meet: a misspelt name would limit
// nothing. Which cells there are may differ from host to host, so entries for other hosts are not held against the cells.
func Check(s *config.Suite, metrics []bench.Metric, cells []bench.Cell, host string) error {
	h := onHost(host)
	return cmp.Or(h.checkLimits(s, metrics, cells), h.checkFits(s, metrics, cells), h.checkLevels(s, cells))
}

// onHost is the label of the host that cells are measured on.
type onHost string
