package workflows_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/accelgate/accelgate/e2e/script"
	"github.com/accelgate/accelgate/internal/testing/githubtest"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// newcomer is a person with an empty home, and a clock that stands still while machines work.
type newcomer struct {
	*world
	t       *testing.T
	home    string
	origin  string // the repository as GitHub has it, without a checkout
	address string // of the GitHub that doctor asks
	logged  int    // calls of gh that were seen to
	open    string // branch of the open pull request; "" for none
	done    []string
	spent   time.Duration // by the person
	waited  time.Duration // for jobs
}

// A person's time by the keystroke-level model (Card, Moran and Newell, 1980): a mental step before each command or click,
// and a point with the mouse and a click; two of them copy a command. Reading is 250 words a minute, and ends after
// the first words of a comment.
const (
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

// gh does with a repository on this host what GitHub's command does, and notes what GitHub would get.
const gh = `#!/bin/sh
echo "$*" >>"$HOME/gh.log"
case "$1 $2" in
"repo create") git remote add origin https://github.com/octo/repo.git && git push -q -u origin main ;;
"pr merge") git fetch -q origin "$3" && git push -q origin FETCH_HEAD:main ;;
"auth token") echo gho_alice ;;
"api -X") while [ $# -gt 0 ]; do [ "$1" != --input ] || cp "$2" "$HOME/ruleset.json"; shift; done ;;
esac
`

// TestNewcomerNightly follows docs/first-pull-request.md: from an empty repository to the merged workflow, the first
// baseline, the protected branch, a red comment, and a green one. The jobs run by act through the workflow that init
// wrote, and measure a Go benchmark for two minutes. What the person does takes less than five minutes.
func TestNewcomerNightly(t *testing.T) {
	testtier.Nightly(t)
	n := &newcomer{world: newSourceWorld(t), t: t, home: t.TempDir()}
	n.repo = filepath.Join(t.TempDir(), "decoder")
	n.origin = filepath.Join(t.TempDir(), "origin.git")
	n.moves()
	page := read(t, filepath.Join(root(t), "docs", "first-pull-request.md"))
	const install = "go install github.com/accelgate/accelgate/cmd/accelgate@latest"
	if !strings.Contains(page, "$ "+install+"\n") {
		t.Fatal("the page no longer installs accelgate: correct the test")
	}
	// The caches of this host stand in for the proxy, and for what an earlier build left.
	modules, objects, _ := strings.Cut(command(t, "", "go", "env", "GOMODCACHE", "GOCACHE"), "\n")
	page = strings.Replace(page, install, "go build -C "+root(t)+" -trimpath -o $HOME/bin/ ./cmd/accelgate", 1)
	script.Page(t, page, func(*testing.T) string { return n.repo }, n.after, "HOME="+n.home, "PATH="+filepath.Join(n.home, "bin")+":"+os.Getenv("PATH"),
		"ACCELGATE_HEALTH=off", "GIT_CONFIG_GLOBAL="+filepath.Join(n.home, ".gitconfig"), "GOFLAGS=", "GOMODCACHE="+modules, "GOCACHE="+objects, "GITHUB_REPOSITORY="+repoName, "GITHUB_API_URL=http://"+n.address)

	want := []string{"pull request: action_required", "dispatch: first baseline", "rules: accelgate", "pull request: failure", "push: success"}
	if !slices.Equal(n.done, want) {
		t.Errorf("GitHub did %q, want %q", n.done, want)
	}
	t.Logf("the person took %.0f s, and waited %.0f s for jobs", n.spent.Seconds(), n.waited.Seconds())
	if n.spent > 5*time.Minute {
		t.Errorf("the person took %v, want less than five minutes", n.spent)
	}
}

// moves makes the home, GitHub's repository, and the address of the GitHub that doctor asks later.
func (n *newcomer) moves() {
	n.t.Helper()
	command(n.t, "", "git", "init", "-q", "--bare", "-b", "main", n.origin)
	put(n.t, filepath.Join(n.home, ".gitconfig"), "[user]\nname = octo\nemail = octo@example.com\n[url \""+n.origin+"\"]\ninsteadOf = https://github.com/octo/repo.git\n")
	put(n.t, filepath.Join(n.home, "gh.log"), "")
	put(n.t, filepath.Join(n.home, "bin", "gh"), gh)
	if err := os.Chmod(filepath.Join(n.home, "bin", "gh"), 0o755); err != nil {
		n.t.Fatal(err)
	}
	if err := os.MkdirAll(n.repo, 0o755); err != nil {
		n.t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		n.t.Fatal(err)
	}
	n.address = listener.Addr().String()
	listener.Close()
}

// after does what GitHub does after a command of the page.
func (n *newcomer) after(_, line string) {
	n.t.Helper()
	n.steps("$ "+line, 2*click)
	calls := strings.Split(read(n.t, filepath.Join(n.home, "gh.log")), "\n")
	calls, n.logged = calls[n.logged:len(calls)-1], len(calls)-1
	opened := false
	for _, call := range calls {
		switch {
		case strings.HasPrefix(call, "pr create"):
			n.open, opened = n.git(n.t, "branch", "--show-current"), true
			n.judged("pull request")
		case strings.HasPrefix(call, "pr merge "):
			n.open = ""
			n.steps("reads the pull request and merges it", click)
		case strings.HasPrefix(call, "workflow run accelgate.yml "):
			n.dispatch(call)
		case strings.Contains(call, "/rulesets "):
			n.protect()
		}
	}
	if n.open != "" && !opened && strings.Contains(line, "git push") {
		n.judged("push")
	}
}

// judged runs the workflow for the open pull request, and reads what it says.
func (n *newcomer) judged(what string) {
	n.t.Helper()
	base, head := n.git(n.t, "rev-parse", "main"), n.git(n.t, "rev-parse", "HEAD")
	files := map[string]string{}
	for name := range strings.FieldsSeq(n.git(n.t, "diff", "--name-only", "main", "HEAD")) {
		files[name] = read(n.t, filepath.Join(n.repo, name))
	}
	github := n.serve(n.t, githubtest.Repo{Files: map[string]string{"README.md": "hello\n"}, Branches: map[string]map[string]string{"work": {}}, Heads: map[string]string{"main": base},
		PullRequests: []githubtest.PullRequestSeed{{Title: "Work", Head: "work", HeadSHA: head, HeadFiles: files}}}, n.permissions(n.t, "gate.yml", "post"))
	results, conclusion, says := unjudged, "failure", []string{"Failed", "BenchmarkDecode", "slower", "accelgate run"}
	switch {
	case n.open == "gate":
		results, conclusion = map[string]string{"plan": "success", "measure": "success", "post": "failure"}, "action_required"
		says = []string{"Not judged: this pull request adds `accelgate.yaml`", "Review and merge it"}
	case what == "push":
		results, conclusion, says = judged, "success", []string{"Passed"}
	}
	n.waits(started{event: "pull_request", payload: pull(1, head, base, repoName), run: int64(len(n.done) + 1), fake: github}, results)
	n.comment(github, says...)
	github.wantCheck(n.t, head, conclusion)
	n.done = append(n.done, what+": "+conclusion)
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
	n.steps("reads the comment: "+strings.Join(want, ", "), time.Duration(min(len(strings.Fields(all[0].Body)), maxWords))*word)
}

// dispatch starts the workflow of the default branch with the inputs of the command, and gives the refresh PR to
// GitHub's repository.
func (n *newcomer) dispatch(call string) {
	n.t.Helper()
	inputs := object{}
	for _, input := range strings.Split(call, " -f ")[1:] {
		name, value, _ := strings.Cut(input, "=")
		inputs[name] = value
	}
	var file struct {
		On struct {
			Dispatch struct {
				Inputs map[string]any `yaml:"inputs"`
			} `yaml:"workflow_dispatch"`
		} `yaml:"on"`
	}
	if err := yaml.Unmarshal([]byte(read(n.t, filepath.Join(n.repo, ".github", "workflows", "accelgate.yml"))), &file); err != nil {
		n.t.Fatal(err)
	}
	for name := range inputs {
		if file.On.Dispatch.Inputs[name] == nil {
			n.t.Fatalf("the workflow that init wrote has no input %s", name)
		}
	}
	github := n.serve(n.t, githubtest.Repo{Files: map[string]string{"README.md": "hello\n"}, Heads: map[string]string{"main": n.git(n.t, "rev-parse", "main")}}, n.permissions(n.t, "gate.yml", "post"))
	n.waits(started{event: "workflow_dispatch", payload: object{"ref": "refs/heads/main", "repository": repository, "inputs": inputs}, run: int64(len(n.done) + 1), fake: github}, judged)
	pulls := list[githubtest.PullRequest](n.t, github, "pulls")
	if len(pulls) != 1 || !strings.Contains(pulls[0].Body, fmt.Sprint(inputs["reason"])) {
		n.t.Fatalf("got pull requests %+v, want one that refreshes", pulls)
	}
	clone := filepath.Join(n.t.TempDir(), "refresh")
	command(n.t, "", "git", "clone", "-q", n.origin, clone)
	gitIn(n.t, clone, "checkout", "-q", "-b", pulls[0].Head)
	for name := range strings.FieldsSeq(github.page(n.t, "files", "branch", pulls[0].Head)) {
		if strings.HasPrefix(name, "baselines/") {
			put(n.t, filepath.Join(clone, name), github.page(n.t, "files", "branch", pulls[0].Head, "path", name))
		}
	}
	gitIn(n.t, clone, "add", "--all")
	gitIn(n.t, clone, "commit", "-q", "-m", "refresh baselines")
	gitIn(n.t, clone, "push", "-q", "origin", "HEAD")
	n.done = append(n.done, fmt.Sprint("dispatch: ", inputs["reason"]))
}

// protect starts the GitHub that doctor asks, with the rules that the page sets.
func (n *newcomer) protect() {
	n.t.Helper()
	var set struct {
		Rules []struct {
			Parameters struct {
				Checks []struct{ Context string } `json:"required_status_checks"`
			}
		}
	}
	if err := json.Unmarshal([]byte(read(n.t, filepath.Join(n.home, "ruleset.json"))), &set); err != nil {
		n.t.Fatal(err)
	}
	var required []string
	for _, rule := range set.Rules {
		for _, check := range rule.Parameters.Checks {
			required = append(required, check.Context)
		}
	}
	n.serveState(n.t, n.address, githubtest.State{Tokens: []githubtest.Token{{Value: "gho_alice", Login: "alice"}}, Repos: []githubtest.Repo{
		{Name: repoName, Permissions: map[string]string{"alice": "admin"}, RulesetChecks: required, Files: map[string]string{"README.md": "hello\n"}},
		{Name: "accelgate/accelgate", Files: map[string]string{"README.md": "hello\n"}}}})
	n.done = append(n.done, "rules: "+strings.Join(required, ", "))
}
