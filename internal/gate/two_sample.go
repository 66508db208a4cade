package gate

import (
	"fmt"
	"math"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/stats"
)

// twoSampleResult says what two sessions show of a number without pairs and history.
type twoSampleResult struct {
	detect.TwoSampleEvidence
	q        float64 // P corrected for all numbers of this method
	of       int     // numbers of this method
	large    float64 // slow-down that blocks whatever q is
	sameCode bool    // nothing differs from the base: only a large slow-down blocks
}

// certain reports whether the slow-down is more than two sessions of unchanged code differ by.
func (r twoSampleResult) certain(share float64) bool {
	return r.Estimate >= r.large || !r.sameCode && r.q <= share
}

// certainLoss returns the slow-down from which on one is certain.
func (r twoSampleResult) certainLoss(share float64) float64 {
	if r.sameCode {
		return r.large
	}
	return min(r.large, r.MinLoss(share/float64(r.of)))
}

// twoSampleOf returns both sides of a number that the fixed threshold decides.
func twoSampleOf(in *inputs, m *described, c cell) (s detect.TwoSample, ok bool) {
	if c.ref == nil || in.unjudged != "" || !measures(in, m, c) || m.tooFew(c.ref) {
		return s, false
	}
	old, now := c.ref.Sample(m.Name), c.got.Sample(m.Name)
	if old == nil || now == nil || len(now.Base) > 0 {
		return s, false
	}
	o, n := old.Summarize(), now.Summarize()
	return m.twoSample(&o, &n), o.Median > 0 && n.Median > 0
}

// twoSample makes both sides of summaries of the base and the head.
func (m *described) twoSample(base, head *bench.Summary) detect.TwoSample {
	return detect.TwoSample{Base: baseSide(base), Head: detect.NewSide(head.Median, head.MAD, head.N),
		HigherIsBetter: m.Better != bench.Lower}
}

// baseSide has the recorded noise where that is larger.
func baseSide(s *bench.Summary) detect.Side {
	side := detect.NewSide(s.Median, s.MAD, s.N)
	side.Noise = max(side.Noise, s.Noise)
	return side
}

// few reports whether there are too few new runs for history to convict.
func few(c detect.Cell) bool {
	return c.Options.Mode == detect.History && len(c.Head) < minHeads
}

// minValues is how many values of one session stand against earlier runs: a
// single one may be a disturbance.
const minValues = 3

// minHeads is how many new runs can show a loss against history.
const minHeads = 3

func canReject(c detect.Cell) bool { return !few(c) }

// twoSampleOfRuns takes earlier runs for one side. What they differ by is the noise
// between sessions already, so the allowance for these is generous.
func twoSampleOfRuns(c detect.Cell, values []float64) detect.TwoSample {
	base := lastUsable(c.Base, earlierCounted)
	return detect.TwoSample{Base: detect.NewSide(stats.Median(base), stats.MAD(base), len(base)),
		Head: detect.NewSide(stats.Median(values), stats.MAD(values), len(values)), HigherIsBetter: c.Options.HigherIsBetter}
}

// earlierCounted is how many earlier runs stand for one side.
const earlierCounted = 10

// beyondChance makes a suspicion against history a loss that would block without
// any history as well: beyond the threshold, and beyond what two sessions differ by.
func beyondChance(in *inputs, ev *testResults, n seriesKey, v Verdict) Verdict {
	e, ok := ev.sides.of(n)
	limit := in.policyOf(n).Threshold
	if ok && v.Undecided() && v.Delta < -limit-Tolerance && e.certain(ev.share) {
		v.Finding, v.DecidedBy = Regressed, Certain
		v.Evidence.Q = e.q
		v.Reason = fmt.Sprintf("beyond the threshold of %.4g %%, and beyond what two sessions of unchanged code differ by", limit)
	}
	return v
}

// testTwoSample judges all numbers of the method together. Of code that equals its base only a loss is certain that hardly
// any host makes.
func testTwoSample(sides []detect.TwoSample, numbers []seriesKey, healthy map[string]bool, sameCode bool) twoSampleResults {
	ps := make([]float64, len(sides))
	found := detect.JudgeTwoSample(sides)
	at := make(map[seriesKey]int32, len(sides))
	for i, e := range found {
		ps[i], at[numbers[i]] = e.P, int32(i)
	}
	return twoSampleResults{at, found, detect.AdjustHolm(ps), healthy, sameCode}
}

// twoSampleResults are those of all numbers of the method.
type twoSampleResults struct {
	at       map[seriesKey]int32 // where the lists have a number
	found    []detect.TwoSampleEvidence
	q        []float64
	healthy  map[string]bool // by the id of the cell
	sameCode bool
}

// of returns the result of a number; ok is false where it is judged by another method.
func (rs *twoSampleResults) of(n seriesKey) (r twoSampleResult, ok bool) {
	i, ok := rs.at[n]
	if !ok {
		return r, false
	}
	large := largeLoss(&rs.found[i], rs.healthy[n.cell] && !rs.sameCode)
	return twoSampleResult{rs.found[i], rs.q[i], len(rs.found), large, rs.sameCode}, true
}

// largeLoss is the slow-down that blocks whatever the tests show.
func largeLoss(e *detect.TwoSampleEvidence, healthy bool) float64 {
	if healthy {
		return min(e.Huge, e.Large)
	}
	return e.Huge
}

// healthy returns, by the id of the cell, whether the host was healthy, and not only
// unknown to be unhealthy.
func healthy(cells []cell) map[string]bool {
	of := map[string]bool{}
	for _, c := range cells {
		if c.got.Health != nil && c.got.Health.Status == bench.Healthy {
			of[c.id] = true
		}
	}
	return of
}

// withinChance makes a loss beyond the threshold inconclusive that two sessions of
// unchanged code may differ by: without pairs and history, nothing shows how much they do.
func withinChance(ev *testResults, n seriesKey, m *described, v Verdict) Verdict {
	e, ok := ev.sides.of(n)
	if !ok || v.Evidence.Method != MethodThreshold {
		return v
	}
	v.Evidence.Method, v.Evidence.P, v.Evidence.Q = MethodSessions, e.P, e.q
	v.Evidence.MDE = max(v.Evidence.Limit, math.Abs(m.Better.GainOf(e.certainLoss(ev.share))))
	if v.Finding == Regressed && !v.Undecided() && !e.certain(ev.share) {
		why := "two sessions of unchanged code may differ by as much"
		if e.sameCode {
			why = "nothing differs from the base, and two sessions may differ by as much"
		}
		v.undecide(ByPairs, fmt.Sprintf("%s: a loss blocks from %.3g %% on; decide it in pairs with --ab", why, v.Evidence.MDE))
	}
	return v
}
