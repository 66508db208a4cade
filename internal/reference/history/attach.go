package history

import (
	"math"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/stats"
)

// MaxAttached is how many runs a reference gets at most. More do not tell more
// of the noise, and are of older code.
const MaxAttached = 40

// Attach sets Run.Earlier and Sample.History of all samples of ref, a committed baseline as a
// run, in place: the values of the newest earlier runs, at most [MaxAttached], the
// oldest first. All samples of a reference have an entry for each of these runs, so
// that entries at the same distance from the end are of one run; an entry is
// empty where the run lacks the cell, or where its numbers cannot stand beside
// the baseline's. Samples for which no run has any have no history.
//
// A run counts if it was measured on a machine that [bench.Fingerprint.Comparable]
// holds to be the same, under the same major version of the driver where both
// name one. Of a cell it counts if metric, unit and conditions are the same, and if
// no change of level is after it: [detect.ChangePoints] says where a new level
// begins, of at least 3 runs, and noise is left as it is. Runs of an unhealthy host are marked, and
// change no level ([bench.Sample.Level]). A regression that was merged becomes the
// level by that; the anchors of the baseline show it as drift. A run that was accepted as the
// first of a new level ends the ones before it as well.
//
// The entries share memory with f.
func (f *File) Attach(ref *bench.Run) {
	chosen := f.comparable(ref.Host.Fingerprint)
	ref.Earlier = points(chosen)
	places := f.places(ref)
	for i := range ref.Results {
		for j := range ref.Results[i].Samples {
			ref.Results[i].Samples[j].History, ref.Results[i].Samples[j].Unhealthy = nil, nil
		}
	}
	if len(chosen) == 0 {
		return
	}
	a := attaching{ref: ref, places: places, of: len(chosen)}
	for at, r := range chosen {
		a.run(r, at)
	}
	for i := range ref.Results {
		for j := range ref.Results[i].Samples {
			s := &ref.Results[i].Samples[j]
			newestLevel(s, ref.Metric(s.Metric))
		}
	}
}

// points say of which commits runs are.
func points(runs []*run) []bench.Point {
	points := make([]bench.Point, len(runs))
	for i, r := range runs {
		points[i] = bench.Point{At: r.Started, Revision: r.Revision}
	}
	return points
}

// minLevel is how many runs make a level: fewer may be a disturbance, and the
// gate compares them with the level before them.
const minLevel = 3

// newestLevel empties the entries before the last change of level.
func newestLevel(s *bench.Sample, m *bench.Metric) {
	if len(s.History) == 0 || m == nil || m.Exact {
		return
	}
	runs := s.Level()
	medians := make([]float64, len(runs))
	for i, values := range runs {
		if medians[i] = math.NaN(); len(values) > 0 {
			medians[i] = stats.Median(values)
		}
	}
	for _, change := range slices.Backward(detect.ChangePoints(medians, detect.Search{HigherIsBetter: m.Better != bench.Lower})) {
		if usable(medians[change.Index:]) >= minLevel {
			clear(s.History[:change.Index])
			return
		}
	}
}

func usable(values []float64) (n int) {
	for _, v := range values {
		if !math.IsNaN(v) {
			n++
		}
	}
	return n
}

// attaching is one Attach.
type attaching struct {
	ref    *bench.Run
	places []int32 // of the results of ref, by place of the id; -1 for none
	of     int     // chosen runs
	spare  [][]float64
}

// comparable returns the newest runs of the same machine, the oldest first.
func (f *File) comparable(machine bench.Fingerprint) (chosen []*run) {
	for n := len(f.runs) - 1; n >= 0 && len(chosen) < MaxAttached; n-- {
		r := &f.runs[n]
		if ok, _ := r.Fingerprint.Comparable(machine); ok && sameDriver(r.Fingerprint.Driver, machine.Driver) {
			chosen = append(chosen, r)
		}
	}
	slices.Reverse(chosen)
	return chosen
}

// sameDriver compares major versions: what stands before the first dot.
func sameDriver(a, b string) bool {
	a, _, _ = strings.Cut(a, ".")
	b, _, _ = strings.Cut(b, ".")
	return a == "" || b == "" || a == b
}

func (f *File) places(ref *bench.Run) []int32 {
	places := make([]int32, len(f.ids))
	for i := range places {
		places[i] = -1
	}
	for i := range ref.Results {
		if n, ok := f.at[ref.Results[i].Cell.ID()]; ok {
			places[n] = int32(i)
		}
	}
	return places
}

// run adds the values of one run.
func (a *attaching) run(r *run, at int) {
	same := a.sameMetrics(r.Metrics)
	for n, c := range r.cells {
		place := a.places[c.id]
		if place < 0 {
			continue
		}
		result := &a.ref.Results[place]
		if !bench.SameConditions(r.asked(c), result.Conditions) {
			continue
		}
		if r.Accepted != "" {
			for j := range result.Samples {
				clear(result.Samples[j].History) // of an earlier level
			}
		}
		r.each(n, func(metric int32, values []float64) {
			if !same[metric] {
				return
			}
			if s := result.Sample(r.Metrics[metric].Name); s != nil {
				a.set(s, at, values)
				if c.unhealthy {
					a.mark(s, at)
				}
			}
		})
	}
}

// sameMetrics returns which metrics mean in ref what they mean in the run. Files of
// other tools name no units.
func (a *attaching) sameMetrics(metrics []metric) []bool {
	same := make([]bool, len(metrics))
	for i, m := range metrics {
		now := a.ref.Metric(m.Name)
		same[i] = now != nil && now.Better == m.Better && (now.Unit == m.Unit || now.Unit == "")
	}
	return same
}

// set enters values, in a list that is cut from a larger one: there are as many
// as samples.
func (a *attaching) set(s *bench.Sample, at int, values []float64) {
	if s.History == nil {
		if len(a.spare) < a.of {
			a.spare = make([][]float64, 1000*a.of)
		}
		s.History, a.spare = a.spare[:a.of:a.of], a.spare[a.of:]
	}
	s.History[at] = values
}

// mark marks an entry as of an unhealthy host.
func (a *attaching) mark(s *bench.Sample, at int) {
	if s.Unhealthy == nil {
		s.Unhealthy = make([]bool, a.of)
	}
	s.Unhealthy[at] = true
}
