package baseline

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// maxDrift is how much worse than its anchor a median may be, in percent,
// before it is worth a look. It is what the gate allows by default.
const maxDrift = 10.0

// crept returns the change of a gated metric since it was anchored, negative
// for the worse, and whether it is far for the worse.
func (e *Entry) crept(m *Metric) (change float64, far bool) {
	if e.Anchor == nil || m.Exact || m.Informational || m.Median <= 0 {
		return 0, false
	}
	if instead := e.Metric(m.FallbackFor); instead != nil && instead.Median > 0 {
		return 0, false
	}
	first, known := e.Anchor.Metrics.Of(m.Name)
	if !known || first <= 0 {
		return 0, false
	}
	change, _ = m.Better.Gain(first, m.Median)
	return change, change < -maxDrift
}

// Pin moves the anchors of the entries that only accepts to their present
// medians, as of when the file was captured, and returns the file and what
// changed: each Change is from the old anchor to the new one. The reason replaces
// the notes. Known failures have no anchor. old is not modified, and returned
// itself where nothing changes.
func Pin(old *File, only func(caseID string) bool, tool, reason string) (*File, []Change) {
	f := *old
	f.source, f.Entries = nil, make([]Entry, len(old.Entries))
	var changes []Change
	for i, e := range old.Entries {
		e.line = 0 // it was of the old file
		if e.OK && only(e.CaseID) {
			changes = append(changes, e.pin(&f)...)
		}
		f.Entries[i] = e
	}
	if len(changes) == 0 {
		return old, nil
	}
	f.Notes = new(notes(tool, reason))
	return &f, changes
}

// pin moves the anchor of an entry, unless it has every median already.
func (e *Entry) pin(f *File) (changes []Change) {
	measured := e.measured()
	a, before := &Anchor{CapturedAt: f.CapturedAt, Commit: f.commit(), Metrics: medians(measured)}, e.anchor(f)
	if before == nil {
		return nil
	}
	a.extra = before.extra
	for _, m := range measured {
		if first, known := before.Metrics.Of(m.Name); !known || first != m.Median {
			changes = append(changes, Change{
				CaseID: e.CaseID,
				Metric: m.Name,
				Unit:   m.Unit,
				Better: m.Better,
				Old:    first,
				HasOld: known,
				New:    m.Median,
				Kind:   Changed,
			})
		}
	}
	if !slices.Equal(before.Metrics, a.Metrics) && len(a.Metrics) > 0 {
		e.Anchor = a
	}
	return changes
}

func day(t time.Time) string {
	if t.IsZero() {
		return "an unknown day"
	}
	return t.Format(time.DateOnly)
}

// notes names the tool behind the reason.
func notes(tool, reason string) string {
	tool = cmp.Or(tool, "accelgate")
	if strings.TrimSpace(reason) == "" {
		return "captured by " + tool
	}
	return reason + " (" + tool + ")"
}
