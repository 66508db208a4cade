package reports_test

import (
	"bytes"
	"testing"

	detectors "github.com/accelgate/accelgate/internal/testing/evaluate/detection"
	"github.com/accelgate/accelgate/internal/testing/evaluate/reports"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// TestBudgetsKeepThePromise: unchanged reports of 80 cells with five budgets are red no
// more often than the policy promises. 2 % of 240 are 5; 11 and more have a chance of 1 %.
// It takes 2 s, because fewer reports say nothing of a rate of 2 %.
func TestBudgetsKeepThePromise(t *testing.T) {
	t.Parallel()
	var red, over detectors.Rate
	for _, r := range reports.MeasureBudgets(10, nil) {
		red.Join(r.Red)
		over.Join(r.Over)
	}
	if red.Of != 240 || red.Hits > 10 || over.Hits > 6 {
		t.Errorf("%v of unchanged reports are red, %v for a budget", red, over)
	}
}

// TestBudgetsNightly holds docs/detection/data/budgets.csv, and that it keeps the promise.
func TestBudgetsNightly(t *testing.T) {
	testtier.Nightly(t)
	var table bytes.Buffer
	rates := reports.Budgets(&table, 100)
	var red detectors.Rate
	for _, r := range rates {
		red.Join(r.Red)
	}
	if red.Percent() > 2 {
		t.Errorf("%v of unchanged reports are red, want at most 2 %%", red)
	}
	hold(t, "budgets.csv", table.String())
}
