package reports_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/testing/evaluate/reports"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// cheap holds what 10 pairs settle: a loss of 6 %, three times its limit, in cells whose values
// differ by at most a sixth of it, and of 35 % in all but the noisiest. Tails hide some of
// them at the first look already.
func cheap(t *testing.T, all []reports.Settled) {
	t.Helper()
	for _, s := range all {
		found, cheap := 98.0, 85.0
		if strings.Contains(s.Host, "tails") || s.Host == "all of it" {
			found, cheap = 80, 60
		}
		for j, counts := range map[int]bool{0: s.Noise == "0.5 to 1 %", 2: s.Noise != "4 to 8 %" && s.Noise != "as recorded"} {
			if counts && (s.Found[j].Percent() < found || s.Cheap[j].Percent() < cheap) {
				t.Errorf("%s, %s: found %v, want %v %%; by 10 pairs %v, want %v %%", s.Host, s.Noise, s.Found[j], found, s.Cheap[j], cheap)
			}
		}
	}
}

// TestLargeLossesAreCheap needs no data. It takes 2 s, because few reports hold few cells of each noise.
func TestLargeLossesAreCheap(t *testing.T) {
	t.Parallel()
	cheap(t, reports.MeasureLargeLosses(15))
}

// TestLargeLossesNightly holds docs/detection/data/large-losses.csv.
func TestLargeLossesNightly(t *testing.T) {
	testtier.Nightly(t)
	var table bytes.Buffer
	cheap(t, reports.LargeLosses(&table, load(t), 200))
	hold(t, "large-losses.csv", table.String())
}
