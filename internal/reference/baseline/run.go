package baseline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
)

// Run returns the file as a reference to compare with. Its cells have no
// parameters: their ids are the case ids, letter by letter. It shares maps
// and summaries with f, so neither may be modified afterwards.
//
// Where entries disagree on what a metric is, the first entry by order of the
// file wins and the run carries a warning.
func (f *File) Run() *bench.Run {
	run := &bench.Run{
		Schema:  bench.RunSchema,
		Host:    bench.Host{Label: f.HostLabel},
		Started: f.CapturedAt,
		Results: make([]bench.Result, 0, len(f.Entries)),
	}
	if f.Fingerprint != nil {
		run.Host.Fingerprint = *f.Fingerprint
	}
	run.Revision = f.commit()
	if f.CalibrationMS > 0 {
		run.Calibration = &bench.Calibration{Before: []float64{f.CalibrationMS}}
	}
	known := map[string]*described{}
	samples := make([]bench.Sample, 0, f.metrics())
	for i := range f.Entries {
		e := &f.Entries[i]
		metrics := e.measured()
		from := len(samples)
		for j := range metrics {
			samples = append(samples, bench.Sample{Metric: metrics[j].Name, Summary: &metrics[j].Summary})
		}
		run.Results = append(run.Results, e.result(f, samples[from:len(samples):len(samples)]))
		for j := range metrics {
			describe(known, metrics[j].Metric, e.CaseID)
		}
	}
	for _, d := range known {
		run.Metrics = append(run.Metrics, d.metric)
		if d.conflict != "" {
			run.Warnings = append(run.Warnings, d.conflict)
		}
	}
	slices.SortFunc(run.Metrics, func(a, b bench.Metric) int { return strings.Compare(a.Name, b.Name) })
	slices.Sort(run.Warnings)
	return run
}

// metrics is how many metrics [Entry.measured] returns of all entries, or more.
func (f *File) metrics() (n int) {
	for i := range f.Entries {
		if n += len(f.Entries[i].Metrics); len(f.Entries[i].Metrics) == 0 {
			n += len(classic)
		}
	}
	return n
}

func (e *Entry) result(f *File, samples []bench.Sample) bench.Result {
	result := bench.Result{
		Cell:       bench.Cell{Raw: e.CaseID, Suite: e.Suite},
		Outcome:    e.outcome(),
		Conditions: e.Conditions,
		Artifacts:  e.Artifacts,
	}
	if len(samples) > 0 {
		result.Samples = samples
	}
	if a := e.anchor(f); a != nil {
		result.Anchored = bench.Point{At: a.CapturedAt, Revision: a.Commit}
		for i := range result.Samples {
			result.Samples[i].Anchor, _ = a.Metrics.Of(result.Samples[i].Metric)
		}
	}
	if len(e.Operators) > 0 {
		parts := bench.Breakdown{Title: bench.OperatorsTitle, Unit: "ms"}
		for _, op := range e.Operators {
			parts.Entries = append(parts.Entries, bench.Entry{Name: op.Name, Total: op.TotalMS, Calls: op.Calls})
		}
		result.Breakdowns = []bench.Breakdown{parts}
	}
	return result
}

func (e *Entry) outcome() bench.Outcome {
	switch {
	case e.CorrectnessOK != nil && !*e.CorrectnessOK:
		return bench.Incorrect
	case !e.OK:
		return bench.Failed
	}
	return bench.Passed
}

// described is a metric as its first entry describes it.
type described struct {
	metric   bench.Metric
	caseID   string
	conflict string
}

// describe records the description of a metric, or that it contradicts the one
// recorded before.
func describe(known map[string]*described, m *bench.Metric, caseID string) {
	before := known[m.Name]
	switch {
	case before == nil:
		known[m.Name] = &described{metric: *m, caseID: caseID}
	case sameMeaning(&before.metric, m):
		before.metric.Unit = cmp.Or(before.metric.Unit, m.Unit)
		before.metric.Resolution = max(before.metric.Resolution, m.Resolution) // of the coarsest entry
	case before.conflict == "":
		before.conflict = fmt.Sprintf(
			"metric %s means one thing in entry %s and another in %s: measure both again with accelgate baseline update", quote(m.Name),
			quote(before.caseID), quote(caseID))
	}
}
