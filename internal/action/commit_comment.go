package action

import (
	"context"
	"fmt"

	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/judge"
)

// commentOnCommits comments on the commits with which losses began that this run confirms, on
// the default branch. A history names commits as it likes, so a name that is no full id is
// replaced by the commit of this run. A refusal is a warning.
func (a *action) commentOnCommits(ctx context.Context, j judge.Judged) {
	began := j.Report.Onset()
	if !a.in.commitComment || !a.in.publish || len(began) == 0 || !a.follows(ctx) {
		return
	}
	client, repo, err := a.client()
	if err != nil {
		a.reportAPIError(err)
		return
	}
	for _, b := range began {
		commit := b.Suspected
		if !fullCommit.MatchString(commit) {
			commit = a.commit()
		}
		text := a.token.Hide(b.Text + fmt.Sprintf("\n[The run that confirms it](%s)\n", a.event.RunURL))
		url, err := client.CommentOnCommit(ctx, repo, commit, a.in.checkName+" "+b.Host, github.Fixed(text))
		a.reportAPIError(err)
		if err == nil {
			fmt.Fprintln(a.Stdout, "Comment on the commit:", url)
		}
	}
}
