package detect_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accelgate/accelgate/internal/detect"
)

// turned are the same values as rates, in another unit.
func turned(values []float64) []float64 {
	return mapAll(values, func(v float64) float64 { return 4096 / v })
}

// TestHistoryProperties: neither unit nor direction change what is found in a
// history, and a larger step is never less of one.
func TestHistoryProperties(t *testing.T) {
	t.Parallel()
	rng := source(t)
	for range 15 {
		at := 15 + rng.IntN(20)
		flat := noisy(rng.Uint64(), 0.01, [2]float64{100, float64(at + 15 + rng.IntN(20))})
		last := 1.0 // p of the step
		for _, step := range []float64{1, 1.03, 1.06, 1.12, 1.5} {
			values := append(slices.Clone(flat[:at]), times(flat[at:], step)...)
			points := detect.ChangePoints(values, detect.Search{})
			again := detect.ChangePoints(turned(values), detect.Search{HigherIsBetter: true})
			if len(points) != len(again) {
				t.Fatalf("turned: %v, want %v", again, points)
			}
			for i := range points {
				if again[i].Index != points[i].Index || math.Abs(again[i].Change-points[i].Change) > 1e-9 || math.Abs(again[i].P-points[i].P) > 1e-9 {
					t.Fatalf("turned: %v, want %v", again, points)
				}
			}
			found := slices.IndexFunc(points, func(p detect.ChangePoint) bool { return p.Index == at && p.Change > 0 })
			if step > 1.1 && (found < 0 || points[found].P > last) {
				t.Errorf("a step of %v: %v after p %v", step, points, last)
			}
			if found >= 0 {
				last = points[found].P
			}
			driftAlike(t, values)
		}
	}
}

func driftAlike(t *testing.T, values []float64) {
	t.Helper()
	want, ok := detect.Drift(values, false)
	got, again := detect.Drift(turned(values), true)
	if ok != again || got.Alarm != want.Alarm || got.Since != want.Since || math.Abs(got.Peak-want.Peak) > 1e-6 || math.Abs(got.Change-want.Change) > 1e-9 {
		t.Fatalf("turned: %+v, want %+v", got, want)
	}
	own, _ := detect.Own(values)
	if scaled, _ := detect.Own(times(values, 1024)); math.Abs(scaled-own) > 1e-12 {
		t.Fatalf("own noise %v in another unit, want %v", scaled, own)
	}
}

// TestHolmProperties: q is in the order of p, at least p, and does not depend on the
// order of the cells.
func TestHolmProperties(t *testing.T) {
	t.Parallel()
	rng := source(t)
	for range 300 {
		ps := make([]float64, 1+rng.IntN(50))
		for i := range ps {
			ps[i] = math.Pow(rng.Float64(), 4)
			if i > 0 && rng.IntN(4) == 0 {
				ps[i] = ps[i-1]
			}
		}
		qs := detect.AdjustHolm(ps)
		order := rng.Perm(len(ps))
		shuffled := make([]float64, len(ps))
		for to, from := range order {
			shuffled[to] = ps[from]
		}
		for to, q := range detect.AdjustHolm(shuffled) {
			from := order[to]
			if q != qs[from] || q < ps[from]-1e-12 || q > 1 {
				t.Fatalf("p %v: q %v in another order, want %v", ps[from], q, qs[from])
			}
			for i := range ps {
				if ps[i] < ps[from] && qs[i] > q {
					t.Fatalf("p %v has q %v, and p %v has %v", ps[i], qs[i], ps[from], q)
				}
			}
		}
	}
}

// TestReportMonotone: a cell that gets slower than it was is never less of an
// alarm in its report, whatever the direction of its metric.
func TestReportMonotone(t *testing.T) {
	t.Parallel()
	rng := source(t)
	for _, judge := range []func([]detect.Cell, float64) detect.Report{detect.JudgeReport, detect.JudgeGroup, detect.JudgeApart} {
		for range 5 {
			cells := many(30+rng.IntN(30), 1+rng.IntN(5))
			at := rng.IntN(len(cells))
			cells[at].Head = times(cells[at].Head, 1.2) // beyond the middle of all
			last := judge(cells, 0)
			for range 4 {
				cells[at].Head = times(cells[at].Head, 1.05)
				r := judge(cells, 0)
				e, before := r.Cells[at], last.Cells[at]
				if e.Q > before.Q+1e-12 || e.P > before.P+1e-12 || before.Verdict == detect.Regressed && e.Verdict != detect.Regressed {
					t.Fatalf("slower, but %+v after %+v", e, before)
				}
				last = r
			}
			for i := range cells {
				if rng.IntN(2) == 0 {
					cells[i] = detect.Cell{Base: turned(cells[i].Base), Head: turned(cells[i].Head), Options: detect.Options{HigherIsBetter: true}}
				}
			}
			r := judge(cells, 0)
			for i, e := range r.Cells {
				same(t, "turned", e, last.Cells[i])
			}
			same(t, "turned host", r.Host, last.Host)
		}
	}
}

// TestRandomCases keeps the random cells of these tests from being all alike.
func TestRandomCases(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	seen := map[detect.Verdict]int{}
	for range examples {
		seen[random(rng).judge().Verdict]++
	}
	for _, v := range []detect.Verdict{detect.Unchanged, detect.Improved, detect.Suspect, detect.Regressed, detect.Inconclusive} {
		if seen[v] < 20 {
			t.Errorf("%d of %d are %s: %v", seen[v], examples, v, seen)
		}
	}
}
