package githubtest

import (
	"maps"
	"slices"
	"strings"
)

// Comment is a comment as a test sees it.
type Comment struct {
	ID     int64  `json:"id"`
	Author string `json:"author"`
	Body   string `json:"body"`
}

// PullRequest is a pull request as a test sees it.
type PullRequest struct {
	Number int    `json:"number"`
	State  string `json:"state"` // open or closed
	Title  string `json:"title"`
	Body   string `json:"body"`
	Head   string `json:"head"` // branch
	Base   string `json:"base"` // branch
	Author string `json:"author"`

	Labels    []string `json:"labels,omitempty"`
	Reviewers []string `json:"reviewers,omitempty"` // people, and teams by their slug
}

// CheckRun is a check run as a test sees it.
type CheckRun struct {
	ID          int64        `json:"id"`
	Name        string       `json:"name"`
	App         string       `json:"app"` // login of its app
	Status      string       `json:"status"`
	Conclusion  string       `json:"conclusion"`
	DetailsURL  string       `json:"details_url"`
	Title       string       `json:"title"`
	Summary     string       `json:"summary"`
	Text        string       `json:"text"`
	Annotations []Annotation `json:"annotations"`
}

// Annotation is an annotation of a check run as a test sees it.
type Annotation struct {
	Path    string `json:"path"`
	Line    int    `json:"line"`
	Level   string `json:"level"`
	Title   string `json:"title"`
	Message string `json:"message"`
}

// Violations returns what broke GitHub's description so far, oldest first.
func (s *Server) Violations() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.violations)
}

// Requests returns the log of the requests to the API, oldest first.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Comments returns the comments on a pull request of "owner/name", oldest
// first. It is nil where there is no such repository.
func (s *Server) Comments(repo string, issue int) []Comment {
	var all []Comment
	s.view(repo, func(r *repository) {
		for _, o := range r.commentsOf(issue) {
			all = append(all, Comment{ID: o.id, Author: o.author, Body: o.body})
		}
	})
	return all
}

// PullRequests returns all pull requests of "owner/name" by number. It is nil
// where there is no such repository.
func (s *Server) PullRequests(repo string) []PullRequest {
	var all []PullRequest
	s.view(repo, func(r *repository) {
		for _, p := range r.pulls {
			all = append(all, PullRequest{
				Number: p.number, State: p.state, Title: p.title, Body: p.body, Head: p.head, Base: p.base, Author: p.author,
				Labels: slices.Clone(p.labels), Reviewers: slices.Concat(p.reviewers, p.teams),
			})
		}
	})
	return all
}

// CheckRuns returns the check runs of a commit of "owner/name", oldest first.
// It is nil where there is no such repository.
func (s *Server) CheckRuns(repo, sha string) []CheckRun {
	var all []CheckRun
	s.view(repo, func(r *repository) {
		for _, k := range r.checks {
			if k.sha == sha {
				all = append(all, k.view())
			}
		}
	})
	return all
}

func (k *checkRun) view() CheckRun {
	v := CheckRun{
		ID: k.id, Name: k.name, App: k.login, Status: k.status, Conclusion: k.conclusion, DetailsURL: k.detailsURL,
		Title: k.title, Summary: k.summary, Text: k.text,
	}
	for _, a := range k.annotations {
		title := ""
		if a.Title != nil {
			title = *a.Title
		}
		v.Annotations = append(v.Annotations, Annotation{
			Path: a.Path, Line: a.StartLine, Level: a.Level, Title: title, Message: a.Message,
		})
	}
	return v
}

// Head returns the commit a branch of "owner/name" points to, or "".
func (s *Server) Head(repo, branch string) string {
	var sha string
	s.view(repo, func(r *repository) { sha = r.head(branch) })
	return sha
}

// Commits returns how many commits a clone of a branch of "owner/name" gets.
func (s *Server) Commits(repo, branch string) (n int) {
	s.view(repo, func(r *repository) {
		seen, next := map[string]bool{}, []string{r.head(branch)}
		for len(next) > 0 {
			sha := next[0]
			if next = next[1:]; sha != "" && !seen[sha] {
				seen[sha] = true
				next = append(next, r.git.commits[sha].parents...)
			}
		}
		n = len(seen)
	})
	return n
}

// Files returns the paths on a branch of "owner/name", sorted.
func (s *Server) Files(repo, branch string) []string {
	var paths []string
	s.view(repo, func(r *repository) {
		paths = slices.Sorted(maps.Keys(r.git.files(r.git.commits[r.head(branch)].tree)))
	})
	return paths
}

// File returns what is in a file on a branch of "owner/name", and whether it
// is there.
func (s *Server) File(repo, branch, path string) (content string, found bool) {
	s.view(repo, func(r *repository) {
		var e treeEntry
		e, found = r.git.lookup(r.git.commits[r.head(branch)].tree, path)
		content = string(r.git.blobs[e.sha])
	})
	return content, found
}

// Commit writes files on top of a branch of "owner/name", as somebody's push
// would, and returns the new head. It is "" where there is no such branch.
func (s *Server) Commit(repo, branch string, files map[string]string) string {
	var sha string
	s.view(repo, func(r *repository) {
		if head := r.head(branch); head != "" {
			sha = r.git.commitFiles(files, "push", s.sign(r.owner), head)
			r.refs["refs/heads/"+branch] = sha
		}
	})
	return sha
}

// Merge merges an open pull request of "owner/name", as a person would, with a
// merge commit that has the head's files, and leaves the branch behind.
func (s *Server) Merge(repo string, number int) {
	s.view(repo, func(r *repository) {
		p := r.pull(number)
		if p == nil || p.state != "open" {
			return
		}
		base := "refs/heads/" + p.base
		tree := r.git.commits[r.headCommit(p)].tree
		p.close(r, s.tick())
		r.refs[base] = r.git.addCommit(commit{
			tree: tree, parents: []string{r.refs[base], p.headSHA}, message: "merge", author: s.sign(r.owner),
		})
	})
}

// Reactions returns the reactions to a comment of "owner/name", each as
// "login: content", oldest first.
func (s *Server) Reactions(repo string, comment int64) []string {
	var all []string
	s.view(repo, func(r *repository) {
		for _, o := range r.reactions {
			if o.comment == comment {
				all = append(all, o.login+": "+o.content)
			}
		}
	})
	return all
}

// Dispatches returns what was asked of workflows, oldest first.
func (s *Server) Dispatches() []Dispatch {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.dispatches)
}

// view runs see on a repository under the lock.
func (s *Server) view(repo string, see func(*repository)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.repos[strings.ToLower(repo)]; r != nil {
		see(r)
	}
}
