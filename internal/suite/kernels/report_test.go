package kernels_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/suite/kernels"
)

// judged is what a report of hosts is made of.
func judged(hosts ...report.HostInput) report.Input {
	in := report.Input{Policy: gate.DefaultPolicy(), Kinds: []report.Kind{kernels.Kind.Report}}
	var comparisons []gate.Comparison
	for _, h := range hosts {
		h.Comparison = gate.Compare("baseline", h.Reference, h.Run, in.Policy)
		comparisons = append(comparisons, h.Comparison)
		in.Hosts = append(in.Hosts, h)
	}
	in.Decision = gate.Decide(comparisons, in.Policy)
	return in
}

func render(t *testing.T, f report.Renderer, r report.Report) string {
	t.Helper()
	var b strings.Builder
	if err := f(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// kernelHost is a host with a workload for each pair of changes: of a solution's
// latency and of its reference's.
func kernelHost(name func(i int) string, changes ...[2]float64) report.HostInput {
	metrics := []bench.Metric{
		{Name: "latency_ms", Unit: "ms", Better: bench.Lower},
		{Name: "reference_latency_ms", Unit: "ms", Better: bench.Lower, Informational: true},
	}
	now := &bench.Run{Metrics: metrics, Host: bench.Host{Label: "linux-cpu", Fingerprint: bench.Fingerprint{OS: "linux", Arch: "amd64", CPU: "test", Cores: 2}}}
	old := &bench.Run{Metrics: metrics, Host: now.Host}
	for i, c := range changes {
		id := fmt.Sprintf("fib/%d/s/w", i)
		samples := func(own, reference float64) []bench.Sample {
			return []bench.Sample{{Metric: "latency_ms", Values: []float64{own, own, own}},
				{Metric: "reference_latency_ms", Values: []float64{reference, reference}}}
		}
		cell := bench.Cell{Raw: id, Params: []bench.Param{
			{Key: "definition", Value: name(i)}, {Key: "solution", Value: name(i)}, {Key: "workload", Value: name(i)}}}
		now.Results = append(now.Results, bench.Result{Cell: cell, Outcome: bench.Passed, Samples: samples(c[0], 2*c[1])})
		old.Results = append(old.Results, bench.Result{Cell: bench.Cell{Raw: id}, Outcome: bench.Passed, Samples: samples(1, 2)})
	}
	return report.HostInput{Run: now, Reference: old, Path: "baselines/baseline-linux-cpu.json"}
}

func numbered(i int) string { return fmt.Sprintf("kernel_%03d", i) }

func TestDriftIsTold(t *testing.T) {
	t.Parallel()
	slower, faster := [2]float64{1.2, 1.2}, [2]float64{0.8, 0.8}
	for name, c := range map[string]struct {
		changes [][2]float64
		want    string // "" for no word of it
	}{
		"all slower":          {[][2]float64{slower, slower, slower}, "in 3 of 3 workloads (geomean of all: solutions +20.0 % (worse), references +20.0 % (worse)). The host is slower"},
		"all faster":          {[][2]float64{faster, faster, faster}, "solutions -20.0 % (better), references -20.0 % (better)). The host is faster"},
		"most":                {[][2]float64{slower, slower, {1.3, 1}}, "in 2 of 3 workloads"},
		"half":                {[][2]float64{slower, slower, {1, 1}, {1, 1}}, ""},
		"both directions":     {[][2]float64{slower, slower, faster, faster}, ""},
		"too few":             {[][2]float64{slower, slower}, ""},
		"solutions alone":     {[][2]float64{{1.2, 1}, {1.3, 1.02}, {1.2, 0.8}}, ""},
		"references alone":    {[][2]float64{{1, 1.2}, {1.01, 1.2}, {1, 1.2}}, ""},
		"noise":               {[][2]float64{{1.03, 1.03}, {1.04, 1.04}, {1.02, 1.02}}, ""},
		"much more of theirs": {[][2]float64{{1.1, 1.5}, {1.1, 1.5}, {1.1, 1.5}}, ""},
	} {
		got := render(t, report.TerminalWith(report.TerminalOptions{}), report.New(judged(kernelHost(numbered, c.changes...))))
		if strings.Contains(got, "seems to have drifted") != (c.want != "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: want %q in\n%s", name, c.want, got)
		}
	}
}

// TestDriftNeedsNumbers: without the times of references nothing is known.
func TestDriftNeedsNumbers(t *testing.T) {
	t.Parallel()
	h := kernelHost(numbered, [2]float64{1.2, 1.2}, [2]float64{1.2, 1.2}, [2]float64{1.2, 1.2})
	for i := range h.Reference.Results {
		h.Reference.Results[i].Samples = h.Reference.Results[i].Samples[:1]
	}
	got := render(t, report.TerminalWith(report.TerminalOptions{}), report.New(judged(h)))
	if strings.Contains(got, "drifted") || !strings.Contains(got, "== Kernels by definition") {
		t.Errorf("got\n%s", got)
	}
}

func TestKernelTableIsBounded(t *testing.T) {
	t.Parallel()
	changes := make([][2]float64, 300)
	for i := range changes {
		changes[i] = [2]float64{1 + float64(i)/10000, 1}
	}
	got := render(t, report.MarkdownLimit(1<<20), report.New(judged(kernelHost(numbered, changes...))))
	_, section, _ := strings.Cut(got, "<summary>Kernels by definition</summary>")
	section, _, _ = strings.Cut(section, "</details>")
	if rows := strings.Count(section, "\n| `"); rows != 100 || !strings.Contains(section, "\n… and 200 more\n") {
		t.Errorf("%d rows, want 100 and 200 more:\n%s", rows, section)
	}
	if !strings.HasPrefix(section[strings.Index(section, "\n| `"):], "\n| `kernel_299` | `kernel_299` | 1/1 | +3.0 % (worse) | `kernel_299` +3.0 % (worse) | – |") {
		t.Errorf("the slowest is not first:\n%.400s", section)
	}
}

// TestKernelsOfSeveralHosts: a row for each host, which it names.
func TestKernelsOfSeveralHosts(t *testing.T) {
	t.Parallel()
	a, b := kernelHost(numbered, [2]float64{1, 1}), kernelHost(numbered, [2]float64{1.05, 1})
	b.Run.Host.Label, b.Reference.Host.Label = "other", "other"
	got := render(t, report.Markdown, report.New(judged(a, b)))
	first, second := "| `kernel_000` | `other` | `kernel_000` | 1/1 | +5.0 %", "| `kernel_000` | `linux-cpu` | `kernel_000` | 1/1 | 0.0 %"
	if at := strings.Index(got, first); at < 0 || !strings.Contains(got[max(at, 0):], second) {
		t.Errorf("want %q before %q in\n%s", first, second, got)
	}
}

// TestUnknownComparison: verdicts that do not go with the run change nothing
// and stop nothing.
func TestUnknownComparison(t *testing.T) {
	t.Parallel()
	in := judged(kernelHost(numbered, [2]float64{1, 1}))
	v := in.Hosts[0].Comparison.Verdicts
	for _, id := range []string{"fib/0/s/gone", "no kernel", ""} {
		lost := v[0]
		lost.Cell = id
		v = append(v, lost)
	}
	in.Hosts[0].Comparison.Verdicts = v
	if got := render(t, report.Markdown, report.New(in)); !strings.Contains(got, "| `kernel_000` | `kernel_000` | 1/2 | 0.0 %") {
		t.Errorf("got\n%s", got)
	}
}
