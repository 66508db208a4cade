package report

import (
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/compat"
	"github.com/accelgate/accelgate/internal/stats"
)

// findingCounts counts the verdicts of one host, or of all. Each verdict is counted once, under its
// word, in the order of [gate.Worse].
type findingCounts struct {
	verdicts int
	words    map[counted]int
	blocking map[gate.Finding]int

	// otherHost is the verdict on a host that is not its baseline's, nil in the sum of all hosts;
	// refused counts those that block.
	otherHost *gate.Verdict
	refused   int

	// What follows counts cells. A cell with several verdicts that block, or of which several are
	// undecided or excused, is counted under the worst of them.
	failing    []int // by label: cells that block
	undecided  []int // by label: cells of which the worst verdict that does not block is undecided
	lossCells  int   // of these, with a loss beyond its limit
	excused    map[gate.ExcuseKind]int
	measured   int
	right      int // measured, and no wrong answer or crash, known or not
	checked    int // passed, and what it gave was compared with what it should
	numbers    int // not cells: numbers that were compared with a recorded one
	incorrect  int // whose answer was compared and differs
	judged     int // with at least one metric whose speed was judged by a limit
	equal      int // with at least one metric that had to be equal and is
	compared   int // with at least one metric that was compared, in either way
	same       int // whose declared artifacts have not changed
	expected   int // measured, or missing, left out or newly skipped
	unselected int
	leftOut    int
	retried    int // passed, after measurements that failed for reasons of the machine
	skipped    int // could not be measured on this host
	slower     int // of judged: with a loss that is excused or undecided
	single     int // block by a regression that rests on one value
	inPairs    int // judged by pairs with the base

	// shifted counts the hosts all of whose cells moved together.
	shifted int
	// budgets counts the budgets that block. Of those that do not, and of hosts, wholeLosses have
	// a loss beyond the limit that is undecided. What else is undecided or excused are
	// reservedBudgets, reservedShifts, where all cells moved together, and elsewhere, the hosts that
	// are not their baseline's.
	budgets, wholeLosses, reservedBudgets, reservedShifts, elsewhere int

	checks map[bench.CheckKind]int // checked, by what was compared

	// notTimes reports that other numbers than times are equal.
	notTimes bool
	// fromZero reports that numbers whose reference is 0 were judged.
	fromZero bool
	tested   bool // a score was

	// ofCases counts the verdicts in blocking that rest on the numbers of case files.
	ofCases map[gate.Finding]int

	limits limits
	speeds speeds
}

// counted is what verdicts are counted by.
type counted struct {
	standing int // as in [gate.Worse]
	label    int
	word     string
}

// limits span the limits of the speeds that were judged, in percent.
type limits struct {
	n      int
	lo, hi float64
}

func (l *limits) add(limit float64) { l.merge(limits{1, limit, limit}) }

func (l *limits) merge(other limits) {
	switch {
	case other.n == 0:
	case l.n == 0:
		*l = other
	default:
		l.n, l.lo, l.hi = l.n+other.n, min(l.lo, other.lo), max(l.hi, other.hi)
	}
}

func newTally() findingCounts {
	return findingCounts{
		words:     map[counted]int{},
		blocking:  map[gate.Finding]int{},
		checks:    map[bench.CheckKind]int{},
		ofCases:   map[gate.Finding]int{},
		excused:   map[gate.ExcuseKind]int{},
		failing:   make([]int, len(labels)),
		undecided: make([]int, len(labels)),
	}
}

// scan counts the comparison, whose verdicts of one cell are adjacent.
func (h *host) scan() {
	c := &h.Comparison
	h.measured, h.right, h.expected = c.Measured, c.Passed, c.Measured
	h.unselected = c.Unselected
	for rest := c.Verdicts; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Cell == rest[0].Cell {
			n++
		}
		h.cell(h.metrics, rest[:n])
		rest = rest[n:]
	}
	for i := range c.Verdicts {
		if v := &c.Verdicts[i]; v.Blocks && h.ofCase(v) {
			h.ofCases[v.Finding]++
			if v.Finding == gate.Drifted || v.Finding != gate.PartsDiffer && v.Reference == bench.InitialReference {
				h.initial[v.Cell] = true
			}
		}
	}
}

func (t *findingCounts) cell(metrics map[string]*bench.Metric, verdicts []gate.Verdict) {
	worst := &verdicts[0]
	var how manner
	for i := range verdicts {
		v := &verdicts[i]
		t.count(v)
		if gate.Worse(v, worst) < 0 {
			worst = v
		}
		t.verdict(metrics[v.Metric], v, &how)
	}
	if verdicts[0].Cell == "" {
		for i := range verdicts {
			t.host(&verdicts[i])
		}
		return
	}
	t.worst(worst)
	t.lossCells += stats.Indicator(!worst.Blocks && slices.ContainsFunc(verdicts, func(v gate.Verdict) bool { return v.UndecidedLoss() }))
	t.single += stats.Indicator(slices.ContainsFunc(verdicts, lonely))
	t.leftOut += stats.Indicator(verdicts[0].LeftOut())
	t.skipped += stats.Indicator(verdicts[0].Outcome == bench.Skipped)
	t.slower += stats.Indicator(how.judged && slices.ContainsFunc(verdicts, func(v gate.Verdict) bool {
		return v.UndecidedLoss() || v.Excuse != nil && ofSpeed(&v) && !v.Undecided()
	}))
	t.judged += stats.Indicator(how.judged)
	t.inPairs += stats.Indicator(how.pairs)
	t.equal += stats.Indicator(how.equal)
	t.compared += stats.Indicator(how.compared)
	t.same += stats.Indicator(how.same)
	if absent(&verdicts[0]) {
		t.expected++
	}
}

func (t *findingCounts) count(v *gate.Verdict) {
	t.verdicts++
	t.words[counted{v.Standing(), labelOf(v), wordOf(v)}]++
	if v.Blocks {
		t.blocking[v.Finding]++
	}
}

// worst counts a cell by its worst verdict.
func (t *findingCounts) worst(v *gate.Verdict) {
	switch {
	case v.Blocks:
		t.failing[labelOf(v)]++
	case v.Excuse != nil:
		t.excused[v.Excused()]++
	case v.Undecided():
		t.undecided[labelOf(v)]++
	}
}

// manner is how at least one number of a cell was judged.
type manner struct{ judged, equal, compared, pairs, same bool }

// verdict notes how one number was judged; m, which may be nil, describes it.
func (t *findingCounts) verdict(m *bench.Metric, v *gate.Verdict, how *manner) {
	if v.Cell == "" {
		return // of numbers that are counted as those of their cells
	}
	if ofNumbers(v) {
		t.numbers++
	}
	switch method := v.Evidence.Method; {
	case method == gate.MethodExact:
		how.compared = true
		if !v.Blocks {
			how.equal = true
			t.notTimes = t.notTimes || !isTime(m, v)
		}
	case method == gate.MethodDigest:
		how.same = true
	case method == gate.MethodTest:
		t.tested, how.judged, how.compared = true, true, true
		how.pairs = how.pairs || v.Evidence.InPairs
	case method.Speed():
		if t.fromZero = t.fromZero || fromZero(v); !fromZero(v) {
			t.limits.add(finite(v.Evidence.Limit))
		}
		if v.Finding != gate.Drifted && !v.SinceBaseline() { // the sum of many changes, and not this one
			t.speeds.add(m, v)
		}
		if !v.Undecided() {
			how.judged, how.compared = true, true
			how.pairs = how.pairs || v.Evidence.InPairs
		}
	}
}

// ofNumbers reports whether the verdict compared a number with the recorded one
// that it is judged by. A drift compares the same number again.
func ofNumbers(v *gate.Verdict) bool {
	again := v.Finding == gate.Drifted || v.Finding == gate.PartsDiffer || v.SinceBaseline() || v.Reference == gate.AnchorReference
	return !again && (ofSpeed(v) || v.Evidence.Method == gate.MethodExact)
}

// isTime reports whether a verdict is on a time, as the totals of case files
// are without a description.
func isTime(m *bench.Metric, v *gate.Verdict) bool {
	if m == nil {
		return compat.OfFile(v.Reference)
	}
	return m.Quantity() == bench.Time
}

// host takes the verdict on the host as a whole.
func (t *findingCounts) host(v *gate.Verdict) {
	loss := v.UndecidedLoss()
	reserved := stats.Indicator(v.Reserved() && !loss)
	t.wholeLosses += stats.Indicator(loss)
	switch {
	case v.Budget > 0:
		t.budgets += stats.Indicator(v.Blocks)
		t.reservedBudgets += reserved
	case v.Finding == gate.OtherHost:
		t.otherHost = v
		t.refused += stats.Indicator(v.Blocks)
		t.elsewhere += reserved
	default:
		t.shifted += stats.Indicator(v.Blocks)
		t.reservedShifts += reserved
	}
}

// lonely reports a regression that blocks by a single value.
func lonely(v gate.Verdict) bool {
	return v.Finding == gate.Regressed && v.Blocks && v.Evidence.NewN == 1 &&
		(v.Evidence.Method == gate.MethodThreshold || v.Evidence.Method == gate.MethodSessions)
}

// check counts the cells whose answer, output or analysis was compared with the
// expected one.
func (t *findingCounts) check(results []bench.Result) {
	for i := range results {
		res := &results[i]
		switch {
		case res.Outcome == bench.Incorrect:
			t.incorrect++
		case res.Correctness() != "":
			t.checked++
			t.checks[res.Correctness()]++
		}
		if passedAfterRetry(res) {
			t.retried++
		}
	}
}

func passedAfterRetry(res *bench.Result) bool { return res.Outcome == bench.Passed && res.Retries > 0 }

// absent reports a cell that should have been measured and was not.
func absent(v *gate.Verdict) bool {
	return v.Metric == "" && (v.Finding == gate.Missing || v.LeftOut())
}

func (t *findingCounts) merge(other *findingCounts) {
	t.verdicts += other.verdicts
	addUp(t.words, other.words)
	addUp(t.blocking, other.blocking)
	addUp(t.ofCases, other.ofCases)
	addUp(t.excused, other.excused)
	for i := range labels {
		t.failing[i] += other.failing[i]
		t.undecided[i] += other.undecided[i]
	}
	t.lossCells += other.lossCells
	t.wholeLosses += other.wholeLosses
	t.measured += other.measured
	t.right += other.right
	t.checked += other.checked
	t.numbers += other.numbers
	for kind, n := range other.checks {
		t.checks[kind] += n
	}
	t.incorrect += other.incorrect
	t.judged += other.judged
	t.equal += other.equal
	t.compared += other.compared
	t.same += other.same
	t.notTimes = t.notTimes || other.notTimes
	t.fromZero = t.fromZero || other.fromZero
	t.tested = t.tested || other.tested
	t.expected += other.expected
	t.unselected += other.unselected
	t.leftOut += other.leftOut
	t.retried += other.retried
	t.skipped += other.skipped
	t.slower += other.slower
	t.inPairs += other.inPairs
	t.shifted += other.shifted
	t.budgets += other.budgets
	t.reservedBudgets += other.reservedBudgets
	t.reservedShifts += other.reservedShifts
	t.elsewhere += other.elsewhere
	t.single += other.single
	t.refused += other.refused
	t.limits.merge(other.limits)
}

// fails reports whether anything blocks: the host or a cell.
func (t *findingCounts) fails() bool { return t.refused+t.shifted+t.budgets > 0 || t.blocked() > 0 }

// blocked counts the cells that block.
func (t *findingCounts) blocked() int {
	n := 0
	for _, k := range t.failing {
		n += k
	}
	return n
}

func addUp[K comparable](sum, other map[K]int) {
	for k, n := range other {
		sum[k] += n
	}
}

// open counts the cells that do not block because a finding is undecided.
func (t *findingCounts) open() (n int) {
	for _, cells := range t.undecided {
		n += cells
	}
	return n
}

// accepted counts the cells that do not block because a finding is excused.
func (t *findingCounts) accepted() (n int) {
	for _, cells := range t.excused {
		n += cells
	}
	return n
}
