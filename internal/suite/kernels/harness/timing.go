package harness

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
)

// time times a trial: N calls of the reference, N and 3N of the solution, 3N of
// the reference, so that a drift of the machine hits both alike. Where N is too
// small to check the solution's timer it does so again with a larger one.
func (p *procedure) time(ctx context.Context) error {
	if err := p.prepare(ctx); err != nil {
		return err
	}
	for {
		r, s, err := p.interleave(ctx)
		if err != nil {
			return err
		}
		needed := 2 * float64(p.MinTime.Nanoseconds())
		took := max(float64(s.longer.Nanoseconds()), needed/16)
		if took >= needed || p.calls >= p.MaxIterations {
			return p.keep(ctx, r, s)
		}
		p.calls = min(p.MaxIterations, int(math.Ceil(1.2*float64(p.calls)*needed/took)))
	}
}

// alike reports whether both workers are of a kind, so that their loops cost the same.
func (p *procedure) alike() bool { return p.reference.Hello().Kind == p.solution.Hello().Kind }

// prepare makes sure that all outputs exist, in the reference's worker too if the
// empty function has to poison them there.
func (p *procedure) prepare(ctx context.Context) error {
	for set := range p.Sets {
		for _, s := range []*side{p.reference, p.solution} {
			if err := p.poison(ctx, s, set); err != nil {
				return err
			}
		}
		if p.solution.build.DPS {
			if err := p.allocate(ctx, p.reference, p.slot(set).Out); err != nil {
				return err
			}
		}
	}
	return nil
}

// span is N calls and 3N calls.
type span struct {
	ns     []int64
	timer  string
	clock  *Clock
	wall   time.Duration // of N calls
	longer time.Duration // that 3N calls took
	calls  int           // N
}

func (s span) slope() float64 { return float64(s.longer.Nanoseconds()) / float64(2*s.calls) }

func (p *procedure) interleave(ctx context.Context) (r, s span, err error) {
	r.calls, s.calls = p.calls, p.calls
	steps := []struct {
		side  *side
		span  *span
		times int
	}{{p.reference, &r, 1}, {p.solution, &s, 1}, {p.solution, &s, 3}, {p.reference, &r, 3}}
	for _, step := range steps {
		if step.side == p.reference && p.NoBaseline {
			continue
		}
		if err := p.measure(ctx, step.side, step.side.build.ID, step.span, step.times); err != nil {
			return r, s, err
		}
	}
	return r, s, nil
}

// measure has times*N calls timed and adds them to a span.
func (p *procedure) measure(ctx context.Context, s *side, id string, to *span, times int) error {
	q := p.timing(id, p.order())
	q.Warmup, q.Iterations = p.Warmup, times*to.calls
	reply, wall, err := s.Time(ctx, q)
	if err != nil {
		return s.by(err)
	}
	if to.timer != "" && reply.Timer != to.timer {
		return s.by(s.blame("time", fmt.Errorf("its timer is %.40q, and was %.40q before", reply.Timer, to.timer)))
	}
	to.ns, to.timer, to.clock = append(to.ns, reply.NS...), reply.Timer, reply.Clock
	if times == 1 {
		to.wall = wall
	} else {
		to.longer = wall - to.wall
	}
	return nil
}

// timing is a request to time a function with all sets. The empty one has the
// loop that the solution has: only outputs that it is given are poisoned.
func (p *procedure) timing(id string, order []int) Time {
	q := Time{ID: id, Poison: id != "" || p.solution.build.DPS, ColdCache: p.ColdCache, Timer: p.Timer, Order: order}
	for set := range p.Sets {
		slot := p.slot(set)
		if !q.Poison {
			slot.Out = []string{}
		}
		q.Slots = append(q.Slots, slot)
	}
	return q
}

// order has every slot equally often, and each within the first calls.
func (p *procedure) order() (order []int) {
	const rounds = 16
	for range rounds {
		order = append(order, p.random.Perm(p.Sets)...)
	}
	return order
}

// keep takes over what was measured. The reference's outputs are freed, because
// the solution computes from the same inputs.
func (p *procedure) keep(ctx context.Context, r, s span) error {
	s.addTo(p.solution.timing)
	if !p.NoBaseline {
		r.addTo(p.reference.timing)
	}
	if err := p.weigh(ctx); err != nil {
		return err
	}
	d, err := p.insist(ctx, s)
	p.doubts = append(p.doubts, d)
	if err != nil {
		return err
	}
	return p.forget(ctx, p.reference)
}

// rechecks is how often a timer is checked again that disagrees with our clock:
// another process that took the processor for a moment is forgiven, a timer that
// lies is not.
const rechecks = 3

// insist checks the reported times, and where they disagree with our clock, holds
// the same times against it again, beside the reference's: on a machine whose
// processors others want too, calls wait between each other, and the median of
// their times does not show it. The reference's timer is not suspected, so what
// its times fall short of our clock by is the machine's doing.
func (p *procedure) insist(ctx context.Context, s span) (doubt, error) {
	d := p.check(s, 1)
	for n := 0; n < rechecks && d.outside() && !d.short; n++ {
		r, again := span{calls: s.calls}, span{calls: s.calls}
		for _, step := range []struct {
			side  *side
			span  *span
			times int
		}{{p.reference, &r, 1}, {p.solution, &again, 1}, {p.solution, &again, 3}, {p.reference, &r, 3}} {
			if err := p.measure(ctx, step.side, step.side.build.ID, step.span, step.times); err != nil {
				return d, err
			}
		}
		if err := p.weigh(ctx); err != nil {
			return d, err
		}
		again.ns = s.ns
		d = p.check(again, p.shown(r))
	}
	return d, nil
}

// shown is the share of the reference's time by our clock that its own times
// show, from a tenth to 1.
func (p *procedure) shown(r span) float64 {
	slope := r.slope()
	if p.reference.build.DPS == p.solution.build.DPS {
		slope = max(slope-p.overhead, slope/10)
	}
	if slope <= 0 {
		return 1
	}
	return min(1, max(0.1, medianOf(r.ns)/slope))
}

func (s span) addTo(t *Timing) {
	t.Timer, t.Clock = s.timer, s.clock
	t.NS, t.Calls, t.Slope = append(t.NS, thin(s.ns)), append(t.Calls, len(s.ns)), append(t.Slope, s.slope())
}

// maxKept is how many calls of a trial are kept.
const maxKept = 4096

// thin keeps at most maxKept values, at even distances by rank and in the order
// in which they were: neither the median nor the spread moves by more than one
// rank of those kept, and no period of the calls can meet one of the selection.
func thin(ns []int64) []int64 {
	if len(ns) <= maxKept {
		return ns
	}
	ranked := make([]int, len(ns))
	for i := range ranked {
		ranked[i] = i
	}
	slices.SortStableFunc(ranked, func(a, b int) int { return cmp.Compare(ns[a], ns[b]) })
	kept := make([]int, maxKept)
	for i := range kept {
		kept[i] = ranked[(2*i+1)*len(ns)/(2*maxKept)]
	}
	slices.Sort(kept)
	values := make([]int64, maxKept)
	for i, at := range kept {
		values[i] = ns[at]
	}
	return values
}

// weighing is how many calls show at most what the loop costs: it may fill large
// outputs.
const weighing = 512

// weigh learns what the loop around the calls costs: poisoning, cooling, reading
// the timer. The reference's worker says so, which does not run the solution; it
// is of the same kind, or else nothing is known.
func (p *procedure) weigh(ctx context.Context) error {
	if !p.alike() {
		return nil
	}
	empty := span{calls: min(p.calls, weighing)}
	for _, times := range []int{1, 3} {
		if err := p.measure(ctx, p.reference, "", &empty, times); err != nil {
			return err
		}
	}
	p.overhead = max(0, empty.slope())
	return nil
}

// doubt is what one trial says of a timer.
type doubt struct {
	median, slope float64 // nanoseconds
	low, high     float64 // what the median may be
	short         bool    // too short to tell
}

// check holds the median of the reported times against the slope. They agree if
// it is within half and one and a half of it; what the loop may cost beside the
// calls is no reason for suspicion, and neither is what a correct timer does not
// show.
func (p *procedure) check(s span, shown float64) doubt {
	d := doubt{median: medianOf(s.ns), slope: s.slope()}
	d.low, d.high = 0.5*shown*max(0, d.slope-p.overhead), 1.5*d.slope
	d.short = float64(s.longer) < 2*float64(p.MinTime)
	return d
}

func medianOf(ns []int64) float64 {
	values := make([]float64, len(ns))
	for i, v := range ns {
		values[i] = float64(v)
	}
	return stats.Median(values)
}

func (d doubt) outside() bool { return d.median < d.low || d.median > d.high }

// suspect sums up what the trials say. A disturbance of the machine makes one of
// them disagree, a timer that lies most of them.
func (p *procedure) suspect() {
	outside, short := 0, 0
	var worst doubt
	for _, d := range p.doubts {
		switch {
		case d.short:
			short++
		case d.outside():
			outside++
			worst = d
		}
	}
	if 2*outside > len(p.doubts) {
		p.Status = evaluator.Suspect
		p.Reason = fmt.Sprintf("the worker reports that a call takes %s, and by our clock it takes %s (in %d of %d trials): "+
			"look for what the solution does to the clock", nanoseconds(worst.median), nanoseconds(worst.slope), outside, len(p.doubts))
	}
	if short > 0 {
		p.warn(fmt.Sprintf("%d calls take less than %v: the worker's timer was not checked; raise the number of iterations", p.calls, p.MinTime))
	}
	if slices.ContainsFunc(p.doubts, func(d doubt) bool { return !d.short && d.low < 0.1*d.slope }) {
		p.warn("a call costs less than the loop around it: the worker's timer was hardly checked; make the workload larger")
	}
}

func (p *procedure) warn(text string) { p.Warnings = append(p.Warnings, text) }

func nanoseconds(ns float64) string { return time.Duration(ns).String() }
