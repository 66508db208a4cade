package reports

import (
	"fmt"
	"io"

	"github.com/accelgate/accelgate/internal/detect"
	detectors "github.com/accelgate/accelgate/internal/testing/evaluate/detection"
)

// Methods prints what whole reports find, by method and rule, and how often unchanged reports are
// red by each method beside the promise.
func Methods(tables, promise io.Writer, d detectors.Data) {
	measured := printMethods(tables, d)
	measured = append(measured, pooled(printGenerated(tables))...)
	fmt.Fprintf(promise, "\n#### The promise: at most %g %% of unchanged reports are red\n\n"+
		"| method and data | reports | red %% | result |\n|---|---|---|---|\n", promised)
	for _, r := range measured {
		fmt.Fprintf(promise, "| %s | %d | %s | %s |\n", r.Road, r.Red.Of, tenths(r.Red), keepsPromise(r.Red))
	}
}

// promised is the rate of policy.false_alarms, in percent.
const promised = 100 * detect.DefaultFalseAlarms

// keepsPromise compares the whole interval of a rate with the promise.
func keepsPromise(red detectors.Rate) string {
	switch low, high := red.Wilson(); {
	case high <= promised:
		return "holds"
	case low > promised:
		return "**missed**"
	}
	return "open"
}

// pooled adds up the rates of each method over the generated hosts.
func pooled(all []Rates) (out []Rates) {
	at := map[string]int{}
	for _, r := range all {
		i, ok := at[r.Road]
		if !ok {
			i = len(out)
			at[r.Road] = i
			out = append(out, Rates{Road: r.Road + ", generated hosts"})
		}
		out[i].Red.Hits += r.Red.Hits
		out[i].Red.Of += r.Red.Of
	}
	return out
}
