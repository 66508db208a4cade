package models_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite"
)

const rawFrame = `
    command: ["{accelgate}", print, "{model}"]
    metrics: [{name: tps, json: tps, unit: tok/s, better: higher}]
    features: [{id: f}]
`

// Models with "__" in their names have TensorSharp's own ids, as its baselines
// have; a tenth of the speed was once green because none matched.
func TestRawIDs(t *testing.T) {
	t.Parallel()
	s, err := open(t, rawFrame+`
    models: [{id: my__llama}]
    backends: [{id: cpu}]
    sweeps: [{env: KV, values: [f16, q8_0], default: f16}]
    noise_pairs: true
`, suite.Env{RawIDs: true})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, c := range s.Plan().Cells {
		ids = append(ids, c.ID())
		if partner := s.Plan().Partners[c.ID()]; c.Get("env.KV") == "f16" && partner != "my__llama__cpu__f__baseline" {
			t.Errorf("the partner of %s is %q", c.ID(), partner)
		}
		if c.Get("model") != "my__llama" {
			t.Errorf("%s has the model %q", c.ID(), c.Get("model"))
		}
	}
	want := []string{"my__llama__cpu__f__baseline", "my__llama__cpu__f__KV=f16", "my__llama__cpu__f__KV=q8_0"}
	if !slices.Equal(ids, want) {
		t.Errorf("cells %q, want %q", ids, want)
	}
}

func TestRawIDsThatAreAmbiguous(t *testing.T) {
	t.Parallel()
	body := rawFrame + `
    models: [{id: a}, {id: a__b}]
    backends: [{id: c}, {id: b__c}]
`
	if s, err := open(t, body, suite.Env{}); err != nil || len(s.Plan().Cells) != 4 {
		t.Fatalf("with escapes: %v", err)
	}
	_, err := open(t, body, suite.Env{RawIDs: true})
	for _, want := range []string{`"a__b__c__f__baseline" of TensorSharp is ambiguous`, "model=a, backend=b__c, feature=f", "model=a__b, backend=c, feature=f", "; rename"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
