package gate_test

import (
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
)

// TestImprovedThoughItsIntervalHoldsZero: one of three values is no better than the
// reference, so the cell is not called improved; a loss is one all the same.
func TestImprovedThoughItsIntervalHoldsZero(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		now  []float64
		want gate.Finding
	}{
		{[]float64{99, 130, 131}, gate.Unchanged}, {[]float64{100, 130, 131}, gate.Unchanged}, {[]float64{101, 130, 131}, gate.Improved},
		{[]float64{101, 70, 69}, gate.Regressed},
	} {
		for _, better := range []bench.Direction{bench.Higher, bench.Lower} {
			run := func(values []float64) *bench.Run {
				turned := append([]float64(nil), values...)
				for i := range turned {
					if better == bench.Lower {
						turned[i] = 200 - turned[i]
					}
				}
				return &bench.Run{Host: bench.Host{Label: "desk", Fingerprint: bench.Fingerprint{OS: "linux", Arch: "amd64", CPU: "c", Cores: 2}}, Metrics: []bench.Metric{{Name: "m", Better: better}}, Results: []bench.Result{{Cell: bench.Cell{Raw: "c"},
					Outcome: bench.Passed, Samples: []bench.Sample{{Metric: "m", Values: turned}}}}}
			}
			v := gate.Compare("b", run([]float64{100}), run(c.now), fixed()).Verdicts[0]
			if v.Finding != c.want {
				t.Errorf("%v, %s: %s, interval %v", c.now, better, v.Finding, v.Interval)
			}
		}
	}
}
