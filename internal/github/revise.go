package github

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	gh "github.com/google/go-github/v62/github"

	"github.com/accelgate/accelgate/internal/text"
)

// Revision changes files of a branch that belongs to this tool alone, and that no
// pull request proposes, such as one that keeps records. The branch is one commit
// without a parent, replaced by each revision, so that a clone does not grow.
type Revision struct {
	Branch  string
	Message string // of the commit
	// Paths are the files to change, by names at the root of the branch. Each is
	// read up to Limit bytes.
	Paths []string
	Limit int64
	// Edit returns the files as they should be, from what they are; one that is
	// not there is absent from both. It is called again where somebody else has
	// changed the branch meanwhile, and must then go from what it is given. Its
	// error ends the revision.
	Edit func(files map[string][]byte) (map[string][]byte, error)
}

// Revise changes the files, with one commit. Several callers may revise a branch
// at once: it moves only from the commit that a caller has read, so that no change
// is lost. The change is Unchanged where Edit returns what is there.
func (c *Client) Revise(ctx context.Context, repo Repo, r Revision) (Change, error) {
	doing := fmt.Sprintf("write to branch %s of %s", r.Branch, repo)
	if err := errors.Join(repo.check(), r.check()); err != nil {
		return "", fmt.Errorf("%s: %w", doing, err)
	}
	v := revising{proposal: c.onBranch(repo, r.Branch, doing), Revision: r, change: Unchanged}
	v.refresh.Message = r.Message
	for done := false; !done; {
		var err error
		done, err = persist(ctx, c, func() (bool, error) {
			done, err := v.step(ctx)
			if raced(err) && v.lost < maxRaces {
				v.lost++
				return false, v.stepAside(ctx)
			}
			return done, err
		})
		if err != nil {
			return "", err
		}
	}
	return v.change, nil
}

// BranchFile reads a file at the root of a branch, of at most limit bytes; found
// is false where there is no such branch or file. Who may push to the repository
// made it up.
func (c *Client) BranchFile(ctx context.Context, repo Repo, branch, path string, limit int64) (data []byte, found bool, err error) {
	doing := fmt.Sprintf("read %s of branch %s of %s", path, branch, repo)
	r := Revision{Branch: branch, Paths: []string{path}, Limit: limit}
	if err := errors.Join(repo.check(), r.check()); err != nil {
		return nil, false, fmt.Errorf("%s: %w", doing, err)
	}
	v := revising{proposal: c.onBranch(repo, branch, doing), Revision: r}
	files, err := persist(ctx, c, func() (map[string][]byte, error) {
		at, err := v.head(ctx, branch)
		if err != nil {
			return nil, err
		}
		return v.read(ctx, at)
	})
	data, found = files[path]
	return data, found, err
}

// Head returns the commit that a branch points to; "" where there is no such branch.
func (c *Client) Head(ctx context.Context, repo Repo, branch string) (string, error) {
	doing := fmt.Sprintf("ask for branch %s of %s", text.Cut(branch, 80), repo)
	err := repo.check()
	if !validBranch(branch) {
		err = errors.Join(err, fmt.Errorf("%q is not a name for a branch", text.Cut(branch, 80)))
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", doing, err)
	}
	v := c.onBranch(repo, branch, doing)
	at, err := persist(ctx, c, func() (tip, error) { return v.head(ctx, branch) })
	return at.sha, err
}

// DefaultBranch asks for the repository's default branch.
func (c *Client) DefaultBranch(ctx context.Context, repo Repo) (string, error) {
	doing := fmt.Sprintf("ask for the default branch of %s", repo)
	if err := repo.check(); err != nil {
		return "", fmt.Errorf("%s: %w", doing, err)
	}
	found, _, err := c.api.Repositories.Get(ctx, repo.Owner, repo.Name)
	if err != nil {
		return "", explain(doing, contentsRead, err)
	}
	return found.GetDefaultBranch(), nil
}

// contentsRead is what a token needs to read branches.
const contentsRead = "contents: read"

// onBranch is a proposal without a pull request: what knows branches and files.
func (c *Client) onBranch(repo Repo, branch, doing string) proposal {
	return proposal{client: c, repo: repo, refresh: Refresh{Branch: branch}, doing: doing,
		known: known{trees: map[string]string{}, blobs: map[string]string{}}}
}

// revising is one Revise.
type revising struct {
	proposal
	Revision
	change Change
}

// step reads the files and writes what is to be changed. After a write it looks
// once more, because what was not answered may have been done.
func (v *revising) step(ctx context.Context) (done bool, err error) {
	if v.base == "" { // which refuses the default branch
		if v.base, err = v.baseBranch(ctx); err != nil {
			return false, err
		}
	}
	at, err := v.head(ctx, v.Branch)
	if err != nil {
		return false, err
	}
	before, err := v.read(ctx, at)
	if err != nil {
		return false, err
	}
	after, err := v.Edit(before)
	if err != nil {
		return false, hopeless{fmt.Errorf("%s: %w", v.doing, err)}
	}
	if same(before, after) {
		if v.changed {
			v.change = Updated
		}
		return true, nil
	}
	if err := v.write(ctx, at, after); err != nil {
		return false, err
	}
	v.change = Updated
	return true, nil
}

func same(a, b map[string][]byte) bool {
	if len(a) != len(b) {
		return false
	}
	for path, data := range a {
		if other, ok := b[path]; !ok || !bytes.Equal(data, other) {
			return false
		}
	}
	return true
}

// read returns the files of a commit. What is there under a file's name and is
// none, such as a link, is an error.
func (v *revising) read(ctx context.Context, at tip) (map[string][]byte, error) {
	files := map[string][]byte{}
	if at.sha == "" {
		return files, nil
	}
	tree, _, err := v.client.api.Git.GetTree(ctx, v.repo.Owner, v.repo.Name, at.tree, false)
	if err != nil {
		return nil, v.fail(contentsRead, err)
	}
	for _, path := range v.Paths {
		entry := find(tree.Entries, path)
		if entry == nil {
			if tree.GetTruncated() {
				return nil, hopeless{fmt.Errorf("%s: the branch holds more files than GitHub lists: delete it", v.doing)}
			}
			continue
		}
		if files[path], err = v.blob(ctx, entry); err != nil {
			return nil, err
		}
	}
	return files, nil
}

func find(entries []*gh.TreeEntry, path string) *gh.TreeEntry {
	for _, e := range entries {
		if e.GetPath() == path {
			return e
		}
	}
	return nil
}

// blob reads a file, whose size GitHub says beforehand.
func (v *revising) blob(ctx context.Context, entry *gh.TreeEntry) ([]byte, error) {
	const link = "120000" // https://docs.github.com/rest/git/trees#create-a-tree
	if entry.GetType() != "blob" || entry.GetMode() == link {
		return nil, hopeless{fmt.Errorf("%s: %q is there and is not a file: delete it on the branch", v.doing, entry.GetPath())}
	}
	if int64(entry.GetSize()) > v.Limit {
		return nil, hopeless{
			fmt.Errorf("%s: %q has %d bytes, more than %d: delete it on the branch: %w", v.doing, entry.GetPath(), entry.GetSize(), v.Limit,
				ErrTooLarge),
		}
	}
	blob, _, err := v.client.api.Git.GetBlob(ctx, v.repo.Owner, v.repo.Name, entry.GetSHA())
	if err != nil {
		return nil, v.fail(contentsRead, err)
	}
	if blob.GetEncoding() != "base64" {
		return []byte(blob.GetContent()), nil
	}
	data, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(blob.GetContent(), "\n", ""))
	if err != nil {
		return nil, fmt.Errorf("%s: %q does not arrive whole: %w", v.doing, entry.GetPath(), err)
	}
	return data, nil
}

// write replaces the branch by one commit: what was read, with the files changed.
func (v *revising) write(ctx context.Context, at tip, files map[string][]byte) error {
	v.refresh.Files, v.blobs = files, map[string]string{}
	var entries []*gh.TreeEntry
	for _, path := range v.Paths {
		if _, ok := files[path]; !ok {
			continue
		}
		entry, err := v.entry(ctx, path)
		if err != nil {
			return err
		}
		entries = append(entries, entry)
	}
	tree, _, err := v.client.api.Git.CreateTree(repeatable(ctx), v.repo.Owner, v.repo.Name, at.tree, entries)
	if err != nil {
		return v.fail(contentsPermission, err)
	}
	return v.replace(ctx, at, tree.GetSHA())
}

// check returns what is wrong with the request itself.
func (r Revision) check() error {
	if !validBranch(r.Branch) {
		return fmt.Errorf("%q is not a name for a branch", r.Branch)
	}
	if len(r.Paths) == 0 {
		return errors.New("no file to read or to change: name one")
	}
	for _, path := range r.Paths {
		if !validPath(path) || strings.Contains(path, "/") {
			return fmt.Errorf("%q is not a name of a file at the root of a branch", path)
		}
	}
	return nil
}
