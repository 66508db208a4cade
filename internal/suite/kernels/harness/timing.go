package harness

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/accelgate/accelgate/internal/stats"
)

// blockTime is about what the shorter request of a block takes: much longer than
// a request without calls, and mostly shorter than the slice of time after which
// a busy host takes the processor away.
const blockTime = time.Millisecond

// acceleratorBlockTime is that of programs on an accelerator, where single requests take up to a millisecond more or less:
// with blocks of 1 ms a call of 49 µs on an H100 appeared as 28 to 62 µs, and with cold caches, whose cost is subtracted, no
// process agreed with the next.
const acceleratorBlockTime = 10 * time.Millisecond

// blockTime returns the nanoseconds that the shorter request of a block takes at least.
func (p *trialProtocol) blockTime() float64 {
	if p.solution.accelerated() || p.reference.accelerated() {
		return float64(acceleratorBlockTime.Nanoseconds())
	}
	return float64(blockTime.Nanoseconds())
}

// accelerated reports whether a side computes on an accelerator.
func (s *side) accelerated() bool {
	devices := s.Hello().Devices
	return len(devices) > 0 && devices[0].Kind != "cpu"
}

// time times a trial in blocks, between which calls meet fresh inputs.
func (p *trialProtocol) time(ctx context.Context) error {
	if err := p.prepare(ctx); err != nil {
		return err
	}
	if p.blocks == 0 {
		if err := p.plan(ctx); err != nil {
			return err
		}
	}
	if err := p.measureOverhead(ctx); err != nil {
		return err
	}
	trial := len(p.solution.timing.NS)
	for _, s := range p.sidesTimed() {
		s.timing.NS, s.timing.Slope = append(s.timing.NS, nil), append(s.timing.Slope, nil)
	}
	maximum := (p.maxFresh() + p.Trials - 1) / p.Trials
	minimum := (minFresh + p.Trials - 1) / p.Trials
	every, start, done := max(1, p.blocks/maximum), p.solution.now(), 0
	for n := range p.blocks {
		if err := p.block(ctx, trial, n == 0); err != nil {
			return err
		}
		late := done >= minimum && p.solution.now().Sub(start) > freshTime
		if (n+1)%every != 0 || done >= maximum || late {
			continue
		}
		if err := p.timeFreshInputs(ctx); err != nil || p.Status != "" {
			return err
		}
		done++
	}
	for ; done < minimum; done++ {
		if err := p.timeFreshInputs(ctx); err != nil || p.Status != "" {
			return err
		}
	}
	for _, s := range p.sidesTimed() {
		calls := &s.timing.NS[trial]
		s.timing.Calls = append(s.timing.Calls, len(*calls))
		*calls = downsample(*calls)
	}
	return p.discardInputs(ctx, p.reference)
}

// plan chooses how many calls a block has and how many blocks a trial: as many
// calls as asked for, and as many as it takes to check the worker's timer.
func (p *trialProtocol) plan(ctx context.Context) error {
	call, err := p.pilot(ctx, p.solution)
	if err != nil {
		return err
	}
	minimum := float64((p.Iterations + 3) / 4)
	calls := min(float64(p.MaxIterations), max(minimum, float64(p.Sets), float64(p.MinTime.Nanoseconds())/call))
	per := min(calls, max(1, math.Ceil(p.blockTime()/call)))
	p.solution.perBlock, p.blocks = int(per), int(math.Ceil(calls/per))
	p.freshCalls = p.freshSize(call)
	p.reference.perBlock = p.solution.perBlock
	if p.NoBaseline {
		return nil
	}
	if call, err = p.pilot(ctx, p.reference); err == nil { // it may be much slower
		p.reference.perBlock = int(min(float64(p.MaxIterations), max(1, math.Ceil(p.blockTime()/call))))
	}
	return err
}

func (p *trialProtocol) sidesTimed() []*side {
	if p.NoBaseline {
		return []*side{p.solution}
	}
	return []*side{p.reference, p.solution}
}

// pilots are the pairs of requests of which the median counts: other processes
// make single ones longer.
const pilots = 5

// pilot returns about how many nanoseconds a call takes, from requests that become
// longer until their calls outweigh what a request takes.
func (p *trialProtocol) pilot(ctx context.Context, of *side) (float64, error) {
	for calls, warmup := p.Sets, p.Warmup; ; calls, warmup = 4*calls, 0 {
		var slopes []float64
		for range pilots {
			s := span{calls: calls}
			for _, times := range []int{1, 3} {
				if err := p.measure(ctx, of, of.build.ID, &s, times, warmup); err != nil {
					return 0, err
				}
			}
			slopes, warmup = append(slopes, s.slope()), 0
			if s.longer > pilotTime { // a slow kernel needs no more
				break
			}
		}
		call := max(50, stats.Median(slopes))
		if 2*call*float64(calls) >= p.blockTime() || 4*calls > p.MaxIterations {
			return call, nil
		}
	}
}

// pilotTime is so long that other processes do not matter.
const pilotTime = 100 * time.Millisecond

// prepare makes sure that all outputs exist, in the reference's worker too if the
// empty function has to poison them there.
func (p *trialProtocol) prepare(ctx context.Context) error {
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
	wall   time.Duration // of N calls
	longer time.Duration // that 3N calls took beyond N
	queued float64       // nanoseconds that the worker had no processor in 3N calls, and not in N
	calls  int           // N
}

func (s span) slope() float64 { return float64(s.longer.Nanoseconds()) / float64(2*s.calls) }

// block times N calls of the reference, M and 3M of the solution, 3N of the
// reference, so that a drift of the host hits both alike.
func (p *trialProtocol) block(ctx context.Context, trial int, first bool) error {
	r, s := span{calls: p.reference.perBlock}, span{calls: p.solution.perBlock}
	warmup := 0
	if first {
		warmup = p.Warmup
	}
	steps := []struct {
		side  *side
		span  *span
		times int
	}{{p.reference, &r, 1}, {p.solution, &s, 1}, {p.solution, &s, 3}, {p.reference, &r, 3}}
	for i, step := range steps {
		if step.side == p.reference && p.NoBaseline {
			continue
		}
		if i == 0 || steps[i-1].side != step.side {
			if err := p.changeContext(ctx, step.side); err != nil {
				return err
			}
		}
		if err := p.measure(ctx, step.side, step.side.build.ID, step.span, step.times, warmup); err != nil {
			return err
		}
	}
	p.addBlock(p.solution, s, trial)
	e := evidence{median: medianOf(s.ns), slope: s.slope() - p.solution.overhead, queued: s.queued / float64(2*s.calls), shown: 1}
	if !p.NoBaseline {
		p.addBlock(p.reference, r, trial)
		e.shown = shown(r, p.reference.overhead)
	}
	p.took += s.longer
	p.evidence = append(p.evidence, e)
	return nil
}

// changeContext has a side call its function once, untimed, before requests that are timed. Where both sides share an
// accelerator, the first work after the other side's waits until the device has changed between their contexts: 0.3 ms
// on an H100. Of the two requests of a side only one would hold that, and their difference would be off by it.
func (p *trialProtocol) changeContext(ctx context.Context, s *side) error {
	if p.NoBaseline || !s.accelerated() {
		return nil
	}
	q := p.timing(s.build.ID, s, p.order())
	q.Iterations = 1
	_, _, err := s.Time(ctx, q)
	return s.by(err)
}

func (p *trialProtocol) addBlock(s *side, b span, trial int) {
	t := s.timing
	t.Timer = b.timer
	t.NS[trial], t.Slope[trial] = append(t.NS[trial], b.ns...), append(t.Slope[trial], b.slope())
	s.recent = append(s.recent, b.slope())
	s.whole = append(s.whole, float64((b.wall+b.longer).Nanoseconds())/float64(3*b.calls))
}

// shown is the share of the reference's time by our clock that its own times
// show, from a tenth to 1: calls wait between each other on a busy host, and the
// median of their times does not show it.
func shown(r span, overhead float64) float64 {
	slope := max(r.slope()-overhead, r.slope()/10)
	if slope <= 0 {
		return 1
	}
	return min(1, max(0.1, medianOf(r.ns)/slope))
}

// measure has times*N calls timed and adds them to a span.
func (p *trialProtocol) measure(ctx context.Context, s *side, id string, to *span, times, warmup int) error {
	q := p.timing(id, s, p.order())
	q.Warmup, q.Iterations = warmup, times*to.calls
	queued := s.queued()
	reply, wall, err := s.Time(ctx, q)
	if err != nil {
		return s.by(err)
	}
	queued = s.queued() - queued
	if to.timer != "" && reply.Timer != to.timer {
		return s.by(s.blame("time", fmt.Errorf("its timer is %.40q, and was %.40q before", reply.Timer, to.timer)))
	}
	to.ns, to.timer = append(to.ns, reply.NS...), reply.Timer
	if times == 1 {
		to.wall, to.queued = wall, -queued
	} else {
		to.longer, to.queued = wall-to.wall, to.queued+queued
	}
	return nil
}

// timing is a request to time a function of a side with all sets. The empty one
// has the loop that the side's program has: only outputs that it is given are
// poisoned.
func (p *trialProtocol) timing(id string, of *side, order []int) Time {
	q := Time{ID: id, Poison: id != "" || of.build.DPS, ColdCache: p.ColdCache, Timer: p.Timer, Order: order}
	for set := range p.Sets {
		q.Slots = append(q.Slots, p.timed(q, set))
	}
	return q
}

func (p *trialProtocol) timed(q Time, set int) Slot {
	slot := p.slot(set)
	if !q.Poison {
		slot.Out = []string{}
	}
	return slot
}

// order has every slot equally often, and each within the first calls.
func (p *trialProtocol) order() (order []int) {
	const rounds = 16
	for range rounds {
		order = append(order, p.random.Perm(p.Sets)...)
	}
	return order
}

// maxKept is how many calls of a trial are kept.
const maxKept = 4096

// downsample keeps at most maxKept values, at even distances by rank and in the order
// in which they were: neither the median nor the spread moves by more than one
// rank of those kept, and no period of the calls can meet one of the selection.
func downsample(ns []int64) []int64 {
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

const (
	weighings = 5   // that show what the loop costs
	weighing  = 512 // calls of the shorter request, at most: it may fill large outputs
)

// measureOverhead learns what the loop around the calls costs each side: poisoning, cooling,
// reading the timer. The reference's worker says so, which does not run the
// solution. Where the solution's is of another kind, it may say that its loop
// costs less, and not that it costs more.
func (p *trialProtocol) measureOverhead(ctx context.Context) (err error) {
	if p.reference.overhead, err = p.empty(ctx, p.reference, p.reference); err != nil {
		return err
	}
	p.solution.overhead = p.reference.overhead
	if p.reference.build.DPS != p.solution.build.DPS {
		if p.solution.overhead, err = p.empty(ctx, p.reference, p.solution); err != nil {
			return err
		}
	}
	if p.alike() {
		return nil
	}
	own, err := p.empty(ctx, p.solution, p.solution)
	p.solution.overhead = min(p.solution.overhead, own)
	return err
}

// empty returns the nanoseconds of an empty call in a worker, in the loop that a
// side's program has.
func (p *trialProtocol) empty(ctx context.Context, in, of *side) (float64, error) {
	if of.build.DPS && !in.build.DPS {
		for set := range p.Sets {
			if err := p.allocate(ctx, in, p.slot(set).Out); err != nil {
				return 0, err
			}
		}
	}
	if err := p.changeContext(ctx, in); err != nil {
		return 0, err
	}
	var slopes []float64
	for range weighings {
		s := span{calls: min(max(of.perBlock, p.Sets), weighing)}
		for _, times := range []int{1, 3} {
			q := p.timing("", of, p.order())
			q.Iterations = times * s.calls
			_, wall, err := in.Time(ctx, q)
			if err != nil {
				return 0, in.by(err)
			}
			if times == 1 {
				s.wall = wall
			}
			s.longer = wall - s.wall
		}
		slopes = append(slopes, s.slope())
	}
	return max(0, stats.Median(slopes)), nil
}

// alike reports whether both workers are of a kind, so that their loops cost the same.
func (p *trialProtocol) alike() bool { return p.reference.Hello().Kind == p.solution.Hello().Kind }

func medianOf(ns []int64) float64 {
	values := make([]float64, len(ns))
	for i, v := range ns {
		values[i] = float64(v)
	}
	return stats.Median(values)
}

func (p *trialProtocol) warn(text string) { p.Warnings = append(p.Warnings, text) }

func nanoseconds(ns float64) string { return time.Duration(ns).String() }
