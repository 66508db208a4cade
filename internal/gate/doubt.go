package gate

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/bench"
)

// tooFew reports whether the result's value of the metric rests on fewer
// observations than a judgement needs.
func (m *described) tooFew(r *bench.Result) bool {
	return m.CountedBy != "" && observed(r, m.CountedBy) < m.MinCount
}

func observed(r *bench.Result, counter string) float64 {
	s := r.Sample(counter)
	if s == nil {
		return 0
	}
	return summarize(s).Median
}

// doubtful says why a number is not fit to be judged.
func (m *described) doubtful(r *bench.Result) string {
	if r.Doubt != "" {
		return r.Doubt
	}
	return fmt.Sprintf("rests on %g (%s) where %g are needed: measure for longer", observed(r, m.CountedBy), m.CountedBy, m.MinCount)
}
