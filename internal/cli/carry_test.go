package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/exit"
)

// TestCommandsInErrorsLackTheFlagsOfTheUser: the remedy in a message was about the
// default configuration and another host. What is printed is typed here.
func TestCommandsInErrorsLackTheFlagsOfTheUser(t *testing.T) {
	t.Chdir(t.TempDir())
	config := strings.ReplaceAll(configuration([]string{"m"}, true), "./engine", "-c true")
	for _, path := range []string{"gate.yaml", "sub dir/it's.yaml"} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(config), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"baseline", "show", "--config", "gate.yaml", "--host-label", "h100-a"}, "accelgate baseline update --config gate.yaml --host-label h100-a --reason TEXT"},
		{[]string{"baseline", "lint", "--config", "sub dir/it's.yaml"}, `accelgate baseline update --config 'sub dir/it'\''s.yaml' --reason TEXT`},
		{[]string{"run", "--config", "gate.yaml", "--host-label", "h100-a", "--suite", "s,t", "--profile", "smoke", "--only", "nothing"},
			"accelgate plan --config gate.yaml --host-label h100-a --suite s,t --profile smoke --list"},
		{[]string{"baseline", "show", "--config", "gate.yaml", "--baseline", "b.json"}, "accelgate baseline update --config gate.yaml --baseline b.json --reason TEXT"},
		{[]string{"run", "--config", "gate.yaml", "--bogus"}, "accelgate run --help"},
	} {
		code, out := accelgate(c.args...)
		found := regexp.MustCompile("['`](accelgate .*)['`]").FindStringSubmatch(out)
		if code == 0 || found == nil || found[1] != c.want {
			t.Errorf("%q: exit %d: %s\nwant %s", c.args, code, out, c.want)
			continue
		}
		if code, out := accelgate(words(t, found[1])...); code == exit.Usage {
			t.Errorf("%s is refused: %s", found[1], out)
		}
	}
}
