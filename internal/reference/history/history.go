// Package history keeps the numbers of earlier runs of one host, so that noise
// can be separated from change. A file history-<host label>.jsonl holds one line for
// each run, the oldest first:
//
//	{"schema":1,"revision":"0123abc","started":"2026-03-01T09:00:00Z",
//	 "fingerprint":{"os":"linux","cpu":"EPYC 9354","cores":32},"calibration_ms":12.1,
//	 "metrics":[{"name":"decode_tps","unit":"tok/s","better":"higher"}],
//	 "cells":{"tiny__cpu__tg128__baseline":[[0,41.2,41.3,41.1]]}}
//
// (without the line breaks). Each list of a cell begins with the place of its
// metric among the metrics of the line; the values of the run's processes
// follow, in the order of measurement, with seven digits. Where numbers hold
// under certain conditions only, the place of these among the "conditions" of the
// line comes first: "cell":[2,[0,41.2]]. Cells that were measured on an unhealthy
// host stand in "unhealthy" in place of "cells", in the same form. Where runs serve as a
// reference of their own ([File.Reference]), a metric has all of its description in "full", a
// run that begins a new level its reason in "accepted", one that leaves out cells "partial":true,
// and the newest runs back to one that does not the cells of each suite in "suites". The newest runs
// ([File.Times]) say in "wall_ms" how long each cell took, and in "on" on which of the "devices", in the
// order of "cells" and "unhealthy".
//
// A last line with "failed", metrics by cell, is no run of the history: the gate failed that run, which is newer.
//
// The package decides nothing: what is fit to be kept is said in [File.Add], what
// a reference may be compared with in [File.Attach].
package history

import (
	"iter"
	"path/filepath"
	"slices"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
)

// schema is the version of the format that this build reads and writes.
const schema = 1

// The limits of a file. Lines are of strangers' making where the file comes
// from a branch.
const (
	// MaxRuns is how many runs a file keeps where [File.Keep] is 0; the oldest are
	// dropped.
	MaxRuns  = 200
	maxLines = 5000 // of a file that another program wrote
	// MaxBytes bounds a file that is read or written.
	MaxBytes      = 256 << 20
	maxHeaders    = 16 << 20  // bytes of all lines without their cells, which take most memory
	maxMember     = 4 << 20   // bytes of one member but cells and conditions, of one line
	maxAllValues  = 32 << 20  // of all runs of a file
	maxIDs        = 2_000_000 // different cells of a file
	maxCells      = 500_000   // of a run, as of a run document
	maxValues     = 1000      // of a cell and metric
	maxMetrics    = 1000
	maxConditions = 10_000 // different ones, of a run
	maxName       = 255
	maxDevices    = 1024
)

// File is the history of one host. The zero value is empty and ready to use.
// It is not safe for concurrent use.
type File struct {
	// Keep is how many of the newest runs stay; [MaxRuns] if 0.
	Keep int
	// ForReference is what runs that are added serve besides.
	ForReference ForReference

	failing *run // the newest run of the branch, if the gate failed it; see [File.Fail]

	runs []run
	ids  []string // of cells, which lines share
	at   map[string]int32
}

// run is one line. Cells and values stand in flat lists: as a map of slices, a
// hundred thousand cells of forty runs would take gigabytes.
type run struct {
	header
	cells  []cell // sorted by nothing; each id stands once
	spans  []span
	values []float64
}

// header is a line without its cells.
type header struct {
	Schema      int                 `json:"schema"`
	Revision    string              `json:"revision,omitempty"`
	Started     time.Time           `json:"started"`
	Fingerprint bench.Fingerprint   `json:"fingerprint"`
	Calibration float64             `json:"calibration_ms,omitempty"` // median, 0 if it did not run
	Metrics     []metric            `json:"metrics,omitempty"`
	Conditions  []map[string]string `json:"conditions,omitempty"` // different ones
	Accepted    string              `json:"accepted,omitempty"`   // why a new level begins; see [ForReference]
	Partial     bool                `json:"partial,omitempty"`    // cells of the history were left out; see [ForReference]
	Suites      map[string][]string `json:"suites,omitempty"`     // cells; see [ForReference]
	Failed      map[string][]string `json:"failed,omitempty"`     // metrics, by cell; see [File.Fail]
	took
}

// metric is what must be known of a metric to compare its values.
type metric struct {
	Name   string          `json:"name"`
	Unit   string          `json:"unit,omitempty"`
	Better bench.Direction `json:"better"`
	Exact  bool            `json:"exact,omitempty"`
	// Full is all that the metric's suite says of it; see [ForReference].
	Full *bench.Metric `json:"full,omitempty"`
}

// cell is a cell of a run: its id's place in File.ids, where its spans end, and
// the place of its conditions, -1 for none. The spans begin where those of the cell
// before it end.
type cell struct {
	id, end, conditions int32
	unhealthy           bool // the host was, while the cell was measured
}

// span is the values of one metric: its place in the header, and where they end.
type span struct {
	metric, end int32
}

// of returns the spans of the nth cell, and where the values of the first of
// them begin.
func (r *run) of(n int) (spans []span, from int32) {
	first := int32(0)
	if n > 0 {
		first = r.cells[n-1].end
	}
	if first > 0 {
		from = r.spans[first-1].end
	}
	return r.spans[first:r.cells[n].end], from
}

// asked returns the conditions of a cell; nil if there are none.
func (r *run) asked(c cell) map[string]string {
	if c.conditions < 0 {
		return nil
	}
	return r.Conditions[c.conditions]
}

// each calls do with the values of every metric of the nth cell.
func (r *run) each(n int, do func(metric int32, values []float64)) {
	spans, from := r.of(n)
	for _, s := range spans {
		do(s.metric, r.values[from:s.end:s.end])
		from = s.end
	}
}

// intern returns the place of a case id.
func (f *File) intern(id []byte) int32 {
	if n, ok := f.at[string(id)]; ok { // which copies nothing
		return n
	}
	if f.at == nil {
		f.at = map[string]int32{}
	}
	n := int32(len(f.ids))
	f.ids = append(f.ids, string(id))
	f.at[f.ids[n]] = n
	return n
}

// Len returns the number of runs.
func (f *File) Len() int { return len(f.runs) }

// Has reports whether a run of this commit that started then is kept.
func (f *File) Has(revision string, started time.Time) bool {
	return slices.ContainsFunc(f.runs, func(r run) bool { return r.Revision == revision && r.Started.Equal(started) })
}

// Path returns where the history of the host is kept under dir. The label must
// be one that [bench.CheckLabel] accepts.
func Path(dir, label string) string { return filepath.Join(dir, Name(label)) }

// Name is the name of the host's file.
func Name(label string) string { return prefix + label + suffix }

const prefix, suffix = "history-", ".jsonl"

// Label returns the host label that a file's name says; ok is false if it is not
// the name of a history.
func Label(name string) (label string, ok bool) {
	name = filepath.Base(name)
	if len(name) <= len(prefix)+len(suffix) || name[:len(prefix)] != prefix || name[len(name)-len(suffix):] != suffix {
		return "", false
	}
	label = name[len(prefix) : len(name)-len(suffix)]
	return label, bench.CheckLabel(label) == nil
}

// Runs returns the history as run documents, the oldest first, for those who
// look at all of them. Their cells have no parameters.
func (f *File) Runs(label string) []*bench.Run { return slices.Collect(f.All(label)) }

// All is [File.Runs] one after the other, so that few of them are in memory.
func (f *File) All(label string) iter.Seq[*bench.Run] {
	return func(yield func(*bench.Run) bool) {
		for i := range f.runs {
			if !yield(f.runs[i].document(f.ids, label)) {
				return
			}
		}
	}
}

func (r *run) document(ids []string, label string) *bench.Run {
	d := &bench.Run{
		Schema:   bench.RunSchema,
		Revision: r.Revision,
		Started:  r.Started,
		Host:     bench.Host{Label: label, Fingerprint: r.Fingerprint},
	}
	for _, m := range r.Metrics {
		d.Metrics = append(d.Metrics, bench.Metric{Name: m.Name, Unit: m.Unit, Better: m.Better, Exact: m.Exact})
	}
	d.Results = make([]bench.Result, len(r.cells))
	for n, c := range r.cells {
		result := &d.Results[n]
		result.Cell.Raw, result.Outcome, result.Conditions = ids[c.id], bench.Passed, r.asked(c)
		if c.unhealthy {
			result.Health = &bench.Health{
				Status:  bench.Unhealthy,
				Reasons: []string{"the history marks it as measured on an unhealthy host"},
			}
		}
		r.each(n, func(metric int32, values []float64) {
			result.Samples = append(result.Samples, bench.Sample{Metric: r.Metrics[metric].Name, Values: values})
		})
	}
	return d
}
