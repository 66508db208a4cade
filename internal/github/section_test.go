package github_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/github/githubtest"
)

func post1(t *testing.T, address string, s github.Section) github.Comment {
	t.Helper()
	got, err := client(t, address, token).UpsertSection(t.Context(), repo, pullRequest, key, s, show)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// visible returns what people see of the only comment.
func visible(t *testing.T, s hub) string {
	t.Helper()
	all := s.Comments(fullName, pullRequest)
	if len(all) != 1 {
		t.Fatalf("got %d comments, want one", len(all))
	}
	var shown []string
	for line := range strings.Lines(all[0].Body) {
		if !strings.HasPrefix(line, "<!-- accelgate ") {
			shown = append(shown, line)
		}
	}
	return strings.Join(shown, "")
}

func sectionsAreMerged(t *testing.T, start starter) {
	s, address := start(t, state())
	at := func(host string, run int64, text string) github.Section {
		return github.Section{Host: host, Seq: github.Seq{Run: run, Attempt: 1}, Text: text}
	}
	for i, step := range []struct {
		section github.Section
		want    github.Change
		shows   string
	}{
		{at("b", 5, "one"), github.Created, "b: one\n"},
		{at("a", 5, "--> two <!--"), github.Updated, "a: --> two <!--\nb: one\n"},
		{at("a", 5, "--> two <!--"), github.Unchanged, "a: --> two <!--\nb: one\n"},
		{at("b", 4, "older"), github.Outdated, "a: --> two <!--\nb: one\n"},
		{at("b", 5, "again"), github.Updated, "a: --> two <!--\nb: again\n"},
		{at("b", 5, "one"), github.Updated, "a: --> two <!--\nb: one\n"}, // the later one of the same run counts
		{at("b", 6, "newer"), github.Updated, "a: --> two <!--\nb: newer\n"},
		{at("c\n<!-- x", 1, "\xff"), github.Updated, "a: --> two <!--\nb: newer\nc\n<!-- x: \uFFFD\n"},
	} {
		if got := post1(t, address, step.section); got.Change != step.want {
			t.Errorf("step %d: got %s, want %s", i, got.Change, step.want)
		}
		if got := visible(t, s); got != step.shows {
			t.Errorf("step %d: the comment shows %q, want %q", i, got, step.shows)
		}
	}
}

// TestASectionThatIsThereCostsOneLook and waits for nothing.
func TestASectionThatIsThereCostsOneLook(t *testing.T) {
	s, address := githubtest.New(t, state())
	post1(t, address, section(1))
	before, waits := len(s.Requests()), &clock{}
	c := clientWith(t, github.Options{BaseURL: address, Token: token, Author: actionsBot, Now: waits.now, Sleep: waits.sleep})
	if got, err := c.UpsertSection(t.Context(), repo, pullRequest, key, section(1), show); err != nil || got.Change != github.Unchanged {
		t.Errorf("got %+v, %v", got, err)
	}
	if got := len(s.Requests()) - before; got != 1 || len(waits.slept) > 0 {
		t.Errorf("got %d requests and waits %v, want one request", got, waits.slept)
	}
}

// TestAnEditedCommentIsMended damages the hidden line, the visible text and the
// marker; who posts next knows no better than what is left, and who waits for
// its own text does.
func TestAnEditedCommentIsMended(t *testing.T) {
	s, address := githubtest.New(t, state())
	post1(t, address, section(1))
	before := s.Comments(fullName, pullRequest)[0]
	edited := strings.Replace(before.Body, "sections v=1 ", "sections v=1 AAAA", 1)
	patch(t, address, fmt.Sprintf("/repos/octo/repo/issues/comments/%d", before.ID), map[string]string{"body": edited})
	post1(t, address, section(2))
	if got, want := visible(t, s), show([]github.Section{section(2)}, 0); got != want {
		t.Errorf("the comment shows %q, want %q", got, want)
	}
	post1(t, address, section(1))
	if got, want := visible(t, s), show([]github.Section{section(1), section(2)}, 0); got != want {
		t.Errorf("the comment shows %q, want %q", got, want)
	}
}

func TestTheTextOfSectionsGoesDownTheLadder(t *testing.T) {
	for _, most := range []int{65_536, 45_000, 9_000, 2_500} {
		seed := state()
		seed.Repos[0].MaxBody = most
		s, address := githubtest.New(t, seed)
		render := func(sections []github.Section, limit int) string { return strings.Repeat("x", limit) }
		for host := range 3 {
			if _, err := client(t, address, token).UpsertSection(t.Context(), repo, pullRequest, key, section(host), render); err != nil {
				t.Fatalf("limit %d: %v", most, err)
			}
		}
		if got := s.Comments(fullName, pullRequest); len(got) != 1 || len(got[0].Body) > most || len(got[0].Body) < most/3 {
			t.Errorf("limit %d: got %d comments, the first of %d bytes", most, len(got), len(got[0].Body))
		}
	}
}

func TestSectionsThatCannotWork(t *testing.T) {
	s, address := githubtest.New(t, state())
	random, noise := rand.New(rand.NewPCG(1, 1)), make([]byte, 100_000)
	for i := range noise {
		noise[i] = byte('!' + random.IntN(89))
	}
	for name, wrong := range map[string]struct {
		section github.Section
		render  func([]github.Section, int) string
	}{
		"no host":        {github.Section{Text: "x"}, show},
		"long host":      {github.Section{Host: strings.Repeat("h", 300)}, show},
		"negative run":   {github.Section{Host: "h", Seq: github.Seq{Run: -1}}, show},
		"no renderer":    {github.Section{Host: "h"}, nil},
		"huge":           {github.Section{Host: "h", Text: strings.Repeat("x", 4<<20)}, show},
		"noise":          {github.Section{Host: "h", Text: string(noise)}, func([]github.Section, int) string { return "" }},
		"text too large": {github.Section{Host: "h"}, func(_ []github.Section, limit int) string { return strings.Repeat("x", limit+1) }},
	} {
		_, err := client(t, address, token).UpsertSection(t.Context(), repo, pullRequest, key, wrong.section, wrong.render)
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if got := s.Comments(fullName, pullRequest); len(got) > 0 {
		t.Errorf("got comments %+v", got)
	}
}

// slow is a transport on which answers to readings, and texts, take a while.
type slow struct {
	next           http.RoundTripper
	reading, write time.Duration
	readings       int // how many of them; the first text only
	wrote          bool
}

func (s *slow) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPatch && !s.wrote {
		s.wrote = true
		time.Sleep(s.write)
	}
	response, err := s.next.RoundTrip(r)
	if r.Method == http.MethodGet && s.readings > 0 {
		s.readings--
		time.Sleep(s.reading)
	}
	return response, err
}

// TestNobodyIsOvertaken lets one host read before another writes, and write at
// the last moment that is allowed, and after it: the other must notice.
func TestNobodyIsOvertaken(t *testing.T) {
	seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	for _, reading := range []float64{0.5, 3, 9.9, 10.1, 25, 50} {
		for _, write := range []float64{0.1, 5, 9.9} {
			server, err := githubtest.NewServer(state())
			if err != nil {
				t.Fatal(err)
			}
			late := &slow{next: server.Direct(), reading: seconds(reading), write: seconds(write), readings: 3}
			synctest.Test(t, func(t *testing.T) {
				post := func(host int, transport http.RoundTripper) func() {
					c, err := github.New(github.Options{Token: token, Author: actionsBot, Transport: transport})
					if err != nil {
						t.Fatal(err)
					}
					return func() {
						if _, err := c.UpsertSection(t.Context(), repo, pullRequest, key, section(host), show); err != nil {
							t.Errorf("reading %vs, writing %vs, host %d: %v", reading, write, host, err)
						}
					}
				}
				post(0, server.Direct())() // there is a comment to begin with
				go post(1, late)()
				time.Sleep(100 * time.Millisecond) // it has read
				post(2, server.Direct())()
				time.Sleep(5 * time.Minute)
			})
			want := show([]github.Section{section(0), section(1), section(2)}, 0)
			if got := visible(t, server); got != want {
				t.Errorf("reading %vs, writing %vs: the comment shows %q, want %q", reading, write, got, want)
			}
		}
	}
}

// TestSectionsAmongManyComments deletes other comments between the pages of a
// listing, which hides comments from whoever lists.
func TestSectionsAmongManyComments(t *testing.T) {
	seed := state()
	for i := range 250 {
		seed.Repos[0].Comments = append(seed.Repos[0].Comments, githubtest.CommentSeed{Issue: pullRequest, Author: "alice", Body: fmt.Sprint(i)})
	}
	s, address := githubtest.New(t, seed)
	post1(t, address, section(0))
	ids := []int64{}
	for _, c := range s.Comments(fullName, pullRequest) {
		if c.Author == "alice" {
			ids = append(ids, c.ID)
		}
	}
	pages := 0
	s.Between(func(next githubtest.Request) {
		if strings.Contains(next.Path, "page=") && !strings.Contains(next.Path, "page=1&") {
			if pages++; pages < 40 && pages%3 == 0 {
				drop(t, address, ids[0])
				ids = slices.Delete(ids, 0, 1)
			}
		}
	})
	for host := range 5 {
		post1(t, address, section(host))
	}
	s.Between(nil)
	var ours []string
	for _, c := range s.Comments(fullName, pullRequest) {
		if c.Author == actionsBot {
			ours = append(ours, c.Body)
		}
	}
	if len(ours) != 1 || strings.Count(ours[0], "passed") != 5 {
		t.Errorf("got %d comments of ours, want one with five sections: %q", len(ours), ours)
	}
}

func drop(t *testing.T, address string, comment int64) {
	request, err := http.NewRequest(http.MethodDelete, fmt.Sprintf("%s/repos/octo/repo/issues/comments/%d", address, comment), nil)
	if err != nil {
		t.Error(err)
		return
	}
	request.Header.Set("Authorization", "Bearer "+userToken)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Error(err)
		return
	}
	response.Body.Close()
}

// FuzzSections reads whatever stands in the hidden line, and checks that what
// is written is read again.
func FuzzSections(f *testing.F) {
	f.Add("<!-- accelgate sections v=1 AAAA -->", "host", "text")
	f.Add("<!-- accelgate sections v=1 q1YqyC8qUbJSMjRS0lEqSy0qzszPA/GNgPyC0qTszJJMpVoA -->", "-->", "\n<!--")
	f.Add("", "\x00", strings.Repeat("x", 5000))
	f.Fuzz(func(t *testing.T, line, host, text string) {
		if len(line)+len(host)+len(text) > 20_000 {
			t.Skip("too long to fit")
		}
		seed := state()
		body := "<!-- accelgate v=1 key=report seq=0.0 sum=sha256:" + strings.Repeat("0", 64) + " -->\n" + strings.ToValidUTF8(line, "?")
		seed.Repos[0].Comments = []githubtest.CommentSeed{{Issue: pullRequest, Author: actionsBot, Body: body}}
		s, err := githubtest.NewServer(seed)
		if err != nil {
			t.Fatal(err)
		}
		mine := github.Section{Host: host, Seq: github.Seq{Run: 1 << 62, Attempt: 1}, Text: text}
		var last []github.Section
		render := func(sections []github.Section, limit int) string { last = sections; return "x" }
		for _, want := range []github.Change{github.Updated, github.Unchanged} {
			got, err := clientWith(t, github.Options{Token: token, Transport: s.Direct()}).UpsertSection(t.Context(), repo, pullRequest, key, mine, render)
			if err != nil {
				return // said why
			}
			there := slices.ContainsFunc(last, func(s github.Section) bool { return s.Host == host && s.Text == strings.ToValidUTF8(text, "\uFFFD") })
			if got.Change != want || !there {
				t.Errorf("got %s and sections %+v, want %s", got.Change, last, want)
			}
		}
		if n := len(s.Comments(fullName, pullRequest)); n != 1 {
			t.Errorf("got %d comments", n)
		}
	})
}
