package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/text"
)

// Title is the verdict in one sentence: plain printable text, not escaped for
// any markup.
func (r Report) Title() string {
	st, sentence := r.verdict()
	return st.headline(sentence).String()
}

// verdict is the decision in a sentence, with what was to be measured in pairs and was not:
// where nothing blocks that comes first.
func (r *Report) verdict() (status, inline) {
	st, sentence := r.decided()
	for i := range r.hosts {
		lost := r.hosts[i].Run.Context[bench.Unpaired]
		switch {
		case lost == "":
		case st == failed:
			sentence = append(sentence, plain("; "), reason(lost))
		default:
			sentence = append(inline{reason(lost), plain("; ")}, sentence...)
		}
	}
	return st, sentence
}

func (r *Report) decided() (status, inline) {
	switch d := r.in.Decision; {
	case d.Status == gate.StatusFailed:
		return failed, r.failures()
	case d.Status == gate.StatusNoEvidence:
		return noEvidence, r.nothing()
	case d.Status == gate.StatusActionRequired && d.Unapproved:
		return actionRequired, r.reservedly(inline{plain("this pull request changes what is checked; " + r.allGood())})
	case d.Status == gate.StatusActionRequired && d.Unjudged == 0:
		return actionRequired, append(r.unguarded(), r.reservedly(append(inline{plain(r.allGood())}, r.uncompared(true)...))...)
	case d.Status == gate.StatusActionRequired:
		return actionRequired, r.reservedly(r.rightOnly("answers"))
	case d.Status == gate.StatusUndecided:
		return undecided, r.reservedly(r.accepted())
	case d.Status == gate.StatusWarned:
		return warned, r.reservedly(r.accepted())
	}
	return passed, inline{plain(r.allGood())}
}

// accepted is the sentence of a report in which nothing blocks.
func (r *Report) accepted() inline {
	if r.in.Decision.Unjudged > 0 {
		return r.rightOnly("answers")
	}
	return append(inline{plain(r.allGood())}, r.uncompared(false)...)
}

// reservedly puts undecided and excused losses before a sentence.
func (r *Report) reservedly(sentence inline) inline {
	s := r.total.reservations()
	if s == "" {
		return sentence
	}
	return append(inline{plain(s + r.onHosts(func(h *host) bool { return h.reservations() != "" }) + "; ")}, sentence...)
}

// failures names the hosts that are other machines, then counts what cells do.
func (r *Report) failures() inline {
	first := slices.IndexFunc(r.hosts, func(h host) bool { return h.refused > 0 })
	if first < 0 {
		return inline{plain(r.failureClauses())}
	}
	line := inline{plain("this is not the host of the baseline" + r.onHosts(func(h *host) bool { return h.refused > 0 }) + " ("),
		reason(r.hosts[first].Comparison.Unjudged), plain(")")}
	if r.total.blocked()+r.total.budgets > 0 {
		return append(line, plain("; "+r.failureClauses()))
	}
	return append(line, plain(". Next: "), command(r.hosts[first].Commands.RunAs+newLabel))
}

func (r *Report) failureClauses() string {
	var clauses []string
	for i, n := range r.total.failing {
		if n == 0 {
			continue
		}
		does := labels[i].many
		if n == 1 {
			does = labels[i].one
		}
		if len(clauses) == 0 {
			clauses = append(clauses, fmt.Sprintf("%d of %s %s", n, text.Plural(r.total.expected, "cell"), does))
			continue
		}
		clauses = append(clauses, fmt.Sprintf("%d %s", n, does))
	}
	if len(clauses) == 0 && r.total.shifted > 0 {
		clauses = append(clauses, "all cells together are slower than in earlier runs")
	}
	if clause := r.overBudget(); clause != "" {
		clauses = append(clauses, clause)
	}
	on := r.onHosts(func(h *host) bool { return h.blocked()+h.shifted+h.budgets > 0 })
	if on != "" {
		on = "," + on
	}
	return enumerate(clauses) + on
}

// onHosts writes " on 2 of 4 hosts", or nothing where there is only one host.
func (r *Report) onHosts(are func(*host) bool) string {
	n := 0
	for i := range r.hosts {
		if are(&r.hosts[i]) {
			n++
		}
	}
	if len(r.hosts) < 2 {
		return ""
	}
	return fmt.Sprintf(" on %d of %d hosts", n, len(r.hosts))
}

// correctnessPhrase returns how many cells are right, as far as that was checked, and
// accounts for the others.
func (r *Report) correctnessPhrase() string {
	t := &r.total
	if t.right == t.measured {
		return text.Plural(t.right, "cell") + " " + t.evidence("ran")
	}
	return fmt.Sprintf("%d of %s %s %s,", t.right, text.Plural(t.measured, "cell"),
		strings.TrimSuffix(t.evidence("passed"), ",")+",", r.nonBlockingPhrase(t.measured-t.right))
}

// nonBlockingPhrase returns why cells that fail do not block.
func (r *Report) nonBlockingPhrase(n int) string {
	if r.in.Policy.Compat.Rules().Judge != nil {
		return fails(n) + " without blocking (compat: " + shorten(visible(string(r.in.Policy.Compat)), maxName) + ")"
	}
	if r.total.excused[gate.Quarantined] > 0 {
		return fails(n) + " in quarantine or as the baseline records"
	}
	return fails(n) + " as the baseline records"
}

// evidence claims of the cells that did not fail no more than was checked. It
// ends in a comma where the sentence needs one to go on.
func (t *findingCounts) evidence(ran string) string {
	switch {
	case t.checked == t.right && t.checks[bench.CheckedAnswer] == t.checked:
		return are(t.right) + " right"
	case t.checked == t.right:
		return are(t.right) + " right (" + t.kinds() + ")"
	case t.checked == 0:
		return ran + " (no answer was checked)"
	case t.checked == 1:
		return ran + ", " + t.kinds() + " was checked and is right,"
	}
	return fmt.Sprintf("%s, %s were checked and are right,", ran, t.kinds())
}

// kinds counts what was checked: "3 answers and 5 kernel outputs".
func (t *findingCounts) kinds() string {
	return enumerate(clauses(clause{t.checks[bench.CheckedAnswer], "1 answer", "%d answers"},
		clause{t.checks[bench.CheckedOutput], "1 kernel output", "%d kernel outputs"},
		clause{t.checks[bench.CheckedAnalysis], "1 analysis", "%d analyses"}))
}

func are(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func fails(n int) string {
	if n == 1 {
		return "1 fails"
	}
	return fmt.Sprintf("%d fail", n)
}

func (r *Report) allGood() string {
	t := &r.total
	var found []string
	if t.judged > 0 {
		found = append(found, fmt.Sprintf("%s (%s, %s compared)", t.notSlower(), r.limit(), text.Plural(t.numbers, "number")))
	}
	if t.equal > 0 {
		found = append(found, t.equality())
	}
	if t.same > 0 {
		of := ""
		if t.same < t.measured {
			of = fmt.Sprintf(" of %d", t.same)
		}
		found = append(found, "no artifact"+of+" has changed")
	}
	switch len(found) {
	case 0:
		if t.open() > 0 {
			return strings.TrimSuffix(r.correctnessPhrase(), ",")
		}
		return r.correctnessPhrase() + " and no speed was compared"
	case 1:
		return r.correctnessPhrase() + " and " + found[0]
	}
	return enumerate(append([]string{strings.TrimSuffix(r.correctnessPhrase(), ",")}, found...))
}

// notSlower returns how many of the cells whose speed was judged are not slower: those that are
// excused are.
func (t *findingCounts) notSlower() string {
	than := "than the baseline allows"
	if t.inPairs == t.judged {
		than = "than the base"
	}
	switch {
	case t.slower >= t.judged:
		return "no other cell was judged"
	case t.slower > 0:
		return "no other judged cell is slower " + than
	case t.judged < t.measured && t.judged == 1:
		return "the one cell whose speed was judged is not slower " + than
	case t.judged < t.measured:
		return fmt.Sprintf("none of the %d cells whose speed was judged is slower %s", t.judged, than)
	case t.judged == 1:
		return "it is not slower " + than
	}
	return "none is slower " + than
}

// equality returns how many cells have the numbers that they must have.
func (t *findingCounts) equality() string {
	to, subject := "the recorded times", fmt.Sprintf("%d are", t.equal)
	switch {
	case t.equal == 1 && t.measured == 1:
		to, subject = "the recorded time", "it is"
	case t.equal == 1:
		to, subject = "the recorded time", "1 is"
	case t.equal == t.measured:
		subject = "all are"
	}
	if t.notTimes {
		to = "what is recorded"
	}
	return subject + " equal to " + to
}

// limit returns the limits that speeds were judged by. Case files have their
// own.
func (r *Report) limit() string {
	l := r.total.limits
	if l.n == 0 && r.total.tested {
		return "scores are tested"
	}
	if l.n == 0 && r.total.fromZero {
		return "limits of changes from 0"
	}
	if l.n == 0 && r.total.compared > 0 {
		return "numbers must be equal"
	}
	if l.n == 0 {
		l.lo, l.hi = r.in.Policy.Threshold, r.in.Policy.Threshold
	}
	if l.lo == l.hi {
		return "limit " + bare(l.lo)
	}
	return "limits " + bare(l.lo) + " … " + bare(l.hi)
}

// unguarded names the first cell or number that no loss can fail, and counts them.
func (r *Report) unguarded() inline {
	n := r.in.Decision.Unguarded
	for i := range r.hosts {
		names := r.hosts[i].Comparison.Unguarded()
		if n == 0 || len(names) == 0 {
			continue
		}
		what := text.Plural(n, "number") + ", and the configuration requires one: "
		if n > 1 {
			what += "first "
		}
		return inline{plain("no baseline guards " + what), code(names[0]), plain("; ")}
	}
	return nil
}

// uncompared names the suites of which not one number was compared, and why: all
// of them, or those that have numbers to compare.
func (r *Report) uncompared(all bool) inline {
	var line inline
	n := 0
	for i := range r.hosts {
		for _, u := range r.hosts[i].Comparison.Uncompared {
			if u.Shown && !all {
				continue
			}
			if n++; n == 1 {
				line = inline{plain("; no number of suite "), code(u.Suite), plain(" was compared: "), reason(u.Reason)}
			}
		}
	}
	if n > 1 {
		line = append(line, plain(fmt.Sprintf("; nor of %d more", n-1)))
	}
	return line
}

func (r *Report) rightOnly(subject string) inline {
	answers := fmt.Sprintf("%s are right (%s)", subject, text.Plural(r.total.right, "cell"))
	if r.total.right != r.total.measured || r.total.checked != r.total.right {
		answers = strings.TrimSuffix(r.correctnessPhrase(), ",")
	}
	first := slices.IndexFunc(r.hosts, func(h host) bool { return h.notJudged() })
	if first < 0 {
		return inline{plain(answers + "; speed was NOT judged")}
	}
	h := &r.hosts[first]
	_, commands := r.advice(h)
	return inline{plain(answers + "; speed was NOT judged" + r.onHosts((*host).notJudged) + ": "),
		reason(h.Comparison.Unjudged), plain(". Next: "), command(commands[0])}
}

func (r *Report) nothing() inline {
	t := &r.total
	next := inline{plain(". Next: "), command(r.commands().Run + " --list")}
	if len(r.hosts) == 0 {
		return append(inline{plain("no host has reported a run")}, next...)
	}
	if i := slices.IndexFunc(r.hosts, func(h host) bool { return h.Comparison.NoEvidence != "" }); i >= 0 {
		return inline{plain("nothing of the run of "), code(r.hosts[i].Run.Host.Label), plain(" counts: "),
			reason(r.hosts[i].Comparison.NoEvidence)}
	}
	if i := slices.IndexFunc(r.hosts, func(h host) bool { return len(h.Comparison.MissingShards) > 0 }); i >= 0 && !r.in.Policy.Part {
		h := &r.hosts[i]
		return append(inline{plain("shards " + strings.Join(h.Comparison.MissingShards, ", ") + " of "), code(h.Run.Host.Label),
			plain(" are missing, so not all of its matrix was judged")},
			plain(". Next: give the run.json of every shard to "), command("accelgate report"))
	}
	on := r.onHosts(func(h *host) bool { return h.Comparison.Passed == 0 })
	what, failing := "was measured", ""
	if slices.ContainsFunc(r.hosts, func(h host) bool { return h.Comparison.Passed == 0 && h.measured > 0 }) {
		what, failing = "passed", r.nonBlockingPhrase(t.measured-t.right)+", "
	}
	return append(inline{plain(fmt.Sprintf("not one cell %s%s (%s%d skipped, %d left out by a filter)",
		what, on, failing, t.skipped, t.unselected))}, next...)
}

// sum writes every verdict once: "87 verdicts = 1 wrong + 86 unchanged".
func (r *Report) sum() string {
	words := slices.SortedFunc(maps.Keys(r.total.words), func(a, b counted) int {
		return cmp.Or(cmp.Compare(a.standing, b.standing), cmp.Compare(a.label, b.label), cmp.Compare(a.word, b.word))
	})
	var parts []string
	for _, w := range words {
		parts = append(parts, fmt.Sprintf("%d %s", r.total.words[w], w.word))
	}
	s := text.Plural(r.total.verdicts, "verdict")
	if len(parts) > 0 {
		s += " = " + strings.Join(parts, " + ")
	}
	if n := r.total.unselected; n > 0 {
		s += "; " + text.Plural(n, "cell") + " left out by a filter"
	}
	return s
}

func (h *host) notJudged() bool { return h.Comparison.Unjudged != "" }

// newLabel gives a second machine a name of its own.
const newLabel = " --host-label new-label"

// force makes the update command record what passed in a run that failed.
const force = " --force"

// update is the command that records numbers for a reason.
func (h *host) update(reason string) string {
	return visible(fmt.Sprintf("%s --reason %q", h.Commands.Update, reason))
}
