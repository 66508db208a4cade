// Package baseline is the committed reference of one host,
// baseline-<host>.json: reading it, writing it, merging a run into it and
// turning it back into a [bench.Run] to compare with. It decides nothing:
// package gate judges, and the command line says when a baseline is refreshed.
//
// The file is a superset of TensorSharp.TestMatrix's. Its four file fields and
// its six entry fields come first and mean the same; what accelgate adds
// stands where TensorSharp's reader ignores it:
//
//	{
//	  "host_label": "linux-cuda",
//	  "captured_at": "2026-03-01T09:00:00+00:00",
//	  "commit": "0123abc",
//	  "notes": "new attention kernel (accelgate v1.0.0)",
//	  "schema": 1,
//	  "fingerprint": {"os": "linux", "arch": "amd64", "cpu": "EPYC 9354", "cores": 32},
//	  "calibration_ms": 212.4,
//	  "descriptions": {
//	    "decode_tps": {"better": "higher", "unit": "tok/s", "resolution": 0.1}
//	  },
//	  "entries": [
//	    {"case_id": "tiny__cpu__baseline", "ok": true, "decode_tps": 41.2, "metrics": {"decode_tps": {"median": 41.2, "mad": 0.3, "n": 5}}},
//	    {"case_id": "tiny__cpu__tg64__baseline", "ok": true, "correctness_ok": true, "suite": "quickstart", "operators": [
//	      {"name": "matmul", "total_ms": 18.4, "calls": 96}
//	    ]}
//	  ]
//	}
//
// The noise of one value and the smallest slow-down that it lets be found (mde)
// are fractions, and there where [Calibrate] put them. An entry may describe a
// metric itself. An anchor holds the medians that an entry was created with; only
// [Pin] moves it.
//
// [Parse] accepts what people and other tools make of that; [Marshal] writes
// one form only, so that a diff shows what changed and nothing else.
package baseline

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
)

// Schema is the version of the file format written by this build. Files of
// TensorSharp have none and read as 0.
const Schema = 1

// File is a baseline. A File that was parsed also carries what it does not
// understand, and writes it back. The tags of File and its parts are the keys that
// [Marshal] writes, for package schema.
type File struct {
	HostLabel  string    `json:"host_label"`
	CapturedAt time.Time `json:"captured_at"` // UTC, kept to 100 ns as .NET does
	Commit     *string   `json:"commit"`
	Notes      *string   `json:"notes"`
	Schema     int       `json:"schema,omitempty"` // 0 is not written
	// Fingerprint is the machine of all speeds in the file; nil if unknown.
	Fingerprint *bench.Fingerprint `json:"fingerprint,omitempty"`
	// CalibrationMS is how long the machine took for accelgate's own piece of
	// work when the file was captured (see [bench.Calibration]), in milliseconds;
	// 0 if unknown.
	CalibrationMS float64 `json:"calibration_ms,omitempty"`
	Entries       []Entry `json:"entries"`

	extra   []unknown
	extraOf map[string][]unknown // in descriptions of metrics, by name
	machine machine
	source  []byte // what Parse read, for Lint; nil in a File made in memory
}

// unknown is a member that this build does not understand. A map in every
// operator would take 50 times the memory of the file.
type unknown struct {
	key  string
	text json.RawMessage // compact
}

// machine keeps the fingerprint as it was written, so that facts which only a
// newer build writes survive until the fingerprint itself is replaced.
type machine struct {
	text  json.RawMessage
	known bench.Fingerprint
}

// Entry is what the baseline holds on one cell.
type Entry struct {
	CaseID        string `json:"case_id"`
	OK            bool   `json:"ok"`
	CorrectnessOK *bool  `json:"correctness_ok,omitempty"` // nil: correctness was not checked

	// TensorSharp's metrics; nil where the file has none. Where Metrics holds
	// the same name, that median wins. TensorSharp writes 0 for "does not apply".
	PrefillTPS  *float64 `json:"prefill_tps,omitempty"`
	DecodeTPS   *float64 `json:"decode_tps,omitempty"`
	ModelLoadMS *float64 `json:"model_load_ms,omitempty"`

	// Conditions are what was asked of a server, where that can differ: numbers
	// under other ones are not compared with these. Nil where there are none.
	Conditions map[string]string `json:"conditions,omitempty"`

	// Artifacts is the digest of the files that are what was measured, ""
	// where the suite declares none; see [bench.Result].
	Artifacts string `json:"artifacts,omitempty"`

	// Suite distinguishes configurations that share a folder of baselines apart: "" in
	// TensorSharp's files and in those of earlier builds.
	Suite string `json:"suite,omitempty"`

	Metrics   []Metric   `json:"metrics,omitempty"` // sorted by name, written as an object; empty in TensorSharp's files
	Operators []Operator `json:"operators,omitempty"`
	Anchor    *Anchor    `json:"anchor,omitempty"`

	extra []unknown
	line  int // in the parsed file
}

// Metric is one metric of an entry: what it is, which entries share and nothing changes, and what was measured.
type Metric struct {
	*bench.Metric
	bench.Summary

	extra *[]unknown // nil where there is none, nearly always: a file may hold many metrics
}

// others returns the members that this build does not understand.
func (m *Metric) others() []unknown {
	if m.extra == nil {
		return nil
	}
	return *m.extra
}

// place is where to keep such members.
func (m *Metric) place() *[]unknown {
	if m.extra == nil {
		m.extra = new([]unknown)
	}
	return m.extra
}

// Operator is one part of a cell's time.
type Operator struct {
	Name    string  `json:"name"`
	TotalMS float64 `json:"total_ms"`
	Calls   int64   `json:"calls"`

	extra []unknown
}

// Anchor holds the medians an entry was created with. A refresh leaves it
// alone, so that many small losses, each within the limit, still add up; [Pin]
// moves it. An entry without one is its own anchor, as of when the file was captured.
type Anchor struct {
	CapturedAt time.Time `json:"captured_at"`
	Commit     string    `json:"commit"`
	Metrics    Medians   `json:"metrics"`

	extra []unknown
}

// Medians are those of an anchor, sorted by name and written as an object: maps of a few numbers each would be most of the
// memory of a large file.
type Medians []Median

// Median is one of a metric.
type Median struct {
	Name   string
	Median float64
}

// Of returns the median of a metric; ok is false where there is none.
func (ms Medians) Of(name string) (median float64, ok bool) {
	for i := range ms {
		if ms[i].Name == name {
			return ms[i].Median, true
		}
	}
	return 0, false
}

// anchor returns the anchor of the entry; nil for a known failure and where nothing was measured.
func (e *Entry) anchor(f *File) *Anchor {
	measured := e.measured()
	if e.Anchor != nil || !e.OK || len(measured) == 0 {
		return e.Anchor
	}
	return &Anchor{CapturedAt: f.CapturedAt, Commit: f.commit(), Metrics: medians(measured)}
}

// anchoredHere reports whether the anchor need not be written.
func (e *Entry) anchoredHere() bool {
	return e.Anchor == nil || len(e.Anchor.extra) == 0 && slices.Equal(e.Anchor.Metrics, medians(e.measured()))
}

// commit is "" where it is unknown.
func (f *File) commit() string {
	if f.Commit == nil {
		return ""
	}
	return *f.Commit
}

// medians are those of metrics, which are sorted by name.
func medians(metrics []Metric) Medians {
	list := make(Medians, len(metrics))
	for i, m := range metrics {
		list[i] = Median{m.Name, m.Median}
	}
	return list
}

// Metric returns the named metric, or nil.
func (e *Entry) Metric(name string) *Metric {
	for i := range e.Metrics {
		if e.Metrics[i].Name == name {
			return &e.Metrics[i]
		}
	}
	return nil
}

// classic lists the names of TensorSharp's metrics, in its order, and what
// they are.
var classic = [...]bench.Metric{
	{Name: "prefill_tps", Unit: "tok/s", Better: bench.Higher, FallbackFor: "decode_tps"},
	{Name: "decode_tps", Unit: "tok/s", Better: bench.Higher},
	{Name: "model_load_ms", Unit: "ms", Better: bench.Lower, Informational: true},
}

// classicValues returns the places of the classic metrics, in the order of
// classic.
func (e *Entry) classicValues() [len(classic)]**float64 {
	return [...]**float64{&e.PrefillTPS, &e.DecodeTPS, &e.ModelLoadMS}
}

// measured returns the metrics of the entry. Where it has only TensorSharp's,
// those above zero stand in, as single measurements without a unit: the file
// names none, so it cannot contradict how a configuration spells it.
func (e *Entry) measured() []Metric {
	if len(e.Metrics) > 0 {
		return e.Metrics
	}
	var metrics []Metric
	for i, value := range e.classicValues() {
		if v := *value; v != nil && *v > 0 {
			m := classic[i]
			m.Unit = ""
			metrics = append(metrics, Metric{Metric: &m, Summary: bench.Summary{Median: *v, N: 1}})
		}
	}
	slices.SortFunc(metrics, byName)
	return metrics
}

func byName(a, b Metric) int { return strings.Compare(a.Name, b.Name) }

func byCaseID(a, b Entry) int { return strings.Compare(a.CaseID, b.CaseID) }

// Prune returns f without the entries whose case id keep refuses, and the ids
// of those, sorted. f is not modified; the entries are shared.
func Prune(f *File, keep func(caseID string) bool) (kept *File, removed []string) {
	pruned := *f
	pruned.source = nil
	pruned.Entries = nil
	for _, e := range f.Entries {
		if keep(e.CaseID) {
			e.line = 0 // it was of the old file
			pruned.Entries = append(pruned.Entries, e)
		} else {
			removed = append(removed, e.CaseID)
		}
	}
	slices.Sort(removed)
	return &pruned, removed
}

// Path returns where the baseline of the host is kept under dir. The label
// must be one that [bench.CheckLabel] accepts.
func Path(dir, label string) string {
	return filepath.Join(dir, prefix+label+suffix)
}

const prefix, suffix = "baseline-", ".json"

// Label returns the label that the name of a file has; ok is false if it is not
// the name of a baseline.
func Label(name string) (label string, ok bool) {
	label, prefixed := strings.CutPrefix(filepath.Base(name), prefix)
	label, suffixed := strings.CutSuffix(label, suffix)
	return label, prefixed && suffixed && bench.CheckLabel(label) == nil
}
