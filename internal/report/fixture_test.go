package report_test

import (
	"fmt"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/compat"
	"github.com/accelgate/accelgate/internal/reference/waiver"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/suite/cases"
	"github.com/accelgate/accelgate/internal/suite/endpoint"
	"github.com/accelgate/accelgate/internal/suite/kernels"
)

// kinds are those that add something to a report, in the order of the command.
var kinds = []report.Kind{cases.Kind.Report, endpoint.Kind.Report, kernels.Kind.Report}

// hostile strings try to leave each place that a report puts them in.
var hostile = []string{
	"a|b", `a\|b`, `a\\|b\`, "`", "``` x", "` `` ``` ````", "</details>", "</summary></details><script>x</script>",
	"<!--", "<sub>", "&lt;b&gt;", "**bold** _it_ ~~s~~", "# heading", "@octocat", "#123", "octo/repo#1", "GH-12",
	"deadbeefcafe1234567890", "[x](http://evil.example)", "![x](http://evil.example/x.png)", "http://evil.example",
	"www.evil.example", "a@evil.example", "mailto:a@evil.example", "\n# heading\n", "\r\n| a | b |\n|--|--|\n", "\n```\n", "\n</details>\n\n",
	"\u202ecod", "a\u200bb\ufeff", "\x1b[31mred\x1b[0m\x1b]0;t\x07", "\xff\xfe\x80", "\x00", "::error::x", "##[error]x", " ::stop-commands::x",
	"$x$ $$y$$", ":tada:", "- item", "1. item", "> quote", "    code", "---", "===", "[^1]", "[ ] task", "\t", "é漢字🙂",
	"$(reboot) 'it' \"is\"", "-rf",
}

// planted is a report with s wherever a string of a run can end up, between
// letters that keep its order and never leave it empty.
func planted(s string) report.Input {
	word := func(i int) string { return fmt.Sprintf("%c%sz", 'a'+i, s) }
	metric := func() []bench.Metric {
		return []bench.Metric{{Name: "v" + s, Unit: word(0), Better: bench.Higher}, {Name: "exact", Better: bench.Higher, Exact: true}}
	}
	sample := func(x float64) []bench.Sample {
		return []bench.Sample{{Metric: "v" + s, Values: []float64{x, x, x}}}
	}
	cell := func(i int) bench.Cell { return bench.Cell{Raw: word(i)} }
	result := func(i int, x float64) bench.Result {
		return bench.Result{Cell: cell(i), Outcome: bench.Passed, Samples: sample(x),
			Breakdowns: []bench.Breakdown{{Title: word(0), Unit: word(1), Entries: []bench.Entry{{Name: word(2), Total: x, Calls: 3}}}}}
	}
	fails := func(i int, o bench.Outcome) bench.Result {
		return bench.Result{Cell: cell(i), Outcome: o, Reason: s, Output: word(1), Log: word(2), Command: []string{s, word(0)},
			Cause: bench.Cause(s), Device: s, Retries: i}
	}
	machine := bench.Fingerprint{OS: word(0), Arch: word(1), CPU: word(2), Cores: 2, MemoryGiB: 8, Driver: word(3),
		Accelerators: []bench.Accelerator{{Vendor: word(4), Model: word(5)}}}
	other := machine
	other.CPU = "another"
	run := func(fp bench.Fingerprint, results ...bench.Result) *bench.Run {
		return &bench.Run{Tool: word(0), Revision: word(1), Host: bench.Host{Label: word(2), Fingerprint: fp},
			Context: map[string]string{"k" + s: s}, Metrics: metric(), Results: results, Warnings: []string{s + "!"}}
	}
	fresh := run(machine, fails(0, bench.Incorrect), fails(1, bench.Failed), fails(2, bench.Skipped), result(3, 50),
		result(4, 200), result(5, 100), result(6, 100), fails(7, bench.Timeout), fails(8, bench.Skipped))
	old := run(machine, result(0, 1), result(1, 1), result(2, 1), result(3, 100), result(4, 100), result(5, 100),
		fails(7, bench.Failed), result(9, 1))
	old.Earlier, old.Results[3].Samples[0].History = make([]bench.Point, 2), [][]float64{{100}, {101}}
	fresh.LeftOut = []bench.LeftOut{{Cell: word(9), Reason: word(0)}, {Cell: word(10), Reason: word(1)}, {Cell: word(11), Reason: word(1)}}
	fresh.Results[5].AAPartner, fresh.Results[6].Retries, fresh.Results[6].Device = word(6), 1, word(0)
	moved := run(other, result(3, 100))
	other.Accelerators = []bench.Accelerator{{Vendor: word(4), Model: word(6)}}
	replaced := run(other, result(3, 100))
	in := judged(report.Input{Tool: word(0), Revision: s, Base: s, Config: word(0), Links: report.Links{Run: "javascript:" + s, Report: ownLink, Cell: func(_, _ string) string { return ownLink }}},
		report.HostInput{Run: fresh, Reference: old, Path: s},
		report.HostInput{Run: run(machine, result(3, 50)), Reference: moved, Path: s},
		report.HostInput{Run: run(machine, result(3, 50)), Reference: replaced, Path: s},
		report.HostInput{Run: run(machine, result(3, 50)), Path: s})
	plantChecks(&in.Hosts[0].Comparison, s, word)
	plantWaivers(&in, s, word)
	return in
}

// plantWaivers adds a waiver in each state, and verdicts with each excuse and decider.
func plantWaivers(in *report.Input, s string, word func(int) string) {
	for i, state := range []gate.WaiverState{gate.WaiverUsed, gate.WaiverExceeded, gate.WaiverExpired, gate.WaiverUnused} {
		in.Decision.Waivers = append(in.Decision.Waivers, gate.WaiverUse{State: state, DaysLeft: 1 - i, Note: word(i), Entry: waiver.Entry{
			Cell: word(i), Metric: s + "x", Host: []string{"", word(0)}[i%2], Ceiling: 20, Reason: s, Issue: word(1), By: word(2)}})
	}
	c := &in.Hosts[0].Comparison
	c.Waivers = in.Decision.Waivers
	slow := gate.Verdict{Cell: word(14), Metric: "v" + s, Finding: gate.Regressed, Old: 2, New: 1, Delta: -50, Reason: s, Health: s,
		Evidence: gate.Evidence{Method: gate.MethodThreshold, Limit: 10, OldN: 1, NewN: 1}}
	for _, kind := range gate.ExcuseKinds {
		c.Verdicts = append(c.Verdicts, excused(slow, gate.Excuse{Kind: kind, Source: s, Why: word(0), By: s, Issue: word(1), Trade: &gate.Offset{Trade: gate.Trade{For: s, Loss: 10}, Gained: 20}}))
	}
	slow.Cell = word(15)
	for _, by := range gate.Deciders {
		c.Verdicts = append(c.Verdicts, undecided(slow, by))
	}
	c.Measured, c.Passed = c.Measured+2, c.Passed+2
}

// plantChecks adds what only cells of case files have.
func plantChecks(c *gate.Comparison, s string, word func(int) string) {
	row := func(i int, change compat.OperatorChange, status compat.OperatorStatus) compat.OperatorRow {
		return compat.OperatorRow{Name: word(i), Change: change, Status: status, Old: 1, New: 1.5, OldCalls: 3, NewCalls: 4, Diff: 0.5,
			DeltaPS: 5e11 - int64(i), ByCallsPS: 5e11 - int64(i)}
	}
	for i := range 3 {
		c.Checks = append(c.Checks, compat.Check{Cell: word(12 + i), Description: s, Metric: "t" + s, Unit: []string{"s", word(0), ""}[i], Actual: 2,
			Status:     []compat.CheckStatus{compat.CheckFailBase, compat.CheckPass, compat.CheckNoBaseline}[i],
			References: []compat.ReferenceCheck{{Name: "baseline", Value: 1, Tolerance: 0.1, Diff: 1}, {Name: s, Value: 1}, {Name: "initial", Value: 1}},
			Operators: compat.OperatorCheck{Status: compat.OperatorsWarn, TopN: 10, Of: "baseline", DeltaPS: 1e12, Rows: []compat.OperatorRow{
				row(0, compat.OperatorKept, compat.OperatorsWarn), row(1, compat.OperatorNew, compat.OperatorsWarn),
				row(2, compat.OperatorMissing, compat.OperatorsFail), row(3, compat.OperatorChange(s+"!"), compat.OperatorStatus(s+"!"))}}})
	}
	c.Checks[1].Operators.Violations = []string{s, "  " + s + ": +1.00%", word(0)}
	numbers := gate.Evidence{Method: "threshold", Limit: 10, OldN: 1, NewN: 1}
	c.Verdicts = append(c.Verdicts,
		gate.Verdict{Cell: word(12), Metric: "t" + s, Reference: "baseline", Finding: gate.Regressed, Blocks: true, Old: 1, New: 2, Delta: -100, Evidence: numbers},
		gate.Verdict{Cell: word(12), Metric: "t" + s, Reference: "initial", Finding: gate.Drifted, Blocks: true, Old: 1, New: 2, Delta: -100, Evidence: numbers, Reason: s},
		gate.Verdict{Cell: word(13), Metric: "t" + s, Reference: "baseline", Finding: gate.PartsDiffer, DecidedBy: gate.ByDigits, Reason: s},
		gate.Verdict{Cell: word(13), Metric: "t" + s, Reference: "baseline", Finding: gate.Drifted, DecidedBy: gate.ByHealthyHost, Old: 1, New: 2, Delta: -100, Evidence: numbers, Reason: s})
	c.Measured, c.Passed = c.Measured+3, c.Passed+3
}

// judged completes in as the command does.
func judged(in report.Input, hosts ...report.HostInput) report.Input {
	in.Now = time.Date(2026, 3, 14, 10, 0, 0, 0, time.UTC)
	in.Policy = gate.DefaultPolicy()
	in.Kinds = kinds
	var comparisons []gate.Comparison
	for _, h := range hosts {
		h.Comparison = gate.Compare("baseline", h.Reference, h.Run, in.Policy)
		comparisons = append(comparisons, h.Comparison)
		in.Hosts = append(in.Hosts, h)
	}
	in.Decision = gate.Decide(comparisons, in.Policy)
	return in
}

// matrix is one host with as many cells. One in 50 is slower, one in 500 wrong
// and one in 100 skipped.
func matrix(cells int) report.Input {
	return judged(report.Input{Tool: "accelgate v0.1.0"}, host(cells))
}

func host(cells int) report.HostInput {
	machine := bench.Fingerprint{OS: "linux", Arch: "amd64", CPU: "test", Cores: 2}
	metrics := []bench.Metric{
		{Name: "prefill_tps", Unit: "tok/s", Better: bench.Higher, FallbackFor: "decode_tps"},
		{Name: "decode_tps", Unit: "tok/s", Better: bench.Higher},
	}
	now := &bench.Run{Metrics: metrics, Host: bench.Host{Label: "linux-cpu", Fingerprint: machine}}
	old := &bench.Run{Metrics: metrics, Host: now.Host}
	for i := range cells {
		c := bench.Cell{Params: []bench.Param{{Key: "model", Value: fmt.Sprintf("model-%05d", i)},
			{Key: "backend", Value: "cpu_parallel"}, {Key: "feature", Value: "tg128"}, {Key: "env", Value: "baseline"}}}
		base := 100 + float64(i%37)
		old.Results = append(old.Results, bench.Result{Cell: bench.Cell{Raw: c.ID()}, Outcome: bench.Passed, Samples: []bench.Sample{
			{Metric: "prefill_tps", Summary: &bench.Summary{Median: base * 20, MAD: 2, N: 3}},
			{Metric: "decode_tps", Summary: &bench.Summary{Median: base, MAD: 0.2, N: 3}}}})
		speed, outcome, reason := base*(1+float64(i%11-5)/100), bench.Passed, ""
		switch {
		case i%500 == 7:
			outcome, reason = bench.Incorrect, "the answer lacks \"Paris\""
		case i%100 == 3:
			outcome, reason = bench.Skipped, "no device"
		case i%50 == 1:
			speed = base * 0.8
		}
		now.Results = append(now.Results, bench.Result{Cell: c, Outcome: outcome, Reason: reason, Samples: []bench.Sample{
			{Metric: "prefill_tps", Values: []float64{speed * 20, speed * 20.1, speed * 19.9}},
			{Metric: "decode_tps", Values: []float64{speed, speed * 1.01, speed * 0.99}}}})
	}
	return report.HostInput{Run: now, Reference: old, Path: "baselines/baseline-linux-cpu.json"}
}
