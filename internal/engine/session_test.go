package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/accelgate/accelgate/internal/testing/testtier"
)

func newModel(t *testing.T, o options) *model {
	t.Helper()
	m, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func newSession(t *testing.T, m *model, capacity int) *session {
	t.Helper()
	s, err := m.newSession(capacity)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// feed returns a copy of the logits after the tokens.
func feed(t *testing.T, s *session, tokens ...int) []float32 {
	t.Helper()
	logits, err := s.prefill(t.Context(), tokens)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Clone(logits)
}

// answer returns n tokens after the prompt and all logits they were chosen by.
func answer(t *testing.T, m *model, prompt string, n int) (tokens []int, logits []float32) {
	t.Helper()
	s := newSession(t, m, len(prompt)+n)
	last := feed(t, s, encode(prompt)...)
	for {
		token, err := greedy(last)
		if err != nil {
			t.Fatal(err)
		}
		tokens, logits = append(tokens, token), append(logits, last...)
		if len(tokens) == n {
			return tokens, logits
		}
		last = feed(t, s, token)
	}
}

// TestModelIsAsDefined compares whole models with the float64 reference: 1e-5
// where the cache keeps float32, and what rounding keys and values costs where
// it does not.
func TestModelIsAsDefined(t *testing.T) {
	if testtier.Race {
		t.Skip("one goroutine; 20 times slower with the race detector")
	}
	for _, c := range []struct {
		model, dtype string
		tolerance    float64
	}{
		{"micro", "f32", 1e-5}, {"micro", "f16", 1e-3}, {"micro", "q8_0", 2e-2}, {"tiny", "f32", 1e-5},
	} {
		m := newModel(t, options{Model: c.model, Seed: 3, KVCache: c.dtype})
		tokens := encode("Is a gate a gate?\xff\x00")
		s := newSession(t, m, len(tokens))
		for i, want := range newReference(m).logits(tokens) {
			closeTo(t, fmt.Sprintf("%s %s token %d", c.model, c.dtype, i), feed(t, s, tokens[i]), want, c.tolerance)
		}
	}
}

func TestBackendsAreEqual(t *testing.T) {
	prompts := []string{"a", "Measure twice, merge once.", strings.Repeat("long ", 30)}
	for _, dtype := range kvCacheDTypes() {
		for seed, prompt := range prompts {
			o := options{Model: "micro", Seed: uint64(seed), KVCache: dtype}
			wantTokens, want := answer(t, newModel(t, o), prompt, 5)
			o.Backend = "cpu_parallel"
			for o.Threads = range 4 {
				gotTokens, got := answer(t, newModel(t, o), prompt, 5)
				if !slices.Equal(got, want) || !slices.Equal(gotTokens, wantTokens) {
					t.Errorf("%+v: got %q, want %q", o, decode(gotTokens), decode(wantTokens))
				}
			}
		}
	}
}

// TestPrefillEqualsSteps feeds one text at once, in two parts and token by
// token. It is longer than a chunk.
func TestPrefillEqualsSteps(t *testing.T) {
	tokens := encode(strings.Repeat("to be or not to be ", 8))
	for _, backend := range backends() {
		for _, dtype := range kvCacheDTypes() {
			m := newModel(t, options{Model: "micro", Seed: 1, Backend: backend, KVCache: dtype})
			whole, parts, steps := newSession(t, m, len(tokens)), newSession(t, m, len(tokens)), newSession(t, m, len(tokens))
			want := feed(t, whole, tokens...)
			feed(t, parts, tokens[:129]...)
			if got := feed(t, parts, tokens[129:]...); !slices.Equal(got, want) {
				t.Errorf("%s %s: two parts differ from the whole", backend, dtype)
			}
			var got []float32
			for _, token := range tokens {
				got = feed(t, steps, token)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s %s: steps differ from the whole", backend, dtype)
			}
		}
	}
}

// TestLaterTokensDoNotReachBack compares the residual stream of two texts that
// differ in the last token.
func TestLaterTokensDoNotReachBack(t *testing.T) {
	for _, backend := range backends() {
		m := newModel(t, options{Model: "micro", Seed: 1, Backend: backend})
		one, other := newSession(t, m, 16), newSession(t, m, 16)
		feed(t, one, encode("sixteen bytes...")...)
		feed(t, other, encode("sixteen bytes..!")...)
		before := 15 * m.dim
		if !slices.Equal(one.stream[:before], other.stream[:before]) {
			t.Errorf("%s: the last token changes those before it", backend)
		}
		if slices.Equal(one.stream[before:], other.stream[before:]) {
			t.Errorf("%s: the last token does not change itself", backend)
		}
	}
}

// TestEarlierTokensMatter would fail if attention looked at nothing or if
// positions did not count.
func TestEarlierTokensMatter(t *testing.T) {
	m := newModel(t, options{Model: "micro", Seed: 1})
	want := feed(t, newSession(t, m, 3), encode("abc")...)
	for _, text := range []string{"xbc", "axc", "bac", "bc"} {
		if slices.Equal(feed(t, newSession(t, m, 3), encode(text)...), want) {
			t.Errorf("%q has the logits of abc", text)
		}
	}
}

func TestSeedAndModelMatter(t *testing.T) {
	const prompt = "Measure twice, merge once."
	want, _ := answer(t, newModel(t, options{Model: "micro", Seed: 1}), prompt, 16)
	again, _ := answer(t, newModel(t, options{Model: "micro", Seed: 1}), prompt, 16)
	if !slices.Equal(again, want) {
		t.Errorf("the same seed answered %q, then %q", decode(want), decode(again))
	}
	for _, o := range []options{{Model: "micro", Seed: 2}, {Model: "tiny", Seed: 1}} {
		if got, _ := answer(t, newModel(t, o), prompt, 16); slices.Equal(got, want) {
			t.Errorf("%+v answers like micro with seed 1: %q", o, decode(got))
		}
	}
}

func TestResetForgets(t *testing.T) {
	for _, dtype := range kvCacheDTypes() {
		s := newSession(t, newModel(t, options{Model: "micro", KVCache: dtype}), 8)
		want := feed(t, s, encode("forget!")...)
		s.Reset()
		feed(t, s, encode("other")...)
		s.Reset()
		if got := feed(t, s, encode("forget!")...); !slices.Equal(got, want) {
			t.Errorf("%s: a reset session remembers", dtype)
		}
	}
}

func TestSessionsShareAModel(t *testing.T) {
	m := newModel(t, options{Model: "micro", Backend: "cpu_parallel", Threads: 2})
	tokens := encode(strings.Repeat("share ", 20))
	want := feed(t, newSession(t, m, len(tokens)), tokens...)
	var group sync.WaitGroup
	for range 4 {
		s := newSession(t, m, len(tokens))
		group.Go(func() {
			got, err := s.prefill(context.Background(), tokens)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("a session beside others computes something else, error %v", err)
			}
		})
	}
	group.Wait()
}

func TestSessionRefuses(t *testing.T) {
	m := newModel(t, options{Model: "micro"})
	for _, capacity := range []int{-1, 0, maxTokens + 1, math.MaxInt} {
		if _, err := m.newSession(capacity); err == nil {
			t.Errorf("NewSession(%d) works", capacity)
		}
	}
	s := newSession(t, m, 2)
	for _, tokens := range [][]int{nil, {1, 2, 3}, {-1}, {256}, {math.MaxInt}} {
		if _, err := s.prefill(t.Context(), tokens); err == nil {
			t.Errorf("Prefill(%d) works", tokens)
		}
	}
	feed(t, s, 1, 2)
	if _, err := s.prefill(t.Context(), []int{3}); err == nil {
		t.Error("a full session takes another token")
	}
}

func TestPrefillStopsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := newSession(t, newModel(t, options{Model: "micro"}), 1).prefill(ctx, []int{1})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		options options
		want    string // in the message
	}{
		{options{Model: "huge"}, "tiny, micro, small"},
		{options{Backend: "cuda"}, "cpu, cpu_parallel"},
		{options{KVCache: "f64"}, "f32, f16, q8_0"},
		{options{Threads: 2}, "cpu_parallel"},
		{options{Threads: -1, Backend: "cpu_parallel"}, "0 (all processors) to 1024"},
		{options{Threads: 1025, Backend: "cpu_parallel"}, "0 (all processors) to 1024"},
	} {
		if _, err := New(c.options); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("New(%+v): got %v, want %q", c.options, err, c.want)
		}
	}
}
