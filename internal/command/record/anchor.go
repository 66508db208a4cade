package record

import (
	"context"
	"fmt"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/accelgate/accelgate/internal/text"
)

// Anchor accepts the present level of a host's baseline as the one that drift is judged
// from.
type Anchor struct {
	measure.HostOptions
	Cells  []string // ids and globs; none means all
	Reason string   // why the level is accepted
	Dry    bool     // print the anchors that would move, and write nothing
}

// pathOf returns the path of this host's baseline.
func pathOf(ctx context.Context, e *measure.Env, o *measure.HostOptions) (string, error) {
	s, err := e.OpenPlan(ctx, &measure.Options{HostOptions: *o, MeasureOptions: measure.MeasureOptions{NoFetch: true, Unlisted: true}})
	if err != nil {
		return "", err
	}
	defer s.Close()
	return s.Plan.BaselineFile()
}

// Run moves the anchors of the host's baseline to its medians.
func (a *Anchor) Run(ctx context.Context, e *measure.Env) error {
	if err := CheckReason("accelgate baseline anchor", a.Reason); err != nil {
		return err
	}
	path, err := pathOf(ctx, e, &a.HostOptions)
	if err != nil {
		return err
	}
	file, err := baseline.Load(path)
	if err != nil {
		return judge.MissingBaseline(err)
	}
	hit := make([]bool, len(a.Cells))
	chosen := func(id string) bool {
		any := len(a.Cells) == 0
		for i := range a.Cells {
			if matrix.GlobAny(a.Cells[i:i+1], id) {
				hit[i], any = true, true
			}
		}
		return any
	}
	pinned, changes := baseline.Pin(file, chosen, measure.Tool(), a.Reason)
	for i, found := range hit {
		if !found {
			return exit.Usagef("--only %q: %s has no such entry that passed: see its ids with 'accelgate baseline show'", a.Cells[i], path)
		}
	}
	for _, change := range changes {
		fmt.Fprintf(e.Stdout, "%s  %s  %s\n", text.OneLine(change.CaseID), text.OneLine(change.Metric), moved(&change))
	}
	if len(changes) == 0 {
		_, err := fmt.Fprintf(e.Stdout, "%s: the anchors are the present medians already; nothing was written\n", path)
		return err
	}
	if a.Dry {
		_, err := fmt.Fprintf(e.Stdout, "%s: anchors that would move: %d\n", path, len(changes))
		return err
	}
	if err := baseline.Save(path, pinned); err != nil {
		return err
	}
	fmt.Fprintf(e.Stdout, "%s: anchors moved: %d\n", path, len(changes))
	return judge.Next(e.Stdout, "review it and commit it", judge.Reviewed(path))
}

// moved returns from where to where an anchor moved.
func moved(c *baseline.Change) string {
	if gain, ok := c.Better.Gain(c.Old, c.New); ok && c.HasOld {
		return fmt.Sprintf("%.5g -> %.5g, %s", c.Old, c.New,
			judge.Changed{Change: c.Better.Change(gain) / 100, Better: judge.BetterOf(gain)})
	}
	return fmt.Sprintf("-> %.5g", c.New)
}
