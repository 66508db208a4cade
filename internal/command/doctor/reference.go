package doctor

import (
	"context"
	"fmt"
	"slices"

	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

var release = lazyregexp.New(`^v(\d+)(\.\d+\.\d+)?$`)

// major is the version of this program's module path, which has no suffix.
const major = "1"

// outdated compares the release that is called with this program.
func (l *look) outdated(c call) {
	called, mine := release.FindStringSubmatch(c.ref), release.FindStringSubmatch(l.Version)
	switch {
	case mine == nil && called != nil && called[1] > major: // built from a checkout
		l.add("workflow", Warning, fmt.Sprintf("%s calls %s@%s, and this accelgate is of version %s", c.file, c.workflow, c.ref, major), "write @main")
	case mine == nil:
	case called == nil && c.ref == "main":
		l.add("workflow", Warning, fmt.Sprintf("%s calls %s@main, which changes without notice", c.file, c.workflow), "write @v"+mine[1])
	case called != nil && called[1] != mine[1]:
		l.add("workflow", Warning, fmt.Sprintf("%s calls %s@%s, and this is %s", c.file, c.workflow, c.ref, l.Version),
			"write @v"+mine[1]+", or install the release that the workflow calls")
	}
}

var upstream = github.Repo{Owner: "accelgate", Name: "accelgate"}

// references looks whether the tags, branches and commits that the workflows pin exist.
func (l *look) references(ctx context.Context) {
	var seen []string
	for _, c := range l.calls {
		if c.ref == "" || slices.Contains(seen, c.ref) {
			continue
		}
		seen = append(seen, c.ref)
		kind, err := l.GitHub.KindOf(ctx, upstream, c.ref)
		switch name := text.Quote(c.ref, 60); {
		case err != nil:
			before, fix := cut(err.Error())
			l.add("reference", Unknown, before, fix)
		case kind == "":
			l.add("reference", Error, fmt.Sprintf("%s calls %s@%s, and %s has no such tag, branch or commit: GitHub does not start it",
				c.file, c.workflow, c.ref, upstream), "write @"+l.existing(ctx))
		default:
			l.ok("reference", "%s is a %s of %s", name, kind, upstream)
		}
	}
}

// existing is the reference that documents name.
func (l *look) existing(ctx context.Context) string {
	if kind, err := l.GitHub.KindOf(ctx, upstream, "v"+major); err == nil && kind != "" {
		return "v" + major
	}
	return "main"
}
