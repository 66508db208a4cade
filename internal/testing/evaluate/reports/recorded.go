package reports

import (
	"fmt"
	"io"
	"slices"

	"github.com/accelgate/accelgate/internal/gate"
	detectors "github.com/accelgate/accelgate/internal/testing/evaluate/detection"
)

// recordedPairs is how many pairs of a cell and metric the stages may need.
const recordedPairs = 30

// Recorded measures the pairs of a recorded host by the gate: pairs of unchanged
// code, whose B is multiplied to make slow-downs. Sessions of one workload are
// joined until they have 30 pairs; a report holds one such cell of each workload
// of a host. It is an error if no workload has that many.
func Recorded(w io.Writer, all []detectors.Paired) (Rates, error) {
	r := road{name: "pairs in stages, recorded host", paired: true, policy: gate.DefaultPolicy()}
	r.samples = recordedReports(all)
	if len(r.samples) == 0 {
		return Rates{}, fmt.Errorf("no cell has %d pairs: record more with accelgate calibrate --rounds %d --record", recordedPairs,
			2*recordedPairs)
	}
	if w != nil {
		table(w, &r, effects, append([]rule{gated}, peers(bothSessions, 5)...))
	}
	return r.measure(gated, effects), nil
}

func recordedReports(all []detectors.Paired) (reports []sample) {
	type key struct{ host, workload string }
	cells := map[key]number{}
	filled := map[string][]int{} // reports of a host, by place
	made := map[key]int{}
	for _, p := range all {
		k := key{p.Host, p.Workload}
		if p.Delta != 0 {
			continue
		}
		n := cells[k]
		n.base, n.head = append(n.base, p.A...), append(n.head, p.B...)
		for len(n.base) >= recordedPairs {
			if made[k] == len(filled[k.host]) {
				filled[k.host] = append(filled[k.host], len(reports))
				reports = append(reports, sample{})
			}
			s := &reports[filled[k.host][made[k]]]
			s.null = append(s.null, number{base: slices.Clone(n.base[:recordedPairs]), head: slices.Clone(n.head[:recordedPairs])})
			n.base, n.head = n.base[recordedPairs:], n.head[recordedPairs:]
			made[k]++
		}
		cells[k] = n
	}
	for i := range reports {
		null := reports[i].null
		reports[i].slowed = func(cell int, effect float64) number {
			n := number{base: null[cell].base}
			for _, v := range null[cell].head {
				n.head = append(n.head, v*(1+effect))
			}
			return n
		}
	}
	return reports
}
