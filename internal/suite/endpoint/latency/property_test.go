package latency_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/suite/endpoint/latency"
	"github.com/accelgate/accelgate/internal/suite/endpoint/load"
)

// TestShiftAndScale moves and stretches all times: latencies do not depend on
// the epoch, and a clock that runs twice as fast doubles them.
func TestShiftAndScale(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		in := measure(random(seed, 300))
		in.Window.Start = 500 * ms
		in.SLO = latency.SLO{TTFT: 60 * ms, TPOT: 5 * ms}
		before := values(latency.Compute(in))
		compare(t, "shifted", before, values(latency.Compute(transform(in, 1, time.Hour))), func(string) float64 { return 1 })
		doubled := transform(in, 2, 0)
		doubled.SLO = latency.SLO{TTFT: 120 * ms, TPOT: 10 * ms}
		units := map[string]float64{"ms": 2, "s": 2, "tok/s": .5, "req/s": .5, "": 1}
		metrics, _ := latency.Metrics()
		factors := map[string]float64{}
		for _, m := range metrics {
			factors[m.Name] = units[m.Unit]
		}
		compare(t, "doubled", before, values(latency.Compute(doubled)), func(name string) float64 { return factors[name] })
	}
}

func compare(t *testing.T, what string, before, after map[string]float64, factor func(string) float64) {
	t.Helper()
	if len(before) != len(after) || len(before) < 30 {
		t.Fatalf("%s: %d metrics became %d", what, len(before), len(after))
	}
	for name, v := range before {
		if want := v * factor(name); !near(after[name], want) {
			t.Errorf("%s: %s was %v and became %v, want %v", what, name, v, after[name], want)
		}
	}
}

// transform maps every time that happened from x to x*scale+shift.
func transform(in latency.Input, scale int, shift time.Duration) latency.Input {
	move := func(d time.Duration) time.Duration { return d*time.Duration(scale) + shift }
	out := in
	out.Window = load.Window{Start: move(in.Window.Start), End: move(in.Window.End), Drained: move(in.Window.Drained)}
	out.Observations = nil
	for _, o := range in.Observations {
		o.Due = move(o.Due)
		r := &o.Reply
		for _, event := range []*time.Duration{&r.Send, &r.Conn, &r.Headers, &r.FirstChunk, &r.First, &r.FirstContent, &r.Last, &r.Finish,
			&r.Usage, &r.Done, &r.EOF} {
			if *event > 0 {
				*event = move(*event)
			}
		}
		tokens := make([]time.Duration, len(r.Tokens))
		for i, at := range r.Tokens {
			tokens[i] = move(at)
		}
		r.Tokens = tokens
		out.Observations = append(out.Observations, o)
	}
	return out
}

// TestWindowsAddUp cuts a window in two: every token and every answer is in
// exactly one of them.
func TestWindowsAddUp(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 9))
		in := measure(random(seed, 100))
		cut := time.Duration(1 + rng.Int64N(int64(in.Window.End-1)))
		if r := in.Observations[rng.IntN(100)].Reply; len(r.Tokens) > 0 {
			cut = r.Tokens[0] // an event on the edge belongs to the right part
		}
		left, right := in, in
		left.Window.End, right.Window.Start = cut, cut
		whole, a, b := values(latency.Compute(in)), values(latency.Compute(left)), values(latency.Compute(right))
		for _, name := range []string{"throughput_tok_per_s", "req_per_s_all", "input_tok_per_s"} {
			sum := a[name]*a["duration_s"] + b[name]*b["duration_s"]
			if want := whole[name] * whole["duration_s"]; !near(sum, want) {
				t.Errorf("seed %d: %s: %v in the parts, %v in the whole", seed, name, sum, want)
			}
		}
	}
}

// TestOrderOfObservations checks that the answer does not depend on it, and
// that a run document takes what comes out.
func TestOrderOfObservations(t *testing.T) {
	t.Parallel()
	in := measure(random(3, 500))
	out := latency.Compute(in)
	valid(t, out)
	before := values(out)
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(in.Observations), func(i, j int) {
		in.Observations[i], in.Observations[j] = in.Observations[j], in.Observations[i]
	})
	compare(t, "shuffled", before, values(latency.Compute(in)), func(string) float64 { return 1 })
	total := 0
	for _, outcome := range outcomes {
		total += out.Counts[string(outcome)]
	}
	if want := before["n_total"] + before["n_cancelled"]; float64(total) != want {
		t.Errorf("outcomes add up to %d, want %v: %v", total, want, out.Counts)
	}
}
