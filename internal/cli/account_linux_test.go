package cli_test

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/exit"
)

// thief looks for the token in every way of the security page that a measured
// program has: its environment, the command lines, environments, memory and open
// files of all processes, and the files that the runner hands over.
const thief = `#!/bin/sh
exec 2>/dev/null
{
	id -u
	grep NoNewPrivs /proc/self/status
	env
	for p in /proc/[0-9]*; do
		tr '\0' '\n' <$p/environ
		tr '\0' '\n' <$p/cmdline
		grep -a -o 'ghs_[A-Za-z0-9]*' $p/mem
		cat $p/fd/*/token
	done
	cat "$STOLEN_TEMP"/*
} >"$STOLEN"
printf '{"tps": 100}'
`

// TestRootIsGivenUp measures as root in a workspace of another account, as the
// container action does. The program does not run as root, and finds no token.
func TestRootIsGivenUp(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, as which container actions run")
	}
	const uid, gid = 65534, 65534
	s := newActionStep(t, "pull_request", pullPayload, nil)
	listener := httptest.NewServer(s)
	defer listener.Close()
	s.write("thief", thief)
	s.write("accelgate.yaml", strings.Replace(stepConfig, `["true"]`, `["./thief"]`, 1))
	open := []string{}
	for dir := s.work; dir != filepath.Dir(os.TempDir()) && dir != "/"; dir = filepath.Dir(dir) {
		open = append(open, dir)
	}
	for _, dir := range append(open, s.temp) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{s.work, s.temp, filepath.Join(s.work, "thief"), filepath.Join(s.work, "accelgate.yaml"), filepath.Join(s.work, "event.json")} {
		if err := os.Chown(path, uid, gid); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	stolen := filepath.Join(s.work, "stolen")
	s.env["GITHUB_API_URL"], s.env["STOLEN"], s.env["STOLEN_TEMP"], s.env["INPUT_REQUIRE-BASELINE"] = listener.URL, stolen, s.temp, "false"
	cmd := exec.Command(os.Args[0], "action")
	cmd.Args[0], cmd.Dir = "accelgate", s.work
	for name, value := range s.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Env = append(cmd.Env, "PATH="+os.Getenv("PATH"), "TMPDIR="+s.temp)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v, exit code %d, want %d\n%s", err, cmd.ProcessState.ExitCode(), exit.Passed, out)
	}
	data, err := os.ReadFile(stolen)
	if err != nil {
		t.Fatal(err)
	}
	found := string(data)
	if !strings.HasPrefix(found, "65534\n") || !withCgo && !strings.Contains(found, "NoNewPrivs:\t1") {
		t.Errorf("the program ran as %.200q, want 65534 without new privileges", found)
	}
	if strings.Contains(found, actionToken) {
		t.Error("the program found the token")
	}
}
