package action

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/report"
)

// rerunCause runs the jobs again that can change what is on the pull request: all of
// them where what was measured made the verdict, since the measuring jobs may have
// succeeded; the failed ones where the verdict was not published, or waits for a
// person or a baseline.
func (t talk) rerunCause(ctx context.Context) (string, error) {
	causes := map[int64]bool{} // whether the measurement made the verdict, by run
	for _, one := range t.all {
		run, measured, err := one.lastRun(ctx)
		if err != nil {
			return "", quoted(err)
		}
		if run != 0 { // configurations of one workflow have one
			causes[run] = causes[run] || measured
		}
	}
	if len(causes) == 0 {
		return "", errors.New("no run has been judged here yet: push, or start the workflow by hand")
	}
	var said []string
	for _, run := range slices.Sorted(maps.Keys(causes)) {
		again, what := t.client.RerunFailedJobs, "The failed jobs"
		if causes[run] {
			again, what = t.client.RerunAllJobs, "All jobs"
		}
		if err := again(ctx, t.repo, run); err != nil {
			return "", quoted(err)
		}
		said = append(said,
			fmt.Sprintf("%s of [run %d](%s/%s/actions/runs/%[2]d) run again.", what, run, t.event.ServerURL, t.event.Repository()))
	}
	return strings.Join(said, " "), nil
}

// measuredStates are the verdicts that only another measurement can change. After a
// skipped run no job has failed that could run again.
var measuredStates = []gate.Status{gate.StatusFailed, gate.StatusNoEvidence, gate.StatusUndecided, gate.StatusWarned, statusSkipped}

// lastRun returns the newest run that began a check on the head or wrote the
// comment, 0 if there is none, and whether its measurement made its verdict. A token
// that may not read checks leaves the comment.
func (t talk) lastRun(ctx context.Context) (run int64, measured bool, err error) {
	posted, err := t.findComment(ctx, t.client, t.repo, t.event.Comment.Issue)
	if err != nil {
		return 0, false, err
	}
	run = posted.Seq.Run
	measured = run != 0 && slices.Contains(measuredStates, gate.Status(posted.State))
	pull, err := t.client.GetPull(ctx, t.repo, t.event.Comment.Issue)
	if err != nil {
		return 0, false, err
	}
	if pull.Fork(t.repo) { // whose check may be of the fork's own run
		return run, measured, nil
	}
	check, err := t.client.FindCheck(ctx, t.repo, pull.HeadSHA, t.in.checkName)
	if err != nil {
		t.warn(err)
	} else if check.Seq.Run > run || check.Seq.Run == run && check.Seq.Attempt > posted.Seq.Attempt {
		open := check.Conclusion == "action_required" &&
			(report.TitleIs(check.Title, gate.StatusUndecided) || report.TitleIs(check.Title, gate.StatusNoEvidence))
		return check.Seq.Run, check.Conclusion == "failure" || check.Conclusion == "neutral" || open, nil
	}
	return run, measured, nil
}
