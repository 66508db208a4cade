package report_test

import (
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/report"
)

// judgedCell is a metric that was compared and found to be of a class.
func judgedCell(cell string, class gate.Class, level gate.Level) gate.Verdict {
	return gate.Verdict{Cell: cell, Metric: "tps", Class: class, Level: level, Old: 100, New: 80, Delta: -20,
		Evidence: gate.Evidence{Method: "threshold", Limit: 10, OldN: 1, NewN: 1}}
}

func whole(cell string, class gate.Class, level gate.Level) gate.Verdict {
	return gate.Verdict{Cell: cell, Class: class, Level: level, Evidence: gate.Evidence{Method: "outcome"}}
}

// checking is a run of cells that passed, with that many checked answers.
func checking(answers int) *bench.Run {
	run := &bench.Run{}
	for range answers {
		run.Results = append(run.Results, bench.Result{Outcome: bench.Passed, Output: "Paris"})
	}
	return run
}

func TestTitle(t *testing.T) {
	fine := judgedCell("fine", gate.Unchanged, gate.Off)
	answers := -1 // checked on each host; all that passed if below 0
	check := func(want string, p gate.Policy, comparisons ...gate.Comparison) {
		t.Helper()
		in := report.Input{Policy: p, Decision: gate.Decide(comparisons, p)}
		for _, c := range comparisons {
			n := answers
			if n < 0 {
				n = c.Passed
			}
			in.Hosts = append(in.Hosts, report.HostInput{Run: checking(n), Reference: &bench.Run{}, Comparison: c})
		}
		if got := report.New(in).Title(); got != want {
			t.Errorf("Title() =\n%s\nwant\n%s", got, want)
		}
	}
	p := gate.DefaultPolicy()
	verdicts := func(measured int, v ...gate.Verdict) gate.Comparison {
		c := gate.Comparison{Measured: measured, Passed: measured, Verdicts: v}
		for i := range v {
			if v[i].Evidence.Method == "outcome" && (v[i].Class == gate.RuntimeFailure || v[i].Class == gate.CorrectnessFailure) {
				c.Passed--
			}
		}
		return c
	}
	check("Passed: 1 cell is right and none is slower than the baseline allows (limit 10 %, 1 number compared)", p, verdicts(1, fine))
	check("Passed: 2 cells are right and none of the 1 whose speed was judged is slower than the baseline allows (limit 10 %, 1 number compared)",
		p, verdicts(2, fine, whole("new", gate.Untracked, gate.Warn)))
	check("Passed: 1 of 2 cells is right, 1 fails as the baseline records, and none of the 1 whose speed was judged is slower than the baseline allows (limit 10 %, 1 number compared)",
		p, verdicts(2, fine, whole("known", gate.RuntimeFailure, gate.Warn)))
	check("Passed: 1 cell is right and no speed was compared", p, verdicts(1, whole("plain", gate.Unchanged, gate.Off)))

	same := judgedCell("same", gate.Unchanged, gate.Off)
	same.Evidence = gate.Evidence{Method: "digest"}
	check("Passed: 1 cell is right and no artifact has changed", p, verdicts(1, same))
	check("Passed: 2 cells are right, none of the 1 whose speed was judged is slower than the baseline allows (limit 10 %, 1 number compared) and no artifact of 1 has changed", p, verdicts(2, fine, same))

	// Numbers that must be equal were compared, too.
	equal := judgedCell("equal", gate.Unchanged, gate.Off)
	equal.Evidence, equal.Reference = gate.Evidence{Method: "exact"}, "baseline"
	another := equal
	another.Cell = "another"
	tokens := another
	tokens.Reference = "baselines/baseline-desk.json" // of a metric without a description
	plain := whole("plain", gate.Unchanged, gate.Off)
	check("Passed: 1 cell is right and it is equal to the recorded time", p, verdicts(1, equal))
	check("Passed: 2 cells are right and all are equal to the recorded times", p, verdicts(2, equal, another))
	check("Passed: 2 cells are right and all are equal to what is recorded", p, verdicts(2, equal, tokens))
	check("Passed: 2 cells are right and 1 is equal to the recorded time", p, verdicts(2, equal, plain))
	check("Passed: 3 cells are right and 2 are equal to the recorded times", p, verdicts(1, equal), verdicts(2, another, plain))
	check("Passed: 2 cells are right, none of the 1 whose speed was judged is slower than the baseline allows (limit 10 %, 2 numbers compared) and 1 is equal to the recorded time",
		p, verdicts(2, equal, fine))
	check("Passed: 2 of 3 cells are right, 1 fails as the baseline records, none of the 1 whose speed was judged is slower than the baseline allows (limit 10 %, 2 numbers compared) and 1 is equal to the recorded time",
		p, verdicts(3, equal, fine, whole("known", gate.RuntimeFailure, gate.Warn)))
	unequal := tokens
	unequal.Class, unequal.Level = gate.CorrectnessFailure, gate.Fail
	check("Failed: 2 of 2 cells differ in a metric that must be equal, on 2 of 2 hosts", p, verdicts(1, unequal), verdicts(1, unequal))

	// A cell is counted once, in its worst class.
	check("Failed: 1 of 2 cells gives wrong answers", p, verdicts(2, fine, whole("bad", gate.CorrectnessFailure, gate.Fail)))
	check("Failed: 1 of 2 cells is missing or lacks a metric and 1 is slower", p, verdicts(2,
		judgedCell("a", gate.Regressed, gate.Fail), gate.Verdict{Cell: "a", Metric: "x", Class: gate.Missing, Level: gate.Fail},
		judgedCell("b", gate.Regressed, gate.Fail), judgedCell("b", gate.Regressed, gate.Fail)))
	check("Failed: 1 of 3 cells gives wrong answers, 1 fails to run and 1 is slower, on 2 of 3 hosts", p,
		verdicts(2, whole("a", gate.RuntimeFailure, gate.Fail), whole("b", gate.CorrectnessFailure, gate.Fail)),
		verdicts(1, judgedCell("a", gate.Regressed, gate.Fail)), verdicts(0, whole("a", gate.Skipped, gate.Off)))
	check("Failed: 1 of 1 cell cannot be judged", p, verdicts(1, whole("a", gate.Inconclusive, gate.Fail)))

	check("No evidence: not one cell passed (1 fails as the baseline records, 0 skipped, 0 left out by a filter). Next: accelgate run --list", p,
		verdicts(1, whole("known", gate.RuntimeFailure, gate.Warn)))
	check("No evidence: no host has reported a run. Next: accelgate run --list", p)
	check("No evidence: not one cell was measured on 1 of 2 hosts (1 skipped, 7 left out by a filter). Next: accelgate run --list", p,
		verdicts(1, fine), gate.Comparison{Unselected: 7, Verdicts: []gate.Verdict{whole("a", gate.Skipped, gate.Off)}})

	known := gate.Comparison{Measured: 2, Passed: 1, Unjudged: "another\nmachine", Verdicts: []gate.Verdict{
		whole("a", gate.Untracked, gate.Warn), whole("b", gate.CorrectnessFailure, gate.Warn)}}
	check(`1 of 2 cells is right, 1 fails as the baseline records; speed was NOT judged: another ⏎ machine. Next: accelgate baseline update --reason "new host"`, p, known)
	p.RequireBaseline = true
	known.Verdicts = known.Verdicts[:1]
	known.Measured = 1
	check(`Action required: answers are right (1 cell); speed was NOT judged: another ⏎ machine. Next: accelgate baseline update --reason "new host"`, p, known)

	// No cell is called right whose answer was not checked.
	const allowed = "slower than the baseline allows (limit 10 %, 1 number compared)"
	p.RequireBaseline = false
	failing := verdicts(3, fine, whole("new", gate.Untracked, gate.Warn), whole("known", gate.RuntimeFailure, gate.Warn))
	answers = 0
	check("Passed: 1 cell ran (no answer was checked) and none is "+allowed, p, verdicts(1, fine))
	check("Passed: 2 of 3 cells passed (no answer was checked), 1 fails as the baseline records, and none of the 1 whose speed was judged is "+allowed, p, failing)
	check(`1 cell ran (no answer was checked); speed was NOT judged: another ⏎ machine. Next: accelgate baseline update --reason "new host"`, p, known)
	answers = 1
	check("Passed: 2 of 3 cells passed, 1 answer was checked and is right, 1 fails as the baseline records, and none of the 1 whose speed was judged is "+allowed, p, failing)
	answers = 2
	known.Measured, known.Passed = 3, 3
	check(`3 cells ran, 2 answers were checked and are right; speed was NOT judged: another ⏎ machine. Next: accelgate baseline update --reason "new host"`, p, known)
	check("Passed: 3 cells ran, 2 answers were checked and are right, and no speed was compared", p, verdicts(3, whole("plain", gate.Unchanged, gate.Off)))
}
