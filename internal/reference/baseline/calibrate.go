package baseline

import (
	"math"
	"slices"
	"strconv"
)

// Calibrated is what measuring the same code again and again has shown of one
// metric of one cell; see [bench.Summary].
type Calibrated struct {
	CaseID, Metric string
	Noise, MDE     float64 // fractions, finite and at least 0
}

// Calibrate returns the file with the noise that was found, and what of that
// has no place in it, because the file lacks the cell or the metric. Nothing
// else changes: not even when the file was captured. old is not modified.
func Calibrate(old *File, found []Calibrated) (f *File, lost []Calibrated) {
	file := *old
	file.source = nil
	file.Entries = slices.Clone(old.Entries)
	at := make(map[string]int, len(file.Entries))
	for i := range file.Entries {
		e := &file.Entries[i]
		e.line = 0 // it was of the old file
		e.Metrics = slices.Clone(e.Metrics)
		at[e.CaseID] = i
	}
	for _, c := range found {
		i, known := at[c.CaseID]
		if !known || file.Entries[i].Metric(c.Metric) == nil {
			lost = append(lost, c)
			continue
		}
		m := file.Entries[i].Metric(c.Metric)
		m.Noise, m.MDE = rough(c.Noise), rough(c.MDE)
	}
	return &file, lost
}

// rough rounds to two significant digits: the noise of a number is not known
// better than that.
func rough(fraction float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(fraction, 'g', 2, 64), 64)
	if err != nil || math.IsNaN(rounded) {
		return 0
	}
	return min(max(rounded, 0), maxNumber)
}
