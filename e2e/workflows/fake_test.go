package workflows_test

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/testing/githubtest"
)

// fake is a running fakegithub.
type fake struct {
	address string
}

// serve starts fakegithub with a repository and the permissions of a job. When
// the test ends it must have seen nothing that breaks GitHub's description.
func (w *world) serve(t *testing.T, repo githubtest.Repo, permissions map[string]string) *fake {
	t.Helper()
	return w.serveJobs(t, repo, map[string]map[string]string{token: permissions})
}

// serveJobs is serve with the permissions of several jobs, by their tokens.
func (w *world) serveJobs(t *testing.T, repo githubtest.Repo, jobs map[string]map[string]string) *fake {
	t.Helper()
	repo.Name = repoName
	var tokens []githubtest.Token
	for value, permissions := range jobs {
		tokens = append(tokens, githubtest.Token{Value: value, Login: "github-actions[bot]", Integration: true, Permissions: permissions})
	}
	return w.serveState(t, "127.0.0.1:0", githubtest.State{Repos: []githubtest.Repo{repo}, Tokens: tokens})
}

// serveState is serve at an address, with a state of the test's own.
func (w *world) serveState(t *testing.T, at string, from githubtest.State) *fake {
	t.Helper()
	dir := t.TempDir()
	state, address := filepath.Join(dir, "state.json"), filepath.Join(dir, "address")
	writeJSON(t, state, from)
	log := &strings.Builder{}
	cmd := exec.Command(w.fakegithub, "-state", state, "-addr", at, "-addr-file", address, "-stdin")
	cmd.Stdout, cmd.Stderr = io.Discard, log
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close() // which stops it
		if err := cmd.Wait(); err != nil {
			t.Errorf("fakegithub: %v\n%s", err, log)
		}
	})
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		data, err := os.ReadFile(address)
		if err == nil {
			return &fake{address: strings.TrimSpace(string(data))}
		}
		if !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	t.Fatal("fakegithub does not start")
	return nil
}

// page returns what a page for scripts says: see fakegithub -help. Values are
// pairs of names and values.
func (f *fake) page(t *testing.T, name string, values ...string) string {
	t.Helper()
	query := url.Values{"repo": {repoName}}
	for i := 0; i < len(values); i += 2 {
		query.Set(values[i], values[i+1])
	}
	return f.request(t, http.MethodGet, name, query)
}

// do does what a user does: see fakegithub -help. It returns what the page says.
func (f *fake) do(t *testing.T, name, login string, values ...string) string {
	t.Helper()
	query := url.Values{"repo": {repoName}, "as": {login}}
	for i := 0; i < len(values); i += 2 {
		query.Set(values[i], values[i+1])
	}
	return strings.TrimSpace(f.request(t, http.MethodPost, name, query))
}

func (f *fake) request(t *testing.T, method, name string, query url.Values) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, f.address+"/_fake/"+name+"?"+query.Encode(), nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("page %s of fakegithub: %s, %v", name, response.Status, err)
	}
	if strings.Contains(string(data), token) {
		t.Errorf("page %s holds the token", name)
	}
	return string(data)
}

// list returns the JSON of a page.
func list[T any](t *testing.T, f *fake, name string, values ...string) (all []T) {
	t.Helper()
	if err := json.Unmarshal([]byte(f.page(t, name, values...)), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// wantComment checks that a pull request has one comment, with a text, and
// returns its id.
func (f *fake) wantComment(t *testing.T, issue, text string) int64 {
	t.Helper()
	all := list[githubtest.Comment](t, f, "comments", "issue", issue)
	if len(all) != 1 || !strings.Contains(all[0].Body, text) || all[0].Author != "github-actions[bot]" {
		t.Fatalf("got comments %+v, want one with %q", all, text)
	}
	return all[0].ID
}

// wantReport checks that a pull request has one report of the gate, with a text.
func (f *fake) wantReport(t *testing.T, issue, text string) {
	t.Helper()
	all := slices.DeleteFunc(list[githubtest.Comment](t, f, "comments", "issue", issue), func(c githubtest.Comment) bool {
		return !strings.HasPrefix(c.Body, "<!-- accelgate v=1 key=accelgate ")
	})
	if len(all) != 1 || !strings.Contains(all[0].Body, text) {
		t.Errorf("got reports %+v, want one with %q", all, text)
	}
}

// wantCheck checks that a commit has one check run, with a conclusion.
func (f *fake) wantCheck(t *testing.T, sha, conclusion string) {
	t.Helper()
	all := list[githubtest.CheckRun](t, f, "checks", "sha", sha)
	if len(all) != 1 || all[0].Name != "accelgate" || all[0].Status != "completed" || all[0].Conclusion != conclusion {
		t.Errorf("got check runs %+v, want one that says %s", all, conclusion)
	}
}

// wantChecks checks the conclusions of all check runs of a commit, by name.
func (f *fake) wantChecks(t *testing.T, sha string, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	for _, check := range list[githubtest.CheckRun](t, f, "checks", "sha", sha) {
		got[check.Name] = check.Conclusion
	}
	if !maps.Equal(got, want) {
		t.Errorf("got check runs %v, want %v", got, want)
	}
}

// wantNoWrites checks that nothing was asked for but reading.
func (f *fake) wantNoWrites(t *testing.T) {
	t.Helper()
	for request := range strings.Lines(f.page(t, "requests")) {
		if !strings.HasPrefix(request, "GET ") && !strings.HasPrefix(request, "POST /graphql ") {
			t.Errorf("something was written: %s", request)
		}
	}
}

func writeJSON(t *testing.T, path string, value any) {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
