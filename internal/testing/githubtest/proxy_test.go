package githubtest_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/testing/githubtest"
)

func proxied(t *testing.T, upstream string) (*githubtest.Proxy, api) {
	t.Helper()
	p, err := githubtest.NewProxy(upstream)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	return p, api{t, server.URL}
}

// TestProxyIsTransparent before the fake, which answers as GitHub does.
func TestProxyIsTransparent(t *testing.T) {
	s, upstream := githubtest.New(t, state())
	p, api := proxied(t, upstream)
	seen := 0
	p.Between(func(githubtest.Request) {
		seen++
		api.send(person, "GET", "/user", "") // is not interrupted itself
	})
	made := api.send(workflow, "POST", "/repos/octo/repo/issues/7/comments", `{"body": "a"}`)
	page := api.send(workflow, "GET", "/repos/octo/repo/issues/7/comments?per_page=1", "")
	none := api.send(workflow, "GET", "/repos/octo/repo/pulls/8", "")
	gone := api.send(workflow, "DELETE", "/repos/octo/repo/issues/comments/"+lastID(s), "")
	if made.status != 201 || made.member("body") != "a" || !strings.Contains(page.header.Get("Link"), `rel="next"`) ||
		none.status != 404 || none.member("message") != "Not Found" || gone.status != 204 {
		t.Errorf("got %v, %v, %v, %v", made, page, none, gone)
	}
	if v := p.Violations(); len(v) > 0 {
		t.Errorf("got violations %v", v)
	}
	if got := p.Requests(); len(got) != 8 || seen != 4 || got[1].String() != "POST /repos/octo/repo/issues/7/comments 201" || got[1].Operation != "issues/create-comment" {
		t.Errorf("got %d interruptions and the log %v", seen, got)
	}
}

func lastID(s *githubtest.Server) string {
	all := s.Comments("octo/repo", 7)
	return strconv.FormatInt(all[len(all)-1].ID, 10)
}

// TestProxySeesWhatIsWrong on both sides, and passes it on all the same.
func TestProxySeesWhatIsWrong(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"id": "seven"}`))
	}))
	defer upstream.Close()
	p, api := proxied(t, upstream.URL)
	if got := api.send(workflow, "GET", "/repos/octo/repo/pulls/7?nonsense=1", ""); got.member("id") != "seven" {
		t.Errorf("got %v, want it as it was", got)
	}
	if got := api.send(workflow, "GET", "/repos/octo/repo/stargazers", ""); got.member("id") != "seven" {
		t.Errorf("got %v, want it as it was", got)
	}
	var got []string
	for _, v := range p.Violations() {
		got = append(got, strings.Join(strings.Fields(v.String())[:4], " "))
	}
	if want := []string{"request of pulls/get 0:", "response of pulls/get 200:", "request of 0: GET"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", p.Violations(), want)
	}
}
