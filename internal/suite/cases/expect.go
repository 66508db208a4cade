package cases

import (
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite/cases/casefile"
)

// Expect returns what the suite's case files record, under the suite's policy.
// It opens the folder of cases and nothing else; dir is the configuration's. A
// file that cannot be read yields nothing here: its cell fails anyway.
func Expect(c *config.Suite, dir string) ([]bench.Expected, error) {
	b, err := load(c)
	if err != nil {
		return nil, err
	}
	list, _, err := b.load(c, dir)
	if err != nil {
		return nil, err
	}
	all := make([]bench.Expected, 0, len(list))
	for _, one := range list {
		all = append(all, b.expected(one))
	}
	return all, nil
}

// Expected returns what a case records, under the default policy.
func Expected(one *casefile.Case) bench.Expected {
	b := defaults()
	return b.expected(one)
}

func (b *body) expected(one *casefile.Case) bench.Expected {
	e := bench.Expected{
		Cell: Cell(one.Name).ID(), Description: one.Description, Host: b.Host, Metric: Total.Name,
		Exact: b.Exact, NoReference: b.NoReference, Drift: b.Drift,
		Operators: bench.ExpectedOperators{TopN: one.OperatorTopN, Tolerance: one.OperatorTolerance,
			MinShare: float64(b.Operators.MinShare) / 100, Level: b.Operators.Level},
	}
	for _, r := range []bench.Reference{
		{Name: bench.BaselineReference, Value: one.BaselineTimeS, Tolerance: one.BaselineTolerance},
		{Name: bench.InitialReference, Value: one.InitialTimeS, Tolerance: one.InitialTolerance},
	} {
		if r.Value > 0 && slices.Contains(b.References, r.Name) {
			e.References = append(e.References, r)
		}
	}
	for _, op := range one.Operators {
		e.Operators.Entries = append(e.Operators.Entries, bench.Entry{Name: op.Name, Total: op.TotalTimeS, Calls: op.NumCalls})
	}
	return e
}
