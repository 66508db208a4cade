package reports_test

import (
	"bytes"
	"testing"

	detectors "github.com/accelgate/accelgate/internal/testing/evaluate/detection"
	"github.com/accelgate/accelgate/internal/testing/evaluate/reports"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// TestNoiseLimitsKeepThePromiseThorough: unchanged reports with limits from noise are red no more often than
// the policy promises. 2 % of 180 are 4; 10 and more have a chance of 1 %. It takes 1 s,
// because fewer reports say nothing of a rate of 2 %.
func TestNoiseLimitsKeepThePromiseThorough(t *testing.T) {
	testtier.Thorough(t)
	t.Parallel()
	var red detectors.Rate
	for _, r := range reports.MeasureNoiseLimits(10, nil) {
		red.Join(r.Red)
	}
	if red.Of != 180 || red.Hits > 9 {
		t.Errorf("%v of unchanged reports are red", red)
	}
}

// TestNoiseLimitsNightly holds docs/detection/data/noise-limits.csv, and that it keeps the promise.
func TestNoiseLimitsNightly(t *testing.T) {
	testtier.Nightly(t)
	var table bytes.Buffer
	var red detectors.Rate
	for _, r := range reports.NoiseLimits(&table, 100) {
		red.Join(r.Red)
	}
	if red.Percent() > 2 {
		t.Errorf("%v of unchanged reports are red, want at most 2 %%", red)
	}
	hold(t, "noise-limits.csv", table.String())
}
