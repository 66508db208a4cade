package gate

import (
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/stats"
)

// hostShiftOf is the verdict on a change that all cells share; ok is false where there is
// none. If the cells have no code in common, only the host can have caused it.
func hostShiftOf(in *inputs, ev *testResults) (v Verdict, ok bool) {
	e := &ev.host
	slower, limit := 100*(1-1/(1+e.Estimate)), in.policy.minEffect()
	if slower < limit || acceptedByMajority(in, ev) {
		return v, false
	}
	v = Verdict{Finding: Regressed, Delta: -slower, Reference: in.reference,
		Evidence: Evidence{
			Method:     MethodHistory,
			Limit:      limit,
			OldN:       e.K,
			NewN:       e.N,
			P:          e.P,
			NoiseFloor: 100 * e.NoiseFloor,
			MDE:        100 * e.MDE,
		},
		Interval: [2]float64{100 * (1/(1+e.High) - 1), 100 * (1/(1+max(e.Low, -0.99)) - 1)},
		Reason:   "all cells together moved against earlier runs: a change that everything shares, or the host; measure in pairs with --ab, which separates the two"}
	switch e.Verdict {
	case detect.Regressed:
	case detect.Suspect, detect.Inconclusive:
		// It is in no cell's number where it was taken out of them, so it must be said.
		v.Reason = ""
		v.undecide(ByPairs,
			"all cells together look slower than earlier runs, and these differ too much to decide: measure in pairs with --ab")
		v.Finding = seen(Regressed, e.Verdict == detect.Suspect || v.Evidence.suspicious())
		return v, true
	default:
		return Verdict{}, false
	}
	return underHost(in, "", v), true
}

// acceptedByMajority reports whether what moved all cells is recorded in the baseline
// of most of them.
func acceptedByMajority(in *inputs, ev *testResults) bool {
	metrics := make(map[string]*described, len(in.metrics))
	for i := range in.metrics {
		metrics[in.metrics[i].Name] = &in.metrics[i]
	}
	of, maximum := 0, 0
	for number, e := range ev.of {
		if e.Mode != detect.History || e.Verdict == detect.Untested {
			continue
		}
		of++
		if accepted(in, metrics[number.metric], number.cell, stats.Median(lastUsable(e.Base, e.K)), stats.Median(e.Head)) {
			maximum++
		}
	}
	return 2*maximum > of
}
