package pages_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSiteAction runs the last step of site/action.yml as a runner does, on a folder of history with a name that a shell could mistake: the
// pages are there, under the title and the address that the inputs give.
func TestSiteAction(t *testing.T) {
	t.Parallel()
	action, err := os.ReadFile(filepath.Join("..", "..", "site", "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	steps := regexp.MustCompile(`(?m)^      run: (.*)$`).FindAllStringSubmatch(string(action), -1)
	if len(steps) != 2 {
		t.Fatalf("site/action.yml has %d steps, want 2", len(steps))
	}
	dir, temp := checkout(t), t.TempDir()
	program, err := exec.LookPath("accelgate")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(temp, "accelgate.exe")); err != nil {
		t.Skip(err)
	}
	const history = "a history; $(false)"
	line := `{"schema":1,"revision":"rev1","started":"2026-01-01T00:00:00Z","metrics":[{"name":"tps","better":"higher"}],"cells":{"a":[[0,1]]}}` + "\n"
	if err := os.Mkdir(filepath.Join(dir, history), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, history, "history-desk.jsonl"), []byte(line), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", steps[1][1])
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "RUNNER_TEMP="+temp, "OUT=the pages", "CONFIG=accelgate.yaml", "HISTORY="+history, "URL=https://me.github.io/repo", "TITLE=me/repo")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, want := range map[string]string{"index.html": "<title>me/repo</title>", "feed.xml": `href="https://me.github.io/repo/index.html"`} {
		if got, err := os.ReadFile(filepath.Join(dir, "the pages", name)); err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%s lacks %s (%v)", name, want, err)
		}
	}
}
