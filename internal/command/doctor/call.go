package doctor

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/text"
)

// judge compares a call with what this version takes, and returns how much is wrong.
func (l *look) judge(c call) int {
	before := len(l.findings)
	takes := reusable[c.workflow]
	for _, name := range slices.Sorted(maps.Keys(c.with)) {
		if !slices.Contains(takes.inputs, name) {
			l.add("workflow", Error,
				fmt.Sprintf("%s gives %s the input %s, which it does not have%s", c.file, c.workflow, text.Quote(name, 60),
					meant(name, takes.inputs)), "correct the file")
		}
	}
	if lacks := takes.lacks(c); lacks != "" {
		l.add("workflow", Error, fmt.Sprintf("%s gives %s less than it needs, so GitHub does not start it", c.file, c.workflow),
			"write permissions: "+lacks)
	}
	if c.granted == nil {
		l.add("workflow", Warning, fmt.Sprintf("%s names no permissions, so those of the repository's settings count", c.file),
			"write permissions: "+takes.needs())
	}
	l.texts(c)
	if c.workflow == "gate.yml" {
		l.measures(c)
	}
	l.outdated(c)
	return len(l.findings) - before
}

func meant(name string, known []string) string {
	if near := text.Nearest(name, known); near != "" {
		return ", did you mean " + near + "?"
	}
	return ""
}

// lacks returns the permissions to write, or "" where those given are enough.
func (t called) lacks(c call) string {
	for name, level := range t.permissions {
		if given := c.granted[name]; c.granted != nil && !c.all && given != "write" && given != level {
			return t.needs()
		}
	}
	return ""
}

// needs are the permissions as a caller writes them.
func (t called) needs() string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(t.permissions)) {
		all = append(all, name+": "+t.permissions[name])
	}
	return "{" + strings.Join(all, ", ") + "}"
}

// configName is the path of the configuration of a call in the repository.
func (l *look) configName(c call) string {
	if name, _ := c.with["config"].(string); name != "" && filepath.IsLocal(name) {
		return filepath.ToSlash(filepath.Clean(name))
	}
	return "accelgate.yaml"
}

// configurationOf is the path of the configuration of a call.
func (l *look) configurationOf(c call) string {
	return filepath.Join(l.Dir, filepath.FromSlash(l.configName(c)))
}

// checkOf is the name of the check run of a call that gates.
func (l *look) checkOf(c call) string {
	name, _ := c.with["check-name"].(string)
	name = cmp.Or(name, "accelgate")
	if file, err := config.Load(l.configurationOf(c)); err == nil && file.Name != "" {
		name += " (" + file.Name + ")"
	}
	return name
}

// computed reports whether the name of the check comes from an expression.
func (c call) computed() bool {
	return strings.Contains(fmt.Sprint(c.with["config"], c.with["check-name"]), "${{")
}

// checks are the names of the check runs of all calls that gate.
func (l *look) checks() (names []string) {
	for _, c := range l.calls {
		if name := l.checkOf(c); c.gates() && !c.computed() && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// sharedChecks finds calls that write the same check on one event: one verdict hides the other.
func (l *look) sharedChecks() {
	for i, c := range l.calls {
		for _, other := range l.calls[:i] {
			if c.workflow != "gate.yml" || other.workflow != c.workflow || c.computed() || other.computed() {
				continue
			}
			both := slices.ContainsFunc(c.events, func(event string) bool { return slices.Contains(other.events, event) })
			if name := l.checkOf(c); both && l.checkOf(other) == name {
				l.add("workflow", Error, fmt.Sprintf("the job %s of %s and the job %s of %s write the same check %s, so one verdict replaces the other",
					text.Quote(other.id, 60), other.file, text.Quote(c.id, 60), c.file, text.Quote(name, 60)),
					"give each configuration a name of its own, or each call a check-name")
				break
			}
		}
	}
}
