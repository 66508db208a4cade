package text_test

import (
	"os/exec"
	"testing"

	"github.com/accelgate/accelgate/internal/text"
)

// TestShellWordIsOneArgument asks the shell itself.
func TestShellWordIsOneArgument(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	for _, s := range []string{
		"", "word", "a/b.json", "~/x", "it's", `"$(echo x)"`, "`id`", "a b  c", "-n", "'\n'", "a;b|c&d", "é漢🙂", "a\u202eb\u200b", "\x1b[31m", "\xff", "##[error]", "*?[x]{a,b}", "#x", "!x", "a=b",
	} {
		for _, word := range []string{text.ShellWord(s), text.ShellQuote(s)} {
			got, err := exec.CommandContext(t.Context(), bash, "-c", "printf '%s.' "+word).Output()
			if err != nil || string(got) != s+"." {
				t.Errorf("%s is %q to the shell, %v, want %q", word, got, err, s)
			}
		}
	}
	for in, want := range map[string]string{"a/b.json": "a/b.json", "": "''", "a b": "'a b'", "it's": `'it'\''s'`} {
		if got := text.ShellWord(in); got != want {
			t.Errorf("ShellWord(%q) is %s, want %s", in, got, want)
		}
	}
}
