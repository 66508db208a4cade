package engine

import (
	"context"
	"fmt"
	"testing"
)

// BenchmarkSession is one session by itself: a chunk of prompt, and a token
// of the answer after it.
func BenchmarkSession(b *testing.B) {
	for _, backend := range backends() {
		m, err := New(options{Seed: 1, Backend: backend, Threads: 1})
		if err != nil {
			b.Fatal(err)
		}
		s, err := m.newSession(maxTokens)
		if err != nil {
			b.Fatal(err)
		}
		prompt := make([]int, chunk)
		for _, tokens := range [][]int{prompt, prompt[:1]} {
			b.Run(fmt.Sprintf("%s/%d", backend, len(tokens)), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if s.position >= 2*chunk {
						s.Reset()
					}
					if _, err := s.prefill(context.Background(), tokens); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
