package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	gh "github.com/google/go-github/v62/github"

	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// What a token needs to write branches and to open pull requests.
const (
	contentsPermission = "contents: write"
	pullsPermission    = "pull-requests: write"
)

// Refresh is a pull request that changes files.
type Refresh struct {
	Base    string // branch to merge into; the repository's default where empty
	Branch  string // branch of the pull request, which belongs to this tool alone
	Title   string
	Body    Ladder // Markdown
	Message string // of the commit; Title where empty
	// Files is what to write, by path from the repository's root.
	Files map[string][]byte
	// Describe returns title and body of a pull request that changes other files
	// beside Files; nil leaves Title and Body. GitHub lists so many files that others
	// may not be complete.
	Describe func(others []Proposed, complete bool) (title string, body Ladder)
	// Labels are added. Reviewers, people or teams as "owner/team", are asked
	// whenever the files change; the author never is.
	Labels    []string
	Reviewers []string
}

// PullRequest is a pull request on GitHub. Its Number is 0 where there was
// nothing to change.
type PullRequest struct {
	Number int
	URL    string // for people
	Change Change
	// Warnings say what GitHub did not take of labels and reviewers.
	Warnings []string
}

// OpenRefresh proposes the files in a pull request, with one commit.
//
// An open pull request from the branch is reused: the commit goes on top of
// it, so files of earlier calls stay. Where the base has moved on, the commit is
// a merge that has the base's files and those that the branch changes. A branch
// that was left behind by a pull request that is closed starts anew. Where the
// files are on the base already, nothing is proposed, and a pull request that
// has no changes left is closed and its branch deleted.
//
// Others may push to the branch. Each commit records digests of the files that calls of
// this function wrote; all other files are reported to Describe as not ours.
//
// Several callers may propose at once, each their own files: the branch only
// moves forward from what a caller has read, so that all files end in one pull
// request. Its text is of the last one, which describes the files of the others.
func (c *Client) OpenRefresh(ctx context.Context, repo Repo, r Refresh) (PullRequest, error) {
	doing := fmt.Sprintf("propose %s in %s", r.Branch, repo)
	if err := errors.Join(repo.check(), r.check()); err != nil {
		return PullRequest{}, fmt.Errorf("%s: %w", doing, err)
	}
	p := proposal{client: c, repo: repo, refresh: r, doing: doing}
	return p.run(ctx)
}

// PreflightRefresh reports why pull requests could not be opened, as far as
// that can be known before: a token that may not know it yields nil.
func (c *Client) PreflightRefresh(ctx context.Context, repo Repo) error {
	may, known, err := c.MayPropose(ctx, repo)
	if err == nil && known && !may && c.FromActionsToken() {
		return fmt.Errorf("look whether pull requests can be opened in %s: %w: %s", repo, ErrForbidden, allowPulls)
	}
	return err
}

// MayPropose reports whether workflows may open pull requests in a repository. GitHub
// shows it to administrators; it is not known to others.
func (c *Client) MayPropose(ctx context.Context, repo Repo) (may, known bool, err error) {
	doing := fmt.Sprintf("look whether pull requests can be opened in %s", repo)
	if err := repo.check(); err != nil {
		return false, false, fmt.Errorf("%s: %w", doing, err)
	}
	hidden := manner{answers: []int{http.StatusForbidden, http.StatusNotFound}}
	settings, _, err := c.api.Repositories.GetDefaultWorkflowPermissions(hidden.in(ctx), repo.Owner, repo.Name)
	code := status(err)
	switch {
	case (code == http.StatusForbidden || code == http.StatusNotFound) && !limited(err):
		return false, false, nil
	case err != nil:
		return false, false, explain(doing, "administration: read", err)
	}
	return settings.GetCanApprovePullRequestReviews(), true, nil
}

// allowPulls is what to change so that a workflow's token may open pull requests.
const allowPulls = `turn on "Allow GitHub Actions to create and approve pull requests" in the settings of the repository ` +
	"and of its organization, under Actions, General"

// proposal is one OpenRefresh.
type proposal struct {
	client  *Client
	repo    Repo
	refresh Refresh
	doing   string

	base    string // branch; "" before it is known
	node    string // id of the repository in GraphQL, known with base
	limit   int    // index into limits
	result  PullRequest
	changed bool // the branch got a commit of this call
	asked   bool // labels and reviewers were seen to
	lost    int  // races
	known
}

// known is what GitHub said that never changes.
type known struct {
	trees    map[string]string                   // of commits
	blobs    map[string]string                   // by path, of our files that are no text
	compared map[[2]string]*gh.CommitsComparison // by heads of the base and of the branch
	built    map[[2]string]string                // trees to propose, in the same way
	records  map[string]record                   // by heads of the branch
}

// run looks and does what is next until nothing is missing. Whatever fails is
// followed by another look, so what was done without an answer is found.
func (p *proposal) run(ctx context.Context) (PullRequest, error) {
	p.known = known{map[string]string{}, map[string]string{}, map[[2]string]*gh.CommitsComparison{}, map[[2]string]string{},
		map[string]record{}}
	done := false
	for !done {
		var err error
		done, err = persist(ctx, p.client, func() (bool, error) {
			done, err := p.step(ctx)
			if raced(err) && p.lost < maxRaces {
				p.lost++
				return false, p.stepAside(ctx)
			}
			return done, err
		})
		if err != nil {
			return PullRequest{}, err
		}
	}
	p.result.Change = cmp.Or(p.result.Change, Unchanged)
	return p.result, nil
}

// step does the next thing that is missing, if any.
func (p *proposal) step(ctx context.Context) (done bool, err error) {
	if p.base == "" {
		if p.base, err = p.baseBranch(ctx); err != nil {
			return false, err
		}
	}
	at, err := p.look(ctx)
	if err != nil {
		return false, err
	}
	tree, err := p.tree(ctx, at)
	if err != nil {
		return false, err
	}
	switch {
	case tree == at.base.tree && at.open == nil:
		return true, nil
	case !at.upToDate(tree):
		return false, p.commit(ctx, at, tree)
	case tree == at.base.tree:
		return true, p.closePull(ctx, at)
	}
	if err := p.describe(ctx, at); err != nil {
		return false, err
	}
	if at.open == nil {
		return false, p.create(ctx)
	}
	return p.edit(ctx, at.open)
}

// fail explains an error of the API.
func (p *proposal) fail(permission string, err error) error {
	if err == nil {
		return nil
	}
	return explain(p.doing, permission, err)
}

// baseBranch returns the branch to merge into. The branch of the pull request
// must be another one.
func (p *proposal) baseBranch(ctx context.Context) (string, error) {
	repo, _, err := p.client.api.Repositories.Get(ctx, p.repo.Owner, p.repo.Name)
	if err != nil {
		return "", p.fail(contentsPermission, err)
	}
	p.node = repo.GetNodeID()
	base := p.refresh.Base
	if base == "" {
		base = repo.GetDefaultBranch()
	}
	if p.refresh.Branch == base || p.refresh.Branch == repo.GetDefaultBranch() {
		return "", hopeless{fmt.Errorf("%s: this branch cannot be proposed from: choose one that nothing else uses", p.doing)}
	}
	return base, nil
}

func (p *proposal) create(ctx context.Context) error {
	body, err := p.refresh.Body.at(limits[p.limit])
	if err != nil {
		return hopeless{fmt.Errorf("%s: %w", p.doing, err)}
	}
	pull, _, err := p.client.api.PullRequests.Create(repeatable(ctx), p.repo.Owner, p.repo.Name, &gh.NewPullRequest{
		Title: &p.refresh.Title, Head: &p.refresh.Branch, Base: &p.base, Body: &body,
	})
	if p.shorter(err) {
		return nil
	}
	if err == nil {
		p.result = PullRequest{Number: pull.GetNumber(), URL: pull.GetHTMLURL(), Change: Created}
	}
	return p.fail(pullsPermission, err)
}

// shorter goes one step down the ladder where a text was too long.
func (p *proposal) shorter(err error) bool {
	if !tooLong(err) || p.limit == len(limits)-1 {
		return false
	}
	p.limit++
	return true
}

// edit brings the text of an open pull request up to date, once.
func (p *proposal) edit(ctx context.Context, open *gh.PullRequest) (done bool, err error) {
	p.result.Number, p.result.URL = open.GetNumber(), open.GetHTMLURL()
	if p.changed && p.result.Change == "" {
		p.result.Change = Updated
	}
	body, err := p.refresh.Body.at(limits[p.limit])
	if err != nil {
		return false, hopeless{fmt.Errorf("%s: %w", p.doing, err)}
	}
	if open.GetTitle() != p.refresh.Title || !sameText(open.GetBody(), body) {
		_, _, err := p.client.api.PullRequests.Edit(ctx, p.repo.Owner, p.repo.Name, open.GetNumber(), &gh.PullRequest{
			Title: &p.refresh.Title, Body: &body,
		})
		if p.shorter(err) {
			return false, nil
		}
		if err != nil {
			return false, p.fail(pullsPermission, err)
		}
		p.result.Change = cmp.Or(p.result.Change, Updated)
	}
	if !p.asked {
		p.asked = true
		p.label(ctx, open)
		p.requestReviewers(ctx, open)
	}
	return true, ctx.Err()
}

// readAge is how old a reading may be that a branch is deleted by.
const readAge = 10 * time.Second

// How far writers of one branch are spread after a collision.
const (
	firstSpread = 2 * time.Second
	maxSpread   = 20 * time.Second
)

// closePull closes a pull request that changes nothing any more. Its branch is
// deleted unless somebody has put something on it meanwhile.
func (p *proposal) closePull(ctx context.Context, at position) error {
	const farewell = "Nothing here differs from the base branch any more, so there is nothing left to merge."
	number := at.open.GetNumber()
	if _, err := p.client.UpsertComment(ctx, p.repo, number, "refresh-closed", Post{Body: Fixed(farewell)}); err != nil {
		return err
	}
	_, _, err := p.client.api.PullRequests.Edit(ctx, p.repo.Owner, p.repo.Name, number, &gh.PullRequest{State: gh.String("closed")})
	if err != nil {
		return p.fail(pullsPermission, err)
	}
	p.result = PullRequest{Number: number, URL: at.open.GetHTMLURL(), Change: Closed}
	head, err := p.head(ctx, p.refresh.Branch)
	if err != nil || head.sha != at.branch.sha {
		return err
	}
	gone := manner{answers: []int{http.StatusUnprocessableEntity}, before: p.client.sender.now().Add(readAge)}
	_, err = p.client.api.Git.DeleteRef(gone.in(ctx), p.repo.Owner, p.repo.Name, "refs/heads/"+p.refresh.Branch)
	if rejected(err, "Reference does not exist") || errors.Is(err, errStale) {
		return nil
	}
	return p.fail(contentsPermission, err)
}

// check returns what is wrong with the request itself.
func (r Refresh) check() error {
	if !validBranch(r.Branch) || r.Base != "" && !validBranch(r.Base) {
		return fmt.Errorf("%q or %q is not a name for a branch", r.Branch, r.Base)
	}
	if r.Title == "" || len(r.Files) == 0 || r.Body == nil {
		return errors.New("a pull request needs a title, a text and at least one file")
	}
	if _, err := r.Body.at(MaxText); err != nil {
		return err
	}
	for path := range r.Files {
		if !validPath(path) {
			return fmt.Errorf("%q is not a path in a repository: give it from the root, with slashes", path)
		}
	}
	for _, name := range slices.Concat(r.Labels, r.Reviewers) {
		if strings.TrimSpace(name) == "" || len(name) > 100 || !utf8.ValidString(name) {
			return fmt.Errorf("%q is not a label or reviewer: give one of 1 to 100 bytes", text.Cut(name, 120))
		}
	}
	return nil
}

// forbidden is what git forbids in the name of a branch:
// https://git-scm.com/docs/git-check-ref-format
var forbidden = lazyregexp.New(`[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|^[-/]|(^|/)\.|\.lock(/|$)|[./]$|^@?$`)

func validBranch(name string) bool { return utf8.ValidString(name) && !forbidden.MatchString(name) }

// validPath reports whether path stays inside the repository and out of its
// .git folder.
func validPath(path string) bool {
	if path == "." || !fs.ValidPath(path) || strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == '\\' || r == 0x7f }) {
		return false
	}
	return !slices.ContainsFunc(strings.Split(path, "/"), func(name string) bool { return strings.EqualFold(name, ".git") })
}
