package gate

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/stats"
)

// numberOf names one number of a run.
type numberOf struct{ cell, metric string }

// evidence is what package detect found of every number that has pairs, or
// enough earlier runs on the same machine. It is found for all of them at once,
// because a run of many cells has many chances for a false alarm.
type evidence struct {
	of    map[numberOf]weighed
	host  detect.Evidence            // on what moved all cells alike
	sides map[numberOf]sidesEvidence // of numbers without pairs and history
	share float64                    // of false alarms that each road may spend
	next  map[numberOf]bool          // losses that this run confirms
	began Began                      // with which commits
}

// weighed is the evidence of one number, with what it is about.
type weighed struct {
	detect.Evidence
	detect.Cell
}

// leastRuns is how many earlier runs say how much runs of a cell differ. With
// fewer, the fixed limit decides.
const leastRuns = 3

// gather finds the evidence.
func (c *comparer) gather() {
	if c.policy.Method == MethodThreshold || c.policy.Compat != "" {
		return
	}
	var cells []detect.Cell
	var numbers []numberOf
	var sides []detect.Sides
	var without []numberOf
	next := c.newNextRun()
	for _, got := range c.results {
		if got.Outcome != bench.Passed || got.Doubt != "" || c.ref == nil && !inPairs(got) {
			continue
		}
		id := got.Cell.ID()
		ref := c.byID[id]
		if ref != nil && ref.Outcome != bench.Passed {
			ref = nil
		}
		for k := range c.metrics {
			m := &c.metrics[k]
			if cell, ok := c.evident(m, ref, got); ok {
				cells, numbers = append(cells, cell), append(numbers, numberOf{id, m.Name})
				next.add(cell, ref, got, m.Name)
				if values := got.Sample(m.Name).Values; few(cell) && len(values) >= leastValues {
					sides, without = append(sides, sidesOfRuns(cell, values)), append(without, numberOf{id, m.Name})
				}
			} else if pair, ok := c.sidesOf(m, ref, got); ok {
				sides, without = append(sides, pair), append(without, numberOf{id, m.Name})
			}
		}
	}
	c.evidence.share = c.policy.falseAlarms() / float64(max(1, one(slices.ContainsFunc(cells, convicts) || next.any())+one(len(sides) > 0)))
	if len(cells) > 0 {
		c.weigh(cells, numbers)
		c.confirmNext(next)
	}
	if len(sides) > 0 {
		c.evidence.sides = weighSides(sides, without, c.healthy())
	}
}

// inPairs reports whether the result was measured alternately with the base.
func inPairs(r *bench.Result) bool {
	return slices.ContainsFunc(r.Samples, func(s bench.Sample) bool { return len(s.Base) > 0 })
}

// weigh judges all numbers together. What all cells share stays in them where it
// is remarkable: it is what they must be named for.
func (c *comparer) weigh(cells []detect.Cell, numbers []numberOf) {
	r := detect.JudgeGroup(cells, c.evidence.share)
	if !c.policy.OneLook {
		r = detect.JudgeRun(cells, c.stages(), c.evidence.share)
	}
	c.evidence.of, c.evidence.host = make(map[numberOf]weighed, len(cells)), r.Host
	for i, e := range r.Cells {
		c.evidence.of[numbers[i]] = weighed{e, cells[i]}
	}
}

// stages are those that the pairs of the run were measured in.
func (c *comparer) stages() detect.Stages {
	first, err := strconv.Atoi(c.run.Context[bench.FirstPairs])
	if err != nil {
		return detect.DefaultStages()
	}
	return detect.StagesFrom(min(first, mostFirst))
}

// mostFirst bounds what a run may claim.
const mostFirst = 100

// evident returns the samples of a number that is gated and has pairs, or else
// history. ref is nil where the reference has no numbers of the cell.
func (c *comparer) evident(m *described, ref, got *bench.Result) (cell detect.Cell, ok bool) {
	now := got.Sample(m.Name)
	if now == nil || len(now.Values) == 0 || !c.measures(m, ref, got) {
		return cell, false
	}
	limit := c.policy.minEffect()
	o := detect.Options{HigherIsBetter: m.Better != bench.Lower, MinEffect: m.slower(limit), Tolerance: m.slower(max(limit, c.policy.Threshold))}
	if n := len(now.Base); n > 0 {
		o.Mode = detect.Interleaved
		return detect.Cell{Base: now.Base, Head: now.Values[len(now.Values)-n:], Options: o}, true
	}
	if ref == nil || c.out.Unjudged != "" || m.tooFew(ref) {
		return cell, false
	}
	old := ref.Sample(m.Name)
	if old == nil || earlierRuns(old) < leastRuns {
		return cell, false
	}
	o.Mode = detect.History
	base, head := detect.Sessions(old.Level(), now.Values, got.Sessions < 2)
	if old.Unhealthy != nil {
		all, _ := detect.Sessions(old.History, now.Values, got.Sessions < 2)
		o.Wide = detect.Wide(all)
	}
	return detect.Cell{Base: base, Head: head, Options: o}, true
}

// measures reports whether a number is one whose change can be judged.
func (c *comparer) measures(m *described, ref, got *bench.Result) bool {
	switch {
	case m.Informational || m.Exact || m.contradiction != "" || m.doubt(got) != "" || m.tooFew(got):
		return false
	case ref != nil && c.out.Unjudged == "" && unchanged(ref, got):
		return false
	}
	return m.instead == "" || !applies(got, m.instead) && (ref == nil || !applies(ref, m.instead))
}

// falseAlarms is the chance, as a fraction, that a report on unchanged code blocks
// for speed.
func (p *Policy) falseAlarms() float64 {
	if p.FalseAlarms > 0 {
		return p.FalseAlarms / 100
	}
	return detect.DefaultFalseAlarms
}

func (p *Policy) minEffect() float64 {
	if p.MinEffect > 0 {
		return p.MinEffect
	}
	return DefaultMinEffect
}

func earlierRuns(s *bench.Sample) (n int) {
	for _, run := range s.History {
		if len(run) > 0 {
			n++
		}
	}
	return n
}

// slower turns a loss in percent of the metric into the relative slow-down that
// detect uses: 10 % of a rate are 11 % more time.
func (m *described) slower(percent float64) float64 {
	if m.Better == bench.Lower {
		return percent / 100
	}
	return 1/(1-min(percent, 99)/100) - 1
}

// percent undoes slower, negative for the worse.
func (m *described) percent(slower float64) float64 {
	if m.Better == bench.Lower {
		return -100 * slower
	}
	return 100 * (1/(1+max(slower, -0.999999)) - 1)
}

// byEvidence is the verdict on a number of which there is evidence; ok is false
// where there is none, or where it is no number that can be tested.
func (c *comparer) byEvidence(m *described, id string) (v Verdict, ok bool) {
	e, ok := c.evidence.of[numberOf{id, m.Name}]
	if !ok || e.Verdict == detect.Untested || e.Mode == detect.History && e.K < leastRuns { // of what is left without unusable values
		return v, false
	}
	v = Verdict{Old: stats.Median(newest(e.Base, e.K)), New: stats.Median(e.Head),
		Delta: m.percent(e.Estimate), Interval: [2]float64{m.percent(e.High), m.percent(e.Low)}}
	v.Evidence = Evidence{Method: "evidence", Limit: c.policy.minEffect(), OldN: e.K, NewN: e.N, Noise: 100 * e.NoiseFloor,
		Mode: e.Mode, P: e.P, Q: e.Q, NoiseFloor: 100 * e.NoiseFloor, MDE: math.Abs(m.percent(e.MDE)), Pairs: e.Used, Need: e.Need}
	if e.Mode == detect.Interleaved {
		v.Reference = pairReference
	}
	c.classify(&v, e.Evidence)
	c.beyondChance(&v, numberOf{id, m.Name})
	c.tellNext(&v, numberOf{id, m.Name})
	if e.Mode == detect.History && v.Delta < 0 && c.accepted(m, id, v.Old, v.New) {
		c.settleLoss(&v)
	}
	return v, true
}

// accepted reports whether a loss against earlier runs is one that people have
// recorded in the committed baseline: that is slower than these runs, too, and the
// number is not slower than that. Earlier runs would hold it against the cell
// until there are enough new ones, which a gate that fails never lets in.
func (c *comparer) accepted(m *described, id string, before, now float64) bool {
	committed, limit := summarize(c.byID[id].Sample(m.Name)).Median, c.policy.minEffect()
	moved, ok := m.Better.Gain(before, committed)
	since, known := m.Better.Gain(committed, now)
	return ok && known && moved <= -limit && since > -limit
}

// settleLoss keeps an accepted loss from blocking.
func (c *comparer) settleLoss(v *Verdict) {
	if v.Class == Inconclusive {
		v.Level = c.policy.open()
	}
	if v.Class == Regressed {
		v.Class, v.Level = Unchanged, Off
		v.Reason = "slower than earlier runs, and not than the baseline, in which that was accepted"
	}
}

// newest returns the last n values that are measured: what the score took.
func newest(values []float64, n int) []float64 {
	usable := slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return !(v > 0) || math.IsInf(v, 1) })
	return usable[max(0, len(usable)-n):]
}

// pairReference names what pairs are compared with.
const pairReference = "base"

// classify turns what detect found into what it means here.
func (c *comparer) classify(v *Verdict, e detect.Evidence) {
	v.Class, v.Level = Unchanged, Off
	switch e.Verdict {
	case detect.Regressed:
		v.Class, v.Level = Regressed, Fail
	case detect.Improved:
		v.Class = v.improved()
	case detect.Suspect:
		v.Class, v.Level = Inconclusive, c.policy.open()
		v.Reason, v.Suspected = "suspected: "+e.Reason, true
		if e.Need > 0 && v.Delta < -c.policy.Threshold-tolerance { // a run that ended early proves nothing
			v.Level = Fail
		}
	case detect.Inconclusive:
		v.Class, v.Level = Inconclusive, c.policy.open()
		v.Reason = fmt.Sprintf("a loss of %.1f %% cannot be excluded: as many values with this noise find one from %.1f %% on; %s", -v.Interval[0], v.Evidence.MDE, measureMore(e.Mode))
	}
}

func measureMore(mode detect.Mode) string {
	if mode == detect.Interleaved {
		return "measure more --pairs"
	}
	return "measure more, or in pairs with --ab"
}

// open is the level of what stays open.
func (p *Policy) open() Level {
	if p.Inconclusive == string(Fail) {
		return Fail
	}
	return Warn
}

// together adds the verdict on what moved all cells alike. The machine itself is
// what is left to blame where the cells have no code in common.
func (c *comparer) together() {
	e := &c.evidence.host
	slower, limit := 100*(1-1/(1+e.Estimate)), c.policy.minEffect()
	if slower < limit || c.acceptedByMost() {
		return
	}
	v := Verdict{Class: Regressed, Level: Fail, Delta: -slower, Reference: c.out.Reference,
		Evidence: Evidence{Method: "evidence", Limit: limit, OldN: e.K, NewN: e.N, Mode: detect.History, P: e.P, NoiseFloor: 100 * e.NoiseFloor, MDE: 100 * e.MDE},
		Interval: [2]float64{100 * (1/(1+e.High) - 1), 100 * (1/(1+max(e.Low, -0.99)) - 1)},
		Reason:   "all cells together moved against earlier runs: a change that everything shares, or the machine; measure in pairs with --ab, which separates the two"}
	switch e.Verdict {
	case detect.Regressed:
	case detect.Suspect, detect.Inconclusive:
		// It is in no cell's number where it was taken out of them, so it must be said.
		v.Class, v.Level = Inconclusive, c.policy.open()
		v.Reason = "all cells together look slower than earlier runs, and these differ too much to say so: measure in pairs with --ab"
		c.add(v)
		return
	default:
		return
	}
	if because := c.host.explains(&v); because != "" && c.policy.Unhealthy != UnhealthyIgnore {
		v.Class = Inconclusive
		v.Reason = joined(v.Reason, "measured "+because)
	}
	c.add(v)
}

// acceptedByMost reports whether what moved all cells is recorded in the baseline
// of most of them.
func (c *comparer) acceptedByMost() bool {
	metrics := make(map[string]*described, len(c.metrics))
	for i := range c.metrics {
		metrics[c.metrics[i].Name] = &c.metrics[i]
	}
	of, accepted := 0, 0
	for number, e := range c.evidence.of {
		if e.Mode != detect.History || e.Verdict == detect.Untested {
			continue
		}
		of++
		if c.accepted(metrics[number.metric], number.cell, stats.Median(newest(e.Base, e.K)), stats.Median(e.Head)) {
			accepted++
		}
	}
	return 2*accepted > of
}
