package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/atomicfile"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/report"
)

// refreshBranch is the branch of refresh pull requests into the default branch.
// Those into another one get their own, so that neither resets the other's.
const refreshBranch = "accelgate/refresh-baselines"

// maxRuns bounds how many run documents a folder may hold.
const maxRuns = 256

// findRuns lists the run.json files below dir, sorted. Links are not followed:
// the folder comes from artifacts.
func findRuns(dir string) ([]string, error) {
	var paths []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Type().IsRegular() && d.Name() == "run.json" {
			paths = append(paths, path)
		}
		if len(paths) > maxRuns {
			return fmt.Errorf("holds more than %d run.json files: give the folder of one workflow run", maxRuns)
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // no job delivered anything, so nothing was downloaded
	}
	if err != nil {
		return nil, fmt.Errorf("read runs %s: %w", dir, err)
	}
	slices.Sort(paths)
	return paths, nil
}

// saveReport writes the report beside run.json and returns its path.
func (a *action) saveReport(g gathered, md string) (string, error) {
	path := a.in.options.outPath(g.file, "report.md")
	return path, atomicfile.Write(path, []byte(md))
}

func (a *action) client() (*github.Client, github.Repo, error) {
	repo, err := github.ParseRepo(a.event.Repository())
	if err != nil {
		return nil, repo, err
	}
	client, err := github.New(github.Options{BaseURL: a.event.APIURL, Token: a.in.options.secret, UserAgent: "accelgate/" + version()})
	return client, repo, err
}

// conclusions of check runs. What needs a person is action_required: neutral
// and skipped would satisfy a required check.
var conclusions = map[gate.Status]string{
	gate.StatusPassed:         "success",
	gate.StatusFailed:         "failure",
	gate.StatusActionRequired: "action_required",
	gate.StatusNoEvidence:     "action_required",
}

// publish writes the verdict.
func (a *action) publish(ctx context.Context, j judged) {
	room := min(report.MarkdownBytes, github.CommentRoom(a.in.checkName))
	body, err := text(report.MarkdownLimit(room), j.report)
	if err != nil {
		a.refused(err)
		return
	}
	a.post(ctx, j.report.Title(), body, conclusions[j.decision.Status])
}

// publishError replaces what an earlier attempt said of the same commit: a red
// step beside a green check would be read as green.
func (a *action) publishError(ctx context.Context, cause error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	a.warn(a.gh.SetOutput("verdict", string(gate.StatusNoEvidence)))
	var body strings.Builder // an indented block is the one that no text can end
	fmt.Fprintf(&body, "### ⛔ %s\n\n", couldNotJudge)
	for line := range strings.Lines(clipLines(cause.Error())) {
		fmt.Fprintf(&body, "    %s\n", printable(strings.TrimSuffix(line, "\n")))
	}
	a.post(ctx, couldNotJudge, body.String(), "failure")
}

// post writes the comment, on a pull request, and the check run. Whatever
// GitHub refuses is a warning with its reason.
func (a *action) post(ctx context.Context, title, body, conclusion string) {
	client, repo, err := a.client()
	if err != nil {
		a.refused(err)
		return
	}
	link := a.event.RunURL
	if pr := a.event.PullRequest; pr != nil {
		comment, err := client.UpsertComment(ctx, repo, pr.Number, a.in.checkName, body)
		a.refused(err)
		if err == nil {
			link = comment.URL
			a.warn(a.gh.SetOutput("comment-url", comment.URL))
		}
	}
	_, err = client.UpsertCheck(ctx, repo, a.commit(), github.Check{Name: a.in.checkName, Conclusion: conclusion,
		Title: title, Summary: body, DetailsURL: link})
	a.refused(err)
}

// clipLines keeps an error short enough for a comment.
func clipLines(s string) string {
	const most = 20_000
	return s[:min(len(s), most)]
}

// refused reports what GitHub did not take, where people look.
func (a *action) refused(err error) {
	if err != nil {
		a.annotate(a.gh.Warning, "accelgate could not publish", err.Error())
		a.warn(err)
	}
}

// refresh proposes new baselines in one pull request for all hosts.
func (a *action) refresh(ctx context.Context, g gathered, j judged) (int, error) {
	if j.decision.Status == gate.StatusNoEvidence || j.decision.Status == gate.StatusFailed && !a.in.force {
		a.annotate(a.gh.Error, "baselines not refreshed", "the gate did not pass; mend it, or set the input force to record the cells that passed")
		return j.exit(), nil
	}
	files := map[string][]byte{}
	body := report.Refresh{Tool: tool(), Reason: a.in.reason, Revision: a.commit(), Links: report.Links{Run: a.event.RunURL}}
	for i, run := range g.runs {
		path, err := a.repositoryPath(g.refs[i].path)
		if err != nil {
			return 0, err
		}
		recorded, err := a.record(g.refs[i], run, a.in.reason)
		if err != nil {
			return 0, err
		}
		if files[path], err = os.ReadFile(g.refs[i].path); err != nil {
			return 0, fmt.Errorf("read the baseline that was just saved: %w", err)
		}
		body.Hosts = append(body.Hosts, recorded.forReport(run.Host.Label, path))
	}
	if err := a.refreshCaseFiles(g, files, &body); err != nil {
		return 0, err
	}
	if !a.in.publish {
		return ExitPassed, nil
	}
	return a.propose(ctx, body, files)
}

// refreshCaseFiles renews the case files of what was measured, and adds them to
// the files of the pull request.
func (a *action) refreshCaseFiles(g gathered, files map[string][]byte, body *report.Refresh) error {
	edits, err := a.editCases(g.file, g.runs, caseEdits{reason: a.in.reason, revision: a.commit(), initial: a.in.initial, only: a.in.options.only})
	if err != nil {
		return err
	}
	body.Left = edits.left
	for _, f := range edits.files {
		path, err := a.repositoryPath(f.path)
		if err != nil {
			return err
		}
		files[path] = f.data
		if f.name != "" {
			body.Cases = append(body.Cases, f.forReport(path))
		}
	}
	return edits.save()
}

// propose opens or updates the pull request. Unlike a comment it is what was
// asked for, so a refusal is an error.
func (a *action) propose(ctx context.Context, body report.Refresh, files map[string][]byte) (int, error) {
	client, repo, err := a.client()
	if err != nil {
		return 0, err
	}
	title, text := report.Changes(body)
	base, branch := a.refreshInto()
	pull, err := client.OpenRefresh(ctx, repo, github.Refresh{Base: base, Branch: branch, Title: title, Body: text,
		Message: title + "\n\n" + a.in.reason, Files: files})
	if err != nil {
		return 0, err
	}
	if pull.Number == 0 {
		fmt.Fprintln(a.Stdout, "The baselines are already what was measured; there is nothing to propose.")
		return ExitPassed, nil
	}
	a.warn(a.gh.SetOutput("pull-request", strconv.Itoa(pull.Number)))
	_, err = fmt.Fprintf(a.Stdout, "Pull request #%d %s: %s\n", pull.Number, pull.Change, pull.URL)
	return ExitPassed, err
}

// refreshInto returns the branch that the event ran on, or "" for the default
// branch, and the branch to propose changes to it on.
func (a *action) refreshInto() (base, branch string) {
	base, ok := strings.CutPrefix(a.event.Ref, "refs/heads/")
	if !ok || base == a.event.DefaultBranch {
		return "", refreshBranch
	}
	return base, refreshBranch + "-into-" + base
}

// repositoryPath turns a file's path into one from the repository's root.
func (a *action) repositoryPath(path string) (string, error) {
	root := a.Getenv("GITHUB_WORKSPACE")
	if root == "" {
		root = "."
	}
	root, err := filepath.Abs(root)
	if err != nil {
		return "", err
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", err
	}
	rel, err := filepath.Rel(root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", usagef("the baseline %s is outside of the repository %s: set baselines in the configuration to a folder inside", path, root)
	}
	return filepath.ToSlash(rel), nil
}
