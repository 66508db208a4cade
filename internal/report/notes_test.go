package report_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/report"
)

// TestLinesOnNoise: one line on what A/A pairs say of the threshold.
func TestLinesOnNoise(t *testing.T) {
	metric := func(name string, largest float64) gate.MetricNoise {
		return gate.MetricNoise{Metric: name, Pairs: 24, Median: 1.2, Largest: largest}
	}
	for _, c := range []struct {
		want    string
		metrics []gate.MetricNoise
	}{
		{"A/A pairs: 24, median 1.2 %, largest 4.0 %: the threshold of 10 % is above the noise\n", []gate.MetricNoise{metric("tps", 4)}},
		{"A/A pairs: 24, median 1.2 %, largest 14.0 %: the threshold of 10 % is within the noise: raise repeats, or the threshold\n", []gate.MetricNoise{metric("tps", 14)}},
		{"A/A pairs: 24, tps median 1.2 %, largest 4.0 %; ms median 1.2 %, largest 10.5 %: the threshold of 10 % is within", []gate.MetricNoise{metric("tps", 4), metric("ms", 10.5)}},
		{"; d median 1.2 %, largest 4.0 %; and 2 more metrics: the", []gate.MetricNoise{metric("a", 4), metric("b", 4), metric("c", 4), metric("d", 4), metric("e", 4), metric("f", 4)}},
		{"A/A pairs: 24, none with a metric that is gated: let the cells report a speed\n", nil},
	} {
		in := judged(report.Input{}, report.HostInput{Run: &bench.Run{}})
		in.Hosts[0].Comparison.Noise = &gate.Noise{Pairs: 24, Metrics: c.metrics}
		if text := render(t, report.Terminal, report.New(in)); !strings.Contains(text, c.want) {
			t.Errorf("want %q in\n%s", c.want, text)
		}
	}
}

// TestEveryCauseHasItsWord: a reader can tell a crash from a timeout, from
// memory that ran out and from a program that did not start.
func TestEveryCauseHasItsWord(t *testing.T) {
	words := map[string]bench.Cause{}
	for _, cause := range []bench.Cause{bench.CauseStart, bench.CauseExit, bench.CauseCrash, bench.CauseOOM, bench.CauseTimeout,
		bench.CauseInput, bench.CauseOutput, bench.CauseMachine, bench.CauseCapacity, "", "made up"} {
		v := whole("cell", gate.Crashed)
		v.Cause = cause
		in := report.Input{}
		c := gate.Comparison{Measured: 1, Verdicts: []gate.Verdict{v}}
		in.Hosts = []report.HostInput{{Run: &bench.Run{}, Comparison: c}}
		in.Decision = gate.Decide([]gate.Comparison{c}, in.Policy)
		word, _, _ := strings.Cut(report.New(in).Findings(9)[0].Message, ":")
		if before, twice := words[word]; twice && cause != "made up" || word == "failed to run" != (cause == "" || cause == "made up") {
			t.Errorf("cause %q is printed as %q, like %q", cause, word, before)
		}
		words[word] = cause
	}
}

// TestReasonsAreGrouped: 600 skipped cells are a line each for two reasons, and
// a run that makes up a reason for each cell fills neither report nor memory.
func TestReasonsAreGrouped(t *testing.T) {
	const cells = 600
	run := &bench.Run{}
	add := func(reason string) {
		id := fmt.Sprintf("cell-%03d", len(run.Results))
		run.Results = append(run.Results, bench.Result{Cell: bench.Cell{Raw: id}, Outcome: bench.Skipped, Reason: reason})
		run.LeftOut = append(run.LeftOut, bench.LeftOut{Cell: "out-" + id, Reason: reason})
	}
	for i := range cells {
		add([]string{"no device", "no device", "no file"}[i%3])
	}
	text := render(t, report.Terminal, report.New(judged(report.Input{}, report.HostInput{Run: run})))
	for _, want := range []string{
		"== 600 skipped\n", "cell-000, cell-001, cell-003 and 397 more", "cell-002, cell-005, cell-008 and 197 more",
		"600 cells were not measured; raise limits.budget", "- 400 cells: no device (out-cell-000, out-cell-001, out-cell-003 and 397 more)\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
	run.Results, run.LeftOut = nil, nil
	for i := range cells {
		add(fmt.Sprint("reason ", i))
	}
	text = render(t, report.Terminal, report.New(judged(report.Input{}, report.HostInput{Run: run})))
	for _, want := range []string{"... and 580 more rows", "- 595 cells for other reasons\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
}

// TestCautionsOfManyHostsAreBounded: five of a kind are shown, the rest counted.
func TestCautionsOfManyHostsAreBounded(t *testing.T) {
	var hosts []report.HostInput
	machine := func(model string) bench.Host {
		return bench.Host{Label: "h", Fingerprint: bench.Fingerprint{CPU: "c", Accelerators: []bench.Accelerator{{Model: model}}}}
	}
	for range 8 {
		passes := bench.Result{Cell: bench.Cell{Raw: "a"}, Outcome: bench.Passed, Retries: 1, AAPartner: "b"}
		other := bench.Result{Cell: bench.Cell{Raw: "b"}, Outcome: bench.Passed}
		hosts = append(hosts, report.HostInput{Run: &bench.Run{Host: machine("H200"), Results: []bench.Result{passes, other}},
			Reference: &bench.Run{Host: machine("H100")}})
	}
	text := render(t, report.Terminal, report.New(judged(report.Input{}, hosts...)))
	for _, want := range []string{"… and 3 more hosts with other hardware\n", "… and 3 more hosts with retries\n", "… and 3 more hosts with A/A pairs\n",
		"FAIL: this is not the host of the baseline on 8 of 8 hosts ("} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
}

// TestOneMore: one more than shown is printed as one.
func TestOneMore(t *testing.T) {
	var hosts []report.HostInput
	for range 6 {
		passes := bench.Result{Cell: bench.Cell{Raw: "a"}, Outcome: bench.Passed}
		hosts = append(hosts, report.HostInput{Run: &bench.Run{Results: []bench.Result{passes}}})
	}
	if got, want := render(t, report.Terminal, report.New(judged(report.Input{}, hosts...))), "… and 1 more host whose speed was not judged\n"; !strings.Contains(got, want) {
		t.Errorf("want %q in\n%s", want, got)
	}
	in := judged(report.Input{}, report.HostInput{Run: &bench.Run{}})
	in.Hosts[0].Comparison.Noise = &gate.Noise{Metrics: make([]gate.MetricNoise, 5)}
	if got, want := render(t, report.Terminal, report.New(in)), "; and 1 more metric"; !strings.Contains(got, want) || strings.Contains(got, want+"s") {
		t.Errorf("want %q in\n%s", want, got)
	}
	if _, got := report.Changes(report.Refresh{Hosts: make([]report.HostChanges, 31)}); !strings.Contains(got, "… and 1 more host\n") {
		t.Errorf("one host too many is not told of:\n%s", got)
	}
}

// TestNextAfterOneMeasurement names the cell to measure again.
func TestNextAfterOneMeasurement(t *testing.T) {
	lonely, sure := judgedCell("a", gate.Regressed), judgedCell("b", gate.Regressed)
	sure.Evidence.NewN, sure.Delta = 5, -90
	text := single(t, report.Commands{}, sure, lonely)
	if want := "- 1 slower cell with a single measurement; measure again before you look for the cause: accelgate run --only 'a' --repeats 5\n"; !strings.Contains(text, want) {
		t.Errorf("want %q in\n%s", want, text)
	}
	if text := single(t, report.Commands{}, sure); strings.Contains(text, "--repeats") {
		t.Errorf("five measurements are called a single one:\n%s", text)
	}
}
