package report_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/report"
)

// slowCells is a report of so many cells that all became 50 % slower by the
// threshold, measured while the host was in a state.
func slowCells(t *testing.T, cells int, health *bench.Health) (report.Report, gate.Decision) {
	t.Helper()
	of := func(value float64, h *bench.Health) *bench.Run {
		run := &bench.Run{Host: bench.Host{Label: "desk", Fingerprint: bench.Fingerprint{OS: "linux", Arch: "amd64", CPU: "c", Cores: 2}},
			Metrics: []bench.Metric{{Name: "m", Unit: "ms", Better: bench.Lower}}}
		for i := range cells {
			run.Results = append(run.Results, bench.Result{Cell: bench.Cell{Raw: fmt.Sprint("c", i)}, Outcome: bench.Passed, Health: h,
				Samples: []bench.Sample{{Metric: "m", Values: []float64{value, value, value}}}})
		}
		return run
	}
	in := judged(report.Input{}, report.HostInput{Run: of(150, health), Reference: of(100, nil), Commands: report.Commands{Run: "accelgate run", Base: "auto"}})
	return report.New(in), in.Decision
}

// TestAnUnhealthyHostTakesOneLine: 15 cells gave 15 rows that said the same.
func TestAnUnhealthyHostTakesOneLine(t *testing.T) {
	t.Parallel()
	r, d := slowCells(t, 15, &bench.Health{Status: bench.Unhealthy, Reasons: []string{"throttled"}})
	text := render(t, report.Terminal, r)
	if d.Status != gate.StatusUndecided || d.Undecided[gate.Regressed] != 15 || d.Counts[gate.Unchanged] != 0 {
		t.Errorf("%+v", d)
	}
	if n := strings.Count(text, "throttled"); n != 1 {
		t.Errorf("the reason stands there %d times:\n%s", n, text)
	}
	if !strings.HasPrefix(text, "UNDECIDED: 15 losses beyond their limits are undecided; ") {
		t.Errorf("the first line is %.100s", text)
	}
	if !strings.Contains(text, "15 slower (undecided)") || !strings.Contains(text, "A healthy host, or pairs with the base") {
		t.Error(text)
	}
	if _, d := slowCells(t, 15, &bench.Health{Status: bench.Healthy}); d.Status != gate.StatusFailed {
		t.Errorf("on a healthy host: %+v", d)
	}
}
