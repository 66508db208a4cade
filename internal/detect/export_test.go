package detect

import "math"

// RemoveCommon returns the cells without what moved all of them in each run, as
// [JudgeReport] judges them: values of History at all runs that at least 20 cells
// know. The bases are cut to the last 40 values.
func RemoveCommon(cells []Cell) []Cell {
	r := newReporter(cells, minHeads)
	r.common()
	out := make([]Cell, len(cells))
	for i, c := range cells {
		out[i] = c
		if c.Options.mode() == History {
			out[i].Base, out[i].Head = values(r.rows[i].base, c.Options), values(r.rows[i].head, c.Options)
		}
	}
	return out
}

// values turns levels back into what was measured.
func values(y []float64, o Options) []float64 {
	out := make([]float64, len(y))
	for i, v := range y {
		if o.HigherIsBetter {
			v = -v
		}
		out[i] = math.Exp(v)
	}
	return out
}

// Compare returns the score alone, without locks and verdict; ok is false where
// nothing can be tested. See [Judge] for the samples.
func Compare(base, head []float64, o Options) (score Score, ok bool) {
	s := newSamples(base, head, o)
	if s.untestable(o) != "" {
		return Score{}, false
	}
	return s.score(o), true
}
