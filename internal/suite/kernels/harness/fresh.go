package harness

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
)

const (
	freshRounds = 16
	freshLeast  = 5                     // rounds, however long they take
	freshTime   = 2 * time.Second       // after which no further round begins
	freshJudged = 3                     // rounds of which the outputs are judged
	metTime     = 20 * time.Millisecond // that the calls around a fresh one take about
	freshTries  = 4                     // before a solution is accused

	freshFactor = 1.5 // that a fresh call may take longer than the others
	freshFloor  = 2e3 // nanoseconds by which it may always be longer
)

// pace is what one side's calls take, in nanoseconds, in requests in which one
// call meets inputs that no call had seen before.
type pace struct {
	fresh []float64 // of that call, per round
	twin  []float64 // of a call like it, but with inputs that were met before
	met   []float64 // the median of all others
}

// ratio and extra say how much longer fresh calls take than their A/A partners. Both
// were made within the same milliseconds, and neither's slot was called before:
// what the machine does besides, and what a first call costs, hits both alike.
func (c pace) ratio() float64 {
	return stats.Median(c.each(func(fresh, twin float64) float64 { return fresh / max(1, twin) }))
}

func (c pace) extra() float64 {
	return stats.Median(c.each(func(fresh, twin float64) float64 { return fresh - twin }))
}

func (c pace) each(of func(fresh, twin float64) float64) (values []float64) {
	for i := range c.fresh {
		values = append(values, of(c.fresh[i], c.twin[i]))
	}
	return values
}

// refresh finds solutions that keep results: the sets of a trial stay as they are
// for all its calls, and here one call of many meets inputs that were never there
// before, with nothing else about it that differs. It also judges what these
// calls computed. It reports whether the times of the trials hold: where calls
// with inputs that were met before now take longer, they must be taken again.
func (p *procedure) refresh(ctx context.Context) (hold bool, err error) {
	if !slices.ContainsFunc(p.Inputs, Input.random) {
		p.warn("no input is random: whether the solution keeps results of earlier calls was not checked; give the definition a random input")
		return true, nil
	}
	reason := ""
	for range freshTries {
		reference, solution, err := p.paces(ctx)
		if err != nil || p.Status != "" {
			return true, err
		}
		if !p.holds(reference, solution) {
			return false, nil
		}
		if reason = keeps(reference, solution); reason == "" {
			return true, p.hides(ctx)
		}
	}
	p.Status, p.Reason = evaluator.Suspect, reason
	return true, nil
}

// paces has both sides timed in rounds.
func (p *procedure) paces(ctx context.Context) (reference, solution pace, err error) {
	if err := p.prepare(ctx); err != nil {
		return reference, solution, err
	}
	set, judged := p.random.IntN(p.Sets), p.random.Perm(freshLeast)[:freshJudged]
	err = p.rounds(freshRounds, freshLeast, freshTime, func(n int) error {
		return p.pair(ctx, set, slices.Contains(judged, n), &reference, &solution)
	})
	if err != nil || p.Status != "" {
		return reference, solution, err
	}
	return reference, solution, p.forget(ctx, p.reference)
}

// rounds does something most times, or as often as the time allows but at least
// so many times, until it fails or the case has a status.
func (p *procedure) rounds(most, least int, limit time.Duration, one func(n int) error) error {
	start := p.solution.now()
	for n := range most {
		if n >= least && p.solution.now().Sub(start) > limit {
			break
		}
		if err := one(n); err != nil || p.Status != "" {
			return err
		}
	}
	return nil
}

// pair has both sides timed with the same new contents in one set. The solution's
// outputs are taken before the reference computes the same, so that no worker
// holds an answer that the solution still has to give.
func (p *procedure) pair(ctx context.Context, set int, judged bool, reference, solution *pace) error {
	pair := Pair{Trial: p.content(), Set: set, AfterTiming: true}
	for _, side := range []struct {
		*side
		pace    *pace
		outputs *[]evaluator.Output
	}{{p.solution, solution, &pair.Solution}, {p.reference, reference, &pair.Reference}} {
		err := p.renew(ctx, side.side, pair.Trial, set)
		if err == nil {
			err = p.surprise(ctx, side.side, set, side.pace)
		}
		if err == nil && judged {
			*side.outputs, err = p.saved(ctx, side.side, set)
		}
		if err != nil {
			return err
		}
	}
	if !judged {
		return nil
	}
	return p.judge(pair)
}

// renew gives the random inputs of a set the contents of a trial, in place.
func (p *procedure) renew(ctx context.Context, s *side, trial, set int) error {
	for _, in := range p.Inputs {
		if !in.random() {
			continue
		}
		if _, err := s.Tensor(ctx, p.request(in, trial, set)); err != nil {
			return s.by(err)
		}
	}
	return nil
}

// surprise times calls with the other sets, which are as they were in a trial, and
// among them one with the new contents and its A/A partner.
func (p *procedure) surprise(ctx context.Context, s *side, set int, to *pace) error {
	if err := p.makeSpare(ctx, s); err != nil {
		return err
	}
	others := slices.DeleteFunc(p.random.Perm(p.Sets), func(n int) bool { return n == set })
	q := p.timing(s.build.ID, nil)
	q.Slots = append(q.Slots, Slot{Args: q.Slots[others[0]].Args, Out: p.spare()})
	order, fresh, twin := p.mix(others, set, len(q.Slots)-1, p.around(s, *to))
	q.Order, q.Warmup, q.Iterations = order, p.Warmup, len(order)-p.Warmup
	reply, _, err := s.Time(ctx, q)
	if err != nil {
		return s.by(err)
	}
	to.fresh, to.twin = append(to.fresh, float64(reply.NS[fresh])), append(to.twin, float64(reply.NS[twin]))
	first, second := min(fresh, twin), max(fresh, twin)
	to.met = append(to.met, medianOf(slices.Concat(reply.NS[:first], reply.NS[first+1:second], reply.NS[second+1:])))
	return nil
}

// mix returns an order of calls of other slots, of which the first rests in the
// second half, with one call of the slot fresh and one of the slot A/A partner at random
// places of that half. The places count from the first timed call.
func (p *procedure) mix(others []int, fresh, twin, count int) (order []int, atFresh, atTwin int) {
	half := p.Warmup + count/2
	for len(order) < half {
		order = append(order, others...)
	}
	order = order[:half]
	for len(order) < p.Warmup+count {
		order = append(order, others[1:]...)
	}
	atFresh = half + p.random.IntN(len(order)-half+1)
	order = slices.Insert(order, atFresh, fresh)
	atTwin = half + p.random.IntN(len(order)-half+1)
	if order = slices.Insert(order, atTwin, twin); atTwin <= atFresh {
		atFresh++
	}
	return order, atFresh - p.Warmup, atTwin - p.Warmup
}

// spare names outputs that belong to no set.
func (p *procedure) spare() (names []string) {
	for _, name := range p.slot(0).Out {
		names = append(names, name+".spare")
	}
	return names
}

// makeSpare makes them as the outputs of a set are before they are written.
func (p *procedure) makeSpare(ctx context.Context, s *side) error {
	if !s.build.DPS {
		return s.by(s.Release(ctx, p.spare()...))
	}
	return p.allocate(ctx, s, p.spare())
}

// around is how many calls stand around a fresh one: as many for both sides as
// the time allows, because what was not called for longer is colder.
func (p *procedure) around(s *side, so pace) int {
	call := medianOf(slices.Concat(s.timing.NS...))
	if len(s.timing.NS) == 0 { // the reference, without a baseline
		call = stats.Median(so.met)
	}
	if !(call >= 1) {
		return 2 * p.Sets
	}
	return min(p.Around, max(2*p.Sets, int(float64(metTime.Nanoseconds())/call)))
}

// keeps returns why the solution seems to keep results, or nothing. What new
// inputs cost a plain function, as they are in no cache yet, the reference shows.
func keeps(reference, solution pace) string {
	if solution.ratio() <= freshFactor*max(1, reference.ratio()) || solution.extra() <= max(freshFloor, freshFactor*reference.extra()) {
		return ""
	}
	return fmt.Sprintf("calls with inputs it has met before take %s, with fresh ones %s: it keeps results; compute every call",
		nanoseconds(stats.Median(solution.twin)), nanoseconds(stats.Median(solution.fresh)))
}

// holds reports whether calls with inputs that were met before take about as long
// as in the trials. If not, either the machine has changed or the solution behaves
// otherwise when it meets new inputs often: both times cannot be the solution's.
func (p *procedure) holds(reference, solution pace) bool {
	before, now := medianOf(slices.Concat(p.Solution.NS...)), stats.Median(solution.met)
	drift, more := 1.0, 0.0
	if !p.NoBaseline {
		known := medianOf(slices.Concat(p.Reference.NS...))
		drift, more = stats.Median(reference.met)/max(1, known), stats.Median(reference.met)-known
	}
	return now <= freshFactor*max(1, drift)*before || now-before <= max(freshFloor, freshFactor*more)
}
