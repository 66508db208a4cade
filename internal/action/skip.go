package action

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/github"
)

// skipLabel is the label by which a maintainer takes a pull request out of the gate.
const skipLabel = "accelgate-skip"

// skipped reports whether the pull request has the label and who set it may push, and
// says so on GitHub. Whatever keeps that from being known leaves the gate as it is.
func (a *action) skipped(ctx context.Context) bool {
	pr := a.event.PullRequest
	if pr == nil || !a.in.publish || a.in.update || !slices.Contains(pr.Labels, skipLabel) {
		return false
	}
	set, why := a.whoSkips(ctx, pr.Number)
	if why != "" {
		a.annotate(a.gh.Warning, "label "+skipLabel+" ignored", why)
		return false
	}
	a.publishSkip(ctx, set)
	return true
}

// whoSkips returns who set the label, or why it does not count.
func (a *action) whoSkips(ctx context.Context, number int) (set github.Labelled, why string) {
	client, repo, err := a.client()
	if err == nil {
		set, err = client.LabelledBy(ctx, repo, number, skipLabel)
	}
	if err != nil {
		return set, err.Error()
	}
	if set.Login == "" {
		return set, "it was removed meanwhile: run the job again if it is to count"
	}
	may, err := client.Permission(ctx, repo, set.Login)
	switch {
	case err != nil:
		return set, err.Error()
	case !may.CanWrite():
		return set, fmt.Sprintf("%s set it and has no write permission: ask a maintainer to remove it and to set it", set.Login)
	}
	return set, ""
}

// publishSkip shows who took the pull request out of the gate. Its check is neutral:
// green would say that something was measured.
func (a *action) publishSkip(ctx context.Context, set github.Labelled) {
	by := fmt.Sprintf("%s set the label %s on %s", set.Login, skipLabel, set.At.UTC().Format(time.DateOnly))
	body := fmt.Sprintf("### Skipped\n\n%s set the label `%s` on %s, so nothing was judged on `%s`, and nothing will be on later commits.\n\n"+
		"To have the pull request judged, remove the label and run the job again.\n",
		quoteCode(set.Login), skipLabel, set.At.UTC().Format("2006-01-02 15:04 UTC"), a.commit())
	fmt.Fprintf(a.Stdout, "Skipped: %s. Remove the label and run the job again to have it judged.\n", by)
	_, err := a.gh.Summary(body)
	a.warn(err)
	a.output("verdict", "skipped")
	a.post(ctx, posting{title: "skipped: " + by, body: func(limit int) string { return body[:min(len(body), limit)] }, status: gate.StatusInconclusive,
		conclusion: "neutral"})
}
