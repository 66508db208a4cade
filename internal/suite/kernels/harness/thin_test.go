package harness

import (
	"slices"
	"testing"

	"github.com/accelgate/accelgate/internal/testing/testtier"
)

func TestThinKeepsTheDistribution(t *testing.T) {
	if testtier.Race {
		t.Skip("one goroutine; 20 times slower with the race detector")
	}
	t.Parallel()
	few := []int64{3, 1, 2}
	if got := downsample(few); !slices.Equal(got, few) {
		t.Errorf("%v became %v", few, got)
	}
	const n = 3 << 18
	many := make([]int64, n)
	for i := range many {
		many[i] = int64(i*7919) % n // a permutation: the value is the rank
	}
	got := downsample(many)
	if len(got) != maxKept {
		t.Fatalf("%d values, want %d", len(got), maxKept)
	}
	if median := medianOf(got); median < n/2-n/maxKept || median > n/2+n/maxKept {
		t.Errorf("median %v, want about %d", median, n/2)
	}
	at := 0
	for _, v := range got { // in the order of the calls
		for at < n && many[at] != v {
			at++
		}
	}
	if at == n {
		t.Error("the order is not that of the calls")
	}
}
