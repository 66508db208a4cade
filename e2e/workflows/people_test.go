package workflows_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/testing/githubtest"
)

// chatToken is github.token of the job that answers comments. It holds token, so that
// what searches for that one finds it too.
const chatToken = token + "chat"

var people = map[string]string{"alice": "write", "mallory": "triage"}

// serveTwo starts fakegithub for the job that posts and the one that answers comments.
func (s *story) serveTwo(t *testing.T, seed githubtest.Repo) *fake {
	t.Helper()
	seed.Permissions = people
	return s.serveJobs(t, seed, map[string]map[string]string{token: s.post, chatToken: s.permissions(t, "chat.yml", "answer")})
}

// command writes a comment and runs the workflow that answers it. It returns the
// reactions, and how many jobs were started.
func (s *story) command(t *testing.T, github *fake, login, issue, body string) (reactions string, dispatches []githubtest.Dispatch) {
	t.Helper()
	id, err := strconv.Atoi(github.do(t, "comment", login, "issue", issue, "body", body))
	if err != nil {
		t.Fatal(err)
	}
	number, _ := strconv.Atoi(issue)
	s.act(t, started{workflow: "accelgate-chat.yml", event: "issue_comment", run: 60, fake: github, token: chatToken, payload: object{"action": "created", "repository": repository,
		"issue": object{"number": number, "pull_request": object{}}, "comment": object{"id": id, "body": body, "created_at": "2030-01-01T00:00:00Z",
			"user": object{"login": login}}}}).want(map[string]string{"answer": "success"})
	return github.page(t, "reactions", "comment", strconv.Itoa(id)), list[githubtest.Dispatch](t, github, "dispatches")
}

// forget removes the artifacts of an earlier attempt, as GitHub keeps them by attempt.
func (s *story) forget(t *testing.T, run int64) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(s.artifacts, strconv.FormatInt(run, 10))); err != nil {
		t.Fatal(err)
	}
}

// labelSkips sets the label as a triager, who may not, and as a maintainer, and removes
// it again.
func (s *story) labelSkips(t *testing.T) {
	seed := s.seed
	seed.Runs = []githubtest.RunSeed{{ID: 81, HeadSHA: s.head, Conclusion: "success"}}
	github := s.serveTwo(t, seed)
	run := func(says, conclusion string) {
		t.Helper()
		s.forget(t, 81)
		o := s.act(t, started{workflow: "accelgate.yml", event: "pull_request", payload: pull(1, s.head, s.base, repoName), run: 81, fake: github})
		o.want(judged)
		o.says("post", "summary", says)
		github.wantReport(t, "1", says)
		github.wantChecks(t, s.head, map[string]string{"accelgate": conclusion})
	}
	github.do(t, "label", "mallory", "issue", "1", "label", "accelgate-skip")
	run("mallory set it and has no write permission", "success")
	github.do(t, "unlabel", "alice", "issue", "1", "label", "accelgate-skip")
	github.do(t, "label", "alice", "issue", "1", "label", "accelgate-skip")
	run("Skipped by `@alice`", "neutral")
	github.do(t, "unlabel", "alice", "issue", "1", "label", "accelgate-skip")
	if reactions, all := s.command(t, github, "alice", "1", "/accelgate rerun"); len(all) != 1 || all[0].Rerun != 81 || all[0].Failed {
		t.Errorf("got %+v and %q, want all jobs of run 81 again", all, reactions)
	}
}

// changedConfiguration loosens a limit on the pull request's branch.
func (s *story) changedConfiguration(t *testing.T) {
	old, err := os.ReadFile(filepath.Join(s.repo, "accelgate.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	loose := strings.Replace(string(old), "threshold: 95%", "threshold: 99%", 1)
	s.git(t, "checkout", "-q", "-b", "loose")
	s.write(t, "accelgate.yaml", loose)
	head := s.commit(t, "loosen the limit")
	defer s.git(t, "checkout", "-q", "work")
	seed := s.seed
	seed.Commits = []string{s.base}
	seed.Files = map[string]string{"accelgate.yaml": string(old)}
	seed.PullRequests = []githubtest.PullRequestSeed{{Title: "Work", Head: "work", Author: "mallory", HeadSHA: head, HeadFiles: map[string]string{"accelgate.yaml": loose}}}
	seed.Runs = []githubtest.RunSeed{{ID: 82, HeadSHA: head, Conclusion: "failure"}}
	github := s.serveTwo(t, seed)
	run := func(result, says, conclusion string) {
		t.Helper()
		s.forget(t, 82)
		s.act(t, started{workflow: "accelgate.yml", event: "pull_request", payload: pull(1, head, s.base, repoName), run: 82, fake: github}).
			want(map[string]string{"plan": "success", "measure": "success", "post": result})
		github.wantReport(t, "1", says)
		github.wantChecks(t, head, map[string]string{"accelgate": conclusion})
	}
	run("failure", "/accelgate approve-config "+head, "action_required")
	if reactions, all := s.command(t, github, "mallory", "1", "/accelgate approve-config "+head); len(all) != 0 || reactions != "github-actions[bot]: -1\n" {
		t.Errorf("a stranger's approval: got %+v and %q", all, reactions)
	}
	if reactions, all := s.command(t, github, "alice", "1", "/accelgate approve-config "+head); len(all) != 1 || all[0].Rerun != 82 {
		t.Errorf("an approval: got %+v and %q, want jobs of run 82 again", all, reactions)
	}
	run("success", "Approved for this commit by `alice`", "success")
}

// forkIsMeasured measures a fork's commit on this project's runner.
func (s *story) forkIsMeasured(t *testing.T) {
	s.git(t, "checkout", "-q", "-b", "theirs")
	s.write(t, "theirs.txt", "theirs\n")
	head := s.commit(t, "theirs")
	s.git(t, "checkout", "-q", "main")
	seed := s.seed
	seed.PullRequests = append([]githubtest.PullRequestSeed{{Number: 5, Title: "Theirs", Head: "theirs", Fork: stranger, HeadSHA: head, Author: "mallory"}}, seed.PullRequests...)
	github := s.serveTwo(t, seed)
	if reactions, all := s.command(t, github, "mallory", "5", "/accelgate run"); len(all) != 0 || reactions != "github-actions[bot]: -1\n" {
		t.Errorf("a stranger's command: got %+v and %q", all, reactions)
	}
	reactions, all := s.command(t, github, "alice", "5", "/accelgate run")
	if len(all) != 1 || all[0].Workflow != "accelgate.yml" || all[0].Ref != "main" || all[0].Payload["head_sha"] != head {
		t.Fatalf("got %+v and %q, want a start on main for %s", all, reactions, head)
	}
	s.act(t, started{workflow: "accelgate.yml", event: "workflow_dispatch", run: 83, fake: github,
		payload: object{"ref": "refs/heads/main", "repository": repository, "inputs": all[0].Payload}}).want(judged)
	github.wantReport(t, "5", "Passed")
	github.wantChecks(t, head, map[string]string{"accelgate": "success"})
}
