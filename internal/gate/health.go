package gate

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
)

// takeBack takes back the losses of a cell that an unhealthy host, or one that did
// the calibration workload slower as well, may have made. They block only where a
// baseline is required, as in the action: there, nothing passes without evidence.
func (c *comparer) takeBack(r *bench.Result, verdicts []Verdict) {
	if c.policy.Unhealthy == UnhealthyIgnore || c.policy.Compat != "" {
		return
	}
	why := ""
	if r.Health != nil && r.Health.Status == bench.Unhealthy {
		why = "while the host was unhealthy (" + printable(strings.Join(r.Health.Reasons, "; "), mostLine) + ")"
	}
	for i := range verdicts {
		v := &verdicts[i]
		if !v.loss() || v.Level != Fail {
			continue
		}
		if because := cmp.Or(why, c.host.explains(v)); because != "" {
			v.Class, v.Unhealthy = Inconclusive, true
			if !c.policy.RequireBaseline {
				v.Level = c.policy.open()
			}
			v.Reason = joined(v.Reason, fmt.Sprintf("looks %.1f %% slower, measured %s: measure again when it is well", -v.Delta, because))
		}
	}
}

// hostShift is what accelgate's own piece of work says of the machine; zero where
// it did not move, or nobody knows.
type hostShift struct {
	percent float64 // of time, without sign
	since   string
	// known says that the reference has the calibration, too. Then it changed by
	// change since, and by less than limit where it did not move, in percent of time.
	known         bool
	change, limit float64
}

// shifts compares the calibration with itself after all cells, and with that of
// the reference.
func (c *comparer) shifts() {
	now := c.run.Calibration
	if now == nil {
		return
	}
	if d := detect.CompareHost(now.Before, now.After); d.Moved() {
		c.host = hostShift{percent: 100 * math.Abs(d.Change), since: "while it measured"}
	}
	if c.ref == nil || c.ref.Calibration == nil {
		return
	}
	d := detect.CompareHost(c.ref.Calibration.Before, now.Before)
	c.host.known, c.host.change, c.host.limit = len(now.Before) > 0 && len(c.ref.Calibration.Before) > 0, 100*d.Change, 100*d.Limit
	if d.Moved() && d.Change > 0 && 100*d.Change > c.host.percent {
		c.host.percent, c.host.since = 100*d.Change, "since the baseline was recorded"
	}
}

// explains says how the machine moved, where that may be all of a loss: what is
// more than twice as much has another cause, too. Pairs are moved alike.
func (s hostShift) explains(v *Verdict) string {
	if s.percent == 0 || v.Evidence.Mode == detect.Interleaved || -v.Delta > 2*s.percent {
		return ""
	}
	return fmt.Sprintf("on a machine whose own piece of work moved by %.1f %% %s", s.percent, s.since)
}
