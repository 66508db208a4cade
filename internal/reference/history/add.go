package history

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/stats"
)

// Added is what became of a run that was to be kept.
type Added struct {
	Known bool // it was kept before, and nothing was done
	Cells int  // that are kept of it
	// Unhealthy counts those of them that were measured on an unhealthy host.
	Unhealthy int
	// Left holds, for each cell that is not kept, why.
	Left []Left
}

// Left is a cell that is not kept.
type Left struct{ Cell, Reason string }

// ErrNothing means that no cell of a run is fit to be kept.
var ErrNothing = errors.New("no cell of the run can be recorded")

// Add keeps a run, and drops the oldest ones where there are more than
// [File.Keep]. Of the run it keeps the gated metrics, exact ones too, of cells that
// passed and whose numbers are not doubtful; informational metrics are left out,
// because they are many and decide nothing. Cells of an unhealthy host are marked:
// they say how noisy the host is, and not what the level is (see
// [bench.Sample.Level]). A run of the same commit and start is not kept again.
// The caller must not offer demonstrations.
//
// Runs are kept in the order in which they started, whatever the order in which
// they are added. A run without anything to keep, or older than all of very many,
// is [ErrNothing].
func (f *File) Add(from *bench.Run) (Added, error) {
	if f.Has(from.Revision, from.Started) {
		f.accept(from)
		return Added{Known: true}, nil
	}
	r := keeping{
		File: f,
		run: run{header: header{Schema: schema, Revision: from.Revision, Started: from.Started.UTC(), Fingerprint: from.Host.Fingerprint,
			Calibration: calibration(from.Calibration)}},
		places:     map[string]int32{},
		conditions: map[string]int32{},
	}
	r.describe(from.Metrics)
	var added Added
	for i := range from.Results {
		result := &from.Results[i]
		reason := unfit(result)
		if reason == "" && !r.keep(result) {
			reason = "it has no number that is gated"
		}
		if reason == "" {
			r.note(result)
		}
		switch {
		case reason != "":
			added.Left = append(added.Left, Left{result.Cell.ID(), reason})
		case unhealthy(result):
			added.Unhealthy++
		}
	}
	if added.Cells = len(r.cells); added.Cells == 0 {
		return added, fmt.Errorf("%w: see its report", ErrNothing)
	}
	r.tidy()
	if err := r.validate(f.ids); err != nil {
		return added, fmt.Errorf("keep the run: %w: measure again with 'accelgate run', or leave the file out", err)
	}
	at := sort.Search(len(f.runs), func(n int) bool { return f.runs[n].Started.After(r.Started) })
	keep := cmp.Or(f.Keep, MaxRuns)
	if at == 0 && len(f.runs) >= keep {
		return Added{}, fmt.Errorf("%w: it is older than the %d runs of the history", ErrNothing, keep)
	}
	if r.Accepted = f.ForReference.Accepted; f.ForReference.Needed {
		r.Partial = f.partOf(from)
		r.noteSuites(from.Results)
	}
	f.runs = slices.Insert(f.runs, at, r.run)
	f.passed(&r.run)
	f.keepNewest(keep)
	f.keepTimes()
	whole := false
	for i := range slices.Backward(f.runs) {
		if whole {
			f.runs[i].Suites = nil // which newer runs have
		}
		whole = whole || !f.runs[i].Partial
	}
	return added, nil
}

// keepNewest drops the oldest runs.
func (f *File) keepNewest(n int) { f.runs = slices.Delete(f.runs, 0, max(0, len(f.runs)-n)) }

// keeping is a run that is about to be kept.
type keeping struct {
	*File
	run
	gated      []bench.Metric
	places     map[string]int32 // of gated, by name
	conditions map[string]int32 // places
}

// describe notes the metrics that are kept.
func (r *keeping) describe(metrics []bench.Metric) {
	for _, m := range metrics {
		if !m.Informational || m.IsResource() { // a cell has the sample of a resource only where it is limited
			r.places[m.Name] = int32(len(r.gated))
			r.gated = append(r.gated, m)
			described := metric{Name: m.Name, Unit: m.Unit, Better: m.Better, Exact: m.Exact}
			if r.ForReference.Needed {
				described.Full = &m
			}
			r.Metrics = append(r.Metrics, described)
		}
	}
}

// unfit returns why a cell is not kept; "" if it is.
func unfit(r *bench.Result) string {
	switch {
	case r.Outcome != bench.Passed:
		return "it did not pass: " + string(r.Outcome)
	case r.Caveat != "":
		return "its numbers are doubtful: " + r.Caveat
	}
	return ""
}

func unhealthy(r *bench.Result) bool { return r.Health != nil && r.Health.Status == bench.Unhealthy }

// keep adds a result; false if there is nothing to keep of it.
func (r *keeping) keep(result *bench.Result) bool {
	var found []int32
	for i := range result.Samples {
		if place, ok := r.places[result.Samples[i].Metric]; ok && r.enough(result, place) {
			found = append(found, place)
		}
	}
	if len(found) == 0 {
		return false
	}
	slices.Sort(found)
	for _, place := range found {
		r.values = append(r.values, result.Judged(result.Sample(r.gated[place].Name))...)
		r.spans = append(r.spans, span{place, int32(len(r.values))})
	}
	r.cells = append(r.cells,
		cell{r.intern([]byte(result.Cell.ID())), int32(len(r.spans)), r.condition(result.Conditions), unhealthy(result)})
	return true
}

// condition returns the place of conditions, -1 of none.
func (r *keeping) condition(asked map[string]string) int32 {
	if asked == nil {
		return -1
	}
	var key strings.Builder
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		fmt.Fprintf(&key, "%q=%q ", name, asked[name])
	}
	place, known := r.conditions[key.String()]
	if !known {
		place = int32(len(r.Conditions))
		r.conditions[key.String()] = place
		r.Conditions = append(r.Conditions, asked)
	}
	return place
}

// enough reports whether there are values, and whether they rest on as much as the
// metric asks for: a percentile of few requests says nothing of noise.
func (r *keeping) enough(result *bench.Result, place int32) bool {
	m := &r.gated[place]
	if s := result.Sample(m.Name); len(s.Values) == 0 || s.Caveat != "" {
		return false
	}
	if m.CountedBy == "" {
		return true
	}
	count := result.Sample(m.CountedBy)
	return count != nil && len(count.Values) > 0 && stats.Median(count.Values) >= float64(m.MinCount)
}

// calibration is the median of all values; 0 if it did not run.
func calibration(c *bench.Calibration) float64 {
	if c == nil {
		return 0
	}
	return stats.Median(slices.Concat(c.Before, c.After))
}
