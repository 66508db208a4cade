package report

import (
	"math"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/gate"
)

// severity orders what needs action, the worst first. A cell with several
// blocking verdicts is counted under the first of them.
var severity = []gate.Class{
	gate.Mismatch, gate.CorrectnessFailure, unequal, gate.RuntimeFailure, gate.Missing, gate.Skipped, gate.OutOfBounds, gate.Implausible, lowered, gate.Regressed,
	gate.OverBudget, gate.Drifted, gate.OperatorsDiffer, gate.Improved, gate.LeftOut,
}

// rank is the place of a class in [severity]; all others share the last one.
func rank(c gate.Class) int {
	if i := slices.Index(severity, c); i >= 0 {
		return i
	}
	return len(severity)
}

// tally counts the verdicts of one host, or of all. Each verdict is counted
// once, under its class, in blocking or in other.
type tally struct {
	verdicts        int
	blocking, other map[gate.Class]int

	// mismatch is the verdict on a host that is another machine than its
	// baseline's, nil in the sum of all hosts; refused counts those that block.
	mismatch *gate.Verdict
	refused  int

	// What follows counts cells.
	failing    []int // by rank: cells that block
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
	traded     int // with a regression that a gain pays for
	waived     int // with a regression that is accepted for a while
	isolated   int // in quarantine, which would block
	advisory   int // with a finding that would block, but for its level
	single     int // block by a regression that rests on one value
	open       int // with a number that evidence does not settle
	inPairs    int // judged by pairs with the base

	// hidden is the largest loss, in percent, that could not be excluded.
	hidden float64
	// shifted counts the hosts all of whose cells moved together.
	shifted int
	// budgets counts the budgets that block.
	budgets int

	checks map[bench.CheckKind]int // checked, by what was compared

	// notTimes says that what is equal is more than times.
	notTimes bool
	tested   bool // a score was

	// ofCases counts those of blocking that rest on the numbers of case files.
	ofCases map[gate.Class]int

	limits limits
	speed  speed
}

// limits span those of the speeds that were judged, in percent.
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

// speed sums up the judged changes for the eye; nothing is decided on it.
type speed struct {
	n         int
	logs      float64 // sum of the logarithms of the speed-ups
	worst     float64 // percent, a gain, of the metric whose direction is worstOf
	worstOf   bench.Direction
	repeated  bool    // some side of some verdict has more than one value
	noiseUpTo float64 // percent
}

func newTally() tally {
	return tally{
		blocking: map[gate.Class]int{},
		checks:   map[bench.CheckKind]int{},
		other:    map[gate.Class]int{},
		ofCases:  map[gate.Class]int{},
		failing:  make([]int, len(severity)+1),
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
		if v := &c.Verdicts[i]; v.Level == gate.Fail && h.ofCase(v) {
			h.ofCases[classOf(v)]++
			if v.Class == gate.Drifted || v.Class != gate.OperatorsDiffer && v.Reference == bench.InitialReference {
				h.initial[v.Cell] = true
			}
		}
	}
}

func (t *tally) cell(metrics map[string]*bench.Metric, verdicts []gate.Verdict) {
	worst := -1
	var how manner
	for i := range verdicts {
		v := &verdicts[i]
		t.verdicts++
		if v.Level == gate.Fail {
			t.blocking[classOf(v)]++
			if k := rank(classOf(v)); worst < 0 || k < worst {
				worst = k
			}
		} else {
			t.other[classOf(v)]++
		}
		t.verdict(metrics[v.Metric], v, &how)
	}
	if verdicts[0].Cell == "" {
		for i := range verdicts {
			t.host(&verdicts[i])
		}
		return
	}
	if worst >= 0 {
		t.failing[worst]++
	}
	if slices.ContainsFunc(verdicts, lonely) {
		t.single++
	}
	if verdicts[0].Class == gate.LeftOut {
		t.leftOut++
	}
	t.traded += one(slices.ContainsFunc(verdicts, func(v gate.Verdict) bool { return v.Class == gate.Traded }))
	t.waived += one(slices.ContainsFunc(verdicts, func(v gate.Verdict) bool { return v.Class == gate.Waived }))
	t.isolated += one(slices.ContainsFunc(verdicts, func(v gate.Verdict) bool { return v.Class == gate.InQuarantine }))
	t.advisory += one(slices.ContainsFunc(verdicts, func(v gate.Verdict) bool { return v.Advisory }))
	t.judged += one(how.judged)
	t.open += one(how.open)
	t.inPairs += one(how.pairs)
	t.equal += one(how.equal)
	t.compared += one(how.compared)
	t.same += one(how.same)
	if absent(&verdicts[0]) {
		t.expected++
	}
}

// manner is how at least one number of a cell was judged.
type manner struct{ judged, equal, compared, open, pairs, same bool }

// verdict notes how one number was judged; m, which may be nil, describes it.
func (t *tally) verdict(m *bench.Metric, v *gate.Verdict, how *manner) {
	if v.Budget > 0 {
		return // of numbers that are counted as those of their cells
	}
	if ofNumbers(v) {
		t.numbers++
	}
	switch v.Evidence.Method {
	case "exact":
		how.compared = true
		if v.Level != gate.Fail {
			how.equal = true
			t.notTimes = t.notTimes || !isTime(m, v)
		}
	case "digest":
		how.same = true
	case gate.MethodTest:
		t.tested, how.judged, how.compared = true, true, true
		how.pairs = how.pairs || v.Evidence.Mode == detect.Interleaved
	case "threshold", "evidence":
		if stillOpen(v) {
			how.open = true
			if !v.Unhealthy { // the report has a line of its own for these
				t.hidden = max(t.hidden, finite(-v.Interval[0]))
			}
			return
		}
		how.judged, how.compared = true, true
		how.pairs = how.pairs || v.Evidence.Mode == detect.Interleaved
		t.limits.add(finite(v.Evidence.Limit))
		if v.Class != gate.Drifted { // the sum of many changes, and not this one
			t.speed.add(m, v)
		}
	}
}

// ofNumbers reports whether the verdict compared a number with the recorded one
// that it is judged by. A drift compares the same number again.
func ofNumbers(v *gate.Verdict) bool {
	return (ofSpeed(v) || v.Evidence.Method == "exact") && v.Class != gate.Drifted && v.Class != gate.OperatorsDiffer && v.Reference != gate.AnchorReference
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// isTime reports whether a verdict is on a time, as the totals of case files
// are without a description.
func isTime(m *bench.Metric, v *gate.Verdict) bool {
	if m == nil {
		return ofFile(v.Reference)
	}
	_, is := exponent(m.Unit)
	return is
}

// host takes the verdict on the host as a whole.
func (t *tally) host(v *gate.Verdict) {
	if v.Budget > 0 {
		t.budgets += one(v.Level == gate.Fail)
		return
	}
	if v.Class != gate.Mismatch {
		t.shifted += one(v.Level == gate.Fail)
		return
	}
	t.mismatch = v
	if v.Level == gate.Fail {
		t.refused++
	}
}

// lonely reports a regression that blocks by a single value.
func lonely(v gate.Verdict) bool {
	return v.Class == gate.Regressed && v.Level == gate.Fail && v.Evidence.NewN == 1 && v.Evidence.Method == "threshold"
}

// check counts the cells whose answer, output or analysis was compared with the
// expected one.
func (t *tally) check(results []bench.Result) {
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
	return v.Metric == "" && (v.Class == gate.Missing || v.Class == gate.LeftOut || v.Class == gate.Skipped && v.Level == gate.Fail)
}

func (t *tally) merge(other *tally) {
	t.verdicts += other.verdicts
	for _, c := range classes {
		t.blocking[c] += other.blocking[c]
		t.other[c] += other.other[c]
		t.ofCases[c] += other.ofCases[c]
	}
	for i, n := range other.failing {
		t.failing[i] += n
	}
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
	t.tested = t.tested || other.tested
	t.expected += other.expected
	t.unselected += other.unselected
	t.leftOut += other.leftOut
	t.retried += other.retried
	t.open += other.open
	t.inPairs += other.inPairs
	t.hidden = max(t.hidden, other.hidden)
	t.shifted += other.shifted
	t.budgets += other.budgets
	t.traded += other.traded
	t.waived += other.waived
	t.advisory += other.advisory
	t.isolated += other.isolated
	t.single += other.single
	t.refused += other.refused
	t.limits.merge(other.limits)
}

// fails reports whether anything blocks: the host or a cell.
func (t *tally) fails() bool { return t.refused+t.shifted+t.budgets > 0 || t.blocked() > 0 }

// blocked counts the cells that block.
func (t *tally) blocked() int {
	n := 0
	for _, k := range t.failing {
		n += k
	}
	return n
}

func (s *speed) add(m *bench.Metric, v *gate.Verdict) {
	if v.Evidence.OldN > 1 || v.Evidence.NewN > 1 {
		s.repeated = true
		s.noiseUpTo = max(s.noiseUpTo, finite(v.Evidence.Noise))
	}
	ratio := math.Log(v.New / v.Old)
	if math.IsNaN(ratio) || math.IsInf(ratio, 0) {
		return
	}
	if m != nil && m.Better == bench.Lower {
		ratio = -ratio
	}
	if gain := finite(v.Delta); gain < s.worst {
		s.worst, s.worstOf = gain, bench.Higher
		if m != nil {
			s.worstOf = m.Better
		}
	}
	s.logs += ratio
	s.n++
}

// mean is the geometric mean of the changes in percent, told as a speed: metrics of
// either direction are in it.
func (s *speed) mean() float64 { return math.Expm1(s.logs/float64(s.n)) * 100 }
