package github_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/testing/githubtest"
)

// calls are the writing functions of a client, each with valid arguments.
func calls(t *testing.T, s *githubtest.Server) map[string]func(*github.Client) error {
	return map[string]func(*github.Client) error{
		"comment": func(c *github.Client) error {
			_, err := c.UpsertComment(t.Context(), repo, pullRequest, key, say("body"))
			return err
		},
		"check": func(c *github.Client) error {
			_, err := c.UpsertCheck(t.Context(), repo, s.Head(fullName, "work"), check())
			return err
		},
		"refresh": func(c *github.Client) error {
			_, err := c.OpenRefresh(t.Context(), repo, refresh())
			return err
		},
	}
}

func TestForbiddenSaysWhatToChange(t *testing.T) {
	forbidding := state()
	forbidding.Repos[0].ForbidActionsPullRequests = true
	s, address := githubtest.New(t, forbidding)
	for _, test := range []struct{ name, call, token, want string }{
		{"read-only", "comment", readToken, `add "pull-requests: write"`},
		{"read-only", "check", readToken, `add "checks: write"`},
		{"read-only", "refresh", readToken, `add "contents: write"`},
		{"wrong", "comment", "ghs_wrong", "github-token: ${{ github.token }}"},
		{"wrong", "check", "ghs_wrong", "github-token: ${{ github.token }}"},
		{"wrong", "refresh", "ghs_wrong", "github-token: ${{ github.token }}"},
		{"a person's", "check", userToken, "check runs need the workflow's own token"},
		{"Actions'", "refresh", token, `turn on "Allow GitHub Actions to create and approve pull requests"`},
	} {
		err := calls(t, s)[test.call](client(t, address, test.token))
		if !errors.Is(err, github.ErrForbidden) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s token, %s: got %v, want ErrForbidden with %s", test.name, test.call, err, test.want)
		}
	}
}

func TestOtherErrorsAreNotForbidden(t *testing.T) {
	s, address := githubtest.New(t, state())
	c := client(t, address, token)
	_, missing := c.UpsertComment(t.Context(), repo, 99, key, say("body"))
	_, unknown := c.UpsertCheck(t.Context(), repo, strings.Repeat("0", 40), check())
	_, nowhere := c.OpenRefresh(t.Context(), github.Repo{Owner: "octo", Name: "zz"}, refresh())
	for err, want := range map[error]string{
		missing: "check the name", unknown: "No commit found for SHA", nowhere: "check the name",
	} {
		if err == nil || errors.Is(err, github.ErrForbidden) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want another error with %q", err, want)
		}
	}
	if comments := s.Comments(fullName, 99); len(comments) > 0 {
		t.Errorf("got comments %+v", comments)
	}
}

// TestWriteThatIsNotFound is GitHub's way to refuse some tokens: it hides what
// they may read but not write.
func TestWriteThatIsNotFound(t *testing.T) {
	hiding := state()
	hiding.Faults = []githubtest.Fault{{Operation: "issues/create-comment", Times: 1, Status: 404, Message: "Not Found"}}
	s, address := githubtest.New(t, hiding)
	err := calls(t, s)["comment"](client(t, address, token))
	if !errors.Is(err, github.ErrForbidden) || !strings.Contains(err.Error(), `add "pull-requests: write"`) {
		t.Errorf("got %v, want ErrForbidden with the permission", err)
	}
}

// TestUntoldWaitsDoubleInARow: a failure of another kind between two secondary limits ends the row.
func TestUntoldWaitsDoubleInARow(t *testing.T) {
	limited := githubtest.Fault{Operation: "issues/list-comments", Times: 2, Status: 403,
		Message: "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}
	down := githubtest.Fault{Operation: "issues/list-comments", Times: 1, Status: 502, Message: "Bad gateway"}
	faulty := state()
	faulty.Faults = []githubtest.Fault{limited, down, limited}
	_, address := githubtest.New(t, faulty)
	clock := &clock{}
	c := clientWith(t, github.Options{BaseURL: address, Token: token, Author: actionsBot, Sleep: clock.sleep, Now: clock.now})
	if _, err := c.UpsertComment(t.Context(), repo, pullRequest, key, say("body")); err != nil {
		t.Error(err)
	}
	want := []time.Duration{time.Minute, 2 * time.Minute, time.Second, time.Minute, 2 * time.Minute}
	if diff := cmp.Diff(clock.slept, want); diff != "" {
		t.Errorf("slept (-got +want):\n%s", diff)
	}
}

func TestPatience(t *testing.T) {
	limit := func(header map[string]string) githubtest.Fault {
		return githubtest.Fault{
			Operation: "issues/create-comment", Times: 2, Status: 403, Header: header,
			Message: "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
		}
	}
	busy := limit(nil)
	busy.Status, busy.Message, busy.Times = 429, "Too many requests", 100
	down := githubtest.Fault{Operation: "issues/list-comments", Times: 2, Status: 502, Message: "Bad gateway"}
	write := down
	write.Operation, write.Times = "issues/create-comment", 1
	primary := limit(map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "4102444800"})
	primary.Message = "API rate limit exceeded for installation ID 1."
	soon := primary
	soon.Header = map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1735689605", "Date": "Wed, 01 Jan 2025 00:00:00 GMT"}
	for name, test := range map[string]struct {
		fault githubtest.Fault
		slept []time.Duration
		fails string
	}{
		"waits as told":            {limit(map[string]string{"Retry-After": "7"}), []time.Duration{7 * time.Second, 7 * time.Second}, ""},
		"doubles a minute untold":  {limit(nil), []time.Duration{time.Minute, 2 * time.Minute}, ""},
		"gives up on a long wait":  {limit(map[string]string{"Retry-After": "3600"}), nil, "secondary rate limit"},
		"gives up after its time":  {busy, []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 110 * time.Second}, "run it again when the limit is over"},
		"gives up on a used limit": {primary, nil, "run it again when the limit is over"},
		"waits for the reset":      {soon, []time.Duration{6 * time.Second, 6 * time.Second}, ""},
		"repeats reads":            {down, []time.Duration{time.Second, 2 * time.Second}, ""},
		"never creates twice":      {write, []time.Duration{time.Second}, "GitHub did not confirm the comment"},
	} {
		t.Run(name, func(t *testing.T) {
			faulty := state()
			faulty.Faults = []githubtest.Fault{test.fault}
			s, address := githubtest.New(t, faulty)
			clock := &clock{}
			c := clientWith(t, github.Options{BaseURL: address, Token: token, Author: actionsBot, Sleep: clock.sleep, Now: clock.now})
			_, err := c.UpsertComment(t.Context(), repo, pullRequest, key, say("body"))
			if test.fails == "" && err != nil || test.fails != "" && (err == nil || !strings.Contains(err.Error(), test.fails)) {
				t.Errorf("got error %v, want %q", err, test.fails)
			}
			if errors.Is(err, github.ErrForbidden) {
				t.Errorf("got ErrForbidden: %v", err)
			}
			if diff := cmp.Diff(clock.slept, test.slept); diff != "" {
				t.Errorf("slept (-got +want):\n%s", diff)
			}
			want := 0
			if test.fails == "" {
				want = 1
			}
			if got := s.Comments(fullName, pullRequest); len(got) != want {
				t.Errorf("got comments %+v, want %d", got, want)
			}
		})
	}
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	faulty := state()
	faulty.Faults = []githubtest.Fault{{
		Operation: "issues/list-comments", Times: 1, Status: 429, Header: map[string]string{"Retry-After": "60"},
	}}
	_, address := githubtest.New(t, faulty)
	ctx, cancel := context.WithCancel(t.Context())
	waiting := roundTripper(func(r *http.Request) (*http.Response, error) {
		defer cancel() // the client sleeps for a minute next
		return http.DefaultTransport.RoundTrip(r)
	})
	c := clientWith(t, github.Options{BaseURL: address, Token: token, Author: actionsBot, Transport: waiting})
	if _, err := c.UpsertComment(ctx, repo, pullRequest, key, say("body")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func TestTokenStaysOnItsHost(t *testing.T) {
	var carried []string
	foreign := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		carried = append(carried, r.Header.Get("Authorization"))
	}))
	defer foreign.Close()
	home := httptest.NewServer(http.RedirectHandler(foreign.URL, http.StatusTemporaryRedirect))
	defer home.Close()
	_, err := client(t, home.URL, token).UpsertComment(t.Context(), repo, pullRequest, key, say("body"))
	if err == nil || !strings.Contains(err.Error(), "redirects to another host") {
		t.Errorf("got error %v, want one about the redirect", err)
	}
	if len(carried) > 0 {
		t.Errorf("the foreign host got %d requests", len(carried))
	}
}

func TestAnswersThatAreNotGitHubs(t *testing.T) {
	for name, body := range map[string]string{"HTML": "<html>", "another type": `{"a": 1}`, "cut off": `[{"id": 1`, "nulls": `[null, {"user": null}]`} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }))
			defer server.Close()
			c := clientWith(t, github.Options{BaseURL: server.URL, Token: token, Author: actionsBot})
			if got, err := c.UpsertComment(t.Context(), repo, pullRequest, key, say("body")); err == nil {
				t.Errorf("got %+v, want an error", got)
			}
		})
	}
}

func TestPagesWithoutEnd(t *testing.T) {
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", fmt.Sprintf(`<%s%s?page=2>; rel="next"`, server.URL, r.URL.Path))
		fmt.Fprint(w, "[]")
	}))
	defer server.Close()
	c := clientWith(t, github.Options{BaseURL: server.URL, Token: token, Author: actionsBot})
	if _, err := c.UpsertComment(t.Context(), repo, pullRequest, key, say("body")); err == nil || !strings.Contains(err.Error(), "more than 5000") {
		t.Errorf("got %v, want an error about the number of pages", err)
	}
}

// TestPatienceEnds lets GitHub be down for good.
func TestPatienceEnds(t *testing.T) {
	down := state()
	for _, operation := range []string{"issues/list-comments", "checks/create", "git/update-ref", "pulls/list"} {
		down.Faults = append(down.Faults, githubtest.Fault{Operation: operation, Times: 1000, Status: 502, Message: "Bad gateway"})
	}
	s, address := githubtest.New(t, down)
	for name, call := range calls(t, s) {
		clock := &clock{}
		err := call(clientWith(t, github.Options{BaseURL: address, Token: token, Author: actionsBot, Sleep: clock.sleep, Now: clock.now}))
		if err == nil || !strings.Contains(err.Error(), "run it again later") {
			t.Errorf("%s: got %v, want an error that says so", name, err)
		}
		if clock.time < time.Minute || clock.time > 4*time.Minute {
			t.Errorf("%s: gave up after %v, want some minutes", name, clock.time)
		}
	}
}
