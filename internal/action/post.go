package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/text"
)

// posting is what a step says on GitHub.
type posting struct {
	title       string
	body        github.Ladder
	status      gate.Status
	conclusion  string
	annotations []github.Annotation
}

// publish writes the verdict.
func (a *action) publish(ctx context.Context, j judge.Judged) {
	title, note := j.Report.Title(), a.note()
	body := func(limit int) string {
		limit -= len(note)
		const minimum = 1000 // of a whole report
		if limit < minimum {
			return note + text.Cut("### "+title+"\n", limit)
		}
		md, err := judge.Rendered(report.MarkdownLimit(limit), j.Report)
		if err != nil {
			return note + text.Cut(quoteCode(err.Error()), limit)
		}
		return note + md
	}
	a.post(ctx, posting{title: title, body: body, status: j.Decision.Status, conclusion: gate.Outcomes[j.Decision.Status].Conclusion,
		annotations: a.annotations(j)})
}

// note precedes the report where it would be taken for more than it is.
func (a *action) note() string {
	if !strings.HasSuffix(a.in.checkName, someCells) {
		return ""
	}
	return "> These are some cells, which a comment asked for. The comment and the check of the whole run have the result of all cells.\n\n"
}

// publishError replaces what an earlier attempt said of the same commit: a red
// step beside a green check would be read as green.
func (a *action) publishError(ctx context.Context, cause error) {
	var body strings.Builder // an indented block is the one that no text can end
	fmt.Fprintf(&body, "### ⛔ %s\n\n", couldNotJudge)
	for line := range strings.Lines(text.Cut(cause.Error(), 20_000)) {
		fmt.Fprintf(&body, "    %s\n", text.Clean(strings.TrimSuffix(line, "\n")))
	}
	a.post(ctx, posting{title: couldNotJudge, body: func(limit int) string { return text.Cut(body.String(), limit) },
		status: gate.StatusNoEvidence, conclusion: "failure"})
}

// without returns the posting without a secret. What stands for it is shorter.
func (p posting) without(secret measure.Secrets) posting {
	body, annotations := p.body, slices.Clone(p.annotations)
	p.title, p.body = secret.Hide(p.title), func(limit int) string { return secret.Hide(body(limit)) }
	for i := range annotations {
		annotations[i].Title, annotations[i].Message = secret.Hide(annotations[i].Title), secret.Hide(annotations[i].Message)
	}
	p.annotations = annotations
	return p
}

// post writes the comment, on a pull request, and the check run, of a job that was
// cancelled as well: its check may be in progress. Whatever GitHub refuses is a
// warning with its reason. A verdict that is nowhere is remembered in a.lost.
func (a *action) post(ctx context.Context, p posting) {
	ctx = context.WithoutCancel(ctx)
	p = p.without(a.token)
	client, repo, err := a.client()
	if err != nil {
		a.reportAPIError(err)
		a.lost = err
		return
	}
	link, commented := a.event.RunURL, false
	if pr := a.event.PullRequest; pr != nil && a.in.comment != commentOff {
		url, err := a.comment(ctx, client, repo, pr.Number, p)
		a.reportAPIError(err)
		link, commented = cmp.Or(url, link), url != "" || err == nil
	}
	check := github.Check{Name: a.in.checkName, Conclusion: p.conclusion, Title: text.Cut(p.title, 250), Body: p.body, DetailsURL: link,
		Seq: a.seq(), Annotations: p.annotations}
	var run github.CheckRun
	if a.check == nil {
		run, err = client.UpsertCheck(ctx, repo, a.commit(), check)
	} else {
		run, err = a.check.Complete(ctx, check)
	}
	a.output("check-url", run.URL)
	a.reportAPIError(err)
	if err != nil && !(commented && errors.Is(err, github.ErrForbidden) && !errors.Is(err, github.ErrCheckStays)) {
		a.lost = err
	}
}

// unpublished returns why a verdict that should stand on GitHub does not. The
// token of a fork's pull request may only read, which its workflow cannot change.
func (a *action) unpublished() error {
	if pr := a.event.PullRequest; a.lost == nil || pr != nil && pr.Fork && a.event.Run == nil {
		return nil
	}
	return fmt.Errorf("the verdict was not published: %w; run the job again, or set the input publish to false where another job posts",
		a.lost)
}

// comment writes the comment where its mode wants one, and returns its address.
func (a *action) comment(ctx context.Context, client *github.Client, repo github.Repo, number int, p posting) (string, error) {
	wanted, err := a.wantsComment(ctx, client, repo, number, p.status)
	if err != nil || !wanted {
		return "", err
	}
	post := github.Post{Seq: a.seq(), Body: p.body, State: string(p.status)}
	if a.in.notify {
		post.Fresh = func(before string) bool { return gravity[p.status] > gravity[gate.Status(before)] }
	}
	comment, err := a.writeComment(ctx, client, repo, number, post)
	if comment.Change == github.Outdated {
		a.warn(fmt.Errorf(
			"the comment %s stays as it is: it is of run %s, and this is run %s; if there is no such run, delete that comment and run the job again",
			comment.URL, comment.Newer, a.seq()))
	}
	if comment.URL != "" {
		a.output("comment-url", comment.URL)
	}
	return comment.URL, err
}

// gravity orders verdicts; one that is not known is below all.
var gravity = map[gate.Status]int{
	gate.StatusPassed:         1,
	gate.StatusWarned:         2,
	gate.StatusUndecided:      3,
	gate.StatusActionRequired: 3,
	gate.StatusNoEvidence:     3,
	gate.StatusFailed:         4,
}

// wantsComment reports whether the mode asks for a comment. One that is there is never
// left to say what is no longer true.
func (a *action) wantsComment(ctx context.Context, client *github.Client, repo github.Repo, number int, status gate.Status) (bool, error) {
	if a.in.comment == commentAlways || status != gate.StatusPassed && a.in.comment == commentOnFailure {
		return true, nil
	}
	posted, err := a.findComment(ctx, client, repo, number)
	switch {
	case err != nil:
		return false, err
	case posted.ID == 0:
		return status != gate.StatusPassed, nil
	}
	return a.in.comment == commentOnFailure || posted.State != string(status), nil
}

// begin shows that the check is in progress. A token that may not write checks
// is told of once, when the verdict is there.
func (a *action) begin(ctx context.Context) {
	client, repo, err := a.client()
	if err != nil {
		return
	}
	a.check, err = client.BeginCheck(ctx, repo, a.commit(), github.Check{Name: a.in.checkName, Title: "in progress",
		Summary: "accelgate measures and judges; this text is replaced by the verdict.", DetailsURL: a.event.RunURL, Seq: a.seq()})
	if err != nil && !errors.Is(err, github.ErrForbidden) {
		a.warn(err)
	}
}

// tokenRefused is the error of a token that GitHub does not take any more. Nothing that
// follows could be published, and what could not be read is not for a person to approve.
func (a *action) tokenRefused() error {
	if a.api == nil || !a.in.publish || !a.api.TokenRefused() {
		return nil
	}
	return fmt.Errorf("GitHub refuses the token (401): it is wrong, revoked or expired: %w: "+
		"pass one that is valid until the job ends, for example github-token: ${{ github.token }}", github.ErrForbidden)
}

// end completes a check that nothing has completed: the job was cancelled.
func (a *action) end(ctx context.Context) {
	if a.check == nil {
		return
	}
	const text = "The job ended before it could judge. Run it again; its log shows how far it came."
	_, err := a.check.Complete(ctx, github.Check{Conclusion: "cancelled", Title: "cancelled", Summary: text, DetailsURL: a.event.RunURL})
	a.warn(err)
}

// seq returns what this run publishes from what others did. What a stranger's
// workflow measured is of that workflow's run.
func (a *action) seq() github.Seq {
	if run := a.event.Run; run != nil {
		return github.Seq{Run: run.ID, Attempt: run.Attempt}
	}
	return github.Seq{Run: a.event.RunID, Attempt: a.event.RunAttempt}
}

// annotations puts each finding at the line of the configuration where its suite
// begins.
func (a *action) annotations(j judge.Judged) (list []github.Annotation) {
	path, err := a.repositoryPath(a.in.options.Config)
	if err != nil {
		return nil // the configuration is elsewhere, where nothing can be annotated
	}
	for _, f := range j.Report.Findings(maxAnnotations) {
		list = append(list, github.Annotation{Path: filepath.ToSlash(path), Line: f.Line, Level: annotationLevels[f.Severity()],
			Title: strings.Join(strings.Fields(f.Host+" "+f.Cell+" "+f.Metric), " "), Message: f.Message})
	}
	return list
}

// annotationLevels are the words of the checks API.
var annotationLevels = map[report.Severity]string{report.Error: "failure", report.Warning: "warning", report.Notice: "notice"}
