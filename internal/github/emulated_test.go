package github_test

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/testing/githubtest"
)

// emulated is the repository behind the proxy.
type emulated struct {
	*githubtest.Proxy
	t       *testing.T
	address string
}

// admit gives everybody the permission that the seed says.
func (s *emulated) admit(seed githubtest.State) {
	give := func(login, permission string) {
		s.do("PUT", "/repos/octo/repo/collaborators/"+login, ownerToken, map[string]any{"permission": permission}, nil)
	}
	for _, known := range seed.Tokens {
		give(known.Login, "admin")
	}
	for _, login := range []string{"mallory", actionsBot} {
		give(login, "push")
	}
	for login, level := range seed.Repos[0].Permissions {
		words := map[string]string{"write": "push", "read": "pull"} // of this call, on GitHub too
		give(login, cmp.Or(words[level], level))
	}
}

// fill makes branches, pull requests and comments.
func (s *emulated) fill(seed githubtest.Repo) {
	s.set("main", s.commit(seed.Files, ""), true)
	for name, files := range seed.Branches {
		head := s.Head(fullName, "main")
		if len(files) > 0 {
			head = s.commit(files, head)
		}
		s.do("POST", "/repos/octo/repo/git/refs", ownerToken, map[string]any{"ref": "refs/heads/" + name, "sha": head}, nil)
	}
	for _, p := range seed.PullRequests {
		s.pull(p)
	}
	for _, c := range seed.Comments {
		s.do("POST", fmt.Sprintf("/repos/octo/repo/issues/%d/comments", c.Issue), tokenOf(c.Author), map[string]any{"body": c.Body}, nil)
	}
}

// pull opens a pull request under its number, after as many issues as it takes.
func (s *emulated) pull(p githubtest.PullRequestSeed) {
	for last := 0; last < p.Number-1; {
		var made struct{ Number int }
		s.do("POST", "/repos/octo/repo/issues", ownerToken, map[string]any{"title": "filler"}, &made)
		last = made.Number
	}
	s.do("POST", "/repos/octo/repo/pulls", ownerToken, map[string]any{"title": p.Title, "head": p.Head, "base": "main"}, nil)
}

// commit makes a commit on top of a parent, or the first one where there is
// none.
func (s *emulated) commit(files map[string]string, parent string) string {
	var tree struct{ SHA string }
	var made struct {
		SHA  string
		Tree struct{ SHA string }
	}
	ask, parents := map[string]any{}, []string{}
	if parent != "" {
		s.do("GET", "/repos/octo/repo/git/commits/"+parent, ownerToken, nil, &made)
		ask["base_tree"], parents = made.Tree.SHA, []string{parent}
	}
	var entries []map[string]any
	for path, content := range files {
		entries = append(entries, map[string]any{"path": path, "mode": "100644", "type": "blob", "content": content})
	}
	ask["tree"] = entries
	s.do("POST", "/repos/octo/repo/git/trees", ownerToken, ask, &tree)
	s.do("POST", "/repos/octo/repo/git/commits", ownerToken, map[string]any{"message": "push", "tree": tree.SHA, "parents": parents}, &made)
	return made.SHA
}

func (s *emulated) set(branch, sha string, force bool) {
	s.do("PATCH", "/repos/octo/repo/git/refs/heads/"+branch, ownerToken, map[string]any{"sha": sha, "force": force}, nil)
}

// Commit writes files on top of a branch.
func (s *emulated) Commit(_, branch string, files map[string]string) string {
	sha := s.commit(files, s.Head(fullName, branch))
	s.set(branch, sha, false)
	return sha
}

// Merge merges a pull request.
func (s *emulated) Merge(_ string, number int) {
	s.do("PUT", fmt.Sprintf("/repos/octo/repo/pulls/%d/merge", number), ownerToken, map[string]any{}, nil)
}

// Head returns the commit of a branch, or "".
func (s *emulated) Head(_, branch string) string {
	var ref struct{ Object struct{ SHA string } }
	s.try("GET", "/repos/octo/repo/git/ref/heads/"+branch, ownerToken, nil, &ref)
	return ref.Object.SHA
}

type blobEntry struct{ Path, Type, SHA string }

func (s *emulated) tree(branch string) (blobs []blobEntry) {
	var tree struct{ Tree []blobEntry }
	s.try("GET", "/repos/octo/repo/git/trees/"+s.Head(fullName, branch)+"?recursive=1", ownerToken, nil, &tree)
	for _, entry := range tree.Tree {
		if entry.Type == "blob" {
			blobs = append(blobs, entry)
		}
	}
	return blobs
}

// Files returns the paths on a branch, sorted.
func (s *emulated) Files(_, branch string) (paths []string) {
	for _, entry := range s.tree(branch) {
		paths = append(paths, entry.Path)
	}
	slices.Sort(paths)
	return paths
}

// File returns what is in a file on a branch.
func (s *emulated) File(_, branch, path string) (content string, found bool) {
	for _, entry := range s.tree(branch) {
		if entry.Path == path {
			var blob struct{ Content string }
			s.do("GET", "/repos/octo/repo/git/blobs/"+entry.SHA, ownerToken, nil, &blob)
			data, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(blob.Content, "\n", ""))
			return string(data), err == nil
		}
	}
	return "", false
}

// Comments returns the comments on an issue, oldest first.
func (s *emulated) Comments(_ string, issue int) (all []githubtest.Comment) {
	for page := 1; ; page++ {
		var found []struct {
			ID   int64
			Body string
			User struct{ Login string }
		}
		s.try("GET", fmt.Sprintf("/repos/octo/repo/issues/%d/comments?per_page=100&page=%d", issue, page), ownerToken, nil, &found)
		for _, c := range found {
			all = append(all, githubtest.Comment{ID: c.ID, Author: c.User.Login, Body: c.Body})
		}
		if len(found) < 100 {
			return all
		}
	}
}

// PullRequests returns all pull requests by number.
func (s *emulated) PullRequests(string) (all []githubtest.PullRequest) {
	var found []struct {
		Number             int
		State, Title, Body string
		Head, Base         struct{ Ref string }
		User               struct{ Login string }
		Labels             []struct{ Name string }
		People             []struct{ Login string } `json:"requested_reviewers"`
		Teams              []struct{ Slug string }  `json:"requested_teams"`
	}
	s.do("GET", "/repos/octo/repo/pulls?state=all&direction=asc&per_page=100", ownerToken, nil, &found)
	for _, p := range found {
		one := githubtest.PullRequest{Number: p.Number, State: p.State, Title: p.Title, Body: p.Body, Head: p.Head.Ref, Base: p.Base.Ref, Author: p.User.Login}
		for _, label := range p.Labels {
			one.Labels = append(one.Labels, label.Name)
		}
		for _, person := range p.People {
			one.Reviewers = append(one.Reviewers, person.Login)
		}
		for _, team := range p.Teams {
			one.Reviewers = append(one.Reviewers, team.Slug)
		}
		all = append(all, one)
	}
	return all
}

// CheckRuns returns the check runs of a commit, oldest first. emulate does not
// say whose they are.
func (s *emulated) CheckRuns(_, sha string) (all []githubtest.CheckRun) {
	var found struct {
		Runs []struct {
			ID                       int64
			Name, Status, Conclusion string
			DetailsURL               string `json:"details_url"`
			Output                   struct{ Title, Summary, Text string }
		} `json:"check_runs"`
	}
	s.do("GET", "/repos/octo/repo/commits/"+sha+"/check-runs?filter=all&per_page=100", ownerToken, nil, &found)
	for _, k := range found.Runs {
		all = append(all, githubtest.CheckRun{ID: k.ID, Name: k.Name, App: actionsBot, Status: k.Status, Conclusion: k.Conclusion,
			DetailsURL: k.DetailsURL, Title: k.Output.Title, Summary: k.Output.Summary, Text: k.Output.Text})
	}
	slices.SortFunc(all, func(a, b githubtest.CheckRun) int { return int(a.ID - b.ID) })
	return all
}

// do asks emulate itself, past the proxy, and fails the test where it refuses.
func (s *emulated) do(method, path, token string, body, into any) {
	s.t.Helper()
	if err := s.ask(method, path, token, body, into); err != nil {
		s.t.Fatal(err)
	}
}

// try asks what may not be there.
func (s *emulated) try(method, path, token string, body, into any) {
	s.t.Helper()
	if err := s.ask(method, path, token, body, into); err != nil && !errors.Is(err, errNotThere) {
		s.t.Fatal(err)
	}
}

var errNotThere = errors.New("not there")

func (s *emulated) ask(method, path, token string, body, into any) error {
	var data []byte
	if body != nil {
		var err error
		if data, err = json.Marshal(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequest(method, s.address+path, bytes.NewReader(data))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if data, err = io.ReadAll(response.Body); err != nil {
		return err
	}
	switch {
	case response.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%s %s: %w", method, path, errNotThere)
	case response.StatusCode >= 300:
		return fmt.Errorf("%s %s: %s: %s", method, path, response.Status, data)
	case into == nil:
		return nil
	}
	return json.Unmarshal(data, into)
}
