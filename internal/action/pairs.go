package action

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/text"
)

// checkBases marks runs as no evidence whose pairs have a base outside the history of the target. Whoever provides
// the base of a pull request decides what it is compared with.
func (a *action) checkBases(ctx context.Context, runs []*bench.Run) {
	if !a.in.publish {
		return // the job that judges looks, and has a token
	}
	known := map[string]string{} // why a base does not count, "" if it does
	for _, run := range runs {
		if !inPairs(run) || run.Context[bench.NoEvidence] != "" {
			continue
		}
		if _, done := known[run.Base]; !done {
			known[run.Base] = a.notOfTarget(ctx, run.Base)
		}
		if why := known[run.Base]; why != "" {
			run.Context = maps.Clone(run.Context)
			if run.Context == nil {
				run.Context = map[string]string{}
			}
			run.Context[bench.NoEvidence] = text.Cut(why, bench.MaxFact)
		}
	}
}

// inPairs reports whether a run has numbers of a base, or says so.
func inPairs(run *bench.Run) bool {
	return run.Base != "" || slices.ContainsFunc(run.Results, func(r bench.Result) bool {
		return slices.ContainsFunc(r.Samples, func(s bench.Sample) bool { return len(s.Base) > 0 })
	})
}

// notOfTarget returns the reason why a base is not in the history of the target; "" if it is.
func (a *action) notOfTarget(ctx context.Context, base string) string {
	target := a.goesInto()
	if !fullCommit.MatchString(base) {
		return fmt.Sprintf("the base of its pairs is %q, which is not the id of a commit: "+
			"check out one of %s with git and give its folder as the input ab", text.OneLine(cmp.Or(base, "unknown")), text.OneLine(target))
	}
	commit := measure.ShortRevision(base)
	switch ok, err := a.ancestor(ctx, base, target); {
	case err != nil:
		return fmt.Sprintf("whether %s has the base of its pairs, %s, could not be read: %s",
			text.OneLine(target), commit, text.OneLine(err.Error()))
	case !ok:
		return fmt.Sprintf(
			"the base of its pairs is %s, and %s has no such commit: check out the commit that the pull request is merged into", commit,
			text.OneLine(target))
	}
	return ""
}

// goesInto is the branch or commit that the code under test goes into. Without one, the code's own history counts.
func (a *action) goesInto() string {
	switch {
	case a.event.Group != nil:
		return a.event.Group.BaseSHA
	case a.event.PullRequest != nil:
		return a.event.PullRequest.BaseRef
	case a.event.Run != nil:
		return a.event.DefaultBranch
	}
	return a.commit()
}
