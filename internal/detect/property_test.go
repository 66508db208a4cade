package detect_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

func source(t *testing.T) *rand.Rand {
	return rand.New(rand.NewPCG(testtier.Seed(t), 0))
}

type example struct {
	base, head []float64
	o          detect.Options
}

// random returns samples of all sizes and noises, with and without ties.
func random(rng *rand.Rand) example {
	e := example{base: make([]float64, 1+rng.IntN(45)), head: make([]float64, 1+rng.IntN(12))}
	noise, shift := math.Exp(-7*rng.Float64()), 0.2*rng.NormFloat64()*rng.Float64()
	for i := range e.base {
		e.base[i] = 100 * math.Exp(noise*rng.NormFloat64())
	}
	for i := range e.head {
		e.head[i] = 100 * math.Exp(shift+noise*rng.NormFloat64())
	}
	if rng.IntN(3) == 0 {
		e.each(math.Round)
	}
	e.o.Mode = []detect.Mode{detect.History, detect.Interleaved, detect.Anchor, ""}[rng.IntN(4)]
	e.o.HigherIsBetter = rng.IntN(2) == 0
	if rng.IntN(2) == 0 {
		e.o.Cross = 0.001 + 0.02*rng.Float64()
	}
	return e
}

func (e *example) each(f func(float64) float64) {
	for _, side := range [][]float64{e.base, e.head} {
		for i, v := range side {
			side[i] = f(v)
		}
	}
}

func (e example) clone() example {
	e.base, e.head = append([]float64(nil), e.base...), append([]float64(nil), e.head...)
	return e
}

func (e example) judge() detect.Evidence { return detect.Judge(e.base, e.head, e.o) }

// same compares but for rounding.
func same(t *testing.T, what string, got, want detect.Evidence) {
	t.Helper()
	close := func(a, b float64) bool { return math.Abs(a-b) <= 1e-8*max(1, math.Abs(a)) }
	ok := close(got.Estimate, want.Estimate) && close(got.Low, want.Low) && close(got.High, want.High) && close(got.P, want.P) &&
		close(got.MDE, want.MDE) && close(got.NoiseFloor, want.NoiseFloor) && got.A12 == want.A12 && got.N == want.N && got.K == want.K
	if !ok || got.Verdict != want.Verdict {
		t.Errorf("%s: %+v, want %+v", what, got, want)
	}
}

const examples = 3000

// TestScale: units do not matter. A power of two does not round.
func TestScale(t *testing.T) {
	t.Parallel()
	rng := source(t)
	for range examples {
		a := random(rng)
		b := a.clone()
		b.each(func(v float64) float64 { return v * 1024 })
		same(t, "scaled", b.judge(), a.judge())
	}
}

// TestDirection: a time and its rate are the same thing.
func TestDirection(t *testing.T) {
	t.Parallel()
	rng := source(t)
	for range examples {
		a := random(rng)
		b := a.clone()
		b.o.HigherIsBetter = !b.o.HigherIsBetter
		b.each(func(v float64) float64 { return 1 / v })
		if ties(a) != ties(b) {
			continue // the reciprocals of different numbers may be equal
		}
		same(t, "turned", b.judge(), a.judge())
	}
}

func ties(e example) (n int) {
	for _, b := range e.base {
		for _, h := range e.head {
			if b == h {
				n++
			}
		}
	}
	return n
}

// TestPermutation: the order of the head's samples does not matter, nor of the
// base's where it is no history.
func TestPermutation(t *testing.T) {
	t.Parallel()
	rng := source(t)
	for range examples {
		a := random(rng)
		b := a.clone()
		shuffle(rng, b.head)
		if a.o.Mode == detect.Interleaved || a.o.Mode == detect.Anchor {
			shuffle(rng, b.base)
		}
		same(t, "shuffled", b.judge(), a.judge())
	}
}

func shuffle(rng *rand.Rand, v []float64) {
	rng.Shuffle(len(v), func(i, j int) { v[i], v[j] = v[j], v[i] })
}

// TestMonotone: what is slower is never less of an alarm.
func TestMonotone(t *testing.T) {
	t.Parallel()
	rng := source(t)
	severity := map[detect.Verdict]int{detect.Improved: 0, detect.Unchanged: 1, detect.Inconclusive: 2, detect.Suspect: 3, detect.Regressed: 4}
	for range examples {
		a := random(rng)
		a.o.HigherIsBetter = false
		last := a.judge()
		for range 5 {
			for i := range a.head {
				a.head[i] *= 1.01
			}
			e := a.judge()
			if e.P > last.P+1e-12 || e.Estimate < last.Estimate || e.A12 < last.A12 || severity[e.Verdict] < severity[last.Verdict] {
				t.Fatalf("slower, but %+v after %+v", e, last)
			}
			last = e
		}
	}
}

// TestReportProperties: the order of cells and the unit of each do not change the
// verdicts.
func TestReportProperties(t *testing.T) {
	t.Parallel()
	rng := source(t)
	for range 20 {
		cells := many(30+rng.IntN(30), 1+rng.IntN(3))
		for i := range rng.IntN(6) {
			cells[i].Head = []float64{cells[i].Head[0] * 1.2}
		}
		want := detect.JudgeReport(cells, 0)

		order := rng.Perm(len(cells))
		shuffled := make([]detect.Cell, len(cells))
		for to, from := range order {
			shuffled[to] = detect.Cell{Base: append([]float64(nil), cells[from].Base...), Head: append([]float64(nil), cells[from].Head...)}
			unit := math.Exp(5 * rng.NormFloat64())
			for i := range shuffled[to].Base {
				shuffled[to].Base[i] *= unit
			}
			for i := range shuffled[to].Head {
				shuffled[to].Head[i] *= unit
			}
		}
		got := detect.JudgeReport(shuffled, 0)
		for to, from := range order {
			if math.Abs(got.Cells[to].Q-want.Cells[from].Q) > 1e-8 {
				t.Fatalf("q %v, want %v", got.Cells[to].Q, want.Cells[from].Q)
			}
			same(t, "in another order", got.Cells[to], want.Cells[from])
		}
	}
}

func FuzzJudge(f *testing.F) {
	f.Add(100.0, 101.0, 99.0, 100.0, 120.0, 0.02, 0.1, uint8(0))
	f.Add(0.0, -1.0, math.NaN(), math.Inf(1), math.SmallestNonzeroFloat64, -1.0, 0.0, uint8(1))
	f.Add(math.MaxFloat64, math.SmallestNonzeroFloat64, 1.0, 1.0, math.MaxFloat64, 1e300, math.Inf(1), uint8(6))
	f.Fuzz(func(t *testing.T, a, b, c, d, e, minimum, cross float64, bits uint8) {
		o := detect.Options{MinEffect: minimum, Cross: cross, HigherIsBetter: bits&1 == 1, Mode: []detect.Mode{detect.History, detect.Interleaved, detect.Anchor}[int(bits>>1)%3]}
		for _, base := range [][]float64{nil, {a}, {a, b, c}, {a, b, c, d, a, b, c, d, a, b, c, d, e}} {
			for _, head := range [][]float64{nil, {e}, {d, e, a}, {e, e, d, c, b}} {
				sound(t, detect.Judge(base, head, o))
				detect.Drift(base, o.HigherIsBetter)
				detect.ChangePoints(base, detect.Search{HigherIsBetter: o.HigherIsBetter})
			}
		}
	})
}

// sound checks what holds of every evidence.
func sound(t *testing.T, e detect.Evidence) {
	t.Helper()
	switch {
	case e.Verdict == "":
		t.Fatalf("no verdict: %+v", e)
	case e.Verdict == detect.Untested:
		if e.Reason == "" || e.P != 0 || e.High != 0 {
			t.Fatalf("untested, but %+v", e)
		}
	case math.IsInf(e.High+e.MDE+e.NoiseFloor, 0) || math.IsNaN(e.High+e.MDE+e.NoiseFloor):
		t.Fatalf("not finite: %+v", e)
	case !(e.P >= 0 && e.P <= 1) || !(e.Low <= e.Estimate && e.Estimate <= e.High) || !(e.A12 >= 0 && e.A12 <= 1) || !(e.MDE >= 0) || !(e.NoiseFloor > 0):
		t.Fatalf("not evidence: %+v", e)
	}
}
