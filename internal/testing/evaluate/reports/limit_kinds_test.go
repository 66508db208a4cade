package reports_test

import (
	"bytes"
	"testing"

	detectors "github.com/accelgate/accelgate/internal/testing/evaluate/detection"
	"github.com/accelgate/accelgate/internal/testing/evaluate/reports"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// TestLimitKindsKeepThePromiseThorough: unchanged reports under limits both ways, required limits and limits of relations are red
// no more often than the policy promises. 2 % of 180 are 4; 10 and more have a chance of 1 %. It takes over 1 s, because fewer
// reports say nothing of a rate of 2 %.
func TestLimitKindsKeepThePromiseThorough(t *testing.T) {
	testtier.Thorough(t)
	t.Parallel()
	var red detectors.Rate
	for _, r := range reports.MeasureLimitKinds(5, 0, nil) {
		red.Join(r.Red)
	}
	if red.Of != 180 || red.Hits > 9 {
		t.Errorf("%v of unchanged reports are red", red)
	}
}

// TestLimitKindsNightly holds docs/detection/data/limit-kinds.csv, and that it keeps the promise.
func TestLimitKindsNightly(t *testing.T) {
	testtier.Nightly(t)
	var table bytes.Buffer
	var red detectors.Rate
	for _, r := range reports.LimitKinds(&table, 500, 50) {
		red.Join(r.Red)
		if low, _ := r.Red.Wilson(); low > 2 {
			t.Errorf("%s, %s, %s: %v of unchanged reports are red, want at most 2 %%", r.Host, r.Road, r.Kind, r.Red)
		}
	}
	if red.Percent() > 2 {
		t.Errorf("%v of unchanged reports are red, want at most 2 %%", red)
	}
	hold(t, "limit-kinds.csv", table.String())
}

// TestSpreadLimitsNightly holds docs/detection/data/spread-limits.csv: fixed rules keep no promise, and the page says so.
func TestSpreadLimitsNightly(t *testing.T) {
	testtier.Nightly(t)
	var table bytes.Buffer
	reports.SpreadLimits(&table, 500, 50)
	hold(t, "spread-limits.csv", table.String())
}
