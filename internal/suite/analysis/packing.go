package analysis

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/packing"
	"github.com/accelgate/accelgate/internal/stats"
)

const packTime = "pack_ms"

// packingMetrics are deterministic but for the time.
var packingMetrics = []bench.Metric{
	{Name: "rows", Better: bench.Lower, Exact: true, Definition: "steps of all ranks"},
	{Name: "rows_over_bound", Better: bench.Lower, Exact: true, Definition: "rows - ceil(L2 bound / ranks), which nothing goes below"},
	{Name: "step_efficiency", Better: bench.Higher, Exact: true, Definition: "sum of costs / (ranks * sum over rows of the largest)"},
	{Name: "idle_share", Better: bench.Lower, Exact: true, Definition: "share of ranks without tokens, over all rows"},
	{Name: "avg_row_balance_ratio", Better: bench.Higher, Exact: true, Definition: "mean over rows of smallest / largest load, idle ranks left out"},
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
	algorithms := packing.Algorithms()
	if names := s.body.Packing.Algorithms; len(names) > 0 {
		algorithms = nil
		for _, name := range names {
			a, err := packing.Lookup(name)
			if err != nil {
				return err
			}
			algorithms = append(algorithms, a)
		}
	}
	for _, p := range problems {
		if err := p.Check(); err != nil {
			return c.Errorf("packing", "%s: %v", p.name, err)
		}
		for _, a := range algorithms {
			s.add(s.packingPoint(p, a))
		}
	}
	return nil
}

// problem is one that is packed, with its name.
type problem struct {
	name string
	packing.Problem
}

func (s *Suite) problems(c *config.Suite) (problems []problem, err error) {
	b := s.body.Packing
	add := func(name string, p packing.Problem) {
		p.Policy, p.Cost = packing.Policy(b.Oversize), packing.Cost{A: b.Cost.A, B: b.Cost.B}
		problems = append(problems, problem{name, p})
	}
	for _, l := range b.Lengths {
		p, err := l.read(s.resolve(l.File))
		if err != nil {
			return nil, c.Errorf("packing.lengths", "%v", err)
		}
		name := l.Name
		if name == "" {
			name = filepath.Base(l.File)
		}
		add(name, p)
	}
	if len(b.Lengths) > 0 && len(b.Scenarios) == 0 {
		return problems, nil
	}
	before := len(problems)
	for _, sc := range packing.Scenarios() {
		if len(b.Scenarios) == 0 || matrix.GlobAny(b.Scenarios, sc.Name) {
			add(sc.Name, sc.Problem())
		}
	}
	if len(problems) == before {
		return nil, c.Errorf("packing.scenarios", "match no scenario: they are named as in compare/1_small and analysis/edge_uniform")
	}
	return problems, nil
}

func (s *Suite) resolve(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(s.env.Dir, name)
}

func (l lengths) read(path string) (p packing.Problem, err error) {
	format, err := packing.FormatOf(path)
	if err != nil {
		return p, err
	}
	file, err := os.Open(path)
	if err != nil {
		return p, fmt.Errorf("%w: name a file of lengths", err)
	}
	defer file.Close()
	p.Lengths, err = packing.ReadLengths(file, format, l.Field)
	if err == nil && len(p.Lengths) == 0 {
		err = fmt.Errorf("%s holds no lengths: name a file that does", l.File)
	}
	p.Max, p.Ranks = l.MaxTokens, l.Ranks
	return p, err
}

func (s *Suite) packingPoint(p problem, a packing.Algorithm) point {
	return point{
		tag:  tagPacking,
		cell: cell(bench.Param{Key: "kind", Value: tagPacking}, bench.Param{Key: "scenario", Value: p.name}, bench.Param{Key: "algorithm", Value: a.Name}),
		content: func() (string, error) {
			data, err := json.Marshal([]any{p.Problem, a.Name, s.body.Packing.Rounds})
			return fmt.Sprintf("%x", sha256.Sum256(data)), err
		},
		measure: func(context.Context) (bench.Result, error) { return s.pack(p, a), nil },
	}
}

// leastPacking is how long a measurement is timed at least, unless rounds are
// configured.
const leastPacking = 5 * time.Millisecond

func (s *Suite) pack(p problem, a packing.Algorithm) (r bench.Result) {
	rounds := s.body.Packing.Rounds
	if rounds == 0 {
		start := s.env.Now()
		if _, err := a.Pack(p.Problem); err == nil {
			rounds = min(max(3, int(leastPacking/max(1, s.env.Now().Sub(start)))), maxRounds)
		}
	}
	c, err := packing.Compare(p.Problem, []packing.Algorithm{a}, rounds, s.env.Now)
	if err != nil {
		r.Outcome, r.Reason = bench.Failed, err.Error()
		return r
	}
	m := c.Results[0].Metrics
	r.Outcome = bench.Passed
	for name, value := range map[string]float64{
		"rows": float64(m.TotalMinibatches), "rows_over_bound": float64(m.RowsOverBound), "step_efficiency": m.StepEfficiency, "idle_share": m.IdleShare,
		"avg_row_balance_ratio": m.AvgRowBalanceRatio, "worst_row_balance_ratio": m.WorstRowBalanceRatio, "row_balance_std": m.RowBalanceStd,
		"avg_row_efficiency": m.AvgRowEfficiency, "overall_efficiency": m.OverallEfficiency, "sum_row_max": float64(m.SumRowMax),
	} {
		r.Samples = append(r.Samples, bench.Sample{Metric: name, Values: []float64{value}})
	}
	r.Samples = inOrder(append(r.Samples, timed(c.Results[0].Times)), packingMetrics)
	if m.LeftOut > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d sequences are left out: longer than a rank's tokens, or empty; packing.oversize decides", m.LeftOut))
	}
	return r
}

func timed(times []time.Duration) bench.Sample {
	var ms []float64
	for _, t := range times {
		ms = append(ms, float64(t)/float64(time.Millisecond))
	}
	low, high, ok := stats.MedianInterval(ms)
	e := bench.Estimate{N: len(ms), Low: low, High: high, Method: "order statistics of single calls"}
	if !ok {
		e.Method = "none: too few calls"
	}
	return bench.Sample{Metric: packTime, Values: []float64{stats.Median(ms)}, Estimates: []bench.Estimate{e}}
}

// inOrder sorts samples as their metrics are listed.
func inOrder(samples []bench.Sample, metrics []bench.Metric) (sorted []bench.Sample) {
	for _, m := range metrics {
		for _, s := range samples {
			if s.Metric == m.Name {
				sorted = append(sorted, s)
			}
		}
	}
	return sorted
}
