package packing_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/analysis/packing"
)

// TestScenarios: rows by greedy, LPT and global LPT, and the bound, which is
// reached in all 15. Sequences that are too long are left out, but for greedy and
// LPT, which have them as in the original.
func TestScenarios(t *testing.T) {
	t.Parallel()
	want := []struct {
		name                       string
		greedy, lpt, global, bound int
	}{
		{"analysis/small", 2, 1, 1, 1},
		{"analysis/large_realistic_2000", 39, 34, 27, 27},
		{"analysis/edge_uniform", 1, 1, 1, 1},
		{"analysis/edge_mixed_outlier", 1, 1, 1, 1},
		{"analysis/edge_tight_fit", 3, 3, 3, 3},
		{"analysis/edge_oversized", 3, 3, 1, 1},
		{"analysis/outlier_bimodal", 12, 11, 9, 9},
		{"analysis/outlier_power_law", 2, 2, 2, 2},
		{"analysis/outlier_extreme", 3, 1, 1, 1},
		{"compare/1_small", 2, 1, 1, 1},
		{"compare/2_realistic_500", 10, 8, 7, 7},
		{"compare/3_bimodal", 11, 10, 9, 9},
		{"compare/4_extreme", 3, 1, 1, 1},
		{"compare/5_power_law", 2, 2, 2, 2},
		{"speed/6_realistic_1000", 21, 17, 14, 14},
	}
	all := packing.Scenarios()
	if len(all) != len(want) {
		t.Fatalf("%d scenarios", len(all))
	}
	for i, s := range all {
		w := want[i]
		global := packing.Measure(s.Problem(), pack(t, "global-lpt", s.Problem()))
		got := []any{s.Name, measured(t, s, "greedy").TotalMinibatches, measured(t, s, "lpt").TotalMinibatches, global.TotalMinibatches,
			s.Problem().LowerBound()}
		if fmt.Sprint(got) != fmt.Sprint([]any{w.name, w.greedy, w.lpt, w.global, w.bound}) {
			t.Errorf("got %v, want %v", got, w)
		}
		if global.RowsOverBound != 0 {
			t.Errorf("%s: %d rows over the bound", s.Name, global.RowsOverBound)
		}
		best := packing.Measure(s.Problem(), pack(t, "best", s.Problem()))
		if best.RowsOverBound != 0 || best.SumRowMax > global.SumRowMax {
			t.Errorf("%s: best has %d rows over the bound and maxima of %d, global LPT %d", s.Name, best.RowsOverBound, best.SumRowMax, global.SumRowMax)
		}
	}
}

// TestScenariosStay: the lengths were the original's when this hash was taken.
func TestScenariosStay(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(packing.Scenarios())
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	if got := hex.EncodeToString(sum[:]); got != "c4b3298400cde6f5a5733134d520a85ea3bde0fe0739e1ec897206f47dd37032" {
		t.Errorf("hash %s", got)
	}
}
