package gate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
)

// TestCounted: a count is gated where the values of each side differ by at most 1, by the base before the
// baseline, and is only shown elsewhere.
func TestCounted(t *testing.T) {
	t.Parallel()
	counted := func(values, base []float64) *bench.Run {
		r := run(cell("a", "decode_tps", 5.0))
		r.Metrics = append(r.Metrics, bench.Metric{Name: "allocs", Better: bench.Lower, Kind: bench.Ratio, Informational: true, Counted: true, Optional: true})
		if values != nil {
			r.Results[0].Samples = append(r.Results[0].Samples, bench.Sample{Metric: "allocs", Values: values, Base: base})
		}
		return r
	}
	earlier := counted([]float64{100, 100, 100}, nil) // of a version that did not know counts
	earlier.Metrics[len(earlier.Metrics)-1].Counted = false
	unhealthy := counted([]float64{103}, nil)
	unhealthy.Results[0].Health = &bench.Health{Status: bench.Unhealthy, Reasons: []string{"other programs"}}
	for name, test := range map[string]struct {
		ref, run *bench.Run
		want     string // the finding of allocs; "" where it is only shown
	}{
		"equal":                    {counted([]float64{100, 100}, nil), counted([]float64{100, 100}, nil), "unchanged"},
		"within the least effect":  {counted([]float64{100}, nil), counted([]float64{102}, nil), "unchanged"},
		"more":                     {counted([]float64{100}, nil), counted([]float64{103}, nil), "regressed"},
		"fewer":                    {counted([]float64{100}, nil), counted([]float64{90}, nil), "improved"},
		"a thousand times as many": {counted([]float64{100}, nil), counted([]float64{100000}, nil), "regressed"},
		"the first one":            {counted([]float64{0}, nil), counted([]float64{1}, nil), "regressed"},
		"an earlier baseline":      {earlier, counted([]float64{103}, nil), "regressed"},
		"on an unhealthy host":     {counted([]float64{100}, nil), unhealthy, "regressed"},
		"varies now":               {counted([]float64{100}, nil), counted([]float64{103, 105}, nil), ""},
		"is cut now":               {counted([]float64{100}, nil), counted([]float64{103, 104}, nil), "regressed"},
		"was cut before":           {counted([]float64{8, 9}, nil), counted([]float64{9, 9}, nil), "unchanged"},
		"is cut on both sides":     {counted([]float64{9}, nil), counted([]float64{8, 9, 8}, []float64{9, 8, 9}), "unchanged"},
		"more beside cut ones":     {counted([]float64{1}, nil), counted([]float64{8, 9, 9}, []float64{1, 1, 1}), "regressed"},
		"fewer beside cut ones":    {counted([]float64{1}, nil), counted([]float64{1, 1, 1}, []float64{8, 9, 9}), "improved"},
		"varied before":            {counted([]float64{100, 101, 102}, nil), counted([]float64{110}, nil), ""},
		"not recorded":             {counted(nil, nil), counted([]float64{103}, nil), "untracked"},
		"not recorded, and varies": {counted(nil, nil), counted([]float64{103, 105}, nil), ""},
		"none left":                {counted([]float64{5}, nil), counted([]float64{0}, nil), "improved"},
		"gone":                     {counted([]float64{100}, nil), counted(nil, nil), "missing"},
		"more than the base":       {counted([]float64{103}, nil), counted([]float64{103, 103}, []float64{100, 100}), "regressed"},
		"as the base":              {counted([]float64{100}, nil), counted([]float64{103, 103}, []float64{103, 103}), "unchanged"},
		"the base varies":          {counted([]float64{100}, nil), counted([]float64{103, 103}, []float64{100, 102}), ""},
	} {
		got := ""
		for _, v := range gate.Compare("base", test.ref, test.run, gate.DefaultPolicy()).Verdicts {
			if v.Metric == "allocs" {
				got += string(v.Finding)
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
