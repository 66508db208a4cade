package action

import (
	"context"
	"fmt"

	"github.com/accelgate/accelgate/internal/command/record"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/text"
)

// store publishes new baselines by the command of the configuration. No person reviews them, so that they are those of
// the default branch alone.
func (a *action) store(ctx context.Context, g collected, j judge.Judged) (int, error) {
	if !a.follows(ctx) {
		return 0, exit.Usagef("baselines.publish writes baselines of the default branch, and this is %s: merge first, and start the workflow there",
			text.OneLine(a.event.Ref))
	}
	if a.refused("baselines not published", j) {
		return j.Exit(), nil
	}
	for i, run := range g.runs {
		recorded, err := record.Record(a.Env, g.refs[i], run, a.in.reason, a.in.all)
		if err != nil {
			return 0, err
		}
		if err := record.Publish(ctx, a.Env, g.refs[i]); err != nil {
			return 0, err
		}
		fmt.Fprintf(a.Stdout, "%s: %s published\n", text.OneLine(g.refs[i].Name()), text.Plural(recorded.Cells, "cell"))
	}
	return exit.Passed, nil
}
