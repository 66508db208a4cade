package flashinfer

import (
	"slices"

	"github.com/accelgate/accelgate/internal/text"
)

// baselines reports what leaves a definition without a score: nothing to measure, no baseline, or one that
// failed or was not measured.
func (l *linter) baselines() {
	if l.ds.partial {
		return
	}
	results := map[string][]*Trace{} // by solution, the last of each workload
	for _, t := range Last(l.ds.Traces) {
		results[t.Solution] = append(results[t.Solution], t)
	}
	// Without any solution of that author, ratios are over the definitions' references.
	scored := slices.ContainsFunc(l.ds.Solutions, func(s *Solution) bool { return s.Author == BaselineAuthor })
	for _, d := range l.ds.Definitions {
		if len(l.ds.WorkloadsOf(d.Name)) == 0 {
			l.warn(d.Place, "no-workload", "has no workload, so nothing is measured: add one")
		}
		var base *Solution
		for _, s := range l.ds.SolutionsOf(d.Name) {
			switch {
			case s.Author != BaselineAuthor:
				continue
			case base == nil:
				base = s
			default:
				l.note(s.Place, "baseline", "%s is the baseline of %s already: keep one of the two", quote(base.Name), quote(d.Name))
			}
			l.baseline(s, results[s.Name])
		}
		if base == nil && scored {
			l.warn(d.Place, "baseline", "has no solution of the author %s, so nothing is scored: add one", BaselineAuthor)
		}
	}
}

// baseline reports failures among the results of a baseline.
func (l *linter) baseline(s *Solution, results []*Trace) {
	if len(results) == 0 {
		l.warn(s.Place, "baseline", "has no trace, so nothing is scored: measure it with accelgate kernels run")
		return
	}
	var failed []*Trace
	for _, t := range results {
		if t.Evaluation != nil && t.Evaluation.Status != Passed {
			failed = append(failed, t)
		}
	}
	if len(failed) > 0 {
		l.warn(failed[0].Place, "baseline", "the baseline %s failed in %d of %s, this one by %s: repair it, and measure it again",
			quote(s.Name), len(failed), text.Plural(len(results), "result"), failed[0].Evaluation.Status)
	}
}
