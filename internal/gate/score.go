package gate

import (
	"cmp"
	"fmt"
	"math"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/text"
)

// The values of [Limit.Test].
const (
	TestOneSided = "one-sided" // a significant loss blocks
	TestTwoSided = "two-sided" // a significant difference blocks
)

// scored is a score that is tested: the difference of two estimates over its standard
// error.
type scored struct {
	old, new      float64
	stderr        float64 // of the difference
	p, q          float64
	df            float64 // degrees of freedom of stderr where earlier runs show it; 0 for a reported one
	runs          int     // earlier runs that show it
	worse, paired bool
	oldN, newN    int
}

// tested reports whether the configuration tests a number by standard errors.
func (in *inputs) tested(n seriesKey) bool { return in.limits.of(n.cell, n.metric).test != "" }

// testScores tests all scores of the run together: by Holm's procedure, the false alarms
// of the policy hold for all of them.
func testScores(in *inputs) map[seriesKey]scored {
	var of []seriesKey
	var all []scored
	var ps []float64
	for _, c := range in.cells {
		if c.got.Outcome != bench.Passed || c.ref != nil && c.ref.Outcome != bench.Passed {
			continue
		}
		for k := range in.metrics {
			m, n := &in.metrics[k], seriesKey{c.id, in.metrics[k].Name}
			if in.tested(n) && m.contradiction == "" && !m.Exact && m.reliability(c.got) == "" {
				if s, ok := score(in, m, c); ok {
					of, all, ps = append(of, n), append(all, s), append(ps, s.p)
				}
			}
		}
	}
	scores := make(map[seriesKey]scored, len(all))
	for i, q := range detect.AdjustHolm(ps) {
		all[i].q = q
		scores[of[i]] = all[i]
	}
	return scores
}

// score tests one number. ok is false where one side has none, or head no standard error.
func score(in *inputs, m *described, c cell) (s scored, ok bool) {
	now := c.got.Sample(m.Name)
	if now == nil {
		return s, false
	}
	head, ok := now.ScoreErr()
	if !ok {
		return s, false
	}
	base := 0.0
	switch old, paired := now.Pairs(); {
	case len(old) > 0:
		s.paired, s.old, s.new, s.oldN, s.newN = true, stats.Median(old), stats.Median(paired), len(old), len(old)
	case c.ref == nil || in.unjudged != "" || c.ref.Sample(m.Name) == nil || unchanged(c.ref, c.got):
		return s, false
	default:
		old := c.ref.Sample(m.Name)
		o, n := old.Summarize(), now.Summarize()
		s.old, s.new, s.oldN, s.newN = o.Median, n.Median, o.N, n.N
		base, _ = old.ScoreErr()
	}
	base = cmp.Or(base, head)
	s.stderr = math.Hypot(head, base)
	if sd, df, ok := in.runToRun(c, m); ok && math.Sqrt2*sd > s.stderr {
		s.stderr, s.df, s.runs = math.Sqrt2*sd, float64(df), df+1
	}
	loss := s.old - s.new
	if m.Better == bench.Lower {
		loss = -loss
	}
	s.worse = loss > 0
	if in.limits.of(c.id, m.Name).test == TestTwoSided {
		s.p = 2 * s.upperTail(math.Abs(loss))
	} else {
		s.p = s.upperTail(loss)
	}
	s.p = min(1, s.p)
	return s, true
}

// runToRun is the standard deviation of a score from run to run at its level, and its degrees of freedom; ok is
// false with fewer than 3 runs.
func (in *inputs) runToRun(c cell, m *described) (sd float64, df int, ok bool) {
	if c.ref == nil || in.unjudged != "" {
		return 0, 0, false
	}
	runs := c.ref.Sample(m.Name).LevelMedians()
	if len(runs) < minRuns {
		return 0, 0, false
	}
	return stats.SD(runs), len(runs) - 1, true
}

// upperTail is the chance of an error of the difference of at least x.
func (s *scored) upperTail(x float64) float64 {
	if s.df > 0 && s.stderr > 0 {
		return detect.StudentTail(x/s.stderr, s.df)
	}
	return upperTail(x, s.stderr)
}

// upperTail is the chance that an error of that standard deviation is at least x.
func upperTail(x, stderr float64) float64 {
	switch {
	case stderr > 0:
		return math.Erfc(x/stderr/math.Sqrt2) / 2
	case x > 0:
		return 0
	}
	return 1
}

// byScore is the verdict of a test; ok is false where the number is not tested, or where
// there is nothing to compare with.
func byScore(in *inputs, ev *testResults, m *described, c cell) (v Verdict, ok bool) {
	n := seriesKey{c.id, m.Name}
	if !in.tested(n) || in.run.Metric(m.Name) == nil {
		return v, false
	}
	s, ok := ev.scores[n]
	if !ok {
		now := c.got.Sample(m.Name)
		if _, known := now.ScoreErr(); known || m.contradiction != "" || m.reliability(c.got) != "" {
			return v, false
		}
		return Verdict{Finding: Missing, New: now.Median(),
			Reason: noStdErr(m.Name)}, true
	}
	limit := in.limits.of(c.id, m.Name)
	v = Verdict{Finding: Unchanged, Old: s.old, New: s.new, Evidence: Evidence{Method: MethodTest, Test: limit.test, P: s.p, Q: s.q,
		StdErr: s.stderr, OldN: s.oldN, NewN: s.newN}}
	if s.paired {
		v.Reference, v.Evidence.InPairs = pairReference, true
	}
	if gain, ok := m.Better.Gain(s.old, s.new); ok {
		v.Delta = gain
		e := bench.StdErrEstimate(gain, s.stderr/math.Abs(s.old)*100)
		v.Interval = [2]float64{e.Low, e.High}
	}
	v.Evidence.MDE = s.result(limit.test, in.policy.falseAlarms()/float64(len(ev.scores)))
	significant := s.q <= in.policy.falseAlarms()
	minimum, limited := in.change(n)
	switch {
	case !significant || limited && math.Abs(v.Delta) < minimum-Tolerance:
	case s.worse:
		v.Finding = Regressed
	case limit.test == TestTwoSided:
		v.Finding = Incorrect
		v.Reason = fmt.Sprintf("is better than %v, and a two-sided test allows no difference", s.old)
	}
	if limited {
		v.Evidence.Limit = minimum
	}
	if s.runs > 0 {
		v.Reason = text.Reasons(v.Reason, fmt.Sprintf("%d earlier runs differ by more than the reported standard error: "+
			"by %.3g, which counts in its place", s.runs, s.stderr/math.Sqrt2))
	}
	return v, true
}

// result is the smallest loss, in percent, that a test at this rate of false alarms finds in 4 of
// 5 cases.
func (s *scored) result(test string, rate float64) float64 {
	const power = 0.8416 // quantile of the normal distribution for 80 %
	if test == TestTwoSided {
		rate /= 2
	}
	if s.old == 0 {
		return 0
	}
	critical := math.Sqrt2 * math.Erfinv(1-2*rate)
	if s.df > 0 {
		critical = detect.StudentQuantile(1-rate, s.df)
	}
	return (critical + power) * s.stderr / math.Abs(s.old) * 100
}
