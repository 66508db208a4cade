package doctor

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/text"
)

// access looks at the token, and with it at the runners and the rules of the repository.
func (l *look) access(ctx context.Context) {
	switch {
	case l.elsewhere != "":
		l.add("github", Unknown, "the remote origin is on "+text.Quote(l.elsewhere, 100)+", not on "+l.server(),
			"if that is a GitHub Enterprise Server, type GITHUB_SERVER_URL=https://"+l.elsewhere+" accelgate doctor")
		return
	case l.remote == github.Repo{} && l.Repo != "":
		l.add("github", Unknown, text.Quote(l.Repo, 100)+" does not name a repository", "accelgate doctor --repo OWNER/NAME")
		return
	case l.remote == github.Repo{}:
		l.add("github", Unknown, "the remote origin is not a repository on GitHub", "accelgate doctor --repo OWNER/NAME")
		return
	case l.Token != nil:
		l.badToken(l.Token)
		return
	case l.GitHub == nil:
		l.add("token", Unknown, "there is no token, so nothing on GitHub was looked at", l.withToken())
		return
	}
	a, err := l.GitHub.Access(ctx, l.remote)
	if err != nil {
		l.badToken(err)
		return
	}
	l.token(a)
	l.references(ctx)
	l.merged(ctx, a)
	l.proposals(ctx)
	l.runners(ctx)
	l.protection(ctx, a.DefaultBranch)
}

// withToken is what to type for a token.
func (l *look) withToken() string {
	return "GITHUB_TOKEN=$(gh auth token" + l.hostname() + ") accelgate doctor"
}

// badToken reports why GitHub was not looked at. Messages about a wrong token name what a workflow passes.
func (l *look) badToken(err error) {
	before, fix := cut(err.Error())
	if cause, _, inWorkflow := strings.Cut(err.Error(), ": pass "); inWorkflow {
		before, fix = cause, l.withToken()
	}
	l.add("token", Error, before, fix)
}

// token shows whose token it is, and what it may do.
func (l *look) token(a github.Access) {
	whose := cmp.Or(a.Login, "an app")
	l.ok("token", "of %s, for %s", text.Quote(whose, 60), l.remote)
	writes := []string{"admin", "maintain", "push"}
	switch {
	case len(a.Refused) > 0:
		l.add("permissions", Warning, "the token may not read "+strings.Join(a.Refused, ", ")+": they were not checked",
			"give the token "+strings.Join(a.Refused, ": read, ")+": read")
	case a.Role == "":
		l.add("permissions", Unknown, "GitHub does not show what this token may write",
			"look at permissions in the workflow: see docs/github.md")
	case !slices.Contains(writes, a.Role):
		l.add("permissions", Warning,
			fmt.Sprintf("%s may not push to %s, so commands in comments are refused", text.Quote(whose, 60), l.remote),
			"ask an administrator for the role write")
	default:
		l.ok("permissions", "the token reads everything, and the role of its owner is %s", a.Role)
	}
}

// proposals looks whether workflows may open the pull requests that refresh baselines.
func (l *look) proposals(ctx context.Context) {
	may, known, err := l.GitHub.MayPropose(ctx, l.remote)
	switch {
	case err != nil:
		before, fix := cut(err.Error())
		l.add("refresh", Warning, before, fix)
	case !known:
		l.add("refresh", Unknown, "only administrators see whether workflows may open pull requests", "open "+l.page("settings/actions"))
	case !may:
		l.add("refresh", Warning, "workflows may not open pull requests, so baselines cannot be refreshed by one",
			"gh api"+l.hostname()+" -X PUT repos/"+l.remote.String()+"/actions/permissions/workflow -F can_approve_pull_request_reviews=true")
	default:
		l.ok("refresh", "workflows may open pull requests")
	}
}

func (l *look) page(below string) string {
	return strings.TrimSuffix(cmp.Or(l.Server, githubCom), "/") + "/" + l.remote.String() + "/" + below
}

const githubCom = "https://github.com"

// server is the host of GitHub's pages.
func (l *look) server() string {
	if u, err := url.Parse(cmp.Or(l.Server, githubCom)); err == nil && u.Hostname() != "" {
		return strings.ToLower(u.Hostname())
	}
	return "github.com"
}

// hostname is what gh needs to use another server than github.com.
func (l *look) hostname() string {
	if host := l.server(); host != "github.com" {
		return " --hostname " + text.ShellWord(host)
	}
	return ""
}

// runners compares the labels in the workflows with the runners of the repository.
func (l *look) runners(ctx context.Context) {
	var labels []string
	for _, c := range l.calls {
		if c.workflow != "gate.yml" {
			continue
		}
		h := l.hosts(c)
		if h.unknown != "" && h.labels == nil {
			l.add("runners", Unknown, c.file+" "+h.unknown+", so its labels were not compared with the runners", "open "+l.page("settings/actions/runners"))
		}
		labels = append(labels, h.labels...)
	}
	labels = slices.DeleteFunc(labels, ofGitHub.MatchString)
	if len(labels) == 0 {
		return
	}
	all, err := l.GitHub.Runners(ctx, l.remote)
	if err != nil {
		l.add("runners", Unknown, "only administrators see the runners", "open "+l.page("settings/actions/runners"))
		return
	}
	slices.Sort(labels)
	for _, label := range slices.Compact(labels) {
		l.runner(label, all)
	}
}

func (l *look) runner(label string, all []github.Runner) {
	with := slices.DeleteFunc(slices.Clone(all), func(r github.Runner) bool { return !slices.Contains(r.Labels, label) })
	online := slices.ContainsFunc(with, func(r github.Runner) bool { return r.Online })
	switch name := text.Quote(label, 60); {
	case online:
		l.ok("runners", "%s with label %s", text.Plural(len(with), "runner"), name)
	case len(with) > 0:
		l.add("runners", Error, fmt.Sprintf("the runner with label %s is offline, so jobs wait for it", name),
			"start it on its host: ./run.sh, or sudo ./svc.sh start")
	default:
		l.add("runners", Warning, fmt.Sprintf("no runner of the repository has label %s (those of an organization cannot be seen)", name),
			"add one at "+l.page("settings/actions/runners/new")+", or correct hosts in the workflow")
	}
}
