package workflows_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/testing/githubtest"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// timed is a suite whose speed is a number in a file.
const timed = `version: 1
baselines: baselines
host: {health: off}
suites:
  - name: s
    kind: models
    command: [./program]
    models: [m]
    backends: [cpu]
    features: [f]
    metrics: [{name: tps, regexp: 'tps=(\d+)', better: higher}]
`

const (
	compile = "cp tool.sh program\nchmod +x program\n"
	// slowBase makes each base slow that a job has built. It looks for it where jobs run.
	slowBase = compile + `find "$(dirname "$E2E_ARTIFACTS")" -path '*/accelgate-base/program' > bases
while read -r base; do rm "$base"; cp program "$base"; done < bases
`
	// bySteps builds both folders in a step of the workflow.
	bySteps = `          mv "accelgate-base-$GITHUB_RUN_ID" "$RUNNER_TEMP/accelgate-base"
          (cd "$RUNNER_TEMP/accelgate-base" && sh build.sh)
          sh build.sh
`
)

// TestBaseOfPairsThorough: a pull request that halves the speed stays red whatever it does to the base that it is
// measured in pairs with. Each attack first shows that it works.
func TestBaseOfPairsThorough(t *testing.T) {
	testtier.Thorough(t)
	t.Parallel()
	w := newWorld(t)
	caller := filepath.Join(w.repo, ".github", "workflows", "accelgate.yml")
	put(t, caller, replace(t, caller, "build: . ./build.sh", "build: sh build.sh"))
	put(t, filepath.Join(filepath.Dir(caller), "stepped.yml"), replace(t, caller, "gate.yml@main", "gate.yml@unguarded"))
	gate := filepath.Join(w.unguarded, ".github", "workflows", "gate.yml")
	put(t, gate, replace(t, gate, "          mv \"accelgate-base-$GITHUB_RUN_ID\" \"$RUNNER_TEMP/accelgate-base\"\n", bySteps, "          build: ${{ inputs.build }}\n", ""))
	w.write(t, "accelgate.yaml", timed)
	w.write(t, "build.sh", compile)
	w.write(t, "tool.sh", "#!/bin/sh\necho tps=1000\n")
	w.write(t, ".gitignore", "program\nbases\n.accelgate\n")
	s := story{world: w, base: w.commit(t, "fast"), post: w.permissions(t, "gate.yml", "post")}

	t.Run("control: a build of the head makes a base slow that a step has built", func(t *testing.T) {
		s.attack(t, "stepped.yml", 102, map[string]string{"build.sh": slowBase}, "success", "")
	})
	t.Run("a build of the head makes the base slow", func(t *testing.T) {
		s.attack(t, "accelgate.yml", 103, map[string]string{"build.sh": slowBase}, "action_required", `"program" changed while the code under test was built`)
	})
	t.Run("the measured program makes the base slow", func(t *testing.T) {
		tool := "#!/bin/sh\necho tps=500\n" + strings.Replace(slowBase, compile, "", 1)
		s.attack(t, "accelgate.yml", 104, map[string]string{"tool.sh": tool}, "action_required", `"program" changed while cells were measured`)
	})
	own := map[string]string{"accelgate-base/tool.sh": "#!/bin/sh\necho tps=500\n", "accelgate-base/build.sh": compile, "accelgate-base/accelgate.yaml": timed}
	t.Run("a base of its own", func(t *testing.T) { s.attack(t, "accelgate.yml", 105, own, "failure", "") })
	s.record(t)
	t.Run("a base of its own, by a command in a comment", func(t *testing.T) { s.bring(t, "workflow_dispatch", 106, own) })
	t.Run("a base of its own, in the merge queue", func(t *testing.T) { s.bring(t, "merge_group", 107, own) })
}

// record commits the baseline of main.
func (s *story) record(t *testing.T) {
	s.git(t, "checkout", "-q", "main")
	command(t, s.repo, "sh", "build.sh")
	command(t, s.repo, s.accelgate, "run", "--ab", "off", "--host-label", "accelgate-cpu", "--revision", s.base)
	command(t, s.repo, s.accelgate, "baseline", "update", "--from", ".accelgate/run.json", "--reason", "first")
	s.git(t, "clean", "-q", "-f", "-d", "-X")
	s.base = s.commit(t, "baseline")
}

// propose commits a head that is half as fast, with further files, and returns what GitHub has.
func (s *story) propose(t *testing.T, files map[string]string) (head string, seed githubtest.Repo) {
	t.Helper()
	s.git(t, "checkout", "-q", "-B", "work", s.base)
	s.write(t, "tool.sh", "#!/bin/sh\necho tps=500\n")
	for name, text := range files {
		s.write(t, name, text)
	}
	head = s.commit(t, "slower")
	return head, githubtest.Repo{Files: map[string]string{"README.md": "hello\n"}, Branches: map[string]map[string]string{"work": {"work.txt": "work\n"}},
		PullRequests: []githubtest.PullRequestSeed{{Title: "Work", Head: "work", HeadSHA: head}}, Commits: []string{head}, Heads: map[string]string{"main": s.base}}
}

// attack measures a pull request and wants a conclusion of its check, and a text in its comment.
func (s *story) attack(t *testing.T, workflow string, run int64, files map[string]string, conclusion, says string) {
	head, seed := s.propose(t, files)
	github := s.serve(t, seed, s.post)
	s.act(t, started{workflow: workflow, event: "pull_request", payload: pull(1, head, s.base, repoName), run: run, fake: github})
	github.wantCheck(t, head, conclusion)
	github.wantComment(t, "1", says)
}

// bring starts an event that has no base.
func (s *story) bring(t *testing.T, event string, run int64, files map[string]string) {
	head, seed := s.propose(t, files)
	payload := object{"ref": "refs/heads/work", "repository": repository, "inputs": object{"pull_request": "1", "head_sha": head},
		"merge_group": object{"base_sha": s.base, "base_ref": "refs/heads/main", "head_sha": head, "head_ref": "refs/heads/gh-readonly-queue/main/pr-1"}}
	github := s.serve(t, seed, s.post)
	s.act(t, started{workflow: "accelgate.yml", event: event, payload: payload, run: run, fake: github})
	github.wantCheck(t, head, "failure")
}
