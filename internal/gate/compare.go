package gate

import (
	"fmt"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
)

type comparer struct {
	policy   Policy
	run, ref *bench.Run
	byID     map[string]*bench.Result // the reference's results
	seen     map[string]bool          // ids of the run
	metrics  []described              // of both runs
	tracked  int                      // cells that pass on both sides, with a number judged or none to judge; above 0 is what counts
	alone    map[string]bool          // cells that pass and were judged without the host's baseline
	paired   int                      // those of them that were judged by pairs with the base
	results  []*bench.Result          // the run's, without the values that chose a cell to be measured again
	evidence evidence
	host     hostShift
	parts    parts // of the cell that is judged
	absences map[string][]lack
	out      Comparison
}

func (c *comparer) index() {
	c.withoutExpected()
	c.seen, c.alone = make(map[string]bool, len(c.run.Results)), map[string]bool{}
	c.results = judgedOf(c.run)
	c.refuseImpossible()
	c.describe()
	c.absences = c.lacks()
	if c.ref == nil {
		c.out.Unjudged = "there is no baseline for this host"
		return
	}
	c.byID = make(map[string]*bench.Result, len(c.ref.Results))
	for i := range c.ref.Results {
		c.byID[c.ref.Results[i].Cell.ID()] = &c.ref.Results[i]
	}
}

// described is a metric of either side. Where both describe it, the
// reference's word counts, because it was reviewed.
type described struct {
	bench.Metric
	contradiction string // how the two sides mean different things by the name
	// instead names the metric that is gated in place of this one where it
	// applies: FallbackFor, if that is one which is always gated.
	instead string
	step    step
}

func (c *comparer) describe() {
	if c.ref != nil {
		for i := range c.ref.Metrics {
			m := &c.ref.Metrics[i]
			now := c.run.Metric(m.Name)
			if now != nil && now.Resolution > m.Resolution && m.Gates() && !c.ref.Host.Unknown() {
				c.add(Verdict{Metric: m.Name, Class: Mismatch, Level: Warn, Reason: fmt.Sprintf("%s is printed in steps of %v and the baseline has steps of %v, which count: "+
					"record the cells again with baseline update", m.Name, now.Resolution, m.Resolution)})
			}
			d := described{Metric: *m, contradiction: Contradiction("baseline", m, now), step: printed(m, now, !c.ref.Host.Unknown())}
			if d.Kind = m.Quantity(); d.Kind == 0 && now != nil {
				d.Kind = now.Quantity()
			}
			c.metrics = append(c.metrics, d)
		}
	}
	for _, m := range c.run.Metrics {
		if c.ref == nil || c.ref.Metric(m.Name) == nil {
			c.metrics = append(c.metrics, described{Metric: m})
		}
	}
	for i := range c.metrics {
		m := &c.metrics[i]
		if slices.ContainsFunc(c.metrics, func(o described) bool { return o.Name == m.FallbackFor && o.Gates() }) {
			m.instead = m.FallbackFor
		}
	}
}

// Contradiction says how the two sides mean different things by a metric's
// name, so that its numbers cannot be compared: a change of unit or direction,
// or a metric that is taken out of the gate. "" if they do not, or if the run
// has not heard of it. name is what the reference is called.
func Contradiction(name string, ref, run *bench.Metric) string {
	switch {
	case run == nil:
	case ref.Better != run.Better:
		return fmt.Sprintf("%s is better in the %s and %s in the run", ref.Better, name, run.Better)
	case ref.Unit != run.Unit && ref.Unit != "" && run.Unit != "":
		return fmt.Sprintf("its unit is %q in the %s and %q in the run", ref.Unit, name, run.Unit)
	case ref.Exact != run.Exact || ref.Informational != run.Informational || ref.CountedBy != run.CountedBy || ref.ConfirmedBy != run.ConfirmedBy || ref.MinCount != run.MinCount:
		return "it is gated in another way in the " + name + " than in the run"
	}
	return ""
}

func (c *comparer) add(v Verdict) {
	if v.Reference == "" {
		v.Reference = c.out.Reference
	}
	if v.Metric == "" && v.Cell != "" {
		v.Evidence.Method = "outcome"
	}
	c.out.Verdicts = append(c.out.Verdicts, v)
}

// judge counts a result and gives its verdicts.
func (c *comparer) judge(got *bench.Result) {
	id := got.Cell.ID()
	c.seen[id] = true
	if got.Outcome != bench.Skipped {
		c.out.Measured++
	}
	if got.Outcome == bench.Passed {
		c.out.Passed++
	}
	before := len(c.out.Verdicts)
	if c.policy.Compat == CompatTensorSharp {
		c.tensorSharp(id, c.byID[id], got)
	} else {
		c.cell(id, c.byID[id], got)
	}
	c.unreported(got, before)
	c.takeBack(got, c.out.Verdicts[before:])
	if got.Cause == "" && got.Device == "" && got.Retries == 0 && got.Selected == 0 {
		return
	}
	for i := range c.out.Verdicts[before:] {
		v := &c.out.Verdicts[before+i]
		v.Cause, v.Device, v.Retries = got.Cause, got.Device, got.Retries
		if got.Selected > 0 && v.Metric != "" {
			v.Evidence.Again = values(got, v.Metric)
		}
	}
}

// cell applies TensorSharp's rules in their order, with one difference: a cell
// that fails blocks even where the reference does not know it, because a wrong
// answer needs no baseline to be wrong. One that suites' files say something of
// is judged by that first.
func (c *comparer) cell(id string, ref, got *bench.Result) {
	e, expected := c.policy.Expected[id]
	switch {
	case got.Outcome == bench.Skipped:
		c.skipped(id, got)
	case got.Outcome != bench.Passed:
		c.failed(id, ref, got)
	case expected:
		c.expected(id, e, ref != nil && ref.Outcome == bench.Passed, got)
		if ref != nil {
			c.known(id, ref, got)
		} else if inPairs(got) {
			c.speed(id, &bench.Result{Outcome: bench.Passed}, got)
		}
	case ref == nil && inPairs(got):
		c.speed(id, &bench.Result{Outcome: bench.Passed}, got)
	case ref == nil:
		c.add(Verdict{Cell: id, Class: Untracked, Level: Warn, Reason: "the baseline does not have this cell"})
	default:
		c.known(id, ref, got)
	}
}

// known judges a cell that passed and that the reference has.
func (c *comparer) known(id string, ref, got *bench.Result) {
	if ref.Outcome != bench.Passed {
		c.add(Verdict{Cell: id, Class: Fixed, Level: Off, Reason: "failed in the baseline, passes now"})
		if inPairs(got) { // the base passes, too
			c.speed(id, &bench.Result{Outcome: bench.Passed}, got)
		}
		return
	}
	if why := asked(ref, got); why != "" {
		c.add(Verdict{Cell: id, Class: Inconclusive, Level: Fail, Reason: why})
		return
	}
	c.speed(id, ref, got)
}

func (c *comparer) skipped(id string, got *bench.Result) {
	v := Verdict{Cell: id, Class: Skipped, Level: Off, Reason: got.Reason}
	if c.owed(id) {
		v.Level = Fail
		v.Reason = "newly skipped: " + got.Reason
	}
	c.add(v)
}

func (c *comparer) failed(id string, ref, got *bench.Result) {
	v := Verdict{Cell: id, Class: RuntimeFailure, Level: Fail, Delta: -100, Reason: got.Reason}
	if got.Outcome == bench.Incorrect {
		v.Class = CorrectnessFailure
	}
	if ref != nil && ref.Outcome != bench.Passed {
		v.Level, v.Delta = Warn, 0
		v.Reason = "known failure, recorded in the baseline: " + got.Reason
	}
	c.add(v)
}

// leftOut reports the cells that a limit kept from being measured.
func (c *comparer) leftOut() {
	for _, out := range c.run.LeftOut {
		if out.Cell == "" || c.seen[out.Cell] {
			continue // it was measured, or is declared already
		}
		c.seen[out.Cell] = true
		v := Verdict{Cell: out.Cell, Class: LeftOut, Level: Off, Reason: out.Reason}
		if c.owed(out.Cell) {
			v.Level = Fail
			if c.policy.LeftOut == LeftOutWarn {
				v.Level = Warn
			}
		}
		c.add(v)
	}
}

// missing reports the cells that vanished from the run: the reference's, then
// those of suites' files.
func (c *comparer) missing() {
	unselected := make(map[string]bool, len(c.run.Unselected))
	for _, id := range c.run.Unselected {
		unselected[id] = true
	}
	if c.ref != nil {
		c.vanished(unselected)
	}
	c.absent(unselected)
}

func (c *comparer) vanished(unselected map[string]bool) {
	for i := range c.ref.Results {
		id := c.ref.Results[i].Cell.ID()
		switch {
		case c.seen[id]:
		case unselected[id]:
			c.out.Unselected++
		default:
			level := Fail
			if c.ref.Results[i].Outcome != bench.Passed {
				level = Warn
			}
			c.seen[id] = true
			c.add(Verdict{Cell: id, Class: Missing, Level: level,
				Reason: c.whyVanished(c.ref.Results[i].Cell.Suite)})
		}
	}
}

// whyVanished gives the remedy for a cell of a suite that the run lacks. The suite may be another configuration's, which
// shares the folder of baselines; that excuses nothing, because a suite that was deleted looks the same.
func (c *comparer) whyVanished(suite string) string {
	of := func(r bench.Result) bool { return r.Cell.Suite == suite }
	if suite == "" || slices.ContainsFunc(c.run.Results, of) {
		return "the baseline has this cell and the run does not; if it was removed on purpose, prune it from the baseline"
	}
	return fmt.Sprintf("the baseline has this cell of suite %q and the run has no cell of that suite; if another configuration records into this folder, "+
		"give each configuration a folder of its own with the key baselines; if the suite was removed on purpose, prune the cell from the baseline", suite)
}

// speed judges the metrics of a cell that passes on both sides. The cell counts
// as tracked if any of them was judged, or if there is none to judge.
func (c *comparer) speed(id string, ref, got *bench.Result) {
	before := len(c.out.Verdicts)
	for i := range c.metrics {
		m := &c.metrics[i]
		if m.contradiction == "" && (m.Informational || m.tooFew(ref)) {
			continue
		}
		old, new := ref.Sample(m.Name), got.Sample(m.Name)
		if old == nil && new == nil {
			continue
		}
		if v, ok := c.metric(m, ref, got, old, new); ok {
			v.Cell, v.Metric = id, m.Name
			c.add(c.plausible(&m.Metric, v))
		}
	}
	verdicts := c.out.Verdicts[before:]
	c.confirm(verdicts)
	if len(verdicts) == 0 {
		c.add(Verdict{Cell: id, Class: Unchanged, Level: Off})
	}
	if len(verdicts) == 0 || slices.ContainsFunc(verdicts, Verdict.judged) {
		c.tracked++
	}
	if slices.ContainsFunc(verdicts, func(v Verdict) bool { return v.Evidence.Mode == detect.Interleaved && v.judged() }) {
		c.paired++
		c.alone[id] = true
	}
	c.anchors(id, ref, got, verdicts)
}

// metric judges one metric; ok is false when another one is gated instead.
func (c *comparer) metric(m *described, ref, got *bench.Result, old, new *bench.Sample) (v Verdict, ok bool) {
	if old != nil && new == nil {
		return Verdict{Class: Missing, Level: Fail, Delta: -100, Old: summarize(old).Median,
			Reason: fmt.Sprintf("the baseline has %s for this cell and the run does not", m.Name)}, true
	}
	if m.instead != "" && (applies(ref, m.instead) || applies(got, m.instead)) {
		return Verdict{}, false
	}
	if v, ok := m.impossible(old, new); ok {
		return v, true
	}
	if v, ok := c.byEvidence(m, got.Cell.ID()); ok {
		return m.step.doubt(&m.Metric, v), true
	}
	if c.byPairs(m, ref, got, old, new) {
		return c.byBase(m, got.Selected, new), true
	}
	switch {
	case old == nil:
		return Verdict{Class: Untracked, Level: Warn, New: summarize(new).Median,
			Reason: fmt.Sprintf("the baseline does not have %s for this cell", m.Name)}, true
	case c.run.Metric(m.Name) == nil:
		return Verdict{Class: Inconclusive, Level: Fail, Old: summarize(old).Median, New: summarize(new).Median,
			Reason: "the run does not say what " + m.Name + " is: measure it again with this version of accelgate"}, true
	case m.contradiction != "":
		return Verdict{Class: Inconclusive, Level: Fail, Old: summarize(old).Median, New: summarize(new).Median,
			Reason: m.contradiction + "; if that is meant, record it with baseline update --force"}, true
	case m.Exact:
		return exact(old, new), true
	case c.out.Unjudged != "":
		return Verdict{Class: Inconclusive, Level: Off, Old: summarize(old).Median, New: summarize(new).Median,
			Reason: "speed was not judged: " + c.out.Unjudged}, true
	case unchanged(ref, got):
		return digest(old, new), true
	case m.doubt(got) != "" || m.tooFew(got):
		return Verdict{Class: Inconclusive, Level: Warn, Old: summarize(old).Median, New: summarize(new).Median, Reason: m.doubtful(got)}, true
	}
	v = c.withinChance(m, got.Cell.ID(), m.step.doubt(&m.Metric, threshold(&m.Metric, old, new, c.policy.Threshold)))
	if v.Class == Regressed && v.Evidence.NewN == 1 {
		v.Reason = joined(v.Reason, single)
	}
	return v, true
}

// byPairs reports whether a number without evidence is compared with that of the
// base that it was measured alternately with: there are too few pairs, or one of them
// holds no number that can be tested, or the policy wants the threshold alone.
func (c *comparer) byPairs(m *described, ref, got *bench.Result, old, new *bench.Sample) bool {
	switch {
	case len(new.Base) == 0 || c.policy.Compat != "" || m.contradiction != "" || m.doubt(got) != "" || m.tooFew(got):
		return false
	case m.Exact:
		return old == nil // what the baseline says must be equal counts
	}
	return c.out.Unjudged != "" || !unchanged(ref, got)
}

// byBase is the verdict of the threshold, or of equality, on pairs. Those that
// made the cell suspect do not count.
func (c *comparer) byBase(m *described, selected int, new *bench.Sample) (v Verdict) {
	n := len(new.Base)
	first := 0
	if selected < n {
		first = selected
	}
	base := bench.Sample{Metric: m.Name, Values: new.Base[first:]}
	head := bench.Sample{Metric: m.Name, Values: new.Values[len(new.Values)-n+first:]}
	if m.Exact {
		v = exact(&base, &head)
	} else if v = m.step.doubt(&m.Metric, threshold(&m.Metric, &base, &head, c.policy.Threshold)); v.Class == Regressed && v.Evidence.NewN == 1 {
		v.Reason = joined(v.Reason, single)
	}
	v.Reference, v.Evidence.Mode = pairReference, detect.Interleaved
	return v
}

const single = "rests on a single measurement: measure the cell again with --only and --repeats 5"

func joined(reason, more string) string {
	if reason == "" {
		return more
	}
	return reason + "; " + more
}

// applies reports whether the result has the metric above 0, which is how
// TensorSharp's programs say that it applies.
func applies(r *bench.Result, metric string) bool {
	s := r.Sample(metric)
	return s != nil && summarize(s).Median > 0
}
