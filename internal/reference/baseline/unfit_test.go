package baseline_test

import (
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/reference/baseline"
)

// TestUnfitNumbersAreNotRecorded: a number that its measurement doubts is left out
// of its entry, and a cell with a number that cannot be is left out as a whole.
func TestUnfitNumbersAreNotRecorded(t *testing.T) {
	t.Parallel()
	doubtful := sample("prefill_tps", 7)
	doubtful.Caveat = "the client was late, once"
	run := newRun(result("a", bench.Passed, sample("decode_tps", 5), doubtful), result("b", bench.Passed, sample("decode_tps", -5)))
	file, _, err := baseline.Update(nil, run, baseline.UpdateOptions{Reason: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if len(file.Entries) != 1 || file.Entries[0].CaseID != "a" {
		t.Fatalf("entries %+v, want a alone", file.Entries)
	}
	if e := &file.Entries[0]; e.Metric("decode_tps") == nil || e.Metric("prefill_tps") != nil {
		t.Errorf("metrics %+v, want decode_tps alone", e.Metrics)
	}
}
