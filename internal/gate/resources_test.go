package gate_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
)

// used is a run of two cells with a resource that is a sample of them; 0 is none.
func used(mib float64, doubt string) *bench.Run {
	r := run(cell("a", "decode_tps", 100.0), cell("b", "decode_tps", 100.0))
	r.Metrics = append(r.Metrics, *bench.Resource(bench.PeakRSS))
	for i := range r.Results {
		if mib > 0 {
			r.Results[i].Samples = append(r.Results[i].Samples, bench.Sample{Metric: bench.PeakRSS, Values: []float64{mib}, Caveat: doubt})
		}
	}
	return r
}

// TestResourcesAreJudgedWhereTheyAreLimited: without a limit they change no verdict, and an old
// baseline without them warns only where a limit names them.
func TestResourcesAreJudgedWhereTheyAreLimited(t *testing.T) {
	change, maximum := gate.Limit{Change: &gate.Change{Percent: 5.0}}, gate.Limit{Max: &gate.Bound{Value: 150.0}}
	for name, c := range map[string]struct {
		ref, got *bench.Run
		limit    gate.Limit
		want     []string
	}{
		"no limit":             {used(100, ""), used(200, ""), gate.Limit{}, nil},
		"no limit, not in ref": {used(0, ""), used(200, ""), gate.Limit{}, nil},
		"change":               {used(100, ""), used(108, ""), change, []string{"a peak_rss_mib regressed blocks -8"}},
		"change, not in ref":   {used(0, ""), used(108, ""), change, []string{"a peak_rss_mib untracked 0"}},
		"change, not measured": {used(0, ""), used(0, ""), change, []string{"a peak_rss_mib missing blocks 0"}},
		"bound":                {used(100, ""), used(200, ""), maximum, []string{"a peak_rss_mib out_of_bounds blocks 0"}},
		"bound is kept":        {used(0, ""), used(150, ""), maximum, nil},
		"bound, not measured":  {used(0, ""), used(0, ""), maximum, []string{"a peak_rss_mib missing blocks 0"}},
		"at most, within":      {used(0, ""), used(140, "at most"), maximum, nil},
		"at most, beyond":      {used(0, ""), used(160, "at most"), maximum, []string{"a peak_rss_mib out_of_bounds blocks 0"}},
		"at most, compared":    {used(100, ""), used(140, "at most"), change, []string{"a peak_rss_mib incomparable ?repeats 0"}},
	} {
		var got []string
		for _, line := range lines(gate.Compare("base", c.ref, c.got, limiting(fixed(), bench.PeakRSS, c.limit, "a"))) {
			if strings.Contains(line, bench.PeakRSS) {
				got = append(got, line)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
