package measure

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/text"
)

// minRounds is how many values of a cell it takes to see that its first ones
// are unlike the others.
const minRounds = 5

// warmUp warns where the first processes of most cells are unlike the later
// ones, though each was a fresh one: then it is the machine that warmed up. One
// cell alone shows that by chance. The values stay, as they did in the baseline.
func warmUp(run *bench.Run) []string {
	cells, warm := 0, 0
	for i := range run.Results {
		values, ok := gatedValues(run, &run.Results[i])
		if !ok {
			continue
		}
		cells++
		if first, _ := detect.Warmup(values); first > 0 {
			warm++
		}
	}
	if cells == 0 || 2*warm <= cells {
		return nil
	}
	return []string{
		fmt.Sprintf("the first processes of %d of %s are unlike the later ones, so the host warmed up while it measured: "+
			"raise repeats, or keep it busy before", warm, text.Plural(cells, "cell")),
	}
}

// gatedValues returns the values of the first metric that is gated.
func gatedValues(run *bench.Run, r *bench.Result) (values []float64, ok bool) {
	if r.Outcome != bench.Passed {
		return nil, false
	}
	for i := range r.Samples {
		m := run.Metric(r.Samples[i].Metric)
		if m != nil && m.Gates() && !m.Exact {
			return r.Samples[i].Values, len(r.Samples[i].Values) >= minRounds
		}
	}
	return nil, false
}
