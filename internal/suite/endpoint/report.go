package endpoint

import (
	"fmt"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/report/chart"
	"github.com/accelgate/accelgate/internal/text"
)

// maxProbes bounds the rows of one curve.
const maxProbes = 30

// blocks lists what searches over loads measured, a table for each cell.
func blocks(hosts []report.HostInput) (b report.Blocks) {
	var searches []*bench.Result
	for i := range hosts {
		results := hosts[i].Run.Results
		for k := range results {
			if len(results[k].Curve) > 0 {
				searches = append(searches, &results[k])
			}
		}
	}
	b.Folded.Section("Throughput and latency by load, of " + text.Plural(len(searches), "search"))
	for _, r := range searches {
		b.Folded.Line(report.Code(r.Cell.ID()), report.Plain(": "+r.Curve.Summary()))
		addCurve(&b.Folded, r.Curve)
	}
	return b
}

// addCurve lists the probes by load.
func addCurve(t *report.Text, curve bench.Curve) {
	names := []string{"Load>", "Holds", "req/s>", "tok/s>", "TTFT p95 ms>", "TPOT p95 ms>", "Answered>"}
	shown := reportedIn(curve)
	for _, c := range shown {
		names = append(names, c.title+">")
	}
	var rows [][]report.Line
	sorted := curve.ByLoad()
	for _, p := range sorted[:min(len(sorted), maxProbes)] {
		holds := "no"
		if p.Holds {
			holds = "yes"
		}
		row := []report.Line{report.Only(report.Plain(report.FormatNumber(p.Load))), report.Only(report.Plain(holds))}
		for _, v := range []float64{p.Rate, p.Throughput, p.TTFT, p.TPOT} {
			cell := report.None()
			if v > 0 {
				cell = report.Only(report.Plain(report.FormatNumber(v)))
			}
			row = append(row, cell)
		}
		row = append(row, report.Only(report.Plain(fmt.Sprintf("%.1f %%", 100*p.OKRate))))
		for _, c := range shown {
			row = append(row, report.Only(report.Plain(report.FormatNumber(c.of(p)))))
		}
		rows = append(rows, row)
	}
	t.Table(names, rows, len(curve))
}

// reported is a number that servers and their devices report during a probe, by the column's name.
type reported struct {
	title string
	of    func(bench.LoadPoint) float64
}

// reportedIn returns those of which the curve has any number but 0.
func reportedIn(curve bench.Curve) (shown []reported) {
	for _, c := range []reported{
		{"Queue", func(p bench.LoadPoint) float64 { return p.Queue }}, {"KV use %", func(p bench.LoadPoint) float64 { return 100 * p.KVUse }},
		{"Preempted", func(p bench.LoadPoint) float64 { return p.Preemptions }}, {"SM MHz", func(p bench.LoadPoint) float64 { return p.SMClock }},
		{"Power W", func(p bench.LoadPoint) float64 { return p.Power }}, {"Memory MiB", func(p bench.LoadPoint) float64 { return p.Memory }},
		{"CPU MHz", func(p bench.LoadPoint) float64 { return p.CPUClock }},
	} {
		if slices.ContainsFunc(curve, func(p bench.LoadPoint) bool { return c.of(p) > 0 }) {
			shown = append(shown, c)
		}
	}
	return shown
}

// drawings shows latency against throughput.
func drawings(r *bench.Result) []report.Figure {
	knee, found := r.Curve.Knee()
	var points []chart.Point
	for _, p := range r.Curve.ByLoad() {
		points = append(points, chart.Point{X: p.Rate, Y: p.TTFT, Good: p.Holds, Marked: found && p == knee})
	}
	points = slices.DeleteFunc(points, func(p chart.Point) bool { return p.X <= 0 || p.Y <= 0 })
	svg := chart.Scatter{X: "req/s", Y: "TTFT p95 (ms)", Good: "holds", Mark: "knee", Points: points}.SVG()
	return []report.Figure{{Caption: "latency against throughput", SVG: svg}}
}
