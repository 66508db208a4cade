package github_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/testing/githubtest"
)

const key = "report"

// firstLine is the hidden line, for a test that does not rely on how it is read.
var firstLine = regexp.MustCompile(`^<!-- accelgate v=1 key=(\S+) seq=(\d+\.\d+) sum=sha256:[0-9a-f]{64}( state=[a-z]+)? -->\n`)

// bodies returns the comments as "author: [key seq state] text".
func bodies(s hub) []string {
	var all []string
	for _, c := range s.Comments(fullName, pullRequest) {
		all = append(all, c.Author+": "+firstLine.ReplaceAllString(c.Body, "[$1 $2$3] "))
	}
	return all
}

func upsert(t *testing.T, address string, post github.Post) github.Comment {
	t.Helper()
	got, err := client(t, address, token).UpsertComment(t.Context(), repo, pullRequest, key, post)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func run(id, attempt int64, body string) github.Post {
	return github.Post{Seq: github.Seq{Run: id, Attempt: attempt}, Body: github.Fixed(body)}
}

func wantBodies(t *testing.T, s hub, want ...string) {
	t.Helper()
	if diff := cmp.Diff(bodies(s), want); diff != "" {
		t.Errorf("comments (-got +want):\n%s", diff)
	}
}

func commentIsCreatedThenUpdated(t *testing.T, start starter) {
	s, address := start(t, state())
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
		got := upsert(t, address, say(step.body))
		if i == 0 {
			first = got.ID
		}
		if got.Change != step.want || got.ID != first || !strings.HasPrefix(got.URL, address+"/octo/repo/pull/7#") {
			t.Errorf("step %d: got %+v, want comment %d %s", i, got, first, step.want)
		}
	}
	wantBodies(t, s, actionsBot+": [report 0.0] bad byte \uFFFD")
	if got := count(s, "issues/update-comment"); got != 2 {
		t.Errorf("got %d updates, want 2", got)
	}
}

func olderRunsDoNotOverwrite(t *testing.T, start starter) {
	s, address := start(t, state())
	for i, step := range []struct {
		post github.Post
		want github.Change
		says string
	}{
		{run(100, 1, "one"), github.Created, "[report 100.1] one"},
		{run(99, 3, "older"), github.Outdated, "[report 100.1] one"},
		{run(100, 2, "two"), github.Updated, "[report 100.2] two"},
		{run(100, 1, "late"), github.Outdated, "[report 100.2] two"},
		{run(100, 2, "two"), github.Unchanged, "[report 100.2] two"},
		{run(100, 2, "more"), github.Updated, "[report 100.2] more"},
		{run(103, 1, "more"), github.Unchanged, "[report 103.1] more"}, // but nothing of run 102 replaces it now
		{run(102, 1, "between"), github.Outdated, "[report 103.1] more"},
		{run(1000, 1, "as numbers"), github.Updated, "[report 1000.1] as numbers"},
		{say("of nobody knows when"), github.Updated, "[report 0.0] of nobody knows when"},
	} {
		if got := upsert(t, address, step.post); got.Change != step.want {
			t.Errorf("step %d: got %s, want %s", i, got.Change, step.want)
		}
		wantBodies(t, s, actionsBot+": "+step.says)
	}
}

func tamperedCommentIsWrittenAgain(t *testing.T, start starter) {
	s, address := start(t, state())
	posted := upsert(t, address, run(5, 1, "failed"))
	line, _, _ := strings.Cut(s.Comments(fullName, pullRequest)[0].Body, "\n")
	patch(t, address, fmt.Sprintf("/repos/octo/repo/issues/comments/%d", posted.ID), map[string]string{"body": line + "\npassed"})
	if got := upsert(t, address, run(5, 1, "failed")); got.Change != github.Updated {
		t.Errorf("got %s, want the text restored", got.Change)
	}
	wantBodies(t, s, actionsBot+": [report 5.1] failed")
}

func markersOfOldAreUpgraded(t *testing.T, start starter) {
	seed := state()
	seed.Repos[0].Comments = []githubtest.CommentSeed{{Issue: pullRequest, Author: actionsBot, Body: "<!-- accelgate:report -->\nold"}}
	s, address := start(t, seed)
	if got := upsert(t, address, run(1, 1, "old")); got.Change != github.Unchanged {
		t.Errorf("got %s, want the text unchanged for people", got.Change)
	}
	wantBodies(t, s, actionsBot+": [report 1.1] old")
}

func othersCommentsAreLeftAlone(t *testing.T, start starter) {
	sum := strings.Repeat("a", 64)
	seed := state()
	for _, c := range [][2]string{
		{"mallory", "<!-- accelgate:report -->\nmine"},
		{"mallory", "<!-- accelgate v=1 key=report seq=999.1 sum=sha256:" + sum + " -->\nmine and newer"},
		{actionsBot, "<!-- accelgate:other -->\nanother key"},
		{actionsBot, "quoting <!-- accelgate:report -->"},
		{actionsBot, "<!-- accelgate:report --> and more"},
		{actionsBot, "<!-- accelgate v=2 key=report seq=1.1 sum=sha256:" + sum + " -->\nof a later version"},
		{actionsBot, "<!-- accelgate v=1 key=report seq=1.1 sum=md5:" + sum + " -->\nmalformed"},
		{actionsBot, "<!-- accelgate v=1 key=report seq=99999999999999999999.1 sum=sha256:" + sum + " -->\nmalformed"},
		{actionsBot, "<!-- accelgate v=1 key=%72eport seq=1.1 sum=sha256:" + sum + " -->\nescaped otherwise"},
		{actionsBot, " <!-- accelgate v=1 key=report seq=1.1 sum=sha256:" + sum + " -->\nindented"},
	} {
		seed.Repos[0].Comments = append(seed.Repos[0].Comments, githubtest.CommentSeed{Issue: pullRequest, Author: c[0], Body: c[1]})
	}
	s, address := start(t, seed)
	before := s.Comments(fullName, pullRequest)
	for _, body := range []string{"one", "two"} {
		upsert(t, address, run(1, 1, body))
	}
	after := s.Comments(fullName, pullRequest)
	if diff := cmp.Diff(after[:len(before)], before); diff != "" {
		t.Errorf("others' comments (-got +want):\n%s", diff)
	}
	if len(after) != len(before)+1 || !strings.HasSuffix(after[len(before)].Body, "\ntwo") {
		t.Errorf("got %+v, want one more", after[len(before):])
	}
}

func commentIsFoundOnTheSecondPage(t *testing.T, start starter) {
	seed := state()
	for i := range 150 {
		body := fmt.Sprint(i)
		if i == 140 {
			body = "<!-- accelgate:report -->\nold"
		}
		seed.Repos[0].Comments = append(seed.Repos[0].Comments, githubtest.CommentSeed{Issue: pullRequest, Author: actionsBot, Body: body})
	}
	s, address := start(t, seed)
	if got := upsert(t, address, say("new")); got.Change != github.Updated {
		t.Fatalf("got %+v, want an update", got)
	}
	comments := bodies(s)
	if len(comments) != 150 || comments[140] != actionsBot+": [report 0.0] new" {
		t.Errorf("got %d comments, the one in question is %q", len(comments), comments[140])
	}
}

func duplicatesConvergeOnTheNewest(t *testing.T, start starter) {
	seed := state()
	for i, author := range []string{actionsBot, "mallory", actionsBot, actionsBot} {
		body := "<!-- accelgate:report -->\nold"
		if i == 2 {
			body = postedBy(t, run(9, 1, "newer"))
		}
		seed.Repos[0].Comments = append(seed.Repos[0].Comments, githubtest.CommentSeed{Issue: pullRequest, Author: author, Body: body})
	}
	s, address := start(t, seed)
	newest := s.Comments(fullName, pullRequest)[2].ID
	for range 2 { // one invocation has no more than five requests
		if got := upsert(t, address, run(8, 1, "mine")); got.ID != newest || got.Change != github.Outdated || got.Newer.Run != 9 {
			t.Errorf("got %+v, want comment %d, which is of a newer run", got, newest)
		}
	}
	wantBodies(t, s, "mallory: <!-- accelgate:report -->\nold", actionsBot+": [report 9.1] newer")
}

// inventedRunsSuppressNothing: a comment that names a run which GitHub does not
// know is written again.
func inventedRunsSuppressNothing(t *testing.T, start starter) {
	seed := state()
	spoofed := strings.Replace(postedBy(t, run(9, 1, "passed")), "seq=9.1", "seq=9223372036854775807.1", 1)
	seed.Repos[0].Comments = []githubtest.CommentSeed{{Issue: pullRequest, Author: actionsBot, Body: spoofed}}
	s, address := start(t, seed)
	if got := upsert(t, address, run(8, 1, "failed")); got.Change != github.Updated {
		t.Errorf("got %+v, want the comment written again", got)
	}
	wantBodies(t, s, actionsBot+": [report 8.1] failed")
}

// postedBy returns the whole text of a comment as it is posted.
func postedBy(t *testing.T, post github.Post) string {
	t.Helper()
	s, address := githubtest.New(t, state())
	upsert(t, address, post)
	return s.Comments(fullName, pullRequest)[0].Body
}

func twoJobsThatCommentAtOnceConverge(t *testing.T, start starter) {
	for name, test := range map[string]struct{ mine, other github.Post }{
		"the newer one is first":  {run(1, 1, "slower"), run(2, 1, "faster")},
		"the newer one is second": {run(2, 1, "faster"), run(1, 1, "slower")},
	} {
		t.Run(name, func(t *testing.T) {
			s, address := start(t, state())
			transport := &interrupting{method: "POST", suffix: "/comments", do: func() { upsert(t, address, test.other) }}
			c := clientWith(t, github.Options{BaseURL: address, Token: token, Transport: transport})
			if _, err := c.UpsertComment(t.Context(), repo, pullRequest, key, test.mine); err != nil {
				t.Fatal(err)
			}
			wantBodies(t, s, actionsBot+": [report 2.1] faster")
			if got := count(s, "issues/create-comment"); got != 2 {
				t.Errorf("got %d comments created, want the race's 2", got)
			}
		})
	}
}

func worseStateIsPostedAnew(t *testing.T, start starter) {
	s, address := start(t, state())
	worse := func(post github.Post, state string) github.Post {
		post.State = state
		post.Fresh = func(before string) bool { return before == "passed" && state == "failed" }
		return post
	}
	var last int64
	for i, step := range []struct {
		post  github.Post
		want  github.Change
		fresh bool
	}{
		{worse(run(1, 1, "fine"), "passed"), github.Created, true},
		{worse(run(2, 1, "still fine"), "passed"), github.Updated, false},
		{worse(run(3, 1, "broken"), "failed"), github.Created, true},
		{worse(run(3, 1, "broken"), "failed"), github.Unchanged, false},
		{worse(run(4, 1, "still broken"), "failed"), github.Updated, false},
		{worse(run(1, 1, "fine"), "passed"), github.Outdated, false},
	} {
		got := upsert(t, address, step.post)
		if got.Change != step.want || (got.ID != last) != step.fresh {
			t.Errorf("step %d: got %+v after comment %d, want %s, fresh %v", i, got, last, step.want, step.fresh)
		}
		last = got.ID
		if n := len(s.Comments(fullName, pullRequest)); n != 1 {
			t.Errorf("step %d: got %d comments, want one", i, n)
		}
	}
	wantBodies(t, s, actionsBot+": [report 4.1 state=failed] still broken")
	got, err := client(t, address, token).FindComment(t.Context(), repo, pullRequest, key)
	if want := (github.Posted{ID: last, URL: got.URL, Seq: github.Seq{Run: 4, Attempt: 1}, State: "failed", Body: "still broken"}); err != nil || got != want {
		t.Errorf("found %+v, %v, want %+v", got, err, want)
	}
	if none, err := client(t, address, token).FindComment(t.Context(), repo, pullRequest, "none"); err != nil || none.ID != 0 {
		t.Errorf("found %+v, %v under another key", none, err)
	}
}

// TestFailedCreationIsLookedFor loses the answers to everything that made
// something: nothing may be there twice.
func TestFailedCreationIsLookedFor(t *testing.T) {
	for _, kind := range []githubtest.Kind{githubtest.ResetAfter, githubtest.DownAfter, githubtest.Truncated} {
		for _, fresh := range []bool{false, true} {
			seed := state()
			seed.Chaos = &githubtest.Chaos{Seed: 3, Share: 0.3, Kinds: []githubtest.Kind{kind}}
			s, address := githubtest.New(t, seed)
			for i := range 10 {
				post := run(int64(i+1), 1, fmt.Sprint("text ", i))
				if fresh {
					post.Fresh = func(string) bool { return true }
				}
				upsert(t, address, post)
				if got := bodies(s); len(got) != 1 || got[0] != fmt.Sprintf("%s: [report %d.1] text %d", actionsBot, i+1, i) {
					t.Fatalf("%s, run %d: got %q", kind, i+1, got)
				}
			}
			if n := count(s, "issues/create-comment"); !fresh && n != 1 || fresh && n != 10 {
				t.Errorf("%s, fresh %v: got %d comments created", kind, fresh, n)
			}
		}
	}
}

func TestCommentKeepsToItsRoom(t *testing.T) {
	s, address := githubtest.New(t, state())
	ladder := github.Post{Body: func(limit int) string { return strings.Repeat("x", limit) }}
	first, second := upsert(t, address, ladder), upsert(t, address, ladder)
	got := s.Comments(fullName, pullRequest)
	if len(got) != 1 || len(got[0].Body) != github.MaxText || first.Change != github.Created || second.Change != github.Unchanged {
		t.Errorf("got %d comments, the first of %d bytes, %s then %s", len(got), len(got[0].Body), first.Change, second.Change)
	}
	seed := state()
	seed.Repos[0].MaxBody = 100
	_, address = githubtest.New(t, seed)
	if _, err := client(t, address, token).UpsertComment(t.Context(), repo, pullRequest, key, ladder); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("got %v, want GitHub's reason", err)
	}
}

func whoseTokenItIs(t *testing.T, start starter) {
	for name, test := range map[string]struct {
		token, author, want string
		asked               int
		workflow            bool
	}{
		"workflow":    {token, "", actionsBot, 1, true},
		"person":      {userToken, "", "alice", 1, false},
		"another app": {appToken, "other-app[bot]", "other-app[bot]", 1, false},
		"no suffix":   {appToken, "other-app", "other-app[bot]", 1, false},
		"wrong name":  {appToken, "app-of-last-year[bot]", "other-app[bot]", 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, address := start(t, state())
			c := clientWith(t, github.Options{BaseURL: address, Token: test.token, Author: test.author})
			before := c.FromActionsToken()
			for _, body := range []string{"one", "two"} {
				if _, err := c.UpsertComment(t.Context(), repo, pullRequest, key, say(body)); err != nil {
					t.Fatal(err)
				}
			}
			wantBodies(t, s, test.want+": [report 0.0] two")
			if got := count(s, "graphql/viewer"); got != test.asked {
				t.Errorf("asked %d times whose token it is, want %d", got, test.asked)
			}
			if after := c.FromActionsToken(); before != test.workflow || after != test.workflow {
				t.Errorf("from a workflow: %v, then %v, want %v", before, after, test.workflow)
			}
		})
	}
}

func TestCommentHasRoom(t *testing.T) {
	s, address := githubtest.New(t, state())
	c := client(t, address, token)
	full := github.Post{Seq: github.Seq{Run: 1 << 62, Attempt: 1 << 62}, Body: func(limit int) string { return strings.Repeat("e", limit) }}
	if _, err := c.UpsertComment(t.Context(), repo, pullRequest, key, full); err != nil {
		t.Fatalf("a comment that fills the room: %v", err)
	}
	_, err := c.UpsertComment(t.Context(), repo, pullRequest, key, say(strings.Repeat("é", github.MaxText/2)))
	if err == nil || !strings.Contains(err.Error(), "bytes too long") {
		t.Errorf("got error %v, want one about the length", err)
	}
	for name, wrong := range map[string]func() error{
		"no key": func() error { _, err := c.UpsertComment(t.Context(), repo, pullRequest, "", say("body")); return err },
		"no text": func() error {
			_, err := c.UpsertComment(t.Context(), repo, pullRequest, key, github.Post{})
			return err
		},
		"wrong repo": func() error {
			_, err := c.UpsertComment(t.Context(), github.Repo{Owner: "..", Name: "user"}, pullRequest, key, say("b"))
			return err
		},
		"wrong state": func() error {
			_, err := c.UpsertComment(t.Context(), repo, pullRequest, key, github.Post{Body: github.Fixed("b"), State: "a -->"})
			return err
		},
	} {
		if wrong() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if got := count(s, "issues/update-comment"); got != 0 {
		t.Errorf("got %d updates, want 0: what cannot work is not sent", got)
	}
}

func replyIsGivenOnce(t *testing.T, start starter) {
	s, address := start(t, state())
	for range 2 {
		if _, err := client(t, address, token).Reply(t.Context(), repo, pullRequest, 41, "done"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := client(t, address, token).Reply(t.Context(), repo, pullRequest, 42, "done"); err != nil {
		t.Fatal(err)
	}
	wantBodies(t, s, actionsBot+": [reply-41 0.0] done", actionsBot+": [reply-42 0.0] done")
}

// FuzzCommentKey checks that no key can end the hidden first line, and that
// each finds its own comment again.
func FuzzCommentKey(f *testing.F) {
	for _, seed := range []string{"report", "a b", "-->", "--!>", "---", "a-", "%2D", "<!--", "x\n-->\n# hi", "日本語/linux-cuda", "-%2D", "a seq=9.9"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, key string) {
		s, err := githubtest.NewServer(state())
		if err != nil {
			t.Fatal(err)
		}
		c := clientWith(t, github.Options{Token: token, Transport: s.Direct()})
		for _, want := range []github.Change{github.Created, github.Unchanged} {
			got, err := c.UpsertComment(t.Context(), repo, pullRequest, key, say("body"))
			if err != nil && (key == "" || len(key) > 3_000 || !utf8.ValidString(key)) {
				return
			}
			if err != nil || got.Change != want {
				t.Errorf("got %+v, %v, want %s", got, err, want)
			}
		}
		for _, comment := range s.Comments(fullName, pullRequest) {
			line, body, _ := strings.Cut(comment.Body, "\n")
			inner, ended := strings.CutSuffix(strings.TrimPrefix(line, "<!-- accelgate "), " -->")
			if !ended || strings.Contains(inner, "--") || strings.ContainsAny(inner, "<>\r") || strings.Count(inner, " ") != 3 || body != "body" {
				t.Errorf("key %q makes the comment %q", key, comment.Body)
			}
		}
		for _, v := range s.Violations() {
			t.Error(v)
		}
	})
}

// FuzzMarker checks that whatever a comment of ours says, it is either taken
// for somebody's text or rewritten to ours.
func FuzzMarker(f *testing.F) {
	for _, seed := range []string{
		"", "<!-- accelgate:report -->\nold", "<!-- accelgate v=1 key=report seq=1.1 sum=sha256:" + strings.Repeat("0", 64) + " -->",
		"<!-- accelgate v=1 key=report seq=18446744073709551616.0 sum=sha256:" + strings.Repeat("0", 64) + " -->\r\nx", "<!-- accelgate sections v=1 -->",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		if strings.TrimSpace(body) == "" || utf8.RuneCountInString(body) > 60_000 {
			t.Skip("no comment")
		}
		seed := state()
		seed.Repos[0].Comments = []githubtest.CommentSeed{{Issue: pullRequest, Author: actionsBot, Body: body}}
		s, err := githubtest.NewServer(seed)
		if err != nil {
			t.Fatal(err)
		}
		c := clientWith(t, github.Options{Token: token, Transport: s.Direct()})
		if _, err := c.UpsertComment(t.Context(), repo, pullRequest, key, say("body")); err != nil {
			t.Fatal(err)
		}
		all := s.Comments(fullName, pullRequest)
		last := all[len(all)-1]
		if len(all) > 2 || len(all) == 2 && all[0].Body != strings.ToValidUTF8(body, "\uFFFD") && utf8.ValidString(body) || !strings.HasSuffix(last.Body, "\nbody") {
			t.Errorf("%q becomes %+v", body, all)
		}
	})
}
