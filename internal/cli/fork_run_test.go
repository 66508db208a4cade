package cli_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/testing/githubtest"
)

// TestForkPushedBesideTheCommand: a push in the second of the comment was taken for an
// earlier one, and the new head was measured.
func TestForkPushedBesideTheCommand(t *testing.T) {
	t.Parallel()
	const payload = `{"action": "created", "repository": {"full_name": "octo/repo", "default_branch": "main"}, "issue": {"number": 1, "pull_request": {}},
		"comment": {"id": 3, "body": "/accelgate run", "created_at": "2026-03-01T12:00:00Z", "user": {"login": "alice"}}}`
	pushedAt := regexp.MustCompile(`"pushed_at":"[^"]*"`)
	for pushed, code := range map[string]int{"2026-03-01T11:59:59Z": exit.Passed, "2026-03-01T12:00:00Z": exit.Usage, "2026-03-01T12:00:01Z": exit.Usage} {
		for kind, token := range stepTokens {
			t.Run(pushed+"/"+kind, func(t *testing.T) {
				t.Parallel()
				s := newActionStep(t, "issue_comment", payload, map[string]string{"INPUT_GITHUB-TOKEN": token.Value})
				s.server = s.github(githubtest.State{
					Repos: []githubtest.Repo{{Name: "octo/repo", Files: map[string]string{"a": "a"}, Permissions: map[string]string{"alice": "write", "carol": "write", "dave": "write"},
						PullRequests: []githubtest.PullRequestSeed{{Title: "Work", Head: "work", Fork: "mallory/repo", HeadSHA: strings.Repeat("f", 40), Author: "mallory"}},
						Comments:     []githubtest.CommentSeed{{Issue: 1, Author: "alice", Body: "/accelgate run"}}}},
					Tokens: []githubtest.Token{token},
				})
				proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					answer := httptest.NewRecorder()
					s.ServeHTTP(answer, r)
					for name, values := range answer.Header() {
						w.Header()[name] = values
					}
					w.Header().Del("Content-Length")
					w.WriteHeader(answer.Code)
					_, _ = w.Write(pushedAt.ReplaceAll(bytes.TrimSpace(answer.Body.Bytes()), fmt.Appendf(nil, `"pushed_at":%q`, pushed)))
				}))
				defer proxy.Close()
				s.env["GITHUB_API_URL"] = proxy.URL
				got, started := s.run(t.Context()), s.server.Dispatches()
				if got != code || len(started) > 0 != (code == exit.Passed) {
					t.Errorf("exit code %d, want %d; started %v:\n%s%s", got, code, started, s.stdout.String(), s.stderr.String())
				}
			})
		}
	}
}
