package actions

import (
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

// Annotation is a remark that GitHub shows on the run. Both texts may be
// untrusted; what is too long is cut.
type Annotation struct{ Title, Message string }

// Error annotates the run with an error. GitHub shows ten annotations of each
// level per step (docs/problem-matchers.md of actions/toolkit, "Limitations"),
// so the caller chooses which.
func (a *Action) Error(n Annotation) error { return a.annotate("error", n) }

// Warning annotates the run with a warning; see [Action.Error].
func (a *Action) Warning(n Annotation) error { return a.annotate("warning", n) }

func (a *Action) annotate(name string, n Annotation) error {
	props := githubactions.CommandProperties{}
	if n.Title != "" {
		props["title"] = text.Line(n.Title, maxTitle)
	}
	cmd := &githubactions.Command{Name: name, Message: text.Clip(cleanLines(n.Message), maxMessage-len("...")), Properties: props}
	return a.command("annotate the run", func() { a.lib.IssueCommand(cmd) })
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
