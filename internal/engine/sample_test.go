package engine

import (
	"math"
	"testing"
)

func TestTokensAreBytes(t *testing.T) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for _, text := range []string{"", "gate", "日本", string(all)} {
		tokens := encode(text)
		if len(tokens) != len(text) {
			t.Errorf("%q has %d tokens, want %d", text, len(tokens), len(text))
		}
		if got := decode(tokens); got != text {
			t.Errorf("%q comes back as %q", text, got)
		}
	}
}

// TestGreedy gives one token at a time the largest logit.
func TestGreedy(t *testing.T) {
	for token := range vocabulary {
		logits := make([]float32, vocabulary)
		logits[token] = 1
		want := token
		if !(token == 10 || token >= 32 && token <= 126) {
			want = 10 // the lowest of all that are left
		}
		if got, err := greedy(logits); got != want || err != nil {
			t.Errorf("largest logit at %d: got %d, %v, want %d", token, got, err, want)
		}
	}
}

func TestLowestTokenWinsATie(t *testing.T) {
	logits := make([]float32, vocabulary)
	logits['z'], logits['b'], logits['k'] = 2, 2, 2
	if got, err := greedy(logits); got != 'b' || err != nil {
		t.Errorf("got %d, %v, want 98", got, err)
	}
}

func TestGreedyRefuses(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, token := range []int{0, 'a', 255} {
			logits := make([]float32, vocabulary)
			logits[token] = float32(bad)
			if got, err := greedy(logits); err == nil {
				t.Errorf("logit %v at %d: answers %d", bad, token, got)
			}
		}
	}
	if got, err := greedy(make([]float32, 10)); err == nil {
		t.Errorf("no printable token: answers %d", got)
	}
}
