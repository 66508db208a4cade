package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/gate"
)

// How many rows a report can show. The rest is counted, and is in the JSON.
const (
	maxAction = 10  // rows that need action, of each class
	maxFolded = 100 // rows of each folded section
	maxHosts  = 30
)

// Finding is a verdict in plain words: single lines without
// control characters, and not escaped for any markup.
type Finding struct {
	Host, Cell, Metric string // no Cell: the host as a whole
	Suite              string // of the cell; "" where the run does not have it
	Line               int    // of the configuration, where the suite begins; 1 if that is unknown
	Finding            gate.Finding
	Blocks             bool
	Listed             bool   // it is not unchanged; see [gate.Verdict.Listed]
	LeftOut            bool   // a limit kept it from being measured
	Excuse             string // why it does not block although it would; "" for none
	Verdicts           int    // that block and that the finding stands for
	Message            string // "slower: 95.3 → 80.1 tok/s, -15.9 % (worse), limit 10 %"

	standing int
}

// Severity is what a format that has three levels makes of a finding.
type Severity string

// The severities, by GitHub's words.
const (
	Error   Severity = "error"   // blocks
	Warning Severity = "warning" // undecided or excused
	Notice  Severity = "notice"
)

// Severity returns the severity of the finding.
func (f Finding) Severity() Severity {
	switch f.standing {
	case 0:
		return Error
	case 3:
		return Notice
	}
	return Warning
}

// Severity returns the severity of the decision.
func (r Report) Severity() Severity {
	switch d := r.in.Decision; {
	case d.Code() != 0:
		return Error
	case d.Status == gate.StatusPassed:
		return Notice
	}
	return Warning
}

// WorstFirst is the order of [gate.Worse].
func WorstFirst(a, b Finding) int {
	return cmp.Or(a.standing-b.standing, a.Finding.Rank()-b.Finding.Rank())
}

// Findings returns what is not unchanged, the worst first, for instance to annotate a workflow
// run: at most 15 rows that block, which are the six worst, the causes that cells share, and
// the others; then at most so many that are undecided or excused, and so many others.
func (r Report) Findings(maximum int) []Finding {
	const blocking, first, shared = 15, 6, 3
	single, causes := r.shown.action.single(maxAction), r.shown.action.shared
	first0 := min(first, len(single))
	rows := slices.Concat(single[:first0], causes[:min(shared, len(causes))], single[first0:])
	rows = rows[:min(blocking, len(rows))]
	reserved := slices.Concat(r.shown.undecided.rows, r.shown.excused.rows)
	others := slices.Concat(r.shown.skips.rows, r.shown.untracked.rows, r.shown.unjudged.rows, r.shown.better.rows)
	rows = slices.Concat(rows, reserved[:min(maximum, len(reserved))], others[:min(maximum, len(others))])
	findings := make([]Finding, 0, len(rows))
	for _, f := range rows {
		findings = append(findings, r.finding(f, r.suiteOf(f)))
	}
	return findings
}

func (r *Report) finding(f finding, suite string) Finding {
	return Finding{
		Host:     name(r.hosts[f.host].Run.Host.Label),
		Cell:     name(f.Cell),
		Metric:   name(f.Metric),
		Suite:    suite,
		Line:     max(r.in.Lines[suite], 1),
		Finding:  f.Finding,
		Blocks:   f.Blocks,
		Listed:   f.Listed(),
		LeftOut:  f.LeftOut(),
		standing: f.Standing(),
		Excuse:   excuseOf(f.Verdict).String(),
		Verdicts: f.verdicts(),
		Message:  r.message(f),
	}
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
		return f.word() + ": " + f.cell().
			String() +
			", " + size + more + ", limit " + bare(f.Evidence.Limit) + "; " + shorten(visible(f.alike.Reason), maxReason)
	}
	if f.cause != nil {
		return f.sharedCause().String()
	}
	why := shorten(visible(f.because()), maxReason)
	if f.Health != "" && !strings.Contains(f.Reason, f.Health) {
		why = joined(why, shorten(visible(f.Health), maxReason))
	}
	if excuse := excuseOf(f.Verdict).String(); excuse != "" {
		why = joined(why, excuse)
	}
	if !ofSpeed(f.Verdict) {
		return strings.TrimSuffix(f.word()+": "+why, ": ")
	}
	s := f.word() + ": " + r.change(f).String()
	if f.Undecided() && f.Excuse == nil {
		s += "; decided by " + deciders[f.DecidedBy]
	}
	if maximum := r.contributor(f); maximum != nil {
		s += "; " + maximum.String()
	}
	if why != "" {
		s += "; " + why
	}
	return s
}

// change is "95.3 → 80.1 tok/s, -15.9 % (worse), limit 10 %".
func (r *Report) change(f finding) inline {
	size, more := r.changed(f)
	limit := ", limit " + bare(f.Evidence.Limit)
	switch {
	case f.Evidence.Test != "":
		limit = ", " + f.Evidence.Test + " test"
	case fromZero(f.Verdict):
		limit = ""
	}
	return append(r.values(f), plain(", "+size+more+limit))
}

// hasChange reports whether the change of a finding does not show by itself what is wrong.
func (f finding) hasChange() bool {
	return ofSpeed(f.Verdict) && (f.Finding == gate.Drifted || f.Finding == gate.Unrecorded)
}

// excuseOf writes "waiver of waivers.yml:3, by octocat, until 2026-03-31: why"; nil without an excuse.
func excuseOf(v *gate.Verdict) inline {
	e := v.Excuse
	if e == nil {
		return nil
	}
	line := inline{plain(excuseNames[e.Kind] + " "), reason(cmp.Or(e.Source, "an unknown source"))}
	if t := e.Trade; t != nil {
		line = append(line, plain(": "), code(t.For), plain(fmt.Sprintf(" gained %.1f %%, for a loss of up to %s",
			finite(t.Gained), bare(finite(t.Loss)))))
	}
	if e.By != "" {
		line = append(line, plain(", by "), reason(e.By))
	}
	if e.Issue != "" {
		line = append(line, plain(", "), reason(e.Issue))
	}
	if e.Until != 0 {
		line = append(line, plain(", until "+e.Until.String()))
	}
	if e.Why != "" {
		line = append(line, plain(": "), reason(e.Why))
	}
	return line
}

// excuseNames name the source of an excuse.
var excuseNames = map[gate.ExcuseKind]string{
	gate.WaivedExcuse:  "waiver",
	gate.TradeExcuse:   "trade",
	gate.Quarantined:   "quarantine",
	gate.AdvisoryLevel: "advisory by",
	gate.KnownFailure:  "recorded in",
	gate.LeftOut:       "left out by",
	gate.RuleExcuse:    "by",
}

// finding is a verdict with the index of its host.
type finding struct {
	host int
	*gate.Verdict
	alike *gate.SharedLoss // that the verdict stands for; nil if it stands for itself
	cause *cause           // likewise
	line  string           // of the log of a cell that failed to run; see because
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

// selection is what a report shows one by one. Each verdict that is not unchanged is in one of
// the lists, and each speed is in speeds as well.
type selection struct {
	action    actions // blocks
	undecided list
	excused   list
	speeds    list
	better    list // improved and fixed
	untracked list
	unjudged  list // measured, but no reference of this host judges it
	skips     list
	skipped   groups
	leftOut   groups
}

func newSelection() selection {
	return selection{
		action:    newActions(),
		undecided: list{limit: maxFolded, order: bySeverity},
		excused:   list{limit: maxFolded, order: bySeverity},
		speeds:    list{limit: maxFolded, order: byLoss},
		better:    list{limit: maxFolded, order: bySeverity},
		untracked: list{limit: maxFolded},
		unjudged:  list{limit: maxFolded},
		skips:     list{limit: maxFolded},
	}
}

func (s *selection) scan(host int, h *host) {
	c := &h.Comparison
	for i := range c.Verdicts {
		f := finding{host: host, Verdict: &c.Verdicts[i], line: h.crashLine(&c.Verdicts[i])}
		if ofSpeed(f.Verdict) && f.Cell != "" {
			s.speeds.add(f)
		}
		if f.LeftOut() {
			s.leftOut.add(f)
		} else if f.Finding == gate.Skipped {
			s.skipped.add(f)
		}
		switch l := s.pick(f); {
		case f.Finding == gate.Skipped:
			s.skips.add(f)
		case f.Blocks && f.standsFor(c):
			s.action.add(f)
		case l != nil && f.standsFor(c):
			l.add(f)
		}
	}
}

// standsFor reports whether the verdict has a row: of those that are part of one
// finding, one has. It notes for which.
func (f *finding) standsFor(c *gate.Comparison) bool {
	if f.SharedLoss == 0 {
		return true
	}
	f.alike = &c.SharedLosses[f.SharedLoss-1]
	return f.alike.Cell == f.Cell
}

// pick returns the list that shows a verdict that does not block; nil where it is unchanged.
func (s *selection) pick(f finding) *list {
	switch {
	case f.Excuse != nil:
		return &s.excused
	case f.Undecided():
		return &s.undecided
	case f.Finding == gate.Improved || f.Finding == gate.Fixed:
		return &s.better
	case f.Finding == gate.Untracked && notJudged(f.Verdict):
		return &s.unjudged
	case f.Finding == gate.Untracked:
		return &s.untracked
	}
	return nil
}

// bySeverity is the order of [gate.Worse], with the largest losses first among
// those.
func bySeverity(a, b finding) int {
	if by := cmp.Or(gate.Worse(a.Verdict, b.Verdict), cmp.Compare(labelOf(a.Verdict), labelOf(b.Verdict))); by != 0 {
		return by
	}
	switch a.Finding {
	case gate.Regressed, gate.Drifted, gate.Unchanged:
		return byLoss(a, b)
	case gate.Improved, gate.Unrecorded:
		return byGain(a, b)
	}
	return byName(a, b)
}

func byLoss(a, b finding) int { return cmp.Or(cmp.Compare(a.Delta, b.Delta), byName(a, b)) }
func byGain(a, b finding) int { return cmp.Or(cmp.Compare(b.Delta, a.Delta), byName(a, b)) }

func byName(a, b finding) int {
	return cmp.Or(cmp.Compare(a.Cell, b.Cell), cmp.Compare(a.Metric, b.Metric), cmp.Compare(a.host, b.host))
}
