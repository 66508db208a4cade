package search_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/endpoint/search"
)

func options() search.Options {
	return search.Options{Min: 1, Max: 1000, Precision: 0.02, Repeats: 3}
}

// TestKnownCapacity searches servers that hold exactly so much.
func TestKnownCapacity(t *testing.T) {
	t.Parallel()
	for _, capacity := range []float64{1, 1.01, 3, 7.7, 64, 100, 512.5, 999} {
		r, err := search.Find(options(), func(load float64) (bool, error) { return load <= capacity, nil })
		if err != nil || r.Value > capacity || r.Value < capacity/1.02 || r.Low > r.Value || r.High < r.Value || r.High > capacity*1.03 || r.Unfinished || r.Unbounded {
			t.Errorf("capacity %v: %+v, %v", capacity, r, err)
		}
	}
}

// TestWholeLoads searches numbers of requests at once.
func TestWholeLoads(t *testing.T) {
	t.Parallel()
	o := options()
	o.Whole = true
	for capacity := 1.0; capacity < 200; capacity++ {
		r, err := search.Find(o, func(load float64) (bool, error) {
			if load != float64(int(load)) {
				t.Fatalf("load %v", load)
			}
			return load <= capacity, nil
		})
		if err != nil || r.Value > capacity || r.Value < capacity/1.02-1e-9 {
			t.Errorf("capacity %v: %+v, %v", capacity, r, err)
		}
	}
}

// TestNoise has probes near the capacity that fail or hold by chance.
func TestNoise(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		const capacity = 80
		r, err := search.Find(options(), func(load float64) (bool, error) {
			return load <= capacity*(1+0.03*rng.NormFloat64()), nil
		})
		if err != nil || r.Value < capacity*0.85 || r.Value > capacity*1.15 || r.Low > r.Value || r.High < r.Value || r.Probes > 100 {
			t.Errorf("seed %d: %+v, %v", seed, r, err)
		}
	}
}

func TestEndsOfTheRange(t *testing.T) {
	t.Parallel()
	if r, err := search.Find(options(), func(float64) (bool, error) { return true, nil }); err != nil || !r.Unbounded || r.Value != 1000 || r.High != 1000 {
		t.Errorf("a server without a limit: %+v, %v", r, err)
	}
	if r, err := search.Find(options(), func(float64) (bool, error) { return false, nil }); !errors.Is(err, search.ErrNone) || r.Probes != 3 {
		t.Errorf("a server that holds nothing: %+v, %v", r, err)
	}
	broken := errors.New("broken")
	if _, err := search.Find(options(), func(float64) (bool, error) { return false, broken }); !errors.Is(err, broken) {
		t.Errorf("a probe that fails: %v", err)
	}
	n := 0
	r, err := search.Find(options(), func(load float64) (bool, error) {
		if n++; n > 8 {
			return false, search.ErrStop
		}
		return load <= 20, nil
	})
	if err != nil || !r.Unfinished || r.Value < 19 || r.Value > 20 || r.Probes != 8 || r.High <= 20 {
		t.Errorf("a search that was stopped: %+v, %v", r, err)
	}
}
