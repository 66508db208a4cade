package analysis

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/analysis/packing"
	"github.com/accelgate/accelgate/internal/text"
)

const packTime = "pack_ms"

// packingMetrics are deterministic but for the time, and in the order in which they
// are measured.
var packingMetrics = []bench.Metric{
	{Name: "rows", Better: bench.Lower, Exact: true, Definition: "steps of all ranks"},
	{Name: "rows_over_bound", Better: bench.Lower, Exact: true, Definition: "rows - ceil(L2 bound / ranks), which nothing goes below"},
	{Name: "step_efficiency", Better: bench.Higher, Exact: true, Definition: "sum of costs / (ranks * sum over rows of the largest)"},
	{Name: "idle_share", Better: bench.Lower, Exact: true, Definition: "share of ranks without tokens, over all rows"},
	{
		Name:       "avg_row_balance_ratio",
		Better:     bench.Higher,
		Exact:      true,
		Definition: "mean over rows of smallest / largest load, idle ranks left out",
	},
	{Name: "worst_row_balance_ratio", Better: bench.Higher, Exact: true},
	{Name: "row_balance_std", Better: bench.Lower, Exact: true},
	{Name: "avg_row_efficiency", Better: bench.Higher, Exact: true},
	{Name: "overall_efficiency", Better: bench.Higher, Exact: true, Definition: "sum of lengths / (rows * ranks * max tokens)"},
	{Name: "sum_row_max", Unit: "tokens", Better: bench.Lower, Exact: true},
	{Name: packTime, Unit: "ms", Better: bench.Lower, Definition: "median time to pack for all ranks"},
}

// packing makes one cell per problem and algorithm.
func (s *Suite) packing(c *config.Suite) error {
	problems, err := s.problems(c)
	if err != nil {
		return err
	}
	algorithms, err := Algorithms(s.body.Packing.Algorithms)
	if err != nil {
		return c.Errorf("packing.algorithms", "%v", err)
	}
	for _, p := range problems {
		if err := p.Check(); err != nil {
			return c.Errorf("packing", "%s: %v", p.Name, err)
		}
		for _, a := range algorithms {
			s.add(s.packingPoint(p, a))
		}
	}
	return nil
}

func (s *Suite) problems(c *config.Suite) (problems []Problem, err error) {
	b := s.body.Packing
	add := func(name string, p packing.Problem) {
		p.Policy, p.Cost = packing.Policy(b.Oversize), packing.Cost{A: b.Cost.A, B: b.Cost.B}
		problems = append(problems, Problem{name, p})
	}
	for _, l := range b.Lengths {
		read, err := ReadLengths(s.resolve(l.File), l.Field)
		if err != nil {
			return nil, c.Errorf("packing.lengths", "%v", err)
		}
		name := l.Name
		if name == "" {
			name = filepath.Base(l.File)
		}
		add(name, packing.Problem{Lengths: read, Max: l.MaxTokens, Ranks: l.Ranks})
	}
	if len(b.Lengths) > 0 && len(b.Scenarios) == 0 {
		return problems, nil
	}
	chosen := Scenarios(b.Scenarios)
	if len(chosen) == 0 {
		return nil, c.Errorf("packing.scenarios", "match no scenario: they are named as in compare/1_small and analysis/edge_uniform")
	}
	for _, p := range chosen {
		add(p.Name, p.Problem)
	}
	return problems, nil
}

func (s *Suite) resolve(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(s.env.Dir, name)
}

func (s *Suite) packingPoint(p Problem, a packing.Algorithm) point {
	return point{
		tag: tagPacking,
		cell: cell(bench.Param{Key: "kind", Value: tagPacking}, bench.Param{Key: "scenario", Value: p.Name},
			bench.Param{Key: "algorithm", Value: a.Name}),
		content: func() (string, error) {
			data, err := json.Marshal([]any{p.Problem, a.Name, s.body.Packing.Rounds})
			return fmt.Sprintf("%x", sha256.Sum256(data)), err
		},
		measure: func(context.Context) (bench.Result, error) { return s.pack(p, a), nil },
	}
}

// minPackingTime is how long a measurement is timed at least, unless rounds are
// configured.
const minPackingTime = 5 * time.Millisecond

func (s *Suite) pack(p Problem, a packing.Algorithm) (r bench.Result) {
	rounds := s.body.Packing.Rounds
	if rounds == 0 {
		start := s.env.Now()
		if _, err := a.Pack(p.Problem); err == nil {
			rounds = min(max(3, int(minPackingTime/max(1, s.env.Now().Sub(start)))), maxRounds)
		}
	}
	c, err := packing.Compare(p.Problem, []packing.Algorithm{a}, rounds, s.env.Now)
	if err != nil {
		r.Outcome, r.Reason = bench.Failed, err.Error()
		return r
	}
	m := c.Results[0].Metrics
	r.Outcome = bench.Passed
	for i, value := range []float64{float64(m.TotalMinibatches), float64(m.RowsOverBound), m.StepEfficiency, m.IdleShare,
		m.AvgRowBalanceRatio,
		m.WorstRowBalanceRatio, m.RowBalanceStd, m.AvgRowEfficiency, m.OverallEfficiency, float64(m.SumRowMax)} {
		r.Samples = append(r.Samples, bench.Sample{Metric: packingMetrics[i].Name, Values: []float64{value}})
	}
	ms := c.Results[0].Milliseconds()
	r.Samples = append(r.Samples,
		bench.Sample{Metric: packTime, Values: []float64{stats.Median(ms)}, Estimates: []bench.Estimate{suite.MedianOfCalls(ms)}})
	if m.LeftOut > 0 {
		r.Warnings = append(r.Warnings,
			text.Plural(m.LeftOut, "sequence")+" left out: longer than a rank's tokens, or empty; packing.oversize decides")
	}
	return r
}
