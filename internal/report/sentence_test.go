package report_test

import (
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/report"
)

// judgedCell is a metric that was compared, with what was found for certain.
func judgedCell(cell string, found gate.Finding) gate.Verdict {
	return gate.Verdict{Cell: cell, Metric: "tps", Finding: found, Blocks: blocks(found), Old: 100, New: 80, Delta: -20,
		Evidence: gate.Evidence{Method: "threshold", Limit: 10, OldN: 1, NewN: 1}}
}

func whole(cell string, found gate.Finding) gate.Verdict {
	v := gate.Verdict{Cell: cell, Finding: found, Blocks: blocks(found), Evidence: gate.Evidence{Method: gate.MethodOutcome}}
	if found == gate.Skipped {
		v.Outcome = bench.Skipped
	}
	return v
}

// blocks says what the gate does of a finding that is certain and not excused.
func blocks(found gate.Finding) bool {
	p := gate.DefaultPolicy()
	return p.Blocks(found, gate.Certain, gate.NotExcused)
}

// undecided makes a verdict one that more evidence may change.
func undecided(v gate.Verdict, by gate.Decider) gate.Verdict {
	v.Blocks, v.DecidedBy = false, by
	return v
}

// excused makes a verdict one that does not block for a reason.
func excused(v gate.Verdict, e gate.Excuse) gate.Verdict {
	v.Blocks, v.Excuse = false, &e
	return v
}

// known is a failure that the baseline has as well.
func known(cell string, found gate.Finding) gate.Verdict {
	return excused(whole(cell, found), gate.Excuse{Kind: gate.KnownFailure, Source: "baseline"})
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
	fine := judgedCell("fine", gate.Unchanged)
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
			if v[i].Evidence.Method == "outcome" && (v[i].Finding == gate.Crashed || v[i].Finding == gate.Incorrect) {
				c.Passed--
			}
		}
		return c
	}
	check("Passed: 1 cell is right and it is not slower than the baseline allows (limit 10 %, 1 number compared)", p, verdicts(1, fine))
	check("Passed: 2 cells are right and the one cell whose speed was judged is not slower than the baseline allows (limit 10 %, 1 number compared)",
		p, verdicts(2, fine, whole("new", gate.Untracked)))
	check("Warning: 1 cell is known to fail; 1 of 2 cells is right, 1 fails as the baseline records, and the one cell whose speed was judged is not slower than the baseline allows (limit 10 %, 1 number compared)",
		p, verdicts(2, fine, known("known", gate.Crashed)))
	check("Passed: 1 cell is right and no speed was compared", p, verdicts(1, whole("plain", gate.Unchanged)))

	same := judgedCell("same", gate.Unchanged)
	same.Evidence = gate.Evidence{Method: "digest"}
	check("Passed: 1 cell is right and no artifact has changed", p, verdicts(1, same))
	check("Passed: 2 cells are right, the one cell whose speed was judged is not slower than the baseline allows (limit 10 %, 1 number compared) and no artifact of 1 has changed", p, verdicts(2, fine, same))

	// Numbers that must be equal were compared, too.
	equal := judgedCell("equal", gate.Unchanged)
	equal.Evidence, equal.Reference = gate.Evidence{Method: "exact"}, "baseline"
	another := equal
	another.Cell = "another"
	tokens := another
	tokens.Reference = "baselines/baseline-desk.json" // of a metric without a description
	plain := whole("plain", gate.Unchanged)
	check("Passed: 1 cell is right and it is equal to the recorded time", p, verdicts(1, equal))
	check("Passed: 2 cells are right and all are equal to the recorded times", p, verdicts(2, equal, another))
	check("Passed: 2 cells are right and all are equal to what is recorded", p, verdicts(2, equal, tokens))
	check("Passed: 2 cells are right and 1 is equal to the recorded time", p, verdicts(2, equal, plain))
	check("Passed: 3 cells are right and 2 are equal to the recorded times", p, verdicts(1, equal), verdicts(2, another, plain))
	check("Passed: 2 cells are right, the one cell whose speed was judged is not slower than the baseline allows (limit 10 %, 2 numbers compared) and 1 is equal to the recorded time",
		p, verdicts(2, equal, fine))
	check("Warning: 1 cell is known to fail; 2 of 3 cells are right, 1 fails as the baseline records, the one cell whose speed was judged is not slower than the baseline allows (limit 10 %, 2 numbers compared) and 1 is equal to the recorded time",
		p, verdicts(3, equal, fine, known("known", gate.Crashed)))
	unequal := tokens
	unequal.Finding, unequal.Blocks = gate.Incorrect, true
	check("Failed: 2 of 2 cells differ in a metric that must be equal, on 2 of 2 hosts", p, verdicts(1, unequal), verdicts(1, unequal))

	// A cell is counted once, in its worst class.
	check("Failed: 1 of 2 cells gives a wrong answer", p, verdicts(2, fine, whole("bad", gate.Incorrect)))
	check("Failed: 1 of 2 cells is missing or lacks a metric and 1 is slower", p, verdicts(2,
		judgedCell("a", gate.Regressed), gate.Verdict{Cell: "a", Metric: "x", Finding: gate.Missing, Blocks: true},
		judgedCell("b", gate.Regressed), judgedCell("b", gate.Regressed)))
	check("Failed: 1 of 3 cells gives a wrong answer, 1 fails to run and 1 is slower, on 2 of 3 hosts", p,
		verdicts(2, whole("a", gate.Crashed), whole("b", gate.Incorrect)),
		verdicts(1, judgedCell("a", gate.Regressed)), verdicts(0, whole("a", gate.Skipped)))
	check("Failed: 1 of 1 cell cannot be compared", p, verdicts(1, whole("a", gate.Incomparable)))
	loss := whole("a", gate.Unchanged)
	loss.DecidedBy, loss.Blocks = gate.ByMorePairs, true // policy.inconclusive: fail
	check("Failed: 1 of 1 cell may be slower", p, verdicts(1, loss))
	check("Undecided: 1 loss beyond its limit is undecided; 2 cells are right and the one cell whose speed was judged is not slower than the baseline allows (limit 10 %, 2 numbers compared)",
		p, verdicts(2, undecided(judgedCell("a", gate.Regressed), gate.ByMorePairs), fine))
	check("Warning: 1 cell is waived; 2 cells are right and no other judged cell is slower than the baseline allows (limit 10 %, 2 numbers compared)",
		p, verdicts(2, excused(judgedCell("a", gate.Regressed), gate.Excuse{Kind: gate.WaivedExcuse}), fine))

	check("No evidence: not one cell passed (1 fails as the baseline records, 0 skipped, 0 left out by a filter). Next: accelgate run --list", p,
		verdicts(1, known("known", gate.Crashed)))
	check("No evidence: no host has reported a run. Next: accelgate run --list", p)
	check("No evidence: not one cell was measured on 1 of 2 hosts (1 skipped, 7 left out by a filter). Next: accelgate run --list", p,
		verdicts(1, fine), gate.Comparison{Unselected: 7, Verdicts: []gate.Verdict{whole("a", gate.Skipped)}})

	other := gate.Comparison{Measured: 2, Passed: 1, Unjudged: "another\nmachine", Verdicts: []gate.Verdict{
		whole("a", gate.Untracked), known("b", gate.Incorrect)}}
	check(`Warning: 1 cell is known to fail; 1 of 2 cells is right, 1 fails as the baseline records; speed was NOT judged: another ⏎ machine. Next: accelgate baseline update --reason "new host"`, p, other)
	p.RequireBaseline = true
	other.Verdicts = other.Verdicts[:1]
	other.Measured = 1
	check(`Action required: answers are right (1 cell); speed was NOT judged: another ⏎ machine. Next: accelgate baseline update --reason "new host"`, p, other)

	// No cell is called right whose answer was not checked.
	const allowed = "slower than the baseline allows (limit 10 %, 1 number compared)"
	p.RequireBaseline = false
	failing := verdicts(3, fine, whole("new", gate.Untracked), known("known", gate.Crashed))
	answers = 0
	check("Passed: 1 cell ran (no answer was checked) and it is not "+allowed, p, verdicts(1, fine))
	check("Warning: 1 cell is known to fail; 2 of 3 cells passed (no answer was checked), 1 fails as the baseline records, and the one cell whose speed was judged is not "+allowed, p, failing)
	check(`Warning: 1 cell ran (no answer was checked); speed was NOT judged: another ⏎ machine. Next: accelgate baseline update --reason "new host"`, p, other)
	answers = 1
	check("Warning: 1 cell is known to fail; 2 of 3 cells passed, 1 answer was checked and is right, 1 fails as the baseline records, and the one cell whose speed was judged is not "+allowed, p, failing)
	answers = 2
	other.Measured, other.Passed = 3, 3
	check(`Warning: 3 cells ran, 2 answers were checked and are right; speed was NOT judged: another ⏎ machine. Next: accelgate baseline update --reason "new host"`, p, other)
	check("Passed: 3 cells ran, 2 answers were checked and are right, and no speed was compared", p, verdicts(3, whole("plain", gate.Unchanged)))
}
