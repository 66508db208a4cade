package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	gh "github.com/google/go-github/v62/github"

	"github.com/accelgate/accelgate/internal/text"
)

// Compared is how one commit differs from where it left another one's history.
type Compared struct {
	MergeBase string   // the commit that both have in common
	Paths     []string // of the files that differ; of renamed ones, both names
	Complete  bool     // false where GitHub lists only the first files
}

// maxListed is how many files GitHub lists of a comparison.
const maxListed = 300

// Compare lists the files that head has changed since it left base. Base is a
// branch or the full id of a commit, head such an id.
func (c *Client) Compare(ctx context.Context, repo Repo, base, head string) (Compared, error) {
	doing := fmt.Sprintf("compare %s with %s in %s", text.Cut(base, 80), text.Cut(head, 80), repo)
	err := errors.Join(repo.check(), checkCommit(head))
	if !validBranch(base) {
		err = errors.Join(err, fmt.Errorf("%q is not a branch or commit", text.Cut(base, 80)))
	}
	if err != nil {
		return Compared{}, fmt.Errorf("%s: %w", doing, err)
	}
	found, _, err := c.api.Repositories.CompareCommits(ctx, repo.Owner, repo.Name, base, head, &gh.ListOptions{PerPage: 1})
	if err != nil {
		return Compared{}, explain(doing, contentsRead, err)
	}
	if err := whole(found, head); err != nil {
		return Compared{}, fmt.Errorf("%s: %w", doing, err)
	}
	out := Compared{MergeBase: found.GetMergeBaseCommit().GetSHA(), Complete: len(found.Files) < maxListed}
	for _, f := range found.Files {
		out.Paths = append(out.Paths, f.GetFilename())
		if f.PreviousFilename != nil {
			out.Paths = append(out.Paths, f.GetPreviousFilename())
		}
	}
	return out, nil
}

// whole refuses a comparison that lacks what GitHub always says: a list of files that is
// not there would be one without changes.
func whole(found *gh.CommitsComparison, head string) error {
	base := found.GetMergeBaseCommit().GetSHA()
	same := base == head
	switch status := found.GetStatus(); {
	case checkCommit(base) != nil:
		return errIncomplete("names no commit that both have in common")
	case found.Files == nil:
		return errIncomplete("has no list of files")
	case status != "identical" && status != "behind" && status != "ahead" && status != "diverged":
		return errIncomplete("does not state how the commits are related")
	case same != (status == "identical" || status == "behind") || same && len(found.Files) > 0:
		return errIncomplete("contradicts itself")
	}
	for _, f := range found.Files {
		if f.GetFilename() == "" {
			return errIncomplete("has a file without a name")
		}
	}
	return nil
}

// errIncomplete describes what an answer lacks.
type errIncomplete string

func (e errIncomplete) Error() string {
	return "GitHub's answer " + string(e) + ": run the job again, and look at githubstatus.com"
}

// FileAt reads a file of a commit, of at most limit bytes; nil where the commit does
// not have it.
func (c *Client) FileAt(ctx context.Context, repo Repo, sha, path string, limit int) ([]byte, error) {
	doing := fmt.Sprintf("read %s of %s in %s", path, text.Cut(sha, 80), repo)
	err := errors.Join(repo.check(), checkCommit(sha))
	if !validPath(path) {
		err = errors.Join(err, fmt.Errorf("%q is not a path of a file", text.Cut(path, 200)))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	file, _, _, err := c.api.Repositories.GetContents(ctx, repo.Owner, repo.Name, path, &gh.RepositoryContentGetOptions{Ref: sha})
	switch {
	case status(err) == http.StatusNotFound:
		return nil, nil
	case err != nil:
		return nil, explain(doing, contentsRead, err)
	case file == nil || file.GetType() != "file":
		return nil, fmt.Errorf("%s: it is not a file", doing)
	case file.GetSize() > limit || file.GetEncoding() == "none":
		return nil, fmt.Errorf("%s: it has %d bytes, more than %d: %w", doing, file.GetSize(), limit, ErrTooLarge)
	}
	if file.Content == nil || file.Size == nil || file.GetEncoding() != "base64" {
		return nil, fmt.Errorf("%s: %w", doing, errIncomplete("does not hold the file"))
	}
	text, err := file.GetContent()
	if err == nil && len(text) != file.GetSize() {
		err = errIncomplete(fmt.Sprintf("holds %d of the file's %d bytes", len(text), file.GetSize()))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: it does not arrive whole: %w", doing, err)
	}
	return []byte(text), nil
}
