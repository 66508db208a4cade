package gate

import (
	"cmp"
	"fmt"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/text"
)

// ProcessorTime is the evidence of the processor time of a cell on a loss of its speed: the time
// for which it waited for a processor is not in it.
type ProcessorTime struct {
	// Change is new/old - 1, and Interval that of 95 %.
	Change   float64    `json:"change"`
	Interval [2]float64 `json:"interval"`
	P        float64    `json:"p,omitempty"`
	Q        float64    `json:"q,omitempty"` // P corrected for all that was tested in the report
	Pairs    int        `json:"pairs,omitempty"`
	// Waited is the time for which threads of the cell waited for a processor, over the processor
	// time; Threads are how many of them computed at once, in base and head.
	Waited  float64    `json:"waited,omitempty"`
	Threads [2]float64 `json:"threads"`
	// Unused says why it is no evidence of a loss; "" where it is.
	Unused string `json:"unused,omitempty"`
}

// speed reports whether the metric is a time or a rate.
func (m *described) speed() bool { return m.Quantity() == bench.Time || m.Quantity() == bench.Rate }

// byProcessor lets the processor time of a cell decide on a speed that its pairs leave open.
func byProcessor(in *inputs, ev *testResults, m *described, c cell, v Verdict) Verdict {
	e, tested := ev.processor[c.id]
	open := v.Undecided() || v.Finding == Unchanged && tested
	if !open || v.Evidence.Method != MethodPairs || in.policy.OneLook || !m.speed() {
		return v
	}
	now, options := c.got.Sample(m.Name), ev.of[seriesKey{c.id, m.Name}].Options
	pairs := detect.Cell{Options: options}
	pairs.Base, pairs.Head = now.Pairs()
	p, why := processorOf(c.got, len(pairs.Base))
	limit := m.Better.Slowdown(v.Evidence.Limit)
	t := p.tested(&e, why, limit)
	v.Evidence.Processor = t
	switch {
	case t.Unused != "":
		return v
	case e.Verdict != detect.Regressed:
		return undecided(v, &e)
	}
	all := detect.Judge(pairs.Base, pairs.Head, pairs.Options)
	if all.Verdict != detect.Untested && all.Estimate >= limit {
		return decided(m, v, &all, pairs)
	}
	t.Unused = "the pairs of " + text.Visible(m.Name, maxName) + " do not look slower"
	if total := stages(in.run).Total(); len(pairs.Base) < total {
		v.Evidence.Need = total
	}
	return v
}

// tested is the evidence of processor time. What the base was off the processors for may have
// become processor time, so it must be more than both.
func (p *processor) tested(e *detect.Evidence, why string, limit float64) *ProcessorTime {
	t := &ProcessorTime{Waited: p.waited, Threads: [2]float64{p.base.threads, p.head.threads}, Unused: why}
	if why == "" {
		t.Unused = cmp.Or(p.unfit(&p.both), p.unfit(&p.base), p.unfit(&p.head))
	}
	if e.Verdict == "" || e.Verdict == detect.Untested {
		t.Unused = cmp.Or(t.Unused, "it cannot be tested")
		return t
	}
	t.Change, t.Interval = e.Estimate, [2]float64{e.Low, e.High}
	t.P, t.Q, t.Pairs = e.P, e.Q, e.Used
	if t.Unused == "" && e.Verdict == detect.Regressed && (1+e.Estimate)*(1-p.base.off)-1 < limit {
		t.Unused = fmt.Sprintf("the base was off the processors for %.0f %% of its time, which may be what the head computes",
			100*p.base.off)
	}
	return t
}

// undecided is a speed whose processor time is not, or not yet, certain to be more.
func undecided(v Verdict, e *detect.Evidence) Verdict {
	v.Evidence.Processor.Unused = "it is not certain that it is more"
	if e.Need > 0 {
		v.Evidence.Need = max(v.Evidence.Need, e.Need)
		if !v.Undecided() {
			v.undecide(ByMorePairs, "suspected by its processor time: "+e.Reason)
		}
	}
	return v
}

// decided is the verdict on a loss of which the processor time is certain. Its size is that of
// all pairs.
func decided(m *described, v Verdict, all *detect.Evidence, pairs detect.Cell) Verdict {
	e, t := &v.Evidence, v.Evidence.Processor
	v.Finding, v.DecidedBy = Regressed, Certain
	v.Old, v.New = stats.Median(pairs.Base), stats.Median(pairs.Head)
	v.Delta, v.Interval = m.Better.GainOf(all.Estimate), [2]float64{m.Better.GainOf(all.High), m.Better.GainOf(all.Low)}
	e.OldN, e.NewN, e.Noise, e.NoiseFloor = len(pairs.Base), len(pairs.Base), 100*all.NoiseFloor, 100*all.NoiseFloor
	e.P, e.Q, e.Pairs, e.Need = t.P, t.Q, len(pairs.Base), 0
	v.Reason = fmt.Sprintf(
		"no processor was free, so times differ by chance: pairs of the processor time of the whole process show a loss, "+
			"%+.1f %% (%+.1f to %+.1f)", 100*t.Change, 100*t.Interval[0], 100*t.Interval[1])
	return v
}
