package interchange_test

import (
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/report"
)

var now = time.Date(2026, 3, 14, 10, 0, 0, 0, time.UTC)

func cell(suite, name string) bench.Cell {
	return bench.Cell{Suite: suite, Params: []bench.Param{{Key: "model", Value: name}}}
}

func passed(c bench.Cell, x float64) bench.Result {
	return bench.Result{Cell: c, Outcome: bench.Passed, WallMS: 1234, Samples: []bench.Sample{{Metric: "decode_tps", Values: []float64{x, x + 0.1, x - 0.1}}}}
}

func failed(c bench.Cell, o bench.Outcome, cause bench.Cause, reason string) bench.Result {
	return bench.Result{Cell: c, Outcome: o, Cause: cause, Reason: reason, WallMS: 50}
}

func run(label, note string, results ...bench.Result) *bench.Run {
	return &bench.Run{Schema: bench.RunSchema, Tool: "accelgate v0.1.0", Revision: "0123abc", Started: now.Add(-time.Hour), Results: results,
		Host:    bench.Host{Label: label, Fingerprint: bench.Fingerprint{OS: "linux", Arch: "amd64", CPU: "Example CPU", Cores: 16}},
		Metrics: []bench.Metric{{Name: "decode_tps", Unit: "tok/s", Better: bench.Higher}}, Context: map[string]string{"note": note}}
}

// judged judges runs with their references as the command does.
func judged(in report.Input, hosts ...report.HostInput) report.Report {
	in.Tool, in.Now, in.Policy = "accelgate v0.1.0", now, gate.DefaultPolicy()
	var comparisons []gate.Comparison
	for _, h := range hosts {
		h.Comparison = gate.Compare("baseline", h.Reference, h.Run, in.Policy)
		comparisons, in.Hosts = append(comparisons, h.Comparison), append(in.Hosts, h)
	}
	in.Decision = gate.Decide(comparisons, in.Policy)
	return report.New(in)
}

// everything is a report with a cell of each kind, and s in all strings that it holds.
func everything(s string) report.Report {
	models, server := "models"+s, s+"server"
	head := run("linux-cuda"+s, s,
		passed(cell(models, "same"+s), 100), passed(cell(models, "slower"+s), 80), passed(cell(server, "faster"+s), 130),
		failed(cell(models, "wrong"+s), bench.Incorrect, bench.CauseAnswer, s+`the answer lacks "Paris"`),
		failed(cell(server, "crashed"+s), bench.Failed, bench.CauseCrash, "ended by signal 11"+s),
		failed(cell(server, "large"+s), bench.Skipped, bench.CauseCapacity, s+"needs 80 GiB, has 24"),
		failed(cell(models, "known"+s), bench.Failed, bench.CauseExit, "exit code 1"+s), passed(cell(models, "new"+s), 50))
	base := run("linux-cuda"+s, s, passed(cell(models, "same"+s), 100), passed(cell(models, "slower"+s), 100), passed(cell(server, "faster"+s), 100),
		passed(cell(models, "wrong"+s), 100), passed(cell(server, "crashed"+s), 100), passed(cell(models, "gone"+s), 100),
		failed(cell(models, "known"+s), bench.Failed, bench.CauseExit, "exit code 1"+s))
	other := run("macos-mlx"+s, s, passed(cell(models, "same"+s), 100))
	return judged(report.Input{Config: s + "accelgate.yaml", Lines: map[string]int{models: 13, server: 40}},
		report.HostInput{Run: head, Reference: base}, report.HostInput{Run: other})
}

// reports are those with golden files.
func reports() map[string]report.Report {
	same := run("linux-cuda", "", passed(cell("models", "same"), 100))
	skipped := run("linux-cuda", "", failed(cell("models", "large"), bench.Skipped, bench.CauseCapacity, "needs 80 GiB, has 24"))
	moved := run("linux-cuda", "", passed(cell("models", "same"), 100))
	moved.Host.Accelerators = []bench.Accelerator{{Vendor: "nvidia", Model: "Example GPU"}}
	others := *moved
	others.Host.Accelerators = []bench.Accelerator{{Vendor: "nvidia", Model: "Another GPU"}}
	in := report.Input{Config: "perf/accelgate.yaml", Lines: map[string]int{"models": 7}}
	return map[string]report.Report{
		"everything": everything(""),
		"passed":     judged(in, report.HostInput{Run: same, Reference: same}),
		"nothing":    judged(in, report.HostInput{Run: skipped}),
		"moved":      judged(in, report.HostInput{Run: moved, Reference: &others}),
	}
}
