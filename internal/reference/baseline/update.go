package baseline

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/text"
)

// UpdateOptions say why and when a baseline is refreshed.
type UpdateOptions struct {
	Reason string    // for the notes
	Now    time.Time // becomes captured_at
	// All rewrites numbers that moved within their noise, too. Otherwise they
	// keep what they were, so that a refresh shows what has really changed.
	All bool
	// Small is the change of a metric of a cell with its recorded median, in percent, up to which it keeps what it was, too; nil for none.
	Small func(id, metric string, median float64) float64
}

// ChangeKind describes what a refresh did to a metric of an entry.
type ChangeKind string

// The kinds. Removed is a metric that its cell no longer reports; entries are
// never removed by a refresh.
const (
	Added   ChangeKind = "added"
	Changed ChangeKind = "changed"
	Removed ChangeKind = "removed"
	// Still is a number that moved within its noise, or by too little, and stays as it was.
	Still ChangeKind = "still"
)

// Change is one metric of one entry that a refresh changed.
type Change struct {
	CaseID, Metric, Unit string
	Better               bench.Direction
	Old, New             float64 // medians; Old counts if HasOld, New is 0 if Kind is Removed
	HasOld               bool
	Kind                 ChangeKind
	// Noise is by how much the difference of both medians varies, as three
	// standard errors, in the metric's unit; 0 where a side has fewer than three values.
	Noise float64
	// OldN and NewN are how many values the medians rest on.
	OldN, NewN int
}

// Update merges a run into a baseline, cell by cell, and returns the merged
// file and what changed, sorted by case id and metric. Cells that passed are
// recorded, and as correct where the result holds the output that this was
// judged on; metrics that can be no reference are left out ([bench.Run.NoReference]). Every
// other entry stays exactly as it is, whether its cell failed, is doubtful, was skipped or
// was not part of the run. old is not modified, and nil where there is no baseline yet.
//
// Anchors are kept, as is what [Calibrate] has found. Both are replaced or dropped only where the run comes from a
// machine that the old speeds cannot be compared with. Such a run must have measured every old entry; else the
// rest would pass for speeds of the new machine, and Update refuses.
func Update(old *File, run *bench.Run, opts UpdateOptions) (*File, []Change, error) {
	if old == nil {
		old = &File{}
	}
	u := update{run: run, opts: opts, entries: map[string]Entry{}}
	if err := errors.Join(u.checkHost(old), u.measure()); err != nil {
		return nil, nil, err
	}
	moved, err := u.checkMachine(old)
	if err != nil {
		return nil, nil, err
	}
	if err := u.checkMeaning(old); err != nil {
		return nil, nil, err
	}
	return u.merge(old, moved), u.changes, nil
}

type update struct {
	run     *bench.Run
	opts    UpdateOptions
	entries map[string]Entry // the cells that passed
	changes []Change
}

func (u *update) checkHost(old *File) error {
	label := u.run.Host.Label
	if err := bench.CheckLabel(label); err != nil {
		return err
	}
	if old.HostLabel != "" && old.HostLabel != label {
		return fmt.Errorf(
			"the run is of host %q and the baseline of %s: give the baseline's label with --host-label, correct host_label in the file, or update the other host's file",
			label, quote(old.HostLabel))
	}
	return nil
}

// checkMachine reports whether the run comes from another machine than the old
// entries, which it must then replace to the last one.
func (u *update) checkMachine(old *File) (moved bool, err error) {
	var before bench.Fingerprint
	if old.Fingerprint != nil {
		before = *old.Fingerprint
	}
	same, reason := u.run.Host.Comparable(before)
	if same || len(old.Entries) == 0 {
		return false, nil
	}
	var left []string
	for _, e := range old.Entries {
		if _, ok := u.entries[e.CaseID]; !ok {
			left = append(left, e.CaseID)
		}
	}
	if len(left) == 0 {
		return true, nil
	}
	return true, fmt.Errorf(
		"the speeds in the baseline of %s are of another host (%s) and %d of its %s, such as %s, did not pass in this run: "+
			"run the whole matrix on this host, or remove those entries with accelgate baseline prune", u.run.Host.Label, plain(reason),
		len(left), text.Plural(len(old.Entries), "entry"), quote(slices.Min(left)))
}

// checkMeaning refuses a file in which entries that stay describe a metric
// otherwise than those of the run, for it could not be read again.
func (u *update) checkMeaning(old *File) error {
	now := map[string]*bench.Metric{}
	for _, e := range u.entries {
		for i := range e.Metrics {
			now[e.Metrics[i].Name] = e.Metrics[i].Metric
		}
	}
	for i := range old.Entries {
		e := &old.Entries[i]
		if _, measured := u.entries[e.CaseID]; measured {
			continue
		}
		for j := range e.Metrics {
			if m := now[e.Metrics[j].Name]; m != nil && !sameMeaning(m, e.Metrics[j].Metric) {
				return fmt.Errorf(
					"the run describes metric %s (better, unit, exact, informational, fallback_for, counted_by, min_count) otherwise than entry %s of the baseline, which did not pass in this run: "+
						"run the whole matrix, or remove that entry with accelgate baseline prune", quote(m.Name), quote(e.CaseID))
			}
		}
	}
	return nil
}

// measure makes an entry of every cell that passed.
func (u *update) measure() error {
	described := make(map[string]*bench.Metric, len(u.run.Metrics))
	for _, m := range u.run.Metrics {
		m.Optional, m.Definition = false, ""      // each entry has what it has
		m.Better = cmp.Or(m.Better, bench.Higher) // as its documentation says
		described[m.Name] = &m
	}
	var errs []error
	for i := range u.run.Results {
		r := &u.run.Results[i]
		if r.Outcome != bench.Passed || r.Caveat != "" || u.run.Impossible(r) != "" {
			continue
		}
		id := r.Cell.ID()
		if _, twice := u.entries[id]; twice || id == "" {
			errs = append(errs,
				fmt.Errorf("the run has cell %s twice or without a name: measure again with accelgate baseline update", quote(id)))
			continue
		}
		e, err := u.newEntry(id, r, described)
		errs = append(errs, err)
		u.entries[id] = e
	}
	if len(u.entries) == 0 && len(errs) == 0 {
		return errors.New("no cell of the run passed without a caveat, so there is nothing to record: see why with accelgate run")
	}
	return joinSome(errs)
}

// joinSome joins the first errors, for a run may be wrong 100,000 times.
func joinSome(errs []error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if more := len(errs) - maxProblems; more > 0 {
		errs = append(errs[:maxProblems], fmt.Errorf("and %d more; correct these first", more))
	}
	return errors.Join(errs...)
}

// merge puts the new entries over the old ones.
func (u *update) merge(old *File, moved bool) *File {
	f := *old
	f.HostLabel = u.run.Host.Label
	f.CapturedAt = u.opts.Now.UTC().Truncate(100)
	f.Commit = u.commit()
	f.Notes = new(notes(u.run.Tool, u.opts.Reason))
	f.Schema = Schema
	machine := clone(u.run.Host.Fingerprint)
	f.Fingerprint = &machine
	f.CalibrationMS = u.calibration(old, moved)
	f.source = nil
	f.Entries = make([]Entry, 0, len(old.Entries)+len(u.entries))
	metrics := 0
	for _, e := range u.entries {
		metrics += len(e.Metrics)
	}
	u.changes = make([]Change, 0, metrics)
	for _, before := range old.Entries {
		e, measured := u.entries[before.CaseID]
		if !measured {
			before.line = 0 // it was of the old file
			f.Entries = append(f.Entries, before)
			continue
		}
		delete(u.entries, before.CaseID)
		if !moved && e.lookedAtOnly(&before) {
			before.line = 0
			f.Entries = append(f.Entries, before)
			continue
		}
		e.keepFrom(&before)
		if !moved {
			e.keepNoise(&before)
			e.Anchor = before.anchor(old)
			e = u.settle(e, before)
		}
		f.Entries = append(f.Entries, u.record(e, before.measured()))
	}
	for _, e := range u.entries {
		f.Entries = append(f.Entries, u.record(e, nil))
	}
	slices.SortFunc(f.Entries, byCaseID)
	slices.SortFunc(u.changes, func(a, b Change) int {
		if c := strings.Compare(a.CaseID, b.CaseID); c != 0 {
			return c
		}
		return strings.Compare(a.Metric, b.Metric)
	})
	return &f
}

// keepFrom takes over what this build did not understand.
func (e *Entry) keepFrom(before *Entry) {
	e.extra = before.extra
	for i := range e.Metrics {
		if m := before.Metric(e.Metrics[i].Name); m != nil {
			e.Metrics[i].extra = m.extra
		}
	}
}

// lookedAtOnly reports whether the entry is of the same artifacts as the one
// before and rests on fewer values: it was measured for its answer.
func (e *Entry) lookedAtOnly(before *Entry) bool {
	if e.Artifacts == "" || e.Artifacts != before.Artifacts || !before.OK || len(e.Metrics) != len(before.Metrics) {
		return false
	}
	for i := range e.Metrics {
		if m := before.Metric(e.Metrics[i].Name); m == nil || m.N < e.Metrics[i].N || !sameMeaning(m.Metric, e.Metrics[i].Metric) {
			return false
		}
	}
	return slices.ContainsFunc(e.Metrics, func(m Metric) bool { return m.N < before.Metric(m.Name).N })
}

// keepNoise takes over what calibrating has shown: a run does not.
func (e *Entry) keepNoise(before *Entry) {
	for i := range e.Metrics {
		if m := before.Metric(e.Metrics[i].Name); m != nil && sameMeaning(m.Metric, e.Metrics[i].Metric) {
			e.Metrics[i].Noise, e.Metrics[i].MDE = m.Noise, m.MDE
		}
	}
}

// calibration is how long the machine took for accelgate's own piece of work.
func (u *update) calibration(old *File, moved bool) float64 {
	switch c := u.run.Calibration; {
	case c != nil && len(c.Before) > 0:
		return short(stats.Median(c.Before))
	case moved:
		return 0
	}
	return old.CalibrationMS
}

// settle gives metrics that moved within their noise their old numbers, unless
// all are wanted. An entry in which nothing else differs stays as it is.
func (u *update) settle(e, before Entry) Entry {
	if u.opts.All {
		return e
	}
	e.Metrics = slices.Clone(e.Metrics)
	still := 0
	for i := range e.Metrics {
		m, old := &e.Metrics[i], before.Metric(e.Metrics[i].Name)
		if old == nil || !m.still(old) && !u.small(e.CaseID, m, old) {
			continue
		}
		if m.Median != old.Median {
			u.changes = append(u.changes, change(e.CaseID, m, old, Still))
		}
		*m, still = *old, still+1
	}
	same := e.CorrectnessOK == before.CorrectnessOK ||
		e.CorrectnessOK != nil && before.CorrectnessOK != nil && *e.CorrectnessOK == *before.CorrectnessOK
	if still > 0 && still == len(e.Metrics) && len(before.Metrics) == still && before.OK && same && e.Artifacts == before.Artifacts &&
		e.Suite == before.Suite &&
		maps.Equal(e.Conditions, before.Conditions) {
		before.line = 0
		return before
	}
	return e
}

// small reports whether a number moved by too little to be rewritten.
func (u *update) small(id string, m, old *Metric) bool {
	if u.opts.Small == nil || m.Exact || old.Exact || !sameMeaning(m.Metric, old.Metric) || !sameUnit(m.Unit, old.Unit) {
		return false
	}
	return math.Abs(m.Median-old.Median) <= math.Abs(old.Median)*u.opts.Small(id, m.Name, old.Median)/100
}

// still reports whether a number moved within its noise.
func (m *Metric) still(old *Metric) bool {
	moved := math.Abs(m.Median - old.Median)
	switch {
	case !sameMeaning(m.Metric, old.Metric) || !sameUnit(m.Unit, old.Unit):
		return false
	case m.Exact || old.Exact || m.N < minForNoise || old.N < minForNoise:
		return false
	}
	return moved <= max(noise(m.Summary, old.Summary), m.Resolution)
}

// minForNoise is how many values an estimate of their noise takes.
const minForNoise = 3

// noise is three standard errors of the difference of two medians. The error of
// a median of n normal values is 1.2533 times that of their mean, and their
// standard deviation 1.4826 times the median absolute deviation.
func noise(a, b bench.Summary) float64 {
	if a.N < minForNoise || b.N < minForNoise {
		return 0
	}
	return 3 * 1.2533 * 1.4826 * math.Sqrt(a.MAD*a.MAD/float64(a.N)+b.MAD*b.MAD/float64(b.N))
}

func change(id string, m, old *Metric, kind ChangeKind) Change {
	c := Change{CaseID: id, Metric: m.Name, Unit: m.Unit, Better: m.Better, New: m.Median, NewN: m.N, Kind: kind}
	if old != nil {
		c.Old, c.HasOld, c.OldN, c.Noise = old.Median, true, old.N, noise(m.Summary, old.Summary)
	}
	return c
}

// record notes the changes and returns the entry.
func (u *update) record(e Entry, before []Metric) Entry {
	for _, m := range e.Metrics {
		c := change(e.CaseID, &m, nil, Added)
		if i := slices.IndexFunc(before, func(b Metric) bool { return b.Name == m.Name }); i >= 0 {
			c = change(e.CaseID, &m, &before[i], Changed)
			if c.Old == c.New && sameUnit(before[i].Unit, m.Unit) && before[i].Better == m.Better {
				continue
			}
		}
		u.changes = append(u.changes, c)
	}
	for _, b := range before {
		if e.Metric(b.Name) == nil {
			u.changes = append(u.changes,
				Change{CaseID: e.CaseID, Metric: b.Name, Unit: b.Unit, Better: b.Better, Old: b.Median, HasOld: true, Kind: Removed})
		}
	}
	return e
}

func (u *update) commit() *string {
	if u.run.Revision == "" {
		return nil
	}
	return new(u.run.Revision)
}
