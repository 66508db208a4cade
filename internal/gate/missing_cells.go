package gate

import (
	"fmt"
	"maps"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
)

// absent reports the cells that the run does not have: those that a limit left out, the
// reference's, then those of suites' files. unselected counts the reference's
// cells that a filter left out.
func absent(in *inputs) (verdicts []Verdict, unselected int) {
	left := leftOut(in)
	if !in.tool.Complete {
		return left, 0
	}
	filtered, reported := make(map[string]bool, len(in.run.Unselected)), make(map[string]bool, len(left))
	for _, id := range in.run.Unselected {
		filtered[id] = true
	}
	for i := range left {
		reported[left[i].Cell] = true
	}
	here := func(id string) bool { return in.has(id) || reported[id] }
	gone, unselected := vanished(in, here, filtered)
	for i := range gone {
		reported[gone[i].Cell] = true
	}
	return slices.Concat(left, gone, unmeasured(in, here, filtered)), unselected
}

// leftOut reports the cells that a limit kept from being measured.
func leftOut(in *inputs) (verdicts []Verdict) {
	declared := map[string]bool{}
	for _, out := range in.run.LeftOut {
		if out.Cell == "" || in.has(out.Cell) || declared[out.Cell] {
			continue
		}
		declared[out.Cell] = true
		v := Verdict{Cell: out.Cell, Finding: Skipped, Reason: out.Reason}
		if in.required(out.Cell) {
			v.Finding, v.Excuse = Missing, &Excuse{Kind: LeftOut, Source: in.policy.leftOutSource(), Why: out.Reason}
		}
		verdicts = append(verdicts, v)
	}
	return verdicts
}

// vanished reports the cells of the reference that the run neither has nor declares.
func vanished(in *inputs, here func(id string) bool, filtered map[string]bool) (verdicts []Verdict, unselected int) {
	if in.ref == nil {
		return nil, 0
	}
	for i := range in.ref.Results {
		r := &in.ref.Results[i]
		id := r.Cell.ID()
		switch {
		case here(id):
		case filtered[id]:
			unselected++
		default:
			v := Verdict{Cell: id, Finding: Missing, Reason: whyVanished(in.run, r.Cell.Suite)}
			if r.Outcome != bench.Passed {
				v.Excuse = in.knownFailure()
			}
			verdicts = append(verdicts, v)
		}
	}
	return verdicts, unselected
}

// leftOutSource is what lets a limit leave cells out.
func (p *Policy) leftOutSource() string {
	if p.LeftOut == LeftOutWarn {
		return "policy.left_out: warn"
	}
	return "limits"
}

// knownFailure excuses what the reference records as failing.
func (in *inputs) knownFailure() *Excuse { return &Excuse{Kind: KnownFailure, Source: in.reference} }

// whyVanished gives the remedy for a cell of a suite that the run lacks. The suite may be another configuration's, which
// shares the folder of baselines; that excuses nothing, because a suite that was deleted looks the same.
func whyVanished(run *bench.Run, suite string) string {
	of := func(r bench.Result) bool { return r.Cell.Suite == suite }
	if suite == "" || slices.ContainsFunc(run.Results, of) {
		return "the baseline has this cell and the run does not; if it was removed on purpose, prune it from the baseline"
	}
	return fmt.Sprintf(
		"the baseline has this cell of suite %q and the run has no cell of that suite; if another configuration records into this folder, "+
			"give each configuration a folder of its own with the key baselines; if the suite was removed on purpose, prune the cell from the baseline",
		suite)
}

// unmeasured reports the cells of suites' files that the run does not have.
func unmeasured(in *inputs, here func(id string) bool, filtered map[string]bool) (verdicts []Verdict) {
	for _, id := range slices.Sorted(maps.Keys(in.policy.Expected)) {
		if !here(id) && !filtered[id] {
			verdicts = append(verdicts, Verdict{Cell: id, Finding: Missing,
				Reason: "the suite has this case and the run does not: measure it, or remove it from the suite if it is not needed any more"})
		}
	}
	return verdicts
}

// required reports whether a cell must be in the run: it passed in the reference,
// or the reference does not have it and a suite's files do.
func (in *inputs) required(id string) bool {
	if !in.tool.Complete {
		return false
	}
	if ref := in.byID[id]; ref != nil {
		return ref.Outcome == bench.Passed
	}
	_, ok := in.policy.Expected[id]
	return ok
}
