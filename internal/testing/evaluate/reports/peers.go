package reports

import (
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/stats"
	detectors "github.com/accelgate/accelgate/internal/testing/evaluate/detection"
)

// sides returns as many values of the old and of the new code as a rule without
// stages takes.
type sides func(n *number) (base, head []float64)

// firstPairs are the first pairs of a cell.
func firstPairs(count int) sides {
	return func(n *number) (base, head []float64) { return n.base[:count], n.head[:count] }
}

// lastRuns are as many runs before as there are new ones.
func lastRuns(n *number) (base, head []float64) {
	for i := len(n.history) - 1; i >= 0 && len(base) < len(n.head); i-- {
		base = append(base, n.history[i]...)
	}
	return base, n.head
}

func bothSessions(n *number) (base, head []float64) { return n.base, n.head }

// peers are the rules of other tools on both sides of a cell.
func peers(of sides, cost int) []rule {
	judged := func(name string, slower func(base, head []float64) bool) rule {
		return rule{name: name, cost: cost, alarm: func(n *number) bool {
			base, head := of(n)
			return len(base) > 0 && slower(base, head)
		}}
	}
	beyond := func(limit float64) func(base, head []float64) bool {
		return func(base, head []float64) bool { return stats.Median(head)/stats.Median(base)-1 > limit }
	}
	return []rule{
		judged("fixed 2 %", beyond(0.02)),
		judged("fixed 10 %", beyond(0.10)),
		judged("Mann-Whitney .05 + 2 %", func(base, head []float64) bool {
			return beyond(0.02)(base, head) && detectors.RankSumP(base, head) < 0.05
		}),
		judged("Welch .05 + 2 %", func(base, head []float64) bool {
			return beyond(0.02)(base, head) && detectors.WelchP(base, head) < 0.05
		}),
	}
}

// eDivisive looks for a change point at the first new run, as Apache Otava does.
func eDivisive(cost int) rule {
	return rule{name: "E-divisive (Otava)", cost: cost, alarm: func(n *number) bool {
		var series []float64
		for _, run := range n.history {
			series = append(series, run...)
		}
		at := len(series)
		for _, p := range detect.ChangePoints(append(series, n.head...), detect.Search{Significance: detectors.StudentP}) {
			if p.Index == at && p.Change > 0 {
				return true
			}
		}
		return false
	}}
}
