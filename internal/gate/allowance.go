package gate

import (
	"math"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/stats"
)

// Change is the change for the worse that a metric may have against its reference: the larger
// one of Percent and Absolute, or their Sum.
type Change struct {
	Percent  float64
	Absolute float64 // in the metric's unit, or so many times Spread
	Spread   Spread
	Sum      bool
	Both     bool        // a change for the better may be no larger
	From     float64     // references below this size are not judged
	Noise    *NoiseLimit // derives Percent; nil does not
	Text     string      // as the configuration writes it
}

// allowance is what changes allow a metric of a cell.
type allowance struct {
	percent  float64 // of the reference
	absolute float64 // of a reference of 0, in the metric's unit
	both     bool
	below    *Change  // by whose From the number is not judged; nil if it is
	by       *Change  // that allows the least
	fromZero *Change  // that allows a reference of 0 the least
	derived  *Derived // how the percentage was derived
	unknown  string   // why no change gives a limit yet, "" if one does
}

// unlimited is the percentage of an amount that no reference turns into one.
const unlimited = math.MaxFloat64

// allow returns what is allowed by changes that all hold. recorded is the host's reference, which
// noise is derived from; old is the size of the number that is compared with.
func (in *inputs) allow(changes []*Change, of cell, m *described, recorded *bench.Sample, old float64) *allowance {
	var minimum *allowance
	both, below, fromZero, unknown := false, (*Change)(nil), (*allowance)(nil), (*allowance)(nil)
	for _, c := range changes {
		one := allowance{percent: c.Percent, by: c, fromZero: c}
		if one.absolute, one.unknown = in.amount(c, of, m.Name, recorded); one.unknown != "" {
			unknown = &one
			continue
		}
		if fromZero == nil || one.absolute < fromZero.absolute {
			fromZero = &one
		}
		if c.Noise != nil {
			one.percent, one.derived = c.Noise.derive(&in.policy, m, recorded)
		}
		if old == 0 && c.Percent == 0 && c.Noise == nil {
			one.percent = unlimited
		}
		if old > 0 {
			percent := 100 * one.absolute / old
			if c.Sum {
				one.percent += percent
			} else {
				one.percent = max(one.percent, percent)
			}
		}
		if c.From > 0 && old < c.From {
			below = c
		}
		both = both || c.Both
		if minimum == nil || one.percent < minimum.percent {
			minimum = &one
		}
	}
	if minimum == nil {
		return unknown
	}
	minimum.both, minimum.below, minimum.fromZero, minimum.absolute = both, below, fromZero.by, fromZero.absolute
	if minimum.percent == unlimited {
		minimum.percent = 0
	}
	return minimum
}

// sizeOf is the size of the number that a metric of a cell is compared with, 0 if there is none.
func (in *inputs) sizeOf(c cell, metric string) float64 {
	if now := c.got.Sample(metric); now != nil && len(now.Base) > 0 {
		return math.Abs(stats.Median(now.Base))
	}
	if c.ref == nil || in.unjudged != "" {
		return 0
	}
	old := c.ref.Sample(metric)
	if old == nil {
		return 0
	}
	if in.policy.Method != MethodThreshold && earlierRuns(old) >= minRuns {
		return math.Abs(stats.Median(old.LevelMedians()))
	}
	return math.Abs(old.Median())
}
