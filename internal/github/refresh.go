package github

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	gh "github.com/google/go-github/v62/github"
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
	Body    string // Markdown, at most MaxBody
	Message string // of the commit; Title where empty
	// Files is what to write, by path from the repository's root.
	Files map[string][]byte
}

// PullRequest is a pull request on GitHub. Its Number is 0 where there was
// nothing to change.
type PullRequest struct {
	Number int
	URL    string // for people
	Change Change
}

// OpenRefresh proposes the files in a pull request with one commit.
//
// An open pull request from the branch is reused: the commit goes on top of
// it, so files of earlier calls stay. Without one the branch starts anew from
// the base, whatever it held. Where the files are on the base already, nothing
// is proposed and Change is Unchanged.
//
// Calls for one branch have to come one after the other: GitHub cannot reset a
// branch on the condition that it has not moved.
func (c *Client) OpenRefresh(ctx context.Context, repo Repo, r Refresh) (PullRequest, error) {
	doing := fmt.Sprintf("propose %s in %s", r.Branch, repo)
	if err := errors.Join(repo.check(), r.check()); err != nil {
		return PullRequest{}, fmt.Errorf("%s: %w", doing, err)
	}
	p := proposal{client: c, repo: repo, refresh: r, doing: doing}
	pull, err := p.run(ctx)
	if raced(err) {
		pull, err = p.run(ctx) // it sees what the other one did
	}
	return pull, err
}

// raced reports whether somebody changed the branch or opened the pull request
// at the same time.
func raced(err error) bool {
	return rejected(err, "pull request already exists") || rejected(err, "not a fast forward") ||
		rejected(err, "Reference does not exist")
}

// proposal is one OpenRefresh.
type proposal struct {
	client  *Client
	repo    Repo
	refresh Refresh
	doing   string
}

func (p *proposal) run(ctx context.Context) (PullRequest, error) {
	base, err := p.base(ctx)
	if err != nil {
		return PullRequest{}, err
	}
	open, err := p.find(ctx, base)
	if err != nil {
		return PullRequest{}, err
	}
	from := base
	if open != nil {
		from = p.refresh.Branch
	}
	parent, err := p.head(ctx, from)
	if err != nil {
		return PullRequest{}, err
	}
	tree, err := p.writeTree(ctx, parent)
	if err != nil {
		return PullRequest{}, err
	}
	changed := tree != parent.GetTree().GetSHA()
	if changed {
		if err := p.commit(ctx, tree, parent, open == nil); err != nil {
			return PullRequest{}, err
		}
	}
	switch {
	case open != nil:
		return p.edit(ctx, open, changed)
	case changed:
		return p.create(ctx, base)
	}
	return PullRequest{Change: Unchanged}, nil
}

// fail explains an error of the API.
func (p *proposal) fail(permission string, err error) error { return explain(p.doing, permission, err) }

// base returns the branch to merge into. The branch of the pull request must
// be another one: it may be reset.
func (p *proposal) base(ctx context.Context) (string, error) {
	repo, _, err := p.client.api.Repositories.Get(ctx, p.repo.Owner, p.repo.Name)
	if err != nil {
		return "", p.fail(contentsPermission, err)
	}
	base := p.refresh.Base
	if base == "" {
		base = repo.GetDefaultBranch()
	}
	if p.refresh.Branch == base || p.refresh.Branch == repo.GetDefaultBranch() {
		return "", fmt.Errorf("%s: this branch cannot be proposed from: choose one that nothing else uses", p.doing)
	}
	return base, nil
}

// find returns the open pull request from the branch, or nil.
func (p *proposal) find(ctx context.Context, base string) (*gh.PullRequest, error) {
	label := p.repo.Owner + ":" + p.refresh.Branch
	pulls, _, err := p.client.api.PullRequests.List(ctx, p.repo.Owner, p.repo.Name, &gh.PullRequestListOptions{
		State: "open", Head: label, Base: base, ListOptions: gh.ListOptions{PerPage: perPage},
	})
	if err != nil {
		return nil, p.fail(pullsPermission, err)
	}
	for _, pull := range pulls { // GitHub ignores a head it does not understand
		if strings.EqualFold(pull.GetHead().GetLabel(), label) && pull.GetHead().GetRef() == p.refresh.Branch {
			return pull, nil
		}
	}
	return nil, nil
}

// head returns the commit a branch points to.
func (p *proposal) head(ctx context.Context, branch string) (*gh.Commit, error) {
	ref, _, err := p.client.api.Git.GetRef(ctx, p.repo.Owner, p.repo.Name, "refs/heads/"+branch)
	if err != nil {
		return nil, p.fail(contentsPermission, err)
	}
	commit, _, err := p.client.api.Git.GetCommit(ctx, p.repo.Owner, p.repo.Name, ref.GetObject().GetSHA())
	if err != nil {
		return nil, p.fail(contentsPermission, err)
	}
	return commit, nil
}

// writeTree stores the files on top of a commit's and returns the tree's id.
func (p *proposal) writeTree(ctx context.Context, parent *gh.Commit) (string, error) {
	git := p.client.api.Git
	var entries []*gh.TreeEntry
	for _, path := range slices.Sorted(maps.Keys(p.refresh.Files)) {
		blob, _, err := git.CreateBlob(ctx, p.repo.Owner, p.repo.Name, &gh.Blob{
			Content:  gh.String(base64.StdEncoding.EncodeToString(p.refresh.Files[path])),
			Encoding: gh.String("base64"),
		})
		if err != nil {
			return "", p.fail(contentsPermission, err)
		}
		entries = append(entries, &gh.TreeEntry{
			Path: &path, Mode: gh.String("100644"), Type: gh.String("blob"), SHA: blob.SHA,
		})
	}
	tree, _, err := git.CreateTree(ctx, p.repo.Owner, p.repo.Name, parent.GetTree().GetSHA(), entries)
	if err != nil {
		return "", p.fail(contentsPermission, err)
	}
	return tree.GetSHA(), nil
}

// commit puts a tree on the branch. A fresh branch is created or reset.
func (p *proposal) commit(ctx context.Context, tree string, parent *gh.Commit, fresh bool) error {
	git := p.client.api.Git
	message := p.refresh.Message
	if message == "" {
		message = p.refresh.Title
	}
	commit, _, err := git.CreateCommit(ctx, p.repo.Owner, p.repo.Name, &gh.Commit{
		Message: &message, Tree: &gh.Tree{SHA: &tree}, Parents: []*gh.Commit{{SHA: parent.SHA}},
	}, nil)
	if err != nil {
		return p.fail(contentsPermission, err)
	}
	ref := &gh.Reference{Ref: gh.String("refs/heads/" + p.refresh.Branch), Object: &gh.GitObject{SHA: commit.SHA}}
	if fresh {
		_, _, err = git.CreateRef(ctx, p.repo.Owner, p.repo.Name, ref)
	}
	if !fresh || rejected(err, "already exists") {
		_, _, err = git.UpdateRef(ctx, p.repo.Owner, p.repo.Name, ref, fresh)
	}
	if err != nil {
		return p.fail(contentsPermission, err)
	}
	return nil
}

func (p *proposal) create(ctx context.Context, base string) (PullRequest, error) {
	pull, _, err := p.client.api.PullRequests.Create(ctx, p.repo.Owner, p.repo.Name, &gh.NewPullRequest{
		Title: &p.refresh.Title, Head: &p.refresh.Branch, Base: &base, Body: &p.refresh.Body,
	})
	if err != nil {
		return PullRequest{}, p.fail(pullsPermission, err)
	}
	return PullRequest{Number: pull.GetNumber(), URL: pull.GetHTMLURL(), Change: Created}, nil
}

// edit brings the text of an open pull request up to date.
func (p *proposal) edit(ctx context.Context, open *gh.PullRequest, changed bool) (PullRequest, error) {
	pull := PullRequest{Number: open.GetNumber(), URL: open.GetHTMLURL(), Change: Updated}
	if open.GetTitle() == p.refresh.Title && sameText(open.GetBody(), p.refresh.Body) {
		if !changed {
			pull.Change = Unchanged
		}
		return pull, nil
	}
	_, _, err := p.client.api.PullRequests.Edit(ctx, p.repo.Owner, p.repo.Name, pull.Number, &gh.PullRequest{
		Title: &p.refresh.Title, Body: &p.refresh.Body,
	})
	if err != nil {
		return PullRequest{}, p.fail(pullsPermission, err)
	}
	return pull, nil
}

// check returns what is wrong with the request itself.
func (r Refresh) check() error {
	if !validBranch(r.Branch) || r.Base != "" && !validBranch(r.Base) {
		return fmt.Errorf("%q or %q is no name for a branch", r.Branch, r.Base)
	}
	if r.Title == "" || len(r.Files) == 0 {
		return errors.New("a pull request needs a title and at least one file")
	}
	if over := utf8.RuneCountInString(r.Body) - MaxBody; over > 0 {
		return fmt.Errorf("the text is %d characters too long for GitHub: shorten it", over)
	}
	for path := range r.Files {
		if !validPath(path) {
			return fmt.Errorf("%q is no path in a repository: give it from the root, with slashes", path)
		}
	}
	return nil
}

// forbidden is what git forbids in the name of a branch:
// https://git-scm.com/docs/git-check-ref-format
var forbidden = regexp.MustCompile(`[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|^[-/]|(^|/)\.|\.lock(/|$)|[./]$|^@?$`)

func validBranch(name string) bool { return utf8.ValidString(name) && !forbidden.MatchString(name) }

// validPath reports whether path stays inside the repository and out of its
// .git folder.
func validPath(path string) bool {
	if path == "." || !fs.ValidPath(path) || strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == '\\' || r == 0x7f }) {
		return false
	}
	return !slices.ContainsFunc(strings.Split(path, "/"), func(name string) bool { return strings.EqualFold(name, ".git") })
}
