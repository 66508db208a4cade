package action

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/text"
)

// bootstrapRuns returns what a pull request measured that brings the configuration: the base,
// which is checked out, has none, and the pull request's commit has one. It is empty for
// every other.
func (a *action) bootstrapRuns(ctx context.Context) []*bench.Run {
	if a.event.PullRequest == nil || a.event.Run != nil || a.in.runs == "" {
		return nil
	}
	if _, err := os.Lstat(a.in.options.Config); !errors.Is(err, fs.ErrNotExist) || !a.bringsConfiguration(ctx, a.in.options.Config) {
		return nil
	}
	paths, err := measure.FindRuns(a.in.runs, maxRuns)
	if err != nil {
		return nil
	}
	var runs []*bench.Run
	for _, path := range paths {
		if run, err := a.in.options.ReadRun(path); err == nil && run.Revision == a.commit() {
			runs = append(runs, run)
		}
	}
	return runs
}

// bringsConfiguration reports whether the commit has a file of the repository.
func (a *action) bringsConfiguration(ctx context.Context, file string) bool {
	name, err := a.repositoryPath(file)
	if err != nil {
		return false
	}
	client, repo, err := a.client()
	if err != nil {
		return false
	}
	data, err := client.FileAt(ctx, repo, a.commit(), name, measure.MaxConfig)
	return err == nil && data != nil
}

// bootstrap returns what a pull request that adds the configuration measured. Nothing judges it,
// so its check asks for a person: a pull request that names another configuration than
// the base has must not pass either.
func (a *action) bootstrap(ctx context.Context, runs []*bench.Run) int {
	config := quoteCode(a.in.options.Config)
	title := "a person decides: the base has no " + text.OneLine(a.in.options.Config)
	var b strings.Builder
	fmt.Fprintf(&b,
		"### 🟡 Not judged: this pull request adds %s\n\nThe base judges pull requests, and has no configuration yet. What its own measured on `%s`, without a verdict:\n\n",
		config, a.commit())
	b.WriteString("| Host | Cells | Passed |\n|:--|--:|--:|\n")
	for _, run := range runs {
		passed := 0
		for _, r := range run.Results {
			if r.Outcome == bench.Passed {
				passed++
			}
		}
		fmt.Fprintf(&b, "| %s | %d | %d |\n", quoteCode(run.Host.Label), len(run.Results), passed)
	}
	b.WriteString("\n#### Next\n\n- Review and merge it. From then on the base judges every pull request.\n" +
		"- Record the first baselines: start this workflow by hand with `update_baseline` and a `reason`, and merge the pull request that follows.\n")
	body := a.token.Hide(b.String())
	fmt.Fprintf(a.Stdout, "NOT JUDGED: %s; review and merge the pull request that adds it\n", title)
	a.annotate(a.gh.Warning, "accelgate did not judge", title)
	_, err := a.gh.Summary(body)
	a.warn(err)
	a.output("verdict", string(gate.StatusActionRequired))
	a.post(ctx, posting{
		title:      title,
		body:       func(limit int) string { return text.Cut(body, limit) },
		status:     gate.StatusActionRequired,
		conclusion: "action_required",
	})
	return exit.GateFailed
}
