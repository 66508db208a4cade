package detect

import "math"

// mdeAlpha is the p that the MDE takes a decision for: a report of 80 cells decides
// some two at once.
const mdeAlpha = DefaultFalseAlarms / 2

// mdeMargin is the normal quantile of 92 %: all three looks and the decision must
// find it, which together is 80 %. TestStagesMDE holds it.
const mdeMargin = 1.4

// noiseMargin makes up for noise that few pairs show too small by chance: the pairs
// that follow would show more. TestStatedAfterMeasuring holds it.
const noiseMargin = 1.0

// mde is the slow-down that the whole procedure would find in 4 of 5 cases, as far
// as the noise of the pairs at hand tells: at each look the effect must stay
// below its P, and at the end the decision must hold. It is about these pairs and
// those that would have followed them, and not about another hour of the host.
func (s Stages) mde(r Score, o Options) float64 {
	noise, minimum := r.S*max(1, r.Seen/r.SE)*(1+noiseMargin/r.DF), 0.0 // what was expected of a cell hides what few pairs show
	for _, look := range s.Looks {
		n := float64(keep(look.Pairs))
		df := 2*n - 2 + extraDF
		se := noise * math.Sqrt(2/n)
		minimum = max(minimum, (inflation*StudentQuantile(1-look.P, df)+mdeMargin)*se)
	}
	fresh := clipAt * float64(s.Decide)
	se := noise * math.Sqrt(2/fresh)
	minimum = max(minimum, (StudentQuantile(1-mdeAlpha, fresh)+mdeMargin)*se)
	return max(o.minimumEffect(), minimum)
}
