package diff_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/compat"
	"github.com/accelgate/accelgate/internal/gate/diff"
)

// number makes a metric of "name direction unit", of which only the name must
// be there. A direction "info" makes it informational, "exact" exact. None
// makes it one without a value.
func number(text string, value float64, n ...int) diff.Metric {
	words := append(strings.Fields(text), "", "")
	m := diff.Metric{Metric: bench.Metric{Name: words[0], Better: bench.Direction(words[1]), Unit: words[2]}, Value: value, Has: true}
	switch words[1] {
	case "info":
		m.Better, m.Informational = bench.Lower, true
	case "exact":
		m.Better, m.Exact = "", true
	}
	if len(n) > 0 {
		m.N = n[0]
	}
	return m
}

func none(name string) diff.Metric {
	m := number(name, 5)
	m.Has = false
	return m
}

func sideCell(id string, metrics ...diff.Metric) diff.Cell {
	return diff.Cell{ID: id, Metrics: metrics}
}

func side(cells ...diff.Cell) diff.Document { return diff.Document{Cells: cells} }

// TestDiffRules judges one metric of one cell: verdict, relative change, whether
// a strict policy fails, and a part of the reason.
func TestDiffRules(t *testing.T) {
	t.Parallel()
	inf, nan := math.Inf(1), math.NaN()
	for _, test := range []struct {
		name     string
		old, new diff.Metric
		want     string // verdict, relative change, "fails"
		reason   string
	}{
		{"equal", number("a lower", 5), number("a lower", 5), "no_change 0", ""},
		{"exactly the tolerance", number("a lower", 100), number("a lower", 102), "no_change 0.02", ""},
		{"the same in binary fractions", number("a lower", 1), number("a lower", 1.02), "no_change 0.02", ""},
		{"beyond the tolerance", number("a lower", 100), number("a lower", 102.01), "regression 0.0201 fails", ""},
		{"lower is better", number("a lower", 100), number("a lower", 90), "improvement -0.1", ""},
		{"higher is better", number("a higher", 100), number("a higher", 90), "regression -0.1 fails", ""},
		{"higher got better", number("a higher", 100), number("a higher", 110), "improvement 0.1", ""},
		{"a fraction of the size", number("a higher", -100), number("a higher", -90), "improvement 0.1", ""},
		{"growth from 0", number("a lower", 0), number("a lower", 1e-9), "regression none fails", "the baseline is 0"},
		{"minus zero", number("a lower", 0), number("a lower", math.Copysign(0, -1)), "no_change none", ""},
		{"below 0", number("a lower", 0), number("a lower", -1), "inconclusive none unjudged", "undefined"},
		{"higher from 0", number("a higher", 0), number("a higher", 1), "inconclusive none unjudged", "undefined"},
		{"no direction", number("a", 1), number("a", 2), "unknown 1 unjudged", "direction"},
		{"nonsense for a direction", number("a sideways", 1), number("a sideways", 2), "unknown 1 unjudged", "direction"},
		{"no direction, no change", number("a", 1), number("a", 1.01), "no_change 0.01", ""},
		{"one states the direction", number("a", 1), number("a lower", 2), "regression 1 fails", ""},
		{"informational", number("a info", 1), number("a info", 2), "unknown 1 unjudged", "informational"},
		{"informational, no change", number("a info", 1), number("a info", 1), "no_change 0 unjudged", ""},
		{"a candidate cannot excuse itself", number("a lower", 1), number("a info", 2), "regression 1 fails", ""},
		{"exact", number("a exact", 100), number("a exact", 101), "regression 0.01 fails", "must equal 100"},
		{"missing", number("a lower", 1), none("a"), "missing none fails", "measure it again"},
		{"missing without direction", number("a", 1), none("a"), "missing none fails", "measure it again"},
		{"missing, informational", number("a info", 1), none("a"), "missing none fails", "measure it again"},
		{"infinite is missing", number("a lower", 1), number("a lower", inf), "missing none fails", "measure it again"},
		{"new", none("a"), number("a lower", 1), "new none unjudged", "record it"},
		{"NaN is none", number("a lower", nan), number("a lower", 1), "new none unjudged", "record it"},
		{"none", none("a"), number("a lower", -inf), "no_change none unjudged", "neither"},
		{"other unit", number("a lower s", 1), number("a lower ms", 1), "inconclusive none fails", `"s"`},
		{"one states the unit", number("a lower s", 1), number("a lower", 1), "no_change 0", ""},
		{"other direction", number("a lower", 1), number("a higher", 1), "inconclusive none fails", "the candidate that higher is"},
		{"p99 of too few", number("t_p99_ms lower", 1, 368), number("t_p99_ms lower", 2, 367), "inconclusive 1 unjudged", "percentile of 367 requests"},
		{"p99 of too few got better", number("t_p99_ms lower", 2, 40), number("t_p99_ms lower", 1, 50), "inconclusive -0.5 unjudged", "percentile of 40 requests"},
		{"p99 of enough", number("t_p99_ms lower", 1, 368), number("t_p99_ms lower", 2, 368), "regression 1 fails", ""},
		{"p99 of an unknown number", number("t_p99_ms lower", 1), number("t_p99_ms lower", 2), "regression 1 fails", ""},
		{"p99 without change", number("t_p99_ms lower", 1, 4), number("t_p99_ms lower", 1, 4), "no_change 0", ""},
		{"fewer than half", number("a lower", 1, 100), number("a lower", 2, 49), "regression 1 fails", "rests on 49 measurements"},
		{"half", number("a lower", 1, 100), number("a lower", 1, 50), "no_change 0", ""},
		{"beyond all numbers", number("a higher", -math.MaxFloat64), number("a higher", math.MaxFloat64), "implausible none fails", "the sign changed"},
		{"the smallest number", number("a lower", 5e-324), number("a lower", 1), "implausible none fails", "changed by a factor of +Inf (limit 100)"},
		{"a negative time", number("t lower ms", 24.2), number("t lower ms", -5), "implausible -1.207 fails", "t is -5, and a time is not negative"},
		{"a negative informational time", number("t info ms", 24.2), number("t info ms", -5), "unknown -1.207 unjudged", "shown"},
		{"a hundred times as fast", number("a higher", 1), number("a higher", 100), "improvement 99", ""},
		{"more than that", number("a higher", 1), number("a higher", 101), "implausible 100 fails", "factor of 101"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			old, new := side(sideCell("c", test.old)), side(sideCell("c", test.new))
			strict := diff.Compare(old, new, diff.Policy{Tolerance: 0.02, Strict: true})
			row := strict.Rows[0]
			got := fmt.Sprintf("%s %s", row.Verdict, shortly(row.DeltaRel))
			if strict.Failed {
				word := " fails"
				if strings.Contains(strict.Refused, "nothing could be") && !strings.Contains(test.want, "fails") {
					word = " unjudged"
				}
				got += word
			}
			if got != test.want || !strings.Contains(row.Reason, test.reason) || test.reason == "" && row.Reason != "" {
				t.Errorf("got %q, reason %q; want %q, %q", got, row.Reason, test.want, test.reason)
			}
			if d := row.DeltaAbs; d != nil && *d == 0 && math.Signbit(*d) {
				t.Error("the change is minus zero")
			}
			if lax := diff.Compare(old, new, diff.Policy{Tolerance: 0.02}); lax.Failed {
				t.Error("fails without being strict")
			}
		})
	}
}

func shortly(x *float64) string {
	if x == nil {
		return "none"
	}
	return fmt.Sprintf("%.4g", *x)
}

// rows writes rows shortly: "cell metric verdict".
func rows(list []diff.Row) []string {
	var lines []string
	for _, r := range list {
		lines = append(lines, strings.Join(strings.Fields(fmt.Sprintf("%s %s %s", r.Cell, r.Metric, r.Verdict)), " "))
	}
	return lines
}

func TestDiffPairs(t *testing.T) {
	t.Parallel()
	a, b := number("a lower", 1), number("b lower", 1)
	for _, test := range []struct {
		name     string
		old, new diff.Document
		failed   bool
		want     []string
	}{
		{"union", side(sideCell("y", b, a), sideCell("x", a)), side(sideCell("x", a, b), sideCell("y", a, b)), false,
			[]string{"x a no_change", "x b new", "y a no_change", "y b no_change"}},
		{"cells that only one has", side(sideCell("x", a), sideCell("y", a)), side(sideCell("x", a), sideCell("z", a)), true,
			[]string{"x a no_change", "y a missing", "z a new"}},
		{"a cell without numbers that vanished", side(sideCell("x", a), sideCell("y"), sideCell("z", none("a"))), side(sideCell("x", a)), true,
			[]string{"x a no_change", "y missing", "z a missing"}},
		{"informational metrics of a cell that vanished", side(sideCell("x", a), sideCell("y", number("i info", 1))), side(sideCell("x", a)), true,
			[]string{"x a no_change", "y i missing"}},
		{"a cell that did not pass", side(sideCell("x", a, b)), side(sideCell("x")), true, []string{"x a missing", "x b missing"}},
		{"an envelope against a run", side(sideCell("", a)), side(sideCell("x", a)), false, []string{"x a no_change"}},
		{"the first of several counts", side(sideCell("x", a, number("a lower", 9))), side(sideCell("x", a)), false, []string{"x a no_change"}},
		{"nothing", side(), side(), true, nil},
		{"nothing in common", side(sideCell("x", a)), side(sideCell("y", b)), true, []string{"x a missing", "x b new"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := diff.Compare(test.old, test.new, diff.Policy{Strict: true})
			if diff := cmp.Diff(test.want, rows(got.Rows)); diff != "" || got.Failed != test.failed {
				t.Errorf("failed %t, want %t; rows (-want +got):\n%s", got.Failed, test.failed, diff)
			}
		})
	}
}

func TestDiffWithoutEvidenceIsRefused(t *testing.T) {
	t.Parallel()
	empty, inform := side(), side(sideCell("c", number("n info", 1)))
	for _, strict := range []bool{false, true} {
		if got := diff.Compare(empty, empty, diff.Policy{Strict: strict}); !strings.HasPrefix(got.Refused, "nothing could be compared: ") || got.Failed != strict {
			t.Errorf("strict %t: refused %q, failed %t", strict, got.Refused, got.Failed)
		}
		got := diff.Compare(inform, inform, diff.Policy{Strict: strict})
		if strings.HasPrefix(got.Refused, "nothing could be judged: ") != strict || got.Failed != strict {
			t.Errorf("strict %t: refused %q, failed %t", strict, got.Refused, got.Failed)
		}
	}
}

func TestDiffRanked(t *testing.T) {
	t.Parallel()
	old := side(sideCell("x", number("a lower", 10), number("b lower", 10), number("c lower", 10), number("d lower", 10),
		number("e lower", 10), number("f lower", 0), number("g lower", 10)), sideCell("w", number("z lower", 1)))
	new := side(sideCell("x", number("a lower", 10), number("b lower", 9), number("c lower", 11), number("d lower", 1),
		number("e lower", 20), number("f lower", 1)), sideCell("w", number("z lower", 1)))
	d := diff.Compare(old, new, diff.Policy{})
	want := []string{"x g missing", "x f regression", "x e regression", "x c regression", "x d improvement", "x b improvement",
		"w z no_change", "x a no_change"}
	if diff := cmp.Diff(want, rows(d.Ranked())); diff != "" {
		t.Errorf("our order (-want +got):\n%s", diff)
	}
	d = diff.Compare(old, new, diff.Policy{Compat: compat.InferenceBench})
	want = []string{"x e regression", "x c regression", "x f regression", "x d improvement", "x b improvement",
		"w z no_change", "x a no_change", "x g missing"}
	if diff := cmp.Diff(want, rows(d.Ranked())); diff != "" {
		t.Errorf("InferenceBench's order (-want +got):\n%s", diff)
	}
}

func TestDiffContext(t *testing.T) {
	t.Parallel()
	known := func(name, value string) diff.Fact { return diff.Fact{Name: name, Value: value} }
	unknown := func(name, value string) diff.Fact { return diff.Fact{Name: name, Value: value, Unknown: true} }
	facts := func(facts ...diff.Fact) []diff.Fact { return facts }
	for _, test := range []struct {
		name     string
		old, new []diff.Fact
		policy   map[string]gate.Level
		want     string // name, match, level
		refused  string
	}{
		{"same", facts(known("concurrency", "1")), facts(known("concurrency", "1")), nil, "concurrency true fail", ""},
		{"refused", facts(known("concurrency", "1")), facts(known("concurrency", "16")), nil, "concurrency false fail",
			`concurrency ("1", "16"): measure both alike, or compare all the same with --context concurrency=warn`},
		{"allowed", facts(known("concurrency", "1")), facts(known("concurrency", "16")), map[string]gate.Level{"concurrency": gate.Warn},
			"concurrency false warn", ""},
		{"warned of", facts(known("engine_version", "1")), facts(known("engine_version", "2")), nil, "engine_version false warn", ""},
		{"demanded", facts(known("engine_version", "1")), facts(known("engine_version", "2")), map[string]gate.Level{"engine_version": gate.Fail},
			"engine_version false fail", "--context engine_version=warn"},
		{"of no default", facts(known("moon", "full")), facts(known("moon", "new")), nil, "moon false warn", ""},
		{"not known on one side", facts(unknown("dataset_hash", "0000")), facts(known("dataset_hash", "e6e0")), nil, "dataset_hash false warn", ""},
		{"absent on one side", nil, facts(known("dataset_hash", "e6e0")), nil, "dataset_hash false warn", ""},
		{"demanded and not known", facts(known("dataset_hash", "e6e0")), nil, map[string]gate.Level{"dataset_hash": gate.Fail},
			"dataset_hash false fail", `("e6e0", not known)`},
		{"known on no side", facts(unknown("dataset_hash", "0")), facts(unknown("dataset_hash", "f")), nil, "dataset_hash true warn", ""},
		{"hostile", facts(known("mode", "\x1b[2J")), facts(known("mode", strings.Repeat("x", 1e6))), nil, "mode false fail", `("\x1b[2J", "xxxx`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			old, new := side(sideCell("c", number("a lower", 1))), side(sideCell("c", number("a lower", 1)))
			old.Context, new.Context = test.old, test.new
			d := diff.Compare(old, new, diff.Policy{Strict: true, Context: test.policy})
			c := d.Context[0]
			if got := fmt.Sprintf("%s %t %s", c.Name, c.Match, c.Level); got != test.want || len(d.Context) != 1 {
				t.Errorf("got %q of %d, want %q", got, len(d.Context), test.want)
			}
			if !strings.Contains(d.Refused, test.refused) || (d.Refused == "") != (test.refused == "") || len(d.Refused) > 1000 {
				t.Errorf("refused %.300q, want %q", d.Refused, test.refused)
			}
			if d.Failed != (test.refused != "") || len(d.Rows) != 1 || d.Rows[0].Verdict != diff.NoChange {
				t.Errorf("failed %t, rows %v", d.Failed, rows(d.Rows))
			}
		})
	}
}

func TestDiffShowsThatCellsDiffer(t *testing.T) {
	t.Parallel()
	a := number("a lower", 1)
	d := diff.Compare(side(sideCell("x", a)), side(sideCell("y", a)), diff.Policy{})
	want := []diff.ContextMatch{{Name: "cell", Baseline: "x", Candidate: "y", Level: gate.Warn}}
	if diff := cmp.Diff(want, d.Context); diff != "" {
		t.Errorf("context (-want +got):\n%s", diff)
	}
}

func TestDefaultContextIsACopy(t *testing.T) {
	t.Parallel()
	diff.DefaultContext()["concurrency"] = gate.Off
	for name, want := range map[string]gate.Level{"concurrency": gate.Fail, "dataset_hash": gate.Fail, "suite_version": gate.Fail, "model": gate.Fail} {
		if got := diff.DefaultContext()[name]; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// TestDiffSwapped: exactly compared, a regression seen from the other side is an
// improvement, and with a tolerance at least no regression.
func TestDiffSwapped(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	opposite := map[diff.Verdict]diff.Verdict{diff.Regression: diff.Improvement,
		diff.Improvement: diff.Regression, diff.NoChange: diff.NoChange, diff.Implausible: diff.Implausible}
	seen := map[diff.Verdict]int{}
	for range 20000 {
		name := []string{"a lower", "a higher"}[random.IntN(2)]
		a := number(name, float64(random.IntN(200)-100)+0.5)
		b := number(name, a.Value)
		if random.IntN(4) > 0 {
			b.Value = float64(random.IntN(200)-100) + random.Float64()/2 + 0.25
		}
		old, new := side(sideCell("c", a)), side(sideCell("c", b))
		there, back := diff.Compare(old, new, diff.Policy{}).Rows[0].Verdict, diff.Compare(new, old, diff.Policy{}).Rows[0].Verdict
		if opposite[there] != back {
			t.Fatalf("%s %v -> %v is %s, and back %s", name, a.Value, b.Value, there, back)
		}
		seen[there]++
		loose := diff.Policy{Tolerance: random.Float64()}
		there, back = diff.Compare(old, new, loose).Rows[0].Verdict, diff.Compare(new, old, loose).Rows[0].Verdict
		if there == back && there != diff.NoChange && there != diff.Implausible {
			t.Fatalf("%s %v -> %v with %v is %s, and back too", name, a.Value, b.Value, loose.Tolerance, there)
		}
	}
	for verdict := range opposite {
		if seen[verdict] < 1000 {
			t.Errorf("%s was seen %d times", verdict, seen[verdict])
		}
	}
}

// FuzzDiff compares what strangers say of one metric: no panic, each row is
// accounted for, no rows of ours hold what JSON cannot, and strict is never
// green where the metric got worse or vanished.
func FuzzDiff(f *testing.F) {
	f.Add("a", "a", 1.0, 2.0, 0.02, true, true, "lower", "", 0, 5, false)
	f.Add("ttft_p99_ms", "ttft_p99_ms", 0.0, math.Inf(1), 0.0, true, true, "higher", "lower", 400, -1, true)
	f.Add("", "b", math.NaN(), 5e-324, math.NaN(), false, true, "sideways", "higher", math.MinInt, math.MaxInt, true)
	f.Fuzz(func(t *testing.T, oldName, newName string, old, new, tolerance float64, oldHas, newHas bool, oldBetter, newBetter string, oldN, newN int, inform bool) {
		a := diff.Metric{Metric: bench.Metric{Name: oldName, Better: bench.Direction(oldBetter), Informational: inform}, Value: old, Has: oldHas, N: oldN}
		b := diff.Metric{Metric: bench.Metric{Name: newName, Better: bench.Direction(newBetter), Unit: oldName}, Value: new, Has: newHas, N: newN}
		baseline, candidate := side(sideCell(oldName, a)), side(sideCell(newName, b), sideCell(oldName, b, a))
		baseline.Context, candidate.Context = []diff.Fact{{Name: newName, Value: oldName}}, []diff.Fact{{Name: oldName, Value: newName, Unknown: inform}}
		for _, tool := range []compat.Tool{compat.None, compat.InferenceBench} {
			d := diff.Compare(baseline, candidate, diff.Policy{Tolerance: tolerance, Strict: true, Compat: tool})
			ranked := d.Ranked()
			if len(ranked) != len(d.Rows) {
				t.Fatalf("%d rows of %d are ranked", len(ranked), len(d.Rows))
			}
			for _, r := range d.Rows {
				checkDiffRow(t, r, d.Failed, tool, inform)
			}
			again := diff.Compare(baseline, candidate, diff.Policy{Tolerance: tolerance, Strict: true, Compat: tool})
			if !slices.Equal(rows(again.Ranked()), rows(ranked)) {
				t.Error("two diffs of the same differ")
			}
		}
	})
}

func checkDiffRow(t *testing.T, r diff.Row, failed bool, tool compat.Tool, inform bool) {
	t.Helper()
	if r.Verdict == "" {
		t.Errorf("no verdict: %+v", r)
	}
	if !failed && r.Verdict == diff.Regression {
		t.Errorf("a regression passes: %+v", r)
	}
	if tool != compat.None {
		return
	}
	if !failed && !inform && r.Verdict == diff.Missing {
		t.Errorf("what is missing passes: %+v", r)
	}
	for _, x := range []*float64{r.Baseline, r.Candidate, r.DeltaAbs, r.DeltaRel} {
		if x != nil && !bench.Finite(*x) {
			t.Errorf("a number that is none: %+v", r)
		}
	}
}
