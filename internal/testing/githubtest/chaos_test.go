package githubtest_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/accelgate/accelgate/internal/testing/githubtest"
)

func chaotic(share float64, kinds ...githubtest.Kind) githubtest.State {
	s := state()
	s.Chaos = &githubtest.Chaos{Seed: 1, Share: share, Kinds: kinds, Pause: 10 * time.Microsecond}
	return s
}

// tried is what a client sees of one request.
func tried(transport http.RoundTripper, address, body string) (status int, data string, err error) {
	request, err := http.NewRequest("POST", address+"/repos/octo/repo/issues/7/comments", strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Authorization", "Bearer "+workflow)
	response, err := transport.RoundTrip(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	read, err := io.ReadAll(response.Body)
	return response.StatusCode, string(read), err
}

// TestEachFaultIsWhatItSays sends one comment into each kind of fault, over a
// network and without one.
func TestEachFaultIsWhatItSays(t *testing.T) {
	for kind, want := range map[githubtest.Kind]struct {
		status  string
		says    string
		broken  bool
		applied bool
	}{
		githubtest.Forbidden:   {status: "403", says: "not accessible by integration"},
		githubtest.ReadOnly:    {status: "403", says: "read-only"},
		githubtest.Missing:     {status: "404", says: "Not Found"},
		githubtest.Conflict:    {status: "409", says: "busy"},
		githubtest.Invalid:     {status: "422", says: "Validation Failed"},
		githubtest.TooMany:     {status: "429", says: "rate limit"},
		githubtest.Secondary:   {status: "403", says: "secondary rate limit"},
		githubtest.Down:        {status: "5", says: "Server Error"},
		githubtest.DownAfter:   {status: "5", says: "Server Error", applied: true},
		githubtest.Truncated:   {status: "201", broken: true, applied: true},
		githubtest.Slow:        {status: "201", says: "hello", applied: true},
		githubtest.ResetBefore: {status: "0", broken: true},
		githubtest.ResetAfter:  {status: "0", broken: true, applied: true},
		githubtest.MovedBase:   {status: "201", says: "hello", applied: true},
		githubtest.Empty:       {status: "201", says: "{}", applied: true},
		githubtest.Null:        {status: "201", says: "null", applied: true},
		githubtest.Trickle:     {status: "201", says: "hello", applied: true},
		githubtest.Expired:     {status: "401", says: "Bad credentials"},
	} {
		for _, way := range []string{"network", "direct"} {
			t.Run(string(kind)+"/"+way, func(t *testing.T) {
				s, address := githubtest.New(t, chaotic(1, kind))
				transport := http.RoundTripper(&http.Transport{DisableKeepAlives: true})
				if way == "direct" {
					transport = s.Direct()
				}
				base := s.Head("octo/repo", "main")
				status, data, err := tried(transport, address, `{"body": "hello"}`)
				if !strings.HasPrefix(fmt.Sprint(status), want.status) || (err != nil) != want.broken || !strings.Contains(data, want.says) {
					t.Errorf("got %d %q, %v, want %+v", status, data, err, want)
				}
				if got := len(s.Comments("octo/repo", 7)) == 2; got != want.applied {
					t.Errorf("the comment is there: %v, want %v", got, want.applied)
				}
				if moved := s.Head("octo/repo", "main") != base; moved != (kind == githubtest.MovedBase) {
					t.Errorf("the base moved: %v", moved)
				}
				if log := s.Requests(); len(log) != 1 || log[0].Fault != kind {
					t.Errorf("got log %+v, want the fault in it", log)
				}
			})
		}
	}
}

// TestFaultsOfSomeRequests: kinds that can happen to some requests leave others alone, the
// content of a file is shortened and its size is not, and a token does not come back.
func TestFaultsOfSomeRequests(t *testing.T) {
	s, api := start(t, state())
	sha := s.Head("octo/repo", "work")
	made := api.send(workflow, "POST", "/repos/octo/repo/check-runs", fmt.Sprintf(`{"name": "a", "head_sha": %q, "status": "in_progress"}`, sha))
	check := fmt.Sprintf("/repos/octo/repo/check-runs/%v", made.member("id"))
	for _, c := range []struct {
		kind         githubtest.Kind
		method, path string
		body         string
		status       int
	}{
		{githubtest.NoCheck, "PATCH", check, `{"name": "a"}`, 404},
		{githubtest.NoCheck, "GET", check, "", 200},
		{githubtest.NoGraph, "GET", check, "", 200},
		{githubtest.Short, "GET", "/repos/octo/repo/contents/README.md", "", 200},
		{githubtest.Expired, "GET", check, "", 401},
		{githubtest.NoGraph, "GET", check, "", 401},
	} {
		if err := s.Disturb(githubtest.Chaos{Share: 1, Kinds: []githubtest.Kind{c.kind}}); err != nil {
			t.Fatal(err)
		}
		got := api.send(workflow, c.method, c.path, c.body)
		if got.status != c.status {
			t.Errorf("%s: %s %s: got %d, want %d", c.kind, c.method, c.path, got.status, c.status)
		}
		if content, _ := got.member("content").(string); c.kind == githubtest.Short {
			data, err := base64.StdEncoding.DecodeString(content)
			if size, _ := got.member("size").(float64); err != nil || len(data) == 0 || len(data) >= int(size) {
				t.Errorf("got %d bytes of %v, %v, want fewer", len(data), size, err)
			}
		}
	}
}

// TestFaultsFromARequestOn strikes the second request and all that follow.
func TestFaultsFromARequestOn(t *testing.T) {
	with := chaotic(0, githubtest.Down)
	with.Chaos.From = 2
	s, err := githubtest.NewServer(with)
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		_, _, _ = tried(s.Direct(), "http://github.test", `{"body": "hello"}`)
	}
	for i, r := range s.Requests() {
		if (r.Fault == githubtest.Down) != (i > 0) {
			t.Errorf("request %d has fault %q", i+1, r.Fault)
		}
	}
}

func TestChaosIsAShareAndRepeats(t *testing.T) {
	faults := func(seed uint64) []githubtest.Kind {
		with := chaotic(0.2)
		with.Chaos.Seed = seed
		s, err := githubtest.NewServer(with)
		if err != nil {
			t.Fatal(err)
		}
		for range 500 {
			_, _, _ = tried(s.Direct(), "http://github.test", `{"body": "hello"}`)
		}
		var all []githubtest.Kind
		for _, r := range s.Requests() {
			all = append(all, r.Fault)
		}
		return all
	}
	one := faults(1)
	struck := len(one) - len(slices.DeleteFunc(slices.Clone(one), func(k githubtest.Kind) bool { return k != "" }))
	if struck < 70 || struck > 130 {
		t.Errorf("got %d faults in 500 requests, want about 100", struck)
	}
	if !slices.Equal(one, faults(1)) || slices.Equal(one, faults(2)) {
		t.Error("the faults do not follow from the seed")
	}
	for _, kind := range githubtest.Kinds() {
		if !slices.Contains(one, kind) {
			t.Errorf("no fault of kind %s in 500 requests", kind)
		}
	}
}

func TestChaosThatMakesNoSense(t *testing.T) {
	for want, wrong := range map[string]githubtest.Chaos{"share": {Share: 2}, `"gone"`: {Kinds: []githubtest.Kind{"gone"}}} {
		with := state()
		with.Chaos = &wrong
		if _, err := githubtest.NewServer(with); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error about %s", err, want)
		}
	}
}

func TestASecondWriterActsBetweenRequests(t *testing.T) {
	s, api := start(t, state())
	var seen []string
	s.Between(func(next githubtest.Request) {
		seen = append(seen, next.Method)
		api.send(workflow, "POST", "/repos/octo/repo/issues/7/comments", `{"body": "between"}`)
	})
	for range 2 {
		got := api.send(workflow, "GET", "/repos/octo/repo/issues/7/comments", "")
		if all, _ := got.body.([]any); len(all) != 1+len(seen) {
			t.Errorf("got %d comments after %v", len(all), seen)
		}
	}
	s.Between(nil)
	api.send(workflow, "GET", "/repos/octo/repo", "")
	if !slices.Equal(seen, []string{"GET", "GET"}) {
		t.Errorf("got calls before %v, want before the two of the client", seen)
	}
}

// TestLatency gives up a request before it arrives, after which it must not
// take effect, and one whose answer is on its way.
func TestLatency(t *testing.T) {
	with := chaotic(0)
	with.Chaos.Latency = 2 * time.Second
	s, err := githubtest.NewServer(with)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		lost, slowest := 0, time.Duration(0)
		for i := range 200 {
			client := http.Client{Transport: s.Direct(), Timeout: time.Duration(i) * 20 * time.Millisecond}
			request, _ := http.NewRequest("POST", "http://github.test/repos/octo/repo/issues/7/comments", strings.NewReader(fmt.Sprintf(`{"body": "<%d>"}`, i)))
			request.Header.Set("Authorization", "Bearer "+workflow)
			began := time.Now()
			response, err := client.Do(request)
			slowest = max(slowest, time.Since(began))
			there := slices.ContainsFunc(s.Comments("octo/repo", 7), func(c githubtest.Comment) bool { return c.Body == fmt.Sprintf("<%d>", i) })
			if err == nil {
				response.Body.Close()
			}
			if err == nil && !there {
				t.Errorf("request %d has an answer and no effect", i)
			}
			if err != nil && there {
				lost++
			}
		}
		if lost == 0 || slowest < 2*time.Second || slowest > 4*time.Second {
			t.Errorf("got %d lost answers and a longest time of %v", lost, slowest)
		}
	})
}

func TestArchivesAreOnAnotherHost(t *testing.T) {
	s, api := start(t, state())
	blobs := httptest.NewServer(s)
	defer blobs.Close()
	s.BlobHost(blobs.URL)
	listed := api.send(workflow, "GET", "/repos/octo/repo/actions/runs/100/artifacts", "").member("artifacts").([]any)
	stop := errors.New("stop")
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return stop }}
	for i, want := range []int{http.StatusFound, http.StatusGone} {
		request, _ := http.NewRequest("GET", listed[i].(map[string]any)["archive_download_url"].(string), nil)
		request.Header.Set("Authorization", "Bearer "+workflow)
		response, err := client.Do(request)
		if err != nil && !errors.Is(err, stop) || response.StatusCode != want {
			t.Fatalf("got %v, %v, want %d", response, err, want)
		}
		response.Body.Close()
		if want != http.StatusFound {
			continue
		}
		if !strings.HasPrefix(response.Header.Get("Location"), blobs.URL) {
			t.Errorf("got location %s, want one on %s", response.Header.Get("Location"), blobs.URL)
		}
		archive, err := http.Get(response.Header.Get("Location"))
		if err != nil {
			t.Fatal(err)
		}
		data, _ := io.ReadAll(archive.Body)
		archive.Body.Close()
		if string(data) != "zip of a" {
			t.Errorf("got archive %q", data)
		}
	}
}

func TestTheTokenAtTheHostOfArchivesIsAViolation(t *testing.T) {
	s, api := loose(t)
	api.send(workflow, "GET", "/_blob/1?sig=secret", "")
	if v := s.Violations(); len(v) != 1 || !strings.Contains(v[0], "token") {
		t.Errorf("got violations %q, want one about the token", v)
	}
}

func TestComparedBranches(t *testing.T) {
	s, api := start(t, state())
	s.Commit("octo/repo", "main", map[string]string{"later.txt": "x"})
	got := api.send(workflow, "GET", "/repos/octo/repo/compare/main...work", "")
	files, _ := got.member("files").([]any)
	if got.member("ahead_by") != 1.0 || got.member("behind_by") != 1.0 || len(files) != 1 || files[0].(map[string]any)["filename"] != "main.go" {
		t.Errorf("got %s", got.message())
	}
	if got := api.send(workflow, "GET", "/repos/octo/repo/compare/main...nope", ""); got.status != 404 {
		t.Errorf("got %d, want 404", got.status)
	}
	same := api.send(workflow, "GET", "/repos/octo/repo/compare/same...same", "")
	if same.member("status") != "identical" {
		t.Errorf("got %s", same.message())
	}
}

func TestPullRequestsOfForks(t *testing.T) {
	with := state()
	sha := strings.Repeat("f", 40)
	with.Repos[0].PullRequests = append(with.Repos[0].PullRequests, githubtest.PullRequestSeed{
		Number: 9, Title: "Fork", Head: "work", Fork: "mallory/repo", HeadSHA: sha, Author: "mallory",
	})
	_, api := start(t, with)
	for query, want := range map[string]int{"?head=mallory:work": 9, "?head=octo:work": 7} {
		got, _ := api.send(workflow, "GET", "/repos/octo/repo/pulls"+query, "").body.([]any)
		if len(got) != 1 || got[0].(map[string]any)["number"] != float64(want) {
			t.Errorf("%s: got %d, want number %d", query, len(got), want)
		}
	}
	got, _ := api.send(workflow, "GET", "/repos/octo/repo/commits/"+sha+"/pulls", "").body.([]any)
	if len(got) != 1 || got[0].(map[string]any)["number"] != 9.0 {
		t.Errorf("got %v, want number 9", got)
	}
}

func TestClosedPullRequestsKeepTheirHead(t *testing.T) {
	s, api := start(t, state())
	head := s.Head("octo/repo", "work")
	s.Merge("octo/repo", 7)
	s.Commit("octo/repo", "work", map[string]string{"more": "x"})
	got := api.send(workflow, "GET", "/repos/octo/repo/pulls/7", "")
	if got.member("head", "sha") != head || got.member("state") != "closed" {
		t.Errorf("got %v %v, want %s closed", got.member("head", "sha"), got.member("state"), head)
	}
	if files := s.Files("octo/repo", "main"); !slices.Contains(files, "main.go") {
		t.Errorf("got %v on the base, want what was merged", files)
	}
}
