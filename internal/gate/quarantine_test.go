package gate_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/reference/waiver"
)

const quarantineDay = waiver.Date(20000)

// isolating puts cells into quarantine until a day; today is quarantineDay.
func isolating(p gate.Policy, until waiver.Date, ids ...string) gate.Policy {
	p.Today = quarantineDay
	for _, id := range ids {
		p.Quarantine = append(p.Quarantine, waiver.Quarantined{Cell: id, Owner: "octocat", Expires: until, Reason: "flaky", Source: "quarantine.yml:1"})
	}
	return p
}

// TestQuarantine: whatever was measured of a quarantined cell warns; a cell that is not
// there, and any other cell, blocks.
func TestQuarantine(t *testing.T) {
	ref := run(cell("a", "decode_tps", 100.0), cell("b", "decode_tps", 100.0, "checksum", 1.0), cell("c", "decode_tps", 100.0), cell("d", "decode_tps", 100.0), cell("e", "decode_tps", 100.0), cell("f", "decode_tps", 100.0))
	got := run(cell("a", "decode_tps", 50.0), cell("b", "decode_tps", 1e9, "checksum", 2.0), cell("c!incorrect"), cell("d!failed"), cell("f", "decode_tps", 50.0), cell("g!failed"), cell("h", "decode_tps", 1.0))
	p := isolating(fixed(), quarantineDay, "a", "b", "c", "d", "e", "g", "h", "zz")
	c := gate.Compare("base", ref, got, p)
	want := []string{"a decode_tps regressed quarantine -50", "b decode_tps implausible quarantine 1e+09", "b checksum incorrect quarantine 0", "c incorrect quarantine -100", "d crashed quarantine -100",
		"f decode_tps regressed blocks -50", "g crashed quarantine -100", "h untracked 0", "e missing blocks 0"}
	if diff := cmp.Diff(want, lines(c)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(&gate.Excuse{Kind: gate.Quarantined, Source: "quarantine.yml:1", Why: "flaky", By: "octocat", Until: quarantineDay}, c.Verdicts[0].Excuse); diff != "" {
		t.Error(diff)
	}
	states := map[string]gate.QuarantineState{}
	for _, u := range gate.Decide([]gate.Comparison{c}, p).Quarantine {
		states[u.Cell] = u.State
	}
	wanted := map[string]gate.QuarantineState{"a": "used", "b": "used", "c": "used", "d": "used", "e": "quiet", "g": "used", "h": "quiet", "zz": "unknown"}
	if diff := cmp.Diff(wanted, states); diff != "" {
		t.Error(diff)
	}
}

// TestQuarantineEnds: after its day, on another host, and on a day too far ahead, a cell
// is judged as any other.
func TestQuarantineEnds(t *testing.T) {
	ref, got := run(cell("a", "decode_tps", 100.0)), run(cell("a", "decode_tps", 50.0))
	for name, c := range map[string]struct {
		until waiver.Date
		host  string
		want  string
	}{
		"its last day":   {quarantineDay, "", "a decode_tps regressed quarantine -50"},
		"the day after":  {quarantineDay - 1, "", "a decode_tps regressed blocks -50"},
		"a year and two": {quarantineDay + waiver.MaxDays + 1, "", "a decode_tps regressed blocks -50"},
		"this host":      {quarantineDay, "h", "a decode_tps regressed quarantine -50"},
		"another host":   {quarantineDay, "other", "a decode_tps regressed blocks -50"},
	} {
		p := isolating(fixed(), c.until, "a")
		p.Quarantine[0].Host = c.host
		result := gate.Compare("base", ref, got, p)
		if got := lines(result)[0]; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if name == "the day after" && !strings.Contains(result.Verdicts[0].Reason, "its quarantine ended on 2024-10-03: fix it, or write a new day (octocat)") {
			t.Errorf("%s: %s", name, result.Verdicts[0].Reason)
		}
	}
}

// TestQuarantineIsNoEvidence: a run of nothing but failing cells in quarantine does not pass.
func TestQuarantineIsNoEvidence(t *testing.T) {
	p := isolating(fixed(), quarantineDay, "a")
	c := gate.Compare("base", run(cell("a", "decode_tps", 100.0)), run(cell("a!failed")), p)
	if d := gate.Decide([]gate.Comparison{c}, p); d.Status != gate.StatusNoEvidence {
		t.Errorf("%+v", d)
	}
}

// TestQuarantineIsInNoBudget: the mean of a budget is that of the other cells.
func TestQuarantineIsInNoBudget(t *testing.T) {
	ref := run(cell("a1", "decode_tps", 100.0), cell("a2", "decode_tps", 100.0))
	for now, want := range map[float64]gate.Finding{100: gate.Unchanged, 90: gate.OverBudget} {
		c := gate.Compare("base", ref, run(cell("a1!failed"), cell("a2", "decode_tps", now)), budgeting(isolating(fixed(), quarantineDay, "a1"), "decode_tps", 1, "a"))
		if v := spent(c); v.Finding != want || c.Budgets[0].LeftOut != "1 cell (a1) in quarantine" {
			t.Errorf("%v: %s (%s), want %s", now, v.Finding, c.Budgets[0].LeftOut, want)
		}
	}
}
