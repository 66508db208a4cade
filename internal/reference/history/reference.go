package history

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/stats"
)

// ForReference describes what the runs that are added serve: a [File.Reference] needs more than
// what a history beside a baseline holds.
type ForReference struct {
	// Needed keeps all of the descriptions of metrics, and the suites of the newest run.
	Needed bool
	// Accepted is why the next run that is added begins a new level; "" if it does not.
	Accepted string
}

// maxSuites bounds the bytes of suites and ids that a line names a second time.
const maxSuites = 2 << 20

// noteSuites keeps of which suites the cells of a run are.
func (r *run) noteSuites(results []bench.Result) {
	size := 0
	r.Suites = map[string][]string{}
	for i := range results {
		if of := &results[i]; unfit(of) == "" && of.Cell.Suite != "" {
			r.Suites[of.Cell.Suite] = append(r.Suites[of.Cell.Suite], of.Cell.ID())
			size += len(of.Cell.ID())
		}
	}
	if size > maxSuites {
		r.Suites = nil
	}
}

// partOf reports whether a run leaves out a cell that the history has: by a filter or a limit.
func (f *File) partOf(from *bench.Run) bool {
	leftOut := func(l bench.LeftOut) bool { return f.has(l.Cell) }
	return slices.ContainsFunc(from.Unselected, f.has) || slices.ContainsFunc(from.LeftOut, leftOut)
}

func (f *File) has(id string) bool {
	_, ok := f.at[id]
	return ok
}

// accept makes a run that is kept the first of a new level.
func (f *File) accept(from *bench.Run) {
	for i := range f.runs {
		if r := &f.runs[i]; r.Revision == from.Revision && r.Started.Equal(from.Started) {
			r.Accepted = cmp.Or(f.ForReference.Accepted, r.Accepted)
		}
	}
}

// validReference reports what would make a run's part of a reference meaningless.
func (r *run) validReference() error {
	for _, m := range r.Metrics {
		if full := m.Full; full != nil && (full.Name != m.Name || full.Unit != m.Unit || full.Better != m.Better || full.Exact != m.Exact ||
			full.MinCount < 0 || !bench.Finite(full.Resolution) || full.Resolution < 0) {
			return fmt.Errorf("metric %.80q is described in two ways", m.Name)
		}
	}
	if len(r.Accepted) > maxReason {
		return fmt.Errorf("has a reason of more than %d bytes", maxReason)
	}
	for suite, ids := range r.Suites {
		if suite == "" || len(suite) > maxName || slices.Contains(ids, "") {
			return errors.New("has a suite or a cell of one without a name, or with one that is too long")
		}
	}
	return nil
}

const maxReason = 10_000

// Reference returns what the newest runs of a host say together, as one run; nil if there are
// none. It has the cells of the newest run, and those of the runs before it back to one that
// was not a part. Of each metric it has the medians of the last n runs, the oldest
// first, of those that count as in [File.Attach], back to the last one with the cell that was
// accepted. Runs of an unhealthy host count for numbers that no other has, and of an
// exact metric the newest run alone. Cells of runs without suites have none.
func (f *File) Reference(label string, n int) *bench.Run {
	if len(f.runs) == 0 {
		return nil
	}
	newest := &f.runs[len(f.runs)-1]
	chosen := f.comparable(newest.Fingerprint)
	if len(chosen) == 0 { // a host that is not described compares with nothing
		chosen = []*run{newest}
	}
	c := collecting{
		n:      n,
		places: map[int32]int{},
		ids:    f.ids,
		ref: &bench.Run{Schema: bench.RunSchema, Revision: newest.Revision, Started: newest.Started,
			Host: bench.Host{Label: label, Fingerprint: newest.Fingerprint}},
	}
	if newest.Calibration > 0 {
		c.ref.Calibration = &bench.Calibration{Before: []float64{newest.Calibration}}
	}
	whole := false
	for _, r := range slices.Backward(chosen) {
		if !whole {
			c.owe(r)
			whole = !r.Partial
		}
		c.add(r)
	}
	for i := range c.ref.Results {
		c.ref.Results[i].Samples = c.samples(i)
	}
	return c.ref
}

// Mean puts the mean of the values of each metric in their place, where that is not exact.
func Mean(ref *bench.Run) {
	for i := range ref.Results {
		for k := range ref.Results[i].Samples {
			s := &ref.Results[i].Samples[k]
			if m := ref.Metric(s.Metric); len(s.Values) > 1 && m != nil && !m.Exact {
				sum := 0.0
				for _, v := range s.Values {
					sum += v
				}
				s.Summary = &bench.Summary{Median: sum / float64(len(s.Values)), MAD: stats.MAD(s.Values), N: len(s.Values)}
				s.Values = nil
			}
		}
	}
}

// Since counts the runs that started after a time.
func (f *File) Since(t time.Time) (n int) {
	for i := range f.runs {
		if f.runs[i].Started.After(t) {
			n++
		}
	}
	return n
}

// collecting gathers the medians of a cell's metrics, the newest first.
type collecting struct {
	ref    *bench.Run
	ids    []string
	n      int
	places map[int32]int // of the results, by id
	levels [][]level     // by result and metric
	ended  []bool        // by result: an accepted run was added
}

type level struct{ healthy, other []float64 }

// owe adds the cells and metrics of a run that newer ones do not have.
func (c *collecting) owe(r *run) {
	for _, m := range r.Metrics {
		if c.ref.Metric(m.Name) == nil {
			full := bench.Metric{Name: m.Name, Unit: m.Unit, Better: m.Better, Exact: m.Exact}
			if m.Full != nil {
				full = *m.Full
			}
			c.ref.Metrics = append(c.ref.Metrics, full)
		}
	}
	of := map[string]string{}
	for suite, cells := range r.Suites {
		for _, id := range cells {
			of[id] = suite
		}
	}
	for _, one := range r.cells {
		if _, known := c.places[one.id]; !known {
			c.places[one.id] = len(c.ref.Results)
			c.ref.Results = append(c.ref.Results, bench.Result{
				Cell:       bench.Cell{Raw: c.ids[one.id], Suite: of[c.ids[one.id]]},
				Outcome:    bench.Passed,
				Conditions: r.asked(one),
			})
			c.levels, c.ended = append(c.levels, nil), append(c.ended, false)
		}
	}
}

// add adds the numbers of a run that mean the same as in the reference.
func (c *collecting) add(r *run) {
	at := make([]int, len(r.Metrics)) // in the reference
	for i, m := range r.Metrics {
		at[i] = slices.IndexFunc(c.ref.Metrics, func(now bench.Metric) bool {
			return now.Name == m.Name && now.Unit == m.Unit && now.Better == m.Better && now.Exact == m.Exact
		})
	}
	for i, one := range r.cells {
		place, ok := c.places[one.id]
		if !ok || c.ended[place] || !bench.SameConditions(r.asked(one), c.ref.Results[place].Conditions) {
			continue
		}
		c.ended[place] = r.Accepted != ""
		r.each(i, func(metric int32, values []float64) {
			if at[metric] >= 0 {
				c.value(place, at[metric], stats.Median(values), one.unhealthy)
			}
		})
	}
}

func (c *collecting) value(place, metric int, value float64, unhealthy bool) {
	if missing := metric + 1 - len(c.levels[place]); missing > 0 {
		c.levels[place] = append(c.levels[place], make([]level, missing)...)
	}
	l, maximum := &c.levels[place][metric], c.n
	if c.ref.Metrics[metric].Exact {
		maximum = 1
	}
	to := &l.healthy
	if unhealthy {
		to = &l.other
	}
	if len(*to) < maximum {
		*to = append(*to, value)
	}
}

// samples are those of a cell, the oldest value first.
func (c *collecting) samples(place int) (samples []bench.Sample) {
	for i, l := range c.levels[place] {
		values := l.healthy
		if len(values) == 0 {
			values = l.other
		}
		if len(values) > 0 {
			slices.Reverse(values)
			samples = append(samples, bench.Sample{Metric: c.ref.Metrics[i].Name, Values: values})
		}
	}
	return samples
}
