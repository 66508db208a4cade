package gate

import (
	"fmt"
	"math"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/text"
)

// testOf chooses the best evidence that all members have.
func (in *inputs) testOf(b *budgeted) meanTest {
	g := &b.group
	m := mediansOf(g)
	switch {
	case in.policy.Method == MethodThreshold:
		return m
	case g.paired:
		return newPairsMean(in, m)
	}
	if h, ok := newHistoryMean(b, m); ok {
		return h
	}
	return newTwoSampleMean(in, m)
}

// thresholdMean compares the medians of both sides, without any test.
type thresholdMean struct {
	metric   *described
	members  []member
	old, new float64 // geometric means
	values   int     // of the head
	olds     int     // of the base
}

func mediansOf(g *group) *thresholdMean {
	m := &thresholdMean{metric: g.metric, members: g.members}
	var olds, news []float64
	for i := range g.members {
		one := &g.members[i]
		if base, head := one.now.Pairs(); one.old == nil {
			olds, news = append(olds, stats.Median(base)), append(news, stats.Median(head))
			m.olds, m.values = m.olds+len(base), m.values+max(1, len(head))
			continue
		}
		olds, news = append(olds, one.old.Median()), append(news, one.now.Median())
		m.olds, m.values = m.olds+max(1, one.old.Summarize().N), m.values+max(1, len(one.now.Values))
	}
	m.old, m.new = geometric(olds), geometric(news)
	return m
}

func (m *thresholdMean) p() float64 { return 1 }

func (m *thresholdMean) result(*budgeted, float64) meanFinding {
	delta, _ := m.metric.Better.Gain(m.old, m.new)
	paired := len(m.members) > 0 && m.members[0].old == nil
	return meanFinding{old: m.old, new: m.new, delta: delta, interval: [2]float64{delta, delta}, certain: true, values: m.values,
		evidence: Evidence{Method: MethodThreshold, InPairs: paired, OldN: m.olds, NewN: m.values}, decider: ByPairs}
}

// pairsMean is the exact test of the pairs of the first look, which every cell has
// whatever its values are.
type pairsMean struct {
	*thresholdMean
	detect.MeanEvidence
	of int // pairs of each cell, at most
}

func newPairsMean(in *inputs, m *thresholdMean) *pairsMean {
	maximum := math.MaxInt
	if !in.policy.OneLook {
		maximum = stages(in.run).Looks[0].Pairs
	}
	t := &pairsMean{thresholdMean: m}
	cells := make([]detect.Cell, len(m.members))
	for i := range m.members {
		base, head := m.members[i].now.Pairs()
		k := min(len(base), maximum)
		t.of = max(t.of, k)
		cells[i] = detect.Cell{Base: base[:k], Head: head[:k], Options: detect.Options{HigherIsBetter: m.metric.Better != bench.Lower}}
	}
	t.MeanEvidence = detect.JudgeMean(cells)
	return t
}

func (t *pairsMean) p() float64 { return t.P }

func (t *pairsMean) result(b *budgeted, alpha float64) meanFinding {
	d := t.metric
	f := t.thresholdMean.result(b, alpha)
	f.certain, f.convicts, f.values = false, true, t.Pairs
	f.delta, f.interval = d.Better.GainOf(t.Estimate), [2]float64{d.Better.GainOf(t.High), d.Better.GainOf(t.Low)}
	f.decider = ByMorePairs
	f.evidence = Evidence{Method: MethodPairs, InPairs: true, OldN: t.Pairs, NewN: t.Pairs, Pairs: t.of, P: t.P,
		Noise: 100 * t.Noise, NoiseFloor: 100 * t.Noise,
		MDE: math.Abs(d.Better.GainOf(t.MDE(alpha, d.Better.Slowdown(b.Loss))))}
	f.more = fmt.Sprintf("%d pairs find one from %.1f %% on; measure more with --pairs %d", t.Pairs, f.evidence.MDE, max(5, 2*t.of))
	switch {
	case t.Unusable > 0:
		f.interval = [2]float64{-100, 0}
		f.more = fmt.Sprintf("%s with a pair whose value is not a positive number: measure again", text.Plural(t.Unusable, "cell"))
	case t.MinP > alpha:
		f.evidence.MDE = 0
		f.more = fmt.Sprintf("%s cannot show a loss at all: measure more with --pairs %d", text.Plural(t.Pairs, "pair"), max(5, 2*t.of))
	}
	return f
}

// historyMean takes the geometric mean of a run for one number, and judges it by those of
// earlier runs, as a cell is: what moves all cells of a run together is in its noise.
type historyMean struct {
	*thresholdMean
	detect.Evidence
	base, head []float64
	accepted   bool
}

// newHistoryMean needs at least 3 earlier runs with a number of every member.
func newHistoryMean(b *budgeted, m *thresholdMean) (*historyMean, bool) {
	t := &historyMean{thresholdMean: m}
	var all []float64
	t.base, t.head = meansOf(m.members, (*bench.Sample).Level)
	o := m.metric.options(detect.History, b.Loss, b.Loss)
	for i := range m.members {
		if m.members[i].old.Unhealthy != nil && all == nil {
			all, _ = meansOf(m.members, func(s *bench.Sample) [][]float64 { return s.History })
			o.Wide = detect.Wide(all)
		}
	}
	t.Evidence = detect.JudgeApart([]detect.Cell{{Base: t.base, Head: t.head, Options: o}}, 1).Cells[0]
	if t.Verdict == detect.Untested || t.K < minRuns {
		return nil, false
	}
	t.accepted = recordedLoss(m.metric.Better, stats.Median(lastUsable(t.base, t.K)), m.old, stats.Median(t.head), b.Loss)
	return t, true
}

// meansOf returns the geometric means of earlier runs, NaN where one lacks a member, and
// of the new one: one for each of its sessions where they are known, else one.
func meansOf(members []member, level func(*bench.Sample) [][]float64) (base, head []float64) {
	bases, heads := make([][]float64, len(members)), make([][]float64, len(members))
	runs, news := math.MaxInt, math.MaxInt
	for i := range members {
		m := &members[i]
		bases[i], heads[i] = detect.OneEach(level(m.old), m.now.Values)
		if m.got.Sessions >= 2 && len(m.now.Values) == m.got.Sessions {
			heads[i] = m.now.Values
		}
		runs, news = min(runs, len(bases[i])), min(news, len(heads[i]))
	}
	for i := range members {
		if len(heads[i]) != news { // sessions that do not go together
			return nil, nil
		}
	}
	at := func(of [][]float64, fromEnd int) float64 {
		values := make([]float64, len(of))
		for i := range of {
			values[i] = of[i][len(of[i])-fromEnd]
		}
		return geometric(values)
	}
	for k := runs; k > 0; k-- {
		base = append(base, at(bases, k))
	}
	for k := news; k > 0; k-- {
		head = append(head, at(heads, k))
	}
	return base, head
}

// p is 1 where effect, separation or too few new runs forbid an alarm.
func (t *historyMean) p() float64 {
	if t.Verdict != detect.Regressed {
		return 1
	}
	return t.P
}

func (t *historyMean) result(b *budgeted, _ float64) meanFinding {
	d := t.metric
	f := meanFinding{old: stats.Median(lastUsable(t.base, t.K)), new: stats.Median(t.head), values: t.values,
		delta: d.Better.GainOf(t.Estimate), interval: [2]float64{d.Better.GainOf(t.High), d.Better.GainOf(t.Low)},
		convicts: t.Verdict == detect.Regressed, accepted: t.accepted}
	f.decider = ByPairs
	f.evidence = Evidence{Method: MethodHistory, OldN: t.K, NewN: t.N, P: t.P,
		Noise: 100 * t.NoiseFloor, NoiseFloor: 100 * t.NoiseFloor, MDE: math.Abs(d.Better.GainOf(t.MDE))}
	f.more = "measure in pairs with --ab"
	if t.N < minHeads {
		f.more = fmt.Sprintf("%d of the %d new runs that can show a loss of a mean against earlier runs: measure in pairs with --ab",
			t.N, minHeads)
	}
	return f
}

// twoSampleMean compares two sessions. What differs between sessions may be common to all
// cells, so their number does not make the mean surer than one cell of their noise is.
type twoSampleMean struct {
	*thresholdMean
	detect.TwoSampleEvidence
	large float64 // slow-down that blocks whatever p is
}

func newTwoSampleMean(in *inputs, m *thresholdMean) *twoSampleMean {
	s := detect.TwoSample{
		Base:           detect.Side{Median: m.old},
		Head:           detect.Side{Median: m.new},
		HigherIsBetter: m.metric.Better != bench.Lower,
	}
	watched := healthy(in.cells)
	all := true
	for i := range m.members {
		o, n := m.members[i].old.Summarize(), m.members[i].now.Summarize()
		before, now := baseSide(&o), detect.NewSide(n.Median, n.MAD, n.N)
		s.Base.Noise += math.Pow(before.Noise, 2)
		s.Head.Noise += math.Pow(now.Noise, 2)
		s.Base.N, s.Head.N = smaller(s.Base.N, before.N, i), smaller(s.Head.N, now.N, i)
		all = all && watched[m.members[i].id]
	}
	k := float64(len(m.members))
	s.Base.Noise, s.Head.Noise = math.Sqrt(s.Base.Noise/k), math.Sqrt(s.Head.Noise/k)
	t := &twoSampleMean{thresholdMean: m, TwoSampleEvidence: detect.JudgeTwoSample([]detect.TwoSample{s})[0]}
	t.large = largeLoss(&t.TwoSampleEvidence, all)
	return t
}

func smaller(n, other, i int) int {
	if i == 0 {
		return other
	}
	return min(n, other)
}

func (t *twoSampleMean) p() float64 { return t.P }

func (t *twoSampleMean) result(b *budgeted, alpha float64) meanFinding {
	d := t.metric
	f := t.thresholdMean.result(b, alpha)
	minimum := t.MinLoss(alpha)
	f.convicts, f.certain = true, t.Estimate >= t.large
	half := t.MinLoss(0.025)
	f.interval = [2]float64{d.Better.GainOf((1+t.Estimate)*(1+half) - 1), d.Better.GainOf((1+t.Estimate)/(1+half) - 1)}
	f.evidence.Method, f.evidence.P, f.evidence.MDE = MethodSessions, t.P, max(b.Loss, math.Abs(d.Better.GainOf(min(t.large, minimum))))
	f.more = fmt.Sprintf("two sessions of unchanged code may differ as much, and show one from %.3g %% on; decide it in pairs with --ab",
		f.evidence.MDE)
	return f
}
