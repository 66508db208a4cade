package workflows_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/testing/githubtest"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// monorepo calls gate.yml once for each configuration, in one workflow, without hosts.
const monorepo = `name: accelgate
on:
  pull_request:
  workflow_dispatch:
    inputs:
      name: {type: string}
      only: {type: string}
      pull_request: {type: string}
jobs:
  engine:
    permissions: {actions: read, contents: write, pull-requests: write, issues: read, checks: write}
    uses: accelgate/accelgate/.github/workflows/gate.yml@main
    with: {config: engine.yaml}
  serving:
    permissions: {actions: read, contents: write, pull-requests: write, issues: read, checks: write}
    uses: accelgate/accelgate/.github/workflows/gate.yml@main
    with: {config: serving.yaml}
`

// TestTwoConfigurationsThorough: two configurations of one folder, with a name each and
// their hosts, are measured and judged in one run of one workflow.
func TestTwoConfigurationsThorough(t *testing.T) {
	testtier.Thorough(t)
	t.Parallel()
	w := newWorld(t)
	fixture := read(t, filepath.Join("testdata", "accelgate.yaml"))
	for name, runner := range map[string]string{"engine": "{host: accelgate-cpu}", "serving": "{host: other-cpu, runs_on: [self-hosted, accelgate-cpu]}"} {
		text := strings.Replace(fixture, "baselines: baselines\n", "name: "+name+"\nrunners: ["+runner+"]\n", 1)
		w.write(t, name+".yaml", text)
	}
	w.write(t, filepath.Join(".github", "workflows", "monorepo.yml"), monorepo)
	s := story{world: w, base: w.commit(t, "two configurations"), post: w.permissions(t, "gate.yml", "post")}
	w.git(t, "checkout", "-q", "-b", "work")
	w.write(t, "work.txt", "work\n")
	s.head = w.commit(t, "work")
	s.seed = githubtest.Repo{Files: map[string]string{"README.md": "hello\n"}, Branches: map[string]map[string]string{"work": {"work.txt": "work\n"}},
		PullRequests: []githubtest.PullRequestSeed{{Title: "Work", Head: "work"}}, Commits: []string{s.head}, Heads: map[string]string{"main": s.base}}
	github := s.serve(t, s.seed, s.post)
	s.act(t, started{workflow: "monorepo.yml", event: "pull_request", payload: pull(1, s.head, s.base, repoName), run: 91, fake: github}).want(judged)
	all := list[githubtest.Comment](t, github, "comments", "issue", "1")
	if len(all) != 1 || strings.Count(all[0].Body, "\n## engine\n") != 1 || strings.Count(all[0].Body, "\n## serving\n") != 1 {
		t.Errorf("got comments %+v, want one with a section for each configuration", all)
	}
	github.wantChecks(t, s.head, map[string]string{"accelgate (engine)": "success", "accelgate (serving)": "success"})
	entries, err := os.ReadDir(filepath.Join(s.artifacts, "91"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := []string{"accelgate-report.engine", "accelgate-report.serving", "accelgate-run.engine.accelgate-cpu", "accelgate-run.serving.other-cpu"}; !slices.Equal(names, want) {
		t.Errorf("got artifacts %q, want %q", names, want)
	}
	s.oneOfTwo(t)
}

// oneOfTwo starts the workflow for some cells of one configuration, as a command in a
// comment does.
func (s *story) oneOfTwo(t *testing.T) {
	s.git(t, "checkout", "-q", "work")
	seed := s.seed
	seed.PullRequests = []githubtest.PullRequestSeed{{Title: "Work", Head: "work", HeadSHA: s.head}}
	github := s.serve(t, seed, s.post)
	s.act(t, started{workflow: "monorepo.yml", event: "workflow_dispatch", run: 92, fake: github, payload: object{"ref": "refs/heads/work", "repository": repository,
		"inputs": object{"name": "serving", "only": "*tg32*", "pull_request": "1"}}})
	checks := list[githubtest.CheckRun](t, github, "checks", "sha", s.head)
	if len(checks) != 1 || checks[0].Name != "accelgate (serving) (some cells)" {
		t.Errorf("got checks %+v, want one of some cells of serving", checks)
	}
}
