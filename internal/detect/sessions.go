package detect

import (
	"math"
	"slices"

	"github.com/accelgate/accelgate/internal/stats"
)

// minSessions is how many runs it takes to ask whether sessions differ.
const minSessions = 6

// sessionsAlike is how much larger than the noise within sessions explains the
// variance between them may be.
const sessionsAlike = 2

// Sessions makes samples that can be compared out of runs that measured several
// values each. runs are earlier runs, the oldest first, each with the values of
// its fresh processes; head are those of the new run. base and samples are for
// [Judge], or for a [Cell]. Nothing is modified.
//
// What a machine does differs more from one session to the next than from one
// process to the next: a run of 10 values is not 10 samples. So a run becomes one
// sample, the median of its first len(head) values, and head becomes one, its
// median. Where every run has one value, runs are the samples already: so are the
// values of head, unless oneSession says that they were measured in a row.
//
// With 6 to 11 runs, the noise of runs is hardly known, and one sample a run would
// find nothing. Where these runs show that sessions do not differ, all values are
// samples: the variance between runs is at most twice what the noise within them
// explains. base then alternates between the runs, one value of each, so that its end, which is what counts,
// is still of several sessions. With more runs, one sample a run finds as much, and
// cannot be wrong about that.
//
// A base has one value for each run at its end, in the order of the runs, so bases
// of several cells stay aligned: NaN stands for a run without a value, or with one
// that is unusable. A head with an unusable value is passed on as it is.
func Sessions(runs [][]float64, head []float64, oneSession bool) (base, samples []float64) {
	m := len(head)
	switch {
	case !(oneSession && m > 1) && single(runs):
		return middles(runs, m), head
	case sameSessions(runs, m):
		return turns(runs, m), head
	}
	return OneEach(runs, head)
}

// OneEach makes one sample of each run, as [Sessions] does where sessions differ.
func OneEach(runs [][]float64, head []float64) (base, samples []float64) {
	if samples = head; usable(head) {
		samples = []float64{middle(head)}
	}
	return middles(runs, len(head)), samples
}

// middles are the medians of at most the first m values of each run.
func middles(runs [][]float64, m int) []float64 {
	base := make([]float64, len(runs))
	for i, run := range runs {
		base[i] = middle(first(run, m))
	}
	return base
}

// single reports that no run has more than one value.
func single(runs [][]float64) bool {
	return !slices.ContainsFunc(runs, func(r []float64) bool { return len(r) > 1 })
}

// first returns at most the first m values, and all for no m.
func first(run []float64, m int) []float64 {
	if m == 0 {
		return run
	}
	return run[:min(len(run), m)]
}

func usable(values []float64) bool {
	_, lost := levels(values, false)
	return lost == 0 && len(values) > 0
}

// middle is the median, that of the logarithms where two are in the middle, so
// that a time and its rate have the same. It is NaN where a value is unusable.
func middle(values []float64) float64 {
	if !usable(values) {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n%2 == 1 || sorted[n/2-1] == sorted[n/2] {
		return sorted[n/2]
	}
	return math.Sqrt(sorted[n/2-1]) * math.Sqrt(sorted[n/2])
}

// sameSessions reports that there are too few runs for one sample each, and that their
// sessions do not differ. The noise within them is that of steps, which a single odd
// process does not move; the variance between them is the plain one, which a single
// odd session does move, as it should.
func sameSessions(runs [][]float64, m int) bool {
	if m < 2 || len(runs) >= minOwn {
		return false
	}
	var steps, means []float64
	var explained float64
	for _, run := range runs {
		y, lost := levels(first(run, m), false)
		if lost > 0 || len(y) < 2 {
			continue
		}
		for i := 1; i < len(y); i++ {
			steps = append(steps, math.Abs(y[i]-y[i-1]))
		}
		means = append(means, mean(y))
		explained += 1 / float64(len(y))
	}
	if len(means) < minSessions {
		return false
	}
	count := float64(len(means))
	within := normalConsistency * stats.Median(steps) / math.Sqrt2
	between := squares(means) / (count - 1)
	return between <= sessionsAlike*within*within*explained/count
}

// turns interleaves the first m values of the runs, so that the last ones are
// one of each run.
func turns(runs [][]float64, m int) []float64 {
	var all []float64
	for left := m; left > 0; left-- {
		for _, run := range runs {
			run = first(run, m)
			switch {
			case left <= len(run):
				all = append(all, run[len(run)-left])
			case left == 1:
				all = append(all, math.NaN())
			}
		}
	}
	return all
}
