package measure

import (
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
)

// An id of more than 4,096 bytes once passed plan and failed after measuring.
func TestAnIDThatNoRunCanHoldIsRefusedBeforeMeasuring(t *testing.T) {
	t.Parallel()
	cell := func(n int) bench.Cell { return bench.Cell{Suite: "s", Raw: strings.Repeat("m", n)} }
	if err := checkLengths([]bench.Cell{cell(bench.MaxID)}); err != nil {
		t.Error(err)
	}
	err := checkLengths([]bench.Cell{cell(1), cell(bench.MaxID + 1)})
	if err == nil || len(err.Error()) > 300 || !strings.Contains(err.Error(), "4097 bytes, more than 4096: shorten") {
		t.Errorf("got %v", err)
	}
}
