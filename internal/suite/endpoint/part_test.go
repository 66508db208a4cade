package endpoint

import (
	"context"
	"math"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite/endpoint/latency"
	"github.com/accelgate/accelgate/internal/suite/endpoint/load"
	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
)

// imagined answers a request after times that its index decides.
func imagined(now func() time.Duration, shot load.Shot) latency.Observation {
	first, gap, tokens := time.Duration(20+shot.Index*7%13)*time.Millisecond, time.Duration(1000+shot.Index*31%97)*time.Microsecond, 4+shot.Index%5
	r := openai.Reply{Outcome: openai.OK, Status: 200, Send: now(), PromptTokens: 9, OutputTokens: tokens, StreamedTokens: tokens, CachedTokens: -1, Source: openai.FromUsage,
		FinishReason: "length", ServerPromptMS: math.NaN(), ServerDecodeMS: math.NaN(), Chunks: tokens}
	time.Sleep(first)
	r.Conn, r.Headers = r.Send+1, r.Send+2
	r.First = now()
	r.FirstChunk, r.FirstContent = r.First, r.First
	for i := range tokens {
		r.Tokens, r.Reads = append(r.Tokens, r.First+time.Duration(i)*gap), append(r.Reads, int32(i))
	}
	time.Sleep(gap * time.Duration(tokens-1))
	r.Last = now()
	r.Finish, r.Usage, r.Done, r.EOF = r.Last, r.Last, r.Last, r.Last
	return latency.Observation{Index: shot.Index, Phase: shot.Phase, Due: shot.Due, Outstanding: shot.Outstanding, Reply: r}
}

// imaginedShares runs a plan by n clients at once, each on a clock of its own, and merges
// them on the first one's.
func imaginedShares(t *testing.T, p load.Plan, n int) (out latency.Output, all together) {
	synctest.Test(t, func(t *testing.T) {
		s, err := p.Schedule()
		if err != nil {
			t.Fatal(err)
		}
		parts := make([]part, n)
		var clients sync.WaitGroup
		for k := range n {
			clients.Go(func() { parts[k] = imaginedPart(t, s, k, n) })
		}
		clients.Wait()
		all = merge(parts, parts[0].Epoch, p)
		out = latency.Compute(latency.Input{Observations: all.observations, Window: all.window, Open: p.Mode != load.Closed,
			SLO: latency.SLO{TTFT: 25 * time.Millisecond}})
	})
	return out, all
}

// imaginedPart is one of them. Its clock is behind by a minute for each before it, and its
// epoch is its own.
func imaginedPart(t *testing.T, s load.Schedule, k, n int) part {
	s, err := s.Share(k, n)
	if err != nil {
		t.Error(err)
		return part{}
	}
	behind, early := time.Duration(k)*time.Minute, time.Duration(k+1)*time.Second
	epoch := time.Now().Add(-early)
	now := func() time.Duration { return time.Since(epoch) }
	one := part{Epoch: epoch.Round(0).Add(-behind), Began: now(), Clock: clock{Low: behind, High: behind, Reads: 1}}
	var mu sync.Mutex
	log, err := load.Run(t.Context(), s, now, func(_ context.Context, shot load.Shot) {
		o := imagined(now, shot)
		if shot.Phase != load.Cooldown {
			mu.Lock()
			defer mu.Unlock()
			one.observations = append(one.observations, o)
		}
	})
	if err != nil {
		t.Error(err)
	}
	one.Window = log.Window
	return one
}

// TestMergedIsOne: what several clients measured is what one client measures, on
// generated clocks. An open loop yields the same numbers, bit by bit.
func TestMergedIsOne(t *testing.T) {
	for name, p := range map[string]load.Plan{
		"constant": {Mode: load.Constant, Rate: 40, Requests: 60, Warmup: load.WarmupRule{Requests: 5}, Drain: time.Second},
		"gamma":    {Mode: load.Gamma, Rate: 60, Burstiness: 0.3, Duration: time.Second, Warmup: load.WarmupRule{Duration: 200 * time.Millisecond}, Drain: time.Second, Seed: 3},
	} {
		want, _ := imaginedShares(t, p, 1)
		for _, n := range []int{2, 7} {
			got, all := imaginedShares(t, p, n)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s by %d clients:\n%+v\nby one:\n%+v", name, n, got, want)
			}
			if all.skew != 0 || all.share != 1 || all.caveat() != "" {
				t.Errorf("%s by %d clients: %v apart, %v together", name, n, all.skew, all.share)
			}
		}
	}
}

// TestMergedClosedLoop: in a closed loop the slots go their own ways, so the numbers
// of all clients are within the intervals of one.
func TestMergedClosedLoop(t *testing.T) {
	p := load.Plan{Mode: load.Closed, Concurrency: 8, Duration: 20 * time.Second, AutoRamp: true, Warmup: load.WarmupRule{Requests: 16, Duration: time.Second}, Drain: time.Second}
	want, _ := imaginedShares(t, p, 1)
	for _, n := range []int{2, 8} {
		got, all := imaginedShares(t, p, n)
		if all.caveat() != "" {
			t.Fatal(all.caveat())
		}
		for _, metric := range []string{"ttft_p50_ms", "ttft_p95_ms", "tpot_p50_ms", "e2e_mean_ms"} {
			a, b := sampleOf(got.Samples, metric), sampleOf(want.Samples, metric)
			if e := b.Estimates[0]; a.Values[0] < e.Low || a.Values[0] > e.High {
				t.Errorf("%s by %d clients is %v, and by one from %v to %v", metric, n, a.Values[0], e.Low, e.High)
			}
		}
		if a, b := sampleOf(got.Samples, "throughput_tok_per_s").Values[0], sampleOf(want.Samples, "throughput_tok_per_s").Values[0]; math.Abs(a/b-1) > 0.01 {
			t.Errorf("throughput by %d clients is %v and by one %v", n, a, b)
		}
	}
}

func sampleOf(list []bench.Sample, metric string) *bench.Sample {
	r := bench.Result{Samples: list}
	return r.Sample(metric)
}

func TestClientsThatWereNotTogetherAreDoubtful(t *testing.T) {
	window := func(from, to time.Duration) part {
		return part{Window: load.Window{Start: from * time.Second, End: to * time.Second, Drained: to * time.Second}}
	}
	closed := load.Plan{Mode: load.Closed, Concurrency: 2, Duration: 10 * time.Second}
	for _, c := range []struct {
		a, b  part
		share float64
	}{{window(1, 11), window(1, 11), 1}, {window(0, 10), window(2, 12), 8. / 12}, {window(0, 10), window(20, 30), 0}} {
		got := merge([]part{c.a, c.b}, time.Time{}, closed)
		if got.share != c.share || (got.caveat() == "") != (c.share == 1) {
			t.Errorf("got %v, %q", got.share, got.caveat())
		}
	}
}
