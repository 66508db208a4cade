package health

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

const (
	toolTimeout = 15 * time.Second // loading a driver takes seconds
	maxOutput   = 8 << 20
)

// run runs a tool once and returns what it printed; trouble says why that is
// nothing, with a next step.
func (t tools) run(ctx context.Context, args ...string) (out []byte, trouble string) {
	resp, err := t.worker.Do(ctx, worker.Request{Args: args, Timeout: toolTimeout})
	switch {
	case errors.Is(resp.StartErr, worker.ErrNotFound):
		return nil, args[0] + " is not installed: install the vendor's tools"
	case err != nil && ctx.Err() != nil:
		return nil, args[0] + " was not asked to its end: measure again"
	case err != nil:
		return nil, fmt.Sprintf("%s failed (%s): run it by hand", args[0], text.Plain(err.Error(), 200))
	case resp.StdoutTruncated || len(resp.Stdout) > maxOutput:
		return nil, args[0] + " printed more than is read: run it by hand"
	case len(resp.Stdout) == 0:
		return nil, fmt.Sprintf("%s printed nothing (%s): run it by hand", args[0],
			cmp.Or(resp.Reason()+lastWords(resp.Log), "exit code 0"))
	}
	return resp.Stdout, "" // a tool that fails may have told what it could
}

// unread returns the error where a tool's output was not understood.
func unread(tool string, err error) string {
	return fmt.Sprintf("the output of %s is not understood (%s): run it by hand", tool, text.Plain(err.Error(), 200))
}

// lastWords returns the last line of a log, as the end of a sentence.
func lastWords(log string) string {
	if words := text.LastLine(log); words != "" {
		return ": " + text.Quote(words, 120)
	}
	return ""
}
