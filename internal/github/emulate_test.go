package github_test

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/github/githubtest"
)

// emulateVersion is the version that the deviations are of.
const emulateVersion = "0.12.2"

const ownerToken = "ghp_octo0123456789" // of the owner of the repository

// tools returns the folder of programs that tests need and Go does not bring:
// see CONTRIBUTING.md.
func tools() string {
	if dir := os.Getenv("ACCELGATE_TOOLS"); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", ".tools")
}

// emulator is a running emulate, a GitHub that others wrote. Every start on it
// begins with an empty repository behind a proxy of its own.
type emulator struct {
	upstream, address string
	adapter           *adapter
	behind            *httptest.Server // serves the adapter
	proxy             atomic.Pointer[githubtest.Proxy]
}

// startEmulate starts emulate for the test. Where it is absent the test is
// skipped, or fails where ACCELGATE_TEST_REQUIRE=1 says that nothing may be
// missing.
func startEmulate(t *testing.T) *emulator {
	t.Helper()
	modules := filepath.Join(tools(), "npm", "node_modules")
	if err := installed(filepath.Join(modules, "emulate")); err != nil {
		missing := fmt.Sprintf("the client was NOT tested against emulate: %v: run: npm install --prefix %s node@24 emulate@%s, "+
			"or say in ACCELGATE_TOOLS where npm/node_modules is", err, filepath.Dir(modules), emulateVersion)
		if os.Getenv("ACCELGATE_TEST_REQUIRE") == "1" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	e := &emulator{upstream: "http://" + freeAddress(t)}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { e.proxy.Load().ServeHTTP(w, r) }))
	t.Cleanup(front.Close)
	e.address = front.URL
	e.adapter = &adapter{upstream: e.upstream, applied: map[string]int{}, apps: map[float64]string{}}
	e.behind = httptest.NewServer(e.adapter)
	t.Cleanup(e.behind.Close)
	_, port, _ := strings.Cut(strings.TrimPrefix(e.upstream, "http://"), ":")
	seed := filepath.Join(t.TempDir(), "seed.json")
	if err := os.WriteFile(seed, []byte(emulateSeed), 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	cmd := exec.Command(filepath.Join(modules, ".bin", "node"), filepath.Join(modules, "emulate", "dist", "index.js"),
		"start", "--service", "github", "--port", port, "--seed", seed, "--base-url", e.address)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatalf("start emulate: %v", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if response, err := http.Get(e.upstream + "/rate_limit"); err == nil {
			response.Body.Close()
			return e
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("emulate ended: %v\n%s", err, log.String())
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("emulate does not answer at %s", e.upstream)
		}
	}
}

// installed says what is wrong with the npm package in a folder.
func installed(folder string) error {
	data, err := os.ReadFile(filepath.Join(folder, "package.json"))
	if err != nil {
		return err
	}
	var manifest struct {
		Version string `json:"version"`
	}
	if err := json.Unmarshal(data, &manifest); err != nil {
		return err
	}
	if manifest.Version != emulateVersion {
		return fmt.Errorf("%s is version %s, the known deviations are of %s", folder, manifest.Version, emulateVersion)
	}
	return nil
}

// freeAddress returns an address that was free a moment ago: emulate takes no
// port 0.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// emulateSeed has everybody that scenarios know. Repositories come later.
var emulateSeed = func() string {
	type object = map[string]any
	tokens, users := object{ownerToken: object{"login": "root", "scopes": []string{"repo", "user", "delete_repo"}}}, []object{{"login": "root"}}
	for _, known := range state().Tokens {
		tokens[known.Value] = object{"login": known.Login, "scopes": []string{"repo", "user"}}
	}
	for _, login := range []string{"mallory", "bob", "carol", "dave", "stranger", actionsBot, "alice", "other-app[bot]"} {
		users = append(users, object{"login": login})
		if _, known := tokens[tokenOf(login)]; !known {
			tokens[tokenOf(login)] = object{"login": login, "scopes": []string{"repo", "user"}}
		}
	}
	data, err := json.Marshal(object{"tokens": tokens, "github": object{"users": users,
		"orgs": []object{{"login": "octo", "members": []object{{"login": "root", "role": "admin"}}}}}})
	if err != nil {
		panic(err) // of constants
	}
	return string(data)
}()

// tokenOf returns a token by which somebody writes what is there from the
// start.
func tokenOf(login string) string { return "seed-" + strings.Trim(login, "[]") }

// start is a [starter].
func (e *emulator) start(t *testing.T, seed githubtest.State) (hub, string) {
	t.Helper()
	return e.begin(t, seed), e.address
}

// begin makes the repository anew and fills it by emulate's own API.
func (e *emulator) begin(t *testing.T, seed githubtest.State) *emulated {
	t.Helper()
	proxy, err := githubtest.NewProxy(e.behind.URL)
	if err != nil {
		t.Fatal(err)
	}
	e.proxy.Store(proxy)
	t.Cleanup(func() {
		var all []string
		for _, v := range proxy.Violations() {
			all = append(all, v.String())
		}
		slices.Sort(all)
		for _, v := range slices.Compact(all) {
			t.Errorf("GitHub's API description is violated, by the client or by a deviation of emulate that is not listed: %s", v)
		}
	})
	s := &emulated{Proxy: proxy, t: t, address: e.upstream}
	given := seed.Repos[0]
	s.try("DELETE", "/repos/octo/repo", ownerToken, nil, nil) // of the scenario before
	if s.ask("GET", "/orgs/octo/teams/speed", ownerToken, nil, nil) != nil {
		s.do("POST", "/orgs/octo/teams", ownerToken, map[string]any{"name": "speed"}, nil)
	}
	s.do("POST", "/orgs/octo/repos", ownerToken, map[string]any{"name": "repo", "auto_init": true}, nil)
	for _, known := range seed.Tokens {
		s.do("PUT", "/repos/octo/repo/collaborators/"+known.Login, ownerToken, map[string]any{"permission": "admin"}, nil)
	}
	for _, login := range []string{"mallory", actionsBot} {
		s.do("PUT", "/repos/octo/repo/collaborators/"+login, ownerToken, map[string]any{"permission": "push"}, nil)
	}
	for login, level := range given.Permissions {
		words := map[string]string{"write": "push", "read": "pull"} // of this call, on GitHub too
		s.do("PUT", "/repos/octo/repo/collaborators/"+login, ownerToken, map[string]any{"permission": cmp.Or(words[level], level)}, nil)
	}
	s.set("main", s.commit(given.Files, ""), true)
	for name, files := range given.Branches {
		head := s.Head(fullName, "main")
		if len(files) > 0 {
			head = s.commit(files, head)
		}
		s.do("POST", "/repos/octo/repo/git/refs", ownerToken, map[string]any{"ref": "refs/heads/" + name, "sha": head}, nil)
	}
	for _, p := range given.PullRequests {
		s.pull(p)
	}
	for _, c := range given.Comments {
		s.do("POST", fmt.Sprintf("/repos/octo/repo/issues/%d/comments", c.Issue), tokenOf(c.Author), map[string]any{"body": c.Body}, nil)
	}
	return s
}

// emulated is the repository behind the proxy.
type emulated struct {
	*githubtest.Proxy
	t       *testing.T
	address string
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

// TestScenariosOnEmulate is what keeps the fake honest: the client does the same
// on a GitHub that others wrote.
func TestScenariosOnEmulate(t *testing.T) {
	e := startEmulate(t)
	t.Run("deviations", func(t *testing.T) {
		for _, x := range exclusions {
			if !x.still(t, e) {
				t.Errorf("emulate does not differ any more: %s: delete it from exclusions", x.reason)
			}
		}
	})
	passed, ran := true, 0 // -run may leave some out
	for _, s := range scenarios {
		passed = t.Run(s.name, func(t *testing.T) {
			ran++
			for _, x := range exclusions {
				if slices.Contains(x.scenarios, s.name) {
					t.Skipf("emulate cannot: %s", x.reason)
				}
			}
			s.run(t, e.start)
		}) && passed
	}
	for _, d := range deviations {
		if e.adapter.applied[d.name] == 0 && passed && ran == len(scenarios) {
			t.Errorf("emulate does not deviate any more, or no scenario sees it: %s: delete it from deviations", d.name)
		}
	}
}
