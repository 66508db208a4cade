package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/formats"
	"github.com/accelgate/accelgate/internal/formats/inferencebench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/lazyregexp"
	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/suite"
)

const diffHelp = `Compare two documents number by number: runs, baselines or InferenceBench's
envelopes, in any mix. No configuration and no baseline policy is involved.

  accelgate diff before/run.json .accelgate/run.json
  accelgate diff --strict --tolerance 5% baselines/baseline-h100.json .accelgate/run.json
  accelgate diff --compat inferencebench --tolerance 0.02 --format json base.json cand.json

Without --strict the exit code is 0 whatever changed. With it, a regression or
something that vanished is 1. Two documents that must not be compared, because
they were measured under other conditions, are 3.`

// diff is what the command was asked for.
type diff struct {
	tolerance string
	strict    bool
	compat    string
	report    string
	context   []string
}

func (c *Command) diffCommand(code *int) *cobra.Command {
	var d diff
	cmd := &cobra.Command{
		Use:   "diff BASELINE CANDIDATE",
		Short: "Compare two runs, baselines or envelopes",
		Long:  diffHelp,
		Args:  cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) (err error) {
			*code, err = c.diff(&d, args[0], args[1])
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&d.tolerance, "tolerance", "2%", "relative `change` that is none, as in 2% or 0.02")
	f.BoolVar(&d.strict, "strict", false, "fail on regressions, and on vanished cells or metrics")
	f.StringVar(&d.compat, "compat", "", "compare and print as another tool does: `inferencebench`")
	f.StringVar(&d.report, "format", "table", "`table`, markdown or json")
	addJSON(cmd, &d.report)
	f.StringArrayVar(&d.context, "context", nil, "level of a difference in a condition, `NAME=LEVEL` with ignore, warn or refuse; may be repeated")
	return cmd
}

func (c *Command) diff(d *diff, baselinePath, candidatePath string) (int, error) {
	policy, err := d.policy()
	if err != nil {
		return 0, err
	}
	render, err := d.renderer(policy)
	if err != nil {
		return 0, err
	}
	before, err := readSide(baselinePath, policy.Compat)
	if err != nil {
		return 0, err
	}
	after, err := readSide(candidatePath, policy.Compat)
	if err != nil {
		return 0, err
	}
	found := gate.Diff(before, after, policy)
	if err := render(c, found); err != nil {
		return 0, err
	}
	return exitOfDiff(found), nil
}

// exitOfDiff maps a difference to the exit code.
func exitOfDiff(d gate.Difference) int {
	switch {
	case d.Refused != "":
		return exit.NoMeasure
	case d.Failed:
		return exit.GateFailed
	}
	return exit.Passed
}

// policy settles the flags.
func (d *diff) policy() (gate.DiffPolicy, error) {
	p := gate.DiffPolicy{Strict: d.strict, Compat: d.compat, Context: map[string]gate.Level{}}
	if d.compat != "" && d.compat != gate.CompatInferenceBench {
		return p, exit.Usagef("--compat: unknown tool %q: write inferencebench, or leave it out", d.compat)
	}
	var err error
	if p.Tolerance, err = fraction(d.tolerance); err != nil {
		return p, exit.Usagef("--tolerance: %w", err)
	}
	if d.compat != "" && len(d.context) > 0 {
		return p, exit.Usagef("--context has no effect with --compat, whose rules look at six conditions and only warn: leave one of the two out")
	}
	known := slices.Sorted(maps.Keys(gate.DefaultContext()))
	for _, c := range d.context {
		name, word, _ := strings.Cut(c, "=")
		level, ok := map[string]gate.Level{"ignore": gate.Off, "warn": gate.Warn, "refuse": gate.Fail}[word]
		if !ok || !slices.Contains(known, name) {
			return p, exit.Usagef("--context %q: write NAME=LEVEL with one of %s, and ignore, warn or refuse", c, strings.Join(known, ", "))
		}
		p.Context[name] = level
	}
	return p, nil
}

var plainNumber = lazyregexp.New(`^[0-9]+(\.[0-9]+)?([eE]-?[0-9]+)?$`)

// fraction reads "2%" or "0.02". A whole number without a percent sign is
// refused: a tolerance of 200 % is a mistake.
func fraction(s string) (float64, error) {
	text, percent := strings.CutSuffix(strings.TrimSpace(s), "%")
	text = strings.TrimSpace(text)
	x, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || !plainNumber.MatchString(text):
		return 0, fmt.Errorf("%q is not a share: write 2%% or 0.02", s)
	case percent:
		return x / 100, nil
	case x >= 1:
		return 0, fmt.Errorf("%q would be 100 %% or more: write %s%% or a fraction such as 0.02", s, text)
	}
	return x, nil
}

// renderer returns how the difference is printed.
func (d *diff) renderer(p gate.DiffPolicy) (func(*Command, gate.Difference) error, error) {
	o := report.DiffOptions{Tolerance: p.Tolerance, Strict: p.Strict}
	compat := p.Compat != ""
	switch {
	case d.report == "table" && compat:
		return func(c *Command, f gate.Difference) error { return report.InferenceBenchTable(c.Stdout, f) }, nil
	case d.report == "json" && compat:
		return func(c *Command, f gate.Difference) error { return report.InferenceBenchJSON(c.Stdout, f) }, nil
	case d.report == "table":
		return func(c *Command, f gate.Difference) error { return report.DiffTerminal(c.Stdout, f, o) }, nil
	case d.report == "json":
		return func(c *Command, f gate.Difference) error { return report.DiffJSON(c.Stdout, f, o) }, nil
	case d.report == "markdown":
		return func(c *Command, f gate.Difference) error { return report.DiffMarkdown(c.Stdout, f, o) }, nil
	}
	return nil, exit.Usagef("--format: unknown format %q: use table, json or markdown", d.report)
}

// readSide reads a document of any kind that holds numbers.
func readSide(path, compat string) (gate.Side, error) {
	data, err := suite.ReadResult(path, path, bench.MaxRunBytes)
	if err != nil {
		return gate.Side{}, exit.Usagef("%w: name a run.json, a baseline or an envelope", err)
	}
	if inferencebench.IsEnvelope(data) {
		return envelopeSide(path, data, compat)
	}
	if compat != "" {
		return gate.Side{}, exit.Usagef("%s is not an envelope, and --compat compares envelopes: leave --compat out", path)
	}
	run, err := runOf(path, data)
	if err != nil {
		return gate.Side{}, exit.AsUsage(err)
	}
	return gate.SideOf(path, run, runFacts(run)), nil
}

// runOf reads a run, or a baseline as one. Which of the two it is meant to be,
// its members say: the reader of baselines is tolerant, and would find an empty
// one in anything.
func runOf(path string, data []byte) (*bench.Run, error) {
	var members struct {
		Results json.RawMessage `json:"results"`
		Entries json.RawMessage `json:"entries"`
	}
	err := json.Unmarshal(data, &members)
	switch {
	case members.Results != nil:
		run, err := bench.DecodeRun(data)
		if err == nil {
			return run, nil
		}
		if run, _, _, foreignErr := formats.ReadFile(data); foreignErr == nil {
			return run, nil // other tools call their results so, too
		}
		return nil, fmt.Errorf("%s: %w; measure again with 'accelgate run'", path, err)
	case members.Entries != nil:
		file, err := baseline.Parse(path, data)
		if err != nil {
			return nil, err
		}
		return file.Run(), nil
	}
	run, _, _, foreignErr := formats.ReadFile(data)
	if foreignErr == nil {
		return run, nil
	}
	if err != nil && !json.Valid(data) { // JSON lines are not JSON either, but formats reads them
		return nil, fmt.Errorf("%s is not JSON (%w): name a run.json, a baseline or an envelope", path, err)
	}
	return nil, fmt.Errorf("%s is not a run, baseline or envelope: name one of these; as the result of another tool: %w", path, foreignErr)
}

// runFacts are the conditions that a run or a baseline records.
func runFacts(run *bench.Run) []gate.Fact {
	machine := ""
	if !run.Host.Unknown() {
		machine = run.Host.Device()
	}
	facts := []gate.Fact{
		{Name: "hardware_fingerprint", Value: machine, Unknown: machine == ""},
		{Name: "client", Value: run.Tool, Unknown: run.Tool == ""},
	}
	for _, name := range slices.Sorted(maps.Keys(run.Context)) {
		facts = append(facts, gate.Fact{Name: name, Value: oneSpelling(run.Context[name])})
	}
	return facts
}

// oneSpelling makes 4.0 of one client the 4 of another.
func oneSpelling(value string) string {
	if x, err := strconv.ParseFloat(value, 64); err == nil && plainNumber.MatchString(value) && x == math.Trunc(x) && x < 1<<53 {
		return strconv.FormatInt(int64(x), 10)
	}
	return value
}
