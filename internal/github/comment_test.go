package github_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/github/githubtest"
)

const key = "report"

func bodies(s *githubtest.Server) []string {
	var all []string
	for _, c := range s.Comments(fullName, pullRequest) {
		all = append(all, c.Author+": "+c.Body)
	}
	return all
}

func TestCommentIsCreatedThenUpdated(t *testing.T) {
	s, address := githubtest.New(t, state())
	var first int64
	for i, step := range []struct {
		body string
		want github.Change
	}{
		{"one\n", github.Created},
		{"one\n", github.Unchanged},
		{"one\r\n\n", github.Unchanged}, // as the browser saves it
		{"two & <b>", github.Updated},
		{"bad byte \xff", github.Updated},
		{"bad byte \xff", github.Unchanged},
	} {
		got, err := client(t, address, token).UpsertComment(t.Context(), repo, pullRequest, key, step.body)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = got.ID
		}
		if got.Change != step.want || got.ID != first || !strings.HasPrefix(got.URL, address+"/octo/repo/pull/7#") {
			t.Errorf("step %d: got %+v, want comment %d %s", i, got, first, step.want)
		}
	}
	want := []string{actionsBot + ": <!-- accelgate:report -->\nbad byte \uFFFD"}
	if diff := cmp.Diff(bodies(s), want); diff != "" {
		t.Errorf("comments (-got +want):\n%s", diff)
	}
	if got := count(s, "issues/update-comment"); got != 2 {
		t.Errorf("got %d updates, want 2", got)
	}
}

func TestOthersCommentsAreLeftAlone(t *testing.T) {
	seed := state()
	seed.Repos[0].Comments = []githubtest.CommentSeed{
		{Issue: pullRequest, Author: "mallory", Body: "<!-- accelgate:report -->\nmine"},
		{Issue: pullRequest, Author: actionsBot, Body: "<!-- accelgate:other -->\nanother key"},
		{Issue: pullRequest, Author: actionsBot, Body: "quoting <!-- accelgate:report -->"},
		{Issue: pullRequest, Author: actionsBot, Body: "<!-- accelgate:report --> and more"},
	}
	s, address := githubtest.New(t, seed)
	before := bodies(s)
	for _, body := range []string{"one", "two"} {
		if _, err := client(t, address, token).UpsertComment(t.Context(), repo, pullRequest, key, body); err != nil {
			t.Fatal(err)
		}
	}
	want := append(before, actionsBot+": <!-- accelgate:report -->\ntwo")
	if diff := cmp.Diff(bodies(s), want); diff != "" {
		t.Errorf("comments (-got +want):\n%s", diff)
	}
}

func TestCommentIsFoundOnTheSecondPage(t *testing.T) {
	seed := state()
	for i := range 150 {
		body := fmt.Sprint(i)
		if i == 140 {
			body = "<!-- accelgate:report -->\nold"
		}
		seed.Repos[0].Comments = append(seed.Repos[0].Comments, githubtest.CommentSeed{Issue: pullRequest, Author: actionsBot, Body: body})
	}
	s, address := githubtest.New(t, seed)
	got, err := client(t, address, token).UpsertComment(t.Context(), repo, pullRequest, key, "new")
	if err != nil || got.Change != github.Updated {
		t.Fatalf("got %+v, %v, want an update", got, err)
	}
	comments := s.Comments(fullName, pullRequest)
	if len(comments) != 150 || comments[140].Body != "<!-- accelgate:report -->\nnew" {
		t.Errorf("got %d comments, the one in question is %q", len(comments), comments[140].Body)
	}
}

func TestDuplicatesConvergeOnTheOldest(t *testing.T) {
	seed := state()
	for _, author := range []string{actionsBot, "mallory", actionsBot, actionsBot} {
		seed.Repos[0].Comments = append(seed.Repos[0].Comments,
			githubtest.CommentSeed{Issue: pullRequest, Author: author, Body: "<!-- accelgate:report -->\nold"})
	}
	s, address := githubtest.New(t, seed)
	oldest := s.Comments(fullName, pullRequest)[0].ID
	got, err := client(t, address, token).UpsertComment(t.Context(), repo, pullRequest, key, "old")
	if err != nil || got.ID != oldest || got.Change != github.Unchanged {
		t.Errorf("got %+v, %v, want comment %d unchanged", got, err, oldest)
	}
	want := []string{actionsBot + ": <!-- accelgate:report -->\nold", "mallory: <!-- accelgate:report -->\nold"}
	if diff := cmp.Diff(bodies(s), want); diff != "" {
		t.Errorf("comments (-got +want):\n%s", diff)
	}
}

func TestTwoJobsThatCommentAtOnceConverge(t *testing.T) {
	s, address := githubtest.New(t, state())
	transport := &interrupting{method: "POST", suffix: "/comments", do: func() {
		if _, err := client(t, address, token).UpsertComment(t.Context(), repo, pullRequest, key, "faster"); err != nil {
			t.Error(err)
		}
	}}
	c := clientWith(t, github.Options{BaseURL: address, Token: token, Transport: transport})
	if _, err := c.UpsertComment(t.Context(), repo, pullRequest, key, "slower"); err != nil {
		t.Fatal(err)
	}
	want := []string{actionsBot + ": <!-- accelgate:report -->\nslower"}
	if diff := cmp.Diff(bodies(s), want); diff != "" {
		t.Errorf("comments (-got +want):\n%s", diff)
	}
	if got := count(s, "issues/create-comment"); got != 2 {
		t.Errorf("got %d comments created, want the race's 2", got)
	}
}

func TestWhoseTokenItIs(t *testing.T) {
	for name, test := range map[string]struct {
		token, author, want string
		asked               int
	}{
		"workflow":    {token, "", actionsBot, 1},
		"person":      {userToken, "", "alice", 1},
		"another app": {appToken, "other-app[bot]", "other-app[bot]", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s, address := githubtest.New(t, state())
			c := clientWith(t, github.Options{BaseURL: address, Token: test.token, Author: test.author})
			for _, body := range []string{"one", "two"} {
				if _, err := c.UpsertComment(t.Context(), repo, pullRequest, key, body); err != nil {
					t.Fatal(err)
				}
			}
			want := []string{test.want + ": <!-- accelgate:report -->\ntwo"}
			if diff := cmp.Diff(bodies(s), want); diff != "" {
				t.Errorf("comments (-got +want):\n%s", diff)
			}
			if got := count(s, "users/get-authenticated"); got != test.asked {
				t.Errorf("asked %d times whose token it is, want %d", got, test.asked)
			}
		})
	}
}

func TestCommentHasRoom(t *testing.T) {
	s, address := githubtest.New(t, state())
	c := client(t, address, token)
	room := github.CommentRoom(key)
	if _, err := c.UpsertComment(t.Context(), repo, pullRequest, key, strings.Repeat("é", room)); err != nil {
		t.Fatalf("a comment that fills the room: %v", err)
	}
	_, err := c.UpsertComment(t.Context(), repo, pullRequest, key, strings.Repeat("é", room+3))
	if err == nil || !strings.Contains(err.Error(), "3 characters too long") {
		t.Errorf("got error %v, want one about 3 characters", err)
	}
	if _, err := c.UpsertComment(t.Context(), repo, pullRequest, "", "body"); err == nil {
		t.Error("a comment without a key is accepted")
	}
	if _, err := c.UpsertComment(t.Context(), github.Repo{Owner: "..", Name: "user"}, pullRequest, key, "body"); err == nil {
		t.Error("a comment outside of a repository is accepted")
	}
	if got := count(s, "issues/update-comment"); got != 0 {
		t.Errorf("got %d updates, want 0: what cannot work is not sent", got)
	}
}

// FuzzCommentKey checks that no key can end the hidden first line, and that
// each finds its own comment again.
func FuzzCommentKey(f *testing.F) {
	for _, seed := range []string{"report", "a b", "-->", "--!>", "---", "a-", "%2D", "<!--", "x\n-->\n# hi", "\xff", "日本語/linux-cuda", "-%2D"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, key string) {
		if key == "" || len(key) > 10_000 {
			t.Skip("no key, or one that fills the comment")
		}
		s, err := githubtest.NewServer(state())
		if err != nil {
			t.Fatal(err)
		}
		direct := roundTripper(func(r *http.Request) (*http.Response, error) {
			w := httptest.NewRecorder()
			s.ServeHTTP(w, serverSide(r))
			return w.Result(), nil
		})
		c := clientWith(t, github.Options{Token: token, Transport: direct})
		for _, want := range []github.Change{github.Created, github.Unchanged} {
			if got, err := c.UpsertComment(t.Context(), repo, pullRequest, key, "body"); err != nil || got.Change != want {
				t.Errorf("got %+v, %v, want %s", got, err, want)
			}
		}
		for _, comment := range s.Comments(fullName, pullRequest) {
			line, body, _ := strings.Cut(comment.Body, "\n")
			inner, ended := strings.CutSuffix(strings.TrimPrefix(line, "<!-- accelgate:"), " -->")
			if !ended || strings.Contains(inner, "--") || strings.ContainsAny(inner, "<> \r") || body != "body" || !utf8.ValidString(line) {
				t.Errorf("key %q makes the comment %q", key, comment.Body)
			}
		}
		for _, v := range s.Violations() {
			t.Error(v)
		}
	})
}

// serverSide returns a client's request as a server gets it.
func serverSide(r *http.Request) *http.Request {
	r = r.Clone(r.Context())
	r.Host = r.URL.Host
	if r.Body == nil {
		r.Body = http.NoBody
	}
	return r
}
