package gate_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/gate"
)

// trading lets ttft_ms lose so many percent where decode_tps gains 20 %.
func trading(p gate.Policy, loss float64) gate.Policy {
	return limiting(p, "ttft_ms", gate.Limit{Change: &gate.Change{Percent: 3.0}, Trade: &gate.Trade{Loss: loss, For: "decode_tps", Gain: 20}})
}

// traded is finding and standing of the first verdict on the time.
func traded(c gate.Comparison) string {
	for _, v := range c.Verdicts {
		if v.Metric == "ttft_ms" {
			return strings.TrimSpace(fmt.Sprintf("%s %s", v.Finding, standing(&v)))
		}
	}
	return ""
}

// TestTradesByTheThreshold: a loss within the trade passes if the gain is there, and any
// other one blocks as it would without a trade.
func TestTradesByTheThreshold(t *testing.T) {
	t.Parallel()
	ref := run(cell("a", "ttft_ms", 100.0, "decode_tps", 100.0))
	for name, c := range map[string]struct {
		got          *bench.Run
		want, reason string
	}{
		"paid":                    {run(cell("a", "ttft_ms", 105.0, "decode_tps", 125.0)), "regressed trade", "a gain of decode_tps by 25.0 % pays for it"},
		"exactly":                 {run(cell("a", "ttft_ms", 108.0, "decode_tps", 120.0)), "regressed trade", "by 20.0 % pays for it"},
		"too little gain":         {run(cell("a", "ttft_ms", 105.0, "decode_tps", 119.0)), "regressed blocks", "decode_tps gained 19.0 %, and the trade needs 20 %"},
		"too much loss":           {run(cell("a", "ttft_ms", 109.0, "decode_tps", 200.0)), "regressed blocks", "a trade allows a loss of 8 %"},
		"both lose":               {run(cell("a", "ttft_ms", 105.0, "decode_tps", 50.0)), "regressed blocks", "decode_tps gained -50.0 %"},
		"within the limit":        {run(cell("a", "ttft_ms", 103.0, "decode_tps", 50.0)), "unchanged", ""},
		"the metric is gone":      {run(cell("a", "ttft_ms", 105.0)), "regressed blocks", "decode_tps has no number on both sides"},
		"the gain is of nothing":  {run(cell("a", "ttft_ms", 105.0, "decode_tps", 0.0)), "regressed blocks", "not traded"},
		"a wrong answer is wrong": {run(cell("a!incorrect", "ttft_ms", 105.0, "decode_tps", 200.0)), "", ""},
	} {
		p := trading(fixed(), 8)
		result := gate.Compare("base", ref, c.got, p)
		if got := traded(result); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		for _, v := range result.Verdicts {
			if v.Metric == "ttft_ms" && !strings.Contains(v.Reason, c.reason) || (v.Excused() == gate.TradeExcuse) != (v.Excuse != nil && v.Excuse.Trade != nil) {
				t.Errorf("%s: %q, want %q", name, v.Reason, c.reason)
			}
		}
	}
}

// TestTradesNeedAsMuchEvidence: on each road, a gain pays only if a loss of its size with its
// noise would block.
func TestTradesNeedAsMuchEvidence(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(26, 1))
	second := func(result bench.Result, values, base []float64) bench.Result {
		result.Samples = append(result.Samples, bench.Sample{Metric: "decode_tps", Values: values, Base: base})
		return result
	}
	pairs := func(n int, gain, noise float64) (ref, got *bench.Run) {
		return nil, run(second(inTurns("a", noisy(r, 106, 0.002, n), noisy(r, 100, 0.002, n)), noisy(r, gain, noise, n), noisy(r, 100, noise, n)))
	}
	history := func(n int, gain, noise float64) (ref, got *bench.Run) {
		one := second(inTurns("a", noisy(r, 106, 0.002, n), nil), noisy(r, gain, noise, n), nil)
		one.Sessions = n
		old := withHistory("a", 100, noisy(r, 100, 0.002, 12))
		old.Samples = append(old.Samples, bench.Sample{Metric: "decode_tps", Summary: &bench.Summary{Median: 100, MAD: 100 * noise, N: 5}})
		for _, v := range noisy(r, 100, noise, 12) {
			old.Samples[1].History = append(old.Samples[1].History, []float64{v})
		}
		return run(old), run(one)
	}
	sessions := func(slow, gain, noise float64) (ref, got *bench.Run) {
		old := second(inTurns("a", noisy(r, 100, 0.001, 5), nil), noisy(r, 100, noise, 5), nil)
		return run(old), run(second(inTurns("a", noisy(r, slow, 0.001, 5), nil), noisy(r, gain, noise, 5), nil))
	}
	type sides struct{ ref, got *bench.Run }
	of := func(ref, got *bench.Run) sides { return sides{ref, got} }
	for name, c := range map[string]struct {
		sides
		want string
	}{
		"pairs, a certain gain":                   {of(pairs(30, 130, 0.01)), "regressed trade"},
		"pairs, a gain within noise":              {of(pairs(30, 130, 0.9)), "regressed blocks"},
		"pairs, no gain":                          {of(pairs(30, 100, 0.01)), "regressed blocks"},
		"pairs, undecided gain":                   {of(pairs(10, 130, 0.01)), "regressed blocks"},
		"3 runs against history, a certain gain":  {of(history(3, 130, 0.01)), "regressed trade"},
		"3 runs against history, a gain in noise": {of(history(3, 125, 0.5)), "regressed blocks"},
		"two sessions, a certain gain":            {of(sessions(107.9, 160, 0.01)), "regressed trade"},
		"two sessions, a gain in noise":           {of(sessions(180, 130, 0.1)), "regressed blocks"},
		"two sessions, a loss in noise":           {of(sessions(104, 160, 0.01)), "regressed ?pairs"},
		"pairs, undecided loss":                   {of(pairs(5, 130, 0.01)), "regressed blocks"},
	} {
		if got := traded(gate.Compare("base", c.ref, c.got, trading(gate.DefaultPolicy(), 85))); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestTradesAskForThePairsOfTheGain: a large loss is decided by fewer pairs than a gain, so the
// cell is measured on until the gain is decided, too, unless no gain pays for that loss.
func TestTradesAskForThePairsOfTheGain(t *testing.T) {
	t.Parallel()
	for maximum, want := range map[float64]int{85: detect.DefaultStages().Total(), 3: 0} {
		r := rand.New(rand.NewPCG(26, 3))
		c := inTurns("a", noisy(r, 106, 0.002, 10), noisy(r, 100, 0.002, 10))
		c.Samples = append(c.Samples, bench.Sample{Metric: "decode_tps", Values: noisy(r, 130, 0.01, 10), Base: noisy(r, 100, 0.01, 10)})
		got := gate.Compare("base", nil, run(c), trading(gate.DefaultPolicy(), maximum))
		if need := gate.Pairs(got)["a"]; traded(got) != "regressed blocks" || need != want {
			t.Errorf("up to %v %%: %s, needs %d pairs, want %d", maximum, traded(got), need, want)
		}
	}
}

// TestTradesOnlyExcuseLosses: no other verdict changes, but for the gain that is listed as one.
func TestTradesOnlyExcuseLosses(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(26, 2))
	for range 200 {
		ref, got := run(), run()
		for i := range 6 {
			id := fmt.Sprint("c", i)
			ref.Results = append(ref.Results, cell(id, "ttft_ms", 100.0, "decode_tps", 100.0))
			got.Results = append(got.Results, cell(id, "ttft_ms", 95+20*r.Float64(), "decode_tps", 80+60*r.Float64()))
		}
		without := gate.Compare("base", ref, got, limiting(fixed(), "ttft_ms", gate.Limit{Change: &gate.Change{Percent: 3.0}}))
		with := gate.Compare("base", ref, got, trading(fixed(), 8))
		for i := range without.Verdicts {
			v, w := without.Verdicts[i], with.Verdicts[i]
			if w.Excused() == gate.TradeExcuse && v.Finding == gate.Regressed && w.Excuse.Trade.Gained >= 20 && w.Delta >= -8 {
				w.Blocks, w.Excuse = true, nil
			}
			if strings.HasPrefix(w.Reason, "pays for the loss of ttft_ms") {
				w.Finding = v.Finding
			}
			w.Reason, w.SharedLoss, v.SharedLoss = v.Reason, 0, 0
			if diff := cmp.Diff(v, w); diff != "" {
				t.Fatal(diff)
			}
		}
	}
}
