package report

import (
	"cmp"
	"slices"

	"github.com/accelgate/accelgate/internal/gate"
)

// How many rows a report can show. The rest is counted, and is in the JSON.
const (
	maxAction = 10  // rows that need action, of each class
	maxFolded = 100 // rows of each folded section
	maxHosts  = 30
)

// Finding is a verdict that needs action, in plain words: single lines without
// control characters, and not escaped for any markup.
type Finding struct {
	Host, Cell, Metric string // no Cell: the host as a whole
	Suite              string // of the cell; "" where the run does not have it
	Line               int    // of the configuration, where the suite begins; 1 if that is unknown
	Class              gate.Class
	Level              gate.Level
	Verdicts           int    // that block and that the finding stands for
	Message            string // "slower: 95.3 → 80.1 tok/s, -15.9 % (worse), limit 10 %"
}

// Findings returns the rows that need action, at most 15, for instance to annotate a
// workflow run: the six worst, the causes that cells share, and the others.
func (r Report) Findings() []Finding {
	const most, first, shared = 15, 6, 3
	single, causes := r.shown.action.single(maxAction), r.shown.action.shared
	first0 := min(first, len(single))
	rows := slices.Concat(single[:first0], causes[:min(shared, len(causes))], single[first0:])
	findings := make([]Finding, 0, most)
	for _, f := range rows[:min(most, len(rows))] {
		findings = append(findings, r.finding(f, r.suiteOf(f)))
	}
	return findings
}

func (r *Report) finding(f finding, suite string) Finding {
	return Finding{Host: name(r.hosts[f.host].Run.Host.Label), Cell: name(f.Cell), Metric: name(f.Metric), Suite: suite, Line: max(r.in.Lines[suite], 1),
		Class: f.Class, Level: f.Level, Verdicts: f.verdicts(), Message: r.message(f)}
}

func (f finding) verdicts() int {
	switch {
	case f.alike != nil:
		return f.alike.Blocking
	case f.cause != nil:
		return f.cause.n
	}
	return 1
}

func (r *Report) suiteOf(f finding) string {
	if f.Budget > 0 {
		return r.hosts[f.host].Comparison.Budgets[f.Budget-1].Suite
	}
	if res := r.hosts[f.host].results[f.Cell]; res != nil {
		return res.Cell.Suite
	}
	return ""
}

func (r *Report) message(f finding) string {
	if f.alike != nil {
		size, more := r.changed(f)
		return f.word() + ": " + f.cell().String() + ", " + size + more + ", limit " + bare(f.Evidence.Limit) + "; " + shorten(visible(f.alike.Reason), maxReason)
	}
	if f.cause != nil {
		return f.sharedCause().String()
	}
	why := shorten(visible(f.because()), maxReason)
	if f.Class != gate.Regressed && !f.hasChange() {
		return f.word() + ": " + why
	}
	s := f.word() + ": " + r.change(f).String()
	if most := r.contributor(f); most != nil {
		s += "; " + most.String()
	}
	if why != "" {
		s += "; " + why
	}
	return s
}

// change is "95.3 → 80.1 tok/s, -15.9 % (worse), limit 10 %".
func (r *Report) change(f finding) inline {
	size, more := r.changed(f)
	limit := "limit " + bare(f.Evidence.Limit)
	if f.Evidence.Test != "" {
		limit = f.Evidence.Test + " test"
	}
	return append(r.values(f), plain(", "+size+more+", "+limit))
}

// hasChange reports a finding that only case files give, and whose change does
// not say by itself what is wrong.
func (f finding) hasChange() bool {
	return ofSpeed(f.Verdict) && (f.Class == gate.Drifted || f.Class == gate.Improved && f.Level == gate.Fail)
}

// finding is a verdict with the index of its host.
type finding struct {
	host int
	*gate.Verdict
	alike *gate.Alike // that the verdict stands for; nil if it stands for itself
	cause *cause      // likewise
	line  string      // of the log of a cell that failed to run; see because
}

// list keeps the first limit findings in an order, and counts all.
type list struct {
	limit int
	order func(a, b finding) int // nil keeps the order of the run
	rows  []finding
	total int
}

func (l *list) add(f finding) {
	l.total++
	if l.order == nil {
		if len(l.rows) < l.limit {
			l.rows = append(l.rows, f)
		}
		return
	}
	if len(l.rows) == l.limit {
		if l.order(f, l.rows[l.limit-1]) >= 0 {
			return
		}
		l.rows = l.rows[:l.limit-1]
	}
	at, _ := slices.BinarySearchFunc(l.rows, f, l.order)
	l.rows = slices.Insert(l.rows, at, f)
}

// selection is what a report shows one by one.
type selection struct {
	action    actions // blocks
	judged    list
	speeds    list // judged, and not decided
	better    list // improved and fixed
	advisory  list // would block, but for the levels of the configuration
	traded    list // slower, and paid for by a gain
	waived    list // slower, and accepted for a while
	untracked list
	unjudged  list // measured, but the baseline cannot judge it
	known     list // failures that the baseline records, doubtful numbers, and what case files only warn of
	skipped   groups
	leftOut   groups
}

func newSelection() selection {
	return selection{
		action:    newActions(),
		judged:    list{limit: maxFolded, order: byLoss},
		speeds:    list{limit: maxFolded, order: byLoss},
		better:    list{limit: maxFolded, order: byGain},
		advisory:  list{limit: maxFolded, order: bySeverity},
		traded:    list{limit: maxFolded, order: byLoss},
		waived:    list{limit: maxFolded, order: byLoss},
		untracked: list{limit: maxFolded},
		unjudged:  list{limit: maxFolded},
		known:     list{limit: maxFolded, order: bySeverity},
	}
}

func (s *selection) scan(host int, h *host) {
	c := &h.Comparison
	for i := range c.Verdicts {
		f := finding{host: host, Verdict: &c.Verdicts[i], line: h.crashLine(&c.Verdicts[i])}
		if ofSpeed(f.Verdict) && f.Class != gate.Inconclusive && f.Budget == 0 {
			s.judged.add(f)
		}
		if ofSpeed(f.Verdict) && f.Cell != "" && (f.Class != gate.Inconclusive || f.Alike == 0 && !f.Unhealthy) { // these have a line of their own
			s.speeds.add(f)
		}
		if f.Class == gate.LeftOut {
			s.leftOut.add(f)
		}
		switch l := s.pick(f); {
		case f.Class == gate.Skipped && f.Level != gate.Fail:
			s.skipped.add(f)
		case f.Level == gate.Fail && f.standsFor(c):
			s.action.add(f)
		case l != nil && f.standsFor(c):
			l.add(f)
		}
	}
}

// standsFor reports whether the verdict has a row: of those that are part of one
// finding, one has. It notes for which.
func (f *finding) standsFor(c *gate.Comparison) bool {
	if f.Alike == 0 {
		return true
	}
	f.alike = &c.Alike[f.Alike-1]
	return f.alike.Cell == f.Cell
}

// pick returns the list that shows f, or nil where it is counted only.
func (s *selection) pick(f finding) *list {
	switch {
	case f.Class == gate.LeftOut && f.Level != gate.Fail, f.Class == gate.Mismatch && f.Level != gate.Fail, f.Unhealthy && f.Level != gate.Fail:
		return nil // told in a paragraph
	case f.Budget > 0 && !f.Advisory:
		return nil // told in a table of their own
	case f.Level == gate.Fail:
		return nil // told among what needs action
	case f.Advisory:
		return &s.advisory
	case f.Class == gate.Improved || f.Class == gate.Fixed:
		return &s.better
	case f.Class == gate.Traded:
		return &s.traded
	case f.Class == gate.Waived:
		return &s.waived
	case f.Class == gate.Untracked:
		return &s.untracked
	case f.Class == gate.Inconclusive && f.Level == gate.Off:
		return &s.unjudged
	case f.Level == gate.Warn:
		return &s.known
	}
	return nil
}

// bySeverity puts wrong answers first, and the largest regressions first among
// those.
func bySeverity(a, b finding) int {
	if c := cmp.Compare(rank(classOf(a.Verdict)), rank(classOf(b.Verdict))); c != 0 {
		return c
	}
	switch a.Class {
	case gate.Regressed, gate.Drifted:
		return byLoss(a, b)
	case gate.Improved:
		return byGain(a, b)
	}
	return byName(a, b)
}

func byLoss(a, b finding) int { return cmp.Or(cmp.Compare(a.Delta, b.Delta), byName(a, b)) }
func byGain(a, b finding) int { return cmp.Or(cmp.Compare(b.Delta, a.Delta), byName(a, b)) }

func byName(a, b finding) int {
	return cmp.Or(cmp.Compare(a.Cell, b.Cell), cmp.Compare(a.Metric, b.Metric), cmp.Compare(a.host, b.host))
}
