package github

import (
	"context"
	"slices"

	gh "github.com/google/go-github/v62/github"
)

// maxWalk is how many commits of others are looked behind.
const maxWalk = 50

// record is what the newest commit of ours on a branch states of its files: which commit
// of ours wrote each, by digests. It is nil for a branch without one.
type record map[string]string

// writer is the commit of ours that wrote a file of the branch; "" for a file of others.
func (r record) writer(f *gh.CommitFile) string {
	if f.GetStatus() != "added" && f.GetStatus() != "modified" {
		return ""
	}
	return r[fileDigest(f.GetFilename(), f.GetSHA())]
}

// writes reports whether this call decides what becomes of a file.
func (p *proposal) writes(f *gh.CommitFile) bool {
	_, ours := p.refresh.Files[f.GetFilename()]
	return ours
}

// record finds our newest commit on the branch, below those of others. It is read only
// where the branch changes files that this call does not write, and not at all where no
// commit could be told to be ours: the walk is of the whole branch then, on each turn, and
// a host that walks loses every race.
func (p *proposal) record(ctx context.Context, at position) (record, error) {
	if at.stale || !slices.ContainsFunc(at.files, func(f *gh.CommitFile) bool { return !p.writes(f) }) {
		return nil, nil
	}
	if known, ok := p.records[at.branch.sha]; ok {
		return known, nil
	}
	var signer string
	if p.client.installation {
		var err error
		if signer, err = p.client.signer(ctx); err != nil || signer == "" {
			return nil, p.fail(contentsPermission, err)
		}
	}
	found, err := p.walk(ctx, at, signer)
	if err == nil {
		p.records[at.branch.sha] = found
	}
	return found, err
}

func (p *proposal) walk(ctx context.Context, at position, signer string) (record, error) {
	sha := at.branch.sha
	for range min(at.ahead, maxWalk) {
		commit, _, err := p.client.api.Git.GetCommit(ctx, p.repo.Owner, p.repo.Name, sha)
		if err != nil {
			return nil, p.fail(contentsPermission, err)
		}
		if found := p.recordedBy(commit, signer); found != nil {
			return found, nil
		}
		if sha, err = p.below(ctx, at, commit); err != nil || sha == "" {
			return nil, err
		}
	}
	return nil, nil
}

// below is the one parent of a commit that is on the branch and not on the base. A merge
// of two commits that are not on the base could bring an old commit of ours in: it has none.
func (p *proposal) below(ctx context.Context, at position, commit *gh.Commit) (sha string, err error) {
	if len(commit.Parents) == 1 {
		return commit.Parents[0].GetSHA(), nil
	}
	for _, parent := range commit.Parents {
		compared, _, err := p.client.api.Repositories.CompareCommits(ctx, p.repo.Owner, p.repo.Name, at.base.sha, parent.GetSHA(),
			&gh.ListOptions{PerPage: 1})
		switch {
		case err != nil:
			return "", p.fail(contentsPermission, err)
		case compared.GetAheadBy() == 0:
		case sha != "":
			return "", nil
		default:
			sha = parent.GetSHA()
		}
	}
	return sha, nil
}
