package runner

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text"
)

// flaky warns of a measurement that passed after failures for which the machine is not to
// blame. Those of the machine are counted in [bench.Result.Retries] alone.
func flaky(r *bench.Result, failures []bench.Result) {
	ours := func(f bench.Result) bool { return !f.Cause.Infrastructure() }
	if r.Outcome != bench.Passed || !slices.ContainsFunc(failures, ours) {
		return
	}
	times := map[bench.Cause]int{}
	for i := range failures {
		times[failures[i].Cause]++
	}
	var causes []string
	for _, cause := range slices.Sorted(maps.Keys(times)) {
		causes = append(causes, fmt.Sprintf("%s %s", cause, text.Plural(times[cause], "time")))
	}
	r.Warnings = append(slices.Clip(r.Warnings), fmt.Sprintf("flaky: it passed at attempt %d only (%s before): %s",
		len(failures)+1, strings.Join(causes, ", "), text.Clip(text.OneLine(failures[len(failures)-1].Reason), maxReason)))
}

// maxReason bounds a reason in a warning, in bytes.
const maxReason = 300
