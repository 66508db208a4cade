package githubtest

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// maxCompared is how many files GitHub names of a comparison.
const maxCompared = 300

// compare answers what head has that base has not, as git's "base...head".
func compare(c *call) reply {
	base, head, found := strings.Cut(c.params["basehead"], "...")
	base, head = c.repo.resolve(base), c.repo.resolve(head)
	if !found || base == "" || head == "" {
		return notFound()
	}
	git := c.repo.git
	ancestors, others := git.history(head), git.history(base)
	ahead, behind := minus(ancestors, others), minus(others, ancestors)
	merge := git.mergeBase(base, head)
	if merge == "" {
		return failure(http.StatusNotFound, "No common ancestor between "+base+" and "+head+".")
	}
	status := "diverged"
	switch {
	case len(ahead) == 0 && len(behind) == 0:
		status = "identical"
	case len(behind) == 0:
		status = "ahead"
	case len(ahead) == 0:
		status = "behind"
	}
	page, header := paginate(c, ahead)
	commits, files := list{}, list{}
	for _, sha := range page {
		commits = append(commits, c.fullCommit(sha))
	}
	if c.positive("page", 1) == 1 { // the files come with the first page of commits, and only there
		for _, f := range c.changes(merge, head) {
			files = append(files, f)
		}
		files = files[:min(len(files), maxCompared)]
	}
	return reply{status: http.StatusOK, header: header, body: object{
		"base_commit": c.fullCommit(base), "merge_base_commit": c.fullCommit(merge), "status": status,
		"ahead_by": len(ahead), "behind_by": len(behind), "total_commits": len(ahead), "commits": commits, "files": files,
	}}
}

// changes describes the files that differ between two commits.
func (c *call) changes(from, to string) []object {
	git := c.repo.git
	before, now := git.files(git.commits[from].tree), git.files(git.commits[to].tree)
	paths := maps.Clone(before)
	maps.Copy(paths, now)
	var changes []object
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		old, was := before[path]
		e, is := now[path]
		status := "modified"
		switch {
		case was && is && old.sha == e.sha && old.mode == e.mode:
			continue
		case !was:
			status = "added"
		case !is:
			status, e = "removed", old
		}
		changes = append(changes, object{"filename": path, "sha": e.sha, "status": status})
	}
	return changes
}

// fullCommit is a commit as the repository's API has it; git's own is smaller.
func (c *call) fullCommit(sha string) object {
	git := c.commit(sha)
	parents := git["parents"]
	delete(git, "parents")
	git["comment_count"] = 0
	author := c.repo.git.commits[sha].author.Name
	return object{"sha": sha, "commit": git, "author": c.user(author), "committer": c.user(author), "parents": parents}
}

// history returns a commit and all its ancestors, sorted.
func (g *gitStore) history(sha string) []string {
	seen := map[string]bool{}
	todo := []string{sha}
	for len(todo) > 0 {
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !seen[next] {
			seen[next] = true
			todo = append(todo, g.commits[next].parents...)
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// mergeBase returns the best common ancestor of two commits, or "".
func (g *gitStore) mergeBase(a, b string) string {
	of := g.history(a)
	best := ""
	for _, sha := range g.history(b) {
		if _, common := slices.BinarySearch(of, sha); common && (best == "" || g.reaches(sha, best)) {
			best = sha
		}
	}
	return best
}

func minus(all, without []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(without, s) })
}

// pullsOfCommit lists the pull requests that have a commit. GitHub finds those
// of forks by their head only.
func pullsOfCommit(c *call) reply {
	sha := c.params["commit_sha"]
	if _, known := c.repo.git.commits[sha]; !known {
		return refused("No commit found for SHA: %s", sha)
	}
	var found []*pullRequest
	for _, p := range c.repo.pulls {
		head := c.repo.headCommit(p)
		if head == sha || p.fork == "" && c.repo.git.reaches(head, sha) && !c.repo.git.reaches(c.repo.head(p.base), sha) {
			found = append(found, p)
		}
	}
	page, header := paginate(c, found)
	listing := list{}
	for _, p := range page {
		listing = append(listing, c.pullRequest(p))
	}
	return reply{status: http.StatusOK, header: header, body: listing}
}
