package bench_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
)

func part(revision, label string, unselected []string, ids ...string) *bench.Run {
	r := &bench.Run{Schema: bench.RunSchema, Revision: revision, Host: bench.Host{Label: label}, Unselected: unselected,
		Metrics: []bench.Metric{{Name: "tps", Better: bench.Higher}}}
	for _, id := range ids {
		r.Results = append(r.Results, bench.Result{Cell: bench.Cell{Raw: id}, Outcome: bench.Passed})
	}
	return r
}

func TestMergeJoinsShards(t *testing.T) {
	merged, err := bench.Merge([]*bench.Run{
		part("c", "h", []string{"b", "never"}, "a"),
		part("c", "h", []string{"a", "never"}, "b"),
	})
	if err != nil {
		t.Fatal(err)
	}
	one, other := part("c", "h", nil, "a"), part("c", "h", nil, "b")
	one.Context, other.Context = map[string]string{bench.PairSeed: "1"}, map[string]string{bench.PairSeed: "2"}
	if pairs, err := bench.Merge([]*bench.Run{one, other}); err != nil || pairs.Context[bench.PairSeed] != "1 2" {
		t.Errorf("pairs in two orders: %v, %v", pairs, err)
	}
	if len(merged.Results) != 2 {
		t.Errorf("merged %d results, want 2", len(merged.Results))
	}
	if diff := cmp.Diff([]string{"never"}, merged.Unselected); diff != "" {
		t.Errorf("unselected (-want +got):\n%s", diff)
	}
}

func TestMergeRefusesWhatIsNotOneRun(t *testing.T) {
	slower := part("c", "h", nil, "b")
	slower.Metrics[0].Better = bench.Lower
	other := part("c", "h", nil, "b")
	other.Host.CPU = "another"
	base := part("c", "h", nil, "b")
	base.Base = "other"
	for want, r := range map[string]*bench.Run{
		"bases":           base,
		"commits":         part("d", "h", nil, "b"),
		"different hosts": other,
		"metric":          slower,
		"same cell":       part("c", "h", nil, "a"),
	} {
		if _, err := bench.Merge([]*bench.Run{part("c", "h", nil, "a"), r}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Merge() = %v, want an error about %s", err, want)
		}
	}
}
