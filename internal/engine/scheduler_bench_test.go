package engine

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// BenchmarkBatch answers 8 prompts one after the other, each in a session by
// itself, and together in a batch, and reports tokens per second of each and
// their ratio. The two take turns and the fastest of each counts, so that the
// ratio holds on a busy machine. With one prompt the batch has nothing to
// share, and the ratio is what scheduling costs.
func BenchmarkBatch(b *testing.B) {
	for _, backend := range backends() {
		m, err := New(options{Seed: 1, Backend: backend})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(backend+"/1", func(b *testing.B) { compareBatch(b, m, 1) })
		b.Run(backend+"/8", func(b *testing.B) { compareBatch(b, m, 8) })
	}
}

func compareBatch(b *testing.B, m *model, sequences int) {
	const prompt, tokens = 64, 128
	s := newScheduler(m, sequences, prompt+tokens, nil)
	ctx, stop := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() { s.run(ctx) })
	defer group.Wait()
	defer stop()
	session, err := m.newSession(prompt + tokens)
	if err != nil {
		b.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 1))
	var prompts [][]int
	for range sequences {
		prompts = append(prompts, randomPrompt(random, prompt))
	}
	batched, single := time.Hour, time.Hour
	for b.Loop() {
		start := time.Now()
		inBatch(b, s, prompts, tokens)
		batched = min(batched, time.Since(start))
		start = time.Now()
		inTurn(b, session, prompts, tokens)
		single = min(single, time.Since(start))
	}
	rate := func(d time.Duration) float64 { return float64(sequences*tokens) / d.Seconds() }
	b.ReportMetric(0, "ns/op") // of both together; says nothing
	b.ReportMetric(rate(batched), "batched-tok/s")
	b.ReportMetric(rate(single), "sequential-tok/s")
	b.ReportMetric(rate(batched)/rate(single), "x-sequential")
}

func inBatch(b *testing.B, s *scheduler, prompts [][]int, tokens int) {
	var all []*generation
	for _, prompt := range prompts {
		g := newGeneration(prompt, tokens, time.Now())
		all = append(all, g)
		if err := s.push(g); err != nil {
			b.Fatal(err)
		}
	}
	for _, g := range all {
		if got, err := await(g); len(got) != tokens || err != nil {
			b.Fatal(len(got), err)
		}
	}
}

func inTurn(b *testing.B, s *session, prompts [][]int, tokens int) {
	for _, prompt := range prompts {
		s.Reset()
		next := prompt
		for range tokens {
			logits, err := s.prefill(context.Background(), next)
			if err != nil {
				b.Fatal(err)
			}
			token, err := greedy(logits)
			if err != nil {
				b.Fatal(err)
			}
			next = []int{token}
		}
	}
}
