package github_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/testing/githubtest"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

const records = "accelgate-history"

// appending adds a line to a file, once.
func appending(path, line string) github.Revision {
	return github.Revision{Branch: records, Message: "add " + line, Paths: []string{path}, Limit: 1 << 20,
		Edit: func(files map[string][]byte) (map[string][]byte, error) {
			before := string(files[path])
			if strings.Contains(before, line+"\n") {
				return files, nil
			}
			return map[string][]byte{path: []byte(before + line + "\n")}, nil
		}}
}

func TestReviseMakesABranchOfItsOwn(t *testing.T) {
	t.Parallel()
	s, address := githubtest.New(t, state())
	c := client(t, address, token)
	revise := func(path, line string, want github.Change) {
		t.Helper()
		if got, err := c.Revise(t.Context(), repo, appending(path, line)); err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", line, got, err, want)
		}
	}
	revise("a.jsonl", "one", github.Updated)
	revise("a.jsonl", "two", github.Updated)
	revise("b.jsonl", "\xff", github.Updated)
	head := s.Head(fullName, records)
	revise("a.jsonl", "one", github.Unchanged)
	if s.Head(fullName, records) != head {
		t.Error("the same again made a commit")
	}
	if got, _ := s.File(fullName, records, "a.jsonl"); got != "one\ntwo\n" {
		t.Errorf("a.jsonl holds %q", got)
	}
	if got := s.Files(fullName, records); !slices.Equal(got, []string{"a.jsonl", "b.jsonl"}) {
		t.Errorf("the branch has %v, want nothing of the default branch", got)
	}
	if got := s.Commits(fullName, records); got != 1 {
		t.Errorf("a clone of the branch gets %d commits, want 1", got)
	}
	data, found, err := c.BranchFile(t.Context(), repo, records, "b.jsonl", 100)
	if err != nil || !found || string(data) != "\xff\n" {
		t.Errorf("b.jsonl is read as %q, %v, %v", data, found, err)
	}
	for _, v := range s.Violations() {
		t.Error(v)
	}
}

func TestBranchFileIsBounded(t *testing.T) {
	t.Parallel()
	seed := state()
	seed.Repos[0].Branches[records] = map[string]string{"large": strings.Repeat("x", 101), "folder/inside": "x"}
	_, address := githubtest.New(t, seed)
	c := client(t, address, readToken)
	for _, b := range []struct{ branch, path string }{{"nowhere", "large"}, {records, "absent"}} {
		if _, found, err := c.BranchFile(t.Context(), repo, b.branch, b.path, 100); found || err != nil {
			t.Errorf("%s of %s: %v, %v, want nothing", b.path, b.branch, found, err)
		}
	}
	if _, _, err := c.BranchFile(t.Context(), repo, records, "large", 100); !errors.Is(err, github.ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	if _, _, err := c.BranchFile(t.Context(), repo, records, "folder", 100); err == nil || !strings.Contains(err.Error(), "is not a file: delete it") {
		t.Errorf("a folder: %v", err)
	}
	for _, path := range []string{"", "a/b", "..", "/etc/passwd", "a\nb"} {
		if _, _, err := c.BranchFile(t.Context(), repo, records, path, 100); err == nil {
			t.Errorf("path %q was read", path)
		}
	}
	if got, err := c.DefaultBranch(t.Context(), repo); err != nil || got != "main" {
		t.Errorf("the default branch is %q, %v", got, err)
	}
}

// TestReviseWhereTheMoveIsRefused: a refusal leaves the branch alone, and a failure
// of the server is tried again.
func TestReviseWhereTheMoveIsRefused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		fault githubtest.Fault
		want  error
		file  string
	}{
		{githubtest.Fault{Operation: "graphql/updateRefs", Times: 99, Status: 403, Message: "Resource not accessible by integration"}, github.ErrForbidden, "one\n"},
		{githubtest.Fault{Operation: "graphql/updateRefs", Times: 1, Status: 502, Message: "Bad gateway"}, nil, "one\ntwo\n"},
	} {
		seed := state()
		seed.Repos[0].Branches[records] = map[string]string{"a": "one\n"}
		seed.Faults = []githubtest.Fault{test.fault}
		s, address := githubtest.New(t, seed)
		if _, err := client(t, address, token).Revise(t.Context(), repo, appending("a", "two")); !errors.Is(err, test.want) {
			t.Errorf("%d: %v, want %v", test.fault.Status, err, test.want)
		}
		if got, _ := s.File(fullName, records, "a"); got != test.file {
			t.Errorf("%d: the file holds %q, want %q", test.fault.Status, got, test.file)
		}
	}
}

func TestReviseRefuses(t *testing.T) {
	t.Parallel()
	s, address := githubtest.New(t, state())
	broken := appending("a", "x")
	broken.Edit = func(map[string][]byte) (map[string][]byte, error) { return nil, errors.New("no such luck") }
	onMain := appending("README.md", "x")
	onMain.Branch = "main"
	for want, r := range map[string]github.Revision{"no such luck": broken, "choose one that nothing else uses": onMain, "not a name for a branch": {Branch: "a b"},
		"name one": {Branch: records}} {
		if _, err := client(t, address, token).Revise(t.Context(), repo, r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := client(t, address, readToken).Revise(t.Context(), repo, appending("a", "x")); !errors.Is(err, github.ErrForbidden) {
		t.Errorf("a token that may only read: %v", err)
	}
	if got := s.Head(fullName, records); got != "" {
		t.Errorf("the branch is at %s", got)
	}
}

// TestASecondReviserAnywhere lets another job do the same between any two
// requests of the first.
func TestASecondReviserAnywhere(t *testing.T) {
	t.Parallel()
	for at, last := 1, false; !last; at++ {
		s, address := githubtest.New(t, state())
		seen := 0
		s.Between(func(githubtest.Request) {
			if seen++; seen == at {
				if _, err := client(t, address, token).Revise(t.Context(), repo, appending("a", "second")); err != nil {
					t.Error(err)
				}
			}
		})
		if _, err := client(t, address, token).Revise(t.Context(), repo, appending("a", "first")); err != nil {
			t.Error(err)
		}
		s.Between(nil)
		got, _ := s.File(fullName, records, "a")
		if last = seen < at; !last && (strings.Count(got, "first") != 1 || strings.Count(got, "second") != 1) {
			t.Errorf("before request %d: the file holds %q", at, got)
		}
		if last && at < 5 {
			t.Errorf("got %d requests in all, which are too few to be everything", at)
		}
	}
}

// TestCrowdOfRevisers has 32 hosts append to one file at once, with faults on a
// fifth of all requests: each line is there once.
func TestCrowdOfRevisers(t *testing.T) { crowdRevises(t, 2) }

func TestCrowdOfRevisersNightly(t *testing.T) {
	testtier.Nightly(t)
	crowdRevises(t, 25)
}

func crowdRevises(t *testing.T, trials uint64) {
	t.Parallel()
	for seed := range trials {
		server, err := githubtest.NewServer(crowded(seed, githubtest.Transient()...))
		if err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) {
			inCrowd(t, seed, server, 0, func(ctx context.Context, c *github.Client, host int) error {
				_, err := c.Revise(ctx, repo, appending("runs.jsonl", fmt.Sprintf("host %02d", host)))
				return err
			})
		})
		got, _ := server.File(fullName, records, "runs.jsonl")
		for host := range crowd {
			if n := strings.Count(got, fmt.Sprintf("host %02d\n", host)); n != 1 {
				t.Errorf("seed %d: host %d is there %d times", seed, host, n)
			}
		}
	}
}
