package script

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	fenced   = regexp.MustCompile("(?sm)^```([a-z]+)( [a-zA-Z0-9._/-]+)?\n(.*?)^```$")
	exitNote = regexp.MustCompile(` # exit (\d)$`)
)

// Page runs a page's console blocks, in order and in one folder, which folder makes: each line after
// "$ " is a command of the shell, a note "# exit N" its exit code, and the lines
// below it must stand in what it prints. A block with a file's name, as in "```yaml models.yaml", is written
// to that file before them. Commands get this process's environment with more variables. After each one, after is called if it is not nil.
func Page(t *testing.T, text string, folder func(*testing.T) string, after func(dir, command string), more ...string) {
	t.Helper()
	var dir, printed string
	for _, block := range fenced.FindAllStringSubmatch(text, -1) {
		language, file, content := block[1], strings.TrimSpace(block[2]), block[3]
		if language != "console" && file == "" {
			continue
		}
		if dir == "" {
			dir = folder(t)
		}
		if file != "" {
			path := filepath.Join(dir, file)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		for line := range strings.Lines(content) {
			line = strings.TrimSuffix(line, "\n")
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				printed = Shell(t, command, dir, more...)
				if after != nil {
					after(dir, command)
				}
			} else if !strings.Contains(printed, line+"\n") {
				t.Errorf("the page promises the line\n%s\nin\n%s", line, printed)
			}
		}
	}
}

// terminal has whoever reads a page type its commands outside of CI, where some of them are refused.
var terminal = []string{"CI=", "GITHUB_ACTIONS="}

// Shell runs a command line in a folder, checks its exit code, and returns its standard output.
func Shell(t *testing.T, command, dir string, more ...string) string {
	t.Helper()
	want := 0
	if m := exitNote.FindStringSubmatch(command); m != nil {
		want, _ = strconv.Atoi(m[1])
		command = strings.TrimSuffix(command, m[0])
	}
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir, cmd.Env = dir, slices.Concat(os.Environ(), terminal, more)
	out, err := cmd.Output()
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	if got != want {
		t.Errorf("%s: exit code %d, want %d\n%s", command, got, want, out)
	}
	return string(out)
}
