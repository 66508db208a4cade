// Package e2e runs the workflows that accelgate ships by nektos/act, with both
// actions, against fakegithub. scripts/e2e.sh starts it.
package e2e_test

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/accelgate/accelgate/internal/github/githubtest"
)

type object = map[string]any

const baselinePath = "baselines/baseline-accelgate-cpu.json"

var repository = object{"full_name": repoName, "default_branch": "main"}

// permissions returns what a job of a shipped workflow may do: a step that
// needs more is refused, as GitHub would.
func (w *world) permissions(t *testing.T, workflow, job string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(w.repo, ".github", "workflows", workflow))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Jobs map[string]struct {
			Permissions map[string]string `yaml:"permissions"`
		} `yaml:"jobs"`
	}
	if err := yaml.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Jobs[job].Permissions) == 0 {
		t.Fatalf("job %s of %s names no permissions", job, workflow)
	}
	return file.Jobs[job].Permissions
}

// pull is the payload of a pull request.
func pull(number int, head, base, headRepo string) object {
	return object{"action": "synchronize", "number": number, "repository": repository, "pull_request": object{"number": number,
		"head": object{"sha": head, "ref": "work", "repo": object{"full_name": headRepo}},
		"base": object{"sha": base, "ref": "main", "repo": object{"full_name": repoName}}}}
}

// TestWorkflows tells one story: a pull request without baselines, the refresh
// that proposes them, the pull request again, comments and forks.
func TestWorkflows(t *testing.T) {
	w := newWorld(t)
	base := w.git(t, "rev-parse", "HEAD")
	w.git(t, "checkout", "-q", "-b", "work")
	w.write(t, "work.txt", "work\n")
	head := w.commit(t, "work")
	both := map[string]string{"measure": "success", "post": "success"}
	seed := githubtest.Repo{Files: map[string]string{"README.md": "hello\n"}, Branches: map[string]map[string]string{"work": {"work.txt": "work\n"}},
		PullRequests: []githubtest.PullRequestSeed{{Title: "Work", Head: "work"}}, Commits: []string{base, head}}
	post := w.permissions(t, "accelgate.yml", "post")
	github := w.serve(t, seed, post)

	t.Run("a pull request without baselines", func(t *testing.T) {
		o := w.act(t, started{workflow: "accelgate.yml", event: "pull_request", payload: pull(1, head, base, repoName), run: 11, fake: github})
		o.want(map[string]string{"measure": "failure", "post": "failure"})
		o.says("post", "summary", "speed was NOT judged")
		github.wantComment(t, "1", "speed was NOT judged")
		github.wantCheck(t, head, "action_required")
	})

	proposed := t.Run("a dispatch proposes baselines in one pull request", func(t *testing.T) {
		w.git(t, "checkout", "-q", "main")
		dispatch := object{"ref": "refs/heads/main", "repository": repository, "inputs": object{"update_baseline": "true", "reason": "the first numbers"}}
		for run := range int64(2) {
			w.act(t, started{workflow: "accelgate.yml", event: "workflow_dispatch", payload: dispatch, run: 12 + run, fake: github}).want(both)
			pulls := list[githubtest.PullRequest](t, github, "pulls")
			if len(pulls) != 2 || pulls[1].State != "open" || pulls[1].Base != "main" || !strings.Contains(pulls[1].Body, "the first numbers") {
				t.Fatalf("got pull requests %+v, want one that refreshes", pulls)
			}
			w.write(t, baselinePath, github.page(t, "files", "branch", pulls[1].Head, "path", baselinePath))
		}
	})
	if !proposed {
		return // the rest of the story needs them
	}
	merged := w.commit(t, "refresh baselines")
	w.git(t, "checkout", "-q", "work")
	w.git(t, "merge", "-q", "main")
	head = w.git(t, "rev-parse", "HEAD")
	seed.Commits = []string{merged, head}

	for _, action := range []struct {
		name, file string
		runs       []int64
	}{{"the container action", "accelgate.yml", []int64{21, 22}}, {"the native action", "native.yml", []int64{31}}} {
		t.Run("a pull request with baselines, by "+action.name, func(t *testing.T) {
			github := w.serve(t, seed, post)
			var first int64
			for i, run := range action.runs {
				o := w.act(t, started{workflow: action.file, event: "pull_request", payload: pull(1, head, merged, repoName), run: run, fake: github})
				o.want(both)
				o.says("post", "summary", "Passed")
				if id := github.wantComment(t, "1", "Passed"); i == 0 {
					first = id
				} else if id != first {
					t.Error("the second run made a comment of its own")
				}
			}
			checks := list[githubtest.CheckRun](t, github, "checks", "sha", head)
			if len(checks) != len(action.runs) {
				t.Errorf("got check runs %+v, want one for each run", checks)
			}
			for _, check := range checks {
				if check.Name != "accelgate" || check.Status != "completed" || check.Conclusion != "success" {
					t.Errorf("got check run %+v, want success", check)
				}
			}
		})
	}

	t.Run("a host that delivers nothing", func(t *testing.T) {
		w.git(t, "checkout", "-q", "-b", "broken")
		w.write(t, "accelgate.yaml", "version: 2\n")
		broken := w.commit(t, "broken")
		defer w.git(t, "checkout", "-q", "work")
		seed := seed
		seed.Commits = []string{broken}
		github := w.serve(t, seed, post)
		w.act(t, started{workflow: "accelgate.yml", event: "pull_request", payload: pull(1, broken, merged, repoName), run: 51, fake: github}).
			want(map[string]string{"measure": "failure", "post": "failure"})
		github.wantComment(t, "1", "delivered no run.json")
	})

	t.Run("comments", func(t *testing.T) {
		seed := seed
		seed.Permissions = map[string]string{"alice": "write", "mallory": "read"}
		seed.Comments = []githubtest.CommentSeed{{Issue: 1, Author: "alice", Body: "/accelgate refresh new driver"}, {Issue: 1, Author: "mallory", Body: "/accelgate refresh mine"},
			{Issue: 1, Author: "mallory", Body: "what is /accelgate?"}}
		github := w.serve(t, seed, w.permissions(t, "chatops.yml", "answer"))
		written := list[githubtest.Comment](t, github, "comments", "issue", "1")
		comment := func(i int) *outcome {
			c := written[i]
			return w.act(t, started{workflow: "chatops.yml", event: "issue_comment", run: 60, fake: github, payload: object{"action": "created", "repository": repository, "issue": object{"number": 1, "pull_request": object{}},
				"comment": object{"id": c.ID, "body": c.Body, "user": object{"login": c.Author}}}})
		}
		comment(0).want(map[string]string{"answer": "success"})
		comment(1).want(map[string]string{"answer": "failure"})
		comment(2).want(map[string]string{})
		for i, want := range []string{"github-actions[bot]: rocket\n", "github-actions[bot]: -1\n", ""} {
			if got := github.page(t, "reactions", "comment", strconv.FormatInt(written[i].ID, 10)); got != want {
				t.Errorf("comment %d has the reactions %q, want %q", i, got, want)
			}
		}
		all := list[githubtest.Comment](t, github, "comments", "issue", "1")
		if len(all) != 5 || !strings.Contains(all[3].Body, "a pull request with new baselines follows") || !strings.Contains(all[4].Body, "ask a maintainer") {
			t.Errorf("got comments %+v, want an answer to each command", all)
		}
		dispatches := list[githubtest.Dispatch](t, github, "dispatches")
		if len(dispatches) != 1 || dispatches[0].Workflow != "accelgate.yml" || dispatches[0].Ref != "main" || dispatches[0].Payload["update_baseline"] != "true" {
			t.Errorf("got dispatches %+v, want one of accelgate.yml", dispatches)
		}
	})

	t.Run("a fork", func(t *testing.T) { w.fork(t, seed, merged) })
}

// fork is what happens to pull requests of strangers.
func (w *world) fork(t *testing.T, seed githubtest.Repo, base string) {
	const stranger = "mallory/repo"
	sha := strings.Repeat("f", 40)
	w.git(t, "checkout", "-q", "main")
	t.Run("is not measured on our machines", func(t *testing.T) {
		github := w.serve(t, seed, w.permissions(t, "accelgate.yml", "post"))
		w.act(t, started{workflow: "accelgate.yml", event: "pull_request", payload: pull(1, sha, base, stranger), run: 71, fake: github}).want(map[string]string{})
		github.wantNoWrites(t)
	})
	t.Run("is refused by the action itself", func(t *testing.T) {
		seed := seed
		seed.Commits = append(seed.Commits, sha)
		github := w.serve(t, seed, w.permissions(t, "accelgate.yml", "post"))
		o := w.act(t, started{workflow: "unguarded.yml", event: "pull_request", payload: pull(1, sha, base, stranger), run: 72, fake: github})
		o.want(map[string]string{"measure": "failure", "post": "failure"})
		o.says("measure", "error", "does not run code of a fork on a self-hosted runner")
		if _, err := os.Stat(filepath.Join(w.artifacts, "72")); err == nil {
			t.Error("something was measured")
		}
	})
	measured := w.measured(t, sha)
	for _, test := range []struct {
		name, entry, job, conclusion, says string
	}{
		{"is judged by what its own workflow measured", "run.json", "success", "success", "Passed"},
		{"whose artifact leaves its folder", "../../run.json", "failure", "failure", "refused"},
	} {
		t.Run(test.name, func(t *testing.T) {
			seed := seed
			seed.PullRequests = append(seed.PullRequests, githubtest.PullRequestSeed{Number: 5, Title: "Theirs", Head: "work", Fork: stranger, HeadSHA: sha, Author: "mallory"})
			seed.Runs = []githubtest.RunSeed{{ID: 555, HeadRepo: stranger, HeadBranch: "work", HeadSHA: sha, Conclusion: "success",
				Artifacts: []githubtest.ArtifactSeed{{Name: "accelgate-run-accelgate-cpu", Data: archive(t, test.entry, measured)}}}}
			seed.Commits = append(seed.Commits, sha)
			github := w.serve(t, seed, w.permissions(t, "post.yml", "post"))
			payload := object{"action": "completed", "repository": repository, "workflow_run": object{"id": 555, "run_attempt": 1, "event": "pull_request",
				"conclusion": "success", "head_sha": sha, "head_branch": "work", "head_repository": object{"full_name": stranger}}}
			w.act(t, started{workflow: "post.yml", event: "workflow_run", payload: payload, run: 73, fake: github}).want(map[string]string{"post": test.job})
			github.wantComment(t, "5", test.says)
			github.wantCheck(t, sha, test.conclusion)
			if all := list[githubtest.Comment](t, github, "comments", "issue", "1"); len(all) > 0 {
				t.Errorf("another pull request has comments %+v", all)
			}
		})
	}
}

var revision = regexp.MustCompile(`("revision":\s*)"[0-9a-f]{40}"`)

// measured returns a run.json that was measured here, as if it were of another
// commit.
func (w *world) measured(t *testing.T, sha string) []byte {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(w.artifacts, "*", "accelgate-run-accelgate-cpu", "run.json"))
	if err != nil || len(found) == 0 {
		t.Fatalf("nothing was measured: %v", err)
	}
	data, err := os.ReadFile(found[len(found)-1])
	if err != nil || !revision.Match(data) {
		t.Fatalf("%s names no revision: %v", found[0], err)
	}
	return revision.ReplaceAll(data, []byte(`$1"`+sha+`"`))
}

func archive(t *testing.T, name string, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	entry, err := w.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := entry.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
