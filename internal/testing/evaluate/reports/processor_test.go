package reports_test

import (
	"bytes"
	"testing"

	"github.com/accelgate/accelgate/internal/testing/evaluate/reports"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// sighted holds what processor time is for, on hosts by their place in the table: where no processor
// is free it finds losses of 30 % that times do not show, it turns few unchanged reports red, and
// where it does not count nothing changes.
func sighted(t *testing.T, all []reports.BusyRates, maximum float64) {
	t.Helper()
	for i, r := range all {
		alone, gated := r.Alone, r.Gated
		switch i {
		case 1, 2, 3:
			if gated.Found[1].Percent() < 95 || gated.Found[0].Percent() < alone.Found[0].Percent()+30 {
				t.Errorf("%s: -30 %% is found in %v, -10 %% in %v, by times alone in %v", r.Host, gated.Found[1], gated.Found[0], alone.Found[0])
			}
			if gated.Red.Percent() > maximum {
				t.Errorf("%s: %v of unchanged reports are red", r.Host, gated.Red)
			}
		case 0, 6, 7:
			if alone.Red != gated.Red || alone.Found[0] != gated.Found[0] || alone.Found[1] != gated.Found[1] {
				t.Errorf("%s: %+v, by times alone %+v", r.Host, gated, alone)
			}
		}
	}
}

// TestProcessorTimeSees needs no data.
func TestProcessorTimeSees(t *testing.T) {
	t.Parallel()
	sighted(t, reports.MeasureBusy(12), 10)
}

// TestBusyHostsNightly holds docs/detection/data/busy-hosts.csv.
func TestBusyHostsNightly(t *testing.T) {
	testtier.Nightly(t)
	var table bytes.Buffer
	sighted(t, reports.Busy(&table, 500), 3.5)
	hold(t, "busy-hosts.csv", table.String())
}
