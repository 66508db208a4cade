package engine

import (
	"math"
	"strings"
	"testing"
	"time"
)

func microPlan(t *testing.T) (*plan, *model) {
	t.Helper()
	p, err := Command{Getenv: func(string) string { return "" }, Now: time.Now}.plan([]string{"--model", "micro"})
	if err != nil {
		t.Fatal(err)
	}
	return p, newModel(t, p.options)
}

// TestBrokenWeightsAreNoAnswer follows a NaN and an infinity from a weight to
// the message.
func TestBrokenWeightsAreNoAnswer(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		p, m := microPlan(t)
		m.layers[0].qkv.(scalar).weights[3] = float32(bad)
		_, err := p.repeat(t.Context(), newSession(t, m, 200))
		if err == nil || !strings.Contains(err.Error(), "logit") {
			t.Errorf("weight %v: got %v, want an error about a logit", bad, err)
		}
	}
}

// TestRunsMustAgree changes a weight after the first run, as failing memory
// would.
func TestRunsMustAgree(t *testing.T) {
	p, m := microPlan(t)
	s := newSession(t, m, 200)
	s.profile.now = func() time.Time {
		if s.profile.calls[opSample] == int64(p.answer-1) && s.profile.calls[opLogits] == int64(p.answer) {
			clear(m.embedding)
		}
		return time.Now()
	}
	_, err := p.repeat(t.Context(), s)
	if err == nil || !strings.Contains(err.Error(), "run 2") {
		t.Errorf("got %v, want an error about run 2", err)
	}
}
