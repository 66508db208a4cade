package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/command/list"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/text"
)

const listHelp = `List what there is: the suites of the configuration, and the hosts with their
baselines and history. With --cells, list each cell with the hosts whose baselines
have it, and the entries of baselines that the configuration no longer has. With
--limits, list what limits each metric of the cells on one host, in the profile of
the last run.

'accelgate plan' prints what one run would measure, after filters, limits and
shards; list prints what the repository has, for all hosts.

  accelgate list
  accelgate list --cells --json
  accelgate list --limits --host-label linux-cuda`

func (c *Command) listCommand() *cobra.Command {
	var o measure.HostOptions
	var cells, limits, asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List suites, cells, hosts and baselines",
		Long:  listHelp,
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return c.list(cmd.Context(), &o, cells, limits, asJSON) },
	}
	f := cmd.Flags()
	addConfig(&o, f)
	f.StringVar(&o.HostLabel, "host-label", "", "`label` of the host whose cells are listed (default: this host)")
	addModels(&o, f)
	f.BoolVar(&cells, "cells", false, "list the cells")
	f.BoolVar(&limits, "limits", false, "list the limits of the metrics of each cell")
	f.BoolVar(&asJSON, "json", false, "print everything as JSON")
	return cmd
}

func (c *Command) list(ctx context.Context, o *measure.HostOptions, cells, limits, asJSON bool) error {
	s, err := c.env().OpenPlanFor(ctx, &measure.Options{HostOptions: *o})
	if err != nil {
		return err
	}
	defer s.Close()
	p := s.Plan
	c.warnAll(p.Warnings)
	if limits {
		return c.listLimits(ctx, p, cells, asJSON)
	}
	baselines, err := judge.Baselines(ctx, c.env(), p.Options, p.File)
	if err != nil {
		return err
	}
	inv, err := list.Take(p, baselines)
	switch {
	case err != nil:
		return err
	case asJSON:
		return c.encode(inv)
	case cells:
		return inv.PrintCells(c.Stdout, c.columns())
	}
	return inv.Print(c.Stdout, c.columns())
}

func (c *Command) listLimits(ctx context.Context, p *measure.Plan, cells, asJSON bool) error {
	if cells {
		return exit.Usagef("--limits lists each cell by itself: leave --cells out")
	}
	ref, err := judge.ReferenceFor(ctx, c.env(), p.Options, p.File, p.Host)
	if err != nil {
		return err
	}
	if run, err := p.Options.ReadRun(p.Options.OutPath(p.File, "run.json")); err == nil && run.Host.Label == p.Host.Label {
		if p.Policy.Profile = run.Context[bench.Profile]; p.Policy.Profile != "" {
			fmt.Fprintf(c.Stderr, "accelgate: limits of profile %s, which the last run measured\n", text.OneLine(p.Policy.Profile))
		}
	}
	limits := list.LimitsOf(p, ref.Run())
	if asJSON {
		return c.encode(limits)
	}
	return list.PrintLimits(c.Stdout, c.columns(), limits)
}
