package action

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/github/actions"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

// inputs are those of action.yml.
type inputs struct {
	options   measure.Options
	update    bool // propose new baselines
	reason    string
	force     bool
	initial   bool     // renew the initial times of model cases, too
	build     string   // command that builds a checkout; "" builds nothing
	runs      string   // folder of other jobs' runs; "" measures here
	hosts     []string // labels that must have delivered a run
	publish   bool
	name      string // of the configuration; "" where it has none
	plan      bool   // only say on which hosts to measure
	base      bool   // only say which commit judges
	checkName string
	comment   commentMode
	notify    bool     // a worsened verdict is a new comment
	all       bool     // a refresh rewrites numbers that are within their noise, too
	labels    []string // of pull requests
	reviewers []string
	workflow  string          // file of the workflow that chat starts
	author    string          // login of the token, where GitHub does not name it
	apiWait   time.Duration   // for GitHub's rate limits
	runAs     *worker.Account // whom root becomes; nil is the owner of the workspace
	// commitComment asks for a comment on the commit with which a confirmed loss began.
	commitComment bool
	// siteURL is the root of the dashboard, and reportURL where the report as a page is; "" for none.
	siteURL, reportURL string
	// historyBranch is the branch that keeps runs; "" if none does.
	historyBranch string
	// dangerForks and dangerTarget run a stranger's code where it can take the
	// machine or the secrets.
	dangerForks, dangerTarget bool
}

// commentMode describes when the comment is written.
type commentMode string

const (
	commentAlways    commentMode = "always"
	commentOnChange  commentMode = "on-change"  // of the verdict; the first one if it did not pass
	commentOnFailure commentMode = "on-failure" // and once more when all is well again
	commentOff       commentMode = "off"
)

// inputEnv lets an input be found under its name with "_" for "-" as well:
// a composite action must pass its inputs on itself, and shells refuse names
// with "-".
func inputEnv(getenv func(string) string) func(string) string {
	return func(name string) string {
		v := getenv(name)
		if v == "" && strings.HasPrefix(name, "INPUT_") {
			v = getenv(strings.ReplaceAll(name, "-", "_"))
		}
		return v
	}
}

// readInputs reads all inputs; every complaint names the input.
func readInputs(gh *actions.Action, event actions.Event) (in inputs, err error) {
	in.options = measure.Options{
		HostOptions: measure.HostOptions{Config: gh.Input("config"), HostLabel: gh.Input("host-label"), ModelDir: gh.Input("model-dir")},
		SelectOptions: measure.SelectOptions{
			Suites: list(gh.Input("suite"),
				","), Only: list(gh.Input("only"), "\n"), Profile: gh.Input("profile"), Shard: gh.Input("shard"),
			Durations: list(gh.Input("durations"), "\n"),
		},
		PairOptions:   measure.PairOptions{AB: gh.Input("ab")},
		PolicyOptions: measure.PolicyOptions{Threshold: gh.Input("threshold")},
	}
	in.options.Config = cmp.Or(in.options.Config, "accelgate.yaml")
	if event.PullRequest != nil {
		in.options.Revision, in.options.ABRevision = event.PullRequest.HeadSHA, event.PullRequest.BaseSHA
	}
	if head := event.Inputs[headInput]; event.Name == "workflow_dispatch" && head != "" {
		if !fullCommit.MatchString(head) || event.Inputs["pull_request"] == "" {
			return in, fmt.Errorf("the dispatch input %s is %q: give the full id of the head of the pull request that pull_request names",
				headInput, text.OneLine(head))
		}
		in.options.Revision = head
	}
	in.build, in.reason, in.runs, in.hosts = gh.Input("build"), gh.Input("reason"), gh.Input("runs"), list(gh.Input("hosts"), ",")
	for _, label := range in.hosts {
		if err := bench.CheckLabel(label); err != nil {
			return in, fmt.Errorf("input hosts: %w", err)
		}
	}
	in.checkName, in.options.Secret = gh.Input("check-name"), gh.Input("github-token")
	in.checkName = cmp.Or(in.checkName, "accelgate")
	in.labels, in.reviewers = list(gh.Input("labels"), ","), list(gh.Input("reviewers"), ",")
	in.historyBranch = gh.Input("history-branch")
	if in.siteURL, err = siteAddress("site-url", gh.Input("site-url"), event.ServerURL); err != nil {
		return in, err
	}
	if in.reportURL, err = address("report-url", gh.Input("report-url"), event.ServerURL); err != nil {
		return in, err
	}
	in.workflow, in.author = cmp.Or(gh.Input("workflow"), "accelgate.yml"), gh.Input("token-author")
	if account := gh.Input("run-as"); account != "" {
		parsed, err := worker.ParseAccount(account)
		if err != nil {
			return in, fmt.Errorf("input run-as: %w", err)
		}
		in.runAs = &parsed
	}
	wait := cmp.Or(gh.Input("api-wait"), github.DefaultWait.String())
	if in.apiWait, err = time.ParseDuration(wait); err != nil || in.apiWait <= 0 {
		return in, fmt.Errorf("api-wait is %q: give a duration above zero such as 10m", text.OneLine(wait))
	}
	switch in.comment = commentMode(cmp.Or(gh.Input("comment"), string(commentAlways))); in.comment {
	case commentAlways, commentOnChange, commentOnFailure, commentOff:
	default:
		return in, fmt.Errorf("comment is %q: use always, on-change, on-failure or off", text.OneLine(string(in.comment)))
	}
	for _, b := range []struct {
		name  string
		unset bool
		to    *bool
	}{{"require-baseline", true, &in.options.RequireBaseline}, {"force", false, &in.force}, {"initial-times", false, &in.initial}, {"publish", true, &in.publish},
		{"notify", false, &in.notify}, {"within-noise", false, &in.all}, {"commit-comment", false, &in.commitComment},
		{"dangerously-measure-forks-on-self-hosted-runners", false, &in.dangerForks}, {"dangerously-run-on-pull-request-target", false, &in.dangerTarget}} {
		if *b.to, err = gh.Bool(b.name, b.unset); err != nil {
			return in, err
		}
	}
	return in, in.mode(gh, event)
}

// mode settles what to do. A dispatch's own inputs count where the action's
// are empty.
func (in *inputs) mode(gh *actions.Action, event actions.Event) error {
	dispatched, err := strconv.ParseBool(cmp.Or(event.Inputs["update_baseline"], "false"))
	if err != nil {
		return fmt.Errorf("the dispatch input update_baseline is %q: make it a boolean", text.OneLine(event.Inputs["update_baseline"]))
	}
	update, err := gh.Bool("update-baseline", dispatched)
	if err != nil {
		return err
	}
	in.plan, in.base = gh.Input("mode") == "plan", gh.Input("mode") == "base"
	if in.plan || in.base {
		in.publish, in.update = false, in.base && update
		return nil
	}
	if len(in.hosts) > 0 && in.runs == "" && event.Run == nil {
		return fmt.Errorf("hosts is given without runs: set runs to the folder of the hosts' run.json files, or leave hosts out")
	}
	if in.reason == "" {
		in.reason = strings.TrimSpace(event.Inputs["reason"])
	}
	switch mode := gh.Input("mode"); mode {
	case "", "auto":
		in.update = update
	case "run":
		if in.runs != "" {
			return fmt.Errorf(`mode is run, and runs is given: use mode post to judge runs of other jobs, or leave runs out`)
		}
	case "update-baseline":
		in.update = true
	case "post":
		in.update = update
		if in.runs == "" && event.Run == nil {
			return fmt.Errorf(`mode is post: set runs to the folder of the downloaded run.json files`)
		}
	default:
		return fmt.Errorf("mode is %q: use auto, run, update-baseline, post, plan or base", text.OneLine(mode))
	}
	if in.runs != "" && in.options.Shard != "" {
		return fmt.Errorf("shard has no effect on runs of other jobs: leave it out; they are judged as one run of their host")
	}
	if (in.runs != "" || event.Run != nil) && in.options.AB != "" {
		return fmt.Errorf("ab has no effect on runs of other jobs: set it in the jobs that measure, or leave it out")
	}
	if (in.runs != "" || event.Run != nil) && in.build != "" {
		return fmt.Errorf("build has no effect on runs of other jobs: set it in the jobs that measure, or leave it out")
	}
	if in.update && event.Run != nil {
		return fmt.Errorf("baselines are not refreshed from artifacts of a fork's workflow: start the workflow by hand (workflow_dispatch)")
	}
	if in.update && event.PullRequest != nil {
		return fmt.Errorf(
			"baselines are not refreshed from a pull request's own numbers: start the workflow by hand (workflow_dispatch) after merging",
		)
	}
	if tag, ok := strings.CutPrefix(event.Ref, "refs/tags/"); in.update && ok {
		return fmt.Errorf("baselines of a branch are refreshed, and this runs on the tag %s: start the workflow on the branch %s",
			text.OneLine(tag), text.OneLine(cmp.Or(event.DefaultBranch, "main")))
	}
	if in.update && in.reason == "" {
		return fmt.Errorf("baselines move only for a reason: set the input reason, as the reviewers of the pull request will ask for it")
	}
	return nil
}

// list splits an input, dropping blanks and empty items.
func list(s, separator string) []string {
	var items []string
	for item := range strings.SplitSeq(s, separator) {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}
