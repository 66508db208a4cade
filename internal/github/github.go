// Package github publishes results through GitHub's REST API: one comment on a
// pull request, one check run, and the pull request that refreshes baselines.
//
// It carries text and files and knows nothing of what they say. It never looks
// at the environment: address and token are given to [New].
package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	gh "github.com/google/go-github/v62/github"
	"golang.org/x/oauth2"

	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// Options are what [New] needs. Only Token is required.
type Options struct {
	// BaseURL is the API's address as the runner gives it in GITHUB_API_URL,
	// "https://api.github.com" where empty. Nothing is appended: a GitHub
	// Enterprise Server's address already ends in /api/v3.
	BaseURL string
	// Token is the credential. It goes to BaseURL's host and nowhere else.
	Token string
	// Author is the login that the token acts as, such as "my-app[bot]". It
	// counts only where GitHub does not answer whose token it is.
	Author string
	// UserAgent names the caller to GitHub.
	UserAgent string
	// Transport sends the requests; nil means a clone of
	// http.DefaultTransport with a limit on waiting for an answer.
	Transport http.RoundTripper
	// Sleep waits between attempts and between writes; nil means a timer. It
	// returns early with the context's error.
	Sleep func(ctx context.Context, d time.Duration) error
	// Now is the time by a clock that Sleep moves; nil means time.Now. Nothing
	// but differences is used.
	Now func() time.Time
	// Random returns numbers from 0 to 1, by which writers that collide are
	// spread; nil means math/rand.
	Random func() float64
	// Wait is how long the client waits for GitHub in all, for answers and in pauses;
	// DefaultWait where zero. A request that would wait longer fails at once.
	Wait time.Duration
	// RefusalRetries is how often a refusal (403, 404, 422) is asked again before it
	// counts, by default never. GitHub's replicas refuse what was made a
	// moment ago, and proxies refuse at will.
	RefusalRetries int
}

// Format keeps the token out of whatever prints an Options.
func (o Options) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "github options for %q", o.BaseURL) }

// Client talks to one GitHub. It is safe for concurrent use. Its writes are a
// second apart, and are sent again where GitHub failed, in a way that makes
// nothing twice: what may have been made is looked for first.
type Client struct {
	api          *gh.Client
	sender       *sender
	random       func() float64
	installation bool   // the token is a GitHub App's, a workflow's own included
	author       string // Options.Author

	mu sync.Mutex
	me *identity // nil until GitHub was asked
}

// Format keeps the token out of whatever prints a Client.
func (c *Client) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "client of %q", c.api.BaseURL.Redacted())
}

// TokenRefused reports whether GitHub's last answer was that the token is wrong, revoked
// or expired.
func (c *Client) TokenRefused() bool {
	c.sender.mu.Lock()
	defer c.sender.mu.Unlock()
	return c.sender.refused
}

const defaultBaseURL = "https://api.github.com"

// New returns a client. It sends nothing yet.
func New(o Options) (*Client, error) {
	base, err := parseBaseURL(o.BaseURL)
	if err != nil {
		return nil, err
	}
	token := strings.TrimSpace(o.Token)
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("the GitHub token is empty or malformed: pass github-token: ${{ github.token }}")
	}
	o.setDefaults()
	sender := &sender{
		next: o.Transport, sleep: o.Sleep, now: o.Now, token: token, refusalRetries: o.RefusalRetries, wait: o.Wait, left: o.Wait,
	}
	api := gh.NewClient(&http.Client{
		Transport: &oauth2.Transport{
			Source: oauth2.StaticTokenSource(&oauth2.Token{AccessToken: token}),
			Base:   sender,
		},
		CheckRedirect: stayOnHost,
	})
	api.BaseURL = base
	if o.UserAgent != "" {
		api.UserAgent = o.UserAgent
	}
	return &Client{api: api, sender: sender, random: o.Random, author: o.Author,
		installation: strings.HasPrefix(token, "ghs_")}, nil
}

func (o *Options) setDefaults() {
	if o.Transport == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.ResponseHeaderTimeout = answerTimeout
		o.Transport = transport
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Wait = cmp.Or(o.Wait, DefaultWait)
	if o.Random == nil {
		o.Random = rand.Float64
	}
}

// parseBaseURL returns the address in the form that go-github wants, which
// ends in a slash.
func parseBaseURL(address string) (*url.URL, error) {
	address = cmp.Or(address, defaultBaseURL)
	base, err := url.Parse(strings.TrimRight(address, "/") + "/")
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.User != nil {
		// The address is not quoted: one that holds a password ends up here.
		return nil, errors.New("the address of GitHub's API is not a plain http or https address: " +
			"set GITHUB_API_URL as the runner does, for example to https://api.github.com")
	}
	return base, nil
}

// stayOnHost refuses redirects that would carry the token to another host:
// oauth2's transport adds it to every request.
func stayOnHost(r *http.Request, via []*http.Request) error {
	first := via[0].URL
	if r.URL.Host != first.Host || r.URL.Scheme != first.Scheme {
		return hopeless{fmt.Errorf("GitHub redirects to another host, %q", r.URL.Host)}
	}
	if len(via) >= 5 {
		return hopeless{errors.New("too many redirects")}
	}
	return nil
}

// Repo names a repository.
type Repo struct {
	Owner, Name string
}

// ParseRepo reads "owner/name", the form of GITHUB_REPOSITORY.
func ParseRepo(fullName string) (Repo, error) {
	owner, name, _ := strings.Cut(fullName, "/")
	repo := Repo{Owner: owner, Name: name}
	return repo, repo.check()
}

// String returns "owner/name".
func (r Repo) String() string { return r.Owner + "/" + r.Name }

// path is the address of something of the repository, from the API's root.
func (r Repo) path(below string) string { return "repos/" + r.Owner + "/" + r.Name + "/" + below }

var validName = lazyregexp.New(`^[A-Za-z0-9_.-]*[A-Za-z0-9_-][A-Za-z0-9_.-]*$`) // but not "." or ".."

// check keeps a name from leading to another address of the API.
func (r Repo) check() error {
	if !validName.MatchString(r.Owner) || !validName.MatchString(r.Name) {
		return fmt.Errorf("%q is not a repository: give it as owner/name", r.String())
	}
	return nil
}

// Change describes what a call did.
type Change string

// What a call did.
const (
	Created   Change = "created"
	Updated   Change = "updated"
	Unchanged Change = "unchanged"
	Outdated  Change = "outdated" // nothing: what is there is of a newer run
	Closed    Change = "closed"   // a pull request without changes
)

// perPage is the largest page GitHub serves, and maxPages bounds how many are
// read, whatever a server's links say.
const (
	perPage  = 100
	maxPages = 50
)

// allPages collects every page of a listing.
func allPages[T any](list func(gh.ListOptions) ([]T, *gh.Response, error)) ([]T, error) {
	var all []T
	for next, n := 1, 0; next != 0; n++ {
		if n == maxPages {
			return nil, hopeless{fmt.Errorf("there are more than %d of them", maxPages*perPage)}
		}
		page, response, err := list(gh.ListOptions{Page: next, PerPage: perPage})
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
		next = response.NextPage
	}
	return all, nil
}
