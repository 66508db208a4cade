package measure

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite/analysis/packing"
)

func loadsOf(costs []int64, at []int, bins int) []int64 {
	loads := make([]int64, bins)
	for i, bin := range at {
		loads[bin] += costs[i]
	}
	return loads
}

// TestSharedJobsEndSoon: whatever jobs cost and wherever they were, the fullest bin holds less than
// (2 - 1/bins) x the bound, which no order of jobs onto the lightest bin can exceed, and a tenth.
func TestSharedJobsEndSoon(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	var worst float64
	for range 3000 {
		bins := 1 + random.IntN(9)
		costs, home := make([]int64, 1+random.IntN(60)), []int(nil)
		for i := range costs {
			costs[i] = 1 + int64(1e6*random.ExpFloat64())
			home = append(home, random.IntN(bins+1)-1)
			if random.IntN(4) == 0 {
				home[i] = 0 // all on one device
			}
		}
		at, moved := divide(costs, home, bins)
		longest, bound := slices.Max(loadsOf(costs, at, bins)), packing.MakespanBound(costs, bins)
		ratio := float64(longest) / float64(bound)
		if maximum := worthMoving * (2 - 1/float64(bins)); ratio > maximum {
			t.Fatalf("%v on %d devices take %d, %.3f x the bound %d, more than %.3f", costs, bins, longest, ratio, bound, maximum)
		}
		worst = max(worst, ratio)
		again, still := divide(costs, at, bins)
		if diff := cmp.Diff(at, again); diff != "" || still != 0 {
			t.Fatalf("the same times move %d jobs in the next run (-first +second):\n%s", still, diff)
		}
		free, _ := divide(costs, slices.Repeat([]int{-1}, len(costs)), bins)
		cheap := !slices.Contains(home, -1) && float64(slices.Max(loadsOf(costs, home, bins))) <= worthMoving*float64(slices.Max(loadsOf(costs, free, bins)))
		if cheap && moved > 0 {
			t.Fatalf("%d of %v moved from %v, which takes no longer than a tenth more", moved, costs, home)
		}
	}
	t.Logf("worst: %.3f x the bound", worst)
}

// TestSmallTimesMoveNothing: noise of the times keeps jobs where they are.
func TestSmallTimesMoveNothing(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		bins, n := 2+random.IntN(6), 20+random.IntN(40)
		costs, noisy := make([]int64, n), make([]int64, n)
		for i := range costs {
			costs[i] = 1000 + random.Int64N(1_000_000)
			noisy[i] = costs[i] * (98 + random.Int64N(5)) / 100
		}
		at, _ := divide(costs, slices.Repeat([]int{-1}, n), bins)
		if _, moved := divide(noisy, at, bins); moved > 0 {
			t.Fatalf("times that differ by 2 %% move %d of %d jobs", moved, n)
		}
	}
}

func TestSeats(t *testing.T) {
	t.Parallel()
	devices := []bench.Device{{Vendor: "nvidia", ID: "0"}, {Vendor: "nvidia", ID: "1"}, {Vendor: "nvidia", ID: "2"}}
	var seats []assignment
	for i, id := range []string{"a", "b", "c", "d"} {
		seats = append(seats, assignment{number: i, cells: []string{id}})
	}
	times := func(seconds ...int) map[string]time.Duration {
		all := map[string]time.Duration{}
		for i, s := range seconds {
			all[string(rune('a'+i))] = time.Duration(s) * time.Second
		}
		return all
	}
	for name, c := range map[string]struct {
		width   int
		earlier earlierRuns
		want    string
		moved   int
	}{
		"without times each in turn":        {1, earlierRuns{}, "[0 1 2 0]", 0},
		"longest first":                     {1, earlierRuns{times: times(1, 2, 3, 9)}, "[2 2 1 0]", 0},
		"an unknown time is the median":     {1, earlierRuns{times: times(1, 5, 9)}, "[1 1 0 2]", 0},
		"it stays where it was":             {1, earlierRuns{times(3, 3, 3, 9), map[string]string{"a": "nvidia:2", "d": "nvidia:0"}}, "[2 1 1 0]", 0},
		"unless that costs too much":        {1, earlierRuns{times(5, 5, 5, 5), map[string]string{"a": "nvidia:1", "b": "nvidia:1", "c": "nvidia:1"}}, "[0 1 2 0]", 2},
		"another host's device is no place": {1, earlierRuns{times(1, 2, 3, 9), map[string]string{"d": "amd:2"}}, "[2 2 1 0]", 0},
		"times that cannot be":              {1, earlierRuns{times: map[string]time.Duration{"a": 1<<63 - 1, "b": 1<<63 - 1, "c": 1, "d": 1}}, "[0 1 2 2]", 0},
		"two at once":                       {2, earlierRuns{times: times(1, 2, 3, 9)}, "[0 0 0 0]", 0},
		"more than there are":               {4, earlierRuns{times: times(1)}, "[0 0 0 0]", 0},
	} {
		at, moved := shareOut(seats, lanesOf(devices, c.width), c.earlier)
		if got := fmt.Sprint(at); got != c.want || moved != c.moved {
			t.Errorf("%s: %s with %d moved, want %s with %d", name, got, moved, c.want, c.moved)
		}
	}
	if got := lanesOf(devices, 2); len(got) != 1 || got[0].ID != "0,1" {
		t.Errorf("groups of two of three are %v", got)
	}
}
