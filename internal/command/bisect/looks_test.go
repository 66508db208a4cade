package bisect

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accelgate/accelgate/internal/detect"
)

// draw returns values around a level with noise, as a factor.
func draw(rng *rand.Rand, n int, level, noise float64) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = level * math.Exp(noise*rng.NormFloat64())
	}
	return values
}

// followed makes the looks of all attempts at pairs that are there.
func followed(base, head []float64, o detect.Options, attempts int) (e detect.Evidence) {
	for attempt := range attempts {
		l := looksOf(attempt, attempts)
		for want := l.first; want > 0; {
			e, want = l.next(base[:want], head[:want], o)
		}
		if decided(e.Verdict) {
			break
		}
	}
	return e
}

func TestLooks(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	base := draw(rng, lastLook, 100, 0.001)
	l := looksOf(0, 1)
	for name, c := range map[string]struct {
		n     int
		level float64
		want  int
	}{
		"too few":  {3, 105, firstLook},
		"slower":   {firstLook, 105, 0},
		"faster":   {firstLook, 95, 0},
		"the last": {lastLook, 100, 0},
	} {
		if e, want := l.next(base[:c.n], draw(rng, c.n, c.level, 0.001), detect.Options{}); want != c.want {
			t.Errorf("%s: %d pairs are to be, want %d: %+v", name, want, c.want, e)
		}
	}
	steps := []float64{100, 100.1, 100.2, 100, 100.1, 100.2, 100}
	slightly := []float64{100.6, 100.7, 100.8, 100.6, 100.7, 100.8, 100.6}
	if e, want := l.next(steps, slightly, detect.Options{}); want != lastLook {
		t.Errorf("a small change: %d pairs are to be, %+v", want, e)
	}
	if e, want := l.next([]float64{0}, []float64{0}, detect.Options{}); want != 0 || e.Verdict != detect.Untested {
		t.Errorf("values of no program: %d pairs are to be, %+v", want, e)
	}
}

// TestFalseAlarms: neither two looks nor more attempts raise the rate of false alarms, and a slow commit is found.
func TestFalseAlarms(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(8, 8))
	const trials, noise = 4000, 0.03
	for _, attempts := range []int{1, 3} {
		n := attempts * lastLook
		alarms, found := 0, 0
		for i := range trials {
			base, head := draw(rng, n, 1, noise), draw(rng, n, 1, noise)
			if followed(base, head, detect.Options{}, attempts).Verdict == detect.Regressed {
				alarms++
			}
			if i%10 == 0 && followed(base, draw(rng, n, 1.1, noise), detect.Options{}, attempts).Verdict == detect.Regressed {
				found++
			}
		}
		if share := float64(alarms) / trials; share < 0.002 || share > 0.015 {
			t.Errorf("%d attempts: %.2f %% false alarms", attempts, 100*share)
		}
		if found < trials/10*9/10 {
			t.Errorf("%d attempts: found %d of %d", attempts, found, trials/10)
		}
	}
}
