package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/verdict"
)

func (c *Command) pruneCommand() *cobra.Command {
	var o measure.Options
	var dry bool
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove entries of cells that the configuration no longer has",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return c.prune(cmd.Context(), &o, dry) },
	}
	addConfig(&o, cmd.Flags())
	addHost(&o, cmd.Flags())
	addModels(&o, cmd.Flags())
	cmd.Flags().BoolVar(&dry, "dry-run", false, "print the entries to remove and write nothing")
	return cmd
}

func (c *Command) prune(ctx context.Context, o *measure.Options, dry bool) error {
	p, err := c.env().Plan(ctx, o)
	if err != nil {
		return err
	}
	defer p.Close()
	file, err := baseline.Load(p.BaselinePath())
	if err != nil {
		return verdict.MissingBaseline(err)
	}
	kept, removed := baseline.Prune(file, known(p))
	for _, id := range removed {
		fmt.Fprintf(c.Stdout, "remove %s\n", text.OneLine(id))
	}
	fmt.Fprintf(c.Stdout, "%s: %d of %d entries removed\n", p.BaselinePath(), len(removed), len(file.Entries))
	if dry || len(removed) == 0 {
		return nil
	}
	return baseline.Save(p.BaselinePath(), kept)
}

// known returns whether the configuration has a cell of an id. Of a combination
// that this host cannot run now all sweeps are known, though they are not
// spelled out: a driver that is broken today must not cost a baseline.
func known(p *measure.Plan) func(id string) bool {
	has, stems := map[string]bool{}, []string(nil)
	for _, s := range p.Suites {
		for _, cell := range s.Suite.Cells() {
			has[cell.ID()] = true
		}
		for _, r := range s.Suite.Skipped() {
			stems = append(stems, strings.TrimSuffix(r.Cell.ID(), matrix.Plain))
		}
	}
	return func(id string) bool {
		return has[id] || slices.ContainsFunc(stems, func(stem string) bool { return strings.HasPrefix(id, stem) })
	}
}
