package github_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/testing/githubtest"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

const crowd = 32

// maxCrowded is twice what the slowest host of 100 trials takes with these faults. The
// default for api-wait is for a GitHub that does not fail a fifth of all requests. A host
// that reads more, the more others have written, takes longer than this.
const maxCrowded = 30 * time.Minute

// crowded is GitHub on a bad day: a fifth of the requests fail in some way, and
// every one takes up to three seconds each way.
func crowded(seed uint64, kinds ...githubtest.Kind) githubtest.State {
	s := state()
	s.CheckEvery = 17
	s.Chaos = &githubtest.Chaos{Seed: seed, Share: 0.2, Kinds: kinds, Pause: 3 * time.Second, Latency: 3 * time.Second}
	return s
}

// inCrowd runs act for 32 hosts at once, in time that passes only while all of
// them wait, and returns how long it took by that time.
func inCrowd(t *testing.T, seed uint64, server *githubtest.Server, retries int, act func(ctx context.Context, c *github.Client, host int) error) time.Duration {
	began := time.Now()
	var all sync.WaitGroup
	for host := range crowd {
		random := rand.New(rand.NewPCG(seed, uint64(host)))
		c, err := github.New(github.Options{
			Token: token, Transport: server.Direct(), Random: random.Float64, RefusalRetries: retries, Wait: maxCrowded,
		})
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			if err := act(t.Context(), c, host); err != nil {
				t.Errorf("seed %d, host %d: %v", seed, host, err)
			}
		})
	}
	all.Wait()
	for _, v := range server.Violations() {
		t.Errorf("seed %d: %s", seed, v)
	}
	return time.Since(began)
}

// TestCrowd has 32 hosts propose at once, with faults on a fifth of all
// requests: they end in one pull request with all files.
func TestCrowd(t *testing.T) { crowdProposes(t, 2) }

func TestCrowdNightly(t *testing.T) {
	testtier.Nightly(t)
	crowdProposes(t, 100)
}

func crowdProposes(t *testing.T, trials uint64) {
	const shards = 2
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // most of it is garbage at once
	var requests, faults, longest atomic.Int64
	t.Run("seeds", func(t *testing.T) {
		for shard := range uint64(shards) {
			t.Run(fmt.Sprint(shard), func(t *testing.T) {
				t.Parallel()
				for seed := shard; seed < trials; seed += shards {
					server, took := trial(t, seed)
					longest.Store(max(longest.Load(), int64(took)))
					for _, r := range server.Requests() {
						requests.Add(1)
						if r.Fault != "" {
							faults.Add(1)
						}
					}
				}
			})
		}
	})
	t.Logf("%d trials, %d requests, %d of them with a fault, %v at most by the hosts' clocks",
		trials, requests.Load(), faults.Load(), time.Duration(longest.Load()))
}

func trial(t *testing.T, seed uint64) (server *githubtest.Server, took time.Duration) {
	// Where refusals are among the faults, the client has to retries them.
	kinds, retries := githubtest.Transient(), 0
	if seed%3 == 1 {
		kinds, retries = githubtest.Kinds(), 8
	}
	server, err := githubtest.NewServer(crowded(seed, kinds...))
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		took = inCrowd(t, seed, server, retries, func(ctx context.Context, c *github.Client, host int) error {
			own := refresh()
			own.Files = map[string][]byte{fmt.Sprintf("baselines/baseline-%02d.json", host): fmt.Appendf(nil, "{\"host\": %d}\n", host)}
			own.Labels = []string{"baselines"}
			_, err := c.OpenRefresh(ctx, repo, own)
			return err
		})
	})
	wantAllFiles(t, seed, server)
	return server, took
}

func wantAllFiles(t *testing.T, seed uint64, server *githubtest.Server) {
	t.Helper()
	pulls := proposed(server)
	if len(pulls) != 1 || pulls[0].State != "open" || len(pulls[0].Labels) != 1 {
		t.Errorf("seed %d: got pull requests %+v, want exactly one, open", seed, pulls)
	}
	for host := range crowd {
		path := fmt.Sprintf("baselines/baseline-%02d.json", host)
		if got, _ := server.File(fullName, branch, path); got != fmt.Sprintf("{\"host\": %d}\n", host) {
			t.Errorf("seed %d: %s holds %q", seed, path, got)
		}
	}
	if got, _ := server.File(fullName, branch, "README.md"); got != "hello\n" {
		t.Errorf("seed %d: the base's files are not on the branch", seed)
	}
}

// aSecondWriterAnywhere lets another job do the same in full between any
// two requests of the first.
func aSecondWriterAnywhere(t *testing.T, start starter) {
	work := func(t *testing.T, address, sha string, host int) {
		c := client(t, address, token)
		if _, err := c.UpsertComment(t.Context(), repo, pullRequest, key, run(7, 1, "text")); err != nil {
			t.Error(err)
		}
		if _, err := c.UpsertCheck(t.Context(), repo, sha, check()); err != nil {
			t.Error(err)
		}
		own := refresh()
		own.Files = map[string][]byte{fmt.Sprintf("baselines/baseline-%02d.json", host): fmt.Append(nil, host)}
		if _, err := c.OpenRefresh(t.Context(), repo, own); err != nil {
			t.Error(err)
		}
	}
	for at, last := 1, false; !last; at++ {
		s, address := start(t, state())
		sha, seen := s.Head(fullName, "work"), 0
		s.Between(func(githubtest.Request) {
			if seen++; seen == at {
				work(t, address, sha, 1)
			}
		})
		work(t, address, sha, 0)
		last = seen < at // the first was done before
		s.Between(nil)
		hosts := 2
		if last {
			hosts = 1
		}
		wantBodies(t, s, actionsBot+": [report 7.1] text")
		if pulls := proposed(s); len(pulls) != 1 {
			t.Errorf("before request %d: got pull requests %+v", at, pulls)
		}
		for host := range hosts {
			wantFile(t, s, fmt.Sprintf("baselines/baseline-%02d.json", host), fmt.Sprint(host))
		}
		for _, k := range s.CheckRuns(fullName, sha) {
			if k.Status != "completed" || k.Conclusion != "success" {
				t.Errorf("before request %d: got check run %+v", at, k)
			}
		}
		if last && at < 15 {
			t.Errorf("got %d requests in all, which are too few to be everything", at)
		}
	}
}
