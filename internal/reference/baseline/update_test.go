package baseline_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var (
	monday  = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	tuesday = monday.AddDate(0, 0, 1)
	h100    = bench.Fingerprint{CPU: "EPYC 9354", Cores: 32, Accelerators: []bench.Accelerator{{Vendor: "nvidia", Model: "H100"}}}
	h200    = bench.Fingerprint{CPU: "EPYC 9354", Cores: 32, Accelerators: []bench.Accelerator{{Vendor: "nvidia", Model: "H200"}}}
)

// counted leaves out what TestStill is about.
var counted = cmpopts.IgnoreFields(baseline.Change{}, "Noise", "OldN", "NewN")

// TestStill: what moved within its noise keeps its number, and an entry in which
// nothing else differs stays to the last byte.
func TestStill(t *testing.T) {
	old, _ := update(t, nil, newRun(
		result("quiet", bench.Passed, sample("decode_tps", 100, 101, 99, 100, 102)),
		result("moved", bench.Passed, sample("decode_tps", 100, 101, 99, 100, 102)),
		result("once", bench.Passed, sample("decode_tps", 100)),
	), baseline.UpdateOptions{Reason: "first", Now: monday})
	run := newRun(
		result("quiet", bench.Passed, sample("decode_tps", 101, 102, 100, 101, 103)),
		result("moved", bench.Passed, sample("decode_tps", 110, 111, 109, 110, 112)),
		result("once", bench.Passed, sample("decode_tps", 101)),
	)
	got, changes := update(t, old, run, baseline.UpdateOptions{Now: tuesday})
	kinds := map[string]baseline.ChangeKind{}
	for _, c := range changes {
		kinds[c.CaseID] = c.Kind
		if (c.Noise > 0) != (c.CaseID != "once") || c.OldN != c.NewN {
			t.Errorf("%+v", c)
		}
	}
	if want := map[string]baseline.ChangeKind{"quiet": baseline.Still, "moved": baseline.Changed, "once": baseline.Changed}; !cmp.Equal(kinds, want) {
		t.Errorf("changes %v, want %v", kinds, want)
	}
	for id, median := range map[string]float64{"quiet": 100, "moved": 110, "once": 101} {
		i := slices.IndexFunc(got.Entries, func(e baseline.Entry) bool { return e.CaseID == id })
		if m := got.Entries[i].Metric("decode_tps"); m.Median != median {
			t.Errorf("%s is %v, want %v", id, m.Median, median)
		}
	}
	all, _ := update(t, old, run, baseline.UpdateOptions{Now: tuesday, All: true})
	i := slices.IndexFunc(all.Entries, func(e baseline.Entry) bool { return e.CaseID == "quiet" })
	if m := all.Entries[i].Metric("decode_tps"); m.Median != 101 {
		t.Errorf("with all, quiet is %v", m.Median)
	}
}

func result(id string, outcome bench.Outcome, samples ...bench.Sample) bench.Result {
	return bench.Result{Cell: bench.Cell{Raw: id}, Outcome: outcome, Samples: samples}
}

func sample(name string, values ...float64) bench.Sample {
	return bench.Sample{Metric: name, Values: values}
}

func newRun(results ...bench.Result) *bench.Run {
	return &bench.Run{
		Schema: bench.RunSchema, Tool: "accelgate v1.0.0", Revision: "0123abc",
		Host: bench.Host{Label: "linux-cuda", Fingerprint: h100},
		Metrics: []bench.Metric{
			{Name: "decode_tps", Unit: "tok/s", Better: bench.Higher},
			{Name: "prefill_tps", Unit: "tok/s", FallbackFor: "decode_tps"}, // no direction means higher
			{Name: "model_load_ms", Unit: "ms", Better: bench.Lower, Informational: true},
			{Name: "loss", Better: bench.Lower, Exact: true},
		},
		Results: results,
	}
}

func update(t *testing.T, old *baseline.File, run *bench.Run, opts baseline.UpdateOptions) (*baseline.File, []baseline.Change) {
	t.Helper()
	f, changes, err := baseline.Update(old, run, opts)
	if err != nil {
		t.Fatalf("Update: %v", err)
	}
	return f, changes
}

func TestUpdateCaptures(t *testing.T) {
	judged := result("b", bench.Passed, sample("decode_tps", 95.1234567, 94, 97), sample("model_load_ms", 123456.7), sample("loss", 0.123456789), sample("unmeasured"))
	judged.Output = "Tokyo"
	judged.Breakdowns = []bench.Breakdown{{Title: "operators", Unit: "us", Entries: []bench.Entry{
		{Name: "rope", Total: 1500, Calls: 4}, {Name: "matmul", Total: 98765.4321, Calls: 2}, {Name: "bad", Total: math.NaN()}, {Name: "worse", Total: -1}, {Name: "norm", Total: 1500},
	}}, {Unit: "ms", Entries: []bench.Entry{{Name: "other"}}}}
	run := newRun(judged,
		result("a", bench.Passed, sample("prefill_tps", 2000, 1000)),
		result("c", bench.Failed, sample("decode_tps", 1)),
		result("d", bench.Skipped), result("e", bench.Incorrect), result("f", bench.Timeout))

	got, changes := update(t, nil, run, baseline.UpdateOptions{Reason: "first", Now: monday.In(time.FixedZone("", 3600))})

	prefill := metric("prefill_tps", "tok/s", bench.Higher, 1500, 500, 2)
	prefill.FallbackFor = "decode_tps"
	load := metric("model_load_ms", "ms", bench.Lower, 123456.7, 0, 1)
	load.Informational = true
	loss := metric("loss", "", bench.Lower, 0.123456789, 0, 1)
	loss.Exact = true
	want := &baseline.File{
		HostLabel: "linux-cuda", CapturedAt: monday, Commit: new("0123abc"), Notes: new("first (accelgate v1.0.0)"), Schema: 1, Fingerprint: &h100,
		Entries: []baseline.Entry{{
			CaseID: "a", OK: true, PrefillTPS: new(1500.0), Metrics: []baseline.Metric{prefill},
		}, {
			CaseID: "b", OK: true, CorrectnessOK: new(true), DecodeTPS: new(95.12346), ModelLoadMS: new(123456.7),
			Metrics:   []baseline.Metric{metric("decode_tps", "tok/s", bench.Higher, 95.12346, 1.123457, 3), loss, load},
			Operators: []baseline.Operator{{Name: "matmul", TotalMS: 98.76543, Calls: 2}, {Name: "norm", TotalMS: 1.5}, {Name: "rope", TotalMS: 1.5, Calls: 4}},
		}},
	}
	if diff := cmp.Diff(want, got, publicly); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
	wantChanges := []baseline.Change{
		{CaseID: "a", Metric: "prefill_tps", Unit: "tok/s", Better: bench.Higher, New: 1500, Kind: baseline.Added},
		{CaseID: "b", Metric: "decode_tps", Unit: "tok/s", Better: bench.Higher, New: 95.12346, Kind: baseline.Added},
		{CaseID: "b", Metric: "loss", Better: bench.Lower, New: 0.123456789, Kind: baseline.Added},
		{CaseID: "b", Metric: "model_load_ms", Unit: "ms", Better: bench.Lower, New: 123456.7, Kind: baseline.Added},
	}
	if diff := cmp.Diff(wantChanges, changes, counted); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	marshal(t, got)
}

// TestUpdateMerges shows the life of five entries over a refresh.
func TestUpdateMerges(t *testing.T) {
	old, _ := update(t, nil, newRun(
		result("again", bench.Passed, sample("decode_tps", 100), sample("prefill_tps", 2000), sample("model_load_ms", 900)),
		result("broken now", bench.Passed, sample("decode_tps", 100)),
		result("not run", bench.Passed, sample("decode_tps", 100)),
		result("skipped now", bench.Passed, sample("decode_tps", 100)),
	), baseline.UpdateOptions{Reason: "first", Now: monday})
	old = parse(t, strings.Replace(marshal(t, old), `"case_id": "again",`, `"case_id": "again", "owner": "me",`, 1))
	before := marshal(t, old)

	judged := result("again", bench.Passed, sample("decode_tps", 110), sample("prefill_tps", 2000))
	judged.Output = "Tokyo"
	run := newRun(judged,
		result("broken now", bench.Failed, sample("decode_tps", 1)),
		result("skipped now", bench.Skipped),
		result("brand new", bench.Passed, sample("decode_tps", 7)),
	)
	run.Revision = "9f9f9f9"
	got, changes := update(t, old, run, baseline.UpdateOptions{Now: tuesday})

	if diff := cmp.Diff(before, marshal(t, old)); diff != "" {
		t.Errorf("Update changed the old file (-before +after):\n%s", diff)
	}
	var ids []string
	for _, e := range got.Entries {
		ids = append(ids, e.CaseID)
	}
	if diff := cmp.Diff([]string{"again", "brand new", "broken now", "not run", "skipped now"}, ids); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	for _, i := range []int{2, 3, 4} {
		if diff := cmp.Diff(old.Entries[i-1], got.Entries[i], publicly); diff != "" {
			t.Errorf("an entry that was not measured changed (-old +new):\n%s", diff)
		}
	}
	again := got.Entries[0]
	if *again.DecodeTPS != 110 || again.ModelLoadMS != nil || again.Metric("model_load_ms") != nil || !*again.CorrectnessOK {
		t.Errorf("again is %+v", again)
	}
	if a, at := anchorOf(got, "again"); a != 100 || !at.At.Equal(monday) || at.Revision != "0123abc" {
		t.Errorf("the anchor moved: %v of %+v", a, at)
	}
	if a, at := anchorOf(got, "brand new"); a != 7 || !at.At.Equal(tuesday) || at.Revision != "9f9f9f9" {
		t.Errorf("the anchor of the new entry is %v of %+v", a, at)
	}
	if got.Entries[1].CorrectnessOK != nil {
		t.Error("correctness was recorded and not checked")
	}
	if *got.Notes != "captured by accelgate v1.0.0" || *got.Commit != "9f9f9f9" || !got.CapturedAt.Equal(tuesday) {
		t.Errorf("file is of %v, %q, %q", got.CapturedAt, *got.Commit, *got.Notes)
	}
	if !strings.Contains(marshal(t, got), `"owner": "me"`) {
		t.Error("an unknown member of a refreshed entry was lost")
	}
	want := []baseline.Change{
		{CaseID: "again", Metric: "decode_tps", Unit: "tok/s", Better: bench.Higher, Old: 100, New: 110, HasOld: true, Kind: baseline.Changed},
		{CaseID: "again", Metric: "model_load_ms", Unit: "ms", Better: bench.Lower, Old: 900, HasOld: true, Kind: baseline.Removed},
		{CaseID: "brand new", Metric: "decode_tps", Unit: "tok/s", Better: bench.Higher, New: 7, Kind: baseline.Added},
	}
	if diff := cmp.Diff(want, changes, counted); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

// TestUpdateAdoptsTensorSharp: its files say nothing of their machine, so only
// a run of every cell may take one over. Its numbers count as old values.
func TestUpdateAdoptsTensorSharp(t *testing.T) {
	old := parse(t, `{"host_label": "linux-cuda", "entries": [
		{"case_id": "a", "ok": true, "decode_tps": 90, "prefill_tps": 0}, {"case_id": "b", "ok": true, "decode_tps": 80}]}`)
	a, b := result("a", bench.Passed, sample("decode_tps", 100)), result("b", bench.Passed, sample("decode_tps", 100))

	if _, _, err := baseline.Update(old, newRun(a), baseline.UpdateOptions{Now: monday}); err == nil ||
		!strings.Contains(err.Error(), `1 of its 2 entries, such as "b", did not pass`) || !strings.Contains(err.Error(), "accelgate baseline prune") {
		t.Errorf("a partial run took the file over: error %v", err)
	}
	got, changes := update(t, old, newRun(a, b), baseline.UpdateOptions{Now: monday})
	if len(changes) != 2 || changes[0].Old != 90 || changes[0].Kind != baseline.Changed {
		t.Errorf("changes are %+v", changes)
	}
	if anchor, _ := anchorOf(got, "a"); got.Schema != 1 || anchor != 100 || got.Entries[0].PrefillTPS != nil {
		t.Errorf("file is\n%s", marshal(t, got))
	}
}

func TestUpdateOnAnotherMachine(t *testing.T) {
	cells := func(b bench.Outcome) *bench.Run {
		return newRun(result("a", bench.Passed, sample("decode_tps", 100)), result("b", b, sample("decode_tps", 50)))
	}
	old, _ := update(t, nil, cells(bench.Passed), baseline.UpdateOptions{Now: monday})

	moved := cells(bench.Failed)
	moved.Host.Fingerprint = h200
	_, _, err := baseline.Update(old, moved, baseline.UpdateOptions{Now: tuesday})
	if err == nil || !strings.Contains(err.Error(), "accelerator is \"H200\", the baseline's is \"H100\"") || !strings.Contains(err.Error(), `such as "b"`) {
		t.Errorf("speeds of two machines were mixed: error %v", err)
	}

	// What was measured here is the only thing left, anchors included.
	moved = cells(bench.Passed)
	moved.Host.Fingerprint = h200
	got, _ := update(t, old, moved, baseline.UpdateOptions{Now: tuesday})
	for _, e := range got.Entries {
		if _, at := anchorOf(got, e.CaseID); !at.At.Equal(tuesday) {
			t.Errorf("entry %s is anchored on the other machine: %+v", e.CaseID, at)
		}
	}
	if diff := cmp.Diff(&h200, got.Fingerprint); diff != "" {
		t.Errorf("fingerprint (-want +got):\n%s", diff)
	}

	// A new driver is the same machine; the facts are those of the last run.
	patched := newRun(result("a", bench.Passed, sample("decode_tps", 100)))
	patched.Host.Driver = "580"
	if got, _ := update(t, old, patched, baseline.UpdateOptions{Now: tuesday}); got.Fingerprint.Driver != "580" || len(got.Entries) != 2 {
		t.Errorf("file is\n%s", marshal(t, got))
	}
}

func TestUpdateRefuses(t *testing.T) {
	old, _ := update(t, nil, newRun(result("a", bench.Passed, sample("decode_tps", 1))), baseline.UpdateOptions{Now: monday})
	refused := func(want string, run *bench.Run) {
		t.Helper()
		f, changes, err := baseline.Update(old, run, baseline.UpdateOptions{Now: tuesday})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want one with %q", err, want)
		}
		if f != nil || changes != nil {
			t.Errorf("a refused update returned %v, %v", f, changes)
		}
	}
	passed := func(samples ...bench.Sample) *bench.Run { return newRun(result("a", bench.Passed, samples...)) }

	other := passed(sample("decode_tps", 1))
	other.Host.Label = "linux-rocm"
	refused(`the run is of host "linux-rocm" and the baseline of "linux-cuda": give the baseline's label with --host-label`, other)
	unnamed := passed(sample("decode_tps", 1))
	unnamed.Host.Label = "../etc"
	refused(`host label "../etc" cannot name a file and a branch`, unnamed)

	refused("no cell of the run passed", newRun(result("a", bench.Failed)))
	refused("no cell of the run passed", newRun())
	refused(`cell "a" twice or without a name`, newRun(result("a", bench.Passed), result("a", bench.Passed)))
	refused(`cell "" twice or without a name`, newRun(result("", bench.Passed)))
	refused(`cell "a": "decode_tps" is NaN, which cannot be a reference`, passed(sample("decode_tps", 1, math.NaN())))
	refused(`cell "a": "decode_tps" is +Inf`, passed(sample("decode_tps", math.Inf(1))))
	refused(`cell "a": "decode_tps" is 1e+300`, passed(sample("decode_tps", 1e300)))
	refused("no cell of the run passed without a caveat", passed(sample("decode_tps", -1)))
	refused(`the run does not state what metric "tps" is`, passed(sample("tps", 1)))
	refused(`metric "decode_tps" is there twice`, passed(sample("decode_tps", 1), sample("decode_tps", 1)))
	refused(`"decode_tps" is 1, which`, passed(bench.Sample{Metric: "decode_tps", Summary: &bench.Summary{Median: 1, MAD: -1, N: 1}}))

	redefined := newRun(result("b", bench.Passed, sample("decode_tps", 1)))
	redefined.Metrics[0].Exact = true
	refused(`the run describes metric "decode_tps" (better, unit, exact, informational, fallback_for, counted_by, min_count) otherwise than entry "a"`, redefined)

	many := newRun()
	for i := range 1000 {
		many.Results = append(many.Results, result(fmt.Sprint(i), bench.Passed, sample("decode_tps", math.NaN())))
	}
	refused("and 980 more", many)
}

// TestUpdateKeepsSummaries of a run that was itself a baseline.
func TestUpdateKeepsSummaries(t *testing.T) {
	old, _ := update(t, nil, newRun(result("a", bench.Passed, sample("decode_tps", 99, 100, 104))), baseline.UpdateOptions{Now: monday})
	again := old.Run()
	again.Host.Label = "copy"
	got, _ := update(t, nil, again, baseline.UpdateOptions{Now: monday})
	if diff := cmp.Diff(old.Entries, got.Entries, publicly, cmpopts.IgnoreFields(baseline.Entry{}, "CorrectnessOK")); diff != "" {
		t.Errorf("entries (-baseline +copy):\n%s", diff)
	}
}

func TestOperatorsAreCut(t *testing.T) {
	r := result("a", bench.Passed)
	parts := bench.Breakdown{Unit: "ms"}
	for i := range 100 {
		parts.Entries = append(parts.Entries, bench.Entry{Name: fmt.Sprint("op", i), Total: float64(i % 50), Calls: 1})
	}
	r.Breakdowns = []bench.Breakdown{parts}
	got, _ := update(t, nil, newRun(r), baseline.UpdateOptions{Now: monday})
	ops := got.Entries[0].Operators
	if len(ops) != 20 || ops[0].Name != "op49" || ops[1].Name != "op99" || ops[19].TotalMS != 40 {
		t.Errorf("operators are %v", ops)
	}

	r.Breakdowns[0].Unit = "bytes"
	if got, _ := update(t, nil, newRun(r), baseline.UpdateOptions{Now: monday}); got.Entries[0].Operators != nil {
		t.Errorf("bytes were recorded as milliseconds: %v", got.Entries[0].Operators)
	}
}

// TestUpdateProperties holds for every run and every baseline of one host.
func TestUpdateProperties(t *testing.T) {
	for seed := range uint64(200) {
		r := random{rand.New(rand.NewPCG(seed, 3))}
		run := func() *bench.Run {
			run := newRun(result("always", bench.Passed, sample("decode_tps", 1)))
			for _, id := range []string{"a", "b", "c", "d", "e"} {
				if r.IntN(3) > 0 {
					outcome := []bench.Outcome{bench.Passed, bench.Failed, bench.Skipped, bench.Passed}[r.IntN(4)]
					run.Results = append(run.Results, result(id, outcome, sample("decode_tps", r.float(), r.float()), sample("loss", r.float())))
				}
			}
			return run
		}
		old, _ := update(t, nil, run(), baseline.UpdateOptions{Now: monday})
		refresh := run()
		got, changes := update(t, old, refresh, baseline.UpdateOptions{Now: tuesday})
		written := marshal(t, got)

		// Nothing is dropped; nothing but what passed is new or different.
		passed := map[string]bool{}
		for _, result := range refresh.Results {
			passed[result.Cell.ID()] = result.Outcome == bench.Passed
		}
		before, after := byID(old), byID(got)
		for id, e := range before {
			if now, kept := after[id]; !kept || !passed[id] && !cmp.Equal(e, now, publicly) {
				t.Fatalf("seed %d: entry %s became\n%+v, was\n%+v", seed, id, now, e)
			}
			was, _ := anchorOf(old, id)
			if is, _ := anchorOf(got, id); is != was {
				t.Fatalf("seed %d: the anchor of %s became %v, was %v", seed, id, is, was)
			}
		}
		for id := range after {
			if _, known := before[id]; !known && !passed[id] {
				t.Fatalf("seed %d: entry %s came from nowhere", seed, id)
			}
		}
		for _, c := range changes {
			if !passed[c.CaseID] || c.HasOld && c.Old == c.New {
				t.Fatalf("seed %d: no change: %+v", seed, c)
			}
		}

		// Doing it again changes nothing.
		twice, changes := update(t, got, refresh, baseline.UpdateOptions{Now: tuesday})
		if len(changes) > 0 || marshal(t, twice) != written {
			t.Fatalf("seed %d: the same run again changed %+v", seed, changes)
		}

		// A median is near the one that was measured.
		for _, result := range refresh.Results {
			if result.Outcome != bench.Passed {
				continue
			}
			e := after[result.Cell.ID()]
			values := slices.Clone(result.Sample("decode_tps").Values)
			want := (values[0] + values[len(values)-1]) / 2
			if got := e.Metric("decode_tps").Median; math.Abs(got-want) > 5.001e-7*want {
				t.Fatalf("seed %d: median %v, want %v to seven digits", seed, got, want)
			}
			if loss := e.Metric("loss"); loss != nil && loss.Median != result.Sample("loss").Values[0] {
				t.Fatalf("seed %d: an exact metric was rounded from %v to %v", seed, result.Sample("loss").Values[0], loss.Median)
			}
		}
	}
}

func byID(f *baseline.File) map[string]baseline.Entry {
	m := map[string]baseline.Entry{}
	for _, e := range f.Entries {
		m[e.CaseID] = e
	}
	return m
}

func TestRun(t *testing.T) {
	f := parse(t, `{"host_label": "macos-mlx", "captured_at": "2026-03-02T09:00:00Z", "commit": "0123abc", "fingerprint": {"os": "darwin", "cpu": "M3"}, "entries": [
		{"case_id": "classic__a%ZZ/b", "ok": true, "prefill_tps": 2000, "decode_tps": 31.5, "model_load_ms": 0},
		{"case_id": "full", "ok": true, "decode_tps": 31.5, "metrics": {"decode_tps": {"median": 30, "mad": 1, "n": 5, "better": "higher", "unit": "t/s"}},
		 "operators": [{"name": "matmul", "total_ms": 3, "calls": 2}]},
		{"case_id": "wrong", "ok": false, "correctness_ok": false},
		{"case_id": "crashed", "ok": false, "correctness_ok": null}]}`)
	want := &bench.Run{
		Schema: bench.RunSchema, Revision: "0123abc", Started: monday,
		Host: bench.Host{Label: "macos-mlx", Fingerprint: bench.Fingerprint{OS: "darwin", CPU: "M3"}},
		Metrics: []bench.Metric{
			{Name: "decode_tps", Unit: "t/s", Better: bench.Higher},
			{Name: "prefill_tps", Better: bench.Higher, FallbackFor: "decode_tps"},
		},
		Results: []bench.Result{
			result("classic__a%ZZ/b", bench.Passed,
				bench.Sample{Metric: "decode_tps", Summary: &bench.Summary{Median: 31.5, N: 1}, Anchor: 31.5},
				bench.Sample{Metric: "prefill_tps", Summary: &bench.Summary{Median: 2000, N: 1}, Anchor: 2000}),
			result("full", bench.Passed, bench.Sample{Metric: "decode_tps", Summary: &bench.Summary{Median: 30, MAD: 1, N: 5}, Anchor: 30}),
			result("wrong", bench.Incorrect), result("crashed", bench.Failed),
		},
	}
	want.Results[0].Anchored = bench.Point{At: monday, Revision: "0123abc"}
	want.Results[1].Anchored = want.Results[0].Anchored
	want.Results[1].Breakdowns = []bench.Breakdown{{Title: "operators", Unit: "ms", Entries: []bench.Entry{{Name: "matmul", Total: 3, Calls: 2}}}}
	if diff := cmp.Diff(want, f.Run()); diff != "" {
		t.Errorf("Run (-want +got):\n%s", diff)
	}
	f.Entries[1].Metrics[0].Better = bench.Lower
	wantWarnings := []string{`metric "decode_tps" means one thing in entry "classic__a%ZZ/b" and another in "full": measure both again with accelgate baseline update`}
	if diff := cmp.Diff(wantWarnings, f.Run().Warnings); diff != "" {
		t.Errorf("warnings of a file made in memory (-want +got):\n%s", diff)
	}
	if got := f.Run().Results[0].Cell.ID(); got != "classic__a%ZZ/b" {
		t.Errorf("id is %q, want it letter by letter", got)
	}
}

// TestUpdateRoundsByNoMoreThanValuesDiffer: seven digits of numbers that differ, and all digits of those that repeat, so that a limit
// of 0 % finds any change of them.
func TestUpdateRoundsByNoMoreThanValuesDiffer(t *testing.T) {
	for _, c := range []struct {
		measured []float64
		want     float64
	}{
		{[]float64{10000.1}, 10000.1},
		{[]float64{0.123456789}, 0.123456789},
		{[]float64{0.123456789, 0.123456789, 0.123456789}, 0.123456789},
		{[]float64{0.123456788, 0.123456789, 0.12345679}, 0.123456789},
		{[]float64{0.1234, 0.123456789, 0.1235}, 0.1234568},
		{[]float64{999998, 999999.94, 999999.98}, 999999.9},
		{[]float64{1234566, 1234567.8, 1234569}, 1234568},
		{[]float64{9999999999}, 9999999999},
	} {
		got, _ := update(t, nil, newRun(result("a", bench.Passed, sample("decode_tps", c.measured...))), baseline.UpdateOptions{Now: monday})
		if median := got.Entries[0].Metric("decode_tps").Median; median != c.want {
			t.Errorf("%v was written as %v, want %v", c.measured, median, c.want)
		}
	}
}
