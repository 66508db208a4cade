package judge

import (
	"crypto/ed25519"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/compat"
	"github.com/accelgate/accelgate/internal/gate/diff"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/text"
)

// Diff compares two documents number by number, without a configuration.
type Diff struct {
	Tolerance string   // relative change that is none, as in "2%" or "0.02"
	Strict    bool     // regressions, and what vanished, fail
	Compat    string   // the tool by whose rules it compares; "" is this one
	Format    string   // table, markdown or json
	Context   []string // levels of differences in conditions, NAME=LEVEL
	// Verify is ByName, where Key is nil, or names the file of Key; "" verifies nothing.
	Verify string
	Key    ed25519.PublicKey
	// AllowContext compares under other conditions, too.
	AllowContext bool
}

// ByName verifies envelopes by the hash in their names.
const ByName = "name"

// Run compares two documents, prints the difference to w, and returns the exit code.
func (d *Diff) Run(w io.Writer, baselinePath, candidatePath string) (int, error) {
	policy, err := d.policy()
	if err != nil {
		return 0, err
	}
	render, err := d.renderer(policy)
	if err != nil {
		return 0, err
	}
	before, err := d.readSide(baselinePath)
	if err != nil {
		return 0, err
	}
	after, err := d.readSide(candidatePath)
	if err != nil {
		return 0, err
	}
	found := diff.Compare(before, after, policy)
	if err := render(w, found); err != nil {
		return 0, err
	}
	return exitOfDiff(found), nil
}

// exitOfDiff maps a difference to the exit code.
func exitOfDiff(d diff.Difference) int {
	switch {
	case d.Refused != "":
		return exit.NoMeasure
	case d.Failed:
		return exit.GateFailed
	}
	return exit.Passed
}

// policy settles the flags.
func (d *Diff) policy() (diff.Policy, error) {
	p := diff.Policy{Strict: d.Strict, Compat: compat.Tool(d.Compat), AllowContext: d.AllowContext, Context: map[string]gate.Level{}}
	if d.Compat != "" && p.Compat.Rules().Change == nil {
		return p, exit.Usagef("--compat: unknown tool %q: write inferencebench, or leave it out", d.Compat)
	}
	var err error
	if p.Tolerance, err = d.fraction(); err != nil {
		return p, exit.Usagef("--tolerance: %w", err)
	}
	if d.Compat != "" && (len(d.Context) > 0 || d.AllowContext) {
		return p, exit.Usagef(
			"--context and --allow-context have no effect with --compat, whose rules look at six conditions and only warn: leave them out",
		)
	}
	known := slices.Sorted(maps.Keys(diff.DefaultContext()))
	for _, c := range d.Context {
		name, word, _ := strings.Cut(c, "=")
		level, ok := map[string]gate.Level{"ignore": gate.Off, "warn": gate.Warn, "refuse": gate.Fail}[word]
		if !ok || !slices.Contains(known, name) {
			return p, exit.Usagef("--context %q: write NAME=LEVEL with one of %s, and ignore, warn or refuse", c, strings.Join(known, ", "))
		}
		p.Context[name] = level
	}
	return p, nil
}

// fraction is the tolerance. InferenceBench takes any fraction: 1.0 is 100 %.
func (d *Diff) fraction() (float64, error) {
	if d.Compat != "" && text.IsNumber(d.Tolerance) {
		return strconv.ParseFloat(d.Tolerance, 64)
	}
	return fraction(d.Tolerance)
}

// fraction reads "2%" or "0.02". A whole number without a percent sign is
// refused: a tolerance of 200 % is a mistake.
func fraction(s string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(s), "%")
	number = strings.TrimSpace(number)
	x, err := strconv.ParseFloat(number, 64)
	switch {
	case err != nil || !text.IsNumber(number):
		return 0, fmt.Errorf("%q is not a share: write 2%% or 0.02", s)
	case percent:
		return x / 100, nil
	case x >= 1:
		return 0, fmt.Errorf("%q would be 100 %% or more: write %s%% or a fraction such as 0.02", s, number)
	}
	return x, nil
}

// renderer returns how the difference is printed.
func (d *Diff) renderer(p diff.Policy) (func(io.Writer, diff.Difference) error, error) {
	o := report.DiffOptions{Tolerance: p.Tolerance, Strict: p.Strict}
	switch {
	case d.Format == "table" && p.Compat != compat.None:
		return InferenceBenchTable, nil
	case d.Format == "json" && p.Compat != compat.None:
		return InferenceBenchJSON, nil
	case d.Format == "table":
		return func(w io.Writer, f diff.Difference) error { return report.DiffTerminal(w, f, o) }, nil
	case d.Format == "json":
		return func(w io.Writer, f diff.Difference) error { return report.DiffJSON(w, f, o) }, nil
	case d.Format == "markdown":
		return func(w io.Writer, f diff.Difference) error { return report.DiffMarkdown(w, f, o) }, nil
	}
	return nil, exit.Usagef("--format: unknown format %q: use table, json or markdown", d.Format)
}
