package operators_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/compat"
	"github.com/accelgate/accelgate/internal/testing/operatortest"
)

// rowLines writes rows shortly: "name change status old new by calls+by cost".
func rowLines(rows []compat.OperatorRow) []string {
	var lines []string
	for _, r := range rows {
		name := r.Name
		if r.Change == compat.OperatorOther {
			name = "(rest)"
		}
		lines = append(lines, strings.Join(strings.Fields(fmt.Sprintf("%s %s %s %.4g %.4g %d+%d", name, r.Change, r.Status, r.Old, r.New, r.ByCallsPS, r.ByCostPS)), " "))
	}
	return lines
}

// compareOperators judges one cell that has a recorded total of 1 s.
func compareOperators(recorded bench.ExpectedOperators, got bench.Result) (compat.Check, []gate.Verdict) {
	e := expect("a", bench.BaselineReference, 1.0, 9.0)
	e.Operators = recorded
	c := judge(got, policy(e))
	return c.Checks[0], c.Verdicts[1:]
}

func TestOperators(t *testing.T) {
	t.Parallel()
	ops := func(level string, topN int, share float64, parts ...any) bench.ExpectedOperators {
		return bench.ExpectedOperators{Entries: entries(parts...), TopN: topN, Tolerance: 0.1, MinShare: share, Level: level}
	}
	const s = 1_000_000_000_000 // picoseconds
	for _, tt := range []struct {
		name     string
		recorded bench.ExpectedOperators
		got      bench.Result
		status   compat.OperatorStatus
		want     []string
		reason   string // "" for no verdict
	}{
		{"equal", ops("", 0, 0, "mm", 0.75, 3, "add", 0.25, 1), operating(timed("a", 1), "s", "mm", 0.75, 3, "add", 0.25, 1),
			compat.OperatorsPass,
			[]string{"add PASS 0.25 0.25 0+0", "mm PASS 0.75 0.75 0+0"}, ""},
		{"exactly the tolerance", ops("", 0, 0, "mm", 1.0, 2), operating(timed("a", 1.1), "s", "mm", 1.1, 2), compat.OperatorsPass,
			[]string{fmt.Sprintf("mm PASS 1 1.1 0+%d", s/10)}, ""},
		{"slower per call", ops("", 0, 0, "mm", 1.0, 2), operating(timed("a", 1.25), "s", "mm", 1.25, 2), compat.OperatorsFail,
			[]string{fmt.Sprintf("mm FAIL 1 1.25 0+%d", s/4)},
			"mm +25.0 % (1.000 to 1.250 s, all of it per call; 100 % of the change of the total): refresh the case if that is meant"},
		{"slower that warns", ops("warn", 0, 0, "mm", 1.0, 0), operating(timed("a", 1.25), "ms", "mm", 1250.0, 2), compat.OperatorsWarn,
			[]string{fmt.Sprintf("mm WARN 1 1.25 0+%d", s/4)},
			"mm +25.0 % (1.000 to 1.250 s; 100 % of the change of the total): refresh the case if that is meant"},
		{"off", ops("off", 0, 0, "mm", 1.0, 2), operating(timed("a", 1.25), "s", "mm", 1.25, 2), compat.OperatorsOff, nil, ""},
		{"faster", ops("", 0, 0, "mm", 1.0, 2), operating(timed("a", 0.5), "s", "mm", 0.5, 2), compat.OperatorsPass,
			[]string{fmt.Sprintf("mm PASS 1 0.5 0+%d", -s/2)}, ""},
		{"more calls", ops("", 0, 0, "mm", 0.5, 2), operating(timed("a", 1.25), "s", "mm", 0.75, 3), compat.OperatorsFail,
			[]string{fmt.Sprintf("mm FAIL 0.5 0.75 %d+0", s/4), "(rest) other PASS 0.5 0.5 0+0"},
			"mm +50.0 % (500.000 to 750.000 ms, 2 to 3 calls, all of it by the number of calls; 100 % of the change of the total): refresh the case if that is meant"},
		{"more and dearer calls", ops("", 0, 0, "mm", 1.0, 2), operating(timed("a", 2.25), "s", "mm", 2.25, 3), compat.OperatorsFail,
			[]string{fmt.Sprintf("mm FAIL 1 2.25 %d+%d", s/2, 3*s/4)},
			"mm +125.0 % (1.000 to 2.250 s, 2 to 3 calls, +500.000 ms by the number of calls and +750.000 ms per call; 100 % of the change of the total): refresh the case if that is meant"},
		{"other calls, equal time", ops("", 0, 0, "mm", 1.0, 92), operating(timed("a", 1), "s", "mm", 1.0, 91), compat.OperatorsFail,
			[]string{"mm FAIL 1 1 -10869565217+10869565217"}, "calls of mm: 92 to 91: refresh the case if that is meant"},
		{"calls that were not recorded", ops("", 0, 0, "mm", 1.0, 0), operating(timed("a", 1), "s", "mm", 1.0, 91), compat.OperatorsPass,
			[]string{"mm PASS 1 1 0+0"}, ""},
		{"calls that the run does not state", ops("", 0, 0, "mm", 1.0, 2), operating(timed("a", 1), "s", "mm", 1.0, 0), compat.OperatorsFail,
			[]string{"mm FAIL 1 1 0+0"}, "the run does not state how often mm was called (2 recorded): refresh the case if that is meant"},
		{"slower, and calls that the run does not state", ops("", 0, 0, "mm", 1.0, 2), operating(timed("a", 1.25), "s", "mm", 1.25, 0), compat.OperatorsFail,
			[]string{fmt.Sprintf("mm FAIL 1 1.25 0+%d", s/4)},
			"mm +25.0 % (1.000 to 1.250 s, 2 calls recorded and none said; 100 % of the change of the total): refresh the case if that is meant"},
		{"new and missing", ops("", 0, 0, "mm", 0.75, 3, "add", 0.25, 1), operating(timed("a", 1.25), "s", "mm", 0.75, 3, "cat", 0.5, 48),
			compat.OperatorsFail,
			[]string{fmt.Sprintf("cat new FAIL 0 0.5 %d+0", s/2),
				fmt.Sprintf("add missing FAIL 0.25 0 %d+0", -s/4), "mm PASS 0.75 0.75 0+0"},
			"new: cat (500.000 ms, 48 calls; more than the whole change of the total); missing: add (250.000 ms, 1 call): refresh the case if that is meant"},
		{"crossed the cut of the recorded list", ops("", 2, 0, "mm", 0.5, 3, "add", 0.25, 1),
			operating(timed("a", 1), "s", "mm", 0.5, 3, "cat", 0.275, 1, "add", 0.225, 1), compat.OperatorsPass,
			[]string{fmt.Sprintf("add PASS 0.25 0.225 0+%d", -s/40), "cat moved PASS 0 0.275 0+0", "mm PASS 0.5 0.5 0+0",
				fmt.Sprintf("(rest) other PASS 0.25 0.275 0+%d", s/40)}, ""},
		{"too large to have been cut", ops("", 2, 0, "mm", 0.5, 3, "add", 0.25, 1),
			operating(timed("a", 1.03), "s", "mm", 0.5, 3, "cat", 0.28, 1, "add", 0.25, 1), compat.OperatorsFail,
			[]string{fmt.Sprintf("cat new FAIL 0 0.28 %d+0", 28*s/100), "add PASS 0.25 0.25 0+0", "mm PASS 0.5 0.5 0+0",
				fmt.Sprintf("(rest) other PASS 0.25 0 0+%d", -s/4)},
			"new: cat (280.000 ms, 1 call; more than the whole change of the total): refresh the case if that is meant"},
		{"too large for what was left of the recorded total", ops("", 2, 0, "mm", 0.7, 3, "add", 0.2995, 1),
			operating(timed("a", 1), "s", "mm", 0.7, 3, "cat", 0.2995, 1, "add", 0.0005, 1), compat.OperatorsFail,
			[]string{fmt.Sprintf("cat new FAIL 0 0.2995 %d+0", 2995*s/10000), fmt.Sprintf("add PASS 0.2995 0.0005 0+%d", -299*s/1000),
				"mm PASS 0.7 0.7 0+0", fmt.Sprintf("(rest) other PASS 0.0005 0 0+%d", -s/2000)},
			"new: cat (299.500 ms, 1 call): refresh the case if that is meant"},
		{"as large as what was left of the recorded total", ops("", 2, 0, "mm", 0.75, 3, "add", 0.2, 1),
			operating(timed("a", 1), "s", "mm", 0.75, 3, "add", 0.2, 1, "cat", 0.05, 1), compat.OperatorsPass,
			[]string{"add PASS 0.2 0.2 0+0", "cat moved PASS 0 0.05 0+0", "mm PASS 0.75 0.75 0+0", "(rest) other PASS 0.05 0.05 0+0"}, ""},
		{"the recorded list is shorter than what is compared", ops("", 3, 0, "mm", 0.5, 3, "add", 0.25, 1),
			operating(timed("a", 1), "s", "mm", 0.5, 3, "add", 0.25, 1, "cat", 0.25, 1), compat.OperatorsFail,
			[]string{fmt.Sprintf("cat new FAIL 0 0.25 %d+0", s/4), "add PASS 0.25 0.25 0+0", "mm PASS 0.5 0.5 0+0",
				fmt.Sprintf("(rest) other PASS 0.25 0 0+%d", -s/4)},
			"new: cat (250.000 ms, 1 call): refresh the case if that is meant"},
		{"more was recorded than the total", ops("", 2, 0, "mm", 0.75, 3, "add", 0.5, 1),
			operating(timed("a", 1.75), "s", "mm", 0.75, 3, "add", 0.5, 1, "cat", 0.5, 1), compat.OperatorsPass,
			[]string{"add PASS 0.5 0.5 0+0", "cat moved PASS 0 0.5 0+0", "mm PASS 0.75 0.75 0+0",
				fmt.Sprintf("(rest) other PASS -0.25 0.5 0+%d", 3*s/4)}, ""},
		{"vanished from a list that is shorter than what is compared", ops("", 10, 0, "mm", 0.6, 3, "add", 0.4, 1),
			operating(timed("a", 1), "s", "mm", 0.6, 3), compat.OperatorsFail,
			[]string{fmt.Sprintf("add missing FAIL 0.4 0 %d+0", -4*s/10), "mm PASS 0.6 0.6 0+0",
				fmt.Sprintf("(rest) other PASS 0 0.4 0+%d", 4*s/10)},
			"missing: add (400.000 ms, 1 call): refresh the case if that is meant"},
		{"vanished, and the number that are compared is not stated", ops("", 0, 0, "mm", 0.6, 3, "add", 0.4, 1),
			operating(timed("a", 1), "s", "mm", 0.6, 3), compat.OperatorsFail,
			[]string{fmt.Sprintf("add missing FAIL 0.4 0 %d+0", -4*s/10), "mm PASS 0.6 0.6 0+0",
				fmt.Sprintf("(rest) other PASS 0 0.4 0+%d", 4*s/10)},
			"missing: add (400.000 ms, 1 call): refresh the case if that is meant"},
		{"fell behind the cut of the run's list", ops("", 2, 0, "mm", 0.5, 3, "add", 0.25, 1),
			operating(timed("a", 1), "s", "mm", 0.5, 3, "cat", 0.24, 1), compat.OperatorsPass,
			[]string{"add moved PASS 0.25 0 0+0", "cat moved PASS 0 0.24 0+0", "mm PASS 0.5 0.5 0+0",
				"(rest) other PASS 0.5 0.5 0+0"}, ""},
		{"too large to have fallen behind the cut", ops("", 2, 0, "mm", 0.5, 3, "add", 0.25, 1),
			operating(timed("a", 1), "s", "mm", 0.5, 3, "cat", 0.2, 1), compat.OperatorsFail,
			[]string{fmt.Sprintf("add missing FAIL 0.25 0 %d+0", -s/4), "cat moved PASS 0 0.2 0+0", "mm PASS 0.5 0.5 0+0",
				fmt.Sprintf("(rest) other PASS 0.25 0.5 0+%d", s/4)},
			"missing: add (250.000 ms, 1 call): refresh the case if that is meant"},
		{"too large for what is left of the run's total", ops("", 2, 0, "mm", 0.5, 3, "add", 0.25, 1),
			operating(timed("a", 1), "s", "mm", 0.5, 3, "cat", 0.27, 1, "cat", 0.22, 1), compat.OperatorsFail,
			[]string{fmt.Sprintf("cat new FAIL 0 0.49 %d+0", 49*s/100), fmt.Sprintf("add missing FAIL 0.25 0 %d+0", -s/4), "mm PASS 0.5 0.5 0+0",
				fmt.Sprintf("(rest) other PASS 0.25 0.01 0+%d", -24*s/100)},
			"new: cat (490.000 ms, 2 calls); missing: add (250.000 ms, 1 call): refresh the case if that is meant"},
		{"a list that reaches down to nothing hides nothing", ops("", 2, 0, "mm", 0.5, 3, "add", 0.25, 1),
			operating(timed("a", 1), "s", "mm", 0.5, 3, "pad", 0.0, 1), compat.OperatorsFail,
			[]string{fmt.Sprintf("add missing FAIL 0.25 0 %d+0", -s/4), "mm PASS 0.5 0.5 0+0", "pad moved PASS 0 0 0+0",
				fmt.Sprintf("(rest) other PASS 0.25 0.5 0+%d", s/4)},
			"missing: add (250.000 ms, 1 call): refresh the case if that is meant"},
		{"less than nothing makes no room", ops("", 2, 0, "mm", 0.75, 3, "add", 0.25, 1),
			operating(timed("a", 1), "s", "mm", 0.75, 3, "cat", 0.25, 1, "pad", -0.5, 1), compat.OperatorsFail,
			[]string{fmt.Sprintf("pad new FAIL 0 -0.5 %d+0", -s/2), fmt.Sprintf("add missing FAIL 0.25 0 %d+0", -s/4),
				fmt.Sprintf("cat new FAIL 0 0.25 %d+0", s/4), "mm PASS 0.75 0.75 0+0", fmt.Sprintf("(rest) other PASS 0 0.5 0+%d", s/2)},
			"new: cat (250.000 ms, 1 call); missing: add (250.000 ms, 1 call); new: pad (-500.000 ms, 1 call): refresh the case if that is meant"},
		{"no times of the run", ops("", 0, 0, "mm", 1.0, 3), operating(timed("a", 1), "s", "mm", 0.0, 3), compat.OperatorsOff, nil,
			"the run's operators have no times, and the case's do: let the program print them, or set the level of operators to off"},
		{"nothing of the run", ops("", 0, 0, "mm", 1.0, 3), operating(timed("a", 1), "s"), compat.OperatorsFail,
			[]string{fmt.Sprintf("mm missing FAIL 1 0 %d+0", -s), fmt.Sprintf("(rest) other PASS 0 1 0+%d", s)},
			"missing: mm (1.000 s, 3 calls): refresh the case if that is meant"},
		{"small ones are not judged one by one", ops("", 0, 0.1, "mm", 0.9, 1, "tiny", 0.05, 1, "grows", 0.05, 1),
			operating(timed("a", 1.3), "s", "mm", 0.9, 1, "grows", 0.2, 1, "tiny", 0.1, 9, "new", 0.1, 1), compat.OperatorsFail,
			[]string{fmt.Sprintf("grows FAIL 0.05 0.2 0+%d", 15*s/100), "mm PASS 0.9 0.9 0+0",
				fmt.Sprintf("(rest) other PASS 0.05 0.2 0+%d", 15*s/100)},
			"grows +300.0 % (50.000 to 200.000 ms, all of it per call; 50 % of the change of the total): refresh the case if that is meant"},
		{"calls alone", ops("", 0, 0.5, "mm", 0.0, 3, "add", 0.0, 1), operating(timed("a", 1), "s", "mm", 0.9, 3, "add", 0.1, 2),
			compat.OperatorsFail,
			[]string{"add FAIL 0 0.1 0+0", "mm PASS 0 0.9 0+0",
				"(rest) other PASS 1 1 0+0"}, "calls of add: 1 to 2: refresh the case if that is meant"},
		{"calls alone, one is gone", ops("", 0, 0, "mm", 0.0, 3, "add", 0.0, 1), operating(timed("a", 1), "s", "mm", 1.0, 3),
			compat.OperatorsFail,
			[]string{"add missing FAIL 0 0 0+0", "mm PASS 0 1 0+0", "(rest) other PASS 1 1 0+0"},
			"missing: add (0.000 s, 1 call): refresh the case if that is meant"},
		{"calls alone of the largest", ops("", 1, 0, "mm", 0.0, 3), operating(timed("a", 1), "s", "mm", 0.9, 3, "add", 0.1, 2),
			compat.OperatorsPass,
			[]string{"add moved PASS 0 0.1 0+0", "mm PASS 0 0.9 0+0", "(rest) other PASS 1 1 0+0"}, ""},
		{"named twice", ops("", 0, 0, "mm", 0.5, 1, "mm", 0.5, 2), operating(timed("a", 1), "us", "mm", 0.25e6, 2, "mm", 0.75e6, 1),
			compat.OperatorsPass,
			[]string{"mm PASS 1 1 0+0"}, ""},
		{"four of them", ops("", 0, 0, "a", 0.25, 1, "b", 0.25, 1, "c", 0.25, 1, "d", 0.25, 1),
			operating(timed("a", 2), "s", "a", 0.5, 1, "b", 0.5, 1, "c", 0.5, 1, "d", 0.5, 1), compat.OperatorsFail,
			[]string{fmt.Sprintf("a FAIL 0.25 0.5 0+%d", s/4), fmt.Sprintf("b FAIL 0.25 0.5 0+%d", s/4),
				fmt.Sprintf("c FAIL 0.25 0.5 0+%d", s/4), fmt.Sprintf("d FAIL 0.25 0.5 0+%d", s/4)},
			"a +100.0 % (250.000 to 500.000 ms, all of it per call; 25 % of the change of the total); b +100.0 % (250.000 to 500.000 ms, all of it per call; 25 % of the change of the total); " +
				"c +100.0 % (250.000 to 500.000 ms, all of it per call; 25 % of the change of the total); and 1 more: refresh the case if that is meant"},
		{"nothing recorded", ops("", 0, 0), operating(timed("a", 1), "s", "mm", 1.0, 3), compat.OperatorsNoBaseline, nil, ""},
		{"more than the total by rounding", ops("", 0, 0, "mm", 1.0, 2), operating(timed("a", 1), "s", "mm", 1.001, 2), compat.OperatorsPass,
			[]string{fmt.Sprintf("mm PASS 1 1.001 0+%d", s/1000), fmt.Sprintf("(rest) other PASS 0 -0.001 0+%d", -s/1000)}, ""},
		{"more than the total", ops("", 0, 0, "mm", 1.0, 2), operating(timed("a", 1), "s", "mm", 1.002, 2), compat.OperatorsPass,
			[]string{fmt.Sprintf("mm PASS 1 1.002 0+%d", s/500), fmt.Sprintf("(rest) other PASS 0 -0.002 0+%d", -s/500)},
			"the run's operators add up to 1.002 s, more than the total of 1.000 s: look at how the program counts"},
		{"a thousand times the total", ops("warn", 0, 0, "mm", 5.0, 2), operating(timed("a", 0.005), "s", "mm", 5.0, 2), compat.OperatorsPass,
			[]string{"mm PASS 5 5 0+0", fmt.Sprintf("(rest) other PASS -4 -4.995 0+%d", -995*s/1000)},
			"the run's operators add up to 5.000 s, more than the total of 5.000 ms: look at how the program counts"},
		{"medians need not add up", ops("", 0, 0, "mm", 0.5, 2, "add", 0.5, 2), operating(timed("a", 1, 0.99, 1.01), "s", "mm", 0.52, 2, "add", 0.52, 2),
			compat.OperatorsPass, []string{fmt.Sprintf("add PASS 0.5 0.52 0+%d", s/50), fmt.Sprintf("mm PASS 0.5 0.52 0+%d", s/50),
				fmt.Sprintf("(rest) other PASS 0 -0.04 0+%d", -s/25)}, ""},
	} {
		check, verdicts := compareOperators(tt.recorded, tt.got)
		if diff := cmp.Diff(tt.want, rowLines(check.Operators.Rows)); diff != "" || check.Operators.Status != tt.status {
			t.Errorf("%s: %s, want %s; rows (-want +got):\n%s", tt.name, check.Operators.Status, tt.status, diff)
		}
		reason := ""
		for _, v := range verdicts {
			reason += v.Reason
		}
		if reason != tt.reason || (len(verdicts) > 0) != (reason != "") {
			t.Errorf("%s: %d verdicts\n got %q\nwant %q", tt.name, len(verdicts), reason, tt.reason)
		}
	}
}

// TestNoOperators: recorded operators that nothing can be compared with count as
// the suite says, wherever else the run puts something that looks like them.
func TestNoOperators(t *testing.T) {
	t.Parallel()
	list := func(title, unit string, parts ...any) bench.Breakdown {
		return bench.Breakdown{Title: title, Unit: unit, Entries: entries(parts...)}
	}
	const none = "the run has no operators, and the case does: let the program print them, or set the level of operators to off"
	const foreign = `the run's operators are in "GB" and the total is in "s": let the program print them in the unit of the total, or set the level of operators to off`
	recorded, slower := []any{"mm", 1.0, 3}, []any{"mm", 2.0, 3}
	for _, tt := range []struct {
		name, level string
		breakdowns  []bench.Breakdown
		status      compat.OperatorStatus
		class       gate.Finding // "" for no verdict
		want        string
		reason      string // or how it begins
	}{
		{"none", "", nil, compat.OperatorsOff, gate.Missing, "blocks", none},
		{"none, fail", "fail", nil, compat.OperatorsOff, gate.Missing, "blocks", none},
		{"none, warn", "warn", nil, compat.OperatorsOff, gate.Missing, "rule", none},
		{"none, off", "off", nil, compat.OperatorsOff, "", "", ""},
		{"another quantity", "", []bench.Breakdown{list("operators", "GB", recorded...)}, compat.OperatorsOff, gate.Missing, "blocks", foreign},
		{"another quantity, warn", "warn", []bench.Breakdown{list("operators", "GB", recorded...)}, compat.OperatorsOff, gate.Missing, "rule", foreign},
		{"another quantity beside time", "", []bench.Breakdown{list("memory", "s", recorded...), list("operators", "GB", recorded...)},
			compat.OperatorsOff, gate.Missing, "blocks", foreign},
		{"behind another quantity", "", []bench.Breakdown{list("memory", "GB", recorded...), list("operators", "s", slower...)},
			compat.OperatorsFail, gate.PartsDiffer, "blocks", "mm +100.0 %"},
		{"behind other times", "", []bench.Breakdown{list("critical path", "s", recorded...), list("operators", "s", slower...)},
			compat.OperatorsFail, gate.PartsDiffer, "blocks", "mm +100.0 %"},
		{"before other times", "", []bench.Breakdown{list("operators", "s", slower...), list("critical path", "s", recorded...)},
			compat.OperatorsFail, gate.PartsDiffer, "blocks", "mm +100.0 %"},
		{"without the title, behind another quantity", "", []bench.Breakdown{list("memory", "GB", recorded...), list("kernels", "ms", "mm", 2000.0, 3)},
			compat.OperatorsFail, gate.PartsDiffer, "blocks", "mm +100.0 %"},
		{"as recorded", "", []bench.Breakdown{list("operators", "s", recorded...)}, compat.OperatorsPass, "", "", ""},
	} {
		got := timed("a", 2)
		got.Breakdowns = tt.breakdowns
		check, verdicts := compareOperators(bench.ExpectedOperators{Entries: entries(recorded...), Tolerance: 0.1, Level: tt.level}, got)
		if check.Operators.Status != tt.status || len(verdicts) != min(1, len(tt.class)) {
			t.Errorf("%s: %s, want %s; verdicts %+v", tt.name, check.Operators.Status, tt.status, verdicts)
			continue
		}
		for _, v := range verdicts {
			if v.Finding != tt.class || standing(&v) != tt.want || v.Metric != "operators" || v.Delta != -100 && tt.class == gate.Missing || !strings.HasPrefix(v.Reason, tt.reason) {
				t.Errorf("%s: %+v, want %s %s: %s", tt.name, v, tt.class, tt.want, tt.reason)
			}
		}
	}
}

func TestOperatorVerdict(t *testing.T) {
	t.Parallel()
	recorded := bench.ExpectedOperators{Entries: entries("add", 0.25, 1, "mm", 0.75, 3), TopN: 10, Tolerance: 0.1}
	check, verdicts := compareOperators(recorded, operating(timed("a", 1.5), "s", "mm", 0.75, 3, "cat", 0.25, 2, "add", 0.5, 1))
	want := []gate.Verdict{{Cell: "a", Metric: "operators", Reference: "operators", Finding: gate.PartsDiffer, Blocks: true, Old: 0.25, New: 0.5, Delta: -100,
		Interval: [2]float64{-100, -100}, Evidence: gate.Evidence{Method: gate.MethodParts, Limit: 10, OldN: 1, NewN: 1},
		Reason: "add +100.0 % (250.000 to 500.000 ms, all of it per call; 50 % of the change of the total); " +
			"new: cat (250.000 ms, 2 calls; 50 % of the change of the total): refresh the case if that is meant"}}
	if diff := cmp.Diff(want, verdicts); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
	rows := []compat.OperatorRow{
		{Name: "add", Status: compat.OperatorsFail, Old: 0.25, New: 0.5,
			OldCalls: 1, NewCalls: 1, OldRank: 2, NewRank: 2, Diff: 1, DeltaPS: 25e10, ByCostPS: 25e10, Share: 0.5},
		{Name: "cat", Change: compat.OperatorNew, Status: compat.OperatorsFail, New: 0.25, NewCalls: 2,
			NewRank: 3, DeltaPS: 25e10, ByCallsPS: 25e10, Share: 0.5},
		{Name: "mm", Status: compat.OperatorsPass, Old: 0.75, New: 0.75, OldCalls: 3, NewCalls: 3, OldRank: 1, NewRank: 1},
	}
	if diff := cmp.Diff(compat.OperatorCheck{Status: compat.OperatorsFail, TopN: 10, Tolerance: 0.1, Of: "baseline", DeltaPS: 5e11, Rows: rows}, check.Operators); diff != "" {
		t.Errorf("check (-want +got):\n%s", diff)
	}
	if d := gate.Decide([]gate.Comparison{{Passed: 1, Verdicts: verdicts}}, gate.DefaultPolicy()); d.Judged != 0 || d.Status != gate.StatusFailed {
		t.Errorf("decision %+v, want a failure that judged no speed", d)
	}
}

// TestOperatorsOfWhichTotal: operators are parts of the smallest recorded total
// that can hold them.
func TestOperatorsOfWhichTotal(t *testing.T) {
	t.Parallel()
	const base, initial = bench.BaselineReference, bench.InitialReference
	for _, tt := range []struct {
		sum  float64
		refs []any
		want string
		old  float64
	}{
		{1, []any{initial, 1.0, 9.0, base, 2.0, 9.0}, initial, 1},
		{1, []any{initial, 2.0, 9.0, base, 1.5, 9.0}, base, 1.5},
		{1.0009, []any{initial, 1.0, 9.0, base, 2.0, 9.0}, initial, 1}, // printed with few digits
		{1.01, []any{initial, 1.0, 9.0, base, 2.0, 9.0}, base, 2},
		{3, []any{initial, 1.0, 9.0, base, 2.0, 9.0}, base, 2},
		{3, []any{initial, 2.0, 9.0, base, 1.0, 9.0}, initial, 2},
		{1, nil, "", 1},
	} {
		e := expect("a", tt.refs...)
		e.Operators.Entries = entries("mm", tt.sum, 1)
		o := judge(operating(timed("a", 1), "s", "mm", 1.0, 1), policy(e)).Checks[0].Operators
		if want := int64((1 - tt.old) * 1e12); o.Of != tt.want || o.DeltaPS != want {
			t.Errorf("sum %v of %v: of %q, %d ps, want %q and %d", tt.sum, tt.refs, o.Of, o.DeltaPS, tt.want, want)
		}
	}
}

// TestOperatorsBesideTwoTotals: any of the recorded totals may be the one that
// the operators are of, so what they leave out is only bounded by the largest.
func TestOperatorsBesideTwoTotals(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		initial float64
		want    compat.OperatorChange
	}{
		{1, compat.OperatorNew}, {1.01, compat.OperatorNew}, {1.1, compat.OperatorMoved},
	} {
		e := expect("a", bench.BaselineReference, 1.0, 0.5, bench.InitialReference, tt.initial, 0.5)
		e.Operators = bench.ExpectedOperators{Entries: entries("mm", 0.75, 3, "add", 0.24, 1), TopN: 2, Tolerance: 0.1}
		got := operating(timed("a", 1.1), "s", "mm", 0.75, 3, "add", 0.24, 1, "cat", 0.1, 1)
		for _, r := range judge(got, policy(e)).Checks[0].Operators.Rows {
			if r.Name == "cat" && r.Change != tt.want {
				t.Errorf("initial value %v: %+v, want %q", tt.initial, r, tt.want)
			}
		}
	}
}

// TestOperatorUnits: all units of time are converted to the total's, and other units
// are compared if they are equal.
func TestOperatorUnits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		total, unit string
		value       float64
		want        compat.OperatorStatus
	}{
		{"s", "s", 1, compat.OperatorsPass}, {"s", "ms", 1e3, compat.OperatorsPass}, {"s", "us", 1e6, compat.OperatorsPass},
		{"s", "µs", 1e6, compat.OperatorsPass}, {"s", "μs", 1e6, compat.OperatorsPass}, {"s", "ns", 1e9, compat.OperatorsPass},
		{"ms", "us", 1e3, compat.OperatorsPass}, {"J", "J", 1, compat.OperatorsPass}, {"", "", 1, compat.OperatorsPass},
		{"J", "s", 1, compat.OperatorsOff}, {"s", "", 1, compat.OperatorsOff}, {"s", "S", 1, compat.OperatorsOff},
	} {
		e := expect("a", bench.BaselineReference, 1.0, 0.0)
		e.Operators.Entries = entries("mm", 1.0, 1)
		check := judgeIn(tt.total, operating(timed("a", 1), tt.unit, "mm", tt.value, 1), policy(e)).Checks[0]
		if check.Operators.Status != tt.want || check.Unit != tt.total || tt.want == compat.OperatorsPass && check.Operators.Rows[0].New != 1 {
			t.Errorf("%q in %q: %+v, want %s", tt.unit, tt.total, check, tt.want)
		}
	}
}

// TestReasonsAreBounded: names are whatever a program prints.
func TestReasonsAreBounded(t *testing.T) {
	t.Parallel()
	var recorded []bench.Entry
	for i := range 50 {
		recorded = append(recorded, bench.Entry{Name: fmt.Sprintf("\x1b[2J\u202e\n\xff%d %s", i, strings.Repeat("x", 10_000)), Total: math.MaxFloat64, Calls: math.MaxInt64})
	}
	for _, tool := range []compat.Tool{compat.None, compat.MSModeling} {
		e := expect("a", bench.BaselineReference, 1.0, 9.0)
		e.Operators = bench.ExpectedOperators{Entries: recorded, TopN: 50}
		p := policy(e)
		p.Compat = tool
		c := judge(operating(timed("a", 1), "s"), p)
		v := c.Verdicts[len(c.Verdicts)-1]
		if v.Finding != gate.PartsDiffer || len(v.Reason) > 2000 || strings.ContainsAny(v.Reason,
			"\x1b\n\u202e") || !utf8.ValidString(v.Reason) {
			t.Errorf("compat %q: %s, reason of %d bytes: %.200q", tool, v.Finding, len(v.Reason), v.Reason)
		}
	}
}

// TestOperatorsAddUp holds for any two lists: the parts of the change add up to
// that of the total, each of them is the sum of calls and cost, nothing is
// infinite, and the order is that of size.
func TestOperatorsAddUp(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(4, 4))
	hostile := []float64{0, math.SmallestNonzeroFloat64, 1e-12, 1, 1e6, 1e300, math.MaxFloat64}
	number := func() float64 {
		if random.IntN(20) == 0 {
			return hostile[random.IntN(len(hostile))]
		}
		return random.ExpFloat64() * math.Pow(10, float64(random.IntN(8)-6))
	}
	list := func() []bench.Entry {
		var entries []bench.Entry
		for range random.IntN(12) {
			e := bench.Entry{Name: string(rune('a' + random.IntN(14))), Total: number(), Calls: int64(random.IntN(5))}
			if random.IntN(20) == 0 {
				e.Calls = math.MaxInt64 - int64(random.IntN(2))
			}
			entries = append(entries, e)
		}
		return entries
	}
	for i := range 5000 {
		e := expect("a", bench.InitialReference, number(), number(), bench.BaselineReference, number(), number())
		e.Operators = bench.ExpectedOperators{Entries: list(), TopN: random.IntN(12), Tolerance: number(), MinShare: []float64{0, 0.01, 0.3, 2}[random.IntN(4)]}
		got := timed("a", number())
		measured := list()
		for j := range measured { // a run may print less than nothing
			if random.IntN(10) == 0 {
				measured[j].Total, measured[j].Calls = -measured[j].Total, -measured[j].Calls
			}
		}
		got.Breakdowns = []bench.Breakdown{{Unit: []string{"s", "ms", "ns"}[random.IntN(3)], Entries: measured}}
		c := judge(got, policy(e))
		operatortest.CheckAddsUp(t, c.Checks[0].Operators)
		checkFinite(t, c)
		if t.Failed() {
			t.Fatalf("round %d: expected %+v, got %+v", i, e, got)
		}
	}
}

// checkFinite: documents cannot hold anything else.
func checkFinite(t *testing.T, c gate.Comparison) {
	t.Helper()
	var numbers []float64
	for _, v := range c.Verdicts {
		numbers = append(numbers, v.Old, v.New, v.Delta, v.Interval[0], v.Interval[1], v.Evidence.Limit, v.Evidence.Noise)
	}
	for _, check := range c.Checks {
		for _, r := range check.References {
			numbers = append(numbers, r.Diff)
		}
		for _, r := range check.Operators.Rows {
			numbers = append(numbers, r.Old, r.New, r.Diff, r.Share)
		}
	}
	if i := slices.IndexFunc(numbers, func(x float64) bool { return !bench.Finite(x) }); i >= 0 {
		t.Errorf("a number is %v", numbers[i])
	}
}
