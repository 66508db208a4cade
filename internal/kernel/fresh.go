package kernel

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/accelgate/accelgate/internal/evaluator"
	"github.com/accelgate/accelgate/internal/stats"
)

const (
	freshRounds = 12
	freshLeast  = 3               // rounds, however long they take
	freshTime   = 2 * time.Second // after which no further round begins
	// freshWarmup is how often the first set of a request is called before
	// calls are timed: a worker that was idle is slow at first.
	freshWarmup = 2

	freshFactor = 1.5 // that a fresh call may take longer than the others
	freshFloor  = 2e3 // nanoseconds by which it may always be longer
	// unseen is what our clock may see for each time that was reported, and
	// unseenFloor what it may see beside, in nanoseconds per set: launching,
	// waiting.
	unseen      = 2.0
	unseenFloor = 100e3
)

// fresh is what timed calls say that met inputs which nobody had seen before.
type fresh struct {
	solution, reference []int64   // nanoseconds, of calls
	known               []int64   // of the reference, of calls with inputs that it had met
	medians             []float64 // of the solution, of each round
	walls, empty        []float64 // nanoseconds of the solution's requests, and of the same with nothing to call
}

// refresh finds solutions that keep results: the sets of a trial stay as they are
// for all its calls, and here no timed call meets inputs that were there before.
// It also judges what these calls computed.
func (p *procedure) refresh(ctx context.Context) error {
	if !slices.ContainsFunc(p.Inputs, Input.random) {
		p.warn("no input is random: whether the solution keeps results of earlier calls was not checked; give the definition a random input")
		return nil
	}
	reason := ""
	for range 2 { // another process that took the processor for a moment is forgiven
		f, err := p.rounds(ctx)
		if err != nil {
			return err
		}
		if reason = p.keeps(f); reason == "" {
			break
		}
	}
	if err := p.judgeFresh(ctx); err != nil || p.Status != "" || reason == "" {
		return err
	}
	p.Status, p.Reason = evaluator.Suspect, reason
	return nil
}

func (p *procedure) rounds(ctx context.Context) (f fresh, err error) {
	if err := p.prepare(ctx); err != nil {
		return f, err
	}
	if f.known, err = p.known(ctx); err != nil {
		return f, err
	}
	start := p.solution.now()
	for n := range freshRounds {
		if n >= freshLeast && p.solution.now().Sub(start) > freshTime {
			break
		}
		if err := p.round(ctx, &f); err != nil {
			return f, err
		}
	}
	return f, p.forget(ctx, p.reference)
}

// known returns times of the reference with inputs that it had met: what fresh
// ones cost an honest function is not known without them.
func (p *procedure) known(ctx context.Context) ([]int64, error) {
	if !p.NoBaseline {
		return slices.Concat(p.Reference.NS...), nil
	}
	q := p.timing(p.reference.build.ID, p.order())
	q.Warmup, q.Iterations = p.Sets, 4*p.Sets
	reply, _, err := p.reference.Time(ctx, q)
	return reply.NS, p.reference.by(err)
}

// round has both sides timed with new inputs. The reference's are those that the
// solution had one round earlier: its worker never holds an answer that the
// solution still has to save.
func (p *procedure) round(ctx context.Context, f *fresh) error {
	trial := p.Trials + p.fresh
	p.fresh++
	if err := p.renew(ctx, p.solution, trial); err != nil {
		return err
	}
	ns, wall, err := p.unmet(ctx, p.solution, p.solution.build.ID)
	if err != nil {
		return err
	}
	f.solution, f.medians = append(f.solution, ns...), append(f.medians, medianOf(ns))
	f.walls = append(f.walls, float64(wall.Nanoseconds()))
	if p.alike() {
		_, wall, err := p.unmet(ctx, p.reference, "")
		if err != nil {
			return err
		}
		f.empty = append(f.empty, float64(wall.Nanoseconds()))
	}
	if err := p.renew(ctx, p.reference, trial-1); err != nil {
		return err
	}
	ns, _, err = p.unmet(ctx, p.reference, p.reference.build.ID)
	f.reference = append(f.reference, ns...)
	return err
}

// renew gives the random inputs of all sets the contents of a trial, in place.
func (p *procedure) renew(ctx context.Context, s *side, trial int) error {
	for set := range p.Sets {
		for _, in := range p.Inputs {
			if !in.random() {
				continue
			}
			if _, err := s.Tensor(ctx, p.request(in, trial, set)); err != nil {
				return s.by(err)
			}
		}
	}
	return nil
}

// unmet calls each set once and one of them some times before, untimed.
func (p *procedure) unmet(ctx context.Context, s *side, id string) ([]int64, time.Duration, error) {
	sets := p.random.Perm(p.Sets)
	order := append(slices.Repeat(sets[:1], freshWarmup), sets[1:]...)
	q := p.timing(id, order)
	q.Warmup, q.Iterations = freshWarmup, p.Sets-1
	reply, wall, err := s.Time(ctx, q)
	return reply.NS, wall, s.by(err)
}

// keeps returns why the solution seems to keep results, or nothing.
func (p *procedure) keeps(f fresh) string {
	now, before := medianOf(f.solution), medianOf(slices.Concat(p.Solution.NS...))
	limit := freshFactor * max(1, medianOf(f.reference)/max(1, medianOf(f.known)))
	if now > limit*before && now-before > max(freshFloor, f.cold()) {
		return fmt.Sprintf("calls with inputs it has met before take %s, with fresh ones %s: it keeps results; compute every call",
			nanoseconds(before), nanoseconds(now))
	}
	hidden := make([]float64, len(f.walls))
	for i, wall := range f.walls {
		idle := slices.Min(f.walls)
		if len(f.empty) > 0 {
			idle = f.empty[i]
		}
		calls := float64(freshWarmup + p.Sets - 1)
		hidden[i] = (wall - idle - unseen*calls*f.medians[i]) / float64(p.Sets)
	}
	if stats.Median(hidden) > unseenFloor {
		return fmt.Sprintf("with fresh inputs the worker says that a call takes %s, and by our clock %s per call are missing: "+
			"look for what the solution does to the clock", nanoseconds(now), nanoseconds(stats.Median(hidden)))
	}
	return ""
}

// cold is what a call may cost more, in nanoseconds, because its worker did
// something else just before. It hardly depends on how long the call takes, so
// that a factor alone would accuse fast solutions; the reference shows it.
func (f fresh) cold() float64 { return medianOf(f.reference) - medianOf(f.known) }

// judgeFresh has the outputs of the last round judged. The solution's are taken
// before the reference computes the same.
func (p *procedure) judgeFresh(ctx context.Context) error {
	trial := p.Trials + p.fresh - 1
	got := make([][]evaluator.Output, p.Sets)
	for set := range got {
		var err error
		if got[set], err = p.saved(ctx, set); err != nil {
			return err
		}
	}
	wanted, err := p.compute(ctx, p.reference, trial)
	for set := 0; err == nil && set < p.Sets; set++ {
		err = p.judge(Pair{Trial: trial, Set: set, AfterTiming: true, Reference: wanted[set], Solution: got[set]})
	}
	return err
}
