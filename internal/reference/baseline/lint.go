package baseline

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
)

// Severity describes how much a problem matters.
type Severity string

// The severities.
const (
	SeverityError   Severity = "error"   // the gate would judge wrongly, or not at all
	SeverityWarning Severity = "warning" // worth a look
)

// Problem is a fault that [Parse] accepts and that should not be committed.
type Problem struct {
	Line     int      `json:"line,omitempty"` // 0 where it concerns the file, or was not parsed
	CaseID   string   `json:"cell,omitempty"` // "" where it concerns the file
	Severity Severity `json:"severity"`
	Message  string   `json:"message"` // ends in what to do; quotes names of the file
}

// Format returns the problem on one line that editors understand, after the
// path it was linted under:
//
//	baseline-h.json:12: error: "tiny__cpu__tg128": "tps": n is 0, ...: measure ...
//
// Nothing that stands in the file is printed as it is: a terminal and the
// runner of GitHub Actions find nothing to obey.
func (p Problem) Format(path string) string {
	var b strings.Builder
	b.WriteString(plain(path))
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
	}
	fmt.Fprintf(&b, ": %s: ", p.Severity)
	if p.CaseID != "" {
		b.WriteString(quote(p.CaseID) + ": ")
	}
	b.WriteString(p.Message)
	return b.String()
}

// maxDays is how long a baseline counts as fresh where the configuration does not say it.
const maxDays = 90

// Lint reports what is wrong with a file that was loaded from path, by line. It is old after so many days;
// 0 is 90.
func Lint(path string, f *File, now time.Time, days int) []Problem {
	l := linter{metrics: map[string]bench.Metric{}, days: cmp.Or(days, maxDays)}
	l.host(path, f)
	l.age(f, now)
	for i := range f.Entries {
		l.line, l.caseID = f.Entries[i].line, f.Entries[i].CaseID
		l.entry(&f.Entries[i])
	}
	l.format(f)
	slices.SortStableFunc(l.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), strings.Compare(a.CaseID, b.CaseID))
	})
	return l.problems
}

type linter struct {
	line     int
	caseID   string
	days     int
	metrics  map[string]bench.Metric // as the first entry describes them
	problems []Problem
}

func (l *linter) errorf(format string, args ...any) {
	l.problems = append(l.problems, Problem{l.line, l.caseID, SeverityError, fmt.Sprintf(format, args...)})
}

func (l *linter) warnf(format string, args ...any) {
	l.problems = append(l.problems, Problem{l.line, l.caseID, SeverityWarning, fmt.Sprintf(format, args...)})
}

func (l *linter) host(path string, f *File) {
	if err := bench.CheckLabel(f.HostLabel); err != nil {
		l.errorf("%v", err)
	} else if want, got := filepath.Base(Path("", f.HostLabel)), filepath.Base(path); got != want {
		l.errorf("host_label is %s but the file is named %s: rename it to %s, or correct host_label", quote(f.HostLabel), quote(got), want)
	}
	if f.Fingerprint == nil {
		l.errorf("there is no fingerprint, so no speed can be judged: measure every cell with accelgate baseline update")
	}
}

func (l *linter) age(f *File, now time.Time) {
	const day = 24 * time.Hour
	switch age := now.Sub(f.CapturedAt); {
	case f.CapturedAt.IsZero():
		l.warnf("captured_at is missing: accelgate baseline update sets it")
	case age < 0:
		l.warnf("captured_at is in the future: correct the clock of the host and run accelgate baseline update")
	case age > time.Duration(l.days)*day:
		l.warnf("captured %d days ago: refresh it with accelgate baseline update", age/day)
	}
}

func (l *linter) entry(e *Entry) {
	switch {
	case !e.OK:
		l.warnf("ok is false, so this cell is not judged: repair it and run accelgate baseline update, or prune it")
	case e.CorrectnessOK == nil && len(e.measured()) == 0:
		l.warnf("neither correctness nor a metric is recorded: measure the cell again with accelgate baseline update, or prune it")
	}
	for i := range e.Metrics {
		l.metric(&e.Metrics[i])
		l.drift(e, &e.Metrics[i])
	}
	if len(e.Metrics) > 0 {
		l.classic(e)
	}
}

func (l *linter) metric(m *Metric) {
	const again = "measure the cell again with accelgate baseline update"
	name := quote(m.Name)
	if m.Better == "" {
		l.errorf("%s: better is missing: write \"higher\" or \"lower\"", name)
	}
	if m.N == 0 {
		l.errorf("%s: n is 0, so nothing was measured: %s", name, again)
	}
	if m.Median <= 0 && !m.Exact && !m.Informational {
		l.errorf("%s: the median is %v, and no change from there can be judged: %s", name, m.Median, again)
	} else if m.MAD > math.Abs(m.Median) && !m.Exact {
		l.warnf("%s: the spread (mad %v) is larger than the median %v: %s", name, m.MAD, m.Median, again)
	}
	before, known := l.metrics[m.Name]
	now := *m.Metric
	now.Resolution = before.Resolution
	switch {
	case !known:
		l.metrics[m.Name] = *m.Metric
	case before != now:
		l.errorf(
			"%s: unit, better, exact, informational, fallback_for, counted_by or min_count differ from the entries before: make them equal",
			name)
	case before.Resolution != m.Resolution:
		l.warnf(
			"%s: resolution is %v here and %v before, and the coarser one counts for all: measure every cell again with accelgate baseline update",
			name, m.Resolution, before.Resolution)
	}
}

// drift finds what many refreshes, each within the limit, have added up to.
func (l *linter) drift(e *Entry, m *Metric) {
	if change, far := e.crept(m); far {
		first, _ := e.Anchor.Metrics.Of(m.Name)
		l.warnf(
			"%s has crept from %v to %v (%+.1f %%, worse) since %s: look for the cause with accelgate history, or accept it with accelgate baseline anchor",
			quote(m.Name), first, m.Median, m.Better.Change(change), day(e.Anchor.CapturedAt))
	}
}

// classic finds where TensorSharp would judge by other numbers than accelgate.
func (l *linter) classic(e *Entry) {
	for i, value := range e.classicValues() {
		name, m := classic[i].Name, e.Metric(classic[i].Name)
		switch {
		case *value == nil && m == nil:
		case *value == nil:
			l.errorf("%q is %v in metrics and missing in the entry itself: write it there too", name, m.Median)
		case m == nil && **value > 0:
			l.errorf("%q is %v in the entry itself and missing in metrics: delete it, or measure the cell again", name, **value)
		case m != nil && **value != m.Median:
			l.errorf("%q is %v in the entry itself and %v in metrics: measure the cell again with accelgate baseline update", name, **value,
				m.Median)
		}
	}
}

// format compares what was read with what would be written.
func (l *linter) format(f *File) {
	const rewrite = "accelgate baseline update writes the file anew"
	if f.source == nil {
		return
	}
	for i := 1; i < len(f.Entries); i++ {
		if e := &f.Entries[i]; e.CaseID < f.Entries[i-1].CaseID {
			l.line, l.caseID = e.line, e.CaseID
			l.warnf("entries are not sorted by case_id from here on: %s", rewrite)
			return
		}
	}
	written, err := encode(f)
	if err != nil || bytes.Equal(written, f.source) {
		return
	}
	l.line, l.caseID = 0, ""
	if bytes.Equal(written, append(slices.Clip(f.source), '\n')) {
		l.warnf("there is no newline at the end of the file: %s", rewrite)
		return
	}
	same := 0
	for same < min(len(written), len(f.source)) && written[same] == f.source[same] {
		same++
	}
	l.line = 1 + bytes.Count(f.source[:same], []byte("\n"))
	l.warnf("not in the form that accelgate writes, from this line on: %s", rewrite)
}
