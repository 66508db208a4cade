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
	return b.expectedOf(list), nil
}

// Expected returns what cases record, under the default policy.
func Expected(list []*casefile.Case) []bench.Expected {
	b := defaults()
	return b.expectedOf(list)
}

func (b *body) expectedOf(list []*casefile.Case) []bench.Expected {
	all := make([]bench.Expected, 0, len(list))
	groups := map[*casefile.Group]*bench.ExpectedGroup{}
	for _, one := range list {
		e := b.expected(one)
		if g := one.Group; g != nil {
			if groups[g] == nil {
				groups[g] = expectedGroup(g)
			}
			e.Group = groups[g]
		}
		all = append(all, e)
	}
	return all
}

func expectedGroup(g *casefile.Group) *bench.ExpectedGroup {
	e := &bench.ExpectedGroup{Name: g.Name, Description: g.Description, Tolerance: g.Tolerance, Implied: g.Implied()}
	for _, one := range g.Cases {
		e.Cells, e.Names = append(e.Cells, CellOf(one).ID()), append(e.Names, one.Name)
	}
	return e
}

// impliedIncrease is the original's own limit of the time over a baseline time, by type. It judges
// numbers of its analytic model alone.
var impliedIncrease = map[string]float64{casefile.Text: 0.05, casefile.Video: 0.20}

// maxIncrease returns how much more than its baseline time a case may take, and whether the file does not
// say so; nil for no limit.
func maxIncrease(one *casefile.Case) (limit *float64, implied bool) {
	if casefile.Model(one.Type, one.UserInput) == "empirical" {
		return nil, false
	}
	if own, ok := impliedIncrease[one.Type]; ok && one.MaxIncrease == nil {
		return &own, true
	}
	return one.MaxIncrease, false
}

func (b *body) expected(one *casefile.Case) bench.Expected {
	e := bench.Expected{
		Cell: CellOf(one).ID(), Description: one.Description, Host: b.Host, Metric: Total.Name,
		Exact: b.Exact, NoReference: b.NoReference, Drift: b.Drift,
		Operators: bench.ExpectedOperators{TopN: one.OperatorTopN, Tolerance: one.OperatorTolerance,
			MinShare: float64(b.Operators.MinShare) / 100, Level: b.Operators.Level},
	}
	limit, implied := maxIncrease(one)
	for _, r := range []bench.Reference{
		{Name: bench.BaselineReference, Value: one.BaselineTimeS, Tolerance: one.BaselineTolerance, MaxIncrease: limit, Implied: implied},
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
