package baseline_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/baseline"
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestRoundTrip holds for every file: what was written reads back as the same
// values and is written again as the same bytes, and a reader of TensorSharp's
// shape sees the same values in its own fields.
func TestRoundTrip(t *testing.T) {
	for seed := range uint64(100) {
		f := random{rand.New(rand.NewPCG(seed, 1))}.file()
		written := marshal(t, f)
		got := parse(t, written)

		want := *f
		want.Entries = slices.Clone(f.Entries)
		slices.SortFunc(want.Entries, func(a, b baseline.Entry) int { return strings.Compare(a.CaseID, b.CaseID) })
		if diff := cmp.Diff(&want, got, publicly); diff != "" {
			t.Fatalf("seed %d: Parse(Marshal(f)) (-want +got):\n%s\n%s", seed, diff, written)
		}
		if diff := cmp.Diff(written, marshal(t, got)); diff != "" {
			t.Fatalf("seed %d: Marshal(Parse(Marshal(f))) (-want +got):\n%s", seed, diff)
		}
		if diff := cmp.Diff(tensorSharpOf(&want), readAsTensorSharp(t, written)); diff != "" {
			t.Fatalf("seed %d: as TensorSharp (-want +got):\n%s\n%s", seed, diff, written)
		}
	}
}

// tensorSharp is the shape of TensorSharp.TestMatrix's reader and writer: it
// knows its own fields and nothing else.
type tensorSharp struct {
	HostLabel  string             `json:"host_label"`
	CapturedAt time.Time          `json:"captured_at"`
	Commit     *string            `json:"commit"`
	Notes      *string            `json:"notes"`
	Entries    []tensorSharpEntry `json:"entries"`
}

type tensorSharpEntry struct {
	CaseID        string  `json:"case_id"`
	OK            bool    `json:"ok"`
	CorrectnessOK *bool   `json:"correctness_ok"`
	PrefillTPS    float64 `json:"prefill_tps"`
	DecodeTPS     float64 `json:"decode_tps"`
	ModelLoadMS   float64 `json:"model_load_ms"`
}

func readAsTensorSharp(t *testing.T, data string) tensorSharp {
	t.Helper()
	var ts tensorSharp
	if err := json.Unmarshal([]byte(data), &ts); err != nil {
		t.Fatalf("TensorSharp could not read it: %v\n%s", err, data)
	}
	ts.CapturedAt = ts.CapturedAt.UTC()
	return ts
}

func tensorSharpOf(f *baseline.File) tensorSharp {
	ts := tensorSharp{f.HostLabel, f.CapturedAt, f.Commit, f.Notes, []tensorSharpEntry{}}
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

// TestReadsTensorSharp reads what a writer of TensorSharp's shape produces: no
// newline at the end, seven digits of a second, zero for what does not apply.
func TestReadsTensorSharp(t *testing.T) {
	for seed := range uint64(50) {
		r := random{rand.New(rand.NewPCG(seed, 2))}
		ts := tensorSharp{HostLabel: "macos-mlx", CapturedAt: r.time().Truncate(100), Commit: maybe(r, r.string), Notes: maybe(r, r.string)}
		for i := range r.IntN(5) {
			ts.Entries = append(ts.Entries, tensorSharpEntry{fmt.Sprintf("m__mlx__tg128__%d", i), true, maybe(r, func() bool { return true }), 0, r.float(), math.Round(r.float())})
		}
		data, err := json.MarshalIndent(ts, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if seed%2 == 1 { // written on Windows
			data = []byte(strings.ReplaceAll(string(data), "\n", "\r\n"))
		}
		f := parse(t, string(data))
		if diff := cmp.Diff(ts, tensorSharpOf(f), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("seed %d (-written +read):\n%s\n%s", seed, diff, data)
		}
		if got := marshal(t, f); strings.Contains(got, "schema") {
			t.Fatalf("a file of TensorSharp was given a schema that it does not have:\n%s", got)
		}
	}
}

// random makes files that exercise the format: odd strings, all magnitudes,
// everything optional.
type random struct{ *rand.Rand }

func (r random) string() string {
	parts := []string{"a", "B", "_", "__", "%", "\"", "\\", "\n", "\x00", "é", "世", "\u202e", "\u2028", "<", "/*", "//", "{", "[", ",", ":", " ", "🚀", "null", "\ufffd"}
	var b strings.Builder
	for range r.IntN(8) {
		b.WriteString(parts[r.IntN(len(parts))])
	}
	return b.String()
}

func (r random) float() float64 {
	v := r.Float64() * math.Pow(10, float64(r.IntN(40)-20))
	if r.IntN(3) == 0 {
		v = math.Round(v)
	}
	return v
}

func (r random) time() time.Time {
	return time.Unix(r.Int64N(4e9), r.Int64N(1e7)*100).UTC()
}

func maybe[T any](r random, make func() T) *T {
	if r.IntN(2) == 0 {
		return nil
	}
	return new(make())
}

func (r random) file() *baseline.File {
	f := &baseline.File{
		HostLabel:  r.string(),
		CapturedAt: r.time(),
		Commit:     maybe(r, r.string),
		Notes:      maybe(r, r.string),
		Schema:     r.IntN(baseline.Schema + 1),
		Fingerprint: maybe(r, func() bench.Fingerprint {
			return bench.Fingerprint{OS: r.string(), CPU: r.string(), Cores: r.IntN(99), MemoryGiB: r.float(),
				Accelerators: []bench.Accelerator{{Vendor: r.string(), Model: r.string(), MemoryGiB: r.float()}}}
		}),
	}
	for i := range r.IntN(6) {
		f.Entries = append(f.Entries, r.entry(fmt.Sprintf("%s#%d", r.string(), i)))
	}
	return f
}

func (r random) entry(id string) baseline.Entry {
	ok := r.IntN(4) > 0
	directions := []bench.Direction{bench.Higher, bench.Lower}
	if !ok {
		directions = append(directions, "")
	}
	e := baseline.Entry{
		CaseID: id, OK: ok, CorrectnessOK: maybe(r, func() bool { return ok || r.IntN(2) == 0 }),
		PrefillTPS: maybe(r, r.float), DecodeTPS: maybe(r, r.float), ModelLoadMS: maybe(r, r.float),
		Anchor: maybe(r, func() baseline.Anchor {
			return baseline.Anchor{CapturedAt: r.time(), Commit: r.string(), Metrics: map[string]float64{r.string(): -r.float(), r.string(): r.float()}}
		}),
	}
	for i := range r.IntN(20) {
		m := metric(fmt.Sprintf("%s#%d", id, i), r.string(), directions[r.IntN(len(directions))], r.float(), r.float(), r.IntN(100))
		m.Exact, m.Informational, m.FallbackFor = r.IntN(2) == 0, r.IntN(2) == 0, r.string()
		if r.IntN(4) == 0 {
			m.Median = -m.Median
		}
		e.Metrics = append(e.Metrics, m)
	}
	slices.SortFunc(e.Metrics, func(a, b baseline.Metric) int { return strings.Compare(a.Name, b.Name) })
	for range r.IntN(4) {
		e.Operators = append(e.Operators, baseline.Operator{Name: r.string(), TotalMS: r.float(), Calls: r.Int64N(1 << 53)})
	}
	return e
}
