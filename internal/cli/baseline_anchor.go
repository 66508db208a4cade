package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/record"
	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/verdict"
)

const anchorHelp = `Accept what many small losses have added up to: move the anchors of this host's
baseline, from which drift is judged, to its present medians. Nothing else moves
them, and nothing else is changed but the notes. It measures nothing: refresh the
medians first, with 'accelgate baseline update', if they are old.

  accelgate baseline anchor --reason "the new sampler is worth it" --only 'tiny__*'`

func (c *Command) anchorCommand() *cobra.Command {
	var o measure.Options
	var only []string
	var reason string
	var dry bool
	cmd := &cobra.Command{
		Use:   "anchor",
		Short: "Accept the present level as the one that drift is judged from",
		Long:  anchorHelp,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := record.Recordable(&o, "accelgate baseline anchor", reason); err != nil {
				return err
			}
			return c.anchor(cmd.Context(), &o, only, reason, dry)
		},
	}
	addConfig(&o, cmd.Flags())
	addHost(&o, cmd.Flags())
	cmd.Flags().StringArrayVar(&only, "only", nil, "move only the anchors of this case `id` or glob; may be repeated (default: all)")
	cmd.Flags().StringVar(&reason, "reason", "", "why the present level is accepted; kept in the notes (required)")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "print the anchors that would move and write nothing")
	return cmd
}

func (c *Command) anchor(ctx context.Context, o *measure.Options, only []string, reason string, dry bool) error {
	path, err := c.choosePath(ctx, o, nil)
	if err != nil {
		return err
	}
	file, err := baseline.Load(path)
	if err != nil {
		return verdict.MissingBaseline(err)
	}
	hit := make([]bool, len(only))
	chosen := func(id string) bool {
		any := len(only) == 0
		for i := range only {
			if matrix.GlobAny(only[i:i+1], id) {
				hit[i], any = true, true
			}
		}
		return any
	}
	pinned, changes := baseline.Pin(file, chosen, measure.Tool(), reason)
	for i, found := range hit {
		if !found {
			return exit.Usagef("--only %q: %s has no such entry that passed: see its ids with 'accelgate baseline show'", only[i], path)
		}
	}
	for _, change := range changes {
		fmt.Fprintf(c.Stdout, "%s  %s  %s\n", text.OneLine(change.CaseID), text.OneLine(change.Metric), moved(&change))
	}
	if len(changes) == 0 {
		_, err := fmt.Fprintf(c.Stdout, "%s: the anchors are the present medians already; nothing was written\n", path)
		return err
	}
	if dry {
		_, err := fmt.Fprintf(c.Stdout, "%s: anchors that would move: %d\n", path, len(changes))
		return err
	}
	if err := baseline.Save(path, pinned); err != nil {
		return err
	}
	fmt.Fprintf(c.Stdout, "%s: anchors moved: %d\n", path, len(changes))
	return verdict.Next(c.Stdout, "review it and commit it", verdict.Reviewed(path))
}

// moved says from where to where an anchor moved.
func moved(c *baseline.Change) string {
	if gain, ok := c.Better.Gain(c.Old, c.New); ok && c.HasOld {
		return fmt.Sprintf("%.5g -> %.5g, %s", c.Old, c.New, verdict.Changed{Change: c.Better.Change(gain) / 100, Better: verdict.BetterOf(gain)})
	}
	return fmt.Sprintf("-> %.5g", c.New)
}
