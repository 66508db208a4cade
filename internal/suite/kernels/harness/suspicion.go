package harness

import (
	"fmt"
	"slices"

	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
)

// round is what a round of fresh inputs took, in nanoseconds by our clock: per
// call where nothing else is said.
type round struct {
	calls       int
	long, fresh float64 // the solution's calls in the requests of the trial around, and with fresh inputs
	// theirFresh and theirAgain are the reference's with fresh inputs, and with
	// those that it had met: what inputs cost that are in no cache yet.
	theirFresh, theirAgain float64
	idle                   float64 // the whole request with nothing to call
	// ask and askAgain are whole requests for outputs, right after the calls and
	// once more; make and theirMake are those for inputs, 0 if the workers are of
	// different kinds.
	ask, askAgain, theirAsk, theirAskAgain float64
	make, theirMake                        float64
	// for how long of make, of all fresh calls and of ask the solution's worker had no processor
	makeQueued, wallQueued, askQueued float64
}

const (
	freshFactor = 1.5   // that a fresh call may take longer than the others
	freshFloor  = 2e3   // nanoseconds by which it may always be longer
	requestSlop = 200e3 // nanoseconds by which a whole request may always be longer: threads that wake up, pages

	accusedShare = 0.8 // of the rounds that must agree before a solution is accused
	clearedShare = 0.5 // of the rounds at most that may accuse a solution without a consequence
	noiseFactor  = 3   // that the time in question must be of the spread of requests without any call
	queuedShare  = 0.5 // of the time in question at most that the worker may have waited for a processor
)

// suspicion is one suspicion in all rounds.
type suspicion struct {
	share  float64 // of the rounds that accuse
	firm   float64 // of the rounds that accuse, and in which the host does not explain it
	excess float64 // nanoseconds of a request that are in question, the median
	noise  float64 // the spread of requests whose work is known
	reason string
}

// verdict returns what follows from a doubt: nothing, a suspicion, or that the host
// is too disturbed to decide.
func (d suspicion) verdict() evaluator.Status {
	switch {
	case d.share <= clearedShare:
		return evaluator.Passed
	case d.firm >= accusedShare && d.excess > noiseFactor*d.noise:
		return evaluator.Suspect
	}
	return evaluator.Inconclusive
}

// gather applies a test to all rounds. It returns whether a round accuses, by how
// many nanoseconds of a request, and for how many of these there was no processor.
func gather(rounds []round, test func(round) (accuses bool, excess, queued float64)) (d suspicion) {
	var idle, excess []float64
	accusing, firm := 0.0, 0.0
	for _, r := range rounds {
		accuses, by, queued := test(r)
		if accuses {
			accusing++
		}
		if accuses && queued <= queuedShare*by {
			firm++
		}
		excess, idle = append(excess, by), append(idle, r.idle)
	}
	if n := float64(len(rounds)); n > 0 {
		d.share, d.firm, d.excess, d.noise = accusing/n, firm/n, stats.Median(excess), spread(idle)
	}
	return d
}

// spread is the distance of the quartiles.
func spread(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return sorted[min(n-1, 3*n/4)] - sorted[n/4]
}

// leftOut doubts solutions whose calls with fresh inputs take longer than others:
// they keep results, or make fewer calls than they are asked for. What fresh
// inputs cost a plain function the reference shows.
func leftOut(rounds []round) suspicion {
	cold, allowed := coldness(rounds)
	d := gather(rounds, func(r round) (bool, float64, float64) {
		more := r.fresh - r.long
		return r.fresh > freshFactor*cold*r.long && more > allowed, more * float64(r.calls), r.wallQueued
	})
	d.reason = fmt.Sprintf(
		"by our clock calls with inputs it has met before take %s, with fresh inputs %s: it keeps results or leaves calls out; compute every call",
		nanoseconds(middle(rounds, func(r round) float64 { return r.long })),
		nanoseconds(middle(rounds, func(r round) float64 { return r.fresh })))
	return d
}

// coldness returns what fresh inputs cost a plain function: a factor, and by how
// many nanoseconds a fresh call may be longer at least.
func coldness(rounds []round) (factor, allowed float64) {
	if len(rounds) == 0 {
		return 1, freshFloor
	}
	slop := max(freshFloor, requestSlop/float64(rounds[0].calls))
	fresh, again := middle(rounds, func(r round) float64 { return r.theirFresh }), middle(rounds,
		func(r round) float64 { return r.theirAgain })
	more := middle(rounds, func(r round) float64 { return r.theirFresh - r.theirAgain })
	return max(1, (fresh+slop)/(again+slop)), max(slop, freshFactor*more)
}

// later doubts solutions that compute when they are asked for the outputs.
func later(rounds []round) suspicion {
	d := gather(rounds, func(r round) (bool, float64, float64) {
		known := min(r.askAgain, max(r.theirAskAgain, r.askAgain/4))
		more := r.ask - known
		usual := max(requestSlop, freshFactor*(r.theirAsk-r.theirAskAgain), known/2)
		return more > usual && more > 0.5*r.long*float64(r.calls), more, r.askQueued
	})
	d.reason = "outputs take longer to get right after the calls than once more: they are computed when they are asked for; compute in the call"
	return d
}

// earlier doubts solutions that compute when they get the inputs.
func earlier(rounds []round) suspicion {
	d := gather(rounds, func(r round) (bool, float64, float64) {
		more := r.make - r.theirMake
		return more > max(requestSlop, 0.5*r.theirMake) && more > 0.5*r.long*float64(r.calls), more, r.makeQueued
	})
	d.reason = "inputs take longer to make than in the reference's worker: results are computed when the inputs come; compute in the call"
	return d
}

func middle(rounds []round, of func(round) float64) float64 {
	values := make([]float64, len(rounds))
	for i, r := range rounds {
		values[i] = of(r)
	}
	return stats.Median(values)
}

// evidence is what the worker's own timer says of a block, in nanoseconds of a
// call.
type evidence struct {
	median, slope float64 // by its timer, by our clock
	shown         float64 // of the reference's time, the share that its own timer shows
	queued        float64 // of the slope, for which the worker had no processor
}

// lies reports whether the two disagree, if a call takes so long by our clock.
func (e evidence) lies(slope float64) bool {
	return slope > 0 && (e.median < 0.5*e.shown*slope || e.median > freshFactor*slope+freshFloor)
}

// lies doubts solutions whose worker's timer disagrees with our clock. The times
// that are reported come from our clock anyhow.
func lies(blocks []evidence) (d suspicion) {
	var medians, slopes, clock, factors []float64
	accusing, firm := 0.0, 0.0
	for _, e := range blocks {
		if e.lies(e.slope) {
			accusing++
		}
		if e.lies(e.slope) && e.lies(e.slope-max(0, e.queued)) {
			firm++
		}
		medians, slopes, clock = append(medians, e.median), append(slopes, e.slope), append(clock, e.shown)
		factors = append(factors, max(e.median/max(1, e.slope), e.shown*e.slope/max(1, e.median)))
	}
	if len(blocks) == 0 {
		return d
	}
	d.share, d.firm = accusing/float64(len(blocks)), firm/float64(len(blocks))
	// Where the reference's timer disagrees with our clock by chance, only a
	// larger factor decides anything.
	d.excess, d.noise = stats.Median(factors)/2, 2*spread(clock)
	d.reason = fmt.Sprintf(
		"the worker reports that a call takes %s, and by our clock it takes %s: look for what the solution does to the clock",
		nanoseconds(stats.Median(medians)), nanoseconds(stats.Median(slopes)))
	return d
}
