package action

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/command/record"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/reference/history"
	"github.com/accelgate/accelgate/internal/text"
)

// branchBytes bounds a host's history on the branch, because GitHub's API carries
// it in one answer. The branch is one commit, so it bounds the clone as well.
const branchBytes = 16 << 20

// readHistory makes the history on the branch the one that references stand
// beside. What cannot be read is a warning: the gate must not depend on a branch
// that others may push to.
func (a *action) readHistory(ctx context.Context) {
	if a.in.historyBranch == "" || a.in.options.Secret == "" {
		return
	}
	known := map[string]*history.File{}
	a.in.options.OnBranch = func(label string) *history.File {
		f, ok := known[label]
		if !ok {
			var err error
			if f, err = a.historyOf(ctx, label); err != nil {
				a.troubles = append(a.troubles,
					fmt.Sprintf("the history of %s is not used: %v", text.OneLine(label), text.OneLine(err.Error())))
			}
			known[label] = f
		}
		return f
	}
}

// historyOf reads the history of a host from the branch; nil if there is none.
func (a *action) historyOf(ctx context.Context, label string) (*history.File, error) {
	client, repo, err := a.client()
	if err != nil {
		return nil, err
	}
	data, found, err := client.BranchFile(ctx, repo, a.in.historyBranch, history.Name(label), branchBytes)
	if err != nil || !found {
		return nil, err
	}
	return history.Read(history.Name(label)+" of branch "+a.in.historyBranch, bytes.NewReader(data))
}

// reportTroubles puts into the report what kept history from being read.
func (a *action) reportTroubles(g collected) {
	if len(g.runs) > 0 {
		g.runs[0].Warnings = append(g.runs[0].Warnings, a.troubles...)
	}
	a.troubles = nil
}

// keep records the runs on the branch, where they are of the default branch, of
// all cells, and did not fail. Pull requests never get there: what they measure is
// not yet anybody's history. A refusal is a warning.
func (a *action) keep(ctx context.Context, g collected, j judge.Judged) {
	if a.in.historyBranch == "" || !a.cacheable(j.Decision.Status) {
		return
	}
	var failed []map[string][]string
	if j.Decision.Status == gate.StatusFailed {
		failed = j.Failures
	}
	if err := a.add(ctx, g, "", failed); err != nil {
		a.reportNotKept(err)
	}
}

// accept keeps the runs on the branch as the first ones of a new level, where the history
// stands in for baselines. It is what a refresh PR is elsewhere.
func (a *action) accept(ctx context.Context, g collected, j judge.Judged) (int, error) {
	switch {
	case a.in.historyBranch == "" || !a.in.publish:
		return 0, exit.Usagef(
			"baselines.from is history, so update-baseline keeps runs on the history branch: set the inputs history-branch and publish",
		)
	case !a.ofBranch() || len(a.in.options.Only)+len(a.in.options.Suites) > 0:
		return 0, exit.Usagef(
			"baselines.from is history, so update-baseline keeps runs of all cells of the default branch: merge first, and start the workflow there",
		)
	case a.refused("baselines not refreshed", j):
		return j.Exit(), nil
	}
	return exit.Passed, a.add(ctx, g, a.in.reason, nil)
}

// add adds the runs to the branch if they are of the default branch; accepted is why they
// begin a new level, "" if they do not. Of runs that the gate failed, it adds what failed.
func (a *action) add(ctx context.Context, g collected, accepted string, failed []map[string][]string) error {
	client, repo, err := a.client()
	if err == nil {
		var ours bool
		if ours, err = a.onDefaultBranch(ctx, client, repo); err == nil && !ours && accepted != "" {
			err = exit.Usagef("update-baseline keeps runs of the default branch, and this is %s: merge first", text.OneLine(a.event.Ref))
		}
		if err == nil && !ours {
			return nil
		}
	}
	if err != nil {
		return err
	}
	r := recordingOnBranch{runs: g.runs, failed: failed, maximum: measure.KeepRuns(g.file), hide: a.token.Hide, now: a.Now(),
		reference: history.ForReference{Needed: a.in.options.Reference(g.file).FromHistory(), Accepted: accepted}}
	change, err := client.Revise(ctx, repo,
		github.Revision{Branch: a.in.historyBranch, Message: r.message(a.commit()), Paths: r.paths(), Limit: branchBytes, Edit: r.edit})
	for _, err := range r.troubles {
		a.reportNotKept(err)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "History on branch %s: %s, %s in all\n", a.in.historyBranch, change, text.Plural(r.kept, "run"))
	return nil
}

// cacheable reports whether the runs of this event may be kept, as far as it can
// be told without asking GitHub.
func (a *action) cacheable(status gate.Status) bool {
	some := len(a.in.options.Only)+len(a.in.options.Suites) > 0
	return a.in.publish && !some && a.ofBranch() && status != gate.StatusNoEvidence
}

// ofBranch reports whether the event is about the newest commit of a branch.
func (a *action) ofBranch() bool {
	switch a.event.Name {
	case "push", "schedule", "workflow_dispatch":
		return a.event.PullRequest == nil && a.event.Run == nil
	}
	return false
}

// follows reports whether what is judged came after the history on the default
// branch. Where GitHub does not answer, it does not: nothing is confirmed then.
func (a *action) follows(ctx context.Context) bool {
	if !a.ofBranch() {
		return false
	}
	client, repo, err := a.client()
	if err != nil {
		return false
	}
	ours, err := a.onDefaultBranch(ctx, client, repo)
	return err == nil && ours
}

// onDefaultBranch reports whether the event is about the default branch, which
// that of a schedule does not name.
func (a *action) onDefaultBranch(ctx context.Context, client *github.Client, repo github.Repo) (bool, error) {
	branch, ok := strings.CutPrefix(a.event.Ref, "refs/heads/")
	if !ok {
		return false, nil
	}
	main := a.event.DefaultBranch
	if main == "" {
		var err error
		if main, err = client.DefaultBranch(ctx, repo); err != nil {
			return false, err
		}
	}
	return branch == main, nil
}

func (a *action) reportNotKept(err error) {
	a.annotate(a.gh.Warning, "accelgate could not keep the run", err.Error())
	a.warn(err)
}

// recordingOnBranch adds runs to the histories of their hosts.
type recordingOnBranch struct {
	runs     []*bench.Run
	failed   []map[string][]string // what the gate failed in each; nil if it did not
	maximum  int                   // runs of a host
	hide     func(string) string
	kept     int // runs in all files
	troubles []error
	now      time.Time

	reference history.ForReference
}

func (r *recordingOnBranch) paths() (paths []string) {
	for _, run := range r.runs {
		paths = append(paths, history.Name(run.Host.Label))
	}
	return paths
}

func (r *recordingOnBranch) message(commit string) string {
	var hosts []string
	for _, run := range r.runs {
		hosts = append(hosts, run.Host.Label)
	}
	return fmt.Sprintf("Runs of %s on %s", measure.ShortRevision(commit), strings.Join(hosts, ", "))
}

// edit adds each run to its file. One that cannot be read stays as it is, so
// that nothing of it is lost.
func (r *recordingOnBranch) edit(files map[string][]byte) (map[string][]byte, error) {
	r.kept, r.troubles = 0, nil
	after := map[string][]byte{}
	for i, run := range r.runs {
		name := history.Name(run.Host.Label)
		data, err := r.add(i, run, files[name])
		if err != nil {
			r.troubles = append(r.troubles, err)
			data = files[name]
		}
		if data != nil {
			after[name] = data
		}
	}
	return after, nil
}

func (r *recordingOnBranch) add(i int, run *bench.Run, data []byte) ([]byte, error) {
	if err := record.Recordable(run, r.now); err != nil {
		return nil, err
	}
	f, err := history.Read(history.Name(run.Host.Label)+" on the history branch", bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	f.Keep, f.ForReference = r.maximum, r.reference
	if r.failed != nil {
		r.kept += f.Len()
		if !f.Fail(run, r.failed[i]) {
			return data, nil
		}
		after, err := f.Marshal(branchBytes)
		return []byte(r.hide(string(after))), err
	}
	added, err := f.Add(run)
	r.kept += f.Len()
	if added.Known && r.reference.Accepted == "" || errors.Is(err, history.ErrNothing) {
		return data, nil
	}
	if err != nil {
		return nil, err
	}
	after, err := f.Marshal(branchBytes)
	return []byte(r.hide(string(after))), err
}
