package gate_test

import (
	"testing"
	"testing/quick"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// TestAnAmountIsAPercentageOfTheReference: a limit with an amount gives the verdict of the percentage that the amount is of the
// reference, by every method. So its rate of false alarms is that of percentages.
func TestAnAmountIsAPercentageOfTheReference(t *testing.T) {
	t.Parallel()
	property := func(base, heads [10]uint8, percent, amount uint8, sum, higher, paired, threshold bool) bool {
		old, now := make([]float64, len(base)), make([]float64, len(heads))
		for i := range base {
			old[i], now[i] = 100+float64(base[i]%8), 100+float64(heads[i]%64)
		}
		metric := "ttft_ms"
		if higher {
			metric = "decode_tps"
		}
		ref, got := samples(metric, old, nil), samples(metric, now, nil)
		size := (&bench.Sample{Values: old}).Median()
		if paired {
			got = samples(metric, now, old)
		}
		written := gate.Change{Percent: float64(percent%30) + 1, Absolute: float64(amount%30) + 1, Sum: sum}
		share := max(written.Percent, 100*written.Absolute/size)
		if sum {
			share = written.Percent + 100*written.Absolute/size
		}
		judged := func(c gate.Change) []string {
			p := limiting(gate.DefaultPolicy(), metric, gate.Limit{Change: &c})
			if threshold {
				p.Method = gate.MethodThreshold
			}
			return lines(gate.Compare("base", ref, got, p))
		}
		return cmp.Equal(judged(written), judged(gate.Change{Percent: share}))
	}
	if err := quick.Check(property, testtier.Quick(t, 500)); err != nil {
		t.Error(err)
	}
}

// samples is a run of one cell with values of one metric, in pairs if base is not nil.
func samples(metric string, values, base []float64) *bench.Run {
	c := cell("a")
	c.Samples = []bench.Sample{{Metric: metric, Values: values, Base: base}}
	return run(c)
}

// TestLimitsForTheSameCellsAllHold: of two limits for the same cells the narrower one blocks, and one for other cells replaces both.
func TestLimitsForTheSameCellsAllHold(t *testing.T) {
	t.Parallel()
	ref := run(cell("a", "ttft_ms", 100.0))
	for _, c := range []struct {
		now  float64
		want string
	}{{105, "a ttft_ms unchanged -5"}, {106, "a ttft_ms regressed blocks -6"}} {
		p := limiting(fixed(), "ttft_ms", gate.Limit{Change: &gate.Change{Percent: 20}})
		p = limiting(p, "ttft_ms", gate.Limit{Change: &gate.Change{Absolute: 5}})
		got := run(cell("a", "ttft_ms", c.now))
		if diff := cmp.Diff([]string{c.want}, lines(gate.Compare("base", ref, got, p))); diff != "" {
			t.Error(diff)
		}
		p = limiting(p, "ttft_ms", gate.Limit{Scope: gate.Scope{Host: "h*"}, Change: &gate.Change{Percent: 50}})
		if diff := cmp.Diff([]string{"unchanged"}, []string{string(gate.Compare("base", ref, got, p).Verdicts[0].Finding)}); diff != "" {
			t.Error(diff)
		}
	}
}
