package githubtest_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/testing/githubtest"
)

// running is the fakegithub command, serving.
type running struct {
	address string
	stdin   io.Closer
	stderr  *bytes.Buffer // to be read after the exit
	exit    <-chan int
}

func run(ctx context.Context, t *testing.T, args ...string) running {
	t.Helper()
	stdin, closeStdin := io.Pipe()
	stdout, writeStdout := io.Pipe()
	stderr := &bytes.Buffer{}
	exit := make(chan int, 1)
	go func() {
		code := githubtest.Command(ctx, args, stdin, writeStdout, stderr)
		writeStdout.Close()
		exit <- code
	}()
	address, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("no address: %v, exit code %d: %s", err, <-exit, stderr)
	}
	return running{strings.TrimSpace(address), closeStdin, stderr, exit}
}

func stateFile(t *testing.T) string {
	t.Helper()
	data, err := json.Marshal(state())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "state.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// page fetches a page for scripts as a script does.
func page(t *testing.T, url string) (content string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = githubtest.Command(t.Context(), []string{"get", url}, nil, &stdout, &stderr)
	return stdout.String(), code
}

func TestCommandServesUntilStdinCloses(t *testing.T) {
	addrFile := filepath.Join(t.TempDir(), "address")
	command := run(t.Context(), t, "-state", stateFile(t), "-addr-file", addrFile, "-stdin")
	if got, err := os.ReadFile(addrFile); err != nil || string(got) != command.address+"\n" {
		t.Errorf("address file: got %q, %v, want %s", got, err, command.address)
	}
	api := api{t, command.address}
	api.send(workflow, "POST", "/repos/octo/repo/issues/7/comments", `{"body": "<b>hello</b>"}`)
	work := strings.TrimSpace(func() string { s, _ := page(t, command.address+"/_fake/head?repo=octo/repo&branch=work"); return s }())
	api.send(workflow, "POST", "/repos/octo/repo/check-runs", `{"name": "gate", "head_sha": "`+work+`"}`)

	for path, want := range map[string]string{
		"comments?repo=octo/repo&issue=7":                 `"body": "<b>hello</b>"`,
		"comments?repo=octo/repo&issue=8":                 "[]",
		"pulls?repo=octo/repo":                            `"head": "work"`,
		"checks?repo=octo/repo&sha=" + work:               `"name": "gate"`,
		"files?repo=octo/repo&branch=work":                "README.md\ndocs/a.txt\ndocs/b/c.txt\nmain.go\n",
		"files?repo=octo/repo&branch=work&path=README.md": "hello\n",
		"dispatches":                         "[]",
		"reactions?repo=octo/repo&comment=1": "",
		"requests":                           "POST /repos/octo/repo/issues/7/comments 201\nPOST /repos/octo/repo/check-runs 201\n",
		"violations":                         "",
	} {
		if got, code := page(t, command.address+"/_fake/"+path); code != 0 || !strings.Contains(got, want) {
			t.Errorf("%s: got %q with code %d, want %q", path, got, code, want)
		}
	}
	for _, path := range []string{"files?repo=octo/repo&branch=work&path=zz", "pulls?repo=octo/zz", "comments", "zz?repo=octo/repo"} {
		if got, code := page(t, command.address+"/_fake/"+path); code != 1 || got != "" {
			t.Errorf("%s: got %q with code %d, want nothing with code 1", path, got, code)
		}
	}
	command.stdin.Close()
	if code := <-command.exit; code != 0 || command.stderr.Len() > 0 {
		t.Errorf("got exit code %d and %q, want 0 and nothing", code, command.stderr)
	}
}

func TestCommandFailsAfterViolations(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	command := run(ctx, t, "-state", stateFile(t))
	api{t, command.address}.send(workflow, "GET", "/nonsense", "")
	if got, code := page(t, command.address+"/_fake/violations"); code != 0 || !strings.Contains(got, "/nonsense") {
		t.Errorf("violations: got %q with code %d", got, code)
	}
	interrupt()
	if code := <-command.exit; code != 1 || !strings.Contains(command.stderr.String(), "/nonsense") {
		t.Errorf("got exit code %d and %q, want 1 and the violation", code, command.stderr)
	}
}

func TestCommandRefusesWrongUsage(t *testing.T) {
	dir := t.TempDir()
	misspelt := filepath.Join(dir, "misspelt.json")
	if err := os.WriteFile(misspelt, []byte(`{"repositories": []}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		args []string
		code int
		want string
	}{
		"help":         {[]string{"-help"}, 0, "-addr-file FILE"},
		"no state":     {nil, 2, "-state FILE"},
		"unknown flag": {[]string{"-port", "1"}, 2, "-port"},
		"no file":      {[]string{"-state", filepath.Join(dir, "zz")}, 2, "zz"},
		"misspelt key": {[]string{"-state", misspelt}, 2, `"repositories"`},
		"bad address":  {[]string{"-state", stateFile(t), "-addr", "nowhere"}, 2, "nowhere"},
		"bad folder":   {[]string{"-state", stateFile(t), "-addr-file", filepath.Join(dir, "zz", "a")}, 2, "write the address"},
		"bad page":     {[]string{"get", "http://127.0.0.1:1/"}, 1, "127.0.0.1:1"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := githubtest.Command(t.Context(), test.args, strings.NewReader(""), &stdout, &stderr)
			if code != test.code || !strings.Contains(stderr.String(), test.want) {
				t.Errorf("got exit code %d and %q, want %d and %q", code, stderr.String(), test.code, test.want)
			}
		})
	}
}
