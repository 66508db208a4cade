package gate_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
)

// advising makes the cells advisory whose ids begin with prefix.
func advising(p gate.Policy, prefix string) gate.Policy {
	selects := func(c bench.Cell) bool { return strings.HasPrefix(c.ID(), prefix) }
	p.Rules = append(slices.Clone(p.Rules), &gate.Advice{Scope: gate.Scope{Selects: selects}, Source: "policy.levels[0]"})
	p.AdvisoryBy = []string{"policy.levels[0]"}
	return p
}

// TestAdvisory: numbers of advisory cells warn, those of others block, and whatever is no
// number blocks in both.
func TestAdvisory(t *testing.T) {
	ref := run(cell("a1", "decode_tps", 100.0), cell("a2", "decode_tps", 100.0, "checksum", 1.0), cell("a3", "decode_tps", 100.0), cell("a4", "decode_tps", 100.0), cell("b", "decode_tps", 100.0))
	got := run(cell("a1", "decode_tps", 50.0), cell("a2", "decode_tps", 1e9, "checksum", 2.0), cell("a3!incorrect"), cell("b", "decode_tps", 50.0))
	p := limiting(advising(fixed(), "a"), "decode_tps", gate.Limit{Min: &gate.Bound{Value: 60.0}}, "a1")
	c := gate.Compare("base", ref, got, p)
	want := []string{"a1 decode_tps regressed advisory -50", "a1 decode_tps out_of_bounds advisory 0", "a2 decode_tps implausible advisory 1e+09", "a2 checksum incorrect blocks 0",
		"a3 incorrect blocks -100", "b decode_tps regressed blocks -50", "a4 missing blocks 0"}
	if diff := cmp.Diff(want, lines(c)); diff != "" {
		t.Error(diff)
	}
	for _, v := range c.Verdicts {
		if e := v.Excuse; (e != nil) != v.Reserved() || e != nil && e.Source != "policy.levels[0]" {
			t.Errorf("%+v", v)
		}
	}
	if got := p.Loosened(); !cmp.Equal(got[len(got)-1], "advisory by policy.levels[0]") {
		t.Errorf("loosened: %q", got)
	}
	if d := gate.Decide([]gate.Comparison{gate.Compare("base", ref, got, p.Recording())}, p.Recording()); d.Blocking[gate.Regressed] != 2 {
		t.Errorf("what is recorded: %+v", d.Blocking)
	}
}

// TestAdvisoryBudgets: a budget is advisory if all of its cells are.
func TestAdvisoryBudgets(t *testing.T) {
	ref, got := run(cell("a1", "decode_tps", 100.0), cell("a2", "decode_tps", 100.0)), run(cell("a1", "decode_tps", 95.0), cell("a2", "decode_tps", 95.0))
	for prefix, want := range map[string]string{"a": "advisory", "a1": "blocks ", "b": "blocks "} {
		if v := spent(gate.Compare("base", ref, got, budgeting(advising(fixed(), prefix), "decode_tps", 1, "a"))); standing(&v) != want || v.Finding != gate.OverBudget {
			t.Errorf("%s: %s %s, want %s", prefix, v.Finding, standing(&v), want)
		}
	}
}
