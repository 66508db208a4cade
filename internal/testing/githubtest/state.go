package githubtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// State is what a server starts with. It is also the format of the file that
// the fakegithub command reads.
type State struct {
	Repos  []Repo  `json:"repos"`
	Tokens []Token `json:"tokens"`
	Faults []Fault `json:"faults,omitempty"`
	Chaos  *Chaos  `json:"chaos,omitempty"`
	// CheckEvery checks one request of so many against the description, for
	// tests that send very many. Every one is checked where it is 0.
	CheckEvery int `json:"check_every,omitempty"`
}

// Repo describes a repository.
type Repo struct {
	// Name is "owner/name".
	Name string `json:"name"`
	// DefaultBranch is "main" where empty.
	DefaultBranch string `json:"default_branch,omitempty"`
	// Files is the content of the first commit, by path.
	Files map[string]string `json:"files,omitempty"`
	// Branches are further branches: each is one commit on top of the default
	// branch that writes these files, or no commit where there are none.
	Branches map[string]map[string]string `json:"branches,omitempty"`
	// Heads are the ids of the newest commits of branches, as a test made them elsewhere. Each follows the commit
	// that Files and Branches make, with the same files.
	Heads map[string]string `json:"heads,omitempty"`
	// PullRequests are open. Their heads and bases are branches of this
	// repository.
	PullRequests []PullRequestSeed `json:"pull_requests,omitempty"`
	// Comments exist from the start.
	Comments []CommentSeed `json:"comments,omitempty"`
	// Commits makes further ids known as commits: those in an event file that a
	// check run shall be attached to.
	Commits []string `json:"commits,omitempty"`
	// ForbidActionsPullRequests is the setting "Allow GitHub Actions to create
	// and approve pull requests", turned off.
	ForbidActionsPullRequests bool `json:"forbid_actions_pull_requests,omitempty"`
	// Permissions are what people may do here: "alice": "write". Levels are
	// read, triage, write, maintain and admin.
	Permissions map[string]string `json:"permissions,omitempty"`
	// Runs are runs of workflows.
	Runs []RunSeed `json:"runs,omitempty"`
	// Runners are self-hosted.
	Runners []RunnerSeed `json:"runners,omitempty"`
	// RequiredChecks are demanded by branch protection of the default branch,
	// RulesetChecks by a ruleset.
	RequiredChecks []string `json:"required_checks,omitempty"`
	RulesetChecks  []string `json:"ruleset_checks,omitempty"`
	// Releases are the files of releases, by tag and name, in base64 in a file.
	Releases map[string]map[string][]byte `json:"releases,omitempty"`
	// MaxBody is the longest text of a comment, a pull request or a check run,
	// in characters, where it is less than GitHub's 65,536.
	MaxBody int `json:"max_body,omitempty"`
}

// PullRequestSeed is an open pull request. Number is the next free one where it
// is zero; Base is the default branch where it is empty.
type PullRequestSeed struct {
	Number int    `json:"number,omitempty"`
	Title  string `json:"title"`
	Head   string `json:"head"`
	Base   string `json:"base,omitempty"`
	Author string `json:"author,omitempty"`
	// Fork is the "owner/name" of the repository that has the branch Head,
	// where it is another one. HeadSHA is the commit it points to then, or where a
	// test has made it elsewhere, and HeadFiles are the files that it changes.
	Fork      string            `json:"fork,omitempty"`
	HeadSHA   string            `json:"head_sha,omitempty"`
	HeadFiles map[string]string `json:"head_files,omitempty"`
	// Locked lets only users with write permission comment.
	Locked bool `json:"locked,omitempty"`
}

// RunnerSeed is a self-hosted runner.
type RunnerSeed struct {
	Name    string   `json:"name"`
	Labels  []string `json:"labels"`
	Offline bool     `json:"offline,omitempty"`
}

// RunSeed is a run of a workflow, with the artifacts that it left.
type RunSeed struct {
	ID         int64          `json:"id"`
	Attempt    int            `json:"attempt,omitempty"` // 1 where zero
	Event      string         `json:"event,omitempty"`   // "pull_request" where empty
	HeadRepo   string         `json:"head_repo,omitempty"`
	HeadBranch string         `json:"head_branch,omitempty"`
	HeadSHA    string         `json:"head_sha"`
	Conclusion string         `json:"conclusion,omitempty"` // in progress where empty
	Artifacts  []ArtifactSeed `json:"artifacts,omitempty"`
}

// ArtifactSeed is an artifact of a run.
type ArtifactSeed struct {
	Name    string `json:"name"`
	Data    []byte `json:"data"` // of the archive; in base64 in a file
	Expired bool   `json:"expired,omitempty"`
	// Digest replaces the true one, "sha256:...".
	Digest string `json:"digest,omitempty"`
}

// CommentSeed is a comment on a pull request. There are no other issues.
type CommentSeed struct {
	Issue  int    `json:"issue"`
	Author string `json:"author"`
	Body   string `json:"body"`
}

// Token is a credential and what it may do.
type Token struct {
	Value string `json:"value"`
	// Login is who the token acts as: "octocat", "github-actions[bot]".
	Login string `json:"login"`
	// Integration marks the token of a GitHub App, such as a workflow's
	// GITHUB_TOKEN. Its login ends in "[bot]". Others belong to a user.
	Integration bool `json:"integration,omitempty"`
	// Permissions are written as in a workflow file: "contents": "write". Nil
	// means everything; a permission that is not named is not given. A person's
	// token with permissions is a fine-grained one.
	Permissions map[string]string `json:"permissions,omitempty"`
}

// app returns the login of the app that the token is of, or "".
func (t Token) app() string {
	if t.Integration {
		return t.Login
	}
	return ""
}

// Fault makes the next requests for an operation fail.
type Fault struct {
	Operation string            `json:"operation"` // "issues/create-comment"
	Times     int               `json:"times"`     // how many requests fail
	Status    int               `json:"status"`
	Header    map[string]string `json:"header,omitempty"` // "Retry-After": "1"
	Message   string            `json:"message,omitempty"`
}

// repository is the state of one repository.
type repository struct {
	id             int64
	owner, name    string
	defaultBranch  string
	forbidPulls    bool
	git            *gitStore
	refs           map[string]string // "refs/heads/main" -> commit
	pulls          []*pullRequest    // by number, ascending
	comments       []*comment        // by id, ascending
	commitComments []*commitComment  // by id, ascending
	checks         []*checkRun       // by id, ascending
	permissions    map[string]string // by login in lower case
	runs           []*workflowRun
	artifacts      []*artifact
	reactions      []reaction
	labels         map[string]int64 // ids by name
	maxBody        int
	events         []issueEvent // by id, ascending
	runners        []RunnerSeed
	required       []string                     // checks, by branch protection
	ruled          []string                     // checks, by a ruleset
	releases       map[string]map[string][]byte // files by tag and name
}

func (r *repository) fullName() string { return r.owner + "/" + r.name }

func (r *repository) head(branch string) string { return r.refs["refs/heads/"+branch] }

// resolve returns the commit that a ref parameter of the API means: an id, a
// branch, or a ref with or without "refs/". It is "" where there is none.
func (r *repository) resolve(ref string) string {
	if _, ok := r.git.commits[ref]; ok {
		return ref
	}
	for _, prefix := range []string{"refs/heads/", "refs/", ""} {
		if sha := r.refs[prefix+ref]; sha != "" {
			return sha
		}
	}
	return ""
}

func (r *repository) pull(number int) *pullRequest {
	for _, p := range r.pulls {
		if p.number == number {
			return p
		}
	}
	return nil
}

// load builds the server's state. It runs before the server is shared.
func (s *Server) load(state State) error {
	for _, token := range state.Tokens {
		if token.Value == "" || token.Login == "" {
			return fmt.Errorf("token of %q: value and login are required", token.Login)
		}
		s.tokens[token.Value] = token
	}
	s.faults = slices.Clone(state.Faults)
	for _, fault := range s.faults {
		if _, ok := operations[fault.Operation]; !ok && fault.Operation != viewerOperation && fault.Operation != updateOperation {
			return fmt.Errorf("fault: no operation %q: see openapi/operations.txt", fault.Operation)
		}
	}
	if state.Chaos != nil {
		made, err := newChaos(*state.Chaos)
		if err != nil {
			return err
		}
		s.chaos = made
	}
	s.checkEvery = state.CheckEvery
	for _, repo := range state.Repos {
		if err := s.addRepo(repo); err != nil {
			return fmt.Errorf("repository %q: %w", repo.Name, err)
		}
	}
	return nil
}

func (s *Server) addRepo(seed Repo) error {
	owner, name, ok := strings.Cut(seed.Name, "/")
	if !ok || owner == "" || name == "" || strings.Contains(name, "/") {
		return fmt.Errorf("name is not owner/name")
	}
	r := &repository{
		id: s.newID(), owner: owner, name: name, defaultBranch: seed.DefaultBranch,
		forbidPulls: seed.ForbidActionsPullRequests, git: newGitStore(), refs: map[string]string{},
		permissions: map[string]string{}, labels: map[string]int64{}, releases: seed.Releases, maxBody: maxBodyLength,
	}
	if r.defaultBranch == "" {
		r.defaultBranch = "main"
	}
	first := r.git.commitFiles(seed.Files, "first", s.sign(owner))
	r.refs["refs/heads/"+r.defaultBranch] = first
	for tag := range seed.Releases {
		r.refs["refs/tags/"+tag] = first
	}
	for _, branch := range slices.Sorted(maps.Keys(seed.Branches)) {
		r.refs["refs/heads/"+branch] = first
		if files := seed.Branches[branch]; len(files) > 0 {
			r.refs["refs/heads/"+branch] = r.git.commitFiles(files, "work on "+branch, s.sign(owner), first)
		}
	}
	for branch, sha := range seed.Heads {
		if r.head(branch) == "" {
			return fmt.Errorf("heads: no branch %q", branch)
		}
		r.git.commitOn(sha, r.head(branch), nil)
		r.refs["refs/heads/"+branch] = sha
	}
	for _, sha := range seed.Commits {
		r.git.commitOn(sha, first, nil)
	}
	s.seedSettings(r, seed)
	for _, pull := range seed.PullRequests {
		if err := s.seedPull(r, pull); err != nil {
			return err
		}
	}
	for _, c := range seed.Comments {
		if r.pull(c.Issue) == nil {
			return fmt.Errorf("comment: no pull request %d", c.Issue)
		}
		s.addComment(r, c.Issue, c.Author, c.Body)
	}
	s.repos[strings.ToLower(r.fullName())] = r
	return nil
}

func (s *Server) seedSettings(r *repository, seed Repo) {
	if seed.MaxBody > 0 {
		r.maxBody = min(seed.MaxBody, maxBodyLength)
	}
	r.runners, r.required, r.ruled = seed.Runners, seed.RequiredChecks, seed.RulesetChecks
	for login, level := range seed.Permissions {
		r.permissions[strings.ToLower(login)] = level
	}
	for _, run := range seed.Runs {
		s.seedRun(r, run)
	}
}

// commitOn makes an id known as that of a commit with changed files on top of another.
func (g *gitStore) commitOn(sha, parent string, files map[string]string) {
	g.commits[sha] = g.commits[g.commitFiles(files, "work", g.commits[parent].author, parent)]
}

func (s *Server) seedPull(r *repository, seed PullRequestSeed) error {
	if seed.Base == "" {
		seed.Base = r.defaultBranch
	}
	if seed.Author == "" {
		seed.Author = r.owner
	}
	if seed.Number == 0 {
		seed.Number = r.nextNumber()
	}
	if seed.HeadSHA != "" {
		r.git.commitOn(seed.HeadSHA, r.head(seed.Base), seed.HeadFiles)
	}
	if seed.Fork == "" && r.head(seed.Head) == "" || r.head(seed.Base) == "" {
		return fmt.Errorf("pull request %d: no branch %q or %q", seed.Number, seed.Head, seed.Base)
	}
	now := s.tick()
	r.pulls = append(r.pulls, &pullRequest{
		id: s.newID(), number: seed.Number, title: seed.Title, state: "open", head: seed.Head, base: seed.Base,
		author: seed.Author, created: now, updated: now, fork: seed.Fork, headSHA: seed.HeadSHA, locked: seed.Locked,
	})
	return nil
}

// nextNumber returns the number of the next pull request.
func (r *repository) nextNumber() int {
	next := 1
	for _, p := range r.pulls {
		next = max(next, p.number+1)
	}
	return next
}

func (s *Server) newID() int64 {
	s.lastID++
	return s.lastID
}

// tick returns the server's time, one second later at each call. It is no real
// time, so that two runs give the same answers and the same commit ids.
func (s *Server) tick() time.Time {
	s.clock = s.clock.Add(time.Second)
	return s.clock
}

// sign returns the author of commits made as login.
func (s *Server) sign(login string) signature {
	return signature{Name: login, Email: login + "@users.noreply.github.com", Date: s.tick()}
}
