package gate

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/stats"
)

// seriesKey names one number of a run.
type seriesKey struct{ cell, metric string }

// testResults is what package detect found of every number that has pairs, or
// enough earlier runs on the same machine. It is found for all of them at once,
// because a run of many cells has many chances for a false alarm. It does not change
// after weigh returns it.
type testResults struct {
	of    map[seriesKey]testResult
	host  detect.Evidence  // on what moved all cells alike
	sides twoSampleResults // of numbers without pairs and history
	// processor is that of processor time, by the id of the cell, where processes waited for a
	// processor.
	processor map[string]detect.Evidence
	// scores are those that are tested by standard errors, with false alarms of their own.
	scores  map[seriesKey]scored
	byForce map[Force]*testResults // by the limits that block always, or never
	share   float64                // of false alarms that each method may spend
	began   SuspectRange           // with which commits the losses began that this run confirms
}

// testResult is the evidence of one number, with what it is about.
type testResult struct {
	detect.Evidence
	detect.Cell
	confirmed bool // by this run, after it was suspected in the one before
}

// minRuns is how many earlier runs say how much runs of a cell differ. With
// fewer, the fixed limit decides.
const minRuns = 3

// testCells finds the evidence of all numbers of the run. Numbers with a limit of their own
// are weighed a second time, by it, among all others, so that no limit moves the
// evidence of another number. The rate of false alarms holds for both together: each
// Holm's procedure errs only where the smallest p of an unchanged number is that small.
func testCells(in *inputs) *testResults {
	ev := testSpeeds(in)
	ev.scores = testScores(in)
	ev.byForce = map[Force]*testResults{}
	for _, force := range []Force{Required, Advisory} {
		if of := in.withLimits(in.byForce[force]); of.limitsChanges() {
			ev.byForce[force] = testSpeeds(of)
		}
	}
	return ev
}

func testSpeeds(in *inputs) *testResults {
	if in.policy.Method == MethodThreshold || !in.tool.Statistics {
		return &testResults{}
	}
	if !in.limitsChanges() {
		return testByLimits(in)
	}
	ev, own := testByLimits(in.withoutChanges()), testByLimits(in)
	for number, e := range own.of {
		if _, ok := in.change(number); ok {
			ev.of[number] = e
		}
	}
	return ev
}

// testByLimits finds the evidence by the limits of the inputs.
func testByLimits(in *inputs) *testResults {
	n := numbersOf(in)
	ev := &testResults{share: n.share(in)}
	if len(n.cells) > 0 {
		ev.testFamily(in, n)
		if n.next != nil {
			maps.Copy(ev.of, n.next.confirmed(ev.share))
			ev.began = n.next.suspectRange(in)
		}
	}
	if len(n.sides) > 0 {
		ev.sides = testTwoSample(n.sides, n.without, healthy(in.cells), in.run.Context[bench.SameAsBase] != "")
	}
	return ev
}

// numbers are those of a run that can be weighed.
type numbers struct {
	cells   []detect.Cell // with pairs, or else history
	of      []seriesKey   // cells
	sides   []detect.TwoSample
	without []seriesKey // sides
	next    *nextRun
	// processor is the processor time of cells that waited, by their ids.
	processor []detect.Cell
	waiting   []string
}

func numbersOf(in *inputs) *numbers {
	n := &numbers{next: newNextRun(in)}
	if in.ref != nil && len(in.ref.Earlier) == 0 && in.run.Base == "" { // two sessions are all there is
		n.sides, n.without = make([]detect.TwoSample, 0, in.numbers()), make([]seriesKey, 0, in.numbers())
	}
	for _, c := range in.cells {
		if c.got.Outcome != bench.Passed || c.got.Caveat != "" || in.ref == nil && !inPairs(c.got) {
			continue
		}
		if c.ref != nil && c.ref.Outcome != bench.Passed {
			c.ref = nil
		}
		before := len(n.of)
		for k := range in.metrics {
			n.add(in, &in.metrics[k], c)
		}
		n.busy(in, c, n.of[before:])
	}
	return n
}

// add adds a number to those of its kind of evidence. c.ref is nil where the reference
// has no numbers of the cell.
func (n *numbers) add(in *inputs, m *described, c cell) {
	number := seriesKey{c.id, m.Name}
	samples, ok := samplesFor(in, m, c)
	if !ok {
		if two, ok := twoSampleOf(in, m, c); ok {
			n.sides, n.without = append(n.sides, two), append(n.without, number)
		}
		return
	}
	n.cells, n.of = append(n.cells, samples), append(n.of, number)
	n.next.add(samples, c, m.Name)
	if values := c.got.Sample(m.Name).Values; few(samples) && len(values) >= minValues {
		n.sides, n.without = append(n.sides, twoSampleOfRuns(samples, values)), append(n.without, number)
	}
}

// share is the part of the false alarms that each road may spend, all budgets together,
// and all gains where they fail.
func (n *numbers) share(in *inputs) float64 {
	methods, pairs := 0, slices.ContainsFunc(n.cells, canReject) || n.next.any()
	for _, used := range []bool{pairs, len(n.sides) > 0, len(in.budgets) > 0, in.failsGains()} {
		methods += stats.Indicator(used)
	}
	return in.policy.falseAlarms() / float64(max(1, methods))
}

// inPairs reports whether the result was measured alternately with the base.
func inPairs(r *bench.Result) bool {
	return slices.ContainsFunc(r.Samples, func(s bench.Sample) bool { return len(s.Base) > 0 })
}

// testFamily tests all numbers together. A change that all cells share stays in each
// of them where it is remarkable, so that the cells are named for it.
func (ev *testResults) testFamily(in *inputs, n *numbers) {
	var r detect.Report
	all := slices.Concat(n.cells, n.processor)
	if in.policy.OneLook {
		r = detect.JudgeGroup(all, ev.share)
	} else {
		r = detect.JudgeRun(all, stages(in.run), ev.share)
	}
	ev.of, ev.host, ev.processor = make(map[seriesKey]testResult, len(n.cells)), r.Host, map[string]detect.Evidence{}
	for i, number := range n.of {
		ev.of[number] = testResult{Evidence: r.Cells[i], Cell: n.cells[i]}
	}
	for i, id := range n.waiting {
		ev.processor[id] = r.Cells[len(n.cells)+i]
	}
}

// stages are those that the pairs of the run were measured in.
func stages(run *bench.Run) detect.Stages {
	first, err := strconv.Atoi(run.Context[bench.FirstPairs])
	if err != nil {
		return detect.DefaultStages()
	}
	return detect.StagesFrom(min(first, maxFirst))
}

// maxFirst bounds what a run may claim.
const maxFirst = 100

// samplesFor returns the samples of a number that is gated and has pairs, or else
// history.
func samplesFor(in *inputs, m *described, c cell) (samples detect.Cell, ok bool) {
	now := c.got.Sample(m.Name)
	if now == nil || len(now.Values) == 0 || !measures(in, m, c) {
		return samples, false
	}
	policy := in.policyOf(seriesKey{c.id, m.Name})
	limit := policy.minEffect()
	o := m.options(detect.Interleaved, limit, max(limit, policy.Threshold))
	if base, head := now.Pairs(); len(base) > 0 {
		return detect.Cell{Base: base, Head: head, Options: o}, true
	}
	if c.ref == nil || in.unjudged != "" || m.tooFew(c.ref) {
		return samples, false
	}
	old := c.ref.Sample(m.Name)
	if old == nil || earlierRuns(old) < minRuns {
		return samples, false
	}
	o.Mode = detect.History
	base, head := detect.Sessions(old.Level(), now.Values, c.got.Sessions < 2)
	if old.Unhealthy != nil {
		all, _ := detect.Sessions(old.History, now.Values, c.got.Sessions < 2)
		o.Wide = detect.Wide(all)
	}
	return detect.Cell{Base: base, Head: head, Options: o}, true
}

// options are those of a test with losses in percent of the metric.
func (m *described) options(mode detect.Mode, minEffect, tolerance float64) detect.Options {
	return detect.Options{Mode: mode, HigherIsBetter: m.Better != bench.Lower,
		MinEffect: m.Better.Slowdown(minEffect), Tolerance: m.Better.Slowdown(tolerance)}
}

// measures reports whether a number is one whose change can be judged.
func measures(in *inputs, m *described, c cell) bool {
	switch {
	case in.shows(m, c.id) || in.isBelow(m, c) || in.hasNoLimit(m, c) || in.tested(seriesKey{c.id, m.Name}):
		return false
	case m.Exact || m.contradiction != "" || m.reliability(c.got) != "" || m.tooFew(c.got):
		return false
	case in.counts(m, c):
		return false
	case c.ref != nil && in.unjudged == "" && unchanged(c.ref, c.got):
		return false
	}
	return !m.replaced(c.got) && (c.ref == nil || !m.replaced(c.ref))
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

// byTest is the verdict on a number of which there is evidence; ok is false
// where there is none, or where it is no number that can be tested.
func byTest(in *inputs, ev *testResults, m *described, c cell) (v Verdict, ok bool) {
	number := seriesKey{c.id, m.Name}
	e, ok := ev.of[number]
	if !ok || e.Verdict == detect.Untested || e.Mode == detect.History && e.K < minRuns { // once unusable values are left out
		return v, false
	}
	policy := in.policyOf(number)
	v = Verdict{Old: stats.Median(lastUsable(e.Base, e.K)), New: stats.Median(e.Head),
		Delta: m.Better.GainOf(e.Estimate), Interval: [2]float64{m.Better.GainOf(e.High), m.Better.GainOf(e.Low)}}
	v.Evidence = Evidence{Method: MethodHistory, Limit: policy.minEffect(), OldN: e.K, NewN: e.N, Noise: 100 * e.NoiseFloor,
		P: e.P, Q: e.Q, NoiseFloor: 100 * e.NoiseFloor, MDE: math.Abs(m.Better.GainOf(e.MDE)), Pairs: e.Used, Need: e.Need}
	if e.Mode == detect.Interleaved {
		v.Reference, v.Evidence.Method, v.Evidence.InPairs = pairReference, MethodPairs, true
	}
	v = byProcessor(in, ev, m, c, beyondChance(in, ev, number, classified(in, policy, v, e.Evidence)))
	if e.confirmed {
		v.Confirmed, v.Reason = true, suspectedBefore(ev.began)
	}
	if e.Mode == detect.History && v.Delta < 0 && accepted(in, m, c.id, v.Old, v.New) {
		v = exceptAccepted(v)
	}
	return v, true
}

// accepted reports whether a loss against earlier runs is one that people have
// recorded in the committed baseline: that is slower than these runs, too, and the
// number is not slower than that. Earlier runs would hold it against the cell
// until there are enough new ones, which a gate that fails never lets in.
func accepted(in *inputs, m *described, id string, before, now float64) bool {
	return recordedLoss(m.Better, before, in.byID[id].Sample(m.Name).Median(), now, in.policyOf(seriesKey{id, m.Name}).minEffect())
}

// recordedLoss reports whether the baseline lost more than a limit since earlier runs, and the run did not since the baseline.
func recordedLoss(better bench.Direction, earlier, baseline, now, limit float64) bool {
	moved, ok := better.Gain(earlier, baseline)
	since, known := better.Gain(baseline, now)
	return ok && known && moved <= -limit && since > -limit
}

// isRecorded is the reason of a loss against earlier runs that does not count.
const isRecorded = "slower than earlier runs, and not than the baseline, in which that was accepted"

// exceptAccepted makes an accepted loss none.
func exceptAccepted(v Verdict) Verdict {
	if v.Finding != Regressed {
		return v
	}
	if v.Finding = Unchanged; !v.Undecided() {
		v.Reason = isRecorded
	}
	return v
}

// lastUsable returns the last n values that are measured: what the score took.
func lastUsable(values []float64, n int) []float64 {
	usable := slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return !(v > 0) || math.IsInf(v, 1) })
	return usable[max(0, len(usable)-n):]
}

// pairReference names what pairs are compared with.
const pairReference = "base"

// classified turns what detect found into what it means here.
func classified(in *inputs, p *Policy, v Verdict, e detect.Evidence) Verdict {
	v.Finding = Unchanged
	lost := v.Delta < -p.minEffect()-Tolerance
	switch e.Verdict {
	case detect.Regressed:
		v.Finding = Regressed
	case detect.Improved:
		v.Finding = v.improved()
	case detect.Suspect:
		if e.Need > 0 && v.Delta < -p.Threshold-Tolerance { // a run that ended early excuses nothing
			v.Finding = Regressed
			v.Reason = fmt.Sprintf(
				"%d of %d pairs were measured, and a loss beyond the threshold of %.4g %% is chance in at most 1 of 100 cases",
				v.Evidence.Pairs, e.Need, p.Threshold)
			break
		}
		v.Finding = seen(Regressed, lost && (e.Need == 0 || v.Evidence.suspicious()))
		v.undecide(in.decider(&v), "suspected: "+e.Reason)
	case detect.Inconclusive:
		v.Finding = seen(Regressed, lost && v.Evidence.suspicious())
		v.undecide(in.decider(&v), fmt.Sprintf("a loss of %.1f %% cannot be excluded: "+
			"as many values with this noise find one from %.1f %% on; %s", -v.Interval[0], v.Evidence.MDE, measureMore(e.Mode)))
	}
	return v
}

// decider is what decides a loss that pairs or history leave open.
func (in *inputs) decider(v *Verdict) Decider {
	switch {
	case v.Evidence.Method == MethodPairs:
		return ByMorePairs
	case in.onBranch() && few(detect.Cell{Options: detect.Options{Mode: detect.History}, Head: make([]float64, v.Evidence.NewN)}):
		return ByNextRun
	}
	return ByPairs
}

func measureMore(mode detect.Mode) string {
	if mode == detect.Interleaved {
		return "measure more --pairs"
	}
	return "measure more, or in pairs with --ab"
}
