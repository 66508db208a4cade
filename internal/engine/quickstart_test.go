package engine

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// TestQuickstartAnswers holds the answers that the quickstart expects. They
// are the same for every KV cache dtype, backend and platform, and no choice
// of a token was a close one: what f16 and q8_0 change in a logit is less than
// half of the smallest distance between the first and the second.
func TestQuickstartAnswers(t *testing.T) {
	if testtier.Race {
		t.Skip("one goroutine; 20 times slower with the race detector")
	}
	cases := []struct {
		prompt, want string
	}{
		{"Is it still right? Is it still fast?", "$-KBjIZ:Dx(Dx(Dx(fF*$-5wiF* Dx(f"},
		{strings.Repeat(filler, 3)[:16], "u5wiDxaHIxIxIxIxo]BQkEVyH:QkK\"K^K^KB\nx(f3UXaH:Q,tH:Q,tH:Q,tH:Q,L"},
		{strings.Repeat(filler, 3)[:128], "D"},
	}
	exact := map[string][]float32{} // the logits with f32, which is the first
	for _, dtype := range kvCacheDTypes() {
		m := newModel(t, options{Seed: 1, Backend: backendParallel, KVCache: dtype})
		for _, c := range cases {
			tokens, logits := answer(t, m, c.prompt, len(c.want))
			if got := decode(tokens); got != c.want {
				t.Fatalf("%s, %.20q: got %q, want %q", dtype, c.prompt, got, c.want)
			}
			if dtype == "f32" {
				exact[c.prompt] = logits
				continue
			}
			gap, change := closest(exact[c.prompt]), largestChange(exact[c.prompt], logits)
			t.Logf("%s, %.20q: smallest gap %.4f, largest change %.4f", dtype, c.prompt, gap, change)
			if 2*change > gap {
				t.Errorf("%s, %.20q: a logit changes by %v, the smallest gap is %v", dtype, c.prompt, change, gap)
			}
		}
	}
}

// closest returns the smallest distance between the two largest logits that
// may be sampled, over all steps of an answer.
func closest(logits []float32) float64 {
	gap := math.Inf(1)
	for step := range slices.Chunk(logits, vocabulary) {
		allowed := printable(step)
		slices.Sort(allowed)
		gap = min(gap, float64(allowed[len(allowed)-1]-allowed[len(allowed)-2]))
	}
	return gap
}

func largestChange(a, b []float32) float64 {
	var change float64
	a, b = printable(a), printable(b)
	for i, v := range a {
		change = max(change, math.Abs(float64(v-b[i])))
	}
	return change
}

// printable returns a copy of the logits of tokens that may be sampled.
func printable(logits []float32) []float32 {
	var allowed []float32
	for i, v := range logits {
		if sampled(i % vocabulary) {
			allowed = append(allowed, v)
		}
	}
	return allowed
}
