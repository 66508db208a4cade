package actions

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sethvargo/go-githubactions"
)

const (
	// maxAnnotations is how many annotations of one level GitHub shows per
	// step (docs/problem-matchers.md of actions/toolkit, "Limitations").
	maxAnnotations = 10
	// maxMessage is where the runner cuts a message (_maxIssueMessageLength
	// in src/Runner.Worker/ExecutionContext.cs).
	maxMessage = 4096
	maxTitle   = 200
)

// Annotation is a remark that GitHub shows on the run and, if it names a file
// of the pull request, beside the line.
type Annotation struct {
	// File is a path relative to the repository, or "".
	File string
	// Line counts from 1; 0 stands for the whole file.
	Line int
	// Title and Message may hold untrusted text.
	Title, Message string
}

// level counts the annotations of one level. The last one that GitHub would
// show is held back until Close, in case there are more.
type level struct {
	issued int
	held   *Annotation
	more   int // annotations after the held one
}

// Error annotates the run with an error. GitHub shows ten annotations of each
// level; where there are more, the tenth counts the rest. It is issued by
// [Action.Close].
func (a *Action) Error(n Annotation) error { return a.annotate("error", n) }

// Warning annotates the run with a warning; see [Action.Error].
func (a *Action) Warning(n Annotation) error { return a.annotate("warning", n) }

// Notice annotates the run with a notice; see [Action.Error].
func (a *Action) Notice(n Annotation) error { return a.annotate("notice", n) }

// Close issues the annotations that were held back. It is called once, after
// the last annotation.
func (a *Action) Close() error {
	for _, name := range []string{"error", "warning", "notice"} {
		a.mu.Lock()
		l := a.annotations[name]
		delete(a.annotations, name)
		a.mu.Unlock()
		if l == nil || l.held == nil {
			continue
		}
		last := *l.held
		if l.more > 0 {
			last = Annotation{Title: fmt.Sprintf("and %d more", l.more+1), Message: "GitHub shows ten of each kind; the summary of this job lists all."}
		}
		if err := a.issue(name, last); err != nil {
			return err
		}
	}
	return nil
}

func (a *Action) annotate(name string, n Annotation) error {
	a.mu.Lock()
	l := a.annotations[name]
	if l == nil {
		l = &level{}
		a.annotations[name] = l
	}
	now := l.issued < maxAnnotations-1
	switch {
	case now:
		l.issued++
	case l.held == nil:
		l.held = &n
	default:
		l.more++
	}
	a.mu.Unlock()
	if !now {
		return nil
	}
	return a.issue(name, n)
}

func (a *Action) issue(name string, n Annotation) error {
	props := githubactions.CommandProperties{}
	if n.File != "" {
		props["file"] = clean(n.File)
		if n.Line > 0 {
			props["line"] = strconv.Itoa(n.Line)
		}
	}
	if n.Title != "" {
		props["title"] = cut(clean(n.Title), maxTitle)
	}
	cmd := &githubactions.Command{Name: name, Message: cut(cleanLines(n.Message), maxMessage), Properties: props}
	return a.command("annotate the run", func() { a.lib.IssueCommand(cmd) })
}

// clean makes untrusted text fit for one line: characters that cannot be
// printed, such as line ends, escapes and marks that reverse the order of
// text, become blanks.
func clean(s string) string { return strings.Join(strings.Fields(cleanLines(s)), " ") }

// cleanLines is clean for text of several lines.
func cleanLines(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(strings.ReplaceAll(s, "\r\n", "\n"), "\ufffd"))
}

// cut shortens s to at most limit bytes without splitting a character.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	limit -= len("…")
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}

// quote writes untrusted text for an error message.
func quote(s string) string { return strconv.Quote(cut(s, 100)) }
