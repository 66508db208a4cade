package reports_test

import (
	"bytes"
	"testing"

	detectors "github.com/accelgate/accelgate/internal/testing/evaluate/detection"
	"github.com/accelgate/accelgate/internal/testing/evaluate/reports"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// TestFitsKeepThePromiseThorough: unchanged reports of 20 lines with 40 limits are red no more often than
// the policy promises. 2 % of 48 are 1; 5 and more have a chance of 0.3 %. It takes 1 s,
// because fewer reports say nothing of a rate of 2 %.
func TestFitsKeepThePromiseThorough(t *testing.T) {
	testtier.Thorough(t)
	t.Parallel()
	var red detectors.Rate
	for _, r := range reports.MeasureFits(4, nil) {
		red.Join(r.Red)
	}
	if red.Of != 48 || red.Hits > 4 {
		t.Errorf("%v of unchanged reports are red", red)
	}
}

// TestFitsNightly holds docs/detection/data/fits.csv, and that it keeps the promise.
func TestFitsNightly(t *testing.T) {
	testtier.Nightly(t)
	var table bytes.Buffer
	var red detectors.Rate
	for _, r := range reports.Fits(&table, 50) {
		red.Join(r.Red)
	}
	if red.Percent() > 2 {
		t.Errorf("%v of unchanged reports are red, want at most 2 %%", red)
	}
	hold(t, "fits.csv", table.String())
}
