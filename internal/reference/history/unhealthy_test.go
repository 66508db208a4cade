package history_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/reference/history"
)

// unhealthy marks the cells at these places as measured on an unhealthy host.
func unhealthy(run *bench.Run, cells ...int) *bench.Run {
	for _, i := range cells {
		run.Results[i].Health = &bench.Health{Status: bench.Unhealthy, Reasons: []string{"other programs"}}
	}
	return run
}

// TestUnhealthyRunsKeepTheirFlag holds that the flag of each cell survives writing and
// reading, beside conditions, and reaches the reference.
func TestUnhealthyRunsKeepTheirFlag(t *testing.T) {
	t.Parallel()
	var f history.File
	mixed := unhealthy(made(2, 101, 51, 11), 0, 2)
	mixed.Results[2].Conditions = map[string]string{"rate": "4"}
	all := unhealthy(made(3, 102, 52, 12), 0, 1, 2)
	add(t, &f, made(1, 100, 50), mixed, all)
	read := again(t, &f)
	flagged := map[string][]bool{}
	for _, run := range read.Runs("desk") {
		for _, r := range run.Results {
			flagged[r.Cell.ID()] = append(flagged[r.Cell.ID()], r.Health != nil && r.Health.Status == bench.Unhealthy)
		}
		if err := run.Validate(); err != nil {
			t.Errorf("%s: %v", run.Revision, err)
		}
	}
	if diff := cmp.Diff(map[string][]bool{"a": {false, true, true}, "b": {false, false, true}, "c": {true, true}}, flagged); diff != "" {
		t.Errorf("flags (-want +got):\n%s", diff)
	}
	ref := reference(100, 50, 10)
	read.Attach(ref)
	for i, want := range [][]bool{{false, true, true}, {false, false, true}, {false, false, true}} {
		if got := ref.Results[i].Samples[0].Unhealthy; !slices.Equal(got, want) {
			t.Errorf("cell %d is marked %v, want %v", i, got, want)
		}
	}
}

// TestUnhealthyRunsChangeNoLevel holds, for random histories, that runs of an
// unhealthy host begin no level, however slow they are, where there are healthy ones; and
// that a host without healthy runs has its history all the same.
func TestUnhealthyRunsChangeNoLevel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 4))
		var some, none history.File
		for n := range 32 {
			run, value := []int(nil), 100*math.Exp(0.01*r.NormFloat64())
			if n >= 16 && n%4 != 0 { // the host is slow for half of the time
				run, value = []int{0}, value*0.5
			}
			add(t, &some, unhealthy(made(n, value), run...))
			add(t, &none, unhealthy(made(n, 100*math.Exp(0.01*r.NormFloat64())), 0))
		}
		for name, f := range map[string]*history.File{"some": &some, "none": &none} {
			ref := reference(100)
			f.Attach(ref)
			if got := ref.Results[0].Samples[0].History; len(got) != 32 || len(got[0]) == 0 {
				t.Errorf("seed %d, %s healthy: the history does not begin with the first run", seed, name)
			}
		}
	}
}
