package githubtest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/testing/githubtest"
	"github.com/accelgate/accelgate/internal/testing/githubtest/openapi"
)

const (
	workflow = "workflow-token" // GITHUB_TOKEN with everything
	reader   = "reader-token"   // GITHUB_TOKEN of a fork's pull request
	person   = "person-token"   // a user's token
	otherApp = "other-app-token"
)

func state() githubtest.State {
	return githubtest.State{
		Repos: []githubtest.Repo{{
			Name:         "octo/repo",
			Files:        map[string]string{"README.md": "hello\n", "docs/a.txt": "a", "docs/b/c.txt": "c"},
			Branches:     map[string]map[string]string{"work": {"main.go": "package main\n"}, "same": nil},
			PullRequests: []githubtest.PullRequestSeed{{Number: 7, Title: "Work", Head: "work"}},
			Comments:     []githubtest.CommentSeed{{Issue: 7, Author: "alice", Body: "nice"}},
			Permissions:  map[string]string{"bob": "maintain", "carol": "triage"},
			Runs: []githubtest.RunSeed{{
				ID: 100, HeadBranch: "work", HeadSHA: strings.Repeat("a", 40), Conclusion: "failure",
				Artifacts: []githubtest.ArtifactSeed{{Name: "run-a", Data: []byte("zip of a")}, {Name: "run-b", Expired: true}},
			}},
		}},
		Tokens: []githubtest.Token{
			{Value: workflow, Login: "github-actions[bot]", Integration: true},
			{Value: reader, Login: "github-actions[bot]", Integration: true, Permissions: map[string]string{"contents": "read"}},
			{Value: person, Login: "alice"},
			{Value: otherApp, Login: "other[bot]", Integration: true},
		},
	}
}

// api sends requests to a server.
type api struct {
	t       *testing.T
	address string
}

// answer is a response whose body is JSON or empty.
type answer struct {
	status int
	header http.Header
	body   any
}

func (a api) send(token, method, path, body string) answer {
	a.t.Helper()
	request, err := http.NewRequestWithContext(a.t.Context(), method, a.address+path, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		a.t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	got := answer{status: response.StatusCode, header: response.Header}
	if len(data) > 0 {
		if err := json.Unmarshal(data, &got.body); err != nil {
			a.t.Fatalf("%s %s answers with no JSON: %v: %s", method, path, err, data)
		}
	}
	return got
}

// message returns everything an error says.
func (a answer) message() string {
	data, err := json.Marshal(a.body)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// member returns a member of the body, by its path.
func (a answer) member(path ...string) any {
	value := a.body
	for _, name := range path {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	return value
}

func start(t *testing.T, state githubtest.State) (*githubtest.Server, api) {
	t.Helper()
	s, address := githubtest.New(t, state)
	return s, api{t, address}
}

// loose starts a server that may be violated.
func loose(t *testing.T) (*githubtest.Server, api) {
	t.Helper()
	s, err := githubtest.NewServer(state())
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, api{t, server.URL}
}

func TestRequestsThatBreakTheDescription(t *testing.T) {
	annotations := strings.TrimSuffix(strings.Repeat(
		`{"path":"a","start_line":1,"end_line":1,"annotation_level":"notice","message":"m"},`, 51), ",")
	for name, test := range map[string]struct {
		method, path, body string
		status             int
		want               string
	}{
		"unknown route":    {"GET", "/repos/octo/repo/stargazers", "", 404, "not in the API description"},
		"unknown method":   {"PUT", "/repos/octo/repo/pulls", "", 404, "not in the API description"},
		"unknown query":    {"GET", "/repos/octo/repo/pulls?perpage=5", "", 422, `"perpage"`},
		"wrong query":      {"GET", "/repos/octo/repo/pulls?state=merged", "", 422, "state"},
		"no number":        {"GET", "/repos/octo/repo/pulls/seven", "", 422, "pull_number"},
		"missing body":     {"POST", "/repos/octo/repo/issues/7/comments", "", 422, "body"},
		"missing field":    {"POST", "/repos/octo/repo/issues/7/comments", `{}`, 422, "body"},
		"wrong type":       {"POST", "/repos/octo/repo/issues/7/comments", `{"body": 1}`, 422, "/body"},
		"misspelt field":   {"POST", "/repos/octo/repo/issues/7/comments", `{"body": "a", "boby": "b"}`, 422, "boby"},
		"no JSON":          {"POST", "/repos/octo/repo/issues/7/comments", `{"body"`, 400, "no JSON"},
		"unexpected body":  {"GET", "/repos/octo/repo", `{"a": 1}`, 422, "body"},
		"wrong mode":       {"POST", "/repos/octo/repo/git/trees", `{"tree": [{"path": "a", "mode": "644", "content": "a"}]}`, 422, "/tree/0/mode"},
		"nested misspelt":  {"POST", "/repos/octo/repo/git/trees", `{"tree": [{"file": "a"}]}`, 422, "file"},
		"wrong conclusion": {"POST", "/repos/octo/repo/check-runs", `{"name": "a", "head_sha": "b", "conclusion": "green"}`, 422, "/conclusion"},
		"51 annotations": {
			"POST", "/repos/octo/repo/check-runs",
			`{"name": "a", "head_sha": "b", "output": {"title": "t", "summary": "s", "annotations": [` + annotations + `]}}`,
			422, "/output/annotations",
		},
		"summary too long": {
			"POST", "/repos/octo/repo/check-runs",
			`{"name": "a", "head_sha": "b", "output": {"title": "t", "summary": "` + strings.Repeat("s", 65536) + `"}}`,
			422, "/output/summary",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, api := loose(t)
			got := api.send(workflow, test.method, test.path, test.body)
			if got.status != test.status {
				t.Errorf("got status %d, want %d: %s", got.status, test.status, got.message())
			}
			violations := s.Violations()
			if len(violations) != 1 || !strings.Contains(violations[0], "request of "+test.method) ||
				!strings.Contains(violations[0], test.want) {
				t.Errorf("got violations %q, want one about %q", violations, test.want)
			}
		})
	}
}

// failures counts the errors that a test helper reports.
type failures struct {
	testing.TB
	errors   []string
	cleanups []func()
}

func (f *failures) Helper()                   {}
func (f *failures) Cleanup(clean func())      { f.cleanups = append(f.cleanups, clean) }
func (f *failures) Errorf(s string, v ...any) { f.errors = append(f.errors, fmt.Sprintf(s, v...)) }

func TestNewFailsTheTestThatViolates(t *testing.T) {
	observed := &failures{TB: t}
	_, address := githubtest.New(observed, state())
	api{t, address}.send(workflow, "GET", "/nonsense", "")
	for _, clean := range observed.cleanups {
		clean()
	}
	if len(observed.errors) != 1 || !strings.Contains(observed.errors[0], "/nonsense") {
		t.Errorf("got errors %q, want one about /nonsense", observed.errors)
	}
}

func TestResponsesThatBreakTheDescription(t *testing.T) {
	broken := state()
	broken.Repos[0].Commits = []string{"too-short-for-a-commit"}
	s, err := githubtest.NewServer(broken)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s)
	defer server.Close()
	api{t, server.URL}.send(workflow, "POST", "/repos/octo/repo/git/refs", `{"ref": "refs/heads/x", "sha": "too-short-for-a-commit"}`)
	violations := s.Violations()
	if len(violations) != 1 || !strings.Contains(violations[0], "response of POST") || !strings.Contains(violations[0], "/object/sha") {
		t.Errorf("got violations %q, want one about the response's /object/sha", violations)
	}
}

func TestLimitsAndRefusals(t *testing.T) {
	comments, pulls, refs := "/repos/octo/repo/issues/7/comments", "/repos/octo/repo/pulls", "/repos/octo/repo/git/refs"
	long := strings.Repeat("é", 65536)
	s, api := start(t, state())
	main, work := s.Head("octo/repo", "main"), s.Head("octo/repo", "work")
	for _, test := range []struct {
		name, token, method, path, body string
		status                          int
		want                            string
	}{
		{"no token", "", "GET", "/repos/octo/repo", "", 401, "Bad credentials"},
		{"wrong token", "guess", "GET", "/repos/octo/repo", "", 401, "Bad credentials"},
		{"user of an integration", workflow, "GET", "/user", "", 403, "Resource not accessible by integration"},
		{"user of a person", person, "GET", "/user", "", 200, `"login":"alice"`},
		{"unknown repository", workflow, "GET", "/repos/octo/other", "", 404, "Not Found"},
		{"any case of a name", workflow, "GET", "/repos/Octo/REPO", "", 200, `"full_name":"octo/repo"`},
		{"reader reads", reader, "GET", "/repos/octo/repo/contents/README.md", "", 200, "README.md"},
		{"reader comments", reader, "POST", comments, `{"body": "a"}`, 403, "Resource not accessible by integration"},
		{"reader writes", reader, "POST", "/repos/octo/repo/git/blobs", `{"content": "a"}`, 403, "Resource not accessible by integration"},

		{"longest comment", workflow, "POST", comments, `{"body": "` + long + `"}`, 201, "github-actions[bot]"},
		{"too long a comment", workflow, "POST", comments, `{"body": "` + long + `x"}`, 422, "Body is too long (maximum is 65536 characters)"},
		{"blank comment", workflow, "POST", comments, `{"body": " \n"}`, 422, "Body cannot be blank"},
		{"comment on nothing", workflow, "POST", "/repos/octo/repo/issues/99/comments", `{"body": "a"}`, 404, "Not Found"},
		{"missing comment", workflow, "PATCH", "/repos/octo/repo/issues/comments/99", `{"body": "a"}`, 404, "Not Found"},

		{"create ref", workflow, "POST", refs, `{"ref": "refs/heads/a/b", "sha": "` + main + `"}`, 201, "refs/heads/a/b"},
		{"create ref again", workflow, "POST", refs, `{"ref": "refs/heads/a/b", "sha": "` + work + `"}`, 422, "Reference already exists"},
		{"ref with a short name", workflow, "POST", refs, `{"ref": "refs/a", "sha": "` + main + `"}`, 422, "at least two slashes"},
		{"ref to nothing", workflow, "POST", refs, `{"ref": "refs/heads/c", "sha": "` + strings.Repeat("0", 40) + `"}`, 422, "Object does not exist"},
		{"fast forward", workflow, "PATCH", refs + "/heads/a/b", `{"sha": "` + work + `"}`, 200, work},
		{"backwards", workflow, "PATCH", refs + "/heads/a/b", `{"sha": "` + main + `"}`, 422, "Update is not a fast forward"},
		{"forced", workflow, "PATCH", refs + "/heads/a/b", `{"sha": "` + main + `", "force": true}`, 200, main},
		{"update nothing", workflow, "PATCH", refs + "/heads/zz", `{"sha": "` + main + `"}`, 422, "Reference does not exist"},
		{"missing ref", workflow, "GET", "/repos/octo/repo/git/ref/heads/zz", "", 404, "Not Found"},

		{"same pull request", workflow, "POST", pulls, `{"title": "t", "head": "work", "base": "main"}`, 422, "A pull request already exists for octo:work."},
		{"no commits", workflow, "POST", pulls, `{"title": "t", "head": "same", "base": "main"}`, 422, "No commits between main and same"},
		{"no base", workflow, "POST", pulls, `{"title": "t", "head": "work", "base": "zz"}`, 422, `"field":"base"`},
		{"no head", workflow, "POST", pulls, `{"title": "t", "head": "octo:zz", "base": "main"}`, 422, `"field":"head"`},
		{"no title", workflow, "POST", pulls, `{"head": "work", "base": "main"}`, 422, `"field":"title"`},
		{"long text", workflow, "PATCH", pulls + "/7", `{"body": "` + long + `x"}`, 422, "too long (maximum is 65536 characters)"},
		{"close", workflow, "PATCH", pulls + "/7", `{"state": "closed"}`, 200, `"state":"closed"`},
		{"open again after closing", workflow, "POST", pulls, `{"title": "t", "head": "octo:work", "base": "main"}`, 201, `"number":8`},

		{"path out of the tree", workflow, "POST", "/repos/octo/repo/git/trees", `{"tree": [{"path": "../a", "mode": "100644", "content": ""}]}`, 422, "malformed path component"},
		{"path into .git", workflow, "POST", "/repos/octo/repo/git/trees", `{"tree": [{"path": "a/.GIT/b", "mode": "100644", "content": ""}]}`, 422, "malformed path component"},
		{"unknown base tree", workflow, "POST", "/repos/octo/repo/git/trees", `{"base_tree": "x", "tree": []}`, 422, "base_tree"},
		{"unknown blob", workflow, "POST", "/repos/octo/repo/git/trees", `{"tree": [{"path": "a", "mode": "100644", "sha": "x"}]}`, 422, "tree.sha x"},
		{"unknown tree", workflow, "POST", "/repos/octo/repo/git/commits", `{"message": "m", "tree": "x"}`, 422, "Tree SHA does not exist"},
		{"wrong base64", workflow, "POST", "/repos/octo/repo/git/blobs", `{"content": "***", "encoding": "base64"}`, 422, "not valid Base64"},

		{"check run of a person", person, "POST", "/repos/octo/repo/check-runs", `{"name": "a", "head_sha": "` + main + `"}`, 403, "You must authenticate via a GitHub App."},
		{"check run on nothing", workflow, "POST", "/repos/octo/repo/check-runs", `{"name": "a", "head_sha": "b"}`, 422, "No commit found for SHA: b"},
		{"check run without an end", workflow, "POST", "/repos/octo/repo/check-runs", `{"name": "a", "head_sha": "` + main + `", "status": "completed"}`, 422, "conclusion"},
		{"check run", workflow, "POST", "/repos/octo/repo/check-runs", `{"name": "a", "head_sha": "` + main + `"}`, 201, `"slug":"github-actions"`},
	} {
		got := api.send(test.token, test.method, test.path, test.body)
		if got.status != test.status || !strings.Contains(got.message(), test.want) {
			t.Errorf("%s: got %d %.300s, want %d with %q", test.name, got.status, got.message(), test.status, test.want)
		}
	}
}

func TestCheckRunsBelongToTheirApp(t *testing.T) {
	s, api := start(t, state())
	main := s.Head("octo/repo", "main")
	made := api.send(otherApp, "POST", "/repos/octo/repo/check-runs", `{"name": "a", "head_sha": "`+main+`", "conclusion": "success"}`)
	path := fmt.Sprintf("/repos/octo/repo/check-runs/%.0f", made.member("id"))
	got := api.send(workflow, "PATCH", path, `{"conclusion": "failure"}`)
	if got.status != 403 || !strings.Contains(got.message(), "can only be modified by the GitHub App that created it") {
		t.Errorf("another app's update: got %d %s, want 403", got.status, got.message())
	}
	if got := api.send(otherApp, "PATCH", path, `{"conclusion": "failure"}`); got.member("conclusion") != "failure" {
		t.Errorf("own update: got %d %s", got.status, got.message())
	}
}

func TestActionsMayBeForbiddenToOpenPullRequests(t *testing.T) {
	forbidding := state()
	forbidding.Repos[0].ForbidActionsPullRequests = true
	_, api := start(t, forbidding)
	body := `{"title": "t", "head": "work", "base": "same"}`
	got := api.send(workflow, "POST", "/repos/octo/repo/pulls", body)
	if want := "GitHub Actions is not permitted to create or approve pull requests."; got.status != 403 || got.member("message") != want {
		t.Errorf("got %d %s, want 403 %s", got.status, got.message(), want)
	}
	if got := api.send(person, "POST", "/repos/octo/repo/pulls", body); got.status != 201 {
		t.Errorf("a person's pull request: got %d %s, want 201", got.status, got.message())
	}
}

var linkPattern = regexp.MustCompile(`<([^>]*)>; rel="(\w+)"`)

func links(header http.Header) map[string]string {
	found := map[string]string{}
	for _, link := range linkPattern.FindAllStringSubmatch(header.Get("Link"), -1) {
		found[link[2]] = link[1]
	}
	return found
}

func TestPagesAreLinkedByTheRepositorysID(t *testing.T) {
	seed := state()
	for i := range 249 {
		seed.Repos[0].Comments = append(seed.Repos[0].Comments, githubtest.CommentSeed{Issue: 7, Author: "bob", Body: fmt.Sprint(i)})
	}
	_, api := start(t, seed)
	for query, want := range map[string]int{"": 30, "?per_page=7": 7, "?per_page=1000": 100, "?per_page=0": 30, "?page=9": 10, "?page=10": 0} {
		got := api.send(reader, "GET", "/repos/octo/repo/issues/7/comments"+query, "")
		if got.status != 403 {
			t.Fatalf("%q: a token without issues reads comments: %d", query, got.status)
		}
		got = api.send(workflow, "GET", "/repos/octo/repo/issues/7/comments"+query, "")
		if page, _ := got.body.([]any); len(page) != want {
			t.Errorf("%q: got %d comments, want %d", query, len(page), want)
		}
	}
	next := "/repos/octo/repo/issues/7/comments?per_page=100"
	pages, comments := 0, 0
	for next != "" {
		got := api.send(workflow, "GET", next, "")
		page, _ := got.body.([]any)
		pages, comments = pages+1, comments+len(page)
		found := links(got.header)
		for rel, link := range found {
			if !strings.Contains(link, "/repositories/") {
				t.Errorf("rel %s leads to %s, want the repository by id", rel, link)
			}
		}
		_, first := found["first"]
		_, last := found["last"]
		if first != (pages > 1) || last != (pages < 3) {
			t.Errorf("page %d has links %v", pages, found)
		}
		next = strings.TrimPrefix(found["next"], api.address)
	}
	if pages != 3 || comments != 250 {
		t.Errorf("following the links: got %d comments on %d pages, want 250 on 3", comments, pages)
	}
}

func TestObjectIDsAreGits(t *testing.T) {
	_, api := start(t, state())
	blob := api.send(workflow, "POST", "/repos/octo/repo/git/blobs", `{"content": "aGVsbG8K", "encoding": "base64"}`)
	if got, want := blob.member("sha"), "ce013625030ba8dba906f756967f9e9ca394464a"; got != want {
		t.Errorf("blob: got %v, want %s", got, want)
	}
	tree := api.send(workflow, "POST", "/repos/octo/repo/git/trees", `{"tree": [
		{"path": "a/x", "mode": "100644", "content": "hello\n"},
		{"path": "a.b", "mode": "100755", "content": "hello\n"},
		{"path": "a0", "mode": "100644", "sha": "ce013625030ba8dba906f756967f9e9ca394464a"}]}`)
	if got, want := tree.member("sha"), "7c04347599f431da5631d6893b091a88234b3bea"; got != want {
		t.Errorf("tree: got %v, want %s", got, want)
	}
	commit := api.send(workflow, "POST", "/repos/octo/repo/git/commits", `{"message": "m\n", "tree": "`+tree.member("sha").(string)+`",
		"author": {"name": "A", "email": "a@example.com", "date": "2025-01-01T00:00:00Z"}}`)
	if got, want := commit.member("sha"), "35ff9a877e34f5a53b8f37b01df9685f065f258d"; got != want {
		t.Errorf("commit: got %v, want %s", got, want)
	}
}

func TestTreesAndContents(t *testing.T) {
	s, api := start(t, state())
	base := api.send(workflow, "GET", "/repos/octo/repo/git/trees/main", "").member("sha").(string)
	tree := api.send(workflow, "POST", "/repos/octo/repo/git/trees", `{"base_tree": "`+base+`", "tree": [
		{"path": "README.md", "mode": "100644", "type": "blob", "sha": null},
		{"path": "docs/b", "mode": "100644", "content": "now a file"},
		{"path": "docs/a.txt/deep", "mode": "100644", "content": "was a file"}]}`).member("sha").(string)
	commit := api.send(workflow, "POST", "/repos/octo/repo/git/commits",
		`{"message": "m", "tree": "`+tree+`", "parents": ["`+s.Head("octo/repo", "main")+`"]}`).member("sha").(string)
	api.send(workflow, "POST", "/repos/octo/repo/git/refs", `{"ref": "refs/heads/new", "sha": "`+commit+`"}`)

	if diff := cmp.Diff(s.Files("octo/repo", "new"), []string{"docs/a.txt/deep", "docs/b"}); diff != "" {
		t.Errorf("files (-got +want):\n%s", diff)
	}
	got := api.send(workflow, "GET", "/repos/octo/repo/git/trees/"+tree+"?recursive=1", "")
	var paths []any
	for _, e := range got.member("tree").([]any) {
		paths = append(paths, e.(map[string]any)["path"])
	}
	if diff := cmp.Diff(paths, []any{"docs", "docs/a.txt/deep", "docs/b"}); diff != "" {
		t.Errorf("recursive tree (-got +want):\n%s", diff)
	}
	if got := api.send(workflow, "GET", "/repos/octo/repo/contents/docs/b?ref=new", ""); got.member("content") != "bm93IGEgZmlsZQ==\n" {
		t.Errorf("content: got %s", got.message())
	}
	folder := api.send(workflow, "GET", "/repos/octo/repo/contents/docs?ref="+commit, "")
	if entries, _ := folder.body.([]any); len(entries) != 2 {
		t.Errorf("folder: got %s", folder.message())
	}
	if got := api.send(workflow, "GET", "/repos/octo/repo/contents/README.md?ref=new", ""); got.status != 404 {
		t.Errorf("deleted file: got %d, want 404", got.status)
	}
	if content, found := s.File("octo/repo", "main", "README.md"); !found || content != "hello\n" {
		t.Errorf("the base's file: got %q, %v", content, found)
	}
}

func TestLargeFilesAreNotInline(t *testing.T) {
	large := state()
	large.Repos[0].Files["large"] = strings.Repeat("x", 1<<20+1)
	_, api := start(t, large)
	got := api.send(workflow, "GET", "/repos/octo/repo/contents/large", "")
	if got.member("encoding") != "none" || got.member("content") != "" || got.member("size") != float64(1<<20+1) {
		t.Errorf("got encoding %v, size %v, want none of it inline", got.member("encoding"), got.member("size"))
	}
}

// TestEveryOperationWorks calls each operation of the description, so that
// none has an answer that the contract never saw.
func TestEveryOperationWorks(t *testing.T) {
	s, api := start(t, state())
	const base = "/repos/octo/repo"
	work, comment := s.Head("octo/repo", "work"), s.Comments("octo/repo", 7)[0].ID
	made := api.send(workflow, "POST", base+"/check-runs", `{"name": "a", "head_sha": "`+work+`", "output": {"title": "t", "summary": "s",
		"annotations": [{"path": "a", "start_line": 1, "end_line": 2, "annotation_level": "notice", "message": "m"}]}}`)
	check := fmt.Sprintf("%s/check-runs/%.0f", base, made.member("id"))
	tree := api.send(workflow, "GET", base+"/git/trees/work", "").member("sha").(string)
	first := api.send(workflow, "GET", base+"/actions/runs/100/artifacts", "").member("artifacts").([]any)[0].(map[string]any)
	artifact := int64(first["id"].(float64))
	mine := api.send(workflow, "POST", base+"/issues/7/comments", `{"body": "a"}`)
	for _, content := range []string{"eyes", "eyes"} {
		api.send(workflow, "POST", fmt.Sprintf("%s/issues/comments/%.0f/reactions", base, mine.member("id")), `{"content": "`+content+`"}`)
	}
	onCommit := api.send(workflow, "POST", base+"/commits/"+work+"/comments", `{"body": "a"}`)
	again, mayRerun := fmt.Sprintf("%s/actions/runs/100/rerun", base), 403 // it runs already
	defer func() {
		if got := api.send(workflow, "POST", again, ""); got.status != mayRerun {
			t.Errorf("another rerun: got %d, want %d", got.status, mayRerun)
		}
	}()
	for _, call := range []struct{ token, method, path, body string }{
		{person, "GET", "/user", ""},
		{workflow, "GET", base, ""},
		{workflow, "GET", base + "/contents/docs/b/c.txt", ""},
		{workflow, "GET", base + "/branches/main", ""},
		{workflow, "GET", base + "/rules/branches/main?per_page=100", ""},
		{workflow, "GET", base + "/actions/runs?per_page=1", ""},
		{workflow, "GET", base + "/actions/runners?per_page=100", ""},
		{workflow, "GET", base + "/git/ref/heads/work", ""},
		{workflow, "POST", base + "/git/refs", `{"ref": "refs/heads/new", "sha": "` + work + `"}`},
		{workflow, "PATCH", base + "/git/refs/heads/new", `{"sha": "` + work + `"}`},
		{workflow, "POST", base + "/git/blobs", `{"content": "hello\n"}`},
		{workflow, "GET", base + "/git/blobs/ce013625030ba8dba906f756967f9e9ca394464a", ""},
		{workflow, "POST", base + "/git/trees", `{"tree": [{"path": "a/b", "mode": "100644", "content": "b"}, {"path": "c", "mode": "040000", "sha": "` + tree + `"}]}`},
		{workflow, "POST", base + "/git/commits", `{"message": "m", "tree": "` + tree + `", "parents": ["` + work + `"]}`},
		{workflow, "GET", base + "/git/commits/" + work, ""},
		{workflow, "POST", base + "/issues/7/comments", `{"body": "a"}`},
		{workflow, "GET", base + "/issues/7/comments?since=2025-01-01T00:00:00Z", ""},
		{workflow, "GET", fmt.Sprintf("%s/issues/comments/%d", base, comment), ""},
		{workflow, "PATCH", fmt.Sprintf("%s/issues/comments/%d", base, comment), `{"body": "b"}`},
		{workflow, "DELETE", fmt.Sprintf("%s/issues/comments/%d", base, comment), ""},
		{workflow, "GET", base + "/commits/" + work + "/comments", ""},
		{workflow, "POST", base + "/commits/" + work + "/comments", `{"body": "a"}`},
		{workflow, "PATCH", fmt.Sprintf("%s/comments/%.0f", base, onCommit.member("id")), `{"body": "b"}`},
		{workflow, "GET", base + "/pulls?state=all&head=octo:work&base=main&direction=asc", ""},
		{workflow, "GET", base + "/pulls/7", ""},
		{workflow, "POST", base + "/pulls", `{"title": "t", "head": "new", "base": "main", "body": "b"}`},
		{workflow, "PATCH", base + "/pulls/7", `{"title": "t"}`},
		{workflow, "PATCH", check, `{"conclusion": "neutral"}`},
		{workflow, "GET", check, ""},
		{workflow, "GET", check + "/annotations", ""},
		{workflow, "GET", base + "/commits/heads/work/check-runs?check_name=a&status=completed&app_id=15368", ""},
		{workflow, "GET", base + "/compare/" + s.Head("octo/repo", "main") + "..." + work + "?per_page=100", ""},
		{workflow, "GET", base + "/commits/" + work + "/pulls", ""},
		{workflow, "GET", base + "/collaborators/bob/permission", ""},
		{workflow, "POST", base + "/issues/7/labels", `{"labels": ["performance"]}`},
		{workflow, "GET", base + "/issues/7/events?per_page=1", ""},
		{workflow, "POST", base + "/pulls/7/requested_reviewers", `{"reviewers": ["bob"], "team_reviewers": ["speed"]}`},
		{workflow, "GET", base + "/actions/permissions/workflow", ""},
		{workflow, "GET", base + "/actions/runs/100", ""},
		{workflow, "GET", base + "/actions/runs/100/artifacts?per_page=1", ""},
		{workflow, "GET", fmt.Sprintf("%s/actions/artifacts/%d", base, artifact), ""},
		{workflow, "GET", fmt.Sprintf("%s/actions/artifacts/%d/zip", base, artifact), ""},
		{workflow, "POST", base + "/actions/runs/100/rerun-failed-jobs", ""},
		{workflow, "POST", base + "/actions/workflows/ci.yml/dispatches", `{"ref": "main", "inputs": {"a": "b"}}`},
		{workflow, "POST", base + "/dispatches", `{"event_type": "rerun", "client_payload": {"a": "b"}}`},
		{workflow, "DELETE", base + "/git/refs/heads/new", ""},
	} {
		got := api.send(call.token, call.method, call.path, call.body)
		if got.status < 200 || got.status > 302 {
			t.Errorf("%s %s: got %d %s", call.method, call.path, got.status, got.message())
		}
	}
	called := []string{"actions/re-run-workflow"} // below
	for _, r := range s.Requests() {
		if r.Operation != "" {
			called = append(called, r.Operation)
		}
	}
	slices.Sort(called)
	if diff := cmp.Diff(slices.Compact(called), openapi.Operations()); diff != "" {
		t.Errorf("operations called (-got +want):\n%s", diff)
	}
}

func TestListsAreFiltered(t *testing.T) {
	s, api := start(t, state())
	work := s.Head("octo/repo", "work")
	for _, name := range []string{"a", "a", "b"} {
		api.send(workflow, "POST", "/repos/octo/repo/check-runs", `{"name": "`+name+`", "head_sha": "`+work+`"}`)
	}
	api.send(otherApp, "POST", "/repos/octo/repo/check-runs", `{"name": "a", "head_sha": "`+work+`"}`)
	for query, want := range map[string]float64{
		"": 3, "?filter=all": 4, "?check_name=a": 2, "?check_name=a&filter=all": 3, "?app_id=15368": 2, "?status=completed": 0,
	} {
		got := api.send(workflow, "GET", "/repos/octo/repo/commits/"+work+"/check-runs"+query, "")
		if got.member("total_count") != want {
			t.Errorf("check runs%s: got %v, want %v", query, got.member("total_count"), want)
		}
	}
	for query, want := range map[string]int{
		"": 1, "?head=octo:work": 1, "?head=Octo:work": 1, "?head=octo:other": 0, "?head=work": 1, "?base=main": 1, "?base=work": 0, "?state=closed": 0,
	} {
		got := api.send(workflow, "GET", "/repos/octo/repo/pulls"+query, "")
		if found, _ := got.body.([]any); len(found) != want {
			t.Errorf("pull requests%s: got %d, want %d", query, len(found), want)
		}
	}
}

func TestFaultsStrikeOnce(t *testing.T) {
	faulty := state()
	faulty.Faults = []githubtest.Fault{{
		Operation: "repos/get", Times: 1, Status: 503, Message: "down", Header: map[string]string{"Retry-After": "3"},
	}}
	s, api := start(t, faulty)
	first := api.send(workflow, "GET", "/repos/octo/repo", "")
	if first.status != 503 || first.header.Get("Retry-After") != "3" || first.member("message") != "down" {
		t.Errorf("got %d %v %s, want the fault", first.status, first.header, first.message())
	}
	if got := api.send(workflow, "GET", "/repos/octo/repo", ""); got.status != 200 {
		t.Errorf("after the fault: got %d, want 200", got.status)
	}
	want := []githubtest.Request{
		{Method: "GET", Path: "/repos/octo/repo", Operation: "repos/get", Status: 503},
		{Method: "GET", Path: "/repos/octo/repo", Operation: "repos/get", Login: "github-actions[bot]", Status: 200},
	}
	if diff := cmp.Diff(s.Requests(), want); diff != "" {
		t.Errorf("log (-got +want):\n%s", diff)
	}
}

func TestConcurrentComments(t *testing.T) {
	s, api := start(t, state())
	var wait sync.WaitGroup
	for i := range 20 {
		wait.Go(func() {
			request, err := http.NewRequest("POST", api.address+"/repos/octo/repo/issues/7/comments",
				bytes.NewReader(fmt.Appendf(nil, `{"body": "%d"}`, i)))
			if err != nil {
				t.Error(err)
				return
			}
			request.Header.Set("Authorization", "token "+workflow)
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Error(err)
				return
			}
			response.Body.Close()
			s.Comments("octo/repo", 7)
		})
	}
	wait.Wait()
	ids, bodies := map[int64]bool{}, map[string]bool{}
	for _, c := range s.Comments("octo/repo", 7) {
		ids[c.ID], bodies[c.Body] = true, true
	}
	if len(ids) != 21 || len(bodies) != 21 {
		t.Errorf("got %d ids and %d bodies, want 21 of each", len(ids), len(bodies))
	}
}

func TestStatesThatMakeNoSense(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*githubtest.State)
		want   string
	}{
		"token without login": {func(s *githubtest.State) { s.Tokens[0].Login = "" }, "login"},
		"name without owner":  {func(s *githubtest.State) { s.Repos[0].Name = "repo" }, "owner/name"},
		"missing branch":      {func(s *githubtest.State) { s.Repos[0].PullRequests[0].Head = "zz" }, `"zz"`},
		"comment on nothing":  {func(s *githubtest.State) { s.Repos[0].Comments[0].Issue = 8 }, "no pull request 8"},
		"unknown fault":       {func(s *githubtest.State) { s.Faults = []githubtest.Fault{{Operation: "repos/star"}} }, `"repos/star"`},
	} {
		t.Run(name, func(t *testing.T) {
			seed := state()
			test.change(&seed)
			_, err := githubtest.NewServer(seed)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want one with %s", err, test.want)
			}
		})
	}
}
