package report

import (
	"fmt"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/report/chart"
	"github.com/accelgate/accelgate/internal/text"
)

// maxProbes bounds the rows of one curve.
const maxProbes = 30

// curves lists what searches over loads measured, a table for each cell, and
// how many there are.
func (r *Report) curves() (title string, blocks []block, n int) {
	for i := range r.hosts {
		run := r.hosts[i].Run
		if run == nil {
			continue
		}
		for k := range run.Results {
			if result := &run.Results[k]; len(result.Curve) > 0 {
				n++
				blocks = append(blocks, paragraph{code(result.Cell.ID()), plain(": " + result.Curve.Summary())}, curveTable(result.Curve))
			}
		}
	}
	return "Throughput and latency by load, of " + text.Plural(n, "search"), blocks, n
}

// curveTable lists the probes by load.
func curveTable(curve bench.Curve) block {
	titles := []string{"Load>", "Holds", "req/s>", "tok/s>", "TTFT p95 ms>", "TPOT p95 ms>", "Answered>"}
	shown := reportedIn(curve)
	for _, c := range shown {
		titles = append(titles, c.title+">")
	}
	t := &table{total: len(curve), columns: columns(titles...)}
	sorted := curve.ByLoad()
	for _, p := range sorted[:min(len(sorted), maxProbes)] {
		holds := "no"
		if p.Holds {
			holds = "yes"
		}
		row := []inline{only(plain(number(p.Load))), only(plain(holds))}
		for _, v := range []float64{p.Rate, p.Throughput, p.TTFT, p.TPOT} {
			cell := none
			if v > 0 {
				cell = only(plain(number(v)))
			}
			row = append(row, cell)
		}
		row = append(row, only(plain(fmt.Sprintf("%.1f %%", 100*p.OKRate))))
		for _, c := range shown {
			row = append(row, only(plain(number(c.of(p)))))
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// reported are what servers and their devices report during a probe, by the column's name.
type reported struct {
	title string
	of    func(bench.LoadPoint) float64
}

// reportedIn are those of which the curve has any number but 0.
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

// curveChart draws latency against throughput.
func curveChart(curve bench.Curve) string {
	knee, found := curve.Knee()
	var points []chart.Point
	for _, p := range curve.ByLoad() {
		points = append(points, chart.Point{X: p.Rate, Y: p.TTFT, Good: p.Holds, Marked: found && p == knee})
	}
	points = slices.DeleteFunc(points, func(p chart.Point) bool { return p.X <= 0 || p.Y <= 0 })
	return chart.Scatter{X: "req/s", Y: "TTFT p95 (ms)", Good: "holds", Mark: "knee", Points: points}.SVG()
}
