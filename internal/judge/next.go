package judge

import (
	"fmt"
	"io"
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
// or not.
func Reviewed(paths ...string) string {
	words := make([]string, 0, len(paths))
	for _, p := range paths {
		words = append(words, text.ShellWord(p))
	}
	files := strings.Join(words, " ")
	return "git add -N " + files + " && git diff " + files
}
