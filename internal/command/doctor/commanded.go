package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// commanded looks whether comments can start the workflow that measures: GitHub refuses inputs that it does not have.
func (l *look) commanded() {
	for _, c := range l.calls {
		if c.workflow != "chat.yml" {
			continue
		}
		named, _ := c.with["workflow"].(string)
		file := cmp.Or(named, "accelgate.yml")
		at := slices.IndexFunc(l.parsed, func(w workflow) bool { return w.file == file })
		switch {
		case strings.Contains(file, "${{"), len(l.unread) > 0:
		case at < 0:
			l.add("workflow", Error, fmt.Sprintf("%s starts %s, which is not there", c.file, file), "write its input workflow")
		default:
			has := func(name string) bool { _, ok := l.parsed[at].inputs[name]; return ok }
			if lacks := slices.DeleteFunc(l.commands(c), has); len(lacks) > 0 {
				l.add("workflow", Error,
					fmt.Sprintf("%s starts %s, which has no input %s of workflow_dispatch", c.file, file, strings.Join(lacks, ", ")),
					"copy the inputs of examples/workflows/accelgate.yml")
			}
		}
	}
}

// commands are the inputs that commands in comments set.
func (l *look) commands(c call) []string {
	needs := []string{"update_baseline", "reason", "only", "pull_request"}
	if slices.ContainsFunc(l.calls, func(c call) bool { return c.workflow == "forks.yml" }) {
		needs = append(needs, "head_sha")
	}
	if configs, _ := c.with["config"].(string); strings.Contains(configs, ",") {
		needs = append(needs, "name")
	}
	return needs
}
