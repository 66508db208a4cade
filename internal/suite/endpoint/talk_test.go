package endpoint

import (
	"bytes"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/engine/mock"
)

// asked is a request as the server got it.
type asked struct {
	Model    string `json:"model"`
	Messages []struct{ Role, Content string }
}

// overheard measures the first cell of a suite against the programmable server,
// and returns the bodies of all requests to a path.
func overheard(t *testing.T, path, text string) ([][]byte, bench.Result) {
	t.Helper()
	s := mock.New(mock.Config{Now: time.Now})
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	target, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.FlushInterval, proxy.ErrorLog = -1, log.New(io.Discard, "", 0) // the end of a load cuts requests
	var mu sync.Mutex
	var bodies [][]byte
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if r.URL.Path == path {
			mu.Lock()
			bodies = append(bodies, body)
			mu.Unlock()
		}
		proxy.ServeHTTP(w, r)
	}))
	defer front.Close()
	suite, err := openBody(t, "x.yaml", "base_url: "+front.URL+"\n"+text, env(t))
	if err != nil {
		t.Fatal(err)
	}
	r, err := suite.Measure(t.Context(), suite.Plan().Cells[0], bench.Device{})
	if err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	return slices.Clone(bodies), r
}

// conversations groups requests by their first question, and checks that each
// one continues the one before it by its answer.
func conversations(t *testing.T, bodies [][]byte) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, body := range bodies {
		var q asked
		if err := json.Unmarshal(body, &q); err != nil {
			t.Fatal(err)
		}
		var whole strings.Builder
		for i, m := range q.Messages {
			if want := []string{"user", "assistant"}[i%2]; m.Role != want || m.Content == "" {
				t.Fatalf("message %d is %+v", i, m)
			}
			whole.WriteString(m.Role + ": " + m.Content + "\n")
		}
		first := q.Messages[0].Content
		if !strings.HasPrefix(whole.String(), all[first]) {
			t.Errorf("conversation %.20q lost what came before", first)
		}
		all[first] = whole.String()
	}
	return all
}

// TestConversationsAreDecidedByTheSeed holds two runs of one suite against each
// other: how far a conversation gets depends on time, what it says does not.
func TestConversationsAreDecidedByTheSeed(t *testing.T) {
	t.Parallel()
	const text = `
request: {max_tokens: 3}
dataset: {kind: random, n: 1000, seed: SEED, cache_policy: as-is, input: {dist: fixed, value: 8}, conversation: {turns: {dist: uniform, min: 1, max: 4}, input: {dist: fixed, value: 3}}}
load: {concurrency: [3], requests: 30, warmup: {duration: 0s}}`
	run := func(seed string) map[string]string {
		bodies, r := overheard(t, "/v1/chat/completions", strings.Replace(text, "SEED", seed, 1))
		if r.Outcome != bench.Passed || r.Sample("ttft_later_turns_p50_ms") == nil {
			t.Fatalf("%s %s: %v", r.Outcome, r.Reason, r.Samples)
		}
		return conversations(t, bodies)
	}
	a, b, other := run("1"), run("1"), run("2")
	both, longest := 0, 0
	for first, whole := range a {
		again := b[first]
		if again != "" {
			both++
		}
		if !strings.HasPrefix(whole, again) && !strings.HasPrefix(again, whole) {
			t.Errorf("%q and %q", whole, again)
		}
		if other[first] != "" {
			t.Errorf("another seed asks %q too", first)
		}
		longest = max(longest, strings.Count(whole, "user: "))
	}
	if both < 3 || longest != 4 {
		t.Errorf("%d conversations occur in both runs, and the longest has %d questions", both, longest)
	}
}
