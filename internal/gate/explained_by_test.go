package gate_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
)

var observed = slices.Concat(metrics, []bench.Metric{
	{Name: "sm_clock", Unit: "MHz", Better: bench.Higher, Informational: true, Explains: 20},
	{Name: "queue", Better: bench.Lower, Informational: true, Explains: 1},
	{Name: "heat", Unit: "C", Better: bench.Lower, Informational: true},
})

func runObserved(results ...bench.Result) *bench.Run {
	r := run(results...)
	r.Metrics = observed
	return r
}

// TestALossNamesWhatMayExplainIt holds that a loss names the metrics beside it that were
// worse by enough, and that these change no verdict.
func TestALossNamesWhatMayExplainIt(t *testing.T) {
	const pinned = "beside it, sm_clock was 12.1 % lower (1980 MHz before, 1740 MHz now)"
	for name, c := range map[string]struct {
		old, now []any
		want     []string
	}{
		"clock":          {[]any{"sm_clock", 1980.}, []any{"sm_clock", 1740.}, []string{pinned}},
		"both":           {[]any{"sm_clock", 1980., "queue", 2.}, []any{"sm_clock", 1740., "queue", 9.}, []string{"beside it, queue was 350.0 % higher (2 before, 9 now)", pinned}},
		"from nothing":   {[]any{"queue", 0.}, []any{"queue", 3.}, []string{"beside it, queue was higher (0 before, 3 now)"}},
		"too little":     {[]any{"sm_clock", 1980., "queue", 2.}, []any{"sm_clock", 1961., "queue", 2.9}, nil},
		"a small share":  {[]any{"sm_clock", 1980.}, []any{"sm_clock", 1945.}, nil},
		"better":         {[]any{"sm_clock", 1740., "queue", 9.}, []any{"sm_clock", 1980., "queue", 1.}, nil},
		"never explains": {[]any{"heat", 40.}, []any{"heat", 90.}, nil},
		"unknown before": {nil, []any{"sm_clock", 1000.}, nil},
		"unknown now":    {[]any{"sm_clock", 1000.}, nil, nil},
	} {
		got := gate.Compare("b", runObserved(cell("a", append([]any{"ttft_ms", 100.}, c.old...)...)), runObserved(cell("a", append([]any{"ttft_ms", 150.}, c.now...)...)), gate.DefaultPolicy())
		v := verdictOf(t, got, "a")
		if v.Finding != gate.Regressed || !v.Blocks || len(v.Evidence.Covariates) != len(c.want) {
			t.Errorf("%s: %s %s, %+v", name, v.Finding, standing(&v), v.Evidence.Covariates)
		}
		for _, want := range c.want {
			if !strings.Contains(v.Reason, want) {
				t.Errorf("%s: %q, want %q", name, v.Reason, want)
			}
		}
		if c.want == nil && strings.Contains(v.Reason, "beside") {
			t.Errorf("%s: %q", name, v.Reason)
		}
		well := verdictOf(t, gate.Compare("b", runObserved(cell("a", append([]any{"ttft_ms", 100.}, c.old...)...)), runObserved(cell("a", append([]any{"ttft_ms", 100.}, c.now...)...)), gate.DefaultPolicy()), "a")
		if well.Finding != gate.Unchanged || well.Evidence.Covariates != nil || well.Reason != "" {
			t.Errorf("%s: without a loss %+v", name, well)
		}
	}
}

// TestALossInPairsNamesTheOtherSideOfItsPairs, and not the baseline's.
func TestALossInPairsNamesTheOtherSideOfItsPairs(t *testing.T) {
	paired := func(metric string, base, now float64) bench.Sample {
		s := bench.Sample{Metric: metric}
		for i := range 30 {
			wobble := 1 + 0.001*math.Sin(float64(i))
			s.Base, s.Values = append(s.Base, base*wobble), append(s.Values, now*wobble)
		}
		return s
	}
	got := bench.Result{Cell: bench.Cell{Raw: "a"}, Outcome: bench.Passed, Samples: []bench.Sample{paired("ttft_ms", 100, 120), paired("sm_clock", 1500, 1200)}}
	v := verdictOf(t, gate.Compare("b", runObserved(cell("a", "ttft_ms", 100., "sm_clock", 900.)), runObserved(got), gate.DefaultPolicy()), "a")
	if v.Finding != gate.Regressed || len(v.Evidence.Covariates) != 1 || math.Round(v.Evidence.Covariates[0].Old) != 1500 || math.Round(v.Evidence.Covariates[0].Change) != -20 {
		t.Errorf("%s: %+v", v.Finding, v.Evidence.Covariates)
	}
}
