package judge

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/accelgate/accelgate/internal/text"
)

// Next prints what to do next, and commands that do it on lines of their own: one
// that holds quotes cannot stand between quotes.
func Next(w io.Writer, what string, commands ...string) error {
	_, err := fmt.Fprintf(w, "Next: %s:\n  %s\n", what, strings.Join(commands, "\n  "))
	return err
}

// Reviewed is the command that shows what was written, whether git tracks the file
// or not, and where there is no git.
func Reviewed(paths ...string) string {
	words := make([]string, 0, len(paths))
	for _, p := range paths {
		words = append(words, text.ShellWord(p))
	}
	files := strings.Join(words, " ")
	if len(paths) > 0 && !inRepository(paths[0]) {
		return "cat " + files
	}
	return "git add -N " + files + " && git diff " + files
}

// inRepository reports whether a folder above a file is the root of a git repository.
func inRepository(path string) bool {
	dir, err := filepath.Abs(path)
	for up := filepath.Dir(dir); err == nil && up != dir; dir, up = up, filepath.Dir(up) {
		if _, none := os.Lstat(filepath.Join(up, ".git")); none == nil {
			return true
		}
	}
	return err != nil // git says what is wrong
}
