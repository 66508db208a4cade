package github_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/testing/githubtest"
)

const (
	token       = "ghs_workflow0123456789" // GITHUB_TOKEN with everything
	readToken   = "ghs_reader0123456789"   // GITHUB_TOKEN of a fork's pull request
	userToken   = "ghp_alice0123456789"    // a person's
	appToken    = "ghs_app0123456789"      // another GitHub App's
	actionsBot  = "github-actions[bot]"
	fullName    = "octo/repo"
	pullRequest = 7
)

var repo = github.Repo{Owner: "octo", Name: "repo"}

func state() githubtest.State {
	return githubtest.State{
		Repos: []githubtest.Repo{{
			Name:         fullName,
			Files:        map[string]string{"README.md": "hello\n", "baselines/baseline-old.json": "{}\n"},
			Branches:     map[string]map[string]string{"work": {"main.go": "package main\n"}},
			PullRequests: []githubtest.PullRequestSeed{{Number: pullRequest, Title: "Work", Head: "work"}},
			Runs:         workflowRuns(4, 9, 100, 103, 1000),
		}},
		Tokens: []githubtest.Token{
			{Value: token, Login: actionsBot, Integration: true},
			{Value: readToken, Login: actionsBot, Integration: true, Permissions: map[string]string{
				"contents": "read", "issues": "read", "pull-requests": "read", "checks": "read",
			}},
			{Value: userToken, Login: "alice"},
			{Value: appToken, Login: "other-app[bot]", Integration: true},
		},
	}
}

// workflowRuns are the runs that tests call newer than others: one that GitHub
// does not know silences nobody.
func workflowRuns(ids ...int64) (runs []githubtest.RunSeed) {
	for _, id := range ids {
		runs = append(runs, githubtest.RunSeed{ID: id, HeadSHA: strings.Repeat("a", 40)})
	}
	return runs
}

// clock is a clock that moves by sleeping, and only so.
type clock struct {
	mu    sync.Mutex
	time  time.Duration
	slept []time.Duration
}

func (c *clock) sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.slept = append(c.slept, d)
	c.time += d
	return ctx.Err()
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Unix(0, 0).Add(c.time)
}

// client returns a client that never really sleeps.
func client(t testing.TB, address, token string) *github.Client {
	t.Helper()
	return clientWith(t, github.Options{BaseURL: address, Token: token})
}

// clientWith gives the client a clock of its own, unless it has one, and no
// randomness.
func clientWith(t testing.TB, o github.Options) *github.Client {
	t.Helper()
	if o.Sleep == nil {
		c := &clock{}
		o.Sleep, o.Now = c.sleep, c.now
	}
	if o.Random == nil {
		o.Random = func() float64 { return 0 }
	}
	o.Token = credential(o.BaseURL, o.Token)
	c, err := github.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// say is a text without anything else.
func say(body string) github.Post { return github.Post{Body: github.Fixed(body)} }

// post sends a request as somebody else does.
func post(t testing.TB, address, token, path string, body any) {
	t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequest(http.MethodPost, address+path, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+credential(address, token))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusCreated {
		t.Fatalf("POST %s: %s", path, response.Status)
	}
}

// count returns how many requests the server has seen for an operation.
func count(s hub, operation string) int {
	n := 0
	for _, r := range s.Requests() {
		if r.Operation == operation {
			n++
		}
	}
	return n
}

// interrupting is a transport that lets something else happen just before the
// first request with a method and a suffix of the path.
type interrupting struct {
	method, suffix string
	do             func()
	once           sync.Once
}

func (i *interrupting) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == i.method && strings.HasSuffix(r.URL.Path, i.suffix) {
		i.once.Do(i.do)
	}
	return http.DefaultTransport.RoundTrip(r)
}

func TestNewRefusesWhatCannotWork(t *testing.T) {
	for name, test := range map[string]struct {
		options github.Options
		want    string
	}{
		"no token":           {github.Options{}, "github-token"},
		"token of two lines": {github.Options{Token: "ghs_secret\nghs_secret"}, "github-token"},
		"no address":         {github.Options{Token: "ghs_secret", BaseURL: "api.github.com"}, "GITHUB_API_URL"},
		"other scheme":       {github.Options{Token: "ghs_secret", BaseURL: "ssh://api.github.com"}, "GITHUB_API_URL"},
		"password in it":     {github.Options{Token: "ghs_secret", BaseURL: "https://me:ghs_secret@api.github.com"}, "GITHUB_API_URL"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := github.New(test.options)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got error %v, want one with %s", err, test.want)
			}
			if strings.Contains(err.Error(), "ghs_secret") {
				t.Errorf("the error gives the token away: %v", err)
			}
		})
	}
}

func TestAddressIsTakenAsItIs(t *testing.T) {
	for _, base := range []string{"", "https://api.github.com", "https://ghes.example/api/v3", "https://ghes.example/api/v3/"} {
		var got string
		transport := roundTripper(func(r *http.Request) (*http.Response, error) {
			got = r.URL.String()
			return nil, context.Canceled
		})
		c := clientWith(t, github.Options{BaseURL: base, Token: token, Author: actionsBot, Transport: transport})
		if _, err := c.UpsertComment(t.Context(), repo, 1, "k", say("b")); err == nil {
			t.Error("a comment without a network")
		}
		want := strings.TrimSuffix(base, "/") + "/repos/octo/repo/issues/1/comments?page=1&per_page=100"
		if base == "" {
			want = "https://api.github.com" + want
		}
		if got != want {
			t.Errorf("base %q: got request for %s, want %s", base, got, want)
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestParseRepo(t *testing.T) {
	for name, want := range map[string]bool{
		"octo/repo": true, "Octo-1/.github": true, "o/a.b_c-d": true,
		"": false, "octo": false, "octo/": false, "/repo": false, "octo/repo/x": false, "octo/..": false, "../repo": false,
		"octo/re po": false, "octo/repo?x": false, "octo/repo%2f": false, "octo/ré": false, "octo/a\nb": false,
	} {
		got, err := github.ParseRepo(name)
		if (err == nil) != want || want && got.String() != name {
			t.Errorf("ParseRepo(%q): got %v, %v", name, got, err)
		}
	}
}

// TestTokenStaysSecret prints all that a caller may print.
func TestTokenStaysSecret(t *testing.T) {
	faulty := state()
	for _, operation := range []string{"issues/list-comments", "checks/list-for-ref", "repos/get"} {
		faulty.Faults = append(faulty.Faults, githubtest.Fault{Operation: operation, Times: 1, Status: 500, Message: "down"})
	}
	s, address := githubtest.New(t, faulty)
	options := github.Options{BaseURL: address, Token: readToken}
	c := clientWith(t, options)
	outputs := []string{fmt.Sprintf("%v %+v %#v %s %v", options, options, options, options, &options)}
	outputs = append(outputs, fmt.Sprintf("%v %+v %#v", c, c, c))
	dead := clientWith(t, github.Options{BaseURL: "http://127.0.0.1:1", Token: readToken})
	wrong := client(t, address, "ghs_reader0123456789-wrong")
	for _, c := range []*github.Client{c, dead, wrong} {
		_, err := c.UpsertComment(t.Context(), repo, pullRequest, "k", say("b"))
		outputs = append(outputs, fmt.Sprintf("%v %+v", err, err))
		_, err = c.UpsertCheck(t.Context(), repo, s.Head(fullName, "work"), check())
		outputs = append(outputs, fmt.Sprintf("%v %+v", err, err))
		_, err = c.OpenRefresh(t.Context(), repo, refresh())
		outputs = append(outputs, fmt.Sprintf("%v %+v", err, err))
	}
	for _, r := range s.Requests() {
		outputs = append(outputs, fmt.Sprintf("%+v", r))
	}
	if len(outputs) < 15 || slices.Contains(outputs, "<nil> <nil>") {
		t.Fatalf("not everything failed: %q", outputs)
	}
	for _, output := range outputs {
		if strings.Contains(output, readToken) {
			t.Errorf("the token is in %q", output)
		}
	}
}

// patch changes something as a person with every right does.
func patch(t testing.TB, address, path string, body any) {
	t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequest(http.MethodPatch, address+path, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+userToken)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("PATCH %s: %s", path, response.Status)
	}
}
