package gate_test

import (
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
)

// TestTwoConfigurationsInOneFolderOfBaselines: the cells of the other configuration are missing from each run, which
// blocks, with the remedy that fits.
func TestTwoConfigurationsInOneFolderOfBaselines(t *testing.T) {
	of := func(suite, id string) bench.Result {
		r := cell(id, "decode_tps", 100.0)
		r.Cell = bench.Cell{Suite: suite, Raw: id}
		return r
	}
	ref := run(of("ours", "a"), of("ours", "b"), of("theirs", "c"))
	got := gate.Compare("base", ref, run(of("ours", "a")), gate.DefaultPolicy())
	reasons := map[string]string{}
	for _, v := range got.Verdicts {
		if v.Finding == gate.Missing && v.Blocks {
			reasons[v.Cell] = v.Reason
		}
	}
	for id, remedy := range map[string]string{"b": "prune it from the baseline", "c": `suite "theirs" and the run has no cell of that suite; if another ` +
		"configuration records into this folder, give each configuration a folder of its own with the key baselines"} {
		if !strings.Contains(reasons[id], remedy) {
			t.Errorf("%s: %q, want it to block with %q", id, reasons[id], remedy)
		}
	}
}
