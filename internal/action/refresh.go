package action

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/atomicfile"
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/command/record"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/text"
)

// refreshBranch is the branch of refresh pull requests into the default branch.
// Those into another one get their own, so that neither resets the other's.
const refreshBranch = "accelgate/refresh-baselines"

// maxRuns bounds how many run documents a folder may hold.
const maxRuns = 256

// saveReport writes the report beside run.json and returns its path.
func (a *action) saveReport(g collected, name, text string) (string, error) {
	path := a.in.options.OutPath(g.file, name)
	return path, atomicfile.Write(path, []byte(text))
}

// saveJSON writes the report for programs, and sets the outputs that lead there:
// its path, and how many verdicts there are of each class.
func (a *action) saveJSON(g collected, j judge.Judged) error {
	all, err := judge.Rendered(report.JSON, j.Report)
	if err != nil {
		return err
	}
	path, err := a.saveReport(g, "report.json", a.token.Hide(all))
	if err != nil {
		return err
	}
	counts, err := json.Marshal(j.Decision.Counts)
	if err != nil {
		return fmt.Errorf("count the verdicts: %w: report this", err)
	}
	a.output("json", path)
	a.output("counts", string(counts))
	return nil
}

// client returns the step's client, of which there is one: it knows whose the
// token is, and when it wrote last.
func (a *action) client() (*github.Client, github.Repo, error) {
	repo, err := github.ParseRepo(a.event.Repository())
	if err != nil || a.api != nil {
		return a.api, repo, err
	}
	a.api, err = github.New(github.Options{
		BaseURL:   a.event.APIURL,
		Token:     a.in.options.Secret,
		Author:    a.in.author,
		UserAgent: "accelgate/" + measure.Version(),
		Sleep:     a.reach.Sleep,
		Transport: a.reach.Transport,
		Now:       a.Now,
		Wait:      a.in.apiWait,
	})
	return a.api, repo, err
}

// reportAPIError reports what GitHub did not take, where people look.
func (a *action) reportAPIError(err error) {
	if err != nil {
		a.annotate(a.gh.Warning, "accelgate could not publish", err.Error())
		a.warn(err)
	}
}

// refused reports whether the verdict forbids new baselines: the run is no evidence, or the gate failed without the input force.
func (a *action) refused(what string, j judge.Judged) bool {
	switch {
	case j.Decision.Status == gate.StatusNoEvidence:
		a.annotate(a.gh.Error, what, "nothing of the run is evidence; fix it, and start the workflow again")
	case j.Decision.Status == gate.StatusFailed && !a.in.force:
		a.annotate(a.gh.Error, what, "the gate did not pass; fix it, or record the cells that passed: start the workflow with its input force, "+
			"which the file of the workflow must have (docs/github.md)")
	default:
		return false
	}
	return true
}

// refresh proposes new baselines in one pull request for all hosts.
func (a *action) refresh(ctx context.Context, g collected, j judge.Judged) (int, error) {
	if a.refused("baselines not refreshed", j) {
		return j.Exit(), nil
	}
	files := map[string][]byte{}
	body := report.Refresh{Tool: measure.Tool(), Reason: a.in.reason, Revision: a.commit(), Links: report.Links{Run: a.event.RunURL}}
	for _, label := range g.absent {
		why := fmt.Sprintf("host %s delivered no run.json: look at the log of its job", label)
		a.annotate(a.gh.Warning, "baseline not refreshed", why)
		body.Left = append(body.Left, why)
	}
	for i, run := range g.runs {
		path, err := a.repositoryPath(g.refs[i].Path)
		if err != nil {
			return 0, err
		}
		before, err := os.ReadFile(g.refs[i].Path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, fmt.Errorf("read the baseline: %w: make it readable, or remove it", err)
		}
		recorded, err := record.Record(a.Env, g.refs[i], run, a.in.reason, a.in.all)
		if err != nil {
			return 0, err
		}
		if files[path], err = os.ReadFile(g.refs[i].Path); err != nil {
			return 0, fmt.Errorf("read the baseline that was just saved: %w: run it again", err)
		}
		if recorded.Unchanged() { // an earlier proposal may have other numbers for it
			files[path] = before
		}
		body.Hosts = append(body.Hosts, recorded.ForReport(run.Host.Label, path))
		body.Left = append(body.Left, refusedCells(run)...)
	}
	if err := a.refreshCaseFiles(g, files, &body); err != nil {
		return 0, err
	}
	if !a.in.publish {
		return exit.Passed, nil
	}
	return a.propose(ctx, body, files)
}

// refreshCaseFiles renews the case files of what was measured, and adds them to
// the files of the pull request.
func (a *action) refreshCaseFiles(g collected, files map[string][]byte, body *report.Refresh) error {
	edits, err := record.EditCases(a.Env, g.file, g.runs, record.CaseEdits{
		Reason:   a.in.reason,
		Revision: a.commit(),
		Initial:  a.in.initial,
		Only:     a.in.options.Only,
		Policy:   record.UnlessForced(a.in.force, &g.policy),
	})
	if err != nil {
		return err
	}
	body.Left = append(body.Left, edits.Left...)
	for _, f := range edits.Files {
		path, err := a.repositoryPath(f.Path)
		if err != nil {
			return err
		}
		files[path] = f.Data
		if f.Name != "" {
			body.Files = append(body.Files, f.ForReport(path))
		}
	}
	return edits.Save()
}

// propose opens or updates the pull request. Unlike a comment it is what was
// asked for, so a refusal is an error.
func (a *action) propose(ctx context.Context, body report.Refresh, files map[string][]byte) (int, error) {
	client, repo, err := a.client()
	if err != nil {
		return 0, err
	}
	a.warn(client.PreflightRefresh(ctx, repo)) // which says what setting to turn on
	title, _ := report.Changes(body)
	describe := func(others []github.Proposed, complete bool) (string, github.Ladder) {
		all := withOthers(body, others)
		title, _ := report.Changes(all)
		return a.token.Hide(title), after(otherHostFiles(others, complete), changes(all, client.FromActionsToken(), a.token.Hide))
	}
	base, branch := a.refreshInto()
	pull, err := client.OpenRefresh(ctx, repo,
		github.Refresh{Base: base, Branch: branch, Title: a.token.Hide(title), Body: changes(body, client.FromActionsToken(), a.token.Hide),
			Message: a.token.Hide(title) + "\n\n" + forCommit(a.in.reason), Files: files, Describe: describe,
			Labels: a.in.labels, Reviewers: a.in.reviewers})
	if err != nil {
		return 0, err
	}
	for _, w := range pull.Warnings {
		a.reportAPIError(errors.New(w))
	}
	if pull.Number == 0 {
		fmt.Fprintln(a.Stdout, "The baselines are already what was measured; there is nothing to propose.")
		return exit.Passed, nil
	}
	a.output("pull-request", strconv.Itoa(pull.Number))
	_, err = fmt.Fprintf(a.Stdout, "Pull request #%d %s: %s\n", pull.Number, pull.Change, pull.URL)
	return exit.Passed, err
}

// inert takes from a text what GitHub acts on in a commit message: mentions,
// references, which close issues, and markers that skip workflows.
var inert = strings.NewReplacer(
	"@", "@ ", "#", "# ",
	"GH-", "GH - ", "gh-", "gh - ",
	"://", ": //", "[", "( ", "]", " )",
	"skip-checks:", "skip-checks :",
)

// forCommit is a text of somebody's as one line of a commit message.
func forCommit(reason string) string { return inert.Replace(text.OneLine(reason)) }

// changes is the body of the pull request, in ever smaller sizes.
func changes(body report.Refresh, actionsToken bool, hide func(string) string) github.Ladder {
	note := ""
	if actionsToken {
		note = "\n> This pull request was made with the workflow's own token, for which GitHub starts no workflows: close and reopen it to have it checked, " +
			"or set `github-token` to that of a GitHub App or a person.\n"
	}
	return func(limit int) string {
		body.Limit = max(limit-len(note), 0)
		_, changes := report.Changes(body)
		changes = hide(changes)
		if len(changes)+len(note) > limit {
			return text.Cut(changes, limit)
		}
		return changes + note
	}
}

// refusedCells returns what is not recorded, and why.
func refusedCells(run *bench.Run) (left []string) {
	for i := range run.Results {
		r := &run.Results[i]
		switch {
		case r.Outcome == bench.Passed && r.Caveat != "":
			left = append(left, fmt.Sprintf("%s on %s: its numbers are doubtful: %s", r.Cell.ID(), run.Host.Label, r.Caveat))
		case r.Outcome != bench.Passed && r.Outcome != bench.Skipped:
			left = append(left, fmt.Sprintf("%s on %s: %s: %s", r.Cell.ID(), run.Host.Label, r.Outcome, r.Reason))
		}
	}
	return left
}

// refreshInto returns the branch that the event ran on, or "" for the default
// branch, and the branch to propose changes to it on.
func (a *action) refreshInto() (base, branch string) {
	branch, into := refreshBranch, "-into-"
	if a.in.name != "" { // which has no "."
		branch, into = refreshBranch+"."+a.in.name, ".into-"
	}
	base, ok := strings.CutPrefix(a.event.Ref, "refs/heads/")
	if !ok || base == a.event.DefaultBranch {
		return "", branch
	}
	return base, branch + into + base
}

// repositoryPath turns a file's path into one from the repository's root.
func (a *action) repositoryPath(path string) (string, error) {
	root := cmp.Or(a.Getenv("GITHUB_WORKSPACE"), ".")
	root, err := filepath.Abs(root)
	if err != nil {
		return "", err
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", err
	}
	rel, ok := within(root, path)
	if !ok {
		return "", exit.Usagef("the baseline %s is outside of the repository %s: set baselines in the configuration to a folder inside",
			path, root)
	}
	return filepath.ToSlash(rel), nil
}

// within returns a path from a folder above it, which may be named by way of links. Links
// below the folder stay: a repository may hold some.
func within(root, path string) (rel string, ok bool) {
	rel, err := filepath.Rel(root, path)
	if err == nil && filepath.IsLocal(rel) {
		return rel, true
	}
	there, err := os.Stat(root)
	if err != nil {
		return "", false
	}
	for above := path; above != filepath.Dir(above); above = filepath.Dir(above) {
		if info, err := os.Stat(above); err == nil && os.SameFile(info, there) {
			rel, err = filepath.Rel(above, path)
			ok = err == nil // the topmost one counts: a link in the repository may lead to its root
		}
	}
	return rel, ok
}
