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
func (s *Session) revision(ctx context.Context) string {
	if s.Plan.Options.Revision != "" {
		return s.Plan.Options.Revision
	}
	if sha := s.Getenv("GITHUB_SHA"); sha != "" {
		return sha
	}
	return s.checkedOut(ctx)
}

// checkedOut names the commit of the plan's folder by what git says.
func (s *Session) checkedOut(ctx context.Context) string {
	response, err := s.worker.Do(ctx,
		worker.Request{Args: []string{"git", "rev-parse", "HEAD"}, Dir: s.Plan.File.Dir, Timeout: 10 * time.Second})
	if err != nil || !response.OK() {
		return "" // not a checkout, or no git: the report says "unknown"
	}
	return strings.TrimSpace(string(response.Stdout))
}

// changed is a digest of the differences of tracked files from the commit under
// test, so that a resumed run keeps nothing of other sources; "" where there is
// no checkout, or one without a commit. Where git cannot tell, it is never the same twice.
func (s *Session) changed(ctx context.Context) string {
	response, err := s.worker.Do(ctx,
		worker.Request{Args: []string{"git", "diff", "--no-ext-diff", "--no-textconv", "--submodule=diff", "HEAD"},
			Dir: s.Plan.File.Dir, Timeout: time.Minute})
	why := bytes.ToLower(response.Stderr)
	missing := errors.Is(response.StartErr, worker.ErrNotFound) || bytes.Contains(why, []byte("not a git repository")) ||
		bytes.Contains(why, []byte("ambiguous argument 'head'"))
	switch {
	case err == nil && response.OK() && !response.StdoutTruncated:
		return fmt.Sprintf("%x", sha256.Sum256(response.Stdout))
	case missing:
		return ""
	}
	s.WarnAll([]string{
		"git cannot list the changes (" + text.OneLine(response.Reason()+" "+response.Log) +
			"), so nothing of this run can be resumed: see what 'git diff HEAD' prints here",
	})
	return rand.Text()
}
