package actions

import (
	"strconv"
	"strings"

	"github.com/sethvargo/go-githubactions"

	"github.com/accelgate/accelgate/internal/text"
)

const (
	// maxMessage is where the runner cuts a message (_maxIssueMessageLength
	// in src/Runner.Worker/ExecutionContext.cs).
	maxMessage = 4096
	maxTitle   = 200 // characters
)

// Annotation is a remark that GitHub shows on the run, and at a line of a file if it has a
// path in the repository. All texts may be untrusted; what is too long is cut.
type Annotation struct {
	Title, Message string
	Path           string
	Line           int // from 1
}

// Error annotates the run with an error. GitHub shows ten annotations of each
// level per step (docs/problem-matchers.md of actions/toolkit, "Limitations"),
// so the caller chooses which.
func (a *Action) Error(n Annotation) error { return a.annotate("error", n) }

// Warning annotates the run with a warning; see [Action.Error].
func (a *Action) Warning(n Annotation) error { return a.annotate("warning", n) }

// Notice annotates the run with a notice; see [Action.Error].
func (a *Action) Notice(n Annotation) error { return a.annotate("notice", n) }

func (a *Action) annotate(level string, n Annotation) error {
	return a.command("annotate the run", func() { a.lib.IssueCommand(n.command(level)) })
}

// Command is the line, without its end, by which any step annotates its run. The level is
// "error", "warning" or "notice".
func (n Annotation) Command(level string) string { return n.command(level).String() }

func (n Annotation) command(level string) *githubactions.Command {
	props := githubactions.CommandProperties{}
	if n.Title != "" {
		props["title"] = text.Line(n.Title, maxTitle)
	}
	if n.Path != "" {
		props["file"], props["line"] = text.Clean(n.Path), strconv.Itoa(max(n.Line, 1))
	}
	return &githubactions.Command{Name: level, Message: text.Clip(cleanLines(n.Message), maxMessage-len("...")), Properties: props}
}

// cleanLines keeps the ends of lines and cleans each line.
func cleanLines(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, line := range lines {
		lines[i] = text.Clean(line)
	}
	return strings.Join(lines, "\n")
}

// quote writes untrusted text for an error message.
func quote(s string) string { return text.Quote(s, 100) }
