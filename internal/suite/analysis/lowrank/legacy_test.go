package lowrank_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/analysis/lowrank"
)

func parameter(name string, status lowrank.Status, largest float64) lowrank.Parameter {
	return lowrank.Parameter{Name: name, Status: status, Measurement: lowrank.Measurement{Difference: &lowrank.Difference{Match: status, Max: largest}}}
}

// reports are by name of their golden file.
var reports = map[string]lowrank.Report{
	"close": {
		Settings: lowrank.Settings{Tolerance: 1e-5},
		Summary:  lowrank.Summary{Total: 7, Identical: 1, Close: 6, SuccessRate: 100, Max: 8.8818e-16, LegacyAverage: 4.5e-16},
		Parameters: []lowrank.Parameter{
			parameter("a.q_proj.weight", lowrank.Close, 3e-16), parameter("b.q_proj.weight", lowrank.Close, 8.8818e-16),
			parameter("c.q_proj.weight", lowrank.Identical, 0), parameter("d.q_proj.weight", lowrank.Close, 3e-16),
			parameter("e.q_proj.weight", lowrank.Close, 4e-16), parameter("f.q_proj.weight", lowrank.Close, 5e-16),
			parameter("g.q_proj.weight", lowrank.Close, 6e-16),
		},
	},
	"different": {
		Settings: lowrank.Settings{Tolerance: 1e-5},
		Summary:  lowrank.Summary{Total: 3, Close: 1, Different: 1, Failed: 1, SuccessRate: 100. / 3, Max: 3.2e-4, LegacyAverage: 1.6e-4},
		Parameters: []lowrank.Parameter{
			parameter("a.q_proj.weight", lowrank.Different, 3.2e-4), parameter("b.q_proj.weight", lowrank.Close, 1e-9),
			{Name: "c\n  forged: line", Status: lowrank.Failed, Measurement: lowrank.Measurement{Faults: []lowrank.Fault{{Kind: lowrank.Missing, Detail: `no factor "c.osft_S_high": save all six`}}}},
		},
	},
	"nothing": {Settings: lowrank.Settings{Tolerance: 1e-5}},
}

func TestLegacyReport(t *testing.T) {
	t.Parallel()
	for name, r := range reports {
		var got bytes.Buffer
		if err := r.WriteLegacy(&got); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", "legacy", name+".txt")
		if *update {
			if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got.String() != string(want) {
			t.Errorf("%s: got\n%swant\n%s", name, got.String(), want)
		}
		if passed := strings.Contains(got.String(), "SUCCESS: All"); passed != r.Summary.Passed() {
			t.Errorf("%s: success is %v", name, passed)
		}
	}
}
