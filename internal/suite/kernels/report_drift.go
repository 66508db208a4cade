package kernels

import (
	"fmt"
	"math"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/text"
)

// drift compares how solutions and the references that were measured beside
// them have moved. Reference and solution share the machine and little else.
type drift struct {
	host           *report.HostInput
	slower, faster int     // workloads whose reference moved as much
	own, reference geomean // of all workloads with both numbers on both sides
}

// geomean sums up how times have changed.
type geomean struct {
	n    int
	logs float64 // of the ratios of new to old
}

func (g *geomean) add(log float64) {
	if math.IsNaN(log) || math.IsInf(log, 0) {
		return
	}
	g.logs += log
	g.n++
}

// percent is the geometric mean of the changes, negative for slower, and 0 of
// nothing.
func (g *geomean) percent() float64 {
	if p := -100 * math.Expm1(g.logs/float64(max(g.n, 1))); bench.Finite(p) {
		return p
	}
	return 0
}

const (
	minDrift     = 0.05 // of a time: smaller changes are noise as likely
	minDrifted   = 3    // workloads: fewer may agree by chance
	driftedAlike = 2    // the one change is at most so many times the other
)

// drift compares the judged cells with the run that they were compared with.
func (s *hostScan) drift(reference *bench.Run) (d drift) {
	if len(s.judged) == 0 || reference == nil {
		return d
	}
	olds := reference.ByID()
	for _, v := range s.judged {
		own := math.Log(v.New / v.Old)
		other := math.Log(median(s.own[v.Cell].Result, referenceMetric) / median(olds[v.Cell], referenceMetric))
		if sum := own + other; !math.IsNaN(sum) && !math.IsInf(sum, 0) {
			d.add(own, other)
		}
	}
	return d
}

func (d *drift) add(own, reference float64) {
	d.own.add(own)
	d.reference.add(reference)
	ratio := reference / own
	switch alike := ratio >= 1.0/driftedAlike && ratio <= driftedAlike; {
	case alike && own >= math.Log1p(minDrift):
		d.slower++
	case alike && own <= -math.Log1p(minDrift):
		d.faster++
	}
}

// seen reports whether most workloads moved with their references in one
// direction.
func (d *drift) seen() bool { return d.own.n >= minDrifted && 2*max(d.slower, d.faster) > d.own.n }

// median returns that of a metric of a result, NaN where there is none.
func median(res *bench.Result, metric string) float64 {
	if res == nil {
		return math.NaN()
	}
	s := res.Sample(metric)
	if s == nil {
		return math.NaN()
	}
	return s.Median()
}

// addDrifts names the hosts whose speed itself seems to have changed.
func addDrifts(t *report.Text, drifts []drift) {
	const maximum = 5
	for i := range drifts[:min(maximum, len(drifts))] {
		d := &drifts[i]
		word := "slower"
		if d.faster > d.slower {
			word = "faster"
		}
		t.Line(report.Bold("The host seems to have drifted"), report.Plain(": on "), report.Code(d.host.Run.Host.Label),
			report.Plain(fmt.Sprintf(
				" the reference moved as much as the solution in %d of %s (geomean of all: solutions %s, references %s). "+
					"The host is %s than when the baseline was captured, rather than the kernels: make sure that nothing else runs on it, "+
					"and measure again with ", max(d.slower, d.faster), text.Plural(d.own.n, "workload"),
				report.FormatChange(-d.own.percent(), 0, bench.Lower), report.FormatChange(-d.reference.percent(), 0, bench.Lower), word)),
			report.Command(d.host.Commands.Run))
	}
	switch more := len(drifts) - maximum; {
	case more == 1:
		t.Line(report.Plain("… and 1 more host that seems to have drifted"))
	case more > 1:
		t.Line(report.Plain(fmt.Sprintf("… and %d more hosts that seem to have drifted", more)))
	}
}
