package bench

import (
	"maps"
	"testing"
)

// TestFactsAreDivided: each fact is a condition or context, and together they are all facts. What two results share
// changes in neither.
func TestFactsAreDivided(t *testing.T) {
	t.Parallel()
	facts := map[string]string{"rate": "4", "engine": "e"}
	var r Result
	r.SetFacts(facts, []string{"rate", "mode"})
	if want := map[string]string{"rate": "4"}; !maps.Equal(r.Conditions, want) {
		t.Errorf("conditions %v, want %v", r.Conditions, want)
	}
	if want := map[string]string{"engine": "e"}; !maps.Equal(r.Context, want) {
		t.Errorf("context %v, want %v", r.Context, want)
	}
	other := r
	other.SetCondition("numa", "0")
	if !maps.Equal(r.Facts(), facts) || len(other.Facts()) != 3 {
		t.Errorf("facts %v and %v", r.Facts(), other.Facts())
	}
	other.SetFacts(nil, nil)
	if len(other.Facts()) != 0 {
		t.Errorf("facts %v are left", other.Facts())
	}
}
