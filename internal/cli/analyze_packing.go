package cli

import (
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/suite/analysis"
	"github.com/accelgate/accelgate/internal/suite/analysis/packing"
)

const packingHelp = `Compare ways to distribute sequences of different lengths over the ranks of a
synchronous training step, against what is provably possible.

  accelgate analyze packing                                   the 15 scenarios of mini_trainer's benchmark
  accelgate analyze packing --scenarios 'compare/*'
  accelgate analyze packing --lengths l.json --max-tokens 130000 --ranks 8 --json
  accelgate analyze packing --lengths data.jsonl --field num_tokens --cost-quadratic 1e-5
  accelgate analyze packing --format legacy                   as mini_trainer prints it

A row is one step of all ranks. Sequences that are longer than --max-tokens, and
empty ones, are treated as --oversize says: legacy is what mini_trainer does,
own-row gives each of them a row of its own, reject leaves them out and says
so, error refuses them. --cost-linear and --cost-quadratic balance
a*l + b*l^2, as attention costs, in place of tokens.`

// packingFlags are the flags of analyze packing.
type packingFlags struct {
	lengths, field, oversize, format string
	scenarios, algorithms            []string
	maxTokens, ranks, rounds         int
	linear, quadratic                float64
	json                             bool
}

func (c *Command) packingCommand() *cobra.Command {
	var o packingFlags
	cmd := &cobra.Command{
		Use:   "packing",
		Short: "Compare packers of sequences against the provable bound",
		Long:  packingHelp,
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return c.analyzePacking(&o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.lengths, "lengths", "", "`file` of lengths: .json, .jsonl or .csv (default: the built-in scenarios)")
	f.StringVar(&o.field, "field", "", "`name` of the field or column that holds the length")
	f.StringSliceVar(&o.scenarios, "scenarios", nil, "only the built-in scenarios that match these `globs`")
	f.StringSliceVar(&o.algorithms, "algorithms", nil, "only these, `names` separated by commas")
	f.Var((*count)(&o.maxTokens), "max-tokens", "`n` tokens that a rank takes in one row (default: 130000)")
	f.Var((*count)(&o.ranks), "ranks", "`n` ranks (default: 8)")
	f.StringVar(&o.oversize, "oversize", string(packing.Legacy), "`mode` for sequences that no rank takes: legacy, own-row, reject or error")
	f.Float64Var(&o.linear, "cost-linear", 0, "`a` of the cost a*l + b*l^2")
	f.Float64Var(&o.quadratic, "cost-quadratic", 0, "`b` of the cost a*l + b*l^2")
	f.IntVar(&o.rounds, "rounds", 0, "`n` timed rounds, interleaved (default: 10, and none with --json)")
	f.StringVar(&o.format, "format", "text", "text, markdown, legacy or json")
	f.BoolVar(&o.json, "json", false, "the same as --format json")
	return cmd
}

func (c *Command) analyzePacking(o *packingFlags) error {
	algorithms, err := o.chosen()
	if err != nil {
		return exit.AsUsage(err)
	}
	problems, err := o.problems()
	if err != nil {
		return exit.AsUsage(err)
	}
	var all []packing.Comparison
	for _, named := range problems {
		one, err := packing.Compare(named.Problem, algorithms, o.rounds, c.Now)
		if err != nil {
			return exit.AsUsage(err)
		}
		one.Name = named.Name
		all = append(all, one)
	}
	return o.print(c.Stdout, all)
}

// chosen returns the algorithms, and settles format and rounds.
func (o *packingFlags) chosen() ([]packing.Algorithm, error) {
	if o.json {
		o.format = "json"
	}
	if !slices.Contains([]string{"text", "markdown", "legacy", "json"}, o.format) {
		return nil, exit.Usagef("--format %.40q: use text, markdown, legacy or json", o.format)
	}
	const most = 10_000
	switch {
	case o.rounds < 0 || o.rounds > most:
		return nil, exit.Usagef("--rounds is %d: use 1 to %d", o.rounds, most)
	case o.rounds == 0 && o.format != "json":
		o.rounds = 10
	}
	algorithms, err := analysis.Algorithms(o.algorithms)
	if err != nil {
		return nil, exit.Usagef("--algorithms: %w", err)
	}
	return algorithms, nil
}

func (o *packingFlags) problems() (problems []analysis.Problem, err error) {
	if !analysis.IsPolicy(o.oversize) {
		return nil, exit.Usagef("--oversize %.40q: use legacy, own-row, reject or error", o.oversize)
	}
	if o.lengths != "" {
		if len(o.scenarios) > 0 {
			return nil, exit.Usagef("--scenarios are built in: leave them out, or --lengths")
		}
		p, err := o.fromFile()
		return []analysis.Problem{p}, err
	}
	if o.field != "" || o.maxTokens > 0 || o.ranks > 0 {
		return nil, exit.Usagef("--field, --max-tokens and --ranks are about --lengths: add it, as built-in scenarios have their own")
	}
	if problems = analysis.Scenarios(o.scenarios); len(problems) == 0 {
		return nil, exit.Usagef("--scenarios %s matches no scenario: they are named as in compare/1_small, analysis/edge_uniform", strings.Join(o.scenarios, ","))
	}
	for i := range problems {
		problems[i].Problem = o.with(problems[i].Problem)
	}
	return problems, nil
}

func (o *packingFlags) with(p packing.Problem) packing.Problem {
	p.Policy, p.Cost = packing.Policy(o.oversize), packing.Cost{A: o.linear, B: o.quadratic}
	return p
}

func (o *packingFlags) fromFile() (p analysis.Problem, err error) {
	lengths, err := analysis.ReadLengths(o.lengths, o.field)
	if err != nil {
		return p, exit.Usagef("--lengths: %w", err)
	}
	p.Name, p.Problem = filepath.Base(o.lengths), o.with(packing.Problem{Lengths: lengths, Max: 130_000, Ranks: 8})
	if o.maxTokens > 0 {
		p.Max = int64(o.maxTokens)
	}
	if o.ranks > 0 {
		p.Ranks = o.ranks
	}
	return p, nil
}

func (o *packingFlags) print(w io.Writer, all []packing.Comparison) error {
	switch o.format {
	case "markdown":
		return report.PackingMarkdown(w, all)
	case "legacy":
		if err := report.PackingLegacy(w, all); err != nil {
			return exit.AsUsage(err)
		}
		return nil
	case "json":
		return o.encode(w, all)
	}
	return report.Packing(w, all)
}

// packed* are the JSON of a comparison.
type (
	packedScenario struct {
		Name           string         `json:"name"`
		MaxTokens      int64          `json:"max_tokens"`
		Ranks          int            `json:"ranks"`
		Sequences      int            `json:"sequences"`
		LowerBoundRows int            `json:"lower_bound_rows"`
		Results        []packedResult `json:"results"`
	}
	packedResult struct {
		Algorithm string    `json:"algorithm"`
		Rows      int       `json:"rows"`
		Loads     [][]int64 `json:"loads"` // tokens by row and rank
		packing.Metrics
		LeftOut         []int       `json:"left_out_indices,omitempty"`
		ExecutionTimeMS *packedTime `json:"execution_time_ms,omitempty"`
	}
	packedTime struct {
		Median float64 `json:"median"`
		N      int     `json:"n"`
		// Interval is that of 95 %; absent where there are too few rounds.
		Interval []float64 `json:"interval,omitempty"`
	}
)

// encode prints one object for lengths of a file, and a list for scenarios.
func (o *packingFlags) encode(w io.Writer, all []packing.Comparison) error {
	var list []packedScenario
	for _, one := range all {
		s := packedScenario{Name: one.Name, MaxTokens: one.Problem.Max, Ranks: one.Problem.Ranks, Sequences: len(one.Problem.Lengths),
			LowerBoundRows: one.LowerBound()}
		for _, r := range one.Results {
			result := packedResult{Algorithm: r.Algorithm, Rows: r.Metrics.TotalMinibatches, Loads: r.Packing.Loads(one.Problem.Lengths),
				Metrics: r.Metrics, LeftOut: r.Packing.LeftOut}
			if len(r.Times) > 0 {
				ms := r.Milliseconds()
				result.ExecutionTimeMS = &packedTime{Median: stats.Median(ms), N: len(ms)}
				if low, high, ok := stats.MedianInterval(ms); ok {
					result.ExecutionTimeMS.Interval = []float64{low, high}
				}
			}
			s.Results = append(s.Results, result)
		}
		list = append(list, s)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	if o.lengths != "" {
		return e.Encode(list[0])
	}
	if len(list) == 0 {
		return errors.New("nothing was compared")
	}
	return e.Encode(map[string]any{"scenarios": list})
}
