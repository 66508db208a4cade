package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/report"
)

// The values of policy.config_changes; "" is changesBlock.
const (
	changesBlock       = "block"
	changesOtherPerson = "other-person"
	changesWarn        = "warn"
)

// checkedChanges compares what the pull request says of judging with the branch that
// it goes into, and sets policy.Unapproved where a person has to approve the
// difference and has not. It is nil where there is no difference. What cannot be
// compared counts as a difference, but without a token nothing is published that
// could be green.
func (a *action) checkedChanges(ctx context.Context, file *config.File, policy *gate.Policy) *report.CheckedChanges {
	if a.event.PullRequest == nil || !a.in.publish || a.in.update || strings.TrimSpace(a.in.options.Secret) == "" {
		return nil
	}
	changes, rule, err := a.compareChecked(ctx, file)
	if err != nil {
		changes.Notes = append(changes.Notes, "the pull request's configuration could not be compared: "+err.Error())
	}
	if changes.Len() == 0 {
		a.output("config-changed", "false")
		return nil
	}
	a.output("config-changed", "true")
	a.settleChanges(ctx, changes, cmp.Or(rule, changesBlock), policy)
	return changes
}

// compareChecked returns the differences, and policy.config_changes of the base.
func (a *action) compareChecked(ctx context.Context, file *config.File) (*report.CheckedChanges, string, error) {
	changes, rule := &report.CheckedChanges{}, file.Policy.ConfigChanges
	if a.in.runs == "" {
		rule = "" // what is checked out here is the pull request's own: the base's rule is read below
	}
	name, err := a.repositoryPath(a.in.options.Config)
	if err != nil {
		return changes, rule, nil // the pull request cannot change what is not in the repository
	}
	client, repo, err := a.client()
	if err != nil {
		return changes, rule, err
	}
	pr := a.event.PullRequest
	found, err := client.Compare(ctx, repo, cmp.Or(pr.BaseRef, pr.BaseSHA), a.commit())
	if err != nil {
		return changes, rule, err
	}
	if !found.Complete {
		changes.Notes = append(changes.Notes,
			"the pull request changes 300 files or more, of which GitHub lists 300: look for baselines, waivers and case files among them")
	}
	changes.Files = a.checkedFiles(file, found.Paths)
	names := append(a.targets(a.in.options.Config), name)
	if found.Complete && !slices.ContainsFunc(found.Paths, func(p string) bool { return slices.Contains(names, p) }) {
		return changes, file.Policy.ConfigChanges, nil
	}
	old, err := client.FileAt(ctx, repo, found.MergeBase, name, measure.MaxConfig)
	if err != nil {
		return changes, rule, err
	}
	if base, parseErr := config.Parse(name, old); a.in.runs == "" && parseErr == nil {
		rule = base.Policy.ConfigChanges
	}
	now, err := client.FileAt(ctx, repo, a.commit(), name, measure.MaxConfig)
	if err != nil {
		return changes, rule, err
	}
	switch {
	case now == nil && old == nil:
		return changes, rule, fmt.Errorf("GitHub has %s neither at %s nor at %s: check that the token may read it, and run the job again",
			name, found.MergeBase, a.commit())
	case now == nil:
		changes.Files = append(changes.Files, name+" (removed)")
		return changes, rule, nil
	}
	list, err := config.Differences(name, old, now)
	for _, d := range list {
		changes.Values = append(changes.Values, report.ChangedValue(d))
	}
	return changes, rule, err
}

// settleChanges decides what the changes need.
func (a *action) settleChanges(ctx context.Context, changes *report.CheckedChanges, rule string, policy *gate.Policy) {
	if rule == changesWarn {
		changes.State = "policy.config_changes is warn: no approval is needed"
		return
	}
	by, err := a.approvedBy(ctx, rule)
	if err != nil {
		changes.Notes = append(changes.Notes, "approvals could not be read: "+err.Error())
	}
	if by.Author != "" {
		changes.State = fmt.Sprintf("Approved for this commit by %s at %s", quoteCode(by.Author),
			by.Created.UTC().Format("2006-01-02 15:04 UTC"))
		return
	}
	who := "A user with write permission"
	if rule == changesOtherPerson {
		who = "A user with write permission, other than the author of the pull request,"
	}
	policy.Unapproved, changes.State, changes.Approve = true, who+" can approve them for this commit by the comment", approveCommand+" "+a.commit()
}

const approveCommand = chatPrefix + " " + approveVerb

// approvedBy finds the comment that approves the changes for the commit under test.
// The comment is the record: no workflow of the pull request can write one in the
// name of a user. Its author must have write permission now.
func (a *action) approvedBy(ctx context.Context, rule string) (github.Remark, error) {
	client, repo, err := a.client()
	if err != nil {
		return github.Remark{}, err
	}
	number := a.event.PullRequest.Number
	remarks, err := client.Remarks(ctx, repo, number)
	remarks = slices.DeleteFunc(remarks, func(r github.Remark) bool { return !a.approves(r) })
	if err != nil || len(remarks) == 0 {
		return github.Remark{}, err
	}
	pull, err := client.GetPull(ctx, repo, number)
	if err != nil {
		return github.Remark{}, err
	}
	asked := map[string]bool{}
	for _, r := range remarks {
		if asked[r.Author] || rule == changesOtherPerson && strings.EqualFold(r.Author, pull.Author) {
			continue
		}
		asked[r.Author] = true
		if may, err := client.Permission(ctx, repo, r.Author); err != nil {
			return github.Remark{}, err
		} else if may.CanWrite() {
			return r, nil
		}
	}
	return github.Remark{}, nil
}

// approves reports whether a comment is an approval of the commit under test.
func (a *action) approves(r github.Remark) bool {
	words, ok, err := parseCommand(r.Body)
	return ok && err == nil && isApproval(words, a.commit())
}

// approveConfig checks an approval, which the comment itself is, and starts the job
// that judges again.
func (t talk) approveConfig(ctx context.Context, words []string) (string, error) {
	pull, err := t.client.GetPull(ctx, t.repo, t.event.Comment.Issue)
	switch {
	case err != nil:
		return "", quoted(err)
	case !isApproval(words, pull.HeadSHA):
		return "", fmt.Errorf("approve-config takes the full id of the head, which is `%[1]s`: read its changes, then write `%[2]s %[1]s`",
			pull.HeadSHA, approveCommand)
	}
	for _, one := range t.all {
		file, err := one.fileOfBase(ctx, pull)
		if err != nil {
			return "", quoted(err)
		}
		if file.Policy.ConfigChanges == changesOtherPerson && strings.EqualFold(pull.Author, t.event.Comment.Author) {
			return "", errors.New("policy.config_changes is other-person: ask another user with write permission to write this command")
		}
	}
	done := fmt.Sprintf("The changed configuration of `%s` is approved.", pull.HeadSHA)
	if text, err := t.rerun(ctx, nil); err == nil {
		return done + " " + text, nil
	}
	return done + " No run could be started again: write `/accelgate rerun` when the run has ended.", nil
}
