package gate_test

import (
	"math"
	"strings"
	"testing"
	"testing/quick"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// rounded judges a change of one metric whose step each side describes.
func rounded(m bench.Metric, refStep, runStep, old, new float64) gate.Verdict {
	ref, got := run(cell("a", m.Name, old)), run(cell("a", m.Name, new))
	before, after := m, m
	before.Resolution, after.Resolution = refStep, runStep
	ref.Metrics, got.Metrics = []bench.Metric{before}, []bench.Metric{after}
	p := fixed()
	if refStep == 0 { // as in a baseline of TensorSharp's, which says neither step nor machine
		ref.Host.Fingerprint, p.Fingerprint = bench.Fingerprint{}, gate.FingerprintIgnore
	}
	return last(gate.Compare("base", ref, got, p).Verdicts)
}

// TestABaselineOfOursIsNotOutbid: where the baseline says of which machine it
// is, it could have said the step as well.
func TestABaselineOfOursIsNotOutbid(t *testing.T) {
	ref, got := run(cell("a", "tps", 0.5)), run(cell("a", "tps", 0.4))
	ref.Metrics = []bench.Metric{{Name: "tps", Better: bench.Higher}}
	got.Metrics = []bench.Metric{{Name: "tps", Better: bench.Higher, Resolution: 0.1}}
	ref.Host.Fingerprint, got.Host.Fingerprint = with("c"), with("c")
	if v := last(gate.Compare("base", ref, got, fixed()).Verdicts); v.Finding != gate.Regressed {
		t.Errorf("%+v, want regressed", v)
	}
}

func TestRounding(t *testing.T) {
	tps := bench.Metric{Name: "tps", Unit: "tok/s", Better: bench.Higher}
	ms := bench.Metric{Name: "ms", Unit: "ms", Better: bench.Lower}
	exact := bench.Metric{Name: "sum", Better: bench.Higher, Exact: true}
	for _, tt := range []struct {
		name             string
		metric           bench.Metric
		refStep, runStep float64
		old, new         float64
		want             gate.Finding // "" for what rounding may have made
	}{
		{"one step of a slow cell", tps, 0.1, 0.1, 0.5, 0.4, ""},
		{"two steps", tps, 0.1, 0.1, 0.5, 0.3, gate.Regressed},
		{"one step of a fast cell", tps, 0.1, 0.1, 50, 49.9, gate.Unchanged},
		{"beyond the limit by less than a step", tps, 0.1, 0.1, 50, 44.95, ""},
		{"and by more", tps, 0.1, 0.1, 50, 44.9, gate.Regressed},
		{"lower is better", ms, 1, 1, 5, 6, ""},
		{"lower is better, two steps", ms, 1, 1, 5, 7, gate.Regressed},
		{"from 0, which may be half a step", ms, 1, 1, 0, 1, ""},
		{"from 0 by two steps", ms, 1, 1, 0, 2, gate.Regressed},
		{"no step", tps, 0, 0, 0.5, 0.4, gate.Regressed},

		// The baseline's description was reviewed; the run's is a claim.
		{"claimed", tps, 0, 0.1, 0.5, 0.4, ""},
		{"the baseline has a finer one", tps, 0.01, 10, 0.5, 0.4, gate.Regressed},
		{"claimed too large", tps, 0, 10, 50, 42, gate.Regressed},
		{"claimed, and the baseline's number is finer", tps, 0, 0.1, 0.52, 0.44, gate.Regressed},
		{"claimed, and the run's number is finer", tps, 0, 0.1, 0.5, 0.42, gate.Regressed},
		{"claimed negative", tps, 0, -0.1, 0.5, 0.4, gate.Regressed},
		{"claimed infinite", tps, 0, math.Inf(1), 50, 42, gate.Regressed},
		{"claimed not a number", tps, 0, math.NaN(), 0.5, 0.4, gate.Regressed},

		{"exact is exact", exact, 1, 1, 5, 6, gate.Incorrect},
	} {
		v := rounded(tt.metric, tt.refStep, tt.runStep, tt.old, tt.new)
		if v.Finding != tt.want && !(tt.want == "" && v.DecidedBy == gate.ByDigits) {
			t.Errorf("%s: %s (%s), want %s", tt.name, v.Finding, v.Reason, tt.want)
		}
		if doubtful := v.Undecided(); doubtful && (!v.Reserved() || !strings.Contains(v.Reason, ": print more digits, or tokens and milliseconds")) {
			t.Errorf("%s: %s, reason %q, want a reservation with a next step", tt.name, standing(&v), v.Reason)
		}
	}
	if v := rounded(tps, 0.1, 0, 0.5, 0.4); !strings.Contains(v.Reason, "steps of 0.1 tok/s, which is 20 % of the baseline's 0.5") {
		t.Errorf("reason %q does not give the step in percent", v.Reason)
	}
}

// TestRoundingProperties: a step excuses nothing but regressions, never an
// exact number of steps beyond doubt, and a claim no more than a tenth.
func TestRoundingProperties(t *testing.T) {
	tps := bench.Metric{Name: "tps", Better: bench.Higher}
	property := func(a, b uint16, claim float64) bool {
		old, new := float64(a)/10, float64(b)/10
		plain, reviewed, claimed := rounded(tps, 0, 0, old, new), rounded(tps, 0.1, 0, old, new), rounded(tps, 0, claim, old, new)
		if plain.Finding != gate.Regressed {
			return reviewed.Finding == plain.Finding && claimed.Finding == plain.Finding
		}
		possible := new+0.05 >= (old-0.05)*(0.9-1e-12) // what was printed may be within the limit
		if reviewed.Finding != gate.Regressed && !possible {
			return false
		}
		return claimed.Finding == gate.Regressed || reviewed.Undecided()
	}
	if err := quick.Check(property, testtier.Quick(t, 5000)); err != nil {
		t.Error(err)
	}
}

// last skips what is said of the host: that the run claims a coarser step.
func last(verdicts []gate.Verdict) gate.Verdict { return verdicts[len(verdicts)-1] }
