package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/baseline"
)

func (c *Command) pruneCommand() *cobra.Command {
	var o options
	var dry bool
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove entries of cells that the configuration no longer has",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return c.prune(cmd.Context(), &o, dry) },
	}
	o.addConfig(cmd.Flags())
	o.addHost(cmd.Flags())
	cmd.Flags().BoolVar(&dry, "dry-run", false, "print what would be removed and write nothing")
	return cmd
}

func (c *Command) prune(ctx context.Context, o *options, dry bool) error {
	p, err := c.plan(ctx, o)
	if err != nil {
		return err
	}
	defer p.close()
	file, err := baseline.Load(p.baselinePath())
	if err != nil {
		return missingBaseline(err)
	}
	has := map[string]bool{}
	for _, s := range p.suites {
		for _, cell := range s.cells {
			has[cell.ID()] = true
		}
	}
	kept, removed := baseline.Prune(file, func(id string) bool { return has[id] })
	for _, id := range removed {
		fmt.Fprintf(c.Stdout, "remove %s\n", oneLine(id))
	}
	fmt.Fprintf(c.Stdout, "%s: %d of %d entries removed\n", p.baselinePath(), len(removed), len(file.Entries))
	if dry || len(removed) == 0 {
		return nil
	}
	return baseline.Save(p.baselinePath(), kept)
}
