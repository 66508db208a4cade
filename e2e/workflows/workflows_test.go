// Package workflows_test runs by nektos/act, against fakegithub, the workflows of a user's
// repository, which call those that accelgate ships; these use both actions.
package workflows_test

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/accelgate/accelgate/internal/testing/githubtest"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

type object = map[string]any

const baselinePath = "baselines/baseline-accelgate-cpu.json"

var repository = object{"full_name": repoName, "default_branch": "main"}

// permissions returns what a job of a shipped workflow may do: a step that
// needs more is refused, as GitHub would.
func (w *world) permissions(t *testing.T, workflow, job string) map[string]string {
	t.Helper()
	data := []byte(read(t, filepath.Join(w.source, ".github", "workflows", workflow)))
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

// story is what comes before and after on one repository.
type story struct {
	*world
	seed       githubtest.Repo // what GitHub has of it
	base, head string          // of the pull request
	post       map[string]string
}

// TestWorkflowsThorough tells one story: a pull request without baselines, the refresh
// that proposes them, the pull request again, comments and forks.
func TestWorkflowsThorough(t *testing.T) {
	testtier.Thorough(t)
	t.Parallel()
	w := newWorld(t)
	s := story{world: w, base: w.git(t, "rev-parse", "HEAD"), post: w.permissions(t, "gate.yml", "post")}
	w.git(t, "checkout", "-q", "-b", "work")
	w.write(t, "work.txt", "work\n")
	s.head = w.commit(t, "work")
	s.seed = githubtest.Repo{Files: map[string]string{"README.md": "hello\n"}, Branches: map[string]map[string]string{"work": {"work.txt": "work\n"}},
		PullRequests: []githubtest.PullRequestSeed{{Title: "Work", Head: "work"}}, Commits: []string{s.head}, Heads: map[string]string{"main": s.base}}
	github := w.serve(t, s.seed, s.post)

	t.Run("a pull request without baselines", func(t *testing.T) { s.withoutBaselines(t, github) })
	if !t.Run("a dispatch proposes baselines in one pull request", func(t *testing.T) { s.dispatch(t, github) }) {
		return // the rest of the story needs them
	}
	s.base = w.commit(t, "refresh baselines")
	w.git(t, "checkout", "-q", "work")
	w.git(t, "merge", "-q", "main")
	s.head = w.git(t, "rev-parse", "HEAD")
	s.seed.Commits, s.seed.Heads = []string{s.head}, map[string]string{"main": s.base}
	t.Run("a dispatch with the input force records what the gate fails", s.forced)
	t.Run("a pull request with baselines, twice", s.withBaselines)
	t.Run("the merge queue, a push and a base that does not build", s.others)
	t.Run("a host that delivers nothing", s.withoutRun)
	t.Run("comments", s.comments)
	t.Run("a label takes a pull request out of the gate", s.labelSkips)
	t.Run("a changed configuration waits for an approval", s.changedConfiguration)
	t.Run("a fork", func(t *testing.T) {
		w.git(t, "checkout", "-q", "main")
		t.Run("is not measured on our machines", s.forkIsSkipped)
		t.Run("is refused by the action itself", s.forkIsRefused)
		t.Run("is judged by what its own workflow measured", func(t *testing.T) { s.forkIsJudged(t, "run.json", "success", "success", "Passed") })
		t.Run("is skipped by the workflow and waits for a maintainer", s.skippedForkWaits)
		t.Run("is measured here on a maintainer's command", s.forkIsMeasured)
		t.Run("whose artifact leaves its folder", func(t *testing.T) { s.forkIsJudged(t, "../../run.json", "failure", "failure", "refused") })
	})
}

// judged is how jobs end that found what they needed.
var judged = map[string]string{"plan": "success", "measure": "success", "post": "success"}

// unjudged is how they end otherwise.
var unjudged = map[string]string{"plan": "success", "measure": "failure", "post": "failure"}

func (s *story) withoutBaselines(t *testing.T, github *fake) {
	o := s.act(t, started{workflow: "accelgate.yml", event: "pull_request", payload: pull(1, s.head, s.base, repoName), run: 11, fake: github})
	o.want(judged) // by pairs with the base, which need none
	o.says("post", "summary", "slower than the base")
	github.wantComment(t, "1", "paired with")
	github.wantComment(t, "1", "/actions/runs/11#artifacts)")
	if page := read(t, filepath.Join(s.artifacts, "11", "accelgate-report", "report.html")); !strings.Contains(page, "</html>") {
		t.Errorf("the artifact holds no whole report: %d bytes", len(page))
	}
	github.wantCheck(t, s.head, "success")
}

func (s *story) dispatch(t *testing.T, github *fake) {
	s.git(t, "checkout", "-q", "main")
	payload := object{"ref": "refs/heads/main", "repository": repository, "inputs": object{"update_baseline": "true", "reason": "the first numbers"}}
	s.act(t, started{workflow: "accelgate.yml", event: "workflow_dispatch", payload: payload, run: 12, fake: github}).want(judged)
	pulls := list[githubtest.PullRequest](t, github, "pulls")
	if len(pulls) != 2 || pulls[1].State != "open" || pulls[1].Base != "main" || !strings.Contains(pulls[1].Body, "the first numbers") {
		t.Fatalf("got pull requests %+v, want one that refreshes", pulls)
	}
	s.write(t, baselinePath, github.page(t, "files", "branch", pulls[1].Head, "path", baselinePath))
}

// forced has a main whose limit no run keeps.
func (s *story) forced(t *testing.T) {
	s.git(t, "checkout", "-q", "main")
	defer s.git(t, "checkout", "-q", "work")
	s.write(t, "accelgate.yaml", read(t, filepath.Join(s.repo, "accelgate.yaml"))+"    limits: [{metric: decode_tps, min: 1000000000}]\n")
	seed := s.seed
	seed.Heads = map[string]string{"main": s.commit(t, "a limit")}
	defer s.git(t, "reset", "-q", "--hard", s.base)
	github := s.serve(t, seed, s.post)
	payload := object{"ref": "refs/heads/main", "repository": repository,
		"inputs": object{"update_baseline": "true", "reason": "beyond the limit", "force": "true"}}
	s.act(t, started{workflow: "accelgate.yml", event: "workflow_dispatch", payload: payload, run: 13, fake: github}).want(judged)
	if pulls := list[githubtest.PullRequest](t, github, "pulls"); len(pulls) != 2 || !strings.Contains(pulls[1].Body, "beyond the limit") {
		t.Errorf("got pull requests %+v, want one that refreshes", pulls)
	}
}

// withBaselines has a main that moved on since the event: what is measured in pairs is the merge, and the commit that
// it goes into.
func (s *story) withBaselines(t *testing.T) {
	s.git(t, "checkout", "-q", "main")
	s.write(t, "since.txt", "since\n")
	since := s.commit(t, "since")
	defer s.git(t, "branch", "-q", "-f", "main", s.base)
	s.git(t, "checkout", "-q", "work")
	seed := s.seed
	seed.Heads = map[string]string{"main": since}
	github := s.serve(t, seed, s.post)
	var first int64
	workflows := []string{"accelgate.yml", "accelgate.yml"}
	for i, workflow := range workflows {
		o := s.act(t, started{workflow: workflow, event: "pull_request", payload: pull(1, s.head, s.base, repoName), into: since, run: 21 + int64(i), fake: github})
		o.want(judged)
		o.says("post", "summary", "Passed")
		o.says("post", "summary", "paired with `"+since[:7]+"`")
		id := github.wantComment(t, "1", "Passed")
		if first != 0 && id != first {
			t.Error("the second run made a comment of its own")
		}
		first = id
	}
	checks := list[githubtest.CheckRun](t, github, "checks", "sha", s.head)
	if len(checks) != len(workflows) {
		t.Errorf("got check runs %+v, want one for each run", checks)
	}
	for _, check := range checks {
		if check.Name != "accelgate" || check.Status != "completed" || check.Conclusion != "success" {
			t.Errorf("got check run %+v, want success", check)
		}
	}
}

// others runs the events of a user's workflow that need no story of their own.
func (s *story) others(t *testing.T) {
	github := s.serve(t, s.seed, s.post)
	o := s.act(t, started{workflow: "accelgate.yml", event: "merge_group", run: 31, fake: github, payload: object{"action": "checks_requested",
		"repository": repository, "merge_group": object{"base_sha": s.base, "base_ref": "refs/heads/main", "head_sha": s.head, "head_ref": "refs/heads/gh-readonly-queue/main/pr-1"}}})
	o.want(judged)
	github.wantCheck(t, s.head, "success")

	s.git(t, "checkout", "-q", "main")
	defer s.git(t, "checkout", "-q", "work")
	o = s.act(t, started{workflow: "accelgate.yml", event: "push", run: 32, fake: github,
		payload: object{"ref": "refs/heads/main", "after": s.base, "repository": repository}})
	o.want(judged)
	if kept := github.page(t, "files", "branch", "accelgate-history", "path", "history-accelgate-cpu.jsonl"); kept == "" {
		t.Error("a push of the default branch kept no run")
	}
	s.act(t, started{workflow: "accelgate.yml", event: "push", run: 34, fake: github,
		payload: object{"ref": "refs/heads/main", "after": s.base, "repository": repository}}).want(judged)
	if times := read(t, filepath.Join(s.artifacts, "34", "accelgate-times", "accelgate-cpu", "run.json")); !strings.Contains(times, `"wall_ms"`) {
		t.Errorf("the jobs of the next push got these times:\n%s", times)
	}

	s.write(t, "build.sh", "exit 1\n")
	broken := s.commit(t, "does not build")
	s.git(t, "checkout", "-q", "-b", "repair")
	s.write(t, "build.sh", "touch built\n")
	seed := s.seed
	repair := s.commit(t, "builds again")
	seed.Commits, seed.Heads = []string{repair}, map[string]string{"main": broken}
	github = s.serve(t, seed, s.post)
	o = s.act(t, started{workflow: "accelgate.yml", event: "pull_request", payload: pull(1, repair, broken, repoName), run: 33, fake: github})
	o.want(judged)
	o.says("post", "summary", "no suite was measured in pairs, because the base cannot be built")
	s.git(t, "checkout", "-q", "main")
	s.git(t, "reset", "-q", "--hard", s.base)
}

// withoutRun breaks the configuration on the pull request's branch: the base's
// still judges.
func (s *story) withoutRun(t *testing.T) {
	s.git(t, "checkout", "-q", "-b", "broken")
	s.write(t, "accelgate.yaml", "version: 2\n")
	broken := s.commit(t, "broken")
	defer s.git(t, "checkout", "-q", "work")
	seed := s.seed
	seed.Commits = []string{broken}
	github := s.serve(t, seed, s.post)
	s.act(t, started{workflow: "accelgate.yml", event: "pull_request", payload: pull(1, broken, s.base, repoName), run: 51, fake: github}).want(unjudged)
	github.wantComment(t, "1", "delivered no run.json")
}

func (s *story) comments(t *testing.T) {
	seed := s.seed
	seed.Permissions = map[string]string{"alice": "write", "mallory": "read"}
	seed.Comments = []githubtest.CommentSeed{{Issue: 1, Author: "alice", Body: "/accelgate refresh new driver"},
		{Issue: 1, Author: "mallory", Body: "/accelgate refresh mine"}, {Issue: 1, Author: "mallory", Body: "what is /accelgate?"}}
	github := s.serve(t, seed, s.permissions(t, "chat.yml", "answer"))
	for i, want := range []struct {
		results  map[string]string
		reaction string
	}{
		{map[string]string{"answer": "success"}, "github-actions[bot]: rocket\n"},
		{map[string]string{"answer": "success"}, "github-actions[bot]: -1\n"},
		{map[string]string{}, ""},
	} {
		c := list[githubtest.Comment](t, github, "comments", "issue", "1")[i]
		s.act(t, started{workflow: "accelgate-chat.yml", event: "issue_comment", run: 60, fake: github, payload: object{"action": "created",
			"repository": repository, "issue": object{"number": 1, "pull_request": object{}},
			"comment": object{"id": c.ID, "body": c.Body, "user": object{"login": c.Author}}}}).want(want.results)
		if got := github.page(t, "reactions", "comment", strconv.FormatInt(c.ID, 10)); got != want.reaction {
			t.Errorf("comment %d has the reactions %q, want %q", i, got, want.reaction)
		}
	}
	all := list[githubtest.Comment](t, github, "comments", "issue", "1")
	if len(all) != 4 || !strings.Contains(all[3].Body, "a pull request with new baselines follows") {
		t.Errorf("got comments %+v, want an answer to the maintainer's command alone", all)
	}
	dispatches := list[githubtest.Dispatch](t, github, "dispatches")
	if len(dispatches) != 1 || dispatches[0].Workflow != "accelgate.yml" || dispatches[0].Ref != "main" || dispatches[0].Payload["update_baseline"] != "true" {
		t.Errorf("got dispatches %+v, want one of accelgate.yml", dispatches)
	}
}

const stranger = "mallory/repo"

var strangersCommit = strings.Repeat("f", 40)

func (s *story) forkIsSkipped(t *testing.T) {
	github := s.serve(t, s.seed, s.post)
	s.act(t, started{workflow: "accelgate.yml", event: "pull_request", payload: pull(1, strangersCommit, s.base, stranger), run: 71, fake: github}).
		want(map[string]string{})
	github.wantNoWrites(t)
}

// forkIsRefused runs a workflow that lacks the shipped one's condition.
func (s *story) forkIsRefused(t *testing.T) {
	seed := s.seed
	seed.Commits = []string{strangersCommit}
	github := s.serve(t, seed, s.post)
	o := s.act(t, started{workflow: "unguarded.yml", event: "pull_request", payload: pull(1, strangersCommit, s.base, stranger), run: 72, fake: github})
	o.want(unjudged)
	o.says("measure", "error", "does not run code of a fork on a self-hosted runner")
	if _, err := os.Stat(filepath.Join(s.artifacts, "72", "accelgate-run-accelgate-cpu")); err == nil {
		t.Error("something was measured")
	}
}

// forkIsJudged lets a stranger's run have left an artifact, in which run.json
// has some name.
func (s *story) forkIsJudged(t *testing.T, entry, result, conclusion, says string) {
	seed := s.seed
	seed.Commits = []string{strangersCommit}
	seed.PullRequests = append(slices.Clone(seed.PullRequests), githubtest.PullRequestSeed{Number: 5, Title: "Theirs", Head: "work", Fork: stranger,
		HeadSHA: strangersCommit, Author: "mallory"})
	seed.Runs = []githubtest.RunSeed{{ID: 555, HeadRepo: stranger, HeadBranch: "work", HeadSHA: strangersCommit, Conclusion: "success",
		Artifacts: []githubtest.ArtifactSeed{{Name: "accelgate-run-accelgate-cpu", Data: archive(t, entry, s.measured(t, strangersCommit))}}}}
	github := s.serve(t, seed, s.permissions(t, "forks.yml", "post"))
	s.act(t, started{workflow: "accelgate-forks.yml", event: "workflow_run", run: 73, fake: github, payload: object{"action": "completed", "repository": repository,
		"workflow_run": object{"id": 555, "run_attempt": 1, "event": "pull_request", "conclusion": "success", "head_sha": strangersCommit,
			"head_branch": "work", "head_repository": object{"full_name": stranger}}}}).want(map[string]string{"post": result})
	github.wantComment(t, "5", says)
	github.wantChecks(t, strangersCommit, map[string]string{"accelgate": "action_required", "accelgate (unverified: measured by the fork)": conclusion})
	if all := list[githubtest.Comment](t, github, "comments", "issue", "1"); len(all) > 0 {
		t.Errorf("another pull request has comments %+v", all)
	}
}

// skippedForkWaits runs post.yml after the shipped workflow skipped a fork.
func (s *story) skippedForkWaits(t *testing.T) {
	seed := s.seed
	seed.Commits = []string{strangersCommit}
	github := s.serve(t, seed, s.permissions(t, "forks.yml", "post"))
	s.act(t, started{workflow: "accelgate-forks.yml", event: "workflow_run", run: 74, fake: github, payload: object{"action": "completed", "repository": repository,
		"workflow_run": object{"id": 556, "run_attempt": 1, "event": "pull_request", "conclusion": "skipped", "head_sha": strangersCommit,
			"head_branch": "work", "head_repository": object{"full_name": stranger}}}}).want(map[string]string{"post": "success"})
	github.wantChecks(t, strangersCommit, map[string]string{"accelgate": "action_required"})
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
