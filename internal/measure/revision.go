package measure

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

// ShortRevision is a commit as messages name it.
func ShortRevision(revision string) string {
	if revision == "" {
		return "an unknown commit"
	}
	return text.OneLine(revision[:min(len(revision), 12)])
}

// revision names the commit under test: flag over the runner's word over git.
func (e *Env) revision(ctx context.Context, p *Plan) string {
	if p.Options.Revision != "" {
		return p.Options.Revision
	}
	if sha := e.Getenv("GITHUB_SHA"); sha != "" {
		return sha
	}
	return e.checkedOut(ctx, p)
}

// checkedOut names the commit of the plan's folder by what git says.
func (e *Env) checkedOut(ctx context.Context, p *Plan) string {
	response, err := p.worker.Do(
		ctx,
		worker.Request{Args: []string{"git", "rev-parse", "HEAD"}, Dir: p.File.Dir, Timeout: 10 * time.Second},
	)
	if err != nil || !response.OK() {
		return "" // not a checkout, or no git: the report says "unknown"
	}
	return strings.TrimSpace(string(response.Stdout))
}

// changes is a digest of the differences of tracked files from the commit under
// test, so that a resumed run keeps nothing of other sources; "" where there is
// no checkout. Where git cannot tell, it is never the same twice.
func (e *Env) changes(ctx context.Context, p *Plan) string {
	response, err := p.worker.Do(
		ctx,
		worker.Request{Args: []string{"git", "diff", "--no-ext-diff", "--no-textconv", "--submodule=diff", "HEAD"},
			Dir: p.File.Dir, Timeout: time.Minute},
	)
	missing := errors.Is(response.StartErr, worker.ErrNotFound) ||
		bytes.Contains(bytes.ToLower(response.Stderr), []byte("not a git repository"))
	switch {
	case err == nil && response.OK() && !response.StdoutTruncated:
		return fmt.Sprintf("%x", sha256.Sum256(response.Stdout))
	case missing:
		return ""
	}
	e.WarnAll(
		[]string{
			"git cannot list the changes (" + text.OneLine(
				response.Reason()+" "+response.Log,
			) + "), so nothing of this run can be resumed: see what 'git diff HEAD' prints here",
		},
	)
	return rand.Text()
}
