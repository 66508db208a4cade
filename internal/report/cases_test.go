package report_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/compat"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/suite/cases"
	"github.com/accelgate/accelgate/internal/suite/cases/operators"
)

// caseChecks are so many checks with so many operators. One total in ten fails,
// and so does one operator in ten of every check.
func caseChecks(checks, operators int) []compat.Check {
	all := make([]compat.Check, checks)
	for i := range all {
		c := &all[i]
		*c = compat.Check{Cell: fmt.Sprintf("model-%05d-decode", i), Description: "decode, 8 sequences", Metric: "total_time_s", Unit: "s", Actual: 1.01,
			Status: compat.CheckPass,
			References: []compat.ReferenceCheck{{Name: "baseline", Value: 1, Tolerance: 0.1, Diff: 0.01, Passed: true},
				{Name: "initial", Value: 0.9, Tolerance: 0.2, Diff: 0.11 / 0.9, Passed: true}},
			Operators: compat.OperatorCheck{Status: compat.OperatorsWarn, TopN: 10, Tolerance: 0.1, Of: "baseline", DeltaPS: 1e10}}
		if i%10 == 0 {
			c.Status, c.Actual, c.References[0].Diff, c.References[0].Passed, c.Operators.DeltaPS = compat.CheckFailBase, 1.2, 0.2, false, 2e11
		}
		for k := range operators {
			row := compat.OperatorRow{Name: fmt.Sprintf("tensor_cast.operator_%03d.default", k), Status: compat.OperatorsPass, Old: 0.0123 + float64(k)/1e4,
				OldCalls: 92, NewCalls: 92, OldRank: k + 1, NewRank: k + 1}
			row.New, row.Diff = row.Old*1.01, 0.01
			if k%10 == 0 {
				row.Status, row.New, row.Diff, row.NewCalls = compat.OperatorsWarn, row.Old*1.2, 0.2, 91
			}
			row.DeltaPS = int64(row.New*1e12) - int64(row.Old*1e12)
			row.ByCallsPS = row.DeltaPS / 3
			row.ByCostPS = row.DeltaPS - row.ByCallsPS
			row.Share = float64(row.DeltaPS) / float64(c.Operators.DeltaPS)
			c.Operators.Rows = append(c.Operators.Rows, row)
		}
	}
	return all
}

// TestNothingIsPrintedOfNoChecks: like the original, which prints no table of
// no results.
func TestNothingIsPrintedOfNoChecks(t *testing.T) {
	for name, f := range console {
		if got := render(t, f, report.New(matrix(3))); got != "" {
			t.Errorf("%s prints %q", name, got)
		}
	}
	if got := render(t, cases.Markdown, report.New(matrix(3))); !strings.Contains(got, "No case was compared. Next: `accelgate run --list`\n") {
		t.Errorf("CasesMarkdown prints %q", got)
	}
}

// TestCasesWithoutACheckAreShown: what failed before anything could be compared
// is hidden by no layout, even where nothing else is shown. A cell of another
// kind of suite is no case.
func TestCasesWithoutACheckAreShown(t *testing.T) {
	failed := func(cell string, found gate.Finding, reason string) gate.Verdict {
		v := whole(cell, found)
		v.Reason = reason
		return v
	}
	of := func(suite, cell string) bench.Result { return bench.Result{Cell: bench.Cell{Suite: suite, Raw: cell}} }
	in := matrix(1)
	in.Hosts[0].Run.Results = []bench.Result{of("ops", "gone"), of("ops", "skip"), of("ops", "broken"), of("ops", "known"), of("chat", "hello")}
	in.Hosts[0].Comparison = gate.Comparison{Verdicts: []gate.Verdict{
		failed("gone", gate.Crashed, "there is no table"), failed("skip", gate.Skipped, "no device"),
		failed("broken", gate.Incorrect, ""), excused(failed("known", gate.Crashed, "known failure"), gate.Excuse{Kind: gate.KnownFailure, Source: "baseline"}),
		failed("hello", gate.Crashed, "a crash"), failed("vanished", gate.Missing, "not in the run"),
		failed("old", gate.Missing, "of another kind")}}
	in.Policy.Expected = map[string]bench.Expected{"gone": {}, "skip": {}, "vanished": {}}
	r := report.New(in)
	if got, want := render(t, cases.PrintTest, r), "*** 4 cases could not be judged; see standard error, or --format terminal ***\n"; got != want {
		t.Errorf("MSModelingTest prints %q, want %q", got, want)
	}
	if got, want := render(t, cases.Anomalies, r), "[gone] there is no table\n\n[broken] wrong\n\n[known] known failure\n\n[vanished] not in the run\n"; got != want {
		t.Errorf("Anomalies prints %q, want %q", got, want)
	}
	for name, f := range map[string]report.Renderer{"MSModelingCheck": cases.PrintCheck, "CasesMarkdown": cases.Markdown} {
		got := render(t, f, r)
		for _, cell := range []string{"gone", "broken", "known", "vanished"} {
			if row := regexp.MustCompile(`(?m)^[|\x60 ]*` + cell + `\b.* ERROR\b`); !row.MatchString(got) {
				t.Errorf("%s has no row of %s:\n%s", name, cell, got)
			}
		}
		if strings.Contains(got, "hello") || strings.Contains(got, "old`") || strings.Contains(got, "skip") {
			t.Errorf("%s shows a cell that is not a case or did not fail:\n%s", name, got)
		}
		if sum := regexp.MustCompile(`Total: 4 \| Passed: 0 \| Failed: 4|4 totals: 0 passed, 4 failed \(4 could`); !sum.MatchString(got) {
			t.Errorf("%s does not count them as failed:\n%s", name, got)
		}
	}
}

// TestUnknownCallsAreNotZero: 0 calls of an operator that ran are unknown ones.
// msmodeling has them all, and its own lines stay as they are.
func TestUnknownCallsAreNotZero(t *testing.T) {
	row := compat.OperatorRow{Name: "mm", Status: compat.OperatorsFail, Old: 1, New: 2, OldCalls: 3, Diff: 1, DeltaPS: 1e12, ByCostPS: 1e12}
	check := compat.Check{Cell: "c", Metric: "tps", Unit: "s", Status: compat.CheckFailBase, Actual: 2,
		Operators: compat.OperatorCheck{Status: compat.OperatorsFail, Of: "baseline", DeltaPS: 1e12}}
	all := func(change func()) string {
		in := matrix(1)
		v := judgedCell("c", gate.Regressed)
		v.Reference = "baseline"
		change()
		c := check
		c.Operators.Rows = []compat.OperatorRow{row}
		in.Hosts[0].Comparison.Checks, in.Hosts[0].Comparison.Verdicts = []compat.Check{c}, []gate.Verdict{v}
		r := report.New(in)
		return render(t, report.Terminal, r) + render(t, cases.PrintTest, r) + render(t, cases.PrintCheck, r)
	}
	for _, c := range []struct {
		want   []string
		change func()
	}{
		{[]string{" 3 → ? ", " 3/?! ", "mm: #CALLS MISMATCH baseline=3, actual=?\n"}, func() {}},
		{[]string{" ? → 4 ", " ?/4 "}, func() { row.OldCalls, row.NewCalls = 0, 4 }},
		{[]string{" ?/? "}, func() { row.OldCalls, row.NewCalls = 0, 0 }},
		{[]string{" – → 4 "}, func() { row.Change, row.NewCalls = compat.OperatorNew, 4 }},
		{[]string{"(actual=2000.000ms, #calls=?)"}, func() { row.NewCalls = 0 }},
		{[]string{"(baseline=1000.000ms, #calls=?)"}, func() { row.Change, row.NewCalls = compat.OperatorMissing, 0 }},
		{[]string{" 3/0! ", "    its own line\n"}, func() {
			row.Change, row.OldCalls, row.NewCalls, check.Operators.Violations = compat.OperatorKept, 3, 0, []string{"its own line"}
		}},
	} {
		got := all(c.change)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("calls %d and %d, %q: want %q in\n%s", row.OldCalls, row.NewCalls, row.Change, want, got)
			}
		}
	}
}

// TestOperatorTableOfMSModeling: how the second table ends depends on whether
// there is a row at all, and whether one of them warns.
func TestOperatorTableOfMSModeling(t *testing.T) {
	passes := compat.Check{Cell: "c", Status: compat.CheckPass, Operators: compat.OperatorCheck{Status: compat.OperatorsPass}}
	const first = "Total: 1 | Passed: 1 | Failed: 0 | Warned: 0 | No Baseline: 0\n"
	rule := strings.Repeat("=", 120) + "\n\n"
	check := func(want string) {
		t.Helper()
		in := matrix(1)
		in.Hosts[0].Comparison.Checks = []compat.Check{passes}
		_, got, _ := strings.Cut(render(t, cases.PrintTest, report.New(in)), first+rule)
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("the first table is followed by %q, want %q", got, want)
		}
	}
	check("")
	passes.Operators.Rows = []compat.OperatorRow{{Name: "mm", Status: compat.OperatorsPass}}
	check("*** All Operator Top-N Checks Passed (no warnings) ***\n\n")
	passes.Operators.Status = compat.OperatorsWarn
	check(strings.Repeat("=", 145) + "\n  [Test 2] ")
}

// TestUnitsOfMSModeling: whatever the unit of the total, the layouts show
// milliseconds.
func TestUnitsOfMSModeling(t *testing.T) {
	for unit, want := range map[string]string{"s": " 12500.000ms ", "ms": " 12.500ms ", "us": " 0.013ms ", "µs": " 0.013ms ",
		"ns": " 0.000ms ", "": " 12500.000ms ", "J": " 12.500J "} {
		in := matrix(1)
		in.Hosts[0].Comparison.Checks = []compat.Check{{Cell: "c", Unit: unit, Actual: 12.5}}
		if got := render(t, cases.PrintTest, report.New(in)); !strings.Contains(got, want) {
			t.Errorf("12.5 %s: want %q in\n%s", unit, want, got)
		}
	}
}

// TestCasesMarkdownLimit keeps to each limit, shows what fails first and counts
// what it leaves out.
func TestCasesMarkdownLimit(t *testing.T) {
	in := matrix(1)
	in.Hosts[0].Comparison.Checks = caseChecks(1000, 20)
	r := report.New(in)
	for _, limit := range []int{0, 1000, 3_000, 10_000, 60_000, 1 << 20} {
		got := render(t, cases.MarkdownLimit(limit), r)
		if len(got) > max(limit, 1000) {
			t.Errorf("limit %d: %d bytes", limit, len(got))
		}
		if !strings.Contains(got, " more\n") && !strings.Contains(got, "Left out to keep") {
			t.Errorf("limit %d: does not state what it leaves out", limit)
		}
		if i, k := strings.Index(got, "FAIL(BASE)"), strings.Index(got, "| PASS |"); k >= 0 && (i < 0 || k < i) {
			t.Errorf("limit %d: what passes comes first", limit)
		}
		skeleton(t, got)
	}
}

var cell = regexp.MustCompile(`^([+-]?[0-9.]+) (\S+)$`)

// TestExplanationAddsUp: in the table of operators, each column of times sums to
// its last row as written, and each row's parts make its change.
func TestExplanationAddsUp(t *testing.T) {
	for _, unit := range []string{"s", "ms", "us", "ns", "tokens"} {
		for _, scale := range []float64{1, 1e-3, 3.7e-6, 977} {
			in := matrix(1)
			checks := caseChecks(1, 33)
			scaled(&checks[0], unit, scale)
			in.Hosts[0].Comparison.Checks = checks
			v := judgedCell(checks[0].Cell, gate.Regressed)
			v.Reference, v.Metric = "baseline", "total_time_s"
			in.Hosts[0].Comparison.Verdicts = []gate.Verdict{v}
			text := render(t, report.Markdown, report.New(in))
			_, rows, _ := strings.Cut(text, "| Operator |")
			rows, _, _ = strings.Cut(rows, "</details>")
			addsUp(t, rows)
		}
	}
}

// scaled makes all numbers of c multiples, in another unit, and the operators
// all of it.
func scaled(c *compat.Check, unit string, by float64) {
	ps := map[string]float64{"s": 1e12, "ms": 1e9, "us": 1e6, "ns": 1e3, "tokens": 1e6}[unit]
	c.Unit = unit
	c.Operators.DeltaPS, c.Actual = 0, 0
	for i := range c.Operators.Rows {
		row := &c.Operators.Rows[i]
		row.Old, row.New = row.Old*by, row.New*by
		row.DeltaPS = int64(row.New*ps) - int64(row.Old*ps)
		row.ByCallsPS = row.DeltaPS / 3
		row.ByCostPS = row.DeltaPS - row.ByCallsPS
		c.Operators.DeltaPS += row.DeltaPS
		c.Actual += row.New
	}
}

func addsUp(t *testing.T, rows string) {
	t.Helper()
	sums := make([]float64, 9)
	n := 0
	for line := range strings.Lines(rows) {
		fields := strings.Split(strings.TrimSpace(line), "|")
		if len(fields) != 10 || !strings.Contains(line, "→ ") && !strings.Contains(line, "other") && !strings.Contains(line, "total") {
			continue
		}
		n++
		values := make([]float64, 9)
		for i, f := range fields[1:9] {
			if m := cell.FindStringSubmatch(strings.TrimSpace(f)); m != nil {
				values[i], _ = strconv.ParseFloat(m[1], 64)
			}
		}
		near := func(a, b float64) bool { return a-b < 1e-6*(1+max(a, -a)) && b-a < 1e-6*(1+max(a, -a)) }
		if !near(values[2]-values[1], values[3]) || !near(values[5]+values[6], values[3]) {
			t.Errorf("a row does not add up: %s", line)
		}
		for i, x := range values {
			if strings.Contains(line, "**total**") && !near(sums[i], x) {
				t.Errorf("column %d sums to %v: %s", i, sums[i], line)
			}
			sums[i] += x
		}
	}
	if n < 6 { // operators that did not move are not worth a row
		t.Errorf("%d rows, want 6 or 7:\n%s", n, rows)
	}
}

// TestContributor: a row names the operator behind a change where one is known
// for that reference.
func TestContributor(t *testing.T) {
	message := func(change func(*compat.Check, *gate.Verdict)) string {
		in := matrix(1)
		row := func(name string, ps int64) compat.OperatorRow { return compat.OperatorRow{Name: name, DeltaPS: ps} }
		c := compat.Check{Cell: "c", Metric: "tps", Unit: "s", Actual: 0.1, Operators: compat.OperatorCheck{Of: "baseline", DeltaPS: 14e9,
			Rows: []compat.OperatorRow{row("matmul", 12e9), row("softmax", -13e9), {Change: compat.OperatorOther, DeltaPS: 15e9}}}}
		v := judgedCell("c", gate.Regressed)
		v.Reference = "baseline"
		change(&c, &v)
		in.Hosts[0].Comparison.Checks = []compat.Check{c}
		in.Hosts[0].Comparison.Verdicts = []gate.Verdict{v}
		return report.New(in).Findings(9)[0].Message
	}
	for _, c := range []struct {
		want   string
		change func(*compat.Check, *gate.Verdict)
	}{
		{"; mostly matmul: +12 ms, 86 %", func(*compat.Check, *gate.Verdict) {}},
		{"; largest part matmul: +3.25 µs, 0 %", func(c *compat.Check, _ *gate.Verdict) { c.Operators.Rows[0].DeltaPS = 3_251_000 }},
		{"; mostly softmax: -13 ms, 93 %", func(c *compat.Check, v *gate.Verdict) { c.Operators.DeltaPS, v.Finding = -14e9, gate.Improved }},
		{"; mostly matmul: +1.2e+04 tokens, 86 %", func(c *compat.Check, _ *gate.Verdict) { c.Unit = "tokens" }},
		{"", func(c *compat.Check, _ *gate.Verdict) { c.Operators.DeltaPS = 0 }},
		{"; mostly matmul: +12 ms, 86 % of the change vs initial", func(c *compat.Check, _ *gate.Verdict) { c.Operators.Of = "initial" }},
		{"", func(c *compat.Check, _ *gate.Verdict) { c.Operators.DeltaPS = -14e9 }},
		{"", func(c *compat.Check, _ *gate.Verdict) { c.Metric = "other" }},
		{"", func(_ *compat.Check, v *gate.Verdict) { v.Finding = gate.Missing }},
	} {
		got := message(c.change)
		if !strings.Contains(got, c.want) || c.want == "" && (strings.Contains(got, "matmul") || strings.Contains(got, "softmax")) {
			t.Errorf("message %q, want %q in it", got, c.want)
		}
	}
}

// TestPartsOfEnergyAddUp: the gate and the table count joules alike, as they count times.
func TestPartsOfEnergyAddUp(t *testing.T) {
	parts := func(mm float64) []bench.Entry {
		return []bench.Entry{{Name: "mm", Total: mm, Calls: 2}, {Name: "add", Total: 4, Calls: 1}}
	}
	in := matrix(1)
	h := &in.Hosts[0]
	h.Run.Metrics = append(h.Run.Metrics, bench.Metric{Name: "energy", Unit: "J", Better: bench.Lower})
	h.Run.Results = []bench.Result{{Cell: bench.Cell{Raw: "c"}, Outcome: bench.Passed, Samples: []bench.Sample{{Metric: "energy", Values: []float64{20}}},
		Breakdowns: []bench.Breakdown{{Title: bench.OperatorsTitle, Unit: "J", Entries: parts(16)}}}}
	in.Policy.Expected = map[string]bench.Expected{"c": {Cell: "c", Metric: "energy",
		References: []bench.Reference{{Name: bench.BaselineReference, Value: 10, Tolerance: 0.1}},
		Operators:  bench.ExpectedOperators{Entries: parts(6), TopN: 10, Tolerance: 0.1, Level: "warn"}}}
	in.Policy.Operators = map[string]gate.OperatorJudge{"": operators.Judge}
	h.Comparison = gate.Compare("", nil, h.Run, in.Policy)
	got := render(t, report.Markdown, report.New(in))
	for _, want := range []string{"| `mm` | 6.00 J | 16.00 J | +10.00 J |", "| **total** | 10.00 J | 20.00 J | +10.00 J |", "mostly `mm`: +10 J, 100 %"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
