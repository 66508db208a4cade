package action

import (
	"context"
	"errors"
	"strings"

	"github.com/accelgate/accelgate/internal/gate/policy"
	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/text"
)

// trigger is why the step judges: a run for a pull request is one of that, however it was
// started.
func (a *action) trigger(ctx context.Context) policy.Trigger {
	o := policy.Trigger{Event: a.event.Name}
	switch {
	case a.event.PullRequest != nil:
		o.Event = "pull_request"
		labels := map[string]error{}
		o.Labelled = func(label string, advisory bool) bool {
			set, known := labels[label]
			if !known {
				set = a.labelled(ctx, label)
				labels[label] = set
			}
			return set == nil || !advisory && !errors.Is(set, errUnlabelled)
		}
	case strings.HasPrefix(a.event.Ref, "refs/tags/"):
		o.Event = "tag"
	}
	return o
}

// errUnlabelled means that a pull request does not have a label.
var errUnlabelled = errors.New("the pull request does not have the label")

// labelled returns nil for a label that a user with write permission set. A label makes
// numbers advisory only then; it makes them required unless the pull request does not
// have it. What cannot be read, and a label that does not count, are warnings.
func (a *action) labelled(ctx context.Context, label string) error {
	err := errors.New("levels by the label " + text.OneLine(label) + " need a token and publish: true, by which labels are read")
	if a.in.publish && strings.TrimSpace(a.in.options.Secret) != "" {
		var set github.Labelled
		if set, err = a.readLabel(ctx, a.event.PullRequest.Number, label); err == nil && !set.Set {
			return errUnlabelled
		}
	}
	if err != nil {
		a.annotate(a.gh.Warning, "label "+text.OneLine(label), err.Error())
		a.warn(err)
		a.troubles = append(a.troubles, text.OneLine(err.Error()))
	}
	return err
}
