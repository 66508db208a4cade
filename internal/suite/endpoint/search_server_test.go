package endpoint

import (
	"fmt"
	"math"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/testtier"
)

// TestSearchOfTheProgrammableServerNightly searches a server in a process of its own that answers 20 requests a second: two
// slots that hold each request for 100 ms. It takes about a minute for each of ten seeds, because each of some fifteen probes loads
// the server for four seconds. A search that the run itself calls doubtful, on a host that is too busy to send, is no evidence.
func TestSearchOfTheProgrammableServerNightly(t *testing.T) {
	testtier.Nightly(t)
	const capacity, seeds = 20., 10
	good := 0
	for seed := range seeds {
		s, err := openBody(t, "x.yaml", fmt.Sprintf(`
server: {command: ["{accelgate}", engine, mock, --listen, "127.0.0.1:{port}", --ttft, 100ms, --slots, "2"]}
request: {max_tokens: 1}
dataset: {kind: random, n: 2000, seed: %d, input: {dist: fixed, value: 8}}
load: {mode: constant, duration: 4s, warmup: {duration: 500ms}}
search: {metric: rate, slo: {ttft_p95_ms: 150, ok_rate: 99%%}, min: %v, max: 100}`, seed, 8+float64(seed)/4), env(t))
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Measure(t.Context(), s.Cells()[0], bench.Device{})
		if err != nil || r.Outcome != bench.Passed {
			t.Fatalf("%v, %s", err, r.Reason)
		}
		found := r.Sample("max_rate_at_slo")
		t.Logf("seed %d: %.1f req/s (%.1f to %.1f, %d probes) %s", seed, found.Values[0], found.Estimates[0].Low, found.Estimates[0].High, len(r.Curve), r.Doubt)
		if math.Abs(found.Values[0]/capacity-1) <= 0.05 {
			good++
		} else if r.Doubt == "" {
			t.Errorf("seed %d found %.1f req/s, want %.0f within 5 %%", seed, found.Values[0], capacity)
		}
	}
	t.Logf("%d of %d within 5 %%", good, seeds)
}
