package openai_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
)

// TestKeyIsNeverShown has a server echo the key in every place that is quoted.
func TestKeyIsNeverShown(t *testing.T) {
	t.Parallel()
	const key = `sk-"se/cret\value+1`
	for name, body := range map[string]string{
		"plain": "%s", "json": `{"error":{"message":%q}}`, "stream": "data: {\"error\":%q}\n\n", "finish": token + "data: {\"choices\":[{\"finish_reason\":%q}]}\n\n",
		"query": "<html>" + url.QueryEscape(key), "bad line": "data: %s\n\n", "cut off": strings.Repeat("x", 290) + "%s",
		"far": strings.Repeat("\x00", 2390) + "%s", "model": `{"data":[{"id":%q,"owned_by":"vllm"}],"version":%[1]q}`,
	} {
		for _, status := range []int{200, 307, 401, 404, 429, 500} {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				sent := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
				if sent != key {
					t.Errorf("%s: the key did not arrive", r.URL.Path)
				}
				w.Header().Set("Location", "http://other.example/?key="+sent)
				w.Header().Set("Retry-After", sent)
				w.WriteHeader(status)
				if strings.Contains(body, "%") && name != "query" {
					fmt.Fprintf(w, body, sent)
				} else {
					write(w, body)
				}
			}))
			c := client(t, openai.Options{BaseURL: server.URL, APIKey: key})
			reply := c.Stream(t.Context(), chat(t), openai.Expect{})
			answer, err := c.Probe(t.Context())
			server.Close()
			shown := fmt.Sprintf("%v %v %v", reply, answer, err)
			for _, part := range []string{"se/cret", "cret\\value", "cret%5Cvalue", `sk-"`} {
				if strings.Contains(shown, part) {
					t.Errorf("%s, HTTP %d: %q in %s", name, status, part, shown)
				}
			}
			if reply.Outcome == "" || reply.Outcome == openai.OK && status != 200 {
				t.Errorf("%s, HTTP %d: %s", name, status, reply.Outcome)
			}
		}
	}
}

func TestKeyDoesNotTravel(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	c := client(t, openai.Options{BaseURL: server.URL, APIKey: "secret"})
	if r := c.Stream(t.Context(), chat(t), openai.Expect{}); r.Outcome != openai.HTTP4xx || !strings.Contains(r.Reason, other.URL) {
		t.Errorf("%s: %s", r.Outcome, r.Reason)
	}
	if _, err := c.Probe(t.Context()); err == nil || !strings.Contains(err.Error(), "redirects") {
		t.Errorf("probe: %v", err)
	}
}

// TestShortKeysAreWords has a server say what a short key also is.
func TestShortKeysAreWords(t *testing.T) {
	t.Parallel()
	const says = "model EMPTY of vllm is not a maximum"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(400); write(w, says) }))
	defer server.Close()
	for key, whole := range map[string]bool{"m": true, "x": true, "EMPTY": true, "vllm": true, "maximum": false} {
		r := client(t, openai.Options{BaseURL: server.URL, APIKey: key}).Stream(t.Context(), chat(t), openai.Expect{})
		if strings.Contains(r.Reason, says) != whole {
			t.Errorf("key %q: %s", key, r.Reason)
		}
	}
	closed := client(t, openai.Options{BaseURL: "http://127.0.0.1:1", APIKey: "qqqqq"})
	r := closed.Stream(t.Context(), chat(t), openai.Expect{})
	_, err := closed.Probe(t.Context())
	if shown := fmt.Sprint(r, err); strings.Contains(shown, "qqqqq") {
		t.Errorf("we show a key: %s", shown)
	}
}
