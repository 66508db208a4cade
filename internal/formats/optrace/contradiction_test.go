package optrace_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/formats/optrace"
)

// simulated is what msmodeling prints of one operator, with totals below it.
func simulated(operator string, totals ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-10s  %14s  %12s  %10s\n", "Name", "analytic total", "analytic avg", "# of Calls")
	b.WriteString("----------  --------------  ------------  ----------\n")
	fmt.Fprintf(&b, "%-10s  %14s  %12s  %10s\n", "matmul", operator, operator, "1")
	b.WriteString("----------  --------------  ------------  ----------\n")
	for _, total := range totals {
		b.WriteString("Total time for analytic: " + total + "\n")
	}
	return b.String()
}

// Each of these was once read as the faster of the two things that it reports.
func TestProfilesThatContradictThemselves(t *testing.T) {
	t.Parallel()
	torch := "----  ------------  ------------  ------------\nName      Self CPU     CPU total    # of Calls\n" +
		"----  ------------  ------------  ------------\nmm        30.000ms      30.000ms             1\n" +
		"----  ------------  ------------  ------------\nSelf CPU time total: "
	event := `{"ph":"X","cat":"analytic","pid":1,"tid":1,"name":"mm","ts":0,"dur":5`
	process := `{"ph":"M","name":"process_name","pid":1,"args":{"name":"analytic stream"}}`
	for name, c := range map[string]struct {
		format, text string
		consistent   bool
	}{
		"a total below its operators":         {"json", `{"total_ms":0.001,"operators":[{"name":"a","total_ms":30}]}`, false},
		"the same in two units":               {"json", `{"total_s":0.0290,"operators":[{"name":"a","total_us":20000},{"name":"b","total_ms":10}]}`, false},
		"a total above its operators":         {"json", `{"total_ms":31,"operators":[{"name":"a","total_ms":30}]}`, true},
		"a rounded total":                     {"json", `{"total_ms":0.002,"operators":[{"name":"a","total_ms":0.001},{"name":"b","total_ms":0.001},{"name":"c","total_ms":0.001}]}`, true},
		"a total that adds in another order":  {"json", `{"total_ms":0.3,"operators":[{"name":"a","total_ms":0.1},{"name":"b","total_ms":0.2000000001}]}`, true},
		"a total twice":                       {"json", `{"total_ms":5,"total_ms":500}`, false},
		"operators twice":                     {"json", `{"operators":[],"operators":[{"name":"a","total_ms":5}]}`, false},
		"an operator's time twice":            {"json", `{"operators":[{"name":"a","total_ms":5,"total_ms":50}]}`, false},
		"a simulator's total below its table": {"msmodeling-table", simulated("30.000ms", "1.000us"), false},
		"a simulator's total":                 {"msmodeling-table", simulated("30.000ms", "30.000ms"), true},
		"two totals":                          {"msmodeling-table", simulated("3.000ms", "30.000ms", "3.000ms"), false},
		"two totals that differ a little":     {"msmodeling-table", simulated("3.000ms", "30.000ms", "30.001ms"), false},
		"one total in two units":              {"msmodeling-table", simulated("3.000ms", "30.000ms", "29999.700us"), true},
		"a PyTorch total below its rows":      {"torch-table", torch + "1.000us\n", false},
		"a PyTorch total":                     {"torch-table", torch + "30.000ms\n", true},
		"a duration twice":                    {"msmodeling-trace", "[" + process + "," + event + `,"dur":500}]`, false},
		"events twice":                        {"msmodeling-trace", `{"traceEvents":[` + process + `],"traceEvents":[` + event + `}]}`, false},
		"a trace":                             {"msmodeling-trace", `{"traceEvents":[` + process + `,` + event + `}]}`, true},
		"an event list twice": {"msmodeling-metrics", `{"runtime_event_list":[{"name":"a","perf_total":5,"call_times":1}],` +
			`"runtime_event_list":[{"name":"a","perf_total":1,"call_times":1}]}`, false},
	} {
		_, err := optrace.Formats[c.format]([]byte(c.text))
		if c.consistent && err != nil || !c.consistent && !errors.Is(err, bench.ErrContradiction) {
			t.Errorf("%s: %v, want it consistent: %v", name, err, c.consistent)
		}
	}
}
