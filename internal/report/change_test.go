package report_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate/diff"
	"github.com/accelgate/accelgate/internal/report"
)

// oneMetric is a judged run of a single cell, its values before and now.
func oneMetric(m bench.Metric, old, now, base []float64) report.Input {
	run := func(s bench.Sample) *bench.Run {
		return &bench.Run{Host: bench.Host{Label: "desk", Fingerprint: bench.Fingerprint{OS: "linux", Arch: "amd64", CPU: "c", Cores: 2}}, Metrics: []bench.Metric{m}, Results: []bench.Result{{Cell: bench.Cell{Raw: "c"}, Outcome: bench.Passed, Samples: []bench.Sample{s}}}}
	}
	return judged(report.Input{}, report.HostInput{Run: run(bench.Sample{Metric: m.Name, Values: now, Base: base}), Reference: run(bench.Sample{Metric: m.Name, Values: old})})
}

// TestThreeSignConventions: a latency that grew was -31.0 % in the report, +31.0 %
// in diff, and had no word to tell which is worse.
func TestThreeSignConventions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		better   bench.Direction
		now      float64
		want     string
		change   float64
		improves bool
	}{
		{bench.Lower, 131, "+31.0 % (worse)", 0.31, false}, {bench.Lower, 80, "-20.0 % (better)", -0.2, true},
		{bench.Higher, 69, "-31.0 % (worse)", -0.31, false}, {bench.Higher, 120, "+20.0 % (better)", 0.2, true},
	} {
		m := bench.Metric{Name: "m", Better: c.better}
		in := oneMetric(m, []float64{100}, []float64{c.now}, nil)
		for _, text := range []string{render(t, report.Terminal, report.New(in)), strings.ReplaceAll(render(t, report.Markdown, report.New(in)), "**", "")} {
			if !strings.Contains(text, c.want) {
				t.Errorf("%s %v lacks %q:\n%s", c.better, c.now, c.want, text)
			}
		}
		v := decode(t, report.New(in)).Hosts[0].Verdicts[0]
		if v.Change == nil || v.Better == nil || !nearly(*v.Change, c.change) || *v.Better != c.improves || !nearly(v.Interval[0], c.change) {
			t.Errorf("%s %v: %+v", c.better, c.now, v)
		}
		h := in.Hosts[0]
		d := diff.Compare(diff.DocumentOf("a", h.Reference, nil), diff.DocumentOf("b", h.Run, nil), diff.Policy{})
		if text := renderDiff(t, "diff.txt", d, report.DiffOptions{}); !strings.Contains(text, c.want) {
			t.Errorf("diff lacks %q:\n%s", c.want, text)
		}
		var doc report.DiffDocument
		if err := json.Unmarshal([]byte(renderDiff(t, "diff.json", d, report.DiffOptions{})), &doc); err != nil {
			t.Fatal(err)
		}
		if r := doc.Metrics[0]; r.DeltaRel == nil || r.Better == nil || !nearly(*r.DeltaRel, c.change) || *r.Better != c.improves {
			t.Errorf("diff of %s %v: %+v", c.better, c.now, r)
		}
	}
}

func nearly(a, b float64) bool { return a-b < 1e-12 && b-a < 1e-12 }

// TestPairsShowAnotherChangeThanTheirNumbers: the change of a row is that of the two
// numbers beside it, or the row names the estimate.
func TestPairsShowAnotherChangeThanTheirNumbers(t *testing.T) {
	t.Parallel()
	m := bench.Metric{Name: "m", Better: bench.Lower}
	base := []float64{100, 110, 90, 105, 95, 130, 80}
	now := []float64{130, 143, 117, 136, 123, 150, 104} // medians 100 and 130
	text := render(t, report.Terminal, report.New(oneMetric(m, base, now, base)))
	if !strings.Contains(text, "100 → 130") || !strings.Contains(text, "(worse; estimate of the pairs; ") {
		t.Error(text)
	}
	alike := []float64{100, 100, 100, 100, 100}
	slower := []float64{130, 130, 130, 130, 130}
	text = render(t, report.Terminal, report.New(oneMetric(m, alike, slower, alike)))
	if !strings.Contains(text, "+30.0 % (worse; ") || strings.Contains(text, "estimate") {
		t.Error(text)
	}
}

// TestLossShowsInstructions: a loss with as many instructions points at the host.
func TestLossShowsInstructions(t *testing.T) {
	t.Parallel()
	base, slower := []float64{100, 100, 100, 100, 100}, []float64{130, 130, 130, 130, 130}
	for now, want := range map[float64]string{1e9: "; instructions unchanged)", 1.12e9: "; instructions +12.0 %)"} {
		in := oneMetric(bench.Metric{Name: "m", Better: bench.Lower}, base, slower, base)
		in.Hosts[0].Run.Results[0].Resources = []bench.Sample{
			{Metric: bench.Instructions, Values: []float64{now}, Base: []float64{1e9}},
		}
		if text := render(t, report.Terminal, report.New(in)); !strings.Contains(text, want) {
			t.Errorf("want %q:\n%s", want, text)
		}
	}
}
