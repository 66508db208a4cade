package harness

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
)

const (
	// tries is how often a case is measured that raises a doubt, before the solution
	// is accused.
	tries = 3
	// accusations are how many of the tries must accuse a solution; the others do
	// not clear it, or they would be the last.
	accusations = 2
	// patience is how often a case is measured before the host is given up: other
	// work on it is often over after seconds.
	patience = 8
	// pause is the wait before the first try beyond tries; it grows by as much with
	// each.
	pause = 200 * time.Millisecond
)

// attempts takes all times anew until nothing is in doubt. A solution is accused
// if most of the first attempts do so. Otherwise the host is too disturbed to decide.
func (p *trialProtocol) attempts(ctx context.Context) error {
	accused := 0
	var last suspicion
	for try := 1; try <= patience; try++ {
		wait(ctx, time.Duration(try-tries)*pause)
		if err := p.attempt(ctx); err != nil || p.Status != "" {
			return err
		}
		p.value()
		d, status := p.suspicions()
		if status == evaluator.Passed {
			p.settle()
			return p.verify(ctx)
		}
		if last = d; status == evaluator.Suspect {
			accused++
		}
		if try >= tries && accused > 0 { // more attempts would only give a solution in suspicion more chances
			break
		}
	}
	p.Status, p.Reason = evaluator.Suspect, last.reason
	if accused < accusations {
		p.Status = evaluator.Inconclusive
		p.Reason = fmt.Sprintf(
			"the host is too busy to decide whether the solution computes every call (%s): measure again on an idle host", last.reason)
	}
	return nil
}

// wait ends with the context, which the next call of a worker reports.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(max(0, d)):
	}
}

// attempt takes the times anew.
func (p *trialProtocol) attempt(ctx context.Context) error {
	*p.reference.timing, *p.solution.timing, p.Warnings = Timing{}, Timing{}, nil
	p.rounds, p.evidence, p.took, p.blocks, p.judged = nil, nil, 0, 0, p.random.IntN(freshJudged)
	p.reference.whole, p.solution.whole = nil, nil
	for range p.Trials {
		if err := p.trial(ctx, p.content()); err != nil || p.Status != "" {
			return err
		}
	}
	return nil
}

// suspicions returns the gravest doubt and what follows from it.
func (p *trialProtocol) suspicions() (worst suspicion, status evaluator.Status) {
	all := []suspicion{leftOut(p.rounds), later(p.rounds), earlier(p.rounds), p.implausible()}
	switch d := lies(p.evidence); {
	case p.took >= 2*p.MinTime && d.verdict() == evaluator.Inconclusive: // what is reported comes from our clock
		p.warn("this host is too busy to check the worker's timer; measure again on an idle host")
	case p.took >= 2*p.MinTime:
		all = append(all, d)
	default:
		p.warn(fmt.Sprintf("%d calls take less than %v: the worker's timer was not checked; raise the number of iterations",
			p.solution.perBlock*p.blocks, p.MinTime))
	}
	if !slices.ContainsFunc(p.Inputs, Input.random) {
		p.warn(
			"no input is random: whether the solution keeps results of earlier calls was not checked; give the definition a random input",
		)
	}
	status = evaluator.Passed
	for _, d := range all {
		switch v := d.verdict(); {
		case v == evaluator.Suspect:
			return d, v
		case v == evaluator.Inconclusive && status == evaluator.Passed:
			worst, status = d, v
		}
	}
	return worst, status
}

// settled is the share of a call by which calls with fresh inputs may be longer
// without counting.
const settled = 0.2

// resolution is how many standard errors a median must be above nothing.
const resolution = 3

// value makes the values that are reported: slopes without the loop. Where these
// do not separate a call from none, on a busy host or because a call is too short,
// whole requests by their calls stand in, which are longer.
func (p *trialProtocol) value() {
	for _, s := range []*side{p.reference, p.solution} {
		var values []float64
		for _, trial := range s.timing.Slope {
			for _, slope := range trial {
				values = append(values, slope-s.overhead)
			}
		}
		if n := float64(len(values)); n > 0 && stats.Median(values) <= resolution*spread(values)/math.Sqrt(n) {
			p.warn(fmt.Sprintf("our clock does not separate a call of the %s from none on this host, so its time includes the request: "+
				"make the workload larger, or measure again on an idle host", s.name))
			values = s.whole
		}
		for i := range values {
			values[i] = max(1, values[i])
		}
		s.timing.Values = values
	}
}

// settle adds to what is reported where calls with fresh inputs took longer than
// chance and caches explain, though too little for an accusation.
func (p *trialProtocol) settle() {
	own := p.solution.timing.Values
	if len(p.rounds) == 0 || len(own) == 0 {
		return
	}
	call := stats.Median(own)
	_, allowed := coldness(p.rounds)
	more := middle(p.rounds, func(r round) float64 { return r.fresh }) - call - max(allowed, settled*call)
	for i := range own {
		own[i] += max(0, more)
	}
}
