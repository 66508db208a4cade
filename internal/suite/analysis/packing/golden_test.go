package packing_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/analysis/packing"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

func recorded(t *testing.T, name string) []byte {
	t.Helper()
	data := testtier.Data(t, "golden packings were NOT read", "mini_trainer/batching_golden.json")
	text, err := os.ReadFile(filepath.Join(data, "mini_trainer", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// golden is a scenario with what the original program makes of it. Cells of
// assignments hold -1 where they are padded.
type golden struct {
	Lengths []int64            `json:"lengths"`
	Max     int64              `json:"max_tokens_per_rank"`
	Ranks   int                `json:"num_ranks"`
	Greedy  map[string]float64 `json:"greedy"`
	LPT     map[string]float64 `json:"lpt"`

	GreedyCells [][][]int `json:"greedy_assignment_rows_by_rank"`
	LPTCells    [][][]int `json:"lpt_assignment_rows_by_rank"`
}

// TestGoldens: the file holds 10 of the 15 scenarios; of the others there is
// what TestRecordedOutput reads.
func TestGoldens(t *testing.T) {
	t.Parallel()
	var want map[string]golden
	if err := json.Unmarshal(recorded(t, "batching_golden.json"), &want); err != nil {
		t.Fatal(err)
	}
	if len(want) < 10 {
		t.Fatalf("%d scenarios", len(want))
	}
	compared := 0
	for _, s := range packing.Scenarios() {
		w, ok := want[s.Name]
		if !ok {
			continue
		}
		compared++
		if !slices.Equal(s.Lengths, w.Lengths) || s.Max != w.Max || s.Ranks != w.Ranks {
			t.Errorf("%s differs", s.Name)
		}
		p := s.Problem()
		p.Policy = packing.Legacy
		compareGolden(t, s.Name, "greedy", p, w.Greedy, w.GreedyCells)
		compareGolden(t, s.Name, "lpt", p, w.LPT, w.LPTCells)
	}
	if compared != len(want) {
		t.Errorf("compared %d of %d", compared, len(want))
	}
}

func compareGolden(t *testing.T, scenario, name string, p packing.Problem, want map[string]float64, cells [][][]int) {
	t.Helper()
	k := pack(t, name, p)
	got := values(t, packing.Measure(p, k))
	// The recorded bound is the sum's, without what is too long, and not L2.
	delete(want, "lower_bound_minibatches")
	if len(want) < 11 {
		t.Errorf("%s %s: only %d metrics", scenario, name, len(want))
	}
	for metric, v := range want {
		if g, ok := got[metric]; !ok || math.Abs(g-v) > 1e-12 {
			t.Errorf("%s %s: %s is %v, want %v", scenario, name, metric, g, v)
		}
	}
	if cells == nil {
		return
	}
	loads := make([][]int64, len(cells))
	for i, row := range cells {
		for _, cell := range row {
			var load int64
			for _, index := range cell {
				if index >= 0 {
					load += p.Lengths[index]
				}
			}
			loads[i] = append(loads[i], load)
		}
	}
	if got := k.Loads(p.Lengths); !reflect.DeepEqual(got, loads) {
		t.Errorf("%s %s: loads %v, want %v", scenario, name, got, loads)
	}
}

// values returns metrics by their names in JSON.
func values(t *testing.T, m packing.Metrics) (all map[string]float64) {
	t.Helper()
	text, err := json.Marshal(m)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestRecordedOutput compares what the original prints of the scenarios that
// the golden file lacks: three decimals of five metrics, and their rows.
func TestRecordedOutput(t *testing.T) {
	t.Parallel()
	text := string(recorded(t, "benchmark_batching_stdout_numba.txt"))
	scenarios := byName()
	for title, name := range map[string]string{
		"1. SMALL BATCH TEST":       "compare/1_small",
		"2. LARGE REALISTIC BATCH":  "compare/2_realistic_500",
		"3. BIMODAL DISTRIBUTION":   "compare/3_bimodal",
		"4. EXTREME OUTLIERS":       "compare/4_extreme",
		"5. POWER LAW DISTRIBUTION": "compare/5_power_law",
	} {
		_, section, ok := strings.Cut(text, "\n"+title+"\n")
		if !ok {
			t.Errorf("no %q", title)
		}
		section, _, _ = strings.Cut(section, "Execution time")
		greedy, lpt := measured(t, scenarios[name], "greedy"), measured(t, scenarios[name], "lpt")
		for _, line := range []string{
			fmt.Sprintf("%-25s %12d %12d", "Total minibatches", greedy.TotalMinibatches, lpt.TotalMinibatches),
			fmt.Sprintf("%-25s %12.3f %12.3f", "Avg row balance ratio", greedy.AvgRowBalanceRatio, lpt.AvgRowBalanceRatio),
			fmt.Sprintf("%-25s %12.3f %12.3f", "Worst row balance ratio", greedy.WorstRowBalanceRatio, lpt.WorstRowBalanceRatio),
			fmt.Sprintf("%-25s %12.3f %12.3f", "Row balance std dev", greedy.RowBalanceStd, lpt.RowBalanceStd),
			fmt.Sprintf("%-25s %12.3f %12.3f", "Overall efficiency", greedy.OverallEfficiency, lpt.OverallEfficiency),
		} {
			if !strings.Contains(section, "\n"+line+" ") {
				t.Errorf("%s: want %q in%s", name, line, section)
			}
		}
	}
}

func byName() map[string]packing.Scenario {
	all := map[string]packing.Scenario{}
	for _, s := range packing.Scenarios() {
		all[s.Name] = s
	}
	return all
}

func measured(t *testing.T, s packing.Scenario, algorithm string) packing.Metrics {
	t.Helper()
	p := s.Problem()
	p.Policy = packing.Legacy
	return packing.Measure(p, pack(t, algorithm, p))
}
