package analyze

import (
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/suite/analysis"
	"github.com/accelgate/accelgate/internal/suite/analysis/packing"
)

// Packing describes what is compared, and how it is printed.
type Packing struct {
	Lengths               string // file; the built-in scenarios if empty
	Field                 string // of the file
	Oversize, Format      string
	Scenarios, Algorithms []string
	MaxTokens, Ranks      int
	Rounds                int
	Linear, Quadratic     float64 // of the cost
	JSON                  bool
}

// Run compares the packers and prints the comparison.
func (o *Packing) Run(e *measure.Env) error {
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
		one, err := packing.Compare(named.Problem, algorithms, o.Rounds, e.Now)
		if err != nil {
			return exit.AsUsage(err)
		}
		one.Name = named.Name
		all = append(all, one)
	}
	return o.print(e.Stdout, all)
}

// chosen returns the algorithms, and settles format and rounds.
func (o *Packing) chosen() ([]packing.Algorithm, error) {
	if o.JSON {
		o.Format = "json"
	}
	if !slices.Contains([]string{"text", "markdown", "legacy", "json"}, o.Format) {
		return nil, exit.Usagef("--format %.40q: use text, markdown, legacy or json", o.Format)
	}
	const maximum = 10_000
	switch {
	case o.Rounds < 0 || o.Rounds > maximum:
		return nil, exit.Usagef("--rounds is %d: use 1 to %d", o.Rounds, maximum)
	case o.Rounds == 0 && o.Format != "json":
		o.Rounds = 10
	}
	algorithms, err := analysis.Algorithms(o.Algorithms)
	if err != nil {
		return nil, exit.Usagef("--algorithms: %w", err)
	}
	return algorithms, nil
}

func (o *Packing) problems() (problems []analysis.Problem, err error) {
	if !analysis.IsPolicy(o.Oversize) {
		return nil, exit.Usagef("--oversize %.40q: use legacy, own-row, reject or error", o.Oversize)
	}
	if o.Lengths != "" {
		if len(o.Scenarios) > 0 {
			return nil, exit.Usagef("--scenarios are built in: leave them out, or --lengths")
		}
		p, err := o.fromFile()
		return []analysis.Problem{p}, err
	}
	if o.Field != "" || o.MaxTokens > 0 || o.Ranks > 0 {
		return nil, exit.Usagef("--field, --max-tokens and --ranks are about --lengths: add it, as built-in scenarios have their own")
	}
	if problems = analysis.Scenarios(o.Scenarios); len(problems) == 0 {
		return nil, exit.Usagef("--scenarios %s matches no scenario: they are named as in compare/1_small, analysis/edge_uniform",
			strings.Join(o.Scenarios, ","))
	}
	for i := range problems {
		problems[i].Problem = o.with(problems[i].Problem)
	}
	return problems, nil
}

func (o *Packing) with(p packing.Problem) packing.Problem {
	p.Policy, p.Cost = packing.Policy(o.Oversize), packing.Cost{A: o.Linear, B: o.Quadratic}
	return p
}

func (o *Packing) fromFile() (p analysis.Problem, err error) {
	lengths, err := analysis.ReadLengths(o.Lengths, o.Field)
	if err != nil {
		return p, exit.Usagef("--lengths: %w", err)
	}
	p.Name, p.Problem = filepath.Base(o.Lengths), o.with(packing.Problem{Lengths: lengths, Max: 130_000, Ranks: 8})
	if o.MaxTokens > 0 {
		p.Max = int64(o.MaxTokens)
	}
	if o.Ranks > 0 {
		p.Ranks = o.Ranks
	}
	return p, nil
}

func (o *Packing) print(w io.Writer, all []packing.Comparison) error {
	switch o.Format {
	case "markdown":
		return packingMarkdown(w, all)
	case "legacy":
		if err := packingLegacy(w, all); err != nil {
			return exit.AsUsage(err)
		}
		return nil
	case "json":
		return o.encode(w, all)
	}
	return packingText(w, all)
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
		// Assignment holds the indices of the sequences, from 0 on, by row and rank.
		Assignment [][][]int `json:"assignment"`
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

// assignment is a copy in which ranks without a sequence have empty lists.
func assignment(k packing.Packing) [][][]int {
	rows := make([][][]int, len(k.Rows))
	for i, row := range k.Rows {
		rows[i] = slices.Clone(row)
		for rank, cell := range row {
			if cell == nil {
				rows[i][rank] = []int{}
			}
		}
	}
	return rows
}

// encode prints one object for lengths of a file, and a list for scenarios.
func (o *Packing) encode(w io.Writer, all []packing.Comparison) error {
	var list []packedScenario
	for _, one := range all {
		s := packedScenario{Name: one.Name, MaxTokens: one.Problem.Max, Ranks: one.Problem.Ranks, Sequences: len(one.Problem.Lengths),
			LowerBoundRows: one.LowerBound()}
		for _, r := range one.Results {
			result := packedResult{Algorithm: r.Algorithm, Rows: r.Metrics.TotalMinibatches, Loads: r.Packing.Loads(one.Problem.Lengths),
				Assignment: assignment(r.Packing), Metrics: r.Metrics, LeftOut: r.Packing.LeftOut}
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
	if o.Lengths != "" {
		return e.Encode(list[0])
	}
	if len(list) == 0 {
		return errors.New("no scenario was compared: name one with --scenarios")
	}
	return e.Encode(map[string]any{"scenarios": list})
}
