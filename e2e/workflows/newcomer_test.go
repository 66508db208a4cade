package workflows_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/testing/githubtest"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// newcomer is a person with an empty home, and a clock that stands still while machines work.
type newcomer struct {
	*world
	t      *testing.T
	home   string
	spent  time.Duration // by the person
	waited time.Duration // for commands and jobs
}

// A person's time by the keystroke-level model (Card, Moran and Newell, 1980): a key of an average typist, a mental step
// before each command or click, a point with the mouse and a click. Reading is 250 words a minute, of an
// output's first words.
const (
	key      = 280 * time.Millisecond
	think    = 1350 * time.Millisecond
	click    = 1300 * time.Millisecond
	word     = time.Minute / 250
	maxWords = 120
)

// steps takes the person's time for one step.
func (n *newcomer) steps(what string, d time.Duration) {
	n.t.Helper()
	n.spent += think + d
	n.t.Logf("%6.1f s  %s", n.spent.Seconds(), what)
}

// types runs a command line in the repository and reads what it prints.
func (n *newcomer) types(line string) string {
	n.t.Helper()
	began := time.Now()
	cmd := exec.CommandContext(n.t.Context(), "sh", "-c", line)
	cmd.Dir = n.repo
	cmd.Env = append(os.Environ(), "HOME="+n.home, "PATH="+filepath.Join(n.home, "go", "bin")+":"+os.Getenv("PATH"), "ACCELGATE_HEALTH=off",
		"GIT_CONFIG_GLOBAL="+filepath.Join(n.home, ".gitconfig"), "GOFLAGS=")
	out, err := cmd.CombinedOutput()
	n.waited += time.Since(began)
	n.steps("$ "+line, time.Duration(len(line)+1)*key+n.reads(string(out)))
	if err != nil {
		n.t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}

func (n *newcomer) reads(text string) time.Duration {
	return time.Duration(min(len(strings.Fields(text)), maxWords)) * word
}

// clicks uses GitHub's pages, and types into them.
func (n *newcomer) clicks(what string, clicks int, typed string) {
	n.t.Helper()
	n.steps(what, time.Duration(clicks)*click+time.Duration(len(typed))*key)
}

// waits lets GitHub run the workflow.
func (n *newcomer) waits(s started, results map[string]string) {
	n.t.Helper()
	began := time.Now()
	s.workflow, s.args = "accelgate.yml", []string{"--env", "ACCELGATE_HEALTH=off"}
	n.act(n.t, s).want(results)
	n.waited += time.Since(began)
}

// comment reads the report in the pull request.
func (n *newcomer) comment(github *fake, want ...string) {
	n.t.Helper()
	all := list[githubtest.Comment](n.t, github, "comments", "issue", "1")
	if len(all) != 1 {
		n.t.Fatalf("got %d comments, want one", len(all))
	}
	for _, text := range want {
		if !strings.Contains(all[0].Body, text) {
			n.t.Errorf("the comment lacks %q:\n%s", text, all[0].Body)
		}
	}
	n.steps("reads the comment: "+strings.Join(want, ", "), n.reads(all[0].Body))
}

// TestNewcomerNightly walks from nothing to a refreshed baseline: install, init, run, baseline, the pull request that
// adds them, a regression that is red, its fix, and a change that is accepted. What the person does takes less than five minutes. The jobs run by act
// through the workflow that init wrote, and measure a Go benchmark for two minutes.
func TestNewcomerNightly(t *testing.T) {
	testtier.Nightly(t)
	n := &newcomer{world: newWorld(t), t: t, home: t.TempDir()}
	n.repo = filepath.Join(t.TempDir(), "decoder")
	put(t, filepath.Join(n.repo, "go.mod"), "module example.org/decoder\n\ngo 1.24\n")
	put(t, filepath.Join(n.repo, "decoder_test.go"), benchmark)
	n.decodes(2)
	put(t, filepath.Join(n.home, ".gitconfig"), "[user]\nname = octo\nemail = octo@example.com\n[init]\ndefaultBranch = main\n")
	n.git(t, "init", "-q", "-b", "main")
	n.git(t, "remote", "add", "origin", "https://github.com/"+repoName+".git")
	n.commit(t, "a library")

	n.installs()
	n.types("accelgate init --yes")
	n.types("accelgate run")
	n.types(`accelgate baseline update --reason "first baseline"`)
	base := n.git(t, "rev-parse", "HEAD")
	n.types("git checkout -qb gate && git add --all && git commit -qm gate")
	head := n.git(t, "rev-parse", "HEAD")
	n.clicks("pushes, and opens a pull request", 3, "git push")
	github := n.pull(base, head, "accelgate.yaml")
	n.waits(started{event: "pull_request", payload: pull(1, head, base, repoName), run: 1, fake: github}, map[string]string{"plan": "success", "measure": "success", "post": "failure"})
	n.comment(github, "Not judged: this pull request adds `accelgate.yaml`", "Review and merge it")
	github.wantCheck(t, head, "action_required")
	n.clicks("merges it", 2, "")

	base = head
	n.types("git checkout -qb faster")
	head = n.edits(6)
	n.clicks("opens a pull request", 3, "")
	github = n.pull(base, head, "decoder.go")
	n.waits(started{event: "pull_request", payload: pull(1, head, base, repoName), run: 2, fake: github}, unjudged)
	n.comment(github, "Failed", "BenchmarkDecode", "slower", "accelgate run")
	github.wantCheck(t, head, "failure")

	head = n.edits(2)
	github = n.pull(base, head, "decoder.go")
	n.waits(started{event: "pull_request", payload: pull(1, head, base, repoName), run: 3, fake: github}, judged)
	n.comment(github, "Passed")
	github.wantCheck(t, head, "success")

	n.clicks("merges it, opens Actions, and starts the workflow with update_baseline and a reason", 7, "new driver")
	n.types("git checkout -q main && git merge -q faster")
	payload := object{"ref": "refs/heads/main", "repository": repository, "inputs": object{"update_baseline": "true", "reason": "new driver"}}
	n.waits(started{event: "workflow_dispatch", payload: payload, run: 4, fake: github}, judged)
	pulls := list[githubtest.PullRequest](t, github, "pulls")
	if len(pulls) != 2 || !strings.Contains(pulls[1].Body, "new driver") {
		t.Fatalf("got pull requests %+v, want one that refreshes", pulls)
	}
	n.clicks("reads the pull request with the new baseline, and merges it", 3, "")
	t.Logf("the person took %.0f s, and waited %.0f s for machines", n.spent.Seconds(), n.waited.Seconds())
	if n.spent > 5*time.Minute {
		t.Errorf("the person took %v, want less than five minutes", n.spent)
	}
}

const benchmark = `package decoder

import "testing"

func BenchmarkDecode(b *testing.B) {
	for b.Loop() {
		Decode()
	}
}
`

// decodes writes a decoder that takes some milliseconds.
func (n *newcomer) decodes(milliseconds int) {
	n.t.Helper()
	put(n.t, filepath.Join(n.repo, "decoder.go"), fmt.Sprintf("package decoder\n\nimport \"time\"\n\n// Decode decodes one token.\nfunc Decode() { time.Sleep(%d * time.Millisecond) }\n", milliseconds))
}

// installs builds the command into an empty home. The module cache of this host stands in for the proxy.
func (n *newcomer) installs() {
	n.t.Helper()
	const line = "go install github.com/accelgate/accelgate/cmd/accelgate@latest"
	began := time.Now()
	if err := os.MkdirAll(filepath.Join(n.home, "go", "bin"), 0o755); err != nil {
		n.t.Fatal(err)
	}
	command(n.t, root(n.t), "go", "build", "-trimpath", "-o", filepath.Join(n.home, "go", "bin"), "./cmd/accelgate")
	n.waited += time.Since(began)
	n.steps("$ "+line, time.Duration(len(line)+1)*key)
}

// edits makes the decoder slower or faster, commits and pushes. How long the person thinks about the code is not
// the gate's.
func (n *newcomer) edits(milliseconds int) (head string) {
	n.t.Helper()
	n.decodes(milliseconds)
	n.types(fmt.Sprintf("git commit -qam 'decode %d' --allow-empty", milliseconds))
	n.clicks("pushes", 0, "git push")
	return n.git(n.t, "rev-parse", "HEAD")
}

// pull starts a GitHub that has the pull request, which changes one file.
func (n *newcomer) pull(base, head, file string) *fake {
	n.t.Helper()
	return n.serve(n.t, githubtest.Repo{Files: map[string]string{"README.md": "hello\n"}, Branches: map[string]map[string]string{"work": {}}, Heads: map[string]string{"main": base},
		PullRequests: []githubtest.PullRequestSeed{{Title: "Work", Head: "work", HeadSHA: head, HeadFiles: map[string]string{file: read(n.t, filepath.Join(n.repo, file))}}}},
		n.permissions(n.t, "gate.yml", "post"))
}
