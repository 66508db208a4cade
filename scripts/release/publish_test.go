package main

import (
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

const secret = "s3cret-for-the-test"

// TestPublishPushesTags runs the last step of release.yml against a server that asks for the token: the tags are
// pushed, and no argument of git has the token.
func TestPublishPushesTags(t *testing.T) {
	step := publishStep(t)
	control := strings.ReplaceAll(step, `git push --quiet "$remote"`, `git push --quiet "${remote/:\/\//:\/\/x-access-token:$PUSH_TOKEN@}"`)
	if args := publish(t, control); !strings.Contains(args, secret) {
		t.Errorf("control: a token in the address is in no argument:\n%s", args)
	}
	if args := publish(t, step); strings.Contains(args, secret) {
		t.Errorf("what was started:\n%s", args)
	}
}

// publish runs a step in a folder of its own and returns the arguments of the programs that it started.
func publish(t *testing.T, step string) string {
	t.Helper()
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q", "-b", "main", ".")
	git("commit", "-q", "--allow-empty", "-m", "first")
	git("init", "-q", "--bare", "server/o/r")
	git("-C", "server/o/r", "config", "http.receivepack", "true")
	git("clone", "-q", ".", "source")
	git("-C", "source", "commit", "-q", "--allow-empty", "-m", "release")
	git("-C", "source", "tag", "v1.2.3")
	write(t, filepath.Join(dir, "artifacts", "release-commits", "keep"), "")
	git("-C", "source", "bundle", "create", "-q", "../artifacts/release-commits/commits.bundle", "v1.2.3")
	write(t, filepath.Join(dir, "artifacts", "release", "dist", "binary"), "")
	write(t, filepath.Join(dir, "artifacts", "release", "notes.md"), "")

	backend := &cgi.Handler{Path: filepath.Join(git("--exec-path"), "git-http-backend"), Env: []string{"GIT_PROJECT_ROOT=" + filepath.Join(dir, "server"), "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=t"}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, ok := r.BasicAuth(); !ok || user != "x-access-token" || password != secret {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		backend.ServeHTTP(w, r)
	}))
	defer server.Close()
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"git": "echo git \"$@\" >> args\nexec " + real + " \"$@\"\n", "gh": "echo gh \"$@\" >> args\n"} {
		program := filepath.Join(dir, "bin", name)
		write(t, program, "#!/bin/sh\n"+text)
		if err := os.Chmod(program, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("bash", "-e", "-c", step)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"), "VERSION=v1.2.3", "PUSH_TOKEN="+secret,
		"GITHUB_SERVER_URL="+server.URL, "GITHUB_REPOSITORY=o/r", "GIT_TERMINAL_PROMPT=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	release := git("-C", "source", "rev-parse", "v1.2.3")
	if got := git("-C", "server/o/r", "for-each-ref", "--format=%(refname) %(objectname)"); got != "refs/tags/v1 "+release+"\nrefs/tags/v1.2.3 "+release {
		t.Errorf("the server has %q, want both tags at %s", got, release)
	}
	args := read(t, filepath.Join(dir, "args"))
	if strings.Count(args, "git push") != 2 || strings.Count(args, "gh release create v1.2.3") != 1 {
		t.Errorf("what was started:\n%s", args)
	}
	return args
}

// publishStep is the script of the step.
func publishStep(t *testing.T) string {
	t.Helper()
	var w struct {
		Jobs map[string]struct {
			Steps []struct {
				Name string `yaml:"name"`
				Run  string `yaml:"run"`
			} `yaml:"steps"`
		} `yaml:"jobs"`
	}
	if err := yaml.Unmarshal([]byte(read(t, filepath.Join("..", "..", ".github", "workflows", "release.yml"))), &w); err != nil {
		t.Fatal(err)
	}
	for _, step := range w.Jobs["publish"].Steps {
		if step.Name == "Publish" {
			return step.Run
		}
	}
	t.Fatal("release.yml has no step Publish")
	return ""
}
