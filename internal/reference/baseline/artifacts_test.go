package baseline_test

import (
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/reference/baseline"
)

// TestArtifacts: the baseline records its artifacts, and a run that looked once at
// unchanged ones costs it no values.
func TestArtifacts(t *testing.T) {
	of := func(digest string, values ...float64) *bench.Run {
		r := result("a", bench.Passed, sample("decode_tps", values...))
		r.Artifacts = digest
		return newRun(r)
	}
	f, _ := update(t, nil, of("d1", 100, 101, 99, 100, 102), baseline.UpdateOptions{Now: monday})
	if text := marshal(t, f); !strings.Contains(text, `"artifacts": "d1", "metrics"`) {
		t.Errorf("written:\n%s", text)
	}
	f = parse(t, marshal(t, f))
	if got := f.Run().Results[0].Artifacts; got != "d1" {
		t.Errorf("the reference is of %q", got)
	}
	for _, tt := range []struct {
		name    string
		run     *bench.Run
		all     bool
		digest  string
		median  float64
		n       int
		changes int
	}{
		{"looked at once", of("d1", 80), false, "d1", 100, 5, 0},
		{"looked at once, all wanted", of("d1", 80), true, "d1", 100, 5, 0},
		{"measured anew", of("d1", 80, 81, 79, 80, 82), false, "d1", 80, 5, 1},
		{"something else", of("d2", 80), false, "d2", 80, 1, 1},
		{"something else as fast", of("d2", 100, 101, 99, 100, 102), false, "d2", 100, 5, 0},
		{"nothing is said", of("", 80), false, "", 80, 1, 1},
	} {
		got, changes := update(t, f, tt.run, baseline.UpdateOptions{Now: tuesday, All: tt.all})
		m := got.Entries[0].Metric("decode_tps")
		if got.Entries[0].Artifacts != tt.digest || m.Median != tt.median || m.N != tt.n || len(changes) != tt.changes {
			t.Errorf("%s: of %q, %v of %d, changes %v", tt.name, got.Entries[0].Artifacts, m.Median, m.N, changes)
		}
	}
}

// TestSuiteOfAnEntry: an entry keeps the suite of its cell, so that the gate can tell two configurations in one folder apart.
func TestSuiteOfAnEntry(t *testing.T) {
	r := result("a", bench.Passed, sample("decode_tps", 100))
	r.Cell.Suite = "ours"
	f, _ := update(t, nil, newRun(r), baseline.UpdateOptions{Now: monday})
	f = parse(t, marshal(t, f))
	if got := f.Run().Results[0].Cell; got.Suite != "ours" || got.ID() != "a" {
		t.Errorf("the cell is %+v", got)
	}
}
