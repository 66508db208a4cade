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
)

// TestRoundTrip holds for every file: what was written reads back as the same
// values and is written again as the same bytes. TestTensorSharpReadsOurs looks
// at the same files with other eyes.
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
	if r.IntN(2) == 0 {
		f.CalibrationMS = r.float()
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
			return baseline.Anchor{CapturedAt: r.time(), Commit: r.string(), Metrics: anchored(map[string]float64{r.string(): -r.float(), r.string(): r.float()})}
		}),
	}
	if r.IntN(2) == 0 {
		e.Artifacts = r.string()
	}
	if r.IntN(2) == 0 {
		e.Conditions = map[string]string{r.string(): r.string(), r.string(): r.string()}
	}
	for i := range r.IntN(20) {
		m := metric(fmt.Sprintf("%s#%d", id, i), r.string(), directions[r.IntN(len(directions))], r.float(), r.float(), r.IntN(100))
		m.Exact, m.Informational, m.FallbackFor = r.IntN(2) == 0, r.IntN(2) == 0, r.string()
		if r.IntN(2) == 0 {
			m.Resolution = r.float()
		}
		if r.IntN(2) == 0 {
			m.Noise, m.MDE = r.float(), r.float()
		}
		if r.IntN(3) == 0 {
			m.CountedBy, m.MinCount = r.string()+"n", int32(1+r.IntN(1000))
			m.ConfirmedBy = r.string()
		}
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
