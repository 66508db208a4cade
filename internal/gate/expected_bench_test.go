package gate_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/compat"
	"github.com/accelgate/accelgate/internal/suite/cases/operators"
)

// manyCases makes cells with operators, of which one in ten is slower in the
// run, and what is expected of them.
func manyCases(cells, count int) (*bench.Run, gate.Policy) {
	got, p := run(), gate.DefaultPolicy()
	p.Expected = make(map[string]bench.Expected, cells)
	p.Operators = map[string]gate.OperatorJudge{"": operators.Judge}
	for i := range cells {
		id := fmt.Sprintf("case-%04d", i)
		var was, is []bench.Entry
		sum := 0.0
		for j := range count {
			e := bench.Entry{Name: fmt.Sprintf("tensor_cast.operator_%03d.default", j*37%count), Total: float64(count-j) * 1e-4, Calls: int64(j + 1)}
			was = append(was, e)
			if i%10 == 0 {
				e.Total *= 1 + float64(j%7)/20
			}
			is = append(is, e)
			sum += e.Total
		}
		slices.SortFunc(is, func(a, b bench.Entry) int { return cmp.Compare(b.Total, a.Total) })
		r := cell(id, "total_time_s", sum)
		r.Breakdowns = []bench.Breakdown{{Title: "operators", Unit: "s", Entries: is}}
		got.Results = append(got.Results, r)
		p.Expected[id] = bench.Expected{Cell: id, Metric: "total_time_s",
			References: []bench.Reference{{Name: bench.InitialReference, Value: sum, Tolerance: 0.1}, {Name: bench.BaselineReference, Value: sum, Tolerance: 0.2}},
			Operators:  bench.ExpectedOperators{Entries: was, TopN: count, Tolerance: 0.1}}
	}
	return got, p
}

// BenchmarkExpected compares 2,000 cells of 200 operators each, and for a scale
// copies the run's operators and sorts them by name.
func BenchmarkExpected(b *testing.B) {
	got, p := manyCases(2000, 200)
	for _, tool := range []compat.Tool{compat.None, compat.MSModeling} {
		p.Compat = tool
		b.Run("compare/"+cmp.Or(string(tool), "default"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if c := gate.Compare("", nil, got, p); len(c.Checks) != 2000 {
					b.Fatalf("%d checks", len(c.Checks))
				}
			}
		})
	}
	b.Run("sort", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for i := range got.Results {
				entries := slices.Clone(got.Results[i].Breakdowns[0].Entries)
				slices.SortFunc(entries, func(x, y bench.Entry) int { return cmp.Compare(x.Name, y.Name) })
			}
		}
	})
}
