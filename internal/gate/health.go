package gate

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/text"
)

// unhealthy returns how the host was unhealthy during a result, or "".
func unhealthy(in *inputs, r *bench.Result) string {
	if in.policy.Unhealthy == UnhealthyIgnore || r.Health == nil || r.Health.Status != bench.Unhealthy {
		return ""
	}
	return "the host was unhealthy (" + text.Visible(strings.Join(r.Health.Reasons, "; "), maxLine) + ")"
}

// underHost notes how the host was while a loss was measured: it was unhealthy, or did the
// calibration workload slower as well. Then the loss is undecided, unless an exact test of pairs
// shows it: the order within pairs is random, so what the host does falls on both sides.
func underHost(in *inputs, unhealthy string, v Verdict) Verdict {
	if in.policy.Unhealthy == UnhealthyIgnore || !in.tool.Context || !v.loss() {
		return v
	}
	v.Health = cmp.Or(unhealthy, in.host.explains(&v))
	if v.Health != "" && !v.Evidence.exactPairs() && in.policy.blocks(&v) {
		v.undecide(ByHealthyHost, v.Health+": measure again on a healthy host, or in pairs with --ab")
	}
	return v
}

// hostShift is the change of the calibration workload; zero where
// it did not move, or was not measured on both sides.
type hostShift struct {
	percent float64 // of time, without sign
	since   string
	// known says that the reference has the calibration, too. Then it changed by
	// change since, and by less than limit where it did not move, in percent of time.
	known         bool
	change, limit float64
}

// shiftOf compares the calibration with itself after all cells, and with that of
// the reference.
func shiftOf(ref, run *bench.Run) (s hostShift) {
	now := run.Calibration
	if now == nil {
		return s
	}
	if d := detect.CompareHost(now.Before, now.After); d.Moved() {
		s = hostShift{percent: 100 * math.Abs(d.Change), since: "while it measured"}
	}
	if ref == nil || ref.Calibration == nil {
		return s
	}
	d := detect.CompareHost(ref.Calibration.Before, now.Before)
	s.known, s.change, s.limit = len(now.Before) > 0 && len(ref.Calibration.Before) > 0, 100*d.Change, 100*d.Limit
	if d.Moved() && d.Change > 0 && 100*d.Change > s.percent {
		s.percent, s.since = 100*d.Change, "since the baseline was recorded"
	}
	return s
}

// explains returns how the machine moved, where that may be all of a loss: what is
// more than twice as much has another cause, too. Pairs are moved alike.
func (s hostShift) explains(v *Verdict) string {
	if s.percent == 0 || v.Evidence.InPairs || -v.Delta > 2*s.percent {
		return ""
	}
	return fmt.Sprintf("the calibration workload moved by %.1f %% %s", s.percent, s.since)
}
