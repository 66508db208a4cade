package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/text"
)

// servingColumn is a metric by its column's name.
type servingColumn struct{ title, metric string }

// servingColumns are the metrics of the overview.
var servingColumns = []servingColumn{
	{"Answered", "n_ok"}, {"tok/s", "throughput_tok_per_s"}, {"TTFT p50", "ttft_p50_ms"}, {"p99 ms", "ttft_p99_ms"},
	{"TPOT p50", "tpot_p50_ms"}, {"p99 ms", "tpot_p99_ms"}, {"Latency p50", "total_p50_ms"}, {"J/token", "joules_per_token"},
}

// Serving renders what loads of a server yielded as plain text: the first line
// says whether all were measured, then come the numbers, what is doubtful about
// them, and where the envelopes are, by cell id.
func Serving(w io.Writer, run *bench.Run, envelopes map[string]string) error {
	p := printer{w: bufio.NewWriter(w), options: TerminalOptions{Columns: 110}, log: true}
	bad := 0
	for i := range run.Results {
		if run.Results[i].Outcome != bench.Passed {
			bad++
		}
	}
	if n := len(run.Results); bad > 0 {
		p.line(fmt.Sprintf("NOT MEASURED: %d of %s", bad, text.Plural(n, "load")))
	} else {
		p.line("measured: " + text.Plural(n, "load"))
	}
	p.blocks([]block{servingTable(run)})
	p.section("What the server and its devices reported", servingReported(run))
	p.section("Highest loads", servingSearches(run))
	p.section("Failed", servingFailures(run))
	p.section("Doubtful, so no baseline will record it", servingNotes(run, servingCaveat))
	p.section("Notes", servingNotes(run, func(r *bench.Result) []string { return r.Warnings }))
	p.section("Envelopes", servingFiles(run, envelopes))
	p.line("")
	p.line(servingNext(run, envelopes, bad))
	return p.w.Flush()
}

// reportedColumns are metrics of the server's own page and of its devices.
var reportedColumns = []servingColumn{
	{
		"Queue",
		"server_queue_mean",
	}, {"most", "server_queue_max"}, {"Running", "server_running_max"}, {"KV use", "server_kv_use_max"}, {"Preempted", "server_preemptions"},
	{
		"Prefix hits",
		"server_prefix_hit_rate",
	}, {"SM MHz", "device_sm_clock_mhz"}, {"Power W", "device_power_w"}, {"Memory MiB", "device_memory_max_mib"}, {"CPU MHz", "cpu_clock_mhz"},
}

// servingReported shows those of reportedColumns that any load has.
func servingReported(run *bench.Run) []block {
	shown := slices.DeleteFunc(slices.Clone(reportedColumns), func(c servingColumn) bool {
		return !slices.ContainsFunc(run.Results, func(r bench.Result) bool { return r.Sample(c.metric) != nil })
	})
	if len(shown) == 0 {
		return nil
	}
	return []block{loadTable(run, shown)}
}

func servingTable(run *bench.Run) block { return loadTable(run, servingColumns) }

// loadTable has a row for each load.
func loadTable(run *bench.Run, shown []servingColumn) block {
	titles := []string{"Load"}
	for _, c := range shown {
		titles = append(titles, c.title+">")
	}
	t := &table{columns: columns(titles...)}
	for i := range run.Results {
		r := &run.Results[i]
		row := []inline{only(code(r.Cell.ID()))}
		for _, c := range shown {
			cell := none
			if s := r.Sample(c.metric); s != nil && len(s.Values) > 0 {
				cell = only(plain(number(stats.Median(s.Values))))
			}
			row = append(row, cell)
		}
		t.rows = append(t.rows, row)
	}
	t.total = len(t.rows)
	return t
}

// servingSearches shows what searches over loads found, with their curves.
func servingSearches(run *bench.Run) (blocks []block) {
	for i := range run.Results {
		r := &run.Results[i]
		if len(r.Curve) == 0 {
			continue
		}
		line := inline{code(r.Cell.ID()), plain(": ")}
		for _, s := range r.Samples {
			if m := run.Metric(s.Metric); m != nil && strings.HasSuffix(s.Metric, "_at_slo") && len(s.Values) > 0 && len(s.Estimates) > 0 {
				e := s.Estimates[len(s.Estimates)-1]
				line = append(
					line,
					plain(fmt.Sprintf("%s %.4g %s (%.4g to %.4g); ", s.Metric, stats.Median(s.Values), m.Unit, e.Low, e.High)),
				)
			}
		}
		blocks = append(blocks, paragraph(append(line, plain(r.Curve.Summary()))), curveTable(r.Curve))
	}
	return blocks
}

// servingFailures returns why loads failed, with the end of their servers' logs.
func servingFailures(run *bench.Run) (blocks []block) {
	for i := range run.Results {
		r := &run.Results[i]
		if r.Outcome == bench.Passed {
			continue
		}
		blocks = append(blocks, paragraph{code(r.Cell.ID()), plain(": "), plain(string(r.Outcome)), plain(": "), reason(r.Reason)})
		if lines, _ := excerpt(r.Log, true); len(lines) > 0 {
			blocks = append(blocks, preformatted(lines[max(0, len(lines)-maxServerLog):]))
		}
	}
	return blocks
}

// maxServerLog is how many lines of a server's log are shown.
const maxServerLog = 8

// servingNotes lists texts of each load.
func servingNotes(run *bench.Run, of func(*bench.Result) []string) []block {
	var items bullets
	for i := range run.Results {
		r := &run.Results[i]
		for _, w := range of(r) {
			items = append(items, inline{code(r.Cell.ID()), plain(": "), reason(w)})
		}
	}
	if len(items) == 0 {
		return nil
	}
	return []block{items}
}

func servingCaveat(r *bench.Result) []string {
	if r.Doubt == "" {
		return nil
	}
	return []string{r.Doubt}
}

func servingFiles(run *bench.Run, envelopes map[string]string) []block {
	var items bullets
	for i := range run.Results {
		id := run.Results[i].Cell.ID()
		if path, ok := envelopes[id]; ok {
			items = append(items, inline{code(id), plain(": "), command(path)})
		}
	}
	if len(items) == 0 {
		return nil
	}
	return []block{items}
}

func servingNext(run *bench.Run, envelopes map[string]string, bad int) string {
	switch {
	case bad > 0:
		return "Next: see why above, fix it and measure again; what was measured is kept"
	case len(run.Results) > 0 && envelopes[run.Results[0].Cell.ID()] != "":
		return "Next: measure again after a change, then accelgate diff " + text.ShellWord(
			envelopes[run.Results[0].Cell.ID()],
		) + " AFTER.json"
	}
	return "Next: accelgate bench run --list"
}

// MetricsTable lists metrics with their definitions.
func MetricsTable(w io.Writer, metrics []bench.Metric) error {
	p := printer{w: bufio.NewWriter(w)}
	for _, m := range metrics {
		gated := "gated"
		switch {
		case m.Informational:
			gated = "shown"
		case m.CountedBy != "":
			gated = fmt.Sprintf("gated from %d %s", m.MinCount, m.CountedBy)
		}
		p.line(strings.TrimRight(fmt.Sprintf("%-30s %-14s %-7s %-20s %s", m.Name, m.Unit, m.Better, gated, m.Definition), " "))
	}
	return p.w.Flush()
}
