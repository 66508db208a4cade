package doctor

import (
	"context"
	"fmt"
	"slices"

	"github.com/accelgate/accelgate/internal/text"
)

// workflows judges what .github/workflows calls.
func (l *look) workflows(context.Context) {
	for _, err := range l.unread {
		l.add("workflow", Error, err.Error(), "correct the file")
	}
	wrong := len(l.unread)
	for _, w := range l.parsed {
		for _, u := range w.refused {
			l.add("workflow", Error, fmt.Sprintf("%s: GitHub does not start %s", u.at, text.Quote(u.value, 100)), "write "+u.instead+l.pin())
			wrong++
		}
		if w.paths && slices.ContainsFunc(w.calls, call.gates) {
			l.add("workflow", Warning,
				w.file+" starts by the files that a pull request changes, and others get no check, which a required check blocks",
				"remove paths and paths-ignore below pull_request")
		}
	}
	if wrong == 0 && !slices.ContainsFunc(l.calls, call.gates) {
		l.add("workflow", Warning, "no workflow calls gate.yml, so pull requests are not gated",
			"accelgate init, or copy examples/workflows/accelgate.yml")
	}
	l.unstarted()
	l.commanded()
	l.sharedChecks()
	l.elsewhereMeasured()
	l.builder()
	for _, c := range l.calls {
		if c.isAction() {
			before := len(l.findings)
			if l.outdated(c); len(l.findings) == before {
				l.ok("workflow", "%s judges by the action %s in a job of its own", l.where(c), c.workflow)
			}
			continue
		}
		if wrong := l.judge(c); wrong == 0 {
			l.ok("workflow", "%s calls %s as this version expects", l.where(c), c.workflow)
		}
	}
}

// where names the file of a call, and the job if another one of the file calls, too.
func (l *look) where(c call) string {
	for _, other := range l.calls {
		if other.file == c.file && other.workflow == c.workflow && other.id != c.id {
			return c.file + ", job " + text.Quote(c.id, 60) + ","
		}
	}
	return c.file
}

// pin is the reference to write: this version, or before the first release the branch.
func (l *look) pin() string {
	if release.MatchString(l.Version) {
		return "v" + major
	}
	return "main"
}

// unstarted finds the workflows of which no call runs on the event that they need.
func (l *look) unstarted() {
	for _, name := range []string{"gate.yml", "forks.yml", "chat.yml"} {
		event := reusable[name].event
		of := func(c call) bool { return c.workflow == name }
		first := slices.IndexFunc(l.calls, of)
		if first >= 0 && !slices.ContainsFunc(l.calls, func(c call) bool { return of(c) && slices.Contains(c.events, event) }) {
			l.add("workflow", Error, fmt.Sprintf("%s does not run on %s, as %s must", l.calls[first].file, event, name),
				"copy the head of examples/workflows")
		}
	}
}
