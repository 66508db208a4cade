package endpoint

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/diff"
)

// TestShapes: loads are cells with ids of their own, whose arrivals the seed
// decides, and what a mode does not have is refused.
func TestShapes(t *testing.T) {
	t.Parallel()
	const server = "base_url: http://127.0.0.1:9\n"
	for text, want := range map[string]string{
		"load: {mode: gamma, rate: [1, 2.5], rate_end: 8, duration: 10s}":                                                                                                                                                         "rps1to8 rps2.5to8",
		"load: {mode: trace, scale: [1, 0.5]}\ndataset: {kind: trace, format: azure, path: azure.csv}":                                                                                                                            "trace trace-x0.5",
		"load: {mode: trace, scale: [0]}\ndataset: {kind: trace, format: azure, path: azure.csv}":                                                                                                                                 "!load.scale[0]: is 0",
		"load: {mode: trace, scale: [2, 2]}\ndataset: {kind: trace, format: azure, path: azure.csv}":                                                                                                                              "!load.scale[1]: is 2",
		"load: {mode: trace, scale: [.nan]}\ndataset: {kind: trace, format: azure, path: azure.csv}":                                                                                                                              "!want a number, got .nan",
		"load: {mode: gamma, rate: [1], scale: [2], duration: 1s}":                                                                                                                                                                "!load.scale: is for mode trace",
		"load: {mode: gamma, rate: [1], rate_end: 8, rate_curve: steep, duration: 1s}":                                                                                                                                            `!unknown rate curve "steep"`,
		"load: {mode: gamma, rate: [1], requests: 9}\ndataset: {kind: random, input: {dist: fixed, value: 9}, conversation: {turns: {dist: fixed, value: 2}, input: {dist: fixed, value: 2}}}":                                    "!set mode: closed",
		"load: {concurrency: [1], requests: 9}\nrequest: {api: completions}\ndataset: {kind: random, input: {dist: fixed, value: 9}, conversation: {turns: {dist: fixed, value: 2}, input: {dist: fixed, value: 2}}}":             "!set request.api: chat",
		"load: {concurrency: [1], requests: 9}\ndataset: {kind: random, input: {dist: fixed, value: 9}, conversation: {turns: {dist: fixed, value: 2}, input: {dist: fixed, value: 2}, think_ms: {dist: fixed, value: 9999999}}}": "!conversation.think_ms.value: 9999999",
		"load: {concurrency: [4], clients: 2, requests: 9}\ndataset: {kind: random, length_unit: tokens, input: {dist: fixed, value: 9}}":                                                                                         "c4",
		"load: {concurrency: [1], rate_end: 8, duration: 1s}":                                                                                                                                                                     "!load.rate_end: has no effect in mode closed",
		"load: {mode: gamma, rate: [1], rate_curve: linear, duration: 1s}":                                                                                                                                                        "!has no end",
		"load: {mode: gamma, rate_end: 8, duration: 1s}\nsearch: {metric: rate, slo: {ttft_p50_ms: 5}}":                                                                                                                           "!load.rate_end: stands beside search",
		"load: {mode: trace, duration: 1h, scale: [0.001]}\ndataset: {kind: trace, format: azure, path: azure.csv, n: 2}":                                                                                                         "trace-x0.001",
		"load: {mode: trace, requests: 5, scale: [2]}\ndataset: {kind: trace, format: azure, path: azure.csv, time_unit: s}":                                                                                                      "!has a unit of its own",
	} {
		s, err := openBody(t, "x.yaml", server+text, env(t))
		if err != nil {
			if want[0] != '!' || !strings.Contains(err.Error(), want[1:]) {
				t.Errorf("%s: %v, want %s", text, err, want)
			}
			continue
		}
		var got []string
		for _, c := range s.Plan().Cells {
			got = append(got, c.Get("load"))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: cells %v, want %s", text, got, want)
		}
	}
}

// TestConditionsBind: what decides the traffic keeps numbers from being compared
// with those of another, in a gate and in a diff.
func TestConditionsBind(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"rate_end", "rate_curve", "scale", "mix", "conversation", "json_schema", "files", "inputs", "length_unit", "protocol"} {
		if !slices.Contains(conditions, name) || diff.DefaultContext()[name] != gate.Fail {
			t.Errorf("%s does not bind", name)
		}
	}
}

// TestScaleDividesTimes and leaves the order.
func TestScaleDividesTimes(t *testing.T) {
	t.Parallel()
	times := []time.Duration{0, 3, 3, 10}
	if got := scaled(slices.Clone(times), 2); !slices.Equal(got, []time.Duration{0, 2, 2, 5}) {
		t.Errorf("twice as fast: %v", got)
	}
	if got := scaled(slices.Clone(times), 1); !slices.Equal(got, times) {
		t.Errorf("as recorded: %v", got)
	}
}
