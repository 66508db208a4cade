package latency_test

import (
	"io"
	"slices"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/suite/endpoint/latency"
)

// BenchmarkCompute computes 100,000 answers of 100 tokens each; the floor is
// sorting their gaps once, as percentiles by sorting would have to.
func BenchmarkCompute(b *testing.B) {
	in := large(100_000)
	var gaps []time.Duration
	for i := range in.Observations {
		r := &in.Observations[i].Reply
		for j := 1; j < len(r.Tokens); j++ {
			gaps = append(gaps, r.Tokens[j]-r.Tokens[j-1])
		}
	}
	b.Run("compute", func(b *testing.B) {
		for b.Loop() {
			latency.Compute(in)
		}
	})
	b.Run("floor/sort", func(b *testing.B) {
		for b.Loop() {
			slices.Sort(slices.Clone(gaps))
		}
	})
}

func BenchmarkWriteSamples(b *testing.B) {
	in := large(1000)
	b.SetBytes(int64(len(write(b, in.Observations))))
	for b.Loop() {
		if err := latency.WriteSamples(io.Discard, in.Observations); err != nil {
			b.Fatal(err)
		}
	}
}

func large(n int) latency.Input {
	in := latency.Input{Observations: make([]latency.Observation, n)}
	noise := uint64(1)
	for i := range in.Observations {
		o := answer(i, time.Duration(i)*ms, 50*ms, 10*ms, 100)
		for j := range o.Reply.Tokens {
			noise = noise*6364136223846793005 + 1442695040888963407
			o.Reply.Tokens[j] += time.Duration(noise >> 42)
		}
		in.Observations[i] = o
	}
	in.Window = measure(in.Observations).Window
	return in
}
