package selftest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/text"
)

const (
	// beyond is how far beyond its limit a slow-down is that must be found.
	beyond = 1.5
	// minInjected is the slow-down, in percent, where a limit is nearly 0.
	minInjected = 0.1
	// maxSlower is the largest slow-down that a gate may need: one that lets a
	// program be ten times slower has no limit.
	maxSlower = 10.0
	// maxJudged bounds the cells that are judged in all, over the copies of a run.
	maxJudged = 200_000
)

// slower judges copies of the run in which one cell, and then all cells, are
// slower.
func (t *experiment) slower() {
	if len(t.gated) == 0 {
		return
	}
	chosen := t.chosen()
	found := 0
	for _, one := range chosen {
		j, verdicts := t.judged(t.with(one.slow), t.ref)
		why := one.unfound(verdicts)
		if code := j.Exit(); why == "" && code != exit.GateFailed {
			why = fmt.Sprintf("%s, slower, ends in exit %d: %s", text.OneLine(one.cell), code, t.reasons(verdicts))
		}
		if why != "" {
			t.fail("%s", why)
			if len(t.failed) == maxNamed {
				break
			}
			continue
		}
		found++
	}
	if found == len(chosen) {
		t.prove("1.5 x the limit slower: %d of %s that are judged fail one at a time, each with its name, exit %d", found,
			text.Plural(len(t.gated), "cell"), exit.GateFailed)
	}
	t.slowerAtOnce()
}

// slowerAtOnce judges a copy of the run in which every cell is slower.
func (t *experiment) slowerAtOnce() {
	gated := make(map[string]*gated, len(t.gated))
	for i := range t.gated {
		gated[t.gated[i].cell] = &t.gated[i]
	}
	j, verdicts := t.judged(t.with(func(r *bench.Result, m func(string) *bench.Metric) {
		if g := gated[r.Cell.ID()]; g != nil {
			g.slow(r, m)
		}
	}), t.ref)
	named := 0
	for i := range verdicts {
		if v := &verdicts[i]; v.Blocks && v.Metric != "" {
			named++
		}
	}
	if j.Exit() != exit.GateFailed || named == 0 {
		t.fail("all cells slower by 1.5 x their limits end in exit %d: %s", j.Exit(), t.reasons(verdicts))
		return
	}
	t.prove("all of them slower at once: %s named, exit %d", text.Plural(named, "number"), j.Exit())
}

// chosen are the cells to judge one at a time: all, or, of very many, some at
// equal distances.
func (t *experiment) chosen() []gated {
	maximum := max(3, maxJudged/max(1, len(t.run.Results)))
	if len(t.gated) <= maximum {
		return t.gated
	}
	some := make([]gated, maximum)
	for i := range some {
		some[i] = t.gated[i*len(t.gated)/maximum]
	}
	return some
}

// with returns a copy of the run that change has gone over, cell by cell.
func (t *experiment) with(change func(*bench.Result, func(string) *bench.Metric)) *bench.Run {
	run := *t.run
	run.Results = slices.Clone(run.Results)
	for i := range run.Results {
		change(&run.Results[i], run.Metric)
	}
	return &run
}

// slow makes the judged metrics of one cell worse.
func (g *gated) slow(r *bench.Result, describe func(string) *bench.Metric) {
	if r.Cell.ID() != g.cell {
		return
	}
	r.Samples = slices.Clone(r.Samples)
	for i := range r.Samples {
		s := &r.Samples[i]
		limit, judged := g.metrics[s.Metric]
		if !judged {
			continue
		}
		better := bench.Lower // of a total that only case files describe
		if m := describe(s.Metric); m != nil {
			better = m.Better
		}
		by := worseBy(better, limit)
		s.Values = slices.Clone(s.Values)
		for k := range s.Values {
			s.Values[k] *= by
		}
		stderr, tested := s.StdErr()
		s.Estimates = nil
		for k := range s.Values {
			if tested { // a score stays as sure as it was
				s.Estimates = append(s.Estimates, bench.StdErrEstimate(s.Values[k], stderr))
			}
		}
		if s.Summary != nil {
			summary := *s.Summary
			summary.Median *= by
			s.Summary = &summary
		}
	}
}

// worseBy is the factor that makes a metric worse by 1.5 times its limit.
func worseBy(better bench.Direction, limit float64) float64 {
	change := max(beyond*limit, minInjected) / 100
	if better == bench.Lower {
		return min(1+change, maxSlower)
	}
	return max(1-change, 1/maxSlower)
}

// unfound returns how a slow-down of the cell was not found as it should be: each
// of its metrics by name, and nothing else. "" if it was.
func (g *gated) unfound(verdicts []gate.Verdict) string {
	blocked := map[string]bool{}
	for i := range verdicts {
		v := &verdicts[i]
		if !v.Blocks {
			continue
		}
		if v.Cell == "" && v.Metric != "" { // a budget or fit of cells, of which this is one
			continue
		}
		if v.Cell != g.cell {
			return fmt.Sprintf("where only %s is slower, another cell fails: %s: fix that first", text.OneLine(g.cell), described(v))
		}
		blocked[v.Metric] = blocked[v.Metric] || v.Finding == gate.Regressed || v.Finding == gate.Drifted || v.Finding == gate.Implausible
	}
	for i := range verdicts {
		v := &verdicts[i]
		if limit, judged := g.metrics[v.Metric]; judged && v.Cell == g.cell && !blocked[v.Metric] {
			return fmt.Sprintf("%s %s that is worse by %s does not fail (limit %.4g %%): %s", text.OneLine(g.cell), text.OneLine(v.Metric),
				injected(limit), limit, remedy(v, limit))
		}
	}
	return ""
}

func injected(limit float64) string {
	if beyond*limit/100 >= 1-1/maxSlower {
		return fmt.Sprintf("a factor of up to %v", maxSlower)
	}
	return fmt.Sprintf("%.4g %%", max(beyond*limit, minInjected))
}

// remedy is what keeps a slow-down from failing, and what to do.
func remedy(v *gate.Verdict, limit float64) string {
	if v.Finding == gate.Unchanged && beyond*limit/100 >= 1-1/maxSlower {
		return "lower policy.threshold"
	}
	if v.Reason != "" {
		return text.OneLine(v.Reason)
	}
	return fmt.Sprintf("it is %s: lower policy.threshold, or use policy.method: threshold", v.Finding)
}

// reasons are the first reasons of the verdicts, or what to change.
func (t *experiment) reasons(verdicts []gate.Verdict) string {
	var all []string
	for i := range verdicts {
		if verdicts[i].Reason != "" && len(all) < 3 {
			all = append(all, described(&verdicts[i]))
		}
	}
	if all == nil {
		return "the gate passed it: " + t.allows("lower policy.threshold")
	}
	return strings.Join(all, "; ")
}

// allows names what must change in a policy that lets through what this one finds by
// default; otherwise is the next step with any other policy.
func (t *experiment) allows(otherwise string) string {
	if t.policy.Compat.Rules().Statistics {
		return otherwise
	}
	return "policy.compat: " + string(t.policy.Compat) + " judges fewer things: remove it"
}

// missing judges copies of the run that lack a cell.
func (t *experiment) missing() {
	t.each("a missing cell", gate.Missing, func(id string) *bench.Run {
		run := *t.run
		run.Results = slices.DeleteFunc(slices.Clone(run.Results), func(r bench.Result) bool { return r.Cell.ID() == id })
		return &run
	})
}

// wrong judges copies of the run in which a cell gives a wrong answer.
func (t *experiment) wrong() {
	t.each("a wrong answer", gate.Incorrect, func(id string) *bench.Run {
		return t.with(func(r *bench.Result, _ func(string) *bench.Metric) {
			if r.Cell.ID() == id {
				r.Outcome, r.Reason, r.Output = bench.Incorrect, "selftest: a wrong answer", "wrong"
			}
		})
	})
}

// each judges a copy for each of the cells that passed, of which only that one
// is amiss.
func (t *experiment) each(what string, found gate.Finding, amiss func(id string) *bench.Run) {
	ids := t.passed()
	for _, id := range ids {
		run := amiss(id)
		if len(run.Results) == 0 {
			run.Results = []bench.Result{} // the last one: a run of nothing
		}
		j, verdicts := t.judged(run, t.ref)
		named := slices.ContainsFunc(verdicts, func(v gate.Verdict) bool { return v.Cell == id && v.Finding == found && v.Blocks })
		if !named || j.Exit() != exit.GateFailed {
			t.fail("%s (%s) ends in exit %d: %s", what, text.OneLine(id), j.Exit(), t.reasons(verdicts))
			return
		}
	}
	if len(ids) > 0 {
		t.prove("%s: %s one at a time, each with its name, exit %d", what, text.Plural(len(ids), "cell"), exit.GateFailed)
	}
}

// passed are the ids of cells that passed, not more than are to be judged.
func (t *experiment) passed() (ids []string) {
	maximum := max(3, maxJudged/max(1, len(t.run.Results)))
	for i := range t.run.Results {
		if r := &t.run.Results[i]; r.Outcome == bench.Passed && r.Caveat == "" && len(ids) < maximum {
			ids = append(ids, r.Cell.ID())
		}
	}
	return ids
}
