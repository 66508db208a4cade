package github_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/testing/githubtest"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

const shared = "configurations"

// sectionLines are the hidden lines of a shared comment.
var sectionLines = regexp.MustCompile(`<!-- accelgate section v=1 key=(\S+) seq=(\d+\.\d+) bytes=\d+ sum=sha256:[0-9a-f]{64}( state=[a-z]+)? -->\n`)

// sections returns the comments of the pull request as "author: {name run state} text ...".
func sections(s hub) []string {
	var all []string
	for _, c := range bodies(s) {
		all = append(all, strings.ReplaceAll(sectionLines.ReplaceAllString(c, "{$1 $2$3} "), "\n\n", " "))
	}
	return all
}

func wantSections(t *testing.T, s hub, want ...string) {
	t.Helper()
	if diff := cmp.Diff(sections(s), want); diff != "" {
		t.Errorf("comments (-got +want):\n%s", diff)
	}
}

func share(t *testing.T, c *github.Client, name string, post github.Post) github.Comment {
	t.Helper()
	got, err := c.UpsertSection(t.Context(), repo, pullRequest, shared, name, post)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func configurationsShareAComment(t *testing.T, start starter) {
	for _, order := range [][]string{{"engine", "serving"}, {"serving", "engine"}} {
		s, address := start(t, state())
		for i, name := range order {
			before := len(s.Requests())
			share(t, client(t, address, token), name, run(int64(i+1), 1, name+"'s"))
			if n := len(s.Requests()) - before; n > 5 {
				t.Errorf("%s posts with %d requests, want 5 at most: %v", name, n, s.Requests()[before:])
			}
		}
		seq := map[string]string{order[0]: "1.1", order[1]: "2.1"}
		wantSections(t, s, fmt.Sprintf("%s: [%s 1.0] {engine %s} engine's {serving %s} serving's", actionsBot, shared, seq["engine"], seq["serving"]))
	}
}

func sectionsFollowTheirOwnRuns(t *testing.T, start starter) {
	s, address := start(t, state())
	c := client(t, address, token)
	share(t, c, "engine", run(4, 1, "engine"))
	for i, step := range []struct {
		name string
		post github.Post
		want github.Change
		says string
	}{
		{"serving", run(1000, 1, "serving"), github.Updated, "{engine 4.1} engine {serving 1000.1} serving"},
		{"engine", run(4, 1, "engine"), github.Unchanged, "{engine 4.1} engine {serving 1000.1} serving"},
		{"engine", run(3, 1, "late"), github.Outdated, "{engine 4.1} engine {serving 1000.1} serving"},
		{"engine", run(9, 1, "engine"), github.Unchanged, "{engine 9.1} engine {serving 1000.1} serving"},
		{"engine", run(100, 1, "better"), github.Updated, "{engine 100.1} better {serving 1000.1} serving"},
		{"serving", say("of an unknown run"), github.Updated, "{engine 100.1} better {serving 0.0} of an unknown run"},
	} {
		if got := share(t, c, step.name, step.post); got.Change != step.want {
			t.Errorf("step %d: got %s, want %s", i, got.Change, step.want)
		}
		wantSections(t, s, actionsBot+": ["+shared+" 1.0] "+step.says)
	}
	got, err := c.FindSection(t.Context(), repo, pullRequest, shared, "engine")
	if err != nil || got.Seq.Run != 100 || got.Body != "better" || got.ID == 0 {
		t.Errorf("found %+v, %v", got, err)
	}
	if none, err := c.FindSection(t.Context(), repo, pullRequest, shared, "other"); err != nil || none.ID != 0 {
		t.Errorf("found %+v, %v under another name", none, err)
	}
}

func worstSectionComesFirst(t *testing.T, start starter) {
	s, address := start(t, state())
	c := client(t, address, token)
	for i, step := range []struct{ name, state, want string }{
		{"engine", "passed", "{engine 1.1 state=passed} passed"},
		{"serving", "failed", "{serving 2.1 state=failed} failed {engine 1.1 state=passed} passed"},
		{"a", "passed", "{serving 2.1 state=failed} failed {a 3.1 state=passed} passed {engine 1.1 state=passed} passed"},
		{"serving", "passed", "{a 3.1 state=passed} passed {engine 1.1 state=passed} passed {serving 4.1 state=passed} passed"},
	} {
		post := run(int64(i+1), 1, step.state)
		post.State, post.Rank = step.state, func(state string) int { return map[string]int{"failed": 1}[state] }
		share(t, c, step.name, post)
		wantSections(t, s, actionsBot+": ["+shared+" 1.0] "+step.want)
	}
}

// hostileSectionsStay: whatever a section says, the others neither change it nor read
// it, and what was edited is left out.
func hostileSectionsStay(t *testing.T, start starter) {
	s, address := start(t, state())
	c := client(t, address, token)
	share(t, c, "serving", run(1, 1, "mine"))
	whole := s.Comments(fullName, pullRequest)[0].Body
	_, forged, _ := strings.Cut(whole, "\n")
	hostile := "a\n\n" + forged + "\n\n```\n<details>\n-->\n<!-- accelgate v=1 -->\r\n" + strings.Replace(forged, "mine", "fine", 1)
	share(t, c, "engine", run(2, 1, hostile))
	before := s.Comments(fullName, pullRequest)[0].Body
	share(t, c, "serving", run(3, 1, "mine again"))
	after := s.Comments(fullName, pullRequest)[0].Body
	if kept := strings.ReplaceAll(hostile, "\r\n", "\n"); !strings.Contains(before, kept) || strings.Count(after, kept) != 1 || !strings.HasSuffix(after, "\nmine again") {
		t.Errorf("the section of engine became\n%s", after)
	}
	posted := s.Comments(fullName, pullRequest)[0]
	patch(t, address, fmt.Sprintf("/repos/octo/repo/issues/comments/%d", posted.ID), map[string]string{"body": strings.Replace(posted.Body, "<details>", "<summary>", 1)})
	share(t, c, "serving", run(4, 1, "mine"))
	wantSections(t, s, actionsBot+": ["+shared+" 0.0] {serving 4.1} mine")
}

func twoConfigurationsAtOnce(t *testing.T, start starter) {
	for name, at := range map[string]*interrupting{
		"both create": {method: "POST", suffix: "/comments"},
		"both edit":   {method: "PATCH", suffix: ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, address := start(t, state())
			if at.method == "PATCH" {
				share(t, client(t, address, token), "other", run(1, 1, "there"))
			}
			slow := &clock{}
			o := github.Options{BaseURL: address, Token: token, Transport: at, Sleep: slow.sleep, Now: slow.now}
			at.do = func() { share(t, client(t, address, token), "serving", run(9, 1, "serving")) }
			share(t, clientWith(t, o), "engine", run(4, 1, "engine"))
			// The one that came first looks again after the pause, which passes at once here.
			share(t, client(t, address, token), "serving", run(9, 1, "serving"))
			want := "{engine 4.1} engine {serving 9.1} serving"
			if at.method == "PATCH" {
				want = "{engine 4.1} engine {other 1.1} there {serving 9.1} serving"
			}
			wantSections(t, s, actionsBot+": ["+shared+" 1.0] "+want)
		})
	}
}

func worseSectionIsPostedAnew(t *testing.T, start starter) {
	s, address := start(t, state())
	c := client(t, address, token)
	post := func(id int64, state string) github.Post {
		p := run(id, 1, state)
		p.State, p.Fresh = state, func(before string) bool { return before == "passed" && state == "failed" }
		return p
	}
	first := share(t, c, "engine", post(1, "passed"))
	share(t, c, "serving", post(2, "failed"))
	worse := share(t, c, "engine", post(3, "failed"))
	if worse.Change != github.Created || worse.ID == first.ID {
		t.Errorf("got %+v after comment %d, want a new one", worse, first.ID)
	}
	wantSections(t, s, actionsBot+": ["+shared+" 2.0] {engine 3.1 state=failed} failed {serving 2.1 state=failed} failed")
}

// leftOverSectionsAreJoined: a job that was ended between creating its comment and
// joining it to another's leaves two, which the next one makes one.
func leftOverSectionsAreJoined(t *testing.T, start starter) {
	var seeds []githubtest.CommentSeed
	for i, name := range []string{"engine", "serving"} {
		s, address := githubtest.New(t, state())
		share(t, client(t, address, token), name, run(int64(i+1), 1, name))
		seeds = append(seeds, githubtest.CommentSeed{Issue: pullRequest, Author: actionsBot, Body: s.Comments(fullName, pullRequest)[0].Body})
	}
	seed := state()
	seed.Repos[0].Comments = append(seeds, githubtest.CommentSeed{Issue: pullRequest, Author: "mallory", Body: seeds[0].Body})
	s, address := start(t, seed)
	share(t, client(t, address, token), "engine", run(4, 1, "engine"))
	wantSections(t, s, actionsBot+": ["+shared+" 1.0] {engine 4.1} engine {serving 2.1} serving", "mallory: ["+shared+" 1.0] {engine 1.1} engine")
}

// TestSectionsShareTheRoom: a section that alone would fill the comment leaves room for
// another one, and of three the one above its share gives way to a line.
func TestSectionsShareTheRoom(t *testing.T) {
	s, address := githubtest.New(t, state())
	c := client(t, address, token)
	full := func(letter string) github.Post {
		return github.Post{Seq: github.Seq{Run: 1, Attempt: 1}, Body: func(limit int) string { return strings.Repeat(letter, limit) }}
	}
	for i, name := range []string{"a", "b", "c", "a", "b", "c"} {
		share(t, c, name, full(name))
		body := s.Comments(fullName, pullRequest)[0].Body
		if len(body) > github.MaxText {
			t.Fatalf("step %d: the comment has %d bytes", i, len(body))
		}
		var counts []int
		for _, letter := range []string{"aaaa", "bbbb", "cccc"} {
			counts = append(counts, 4*strings.Count(body, letter)/1000)
		}
		want := [][]int{{29, 0, 0}, {29, 29, 0}, {29, 0, 19}, {19, 0, 19}, {19, 19, 19}, {19, 19, 19}}[i]
		if !cmp.Equal(counts, want) {
			t.Errorf("step %d: sections have %v kB, want %v", i, counts, want)
		}
	}
	if body := s.Comments(fullName, pullRequest)[0].Body; strings.Contains(body, "does not fit") {
		t.Errorf("a section is still left out:\n%.300s", body)
	}
	if _, err := c.UpsertSection(t.Context(), repo, pullRequest, shared, "d", say(strings.Repeat("d", 30_000))); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("got %v for a text beyond the share that cannot be shortened", err)
	}
}

// TestSectionsAtOnce has configurations post at the same time, in time that passes only
// while all wait: each ends with its section in the one comment.
func TestSectionsAtOnce(t *testing.T) { sectionsAtOnce(t, 10) }

func TestSectionsAtOnceNightly(t *testing.T) {
	testtier.Nightly(t)
	sectionsAtOnce(t, 300)
}

func sectionsAtOnce(t *testing.T, seeds int) {
	for seed := range uint64(seeds) {
		kind, n := tokenKinds[seed%uint64(len(tokenKinds))], 2+int(seed%4)
		synctest.Test(t, func(t *testing.T) { postAtOnce(t, seed, kind, n) })
	}
}

func postAtOnce(t *testing.T, seed uint64, kind tokenKind, n int) {
	world := state()
	world.Tokens = append(world.Tokens, kind.token)
	world.Chaos = &githubtest.Chaos{Seed: seed, Latency: 400 * time.Millisecond}
	if seed%2 == 1 {
		world.Chaos.Share, world.Chaos.Pause = 0.1, time.Second
	}
	server, err := githubtest.NewServer(world)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	want := kind.token.Login + ": [" + shared + " 1.0]"
	for i := range n {
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		c, err := github.New(github.Options{Token: kind.token.Value, Transport: server.Direct(), Random: random.Float64, RefusalRetries: 3})
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("c%d", i)
		want += fmt.Sprintf(" {%s 4.1} %s", name, name)
		all.Go(func() {
			time.Sleep(time.Duration(random.IntN(1000)) * time.Millisecond)
			if _, err := c.UpsertSection(t.Context(), repo, pullRequest, shared, name, run(4, 1, name)); err != nil {
				t.Errorf("seed %d, %s: %v", seed, name, err)
			}
		})
	}
	all.Wait()
	if diff := cmp.Diff(sections(server), []string{want}); diff != "" {
		t.Errorf("seed %d (-got +want):\n%s", seed, diff)
	}
	if made := count(server, "issues/create-comment"); made > n {
		t.Errorf("seed %d: %d jobs asked for %d comments", seed, n, made)
	}
}

// FuzzSections checks that whatever a shared comment holds, a section that was written
// there is found, and its text is the one that was written.
func FuzzSections(f *testing.F) {
	line := "<!-- accelgate section v=1 key=other seq=1.1 bytes=1 sum=sha256:" + strings.Repeat("0", 64) + " -->"
	for _, seed := range []string{"", "text", line + "\nx", line, "\n\n", strings.Replace(line, "bytes=1 ", "bytes=999999 ", 1) + "\nx", "\r\n" + line, "-->", "\x00"} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, there, says string) {
		if len(there) > 20_000 || len(says) > 20_000 {
			t.Skip("larger than a share")
		}
		seed := state()
		if strings.TrimSpace(there) != "" {
			seed.Repos[0].Comments = []githubtest.CommentSeed{{Issue: pullRequest, Author: actionsBot,
				Body: "<!-- accelgate v=1 key=" + shared + " seq=1.0 sum=sha256:" + strings.Repeat("0", 64) + " -->\n" + there}}
		}
		s, err := githubtest.NewServer(seed)
		if err != nil {
			t.Fatal(err)
		}
		c := clientWith(t, github.Options{Token: token, Transport: s.Direct()})
		share(t, c, "hostile", run(1, 1, says))
		share(t, c, "mine", run(1, 1, "mine"))
		got, err := c.FindSection(t.Context(), repo, pullRequest, shared, "hostile")
		want := strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(says, "\uFFFD"), "\r\n", "\n"))
		if err != nil || got.Body != want || len(s.Comments(fullName, pullRequest)) != 1 {
			t.Errorf("%q becomes %q, %v in %+v", says, got.Body, err, s.Comments(fullName, pullRequest))
		}
	})
}

// TestOneSharedCommentUnderAnyToken: three invocations of two configurations leave one
// comment of a token's owner, each in five requests at most, whatever GitHub says of
// whose it is.
func TestOneSharedCommentUnderAnyToken(t *testing.T) {
	for _, kind := range tokenKinds {
		for name, faults := range everyAnswerOnWhoseTokenItIs {
			t.Run(kind.name+"/"+name, func(t *testing.T) {
				seed := state()
				seed.Faults = faults
				s, address := kind.starter(t, seed)
				for i, section := range []string{"engine", "serving", "engine"} {
					before := len(s.Requests())
					c := clientWith(t, github.Options{BaseURL: address, Token: kind.token.Value})
					_, err := c.UpsertSection(t.Context(), repo, pullRequest, shared, section, run(int64(i+2), 1, section))
					if named := kind.checks() || name != "both are 403"; named != (err == nil) {
						t.Errorf("invocation %d: got %v", i, err)
					}
					if n := len(s.Requests()) - before; n > 6 { // where GraphQL is refused, one more
						t.Errorf("invocation %d: %d requests: %v", i, n, s.Requests()[before:])
					}
				}
				if n := count(s, "issues/create-comment"); n > 1 {
					t.Errorf("got %d comments created: %q", n, bodies(s))
				}
			})
		}
	}
}
