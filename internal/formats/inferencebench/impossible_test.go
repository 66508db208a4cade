package inferencebench

import (
	"math"
	"strings"
	"testing"
)

func TestImpossible(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		v    float64
		want string
	}{
		{"ok_rate", 1, ""},
		{"ok_rate", 1.01, "a share is 0 to 1"},
		{"compliance_rate", -0.1, "a share is 0 to 1"},
		{"ttft_p50_ms", 0, ""},
		{"ttft_p50_ms", -1.7e12, "not negative"},
		{"throughput_tok_per_s", -1, "not negative"},
		{"throughput_tok_per_s", math.Inf(1), "infinite"},
		{"n_ok", -1, "not negative"},
		{"accuracy_delta", -1, ""},
		{"moon", -1, ""},
		{"tok_rate", 120, ""},
	} {
		if got := ImpossibleValue(test.name, test.v); !strings.Contains(got, test.want) || (got == "") != (test.want == "") {
			t.Errorf("%s %v: %q, want %q", test.name, test.v, got, test.want)
		}
	}
	value := func(p50, p95, p99 float64) func(string) float64 {
		return func(name string) float64 {
			if v, ok := map[string]float64{"tpot_p50_ms": p50, "tpot_p95_ms": p95, "tpot_p99_ms": p99}[name]; ok {
				return v
			}
			return math.NaN()
		}
	}
	for _, test := range []struct {
		p50, p95, p99 float64
		want          string
	}{
		{1, 2, 3, ""},
		{1, math.NaN(), 1, ""},
		{3, math.NaN(), 2, "tpot_p99_ms is 2, below tpot_p50_ms, which is 3"},
		{1, 3, 2, "tpot_p99_ms is 2, below tpot_p95_ms, which is 3"},
	} {
		if got := impossibleOrder(value(test.p50, test.p95, test.p99)); got != test.want {
			t.Errorf("%+v: %q", test, got)
		}
	}
}

// TestPublishedEnvelopesArePossible reads what InferenceBench published, whose
// names hold the hash of their content and which state no load.
func TestPublishedEnvelopesArePossible(t *testing.T) {
	t.Parallel()
	for name, data := range published(t) {
		e, err := Parse(data)
		if err != nil {
			t.Fatal(name, err)
		}
		if why := e.Impossible(); why != "" {
			t.Errorf("%s: %s", name, why)
		}
		if loaded, stated := e.Loaded(); !loaded || stated {
			t.Errorf("%s: loaded %t, stated %t", name, loaded, stated)
		}
		if name == "self-regression-baseline" {
			continue // a name without a hash
		}
		name += ".json"
		if err := VerifyName(name, data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		edited := []byte(strings.Replace(string(data), `"ok_rate": 1`, `"ok_rate": 0`, 1))
		if err := VerifyName(name, edited); string(edited) != string(data) && (err == nil || !strings.Contains(err.Error(), "edited or renamed")) {
			t.Errorf("%s, edited: %v", name, err)
		}
	}
	if err := VerifyName("result.json", []byte("{}")); err == nil || !strings.Contains(err.Error(), "no hash") {
		t.Errorf("a name without a hash: %v", err)
	}
}
