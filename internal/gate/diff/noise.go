package diff

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/text"
)

// noisePairs finds the numbers of which both sides hold several values, and says of
// each whether chance may make the difference: by what two sessions of one code
// may differ by, corrected for all of them, as the gate does without pairs and
// history. The result is by place in pairs; a number without values is not in it.
func noisePairs(pairs []metricPair) map[int]float64 {
	var sides []detect.TwoSample
	var at []int
	for i, m := range pairs {
		if m.old == nil || m.new == nil || m.old.Spread == nil || m.new.Spread == nil {
			continue
		}
		sides, at = append(sides, detect.TwoSample{Base: *m.old.Spread, Head: *m.new.Spread}), append(at, i)
	}
	ps := make([]float64, len(sides))
	for i, e := range detect.JudgeTwoSample(sides) {
		ps[i] = 2 * min(e.P, 1-e.P) // a diff has two directions
	}
	q := make(map[int]float64, len(sides))
	for i, adjusted := range detect.AdjustHolm(ps) {
		q[at[i]] = adjusted
	}
	return q
}

// byChance makes a difference that chance may make none.
func (f *judgedRow) byChance(q float64, known bool) {
	row := &f.row
	if !known || row.Verdict != Regression && row.Verdict != Improvement || q <= detect.DefaultFalseAlarms {
		return
	}
	row.Verdict, f.fails = NoChange, 0
	row.Reason = text.Reasons(fmt.Sprintf("within what two sessions of unchanged code differ by (p %.2g)", q), row.Reason)
}
