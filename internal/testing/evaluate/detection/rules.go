package detection

import (
	"math"

	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/stats"
)

// Rule describes whether a trial looks slower. effect is a relative slow-down that the
// head gets first.
type Rule struct {
	Name  string
	Alarm func(t *Trial, effect float64) bool
	// Every is the share of trials that are judged, 1 in Every; for what is slow.
	Every int
}

// Rules are the rules of the tables, ours first.
func Rules() []Rule {
	return []Rule{
		{Name: "REC-S strict", Alarm: strict},
		{Name: "REC-S screen", Alarm: screen},
		{Name: "REC-S strict, cell alone", Alarm: alone},
		{Name: "Mann-Whitney .05 + 2 %", Alarm: mannWhitney},
		{Name: "Welch .05 + 2 %", Alarm: welch},
		{Name: "E-divisive (Otava)", Alarm: eDivisive, Every: 10},
		{Name: "best of n, 2 %", Alarm: best(0.02)},
		{Name: "fixed 2 %", Alarm: fixed(0.02)},
		{Name: "fixed 10 %", Alarm: fixed(0.10)},
	}
}

// judge is what package detect says of a trial. The common mode is out of it
// where a report would have taken it out.
func judge(t *Trial, effect float64, o detect.Options) detect.Verdict {
	history, head := t.History, t.Head
	if len(head) <= 3 {
		history, head = t.LevelHistory, t.LevelHead
	}
	o.Cross = t.Cross
	return detect.Judge(history, slower(head, effect), o).Verdict
}

func strict(t *Trial, effect float64) bool {
	return judge(t, effect, detect.Options{}) == detect.Regressed
}

// alone uses none of the other cells of the run.
func alone(t *Trial, effect float64) bool {
	return detect.Judge(t.History, slower(t.Head, effect), detect.Options{}).Verdict == detect.Regressed
}

func screen(t *Trial, effect float64) bool {
	v := judge(t, effect, detect.Options{})
	return v == detect.Regressed || v == detect.Suspect
}

func slower(values []float64, effect float64) []float64 {
	if effect == 0 {
		return values
	}
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = v * (1 + effect)
	}
	return out
}

// sides are the two equal samples that rules without history compare.
func (t *Trial) sides(effect float64) (base, head []float64) {
	n := len(t.Head)
	return t.History[len(t.History)-n:], slower(t.Head, effect)
}

func fixed(limit float64) func(*Trial, float64) bool {
	return func(t *Trial, effect float64) bool {
		base, head := t.sides(effect)
		return average(head)/average(base)-1 > limit
	}
}

func best(limit float64) func(*Trial, float64) bool {
	return func(t *Trial, effect float64) bool {
		base, head := t.sides(effect)
		return minimum(head)/minimum(base)-1 > limit
	}
}

func minimum(values []float64) float64 {
	m := math.Inf(1)
	for _, v := range values {
		m = min(m, v)
	}
	return m
}

func mannWhitney(t *Trial, effect float64) bool {
	base, head := t.sides(effect)
	return stats.Median(head)/stats.Median(base)-1 > 0.02 && RankSumP(base, head) < 0.05
}

func welch(t *Trial, effect float64) bool {
	base, head := t.sides(effect)
	return average(head)/average(base)-1 > 0.02 && WelchP(base, head) < 0.05
}

// eDivisive looks for a change point at the first run of the head, in 40 runs of
// history and the head.
func eDivisive(t *Trial, effect float64) bool {
	series := append(append([]float64(nil), t.History...), slower(t.Head, effect)...)
	for _, p := range detect.ChangePoints(series, detect.Search{Significance: StudentP}) {
		if p.Index == len(t.History) && p.Change > 0 {
			return true
		}
	}
	return false
}
