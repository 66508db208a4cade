package baseline_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/reference/baseline"
)

// The tests of this file are named after the ways in which the baselines of
// TensorSharp.TestMatrix lose what they should hold.

// TestFaultFailingCellsDroppedFromRefresh: a cell that fails keeps its entry,
// to the letter, so that it goes on blocking.
func TestFaultFailingCellsDroppedFromRefresh(t *testing.T) {
	old, _ := update(t, nil, newRun(result("a", bench.Passed, sample("decode_tps", 50)), result("b", bench.Passed, sample("decode_tps", 60)),
		result("c", bench.Passed, sample("decode_tps", 70)), result("d", bench.Passed, sample("decode_tps", 80))), baseline.UpdateOptions{Now: monday})
	got, changes := update(t, old, newRun(result("a", bench.Failed), result("b", bench.Incorrect, sample("decode_tps", 1)),
		result("c", bench.Timeout), result("d", bench.Passed, sample("decode_tps", 81))), baseline.UpdateOptions{Now: tuesday})
	if diff := cmp.Diff(old.Entries[:3], got.Entries[:3], publicly); diff != "" {
		t.Errorf("entries of failing cells (-before +after):\n%s", diff)
	}
	if len(got.Entries) != 4 || len(changes) != 1 || changes[0].CaseID != "d" {
		t.Errorf("%d entries and changes %+v, want 4 and one of d", len(got.Entries), changes)
	}
	for _, r := range got.Run().Results {
		if r.Outcome != bench.Passed {
			t.Errorf("%s is recorded as %s: it would be a known failure from now on", r.Cell.ID(), r.Outcome)
		}
	}
}

// TestFaultSubsetRefreshWipesEntries: what was not measured, skipped or left
// out stays.
func TestFaultSubsetRefreshWipesEntries(t *testing.T) {
	old, _ := update(t, nil, newRun(result("a", bench.Passed, sample("decode_tps", 50)), result("b", bench.Passed, sample("decode_tps", 60)),
		result("c", bench.Passed, sample("decode_tps", 70))), baseline.UpdateOptions{Now: monday})
	subset := newRun(result("a", bench.Passed, sample("decode_tps", 51)), result("b", bench.Skipped))
	subset.Unselected = []string{"c"}
	got, _ := update(t, old, subset, baseline.UpdateOptions{Now: tuesday})
	if diff := cmp.Diff(old.Entries[1:], got.Entries[1:], publicly); diff != "" {
		t.Errorf("entries that were not measured (-before +after):\n%s", diff)
	}
	if got.Entries[0].Metrics[0].Median != 51 {
		t.Errorf("the cell that was measured has %+v", got.Entries[0])
	}
}

// TestFaultCorruptBaseline: a file that cannot be read is an error with its
// place, and never the same as no file.
func TestFaultCorruptBaseline(t *testing.T) {
	whole := marshal(t, &baseline.File{HostLabel: "h", Entries: []baseline.Entry{{CaseID: "a", OK: true}}})
	path := filepath.Join(t.TempDir(), "baseline-h.json")
	for n := range len(strings.TrimSpace(whole)) {
		if err := os.WriteFile(path, []byte(whole[:n]), 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := baseline.Load(path)
		if err == nil || errors.Is(err, fs.ErrNotExist) || f != nil || !strings.Contains(err.Error(), "baseline-h.json:") {
			t.Fatalf("cut after %d bytes: file %v, error %v", n, f, err)
		}
	}
}

// TestFaultDuplicateCaseID: it is found when the file is read, with both lines,
// and not after an hour of measuring.
func TestFaultDuplicateCaseID(t *testing.T) {
	_, err := baseline.Parse("b.json", []byte(entries(`{"case_id": "a", "ok": true}`, `{"case_id": "b", "ok": true}`, `{"case_id": "a", "ok": true}`)))
	if err == nil || !strings.Contains(err.Error(), `b.json:4:`) || !strings.Contains(err.Error(), `case_id "a" is on line 2 already: delete one`) {
		t.Errorf("error is %v", err)
	}
}

// TestFaultTwoGPUsBehindOneLabel: the file says which machine it is of, and a
// run of another one is not merged into it.
func TestFaultTwoGPUsBehindOneLabel(t *testing.T) {
	old, _ := update(t, nil, newRun(result("a", bench.Passed, sample("decode_tps", 50)), result("b", bench.Passed, sample("decode_tps", 50))), baseline.UpdateOptions{Now: monday})
	other := newRun(result("a", bench.Passed, sample("decode_tps", 99)))
	other.Host.Fingerprint = h200
	if _, _, err := baseline.Update(old, other, baseline.UpdateOptions{Now: tuesday}); err == nil || !strings.Contains(err.Error(), "H200") {
		t.Errorf("error is %v, want one that names the other machine", err)
	}
	if got := parse(t, marshal(t, old)).Run().Host.Fingerprint; !cmp.Equal(got, h100) {
		t.Errorf("fingerprint %+v, want that of the run", got)
	}
}

// TestFaultSlowCreep: nine refreshes that each lose 9 %, which no gate blocks,
// are reported from the first one that exceeds 10 % in all, and the gate gets the first number to judge by.
func TestFaultSlowCreep(t *testing.T) {
	var f *baseline.File
	now, speed := monday, 100.0
	for i := range 10 {
		f, _ = update(t, f, newRun(result("a", bench.Passed, sample("decode_tps", speed))), baseline.UpdateOptions{Now: now})
		f = parse(t, marshal(t, f))
		crept := false
		for _, p := range baseline.Lint("baseline-linux-cuda.json", f, now, 0) {
			crept = crept || strings.Contains(p.Message, `"decode_tps" has crept from 100 to`) && strings.Contains(p.Message, "since 2026-03-02")
		}
		if want := i >= 2; crept != want {
			t.Errorf("after %d refreshes at %.1f: told by lint %v, want %v", i, speed, crept, want)
		}
		if ref := f.Run().Results[0]; ref.Samples[0].Anchor != 100 || !ref.Anchored.At.Equal(monday) {
			t.Errorf("after %d refreshes, the gate gets the anchor %v of %v", i, ref.Samples[0].Anchor, ref.Anchored)
		}
		now, speed = now.Add(24*time.Hour), speed*0.91
	}
}
