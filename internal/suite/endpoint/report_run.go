package endpoint

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/text"
)

// loadColumn is a metric by its column's name.
type loadColumn struct{ title, metric string }

// loadColumns are the metrics of the overview.
var loadColumns = []loadColumn{
	{"Answered", "n_ok"}, {"tok/s", "throughput_tok_per_s"}, {"TTFT p50", "ttft_p50_ms"}, {"p99 ms", "ttft_p99_ms"},
	{"TPOT p50", "tpot_p50_ms"}, {"p99 ms", "tpot_p99_ms"}, {"Latency p50", "total_p50_ms"}, {"J/token", "joules_per_token"},
}

// reportedColumns are metrics of the server's own page and of its devices.
var reportedColumns = []loadColumn{
	{"Queue", "server_queue_mean"}, {"most", "server_queue_max"}, {"Running", "server_running_max"}, {"KV use", "server_kv_use_max"},
	{"Preempted", "server_preemptions"}, {"Prefix hits", "server_prefix_hit_rate"}, {"SM MHz", "device_sm_clock_mhz"},
	{"Power W", "device_power_w"}, {"Memory MiB", "device_memory_max_mib"}, {"CPU MHz", "cpu_clock_mhz"},
}

// PrintRun renders what loads of a server yielded as plain text: the first line
// states whether all were measured, then come the numbers, what is doubtful about
// them, and where the envelopes are, by cell id.
func PrintRun(w io.Writer, run *bench.Run, envelopes map[string]string) error {
	const columns = 110
	bad := 0
	for i := range run.Results {
		if run.Results[i].Outcome != bench.Passed {
			bad++
		}
	}
	var t report.Text
	if n := len(run.Results); bad > 0 {
		t.Line(report.Plain(fmt.Sprintf("NOT MEASURED: %d of %s", bad, text.Plural(n, "load"))))
	} else {
		t.Line(report.Plain("measured: " + text.Plural(n, "load")))
	}
	addLoads(&t, run, loadColumns)
	t.Section("What the server and its devices reported")
	if shown := reportedBy(run); len(shown) > 0 {
		addLoads(&t, run, shown)
	}
	t.Section("Highest loads")
	addSearches(&t, run)
	t.Section("Failed")
	addFailures(&t, run)
	t.Section("Doubtful, so no baseline will record it")
	t.List(notes(run, caveats))
	t.Section("Notes")
	t.List(notes(run, func(r *bench.Result) []string { return r.Warnings }))
	t.Section("Envelopes")
	t.List(envelopeList(run, envelopes))
	t.Section("")
	t.Line(next(run, envelopes, bad)...)
	return t.Log(w, columns)
}

// reportedBy returns those of reportedColumns that any load has.
func reportedBy(run *bench.Run) []loadColumn {
	return slices.DeleteFunc(slices.Clone(reportedColumns), func(c loadColumn) bool {
		return !slices.ContainsFunc(run.Results, func(r bench.Result) bool { return r.Sample(c.metric) != nil })
	})
}

// addLoads adds a table with a row for each load.
func addLoads(t *report.Text, run *bench.Run, shown []loadColumn) {
	names := []string{"Load"}
	for _, c := range shown {
		names = append(names, c.title+">")
	}
	var rows [][]report.Line
	for i := range run.Results {
		r := &run.Results[i]
		row := []report.Line{report.Only(report.Code(r.Cell.ID()))}
		for _, c := range shown {
			cell := report.None()
			if s := r.Sample(c.metric); s != nil && len(s.Values) > 0 {
				cell = report.Only(report.Plain(report.FormatNumber(stats.Median(s.Values))))
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	t.Table(names, rows, len(rows))
}

// addSearches shows what searches over loads found, with their curves.
func addSearches(t *report.Text, run *bench.Run) {
	for i := range run.Results {
		r := &run.Results[i]
		if len(r.Curve) == 0 {
			continue
		}
		line := report.Line{report.Code(r.Cell.ID()), report.Plain(": ")}
		for _, s := range r.Samples {
			if m := run.Metric(s.Metric); m != nil && strings.HasSuffix(s.Metric, "_at_slo") && len(s.Values) > 0 && len(s.Estimates) > 0 {
				e := s.Estimates[len(s.Estimates)-1]
				found := fmt.Sprintf("%s %.4g %s (%.4g to %.4g); ", s.Metric, stats.Median(s.Values), m.Unit, e.Low, e.High)
				line = append(line, report.Plain(found))
			}
		}
		t.Line(append(line, report.Plain(r.Curve.Summary()))...)
		addCurve(t, r.Curve)
	}
}

// addFailures adds why loads failed, with the end of their servers' logs.
func addFailures(t *report.Text, run *bench.Run) {
	const maxServerLog = 8 // lines
	for i := range run.Results {
		r := &run.Results[i]
		if r.Outcome == bench.Passed {
			continue
		}
		t.Line(report.Code(r.Cell.ID()), report.Plain(": "+string(r.Outcome)+": "), report.Foreign(r.Reason))
		t.Excerpt(r.Log, maxServerLog)
	}
}

// notes lists texts of each load.
func notes(run *bench.Run, of func(*bench.Result) []string) (items []report.Line) {
	for i := range run.Results {
		r := &run.Results[i]
		for _, w := range of(r) {
			items = append(items, report.Line{report.Code(r.Cell.ID()), report.Plain(": "), report.Foreign(w)})
		}
	}
	return items
}

func caveats(r *bench.Result) []string {
	if r.Caveat == "" {
		return nil
	}
	return []string{r.Caveat}
}

func envelopeList(run *bench.Run, envelopes map[string]string) (items []report.Line) {
	for i := range run.Results {
		id := run.Results[i].Cell.ID()
		if path, ok := envelopes[id]; ok {
			items = append(items, report.Line{report.Code(id), report.Plain(": "), report.Command(path)})
		}
	}
	return items
}

func next(run *bench.Run, envelopes map[string]string, bad int) report.Line {
	switch {
	case bad > 0:
		return report.Line{report.Plain("Next: see why above, fix it and measure again; what was measured is kept")}
	case len(run.Results) > 0 && envelopes[run.Results[0].Cell.ID()] != "":
		return report.Line{
			report.Plain("Next: measure again after a change, then "),
			report.Command("accelgate diff " + text.ShellWord(envelopes[run.Results[0].Cell.ID()]) + " AFTER.json"),
		}
	}
	return report.Line{report.Plain("Next: accelgate bench run --list")}
}

// PrintMetrics lists metrics with their definitions.
func PrintMetrics(w io.Writer, metrics []bench.Metric) error {
	out := bufio.NewWriter(w)
	for _, m := range metrics {
		gated := "gated"
		switch {
		case m.Informational:
			gated = "shown"
		case m.CountedBy != "":
			gated = fmt.Sprintf("gated from %d %s", m.MinCount, m.CountedBy)
		}
		line := fmt.Sprintf("%-30s %-14s %-7s %-20s %s", m.Name, m.Unit, m.Better, gated, m.Definition)
		fmt.Fprintln(out, strings.TrimRight(line, " "))
	}
	return out.Flush()
}
