package baseline_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/reference/baseline"
)

func readAsTensorSharp(t *testing.T, data string) tensorSharp {
	t.Helper()
	ts, err := readDotnet([]byte(data))
	if err != nil {
		t.Fatalf("TensorSharp could not read it: %v\n%s", err, data)
	}
	return ts
}

func tensorSharpOf(f *baseline.File) tensorSharp {
	ts := tensorSharp{f.HostLabel, f.CapturedAt, f.Commit, f.Notes, nil}
	value := func(v *float64) float64 {
		if v == nil {
			return 0
		}
		return *v
	}
	for _, e := range f.Entries {
		ts.Entries = append(ts.Entries, tensorSharpEntry{e.CaseID, e.OK, e.CorrectnessOK, value(e.PrefillTPS), value(e.DecodeTPS), value(e.ModelLoadMS)})
	}
	return ts
}

// TestTensorSharpReadsOurs holds for every file with all that accelgate adds:
// TensorSharp sees its own fields, entries in its order, and nothing else.
func TestTensorSharpReadsOurs(t *testing.T) {
	for seed := range uint64(200) {
		f := random{rand.New(rand.NewPCG(seed, 1))}.file()
		written := marshal(t, f)
		want := tensorSharpOf(f)
		slices.SortFunc(want.Entries, func(a, b tensorSharpEntry) int { return cmp.Compare(a.CaseID, b.CaseID) })
		if diff := gocmp.Diff(want, readAsTensorSharp(t, written)); diff != "" {
			t.Fatalf("seed %d (-want +got):\n%s\n%s", seed, diff, written)
		}
	}
}

// randomTensorSharp makes what TensorSharp may have in memory. No entry is ok
// and incorrect: it writes none, and we refuse it.
func randomTensorSharp(r random) *tensorSharp {
	ts := &tensorSharp{HostLabel: r.string(), CapturedAt: r.time().Truncate(100), Commit: maybe(r, r.string), Notes: maybe(r, r.string)}
	value := func() float64 {
		if r.IntN(3) == 0 {
			return 0 // does not apply
		}
		return r.float()
	}
	for i := range r.IntN(6) {
		ok := r.IntN(4) > 0
		ts.Entries = append(ts.Entries, tensorSharpEntry{fmt.Sprintf("%s__%d", r.string(), i), ok,
			maybe(r, func() bool { return ok || r.IntN(2) == 0 }), value(), value(), value()})
	}
	return ts
}

// TestOursReadsTensorSharp holds for every file that TensorSharp writes, on
// each system; written again by us, TensorSharp reads the same.
func TestOursReadsTensorSharp(t *testing.T) {
	for seed := range uint64(200) {
		r := random{rand.New(rand.NewPCG(seed, 2))}
		ts := randomTensorSharp(r)
		data := ts.write([]string{"\n", "\r\n"}[seed%2])
		if diff := gocmp.Diff(*ts, readAsTensorSharp(t, data)); diff != "" {
			t.Fatalf("seed %d: the model does not read what it writes (-written +read):\n%s\n%s", seed, diff, data)
		}
		f := parse(t, data)
		if diff := gocmp.Diff(*ts, tensorSharpOf(f)); diff != "" {
			t.Fatalf("seed %d (-written +read):\n%s\n%s", seed, diff, data)
		}
		ours := marshal(t, f)
		if strings.Contains(ours, `"schema"`) {
			t.Fatalf("a file of TensorSharp was given a schema that it does not have:\n%s", ours)
		}
		want := readAsTensorSharp(t, data)
		slices.SortFunc(want.Entries, func(a, b tensorSharpEntry) int { return cmp.Compare(a.CaseID, b.CaseID) })
		if diff := gocmp.Diff(want, readAsTensorSharp(t, ours)); diff != "" {
			t.Fatalf("seed %d: written by us (-want +got):\n%s\n%s", seed, diff, ours)
		}
	}
}

// TestRefreshOfTensorSharpsFile measures every cell of a file of TensorSharp:
// both readers see the new numbers, and only they differ.
func TestRefreshOfTensorSharpsFile(t *testing.T) {
	for seed := range uint64(50) {
		r := random{rand.New(rand.NewPCG(seed, 3))}
		ts := randomTensorSharp(r)
		ts.HostLabel = "linux-cuda"
		run := newRun(result("new", bench.Passed, sample("decode_tps", 2.5)))
		for i := range ts.Entries {
			e := &ts.Entries[i]
			e.OK, e.CorrectnessOK, e.PrefillTPS, e.DecodeTPS, e.ModelLoadMS = true, nil, 0, math.Round(r.Float64()*1e4)/10, 0
			run.Results = append(run.Results, result(e.CaseID, bench.Passed, sample("decode_tps", e.DecodeTPS)))
		}
		f, _ := update(t, parse(t, ts.write("\n")), run, baseline.UpdateOptions{Now: monday})
		got := readAsTensorSharp(t, marshal(t, f))
		want := append(slices.Clone(ts.Entries), tensorSharpEntry{CaseID: "new", OK: true, DecodeTPS: 2.5})
		slices.SortFunc(want, func(a, b tensorSharpEntry) int { return cmp.Compare(a.CaseID, b.CaseID) })
		if diff := gocmp.Diff(want, got.Entries); diff != "" || !got.CapturedAt.Equal(monday) {
			t.Fatalf("seed %d (-want +got):\n%s", seed, diff)
		}
	}
}

// TestTensorSharpFixtures reads the forms in which such a file occurs with both
// readers. Where they disagree, we are the stricter one, except for a number
// that is null.
func TestTensorSharpFixtures(t *testing.T) {
	const sample = `{
    "host_label": "linux-cuda",
    "captured_at": "2026-02-03T04:05:06Z",
    "commit": "0123abc",
    "notes": "by hand",
    "entries": [
        {
            "case_id": "m-q4__cuda__tg128__KV_CACHE_DTYPE=q8_0",
            "ok": true,
            "correctness_ok": true,
            "prefill_tps": 1250.0,
            "decode_tps": 64.5,
            "model_load_ms": 980.0
        }
    ]
}`
	file := func(entries string) string {
		return `{"host_label": "h", "captured_at": "2026-02-03T04:05:06Z", "commit": null, "notes": null, "entries": ` + entries + `}`
	}
	const cell = `{"case_id": "a", "ok": true, "decode_tps": 1}`
	for _, tt := range []struct {
		name, data    string
		entries       int
		theirs, ours  string // what the error says; "" for none
		capturedAtUTC string
	}{
		{name: "four spaces and Z", data: sample, entries: 1, capturedAtUTC: "2026-02-03T04:05:06Z"},
		{name: "an offset", data: strings.Replace(sample, "06Z", "06.1234567+05:30", 1), entries: 1, capturedAtUTC: "2026-02-02T22:35:06.1234567Z"},
		{name: "byte order mark", data: "\ufeff" + sample, entries: 1},
		{name: "CRLF", data: strings.ReplaceAll(sample, "\n", "\r\n"), entries: 1},
		{name: "byte order mark, CRLF and a newline", data: "\ufeff" + strings.ReplaceAll(sample+"\n", "\n", "\r\n"), entries: 1},
		{name: "comments and trailing commas", data: strings.NewReplacer("980.0", "980.0, // ms\n", "}\n    ]", "}, /* all */\n    ],").Replace(sample), entries: 1},
		{name: "names in capitals", data: strings.NewReplacer("entries", "ENTRIES", "decode_tps", "Decode_TPS").Replace(sample), entries: 1},
		{name: "unknown members", data: strings.Replace(sample, `"ok"`, `"tags": [{"a": null}], "ok"`, 1), entries: 1},
		{name: "no entries", data: `{"host_label": "h"}`},
		{name: "entries null", data: file("null")},
		{name: "host_label null", data: `{"host_label": null}`},
		{name: "entries empty", data: file("[]")},
		{name: "numbers and correctness missing", data: file(`[{"case_id": "a", "ok": true}]`), entries: 1},
		{name: "correctness null", data: file(`[{"case_id": "a", "ok": true, "correctness_ok": null}]`), entries: 1},
		{name: "correctness false", data: file(`[{"case_id": "a", "ok": false, "correctness_ok": false}]`), entries: 1},

		{name: "duplicate id", data: file("[" + cell + "," + cell + "]"), theirs: "same key", ours: "is on line 1 already"},
		{name: "cut short", data: sample[:len(sample)/2], theirs: "not JSON", ours: "it was cut short"},
		{name: "empty", data: "", theirs: "not JSON", ours: "the file is empty"},
		{name: "merge conflict", data: "<<<<<<< HEAD\n" + sample, theirs: "not JSON", ours: "merge conflict"},
		{name: "not UTF-8", data: strings.Replace(sample, "by hand", "by \xff", 1), theirs: "not UTF-8", ours: "is not UTF-8"},
		{name: "a number in quotes", data: strings.Replace(sample, "64.5", `"64.5"`, 1), theirs: "could not be converted", ours: `"decode_tps" must be a number`},
		{name: "NaN", data: strings.Replace(sample, "64.5", `NaN`, 1), theirs: "not JSON", ours: `"decode_tps" must be a number`},
		{name: "ok as text", data: strings.Replace(sample, `"ok": true`, `"ok": "true"`, 1), theirs: "could not be converted", ours: `"ok" must be true or false`},

		{name: "a number null", data: strings.Replace(sample, "64.5", "null", 1), theirs: "could not be converted: null"},

		{name: "ok missing", data: file(`[{"case_id": "a"}]`), entries: 1, ours: "ok is missing"},
		{name: "ok and incorrect", data: file(`[{"case_id": "a", "ok": true, "correctness_ok": false}]`), entries: 1, ours: "correctness_ok is false"},
		{name: "no id", data: file(`[{"ok": true}]`), entries: 1, ours: "case_id is empty"},
		{name: "a name twice", data: strings.Replace(sample, `"ok"`, `"OK": false, "ok"`, 1), entries: 1, ours: "appears twice"},
	} {
		ts, err := readDotnet([]byte(tt.data))
		if !matches(err, tt.theirs) || err == nil && len(ts.Entries) != tt.entries {
			t.Errorf("%s: the model has %d entries and error %v, want %d and %q", tt.name, len(ts.Entries), err, tt.entries, tt.theirs)
		}
		f, err := baseline.Parse("b.json", []byte(tt.data))
		if !matches(err, tt.ours) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.ours)
		}
		if err != nil || tt.theirs != "" {
			continue
		}
		if diff := gocmp.Diff(ts, tensorSharpOf(f), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-theirs +ours):\n%s", tt.name, diff)
		}
		if got := f.CapturedAt.Format(time.RFC3339Nano); tt.capturedAtUTC != "" && got != tt.capturedAtUTC {
			t.Errorf("%s: captured at %s, want %s", tt.name, got, tt.capturedAtUTC)
		}
	}
}

func matches(err error, want string) bool {
	if want == "" {
		return err == nil
	}
	return err != nil && strings.Contains(err.Error(), want)
}
