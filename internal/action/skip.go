package action

import (
	"context"
	"fmt"
	"strings"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/text"
)

// skipLabel is the label by which a user with write permission takes a pull request
// out of the gate.
const skipLabel = "accelgate-skip"

// statusSkipped is the state of a pull request that was not judged, in the comment and
// in the output. It is no status of the gate, which decided nothing.
const statusSkipped gate.Status = "skipped"

// skippedBy returns who set the label, if the pull request has it now and that user
// may push now; By is "" otherwise. A label that does not count, or that cannot be
// read, is a warning of the report, and the gate judges.
func (a *action) skippedBy(ctx context.Context) github.Labelled {
	pr := a.event.PullRequest
	if pr == nil || !a.in.publish || a.in.update || strings.TrimSpace(a.in.options.Secret) == "" ||
		strings.HasSuffix(a.in.checkName, someCells) {
		return github.Labelled{}
	}
	set, err := a.readLabel(ctx, pr.Number, skipLabel)
	if err == nil {
		return set
	}
	a.annotate(a.gh.Warning, "label "+skipLabel, err.Error())
	a.warn(err)
	a.troubles = append(a.troubles, text.OneLine(err.Error()))
	return github.Labelled{}
}

// readLabel returns who set a label that a pull request has now, if that user may push
// now; the error says why a label does not count.
func (a *action) readLabel(ctx context.Context, number int, label string) (github.Labelled, error) {
	const again = "remove it, and let a user with write permission set it"
	client, repo, err := a.client()
	if err != nil {
		return github.Labelled{}, err
	}
	set, err := client.Label(ctx, repo, number, label)
	if err != nil || !set.Set {
		return github.Labelled{}, err
	}
	if set.By == "" {
		return github.Labelled{}, fmt.Errorf("the label %s is ignored: GitHub names no user who set it; %s", text.OneLine(label), again)
	}
	may, err := client.Permission(ctx, repo, set.By)
	if err != nil {
		return github.Labelled{}, err
	}
	if !may.CanWrite() {
		return github.Labelled{}, fmt.Errorf("the label %s is ignored: %s set it and has no write permission; %s", text.OneLine(label),
			text.OneLine(set.By), again)
	}
	return set, nil
}

// skip shows who took the pull request out of the gate. Its check is neutral: green
// would say that something was measured.
func (a *action) skip(ctx context.Context, set github.Labelled) (int, error) {
	title := fmt.Sprintf("skipped by @%s: label %s", text.OneLine(set.By), skipLabel)
	at, by := set.At.UTC().Format("2006-01-02 15:04 UTC"), quoteCode("@"+set.By)
	body := a.token.Hide(fmt.Sprintf(
		"### ⏭️ Skipped by %s\n\n%[1]s set the label `%s` at %s, so nothing was judged on `%s`. The label counts for later commits too.\n\n"+
			"To have the pull request judged, remove the label and write `/accelgate rerun`.\n", by, skipLabel, at, a.commit()))
	fmt.Fprintf(a.Stdout, "%s (set at %s); nothing was judged\n", title, at)
	a.annotate(a.gh.Warning, "accelgate skipped", title)
	_, err := a.gh.Summary(body)
	a.warn(err)
	a.output("verdict", string(statusSkipped))
	a.post(ctx,
		posting{title: title, body: func(limit int) string { return text.Cut(body, limit) }, status: statusSkipped, conclusion: "neutral"})
	return a.orUnpublished(exit.Passed), nil
}
