package engine

import (
	"fmt"
	"slices"
	"time"
)

// Report is what `accelgate engine bench` prints: one JSON object.
type Report struct {
	Engine       string `json:"engine"`
	Model        string `json:"model"`
	Seed         uint64 `json:"seed"`
	Backend      string `json:"backend"`
	Threads      int    `json:"threads"` // at most this many compute at once
	KVCacheDType string `json:"kv_cache_dtype"`
	PromptTokens int    `json:"prompt_tokens"`

	// PrefillTPS is the rate of the prompt, in tokens per second, up to and
	// including the choice of the first token of the answer. DecodeTPS is the
	// rate of the further tokens, each of which takes one decode step; it is
	// left out where the answer is one token, since nothing is decoded then.
	//
	// Both are those of the fastest run: within one process interference only
	// ever adds time, so the fastest run is the nearest to what the code
	// needs. Processes differ in more than that, and to sample them is for
	// the caller.
	PrefillTPS float64 `json:"prefill_tps"`
	DecodeTPS  float64 `json:"decode_tps,omitempty"`
	// ModelLoadMS is the time to make the weights.
	ModelLoadMS float64 `json:"model_load_ms"`

	// TokenIDs is the answer, Text the same as text. Every run gave it.
	TokenIDs []int  `json:"token_ids"`
	Text     string `json:"text"`
	// Runs holds the rates of every measured run, in order.
	Runs runs `json:"runs"`
	// Operators splits the time of the run that was the shortest as a whole,
	// the longest part first.
	Operators []Operator `json:"operators"`
	// Injected repeats the slowdown that was asked for. Numbers with one are
	// a demonstration and must not become a baseline.
	Injected Slowdown `json:"injected,omitempty"`
}

// runs holds one value for each measured run.
type runs struct {
	PrefillTPS []float64 `json:"prefill_tps"`
	DecodeTPS  []float64 `json:"decode_tps,omitempty"`
}

// run is one prompt answered.
type run struct {
	tokens          []int
	prefill, decode time.Duration
	operators       []Operator
}

// summarise fills in what follows from the measured runs.
func (r *Report) summarise(runs []run) error {
	shortest := runs[0]
	for _, run := range runs {
		decoded := len(run.tokens) - 1
		if run.prefill <= 0 || decoded > 0 && run.decode <= 0 {
			return fmt.Errorf("a run was too short for this host's clock: ask for more tokens with --prompt-tokens and --decode-tokens")
		}
		r.Runs.PrefillTPS = append(r.Runs.PrefillTPS, float64(r.PromptTokens)/run.prefill.Seconds())
		if decoded > 0 {
			r.Runs.DecodeTPS = append(r.Runs.DecodeTPS, float64(decoded)/run.decode.Seconds())
		}
		if run.prefill+run.decode < shortest.prefill+shortest.decode {
			shortest = run
		}
	}
	r.TokenIDs, r.Text = shortest.tokens, decode(shortest.tokens)
	r.Operators = shortest.operators
	r.PrefillTPS = slices.Max(r.Runs.PrefillTPS)
	if len(r.Runs.DecodeTPS) > 0 {
		r.DecodeTPS = slices.Max(r.Runs.DecodeTPS)
	}
	return nil
}
