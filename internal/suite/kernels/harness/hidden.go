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
	hiddenRounds = 8
	hiddenLeast  = 3               // rounds, however long they take
	hiddenTime   = 1 * time.Second // after which no further round begins
	hiddenTries  = 3               // another process that took the processor for a moment is forgiven
	// hiddenWarmup is how often the first set of a request is called before
	// calls are timed: a worker that was idle is slow at first.
	hiddenWarmup = 2
	// unseen is what our clock may see for each time that was reported, and
	// unseenFloor what it may see beside, in nanoseconds per set: launching,
	// waiting.
	unseen      = 2.0
	unseenFloor = 100e3
)

// short is what requests say that call each set hardly more than once.
type short struct {
	medians      []float64 // nanoseconds of a call of the solution, of each round
	walls, empty []float64 // nanoseconds of its requests, and of the same with nothing to call
}

// hides finds solutions that take over the worker's loop and call the function
// less often than they are asked to: here every call of a request meets inputs of
// its own, new ones, so that none can be left out, and our clock sees them all.
func (p *procedure) hides(ctx context.Context) error {
	reason := ""
	for range hiddenTries {
		s, err := p.shorts(ctx)
		if err != nil {
			return err
		}
		if reason = p.hidden(s); reason == "" {
			break
		}
	}
	if err := p.judgeLast(ctx); err != nil || p.Status != "" || reason == "" {
		return err
	}
	p.Status, p.Reason = evaluator.Suspect, reason
	return nil
}

func (p *procedure) shorts(ctx context.Context) (s short, err error) {
	if err := p.prepare(ctx); err != nil {
		return s, err
	}
	if err := p.rounds(hiddenRounds, hiddenLeast, hiddenTime, func(int) error { return p.shortest(ctx, &s) }); err != nil {
		return s, err
	}
	return s, p.forget(ctx, p.reference)
}

func (p *procedure) shortest(ctx context.Context, s *short) error {
	trial := p.content()
	for set := range p.Sets {
		if err := p.renew(ctx, p.solution, trial, set); err != nil {
			return err
		}
	}
	ns, wall, err := p.once(ctx, p.solution, p.solution.build.ID)
	if err != nil {
		return err
	}
	s.medians, s.walls = append(s.medians, medianOf(ns)), append(s.walls, float64(wall.Nanoseconds()))
	if p.alike() {
		_, wall, err = p.once(ctx, p.reference, "")
		s.empty = append(s.empty, float64(wall.Nanoseconds()))
	}
	return err
}

// once calls each set once and one of them some times before, untimed.
func (p *procedure) once(ctx context.Context, s *side, id string) ([]int64, time.Duration, error) {
	sets := p.random.Perm(p.Sets)
	q := p.timing(id, append(slices.Repeat(sets[:1], hiddenWarmup), sets[1:]...))
	q.Warmup, q.Iterations = hiddenWarmup, p.Sets-1
	reply, wall, err := s.Time(ctx, q)
	return reply.NS, wall, s.by(err)
}

// hidden returns why the reported times seem to be too short, or nothing.
func (p *procedure) hidden(s short) string {
	hidden := make([]float64, len(s.walls))
	for i, wall := range s.walls {
		idle := slices.Min(s.walls)
		if len(s.empty) > 0 {
			idle = s.empty[i]
		}
		calls := float64(hiddenWarmup + p.Sets - 1)
		hidden[i] = (wall - idle - unseen*calls*s.medians[i]) / float64(p.Sets)
	}
	if len(s.empty) == 0 {
		hidden = []float64{stats.Median(hidden)} // the least wall is what all are compared with
	}
	// Whoever hides calls does so in every round; other processes take the
	// processor in some.
	slices.Sort(hidden)
	least := hidden[(len(hidden)-1)/4]
	if least <= unseenFloor {
		return ""
	}
	return fmt.Sprintf("with fresh inputs the worker reports that a call takes %s, and by our clock %s per call are missing: "+
		"look for what the solution does to the clock", nanoseconds(stats.Median(s.medians)), nanoseconds(least))
}

// judgeLast has the outputs of the last round judged. The solution's are taken
// before the reference computes the same.
func (p *procedure) judgeLast(ctx context.Context) error {
	trial := p.contents - 1
	got := make([][]evaluator.Output, p.Sets)
	for set := range got {
		var err error
		if got[set], err = p.saved(ctx, p.solution, set); err != nil {
			return err
		}
	}
	wanted, err := p.compute(ctx, p.reference, trial)
	for set := 0; err == nil && set < p.Sets; set++ {
		err = p.judge(Pair{Trial: trial, Set: set, AfterTiming: true, Reference: wanted[set], Solution: got[set]})
	}
	return err
}
