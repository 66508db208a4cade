package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/text"
)

// merged looks whether the default branch has the workflows and their configurations. GitHub starts
// workflows by hand, for comments and for forks as that branch has them.
func (l *look) merged(ctx context.Context, a github.Access) {
	if len(l.calls) == 0 || slices.Contains(a.Refused, "contents") {
		return
	}
	branch := text.Quote(a.DefaultBranch, 60)
	var lacks []string
	head, err := l.GitHub.Head(ctx, l.remote, a.DefaultBranch)
	for _, file := range l.files() {
		if err != nil {
			break
		}
		var data []byte
		if head != "" {
			data, err = l.GitHub.FileAt(ctx, l.remote, head, file, maxBytes)
		}
		if data == nil {
			lacks = append(lacks, file)
		}
	}
	switch {
	case err != nil:
		before, fix := cut(err.Error())
		l.add("merged", Unknown, before, fix)
	case len(lacks) > 0:
		l.add("merged", Warning, fmt.Sprintf("%s lacks %s: nothing can be started by hand or by comments, and pull requests are not judged",
			branch, strings.Join(lacks, ", ")), "merge what adds it: git push -u origin HEAD && gh pr create --fill")
	default:
		l.ok("merged", "%s has the workflows and configurations", branch)
	}
}

// files are the workflows and their configurations, by their paths in the repository.
func (l *look) files() (all []string) {
	for _, c := range l.calls {
		all = append(all, ".github/workflows/"+c.file)
		if name := l.configName(c); c.gates() && !strings.Contains(name, "${{") {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// protection looks whether the default branch requires the checks of the gate, and no others of
// its kind: without the first a red verdict can be merged, with the second nothing can.
func (l *look) protection(ctx context.Context, branch string) {
	required, err := l.GitHub.Required(ctx, l.remote, branch)
	if err != nil {
		before, fix := cut(err.Error())
		l.add("protection", Unknown, before, fix)
		return
	}
	checks := l.checks()
	for _, check := range checks {
		l.requires(branch, check, required)
	}
	computed := slices.IndexFunc(l.calls, func(c call) bool { return c.gates() && c.computed() })
	if computed >= 0 {
		l.add("protection", Unknown,
			l.calls[computed].file+" computes the name of its check by an expression, so it was not compared with the required checks",
			"open "+l.page("settings/rules"))
	}
	for _, check := range required.Checks {
		if computed < 0 && !slices.Contains(checks, check) {
			l.unwritten(branch, check)
		}
	}
	for _, c := range l.calls {
		if c.workflow == "gate.yml" && slices.Contains(required.Checks, l.checkOf(c)) {
			l.refreshable(c)
		}
	}
}

// requires looks whether a branch requires a check.
func (l *look) requires(branch, check string, required github.Required) {
	switch name := text.Quote(check, 60); {
	case slices.Contains(required.Checks, check):
		l.ok("protection", "%s requires the check %s", text.Quote(branch, 60), name)
	case required.Protected:
		l.add("protection", Warning,
			fmt.Sprintf("%s is protected and does not require the check %s, so a red verdict can be merged", text.Quote(branch, 60), name),
			"add it at "+l.page("settings/rules"))
	default:
		l.add("protection", Warning, fmt.Sprintf("%s is not protected, so a red verdict can be merged", text.Quote(branch, 60)),
			"require the check "+name+" at "+l.page("settings/rules"))
	}
}

// unwritten looks at a required check that is not the gate's: its name may be meant as one.
func (l *look) unwritten(branch, check string) {
	name := fmt.Sprintf("%s requires the check %s", text.Quote(branch, 60), text.Quote(check, 60))
	if meant := text.Nearest(strings.ToLower(check), append(l.checks(), "accelgate")); meant != "" || strings.HasPrefix(check, "accelgate (") {
		l.add("protection", Error, name+", which no workflow here writes, so no pull request can be merged",
			"correct the name at "+l.page("settings/rules")+", or the input check-name")
		return
	}
	for _, c := range l.calls {
		if c.workflow == "gate.yml" && strings.HasPrefix(check, c.id+" / ") {
			l.add("protection", Warning, name+", which is a job, and a skipped job counts as passed",
				"require "+text.Quote(l.checkOf(c), 60)+" in its place at "+l.page("settings/rules"))
		}
	}
}

// refreshable looks whether the pull requests that refresh baselines get a required check: those made with
// the job's own token start no workflow.
func (l *look) refreshable(c call) {
	switch {
	case !slices.Contains(c.events, "workflow_dispatch"):
	case c.inherits:
		l.add("refresh", Unknown, c.file+" passes on all secrets, and refresh pull requests start the workflow only if one is named token",
			"gh secret list --repo "+l.remote.String())
	case c.token:
		l.ok("refresh", "%s passes on a token, with which refresh pull requests start the workflow", c.file)
	default:
		l.add("refresh", Warning, fmt.Sprintf("refresh pull requests start no workflow, because the job of %s makes them with its own token: they lack the check %s",
			c.file, text.Quote(l.checkOf(c), 60)), "gh pr close NUMBER && gh pr reopen NUMBER, or pass a token of an app as the secret token")
	}
}
