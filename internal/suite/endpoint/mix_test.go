package endpoint

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
)

// TestMixesFollowTheirWeights, and the seed alone decides which request asks
// which model.
func TestMixesFollowTheirWeights(t *testing.T) {
	t.Parallel()
	const n = 20_000
	m := mix{"base": 6, "lora-a": 3, "lora-b": 1}
	for seed := range int64(5) {
		count, same := map[string]float64{}, 0
		for i := range n {
			model := m.pick(seed, i, "")
			count[model]++
			if m.pick(seed, i, "") != model {
				t.Fatal("one request has two models")
			}
			if m.pick(seed+100, i, "") == model {
				same++
			}
		}
		for name, weight := range m {
			if share := count[name] / n; math.Abs(share-weight/10) > 0.02 {
				t.Errorf("seed %d: %s has %v of all requests, want %v", seed, name, share, weight/10)
			}
		}
		if same > n*6/10 { // 0.46 by chance
			t.Errorf("seed %d: %d of %d requests are those of another seed", seed, same, n)
		}
	}
	if got := (mix{}).pick(1, 1, "other"); got != "other" {
		t.Errorf("without a mix: %q", got)
	}
}

// TestMixIsMeasuredByModel against the programmable server.
func TestMixIsMeasuredByModel(t *testing.T) {
	t.Parallel()
	bodies, r := overheard(t, "/v1/completions", `
mix: {base: 3, org/lora-a: 1}
request: {api: completions, max_tokens: 4}
dataset: {kind: random, input: {dist: fixed, value: 4}}
load: {concurrency: [2], requests: 60, warmup: {duration: 0s}}`)
	models := map[string]int{}
	for _, body := range bodies {
		var q asked
		if err := json.Unmarshal(body, &q); err != nil {
			t.Fatal(err)
		}
		models[q.Model]++
	}
	value := func(name string) float64 {
		s := r.Sample(name)
		if s == nil {
			t.Fatalf("no %s; %s %s", name, r.Outcome, r.Reason)
		}
		return s.Values[0]
	}
	if r.Outcome != bench.Passed || len(models) != 2 || r.Conditions["mix"] != "base=3 org/lora-a=1" {
		t.Errorf("%s, models %v, conditions %v", r.Outcome, models, r.Context)
	}
	if base, lora := value("n_ok@base"), value("n_ok@org/lora-a"); base+lora != value("n_ok") || base <= lora || lora == 0 {
		t.Errorf("%v and %v answers", base, lora)
	}
	value("ttft_p50_ms@base")
}

func TestMixesThatAreRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{a: 0}":           "the weight of a is 0",
		"{a: -1}":          "the weight of a is -1",
		"{a: 1000001}":     "up to 1e+06",
		`{"": 1}`:          "is not the name of a model",
		`{"a b": 1}`:       "is not the name of a model",
		`{"a\u001bb": 1}`:  `"a\x1bb" is not the name`,
		"{a: much}":        "want a number",
		"[a, b]":           "mix",
		"{a: 1, b: 0.001}": "",
	} {
		_, err := openBody(t, "x.yaml", "base_url: http://127.0.0.1:9\nmix: "+text+"\nload: {concurrency: [1], requests: 1}", env(t))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
