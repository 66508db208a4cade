package gate

import (
	"fmt"
	"math"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
)

// step is the distance of two numbers that a program can print, in the unit of
// the metric: 0.1 where it prints one decimal. 0 means that it does not matter.
type step struct {
	size    float64
	claimed bool // by the run alone
}

// maxClaimed bounds the step that a run may claim for itself: a run of a pull
// request must not excuse itself from the gate. It is TensorSharp's, whose
// baselines cannot say it.
const maxClaimed = 0.1

// printed returns the step of a metric. What the reference says was reviewed
// and counts, also if it is nothing; the run counts only where the
// reference cannot say it, as TensorSharp's own cannot.
func printed(ref, run *bench.Metric, described bool) step {
	switch {
	case ref.Resolution > 0 && bench.Finite(ref.Resolution):
		return step{size: ref.Resolution}
	case described:
		return step{}
	case run != nil && run.Resolution > 0: // false for NaN
		return step{size: min(run.Resolution, maxClaimed), claimed: true}
	}
	return step{}
}

// applies reports whether the numbers can have been printed with this step: a
// claim must fit them all. Medians of two are in the middle of a step.
func (s step) applies(numbers ...float64) bool {
	if s.size == 0 || !s.claimed {
		return s.size > 0
	}
	return !slices.ContainsFunc(numbers, func(x float64) bool {
		return math.Abs(x-math.Round(x/s.size*2)*s.size/2) > 1e-9*math.Abs(x)
	})
}

// caveat turns a regression that rounding alone can have made into an open
// question: both numbers are moved by half a step, each to the better side for
// the change under test.
func (s step) caveat(m *bench.Metric, v Verdict) Verdict {
	if v.Finding != Regressed || v.Undecided() || !s.applies(v.Old, v.New) {
		return v
	}
	half := s.size / 2
	if m.Better == bench.Lower {
		half = -half
	}
	if Worsened(m.Better, v.Old-half, v.New+half, v.Evidence.Limit) {
		return v
	}
	v.Finding = Unchanged
	v.undecide(ByDigits, fmt.Sprintf("may be rounding alone: the program prints in steps of %v%s, which is %s: "+
		"print more digits, or tokens and milliseconds",
		s.size, unit(m), s.share(v.Old)))
	return v
}

// Worsened is the rule of the threshold for two numbers: new is worse than old by more than limit percent.
func Worsened(better bench.Direction, old, new, limit float64) bool {
	gain, ok := better.Gain(old, new)
	if !ok {
		return better == bench.Lower && new > 0
	}
	return gain < -limit-Tolerance
}

func (s step) share(old float64) string {
	if old == 0 {
		return "more than the baseline's 0"
	}
	return fmt.Sprintf("%.3g %% of the baseline's %v", s.size/math.Abs(old)*100, old)
}

func unit(m *bench.Metric) string {
	if m.Unit == "" {
		return ""
	}
	return " " + m.Unit
}
