package report_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/report"
)

// explained is what explain prints of cells at a width.
func explained(t *testing.T, r report.Report, ids []string, columns int) string {
	t.Helper()
	var b strings.Builder
	if err := r.ExplainText(&b, r.Explain(ids), report.TerminalOptions{Columns: columns}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestExplainGolden explains a slower cell, a crash, a cell that is missing, drift and
// the cells of case files.
func TestExplainGolden(t *testing.T) {
	for name, ids := range map[string][]string{
		"regressed": {"gemma-4-e4b-it-q8_0__ggml_cuda__tg128__baseline", "gemma-4-e4b-it-q8_0__ggml_cpu__short_text__baseline"},
		"limits":    {"gemma-4-e4b-it-q8_0__ggml_cuda__image__baseline", "gemma-4-e4b-it-q8_0__ggml_cuda__tg128__baseline"},
		"missing":   {"tiny-f32__cpu__pp128__baseline", "tiny-f32__cpu_parallel__pp128__baseline"},
		"anchor":    {"m__cuda__tg128__baseline"},
		"cases":     {"attention__decode"},
		"alike":     {"m00__ggml_cuda__tg128__baseline"},
		"first":     {"tiny-f32__cpu__tg64__baseline"},
	} {
		golden(t, filepath.Join("testdata", "report", name, "explain.txt"), explained(t, report.New(load(t, name).input()), ids, 100))
	}
}

// TestExplainNamesStages explains a number that pairs decided, after a first look.
func TestExplainNamesStages(t *testing.T) {
	h := grid(1, 1, func(res *bench.Result) bool {
		s := &res.Samples[0]
		s.Values, s.Base = []float64{90, 91, 80, 81, 80, 82}, []float64{100, 101, 100, 101, 99, 100}
		res.Selected = 2
		return true
	})
	in := judged(report.Input{}, h)
	v := &in.Hosts[0].Comparison.Verdicts[0]
	v.Finding, v.Blocks, v.Delta = gate.Regressed, true, -19.3
	v.Evidence = gate.Evidence{Method: gate.MethodPairs, InPairs: true, Limit: 2, OldN: 4, NewN: 3, P: 0.004, NoiseFloor: 0.8, MDE: 1.9, Pairs: 4}
	text := explained(t, report.New(in), []string{"m1__cuda__f01__baseline"}, 80)
	for _, want := range []string{"rule     pairs of base and head", "the first 2 values looked slower and chose the cell", "the last 3 pairs decide; 1 pair before them chose the cell", "noise 0.8 %, finds losses from 1.9 % on",
		"\n    base     |", "\n    chose    |", "\n    now      |", "Next: measure it again: accelgate run --only"} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q:\n%s", want, text)
		}
	}
}

// TestExplainAgreesWithTheReport holds for every cell of every scenario: the verdicts are
// the gate's, each once, and its text is plain at any width.
func TestExplainAgreesWithTheReport(t *testing.T) {
	inputs := map[string]report.Input{"planted": planted("\x1b]8;;x\x1b\\|\n::error::"), "mass": matrix(60)}
	for _, name := range names(t) {
		inputs[name] = load(t, name).input()
	}
	for name, in := range inputs {
		r := report.New(in)
		ofCells := 0
		for _, h := range in.Hosts {
			for _, v := range h.Comparison.Verdicts {
				if v.Cell != "" {
					ofCells++
				}
			}
		}
		list := r.Explain(r.CellIDs())
		for _, x := range list {
			ofCells -= len(x.Verdicts)
			for _, v := range x.Verdicts {
				if v.Rule == "" || strings.HasSuffix(v.Rule, " 0 %") && v.Evidence.Limit != 0 {
					t.Errorf("%s: %s %s has the rule %q", name, x.Cell, v.Metric, v.Rule)
				}
			}
		}
		if ofCells != 0 {
			t.Errorf("%s: %d verdicts of cells are not explained, or twice", name, ofCells)
		}
		for _, columns := range []int{1, 80, 200} {
			checkPlain(t, explained(t, r, r.CellIDs(), columns))
		}
		var b strings.Builder
		if err := report.ExplainJSON(&b, list); err != nil || !json.Valid([]byte(b.String())) {
			t.Errorf("%s: JSON: %v", name, err)
		}
	}
}
