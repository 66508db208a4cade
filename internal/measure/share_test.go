package measure

import (
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
)

// TestPairsOfOneServer: how many of its tokens a server streams varies a little from one measurement
// to the next, and pairs are of one server then; where it varies much, they are not.
func TestPairsOfOneServer(t *testing.T) {
	result := func(share string, v float64) *bench.Result {
		r := &bench.Result{Outcome: bench.Passed, Samples: []bench.Sample{{Metric: "tpot_p50_ms", Values: []float64{v}}}, Conditions: map[string]string{"mode": "closed"}}
		if share != "" {
			r.Conditions[bench.StreamedTokens] = share
		}
		return r
	}
	for _, c := range []struct {
		head, base string
		pairs      bool
	}{{"0.25", "0.25", true}, {"0.25", "0.31", true}, {"0.95", "", true}, {"0.25", "", false}, {"", "0.25", false}, {"0.25", "0.51", false}} {
		head := result(c.head, 12)
		join(head, result(c.base, 10))
		if got := len(head.Samples[0].Base) == 1; got != c.pairs || (len(head.Warnings) == 0) != c.pairs {
			t.Errorf("%q and %q: pairs %t, %q", c.head, c.base, got, head.Warnings)
		}
	}
}
