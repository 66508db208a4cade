package github_test

import (
	"bytes"
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/testing/githubtest"
)

// TestWritesAreASecondApart, however many goroutines share the client, and
// reads are not held up.
func TestWritesAreASecondApart(t *testing.T) {
	server, err := githubtest.NewServer(state())
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var writes, reads []time.Time
		c, err := github.New(github.Options{Token: token, Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			if r.Method == http.MethodGet || r.URL.Path == "/graphql" {
				reads = append(reads, time.Now())
			} else {
				writes = append(writes, time.Now())
			}
			return server.Direct().RoundTrip(r)
		})})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		var all sync.WaitGroup
		for i := range 10 {
			all.Go(func() {
				if _, err := c.UpsertComment(t.Context(), repo, pullRequest, fmt.Sprint("key ", i), say("text")); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for i := range writes[1:] {
			if gap := writes[i+1].Sub(writes[i]); gap < time.Second {
				t.Errorf("write %d came %v after the one before", i+1, gap)
			}
		}
		if len(writes) != 10 || len(reads) < 20 || reads[9].Sub(began) > 0 {
			t.Errorf("got %d writes and %d reads, the tenth after %v", len(writes), len(reads), reads[9].Sub(began))
		}
	})
}

// TestASlowAnswerIsGivenUp leaves the client without an answer, then with half
// of one that never ends.
func TestASlowAnswerIsGivenUp(t *testing.T) {
	for _, kind := range []githubtest.Kind{githubtest.Slow, githubtest.Down} {
		seed := state()
		seed.Chaos = &githubtest.Chaos{Share: 1, Kinds: []githubtest.Kind{kind}, Pause: time.Hour}
		server, err := githubtest.NewServer(seed)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) {
			c, err := github.New(github.Options{Token: token, Author: actionsBot, Transport: server.Direct()})
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if _, err := c.UpsertComment(t.Context(), repo, pullRequest, key, say("text")); err == nil {
				t.Errorf("%s: got no error", kind)
			}
			if took := time.Since(began); took > 20*time.Minute {
				t.Errorf("%s: gave up after %v", kind, took)
			}
		})
	}
}

// leaks is a server that says the token in every way it can.
func leaks(t *testing.T) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		said := r.Header.Get("Authorization")
		w.Header().Set("X-Said", said)
		switch r.URL.Query().Get("page") {
		case "":
			w.Header().Set("Location", "http://elsewhere.example/?"+said)
			w.WriteHeader(http.StatusFound)
		default:
			w.WriteHeader(http.StatusUnprocessableEntity)
			fmt.Fprintf(w, `{"message": "you said %s", "errors": [{"message": %q}]}`, said, said)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// everything calls all that a client can do and returns the errors.
func everything(ctx context.Context, c *github.Client, sha string) []error {
	var errs []error
	add := func(_ any, err error) { errs = append(errs, err) }
	do := func(err error) { errs = append(errs, err) }
	add(c.UpsertComment(ctx, repo, pullRequest, key, say("b")))
	add(c.FindComment(ctx, repo, pullRequest, key))
	add(c.Reply(ctx, repo, pullRequest, 1, "b"))
	add(c.UpsertCheck(ctx, repo, sha, check()))
	add(c.BeginCheck(ctx, repo, sha, check()))
	add(c.OpenRefresh(ctx, repo, refresh()))
	do(c.PreflightRefresh(ctx, repo))
	add(c.PullsOf(ctx, repo, repo, "work", sha))
	add(c.Label(ctx, repo, pullRequest, "performance"))
	add(c.Remarks(ctx, repo, pullRequest))
	add(c.FindCheck(ctx, repo, sha, "accelgate"))
	add(c.Compare(ctx, repo, "main", sha))
	add(c.FileAt(ctx, repo, sha, "README.md", 1<<20))
	add(c.GetPull(ctx, repo, pullRequest))
	add(c.Permission(ctx, repo, "alice"))
	do(c.React(ctx, repo, 1, "eyes"))
	add(c.Artifacts(ctx, repo, 100))
	add(c.DownloadArtifact(ctx, repo, 4, io.Discard, 1<<20))
	do(c.Dispatch(ctx, repo, "ci.yml", "main", nil))
	do(c.RerunFailedJobs(ctx, repo, 100))
	do(c.RerunAllJobs(ctx, repo, 100))
	return errs
}

// TestTheTokenIsNowhere calls everything against servers that work, refuse, die
// and repeat what they hear, and searches all that comes out: errors, values,
// what was posted and what went to other hosts.
func TestTheTokenIsNowhere(t *testing.T) {
	seed, _ := artifacts()
	bad := seed
	bad.Chaos = &githubtest.Chaos{Seed: 5, Share: 0.5}
	good, goodAddress := githubtest.New(t, seed)
	worse, worseAddress := githubtest.New(t, bad)
	var foreign bytes.Buffer
	blobs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.Write(&foreign)
		good.ServeHTTP(w, r)
	}))
	defer blobs.Close()
	good.BlobHost(blobs.URL)
	sha := good.Head(fullName, "work")
	var said strings.Builder
	failed := 0
	for _, options := range []github.Options{
		{BaseURL: goodAddress, Token: token}, {BaseURL: goodAddress, Token: readToken}, {BaseURL: goodAddress, Token: token + "-wrong"},
		{BaseURL: worseAddress, Token: token}, {BaseURL: leaks(t), Token: token, Author: actionsBot}, {BaseURL: leaks(t), Token: token},
		{BaseURL: "http://127.0.0.1:1", Token: token},
		{Token: token, Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			return nil, fmt.Errorf("proxy refused %v", r.Header)
		})},
	} {
		c := clientWith(t, options)
		fmt.Fprintf(&said, "%v %+v %#v %v %+v %#v\n", options, options, options, c, c, c)
		for _, err := range everything(t.Context(), c, sha) {
			fmt.Fprintf(&said, "%v %+v %#v\n", err, err, err)
			if err != nil {
				failed++
			}
		}
	}
	for _, s := range []*githubtest.Server{good, worse} {
		fmt.Fprintf(&said, "%+v %+v %+v %+v %+v\n", s.Requests(), s.Comments(fullName, pullRequest), s.PullRequests(fullName), s.CheckRuns(fullName, sha), s.Dispatches())
	}
	if failed < 80 || foreign.Len() == 0 || !strings.Contains(said.String(), "you said") {
		t.Fatalf("got %d failures and %d bytes at another host: the search is of nothing", failed, foreign.Len())
	}
	for what, text := range map[string]string{"output": said.String(), "request to another host": foreign.String()} {
		for _, secret := range []string{token, readToken} {
			if i := strings.Index(text, secret); i >= 0 {
				t.Errorf("the token is in the %s: %q", what, text[max(0, i-200):min(len(text), i+100)])
			}
		}
	}
}

// TestThroughAProxy starts this test's program again behind a proxy, as
// net/http reads the environment once. The addresses resolve nowhere, so
// whatever arrives came through the proxy.
func TestThroughAProxy(t *testing.T) {
	seed, _ := artifacts()
	s, err := githubtest.NewServer(seed)
	if err != nil {
		t.Fatal(err)
	}
	ghes := http.StripPrefix("/api/v3", s)
	plain, secure := httptest.NewServer(ghes), httptest.NewTLSServer(ghes)
	defer plain.Close()
	defer secure.Close()
	certificate := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	var proxied atomic.Int64
	proxy := httptest.NewServer(forward(&proxied, map[string]string{
		"http": plain.Listener.Addr().String(), "https": secure.Listener.Addr().String(),
	}))
	defer proxy.Close()
	want := []string{actionsBot + ": [report 0.0] http://ghes.example.com/api/v3", actionsBot + ": [https 0.0] https://example.com/api/v3"}
	for i, base := range []string{"http://ghes.example.com/api/v3", "https://example.com/api/v3"} {
		if i > 0 && runtime.GOOS != "linux" {
			t.Log("no https: only Linux takes certificates from SSL_CERT_FILE")
			want = want[:1]
			continue
		}
		before := proxied.Load()
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBehindAProxy$", "-test.v")
		child.Env = append(os.Environ(), "ACCELGATE_TEST_BASE="+base, "HTTP_PROXY="+proxy.URL, "HTTPS_PROXY="+proxy.URL, "NO_PROXY=", "SSL_CERT_FILE="+certificate)
		if output, err := child.CombinedOutput(); err != nil || !bytes.Contains(output, []byte("--- PASS: TestBehindAProxy")) {
			t.Errorf("%s: %v\n%s", base, err, output)
		}
		if proxied.Load() == before {
			t.Errorf("%s: nothing went through the proxy", base)
		}
	}
	wantBodies(t, s, want...)
	for _, v := range s.Violations() {
		t.Error(v)
	}
}

// TestBehindAProxy is what the above starts.
func TestBehindAProxy(t *testing.T) {
	base := os.Getenv("ACCELGATE_TEST_BASE")
	if base == "" {
		t.Skip("this is a part of TestThroughAProxy")
	}
	name := key
	if strings.HasPrefix(base, "https") {
		name = "https"
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // without a proxy the address is looked up in vain
	defer cancel()
	c, err := github.New(github.Options{BaseURL: base, Token: token})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.UpsertComment(ctx, repo, pullRequest, name, say(base)); err != nil {
		t.Fatal(err)
	}
	all, err := c.Artifacts(ctx, repo, 100)
	if err != nil {
		t.Fatal(err)
	}
	// The plain server sends to its own address, without /api/v3.
	_, err = c.DownloadArtifact(ctx, repo, all[1].ID, io.Discard, 1<<20)
	if err == nil || !strings.Contains(err.Error(), "expired") {
		t.Error(err)
	}
}

// forward is a proxy that leads every host to one of two addresses.
func forward(count *atomic.Int64, to map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		count.Add(1)
		if r.Method != http.MethodConnect {
			out := r.Clone(r.Context())
			out.RequestURI, out.URL.Host = "", to["http"]
			response, err := http.DefaultTransport.RoundTrip(out)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadGateway)
				return
			}
			defer response.Body.Close()
			for name, values := range response.Header {
				w.Header()[name] = values
			}
			w.WriteHeader(response.StatusCode)
			_, _ = io.Copy(w, response.Body)
			return
		}
		upstream, err := net.Dial("tcp", to["https"])
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		w.WriteHeader(http.StatusOK)
		client, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			upstream.Close()
			return
		}
		go func() { // ends with either side
			defer upstream.Close()
			_, _ = io.Copy(upstream, buffered)
		}()
		_, _ = io.Copy(client, upstream)
		client.Close()
	}
}

// TestTokenIsNeverSentAsText: a text, a name or an address that holds it is not
// sent at all, and the refusal is final. It repeats no text; a name in it is the
// caller's.
func TestTokenIsNeverSentAsText(t *testing.T) {
	server, err := githubtest.NewServer(state())
	if err != nil {
		t.Fatal(err)
	}
	c, err := github.New(github.Options{Token: token, Transport: server.Direct(), Sleep: func(ctx context.Context, d time.Duration) error {
		if d > 2*time.Second {
			t.Errorf("waits %v, as if it were worth another try", d)
		}
		return ctx.Err()
	}})
	if err != nil {
		t.Fatal(err)
	}
	for what, try := range map[string]func() error{
		"comment": func() error {
			_, err := c.UpsertComment(t.Context(), repo, pullRequest, "key", say("stolen: "+token))
			return err
		},
		"check": func() error {
			_, err := c.UpsertCheck(t.Context(), repo, server.Head(repo.String(), "work"), github.Check{Name: token, Conclusion: "success", Title: "x", Summary: "x"})
			return err
		},
		"start of a workflow": func() error {
			return c.Dispatch(t.Context(), repo, "w.yml", "main", map[string]string{"reason": token})
		},
	} {
		if err := try(); err == nil || !strings.Contains(err.Error(), "holds the token, and was not sent: take it out") || what != "check" && strings.Contains(err.Error(), token) {
			t.Errorf("%s: %v, want a refusal", what, err)
		}
	}
	for _, r := range server.Requests() {
		if r.Method != http.MethodGet && r.Path != "/graphql" || strings.Contains(r.Path, token) {
			t.Errorf("%s was sent", r)
		}
	}
}
