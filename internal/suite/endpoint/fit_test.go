package endpoint

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/engine/mock"
)

const fitted = `
request: {max_tokens: 2}
dataset: {kind: random, length_unit: tokens, n: 200, input: {dist: fixed, value: 90}}
load: {concurrency: [1], requests: 20, auto_ramp: false, warmup: {duration: 0s}}`

// TestPromptsHaveTheServersTokens as its own /tokenize counts them.
func TestPromptsHaveTheServersTokens(t *testing.T) {
	t.Parallel()
	bodies, r := overheard(t, "/v1/chat/completions", fitted)
	if r.Outcome != bench.Passed || r.Conditions["length_unit"] != "tokens" || len(bodies) < 20 {
		t.Fatalf("%s %s, %v", r.Outcome, r.Reason, r.Context)
	}
	for i, body := range bodies {
		var q asked
		if err := json.Unmarshal(body, &q); err != nil {
			t.Fatal(err)
		}
		n := mock.CountTokens(q.Messages[0].Content)
		if warmup := i <= r.Counts["warmup"]; !warmup && n != 89 && n != 90 { // a last word of two tokens may not fit; nonces of a warm-up differ
			t.Errorf("prompt %d has %d tokens", i, n)
		}
	}
}

// TestTokenizePages of other engines, and of none.
func TestTokenizePages(t *testing.T) {
	t.Parallel()
	s := mock.New(mock.Config{Engine: mock.LlamaCPP, Now: time.Now})
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	for server, want := range map[string]string{
		"base_url: " + s.URL: "",
		`server: {command: ["{accelgate}", engine, serve, --listen, "127.0.0.1:{port}", --model, micro]}`: "dataset.length_unit is tokens: ",
	} {
		suite, err := openBody(t, "x.yaml", server+fitted, env(t))
		if err != nil {
			t.Fatal(err)
		}
		r, err := suite.Measure(t.Context(), suite.Plan().Cells[0], bench.Device{})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) || err == nil && r.Outcome != bench.Passed {
			t.Errorf("%s: %s, %v", server, r.Outcome, err)
		}
	}
}
