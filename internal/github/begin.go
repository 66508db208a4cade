package github

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// OpenCheck is a check run in progress. Its Complete has to be called.
type OpenCheck struct {
	checking
	mu   sync.Mutex
	done *CheckRun
}

// BeginCheck shows that a check is in progress: it creates a check run without a
// conclusion, or takes over one that an earlier attempt left unfinished. Only
// Name, Title, Summary, Seq and DetailsURL of check count.
//
// An OpenCheck that comes with an error may be in progress: it has to be completed, too.
//
// Call Complete in a deferred call as well, with what to say of a job that did
// not come to an end: after the first that succeeds it does nothing.
//
//	open, err := client.BeginCheck(ctx, repo, sha, check)
//	...
//	defer open.Complete(ctx, github.Check{Conclusion: "cancelled", ...})
func (c *Client) BeginCheck(ctx context.Context, repo Repo, headSHA string, check Check) (*OpenCheck, error) {
	open := &OpenCheck{checking: checking{client: c, repo: repo, sha: headSHA, check: check, open: true}}
	open.doing = fmt.Sprintf("begin check run %q on %s@%s", check.Name, repo, headSHA)
	open.check.Conclusion, open.check.Text, open.check.Annotations, open.check.Body = "neutral", "", nil, nil // not sent
	if err := errors.Join(repo.check(), open.check.check(), checkCommit(headSHA)); err != nil {
		return nil, fmt.Errorf("%s: %w", open.doing, err)
	}
	run, err := open.run(ctx)
	if err != nil && !open.there {
		return nil, err
	}
	open.id = max(open.id, run.ID)
	return open, err
}

// Complete gives the check run its conclusion. Name and Seq are those of
// BeginCheck. It works after ctx was cancelled too, as that is when a check
// would otherwise stay in progress; it takes what is left of the client's wait at most.
// After it has succeeded once it does nothing and returns the same again.
func (o *OpenCheck) Complete(ctx context.Context, check Check) (CheckRun, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.done != nil {
		return *o.done, nil
	}
	ctx = lastly(mayRefuse(context.WithoutCancel(ctx)))
	check.Name, check.Seq = o.check.Name, o.check.Seq
	p := o.checking
	p.open, p.check, p.change, p.there = false, check, "", true
	p.doing = fmt.Sprintf("complete check run %q on %s@%s", check.Name, o.repo, o.sha)
	if err := check.check(); err != nil {
		return CheckRun{}, fmt.Errorf("%s: %w", p.doing, err)
	}
	run, err := p.run(ctx)
	if err == nil {
		o.done = &run
	}
	return run, err
}
