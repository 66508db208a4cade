package github

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	gh "github.com/google/go-github/v62/github"
)

// maxInline is up to which size a file goes into the request for the tree, in
// bytes. Larger ones, and those that are no text, are stored one by one.
const maxInline = 1 << 20

// maxCompared is how many files GitHub names of a comparison:
// https://docs.github.com/rest/commits/commits#compare-two-commits
const maxCompared = 300

// tip is the commit a branch points to. The zero value is of no branch.
type tip struct {
	sha, tree string
}

// position is where the branches stand, as it was read.
type position struct {
	base   tip
	branch tip
	open   *gh.PullRequest // nil for none
	// stale marks a branch that a closed pull request left behind, or that has
	// nothing of its own: what is on it does not count.
	stale  bool
	ahead  int // commits that the branch has and the base lacks
	behind int // commits that the base has and the branch lacks
	files  []*gh.CommitFile
}

// upToDate reports whether the branch proposes this tree, on top of the base.
func (at position) upToDate(tree string) bool {
	return at.branch.tree == tree && at.behind == 0 && at.ahead > 0 && !at.stale
}

// look reads where everything stands.
func (p *proposal) look(ctx context.Context) (at position, err error) {
	if at.base, err = p.tip(ctx, p.base); err != nil {
		return at, err
	}
	pulls, err := p.pulls(ctx)
	if err != nil {
		return at, err
	}
	if i := slices.IndexFunc(pulls, func(o *gh.PullRequest) bool { return o.GetState() == "open" }); i >= 0 {
		at.open = pulls[i]
	}
	if at.branch, err = p.head(ctx, p.refresh.Branch); err != nil || at.branch.sha == "" {
		at.open = nil // its branch is gone, so it is about to be closed
		return at, err
	}
	compared, err := p.compare(ctx, at)
	if err != nil {
		return at, err
	}
	at.ahead, at.behind, at.files = compared.GetAheadBy(), compared.GetBehindBy(), compared.Files
	left := slices.ContainsFunc(pulls, func(o *gh.PullRequest) bool { return o.GetHead().GetSHA() == at.branch.sha })
	at.stale = at.ahead == 0 || at.open == nil && left
	return at, nil
}

// compare returns what the branch has that the base lacks. Pages are of commits,
// which nobody reads here; the files come with the first.
func (p *proposal) compare(ctx context.Context, at position) (*gh.CommitsComparison, error) {
	heads := [2]string{at.base.sha, at.branch.sha}
	if p.compared[heads] == nil {
		compared, _, err := p.client.api.Repositories.CompareCommits(ctx, p.repo.Owner, p.repo.Name, heads[0], heads[1],
			&gh.ListOptions{PerPage: 1})
		if err != nil {
			return nil, p.fail(contentsPermission, err)
		}
		p.compared[heads] = compared
	}
	return p.compared[heads], nil
}

// pulls returns the pull requests from the branch into the base, whatever
// their state, the newest first.
func (p *proposal) pulls(ctx context.Context) ([]*gh.PullRequest, error) {
	label := p.repo.Owner + ":" + p.refresh.Branch
	pulls, _, err := p.client.api.PullRequests.List(ctx, p.repo.Owner, p.repo.Name, &gh.PullRequestListOptions{
		State: "all", Head: label, Base: p.base, ListOptions: gh.ListOptions{PerPage: perPage},
	})
	if err != nil {
		return nil, p.fail(pullsPermission, err)
	}
	return slices.DeleteFunc(pulls, func(o *gh.PullRequest) bool { // GitHub ignores a head it does not understand
		return !strings.EqualFold(o.GetHead().GetLabel(), label) || o.GetHead().GetRef() != p.refresh.Branch
	}), nil
}

// head returns the commit a branch points to, or nothing where there is no such
// branch.
func (p *proposal) head(ctx context.Context, branch string) (tip, error) {
	absent := manner{answers: []int{http.StatusNotFound}}
	at, err := p.tip(absent.in(ctx), branch)
	if status(err) == http.StatusNotFound {
		return tip{}, nil
	}
	return at, err
}

// tip returns the commit a branch points to.
func (p *proposal) tip(ctx context.Context, branch string) (tip, error) {
	ref, _, err := p.client.api.Git.GetRef(ctx, p.repo.Owner, p.repo.Name, "refs/heads/"+branch)
	if err != nil {
		return tip{}, p.fail(contentsPermission, err)
	}
	sha := ref.GetObject().GetSHA()
	if p.trees[sha] == "" {
		commit, _, err := p.client.api.Git.GetCommit(ctx, p.repo.Owner, p.repo.Name, sha)
		if err != nil {
			return tip{}, p.fail(contentsPermission, err)
		}
		p.trees[sha] = commit.GetTree().GetSHA()
	}
	return tip{sha, p.trees[sha]}, nil
}

// tree returns the id of the tree to propose: the base's files, those that the
// branch changes, and ours. It is stored on GitHub.
func (p *proposal) tree(ctx context.Context, at position) (string, error) {
	heads := [2]string{at.base.sha, at.branch.sha}
	if tree, ok := p.built[heads]; ok {
		return tree, nil
	}
	from, entries, err := p.layers(ctx, at)
	if err != nil {
		return "", err
	}
	for _, path := range slices.Sorted(maps.Keys(p.refresh.Files)) {
		entry, err := p.entry(ctx, path)
		if err != nil {
			return "", err
		}
		entries = slices.DeleteFunc(entries, func(e *gh.TreeEntry) bool { return e.GetPath() == path })
		entries = append(entries, entry)
	}
	tree, _, err := p.client.api.Git.CreateTree(repeatable(ctx), p.repo.Owner, p.repo.Name, from, entries)
	if err != nil {
		return "", p.fail(contentsPermission, err)
	}
	p.built[heads] = tree.GetSHA()
	return tree.GetSHA(), nil
}

// layers returns the tree to start from and what of the branch goes on top.
func (p *proposal) layers(ctx context.Context, at position) (from string, entries []*gh.TreeEntry, err error) {
	switch {
	case at.branch.sha == "" || at.stale:
		return at.base.tree, nil, nil
	case at.behind == 0:
		return at.branch.tree, nil, nil
	case len(at.files) >= maxCompared:
		return "", nil, hopeless{fmt.Errorf("%s: the branch changes %d files or more, too many to bring it up to the base: "+
			"merge or close its pull request", p.doing, maxCompared)}
	}
	kept, err := p.record(ctx, at)
	if err != nil {
		return "", nil, err
	}
	var others []string
	for _, f := range at.files {
		switch {
		case f.GetStatus() == "removed" || p.writes(f): // the base may not have it either, which GitHub refuses to remove
		case kept.writer(f) != "":
			entries = append(entries, &gh.TreeEntry{Path: f.Filename, Mode: gh.String("100644"), Type: gh.String("blob"), SHA: f.SHA})
		default:
			others = append(others, f.GetFilename())
		}
	}
	more, err := p.entriesOf(ctx, at.branch, others)
	return at.base.tree, append(entries, more...), err
}

// entriesOf reads how a tree has files that are not ours. A link stays one.
func (p *proposal) entriesOf(ctx context.Context, at tip, paths []string) (entries []*gh.TreeEntry, err error) {
	if len(paths) == 0 {
		return nil, nil
	}
	tree, _, err := p.client.api.Git.GetTree(ctx, p.repo.Owner, p.repo.Name, at.tree, true)
	if err != nil {
		return nil, p.fail(contentsPermission, err)
	}
	for _, path := range paths {
		entry := find(tree.Entries, path)
		if entry == nil {
			return nil, hopeless{
				fmt.Errorf("%s: GitHub does not list %q, which others pushed to the branch: merge or close its pull request",
					p.doing, path),
			}
		}
		entries = append(entries, &gh.TreeEntry{Path: entry.Path, Mode: entry.Mode, Type: entry.Type, SHA: entry.SHA})
	}
	return entries, nil
}

// entry returns one of our files as a tree takes it.
func (p *proposal) entry(ctx context.Context, path string) (*gh.TreeEntry, error) {
	data := p.refresh.Files[path]
	entry := &gh.TreeEntry{Path: &path, Mode: gh.String("100644"), Type: gh.String("blob")}
	if utf8.Valid(data) && len(data) <= maxInline {
		entry.Content = gh.String(string(data))
		return entry, nil
	}
	if p.blobs[path] == "" {
		blob, _, err := p.client.api.Git.CreateBlob(repeatable(ctx), p.repo.Owner, p.repo.Name, &gh.Blob{
			Content: gh.String(base64.StdEncoding.EncodeToString(data)), Encoding: gh.String("base64"),
		})
		if err != nil {
			return nil, p.fail(contentsPermission, err)
		}
		p.blobs[path] = blob.GetSHA()
	}
	entry.SHA = gh.String(p.blobs[path])
	return entry, nil
}

// commit moves the branch forward to a tree.
func (p *proposal) commit(ctx context.Context, at position, tree string) error {
	parents := []*gh.Commit{{SHA: gh.String(at.base.sha)}}
	switch {
	case at.ahead > 0 && at.behind == 0 && !at.stale:
		parents = []*gh.Commit{{SHA: gh.String(at.branch.sha)}}
	case at.ahead > 0: // on top of both, so that the branch moves forward all the same
		parents = slices.Insert(parents, 0, &gh.Commit{SHA: gh.String(at.branch.sha)})
	}
	kept, err := p.record(ctx, at)
	if err != nil {
		return err
	}
	return p.advance(ctx, at.branch, tree, parents, p.recorded(kept, at, tree, parents))
}

// advance moves the branch from a commit, which is none where there is no such
// branch yet, to a new one with a tree. It never forces: that it moves only from
// the commit that was read is what keeps the files of others.
func (p *proposal) advance(ctx context.Context, from tip, tree string, parents []*gh.Commit, message string) error {
	git := p.client.api.Git
	commit, _, err := git.CreateCommit(repeatable(ctx), p.repo.Owner, p.repo.Name, &gh.Commit{
		Message: &message, Tree: &gh.Tree{SHA: &tree}, Parents: parents,
	}, nil)
	if err != nil {
		return p.fail(contentsPermission, err)
	}
	ref := &gh.Reference{Ref: gh.String("refs/heads/" + p.refresh.Branch), Object: &gh.GitObject{SHA: commit.SHA}}
	how := manner{answers: []int{http.StatusUnprocessableEntity}}.in(ctx) // the answer to whoever lost a race
	if from.sha == "" {
		_, _, err = git.CreateRef(how, p.repo.Owner, p.repo.Name, ref)
	} else {
		_, _, err = git.UpdateRef(how, p.repo.Owner, p.repo.Name, ref, false)
	}
	p.changed = p.changed || err == nil || passing(err)
	return p.fail(contentsPermission, err)
}
