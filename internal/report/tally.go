package report

import (
	"math"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
)

// severity orders what needs action, the worst first. A cell with several
// blocking verdicts is counted under the first of them.
var severity = []gate.Class{
	gate.CorrectnessFailure, gate.RuntimeFailure, gate.Missing, gate.Skipped, gate.Regressed,
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

	// What follows counts cells.
	failing    []int // by rank: cells that block
	measured   int
	right      int // measured, and no wrong answer or crash, known or not
	checked    int // passed, with an answer that was compared with the expected one
	incorrect  int // whose answer was compared and differs
	judged     int // with at least one metric whose speed was judged
	expected   int // measured, or missing, or newly skipped
	unselected int

	speed speed
}

// speed sums up the judged changes for the eye; nothing is decided on it.
type speed struct {
	n         int
	logs      float64 // sum of the logarithms of the speed-ups
	worst     float64 // percent
	repeated  bool    // some side of some verdict has more than one value
	noiseUpTo float64 // percent
}

func newTally() tally {
	return tally{
		blocking: map[gate.Class]int{},
		other:    map[gate.Class]int{},
		failing:  make([]int, len(severity)+1),
	}
}

// scan counts a comparison, whose verdicts of one cell are adjacent.
func (t *tally) scan(metrics map[string]*bench.Metric, c *gate.Comparison) {
	t.measured, t.right, t.expected = c.Measured, c.Measured, c.Measured
	t.unselected = c.Unselected
	for rest := c.Verdicts; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Cell == rest[0].Cell {
			n++
		}
		t.cell(metrics, rest[:n])
		rest = rest[n:]
	}
}

func (t *tally) cell(metrics map[string]*bench.Metric, verdicts []gate.Verdict) {
	worst, wrong, judged := -1, false, false
	for i := range verdicts {
		v := &verdicts[i]
		t.verdicts++
		if v.Level == gate.Fail {
			t.blocking[v.Class]++
			if k := rank(v.Class); worst < 0 || k < worst {
				worst = k
			}
		} else {
			t.other[v.Class]++
		}
		wrong = wrong || v.Class == gate.CorrectnessFailure || v.Class == gate.RuntimeFailure
		if v.Evidence.Method == "threshold" {
			judged = true
			t.speed.add(metrics[v.Metric], v)
		}
	}
	if worst >= 0 {
		t.failing[worst]++
	}
	if wrong {
		t.right--
	}
	if judged {
		t.judged++
	}
	if absent(&verdicts[0]) {
		t.expected++
	}
}

// check counts the answers that were compared with an expected one: only they
// leave an output in a result that passed.
func (t *tally) check(results []bench.Result) {
	for i := range results {
		switch res := &results[i]; {
		case res.Outcome == bench.Incorrect:
			t.incorrect++
		case res.Outcome == bench.Passed && res.Output != "":
			t.checked++
		}
	}
}

// absent reports a cell that should have been measured and was not.
func absent(v *gate.Verdict) bool {
	return v.Metric == "" && (v.Class == gate.Missing || v.Class == gate.Skipped && v.Level == gate.Fail)
}

func (t *tally) merge(other *tally) {
	t.verdicts += other.verdicts
	for _, c := range gate.Classes {
		t.blocking[c] += other.blocking[c]
		t.other[c] += other.other[c]
	}
	for i, n := range other.failing {
		t.failing[i] += n
	}
	t.measured += other.measured
	t.right += other.right
	t.checked += other.checked
	t.incorrect += other.incorrect
	t.judged += other.judged
	t.expected += other.expected
	t.unselected += other.unselected
}

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
	s.worst = min(s.worst, finite(v.Delta))
	s.logs += ratio
	s.n++
}

// mean is the geometric mean of the changes in percent, positive for better.
func (s *speed) mean() float64 { return math.Expm1(s.logs/float64(s.n)) * 100 }
