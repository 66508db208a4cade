package cli

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/command/plan"
)

const planHelp = `Print what would be measured, and measure nothing. It needs no accelerator and
none of the programs under test.

  accelgate plan                                       cells by suite, skipped and left out
  accelgate plan --list                                the case ids, one a line
  accelgate plan --list --host-label macos-mlx         as on another host
  accelgate plan --shards 4 --durations runs/          parts that take equally long
  accelgate plan --shards auto --max-minutes 20 --durations runs/
                                                       as few parts as take 20 minutes each
  accelgate plan --for github                          for strategy.matrix of a workflow
  accelgate plan --for slurm                           a job script with an array of shards
  accelgate plan --for kubernetes                      indexed Jobs, one for each host
  accelgate plan --for slurm -- --ab main              the same, with flags of run

A label such as linux-cuda, linux-rocm, linux-npu or macos-mlx stands for a
host of that kind; with any other label, cells are planned for this one. A
target has one job for each of the configuration's runners and shards. Shards are
packed by the median time of each cell in earlier runs, those of this label where
there are any; a cell and its A/A twin
stay together, and so do those that share what is loaded once. Give 'accelgate
run --shard k/n' the same --durations and --host-label.`

func (c *Command) planCommand() *cobra.Command {
	var o plan.Options
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Print the plan: cells, shards, the jobs of a workflow or a cluster",
		Long:  planHelp,
		Args: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() == 0 {
				return nil // flags of run
			}
			return cobra.NoArgs(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Args = args
			if err := o.Check(); err != nil {
				return err
			}
			if o.For != "" {
				return plan.PrintFor(cmd.Context(), c.env(), &o)
			}
			return plan.Print(cmd.Context(), c.env(), &o)
		},
	}
	f := cmd.Flags()
	addConfig(&o.HostOptions, f)
	f.StringVar(&o.HostLabel, "host-label", "", "`label` of the host to plan for (default: this host)")
	f.StringSliceVar(&o.Suites, "suite", nil, "`names` of the suites, separated by commas (default: all)")
	addModels(&o.HostOptions, f)
	addNames(&o.SelectOptions, f)
	addParts(&o.SelectOptions, f)
	f.Var(&o.Shards, "shards", "pack the cells into `n` parts, or auto: as few as take --max-minutes each")
	f.Var((*minutes)(&o.Longest), "max-minutes", "`m` minutes that a shard should take at most")
	f.BoolVar(&o.List, "list", false, "print the case ids, one a line")
	f.BoolVar(&o.JSON, "json", false, "print everything as JSON")
	f.StringVar(&o.For, "for", "", "print the jobs for a `target`: "+strings.Join(plan.Targets(), ", "))
	return cmd
}

// minutes is a flag that takes a number of minutes.
type minutes time.Duration

func (m *minutes) Set(s string) error {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || !(n >= 1e-3) || n > 1e6 {
		return errors.New("use a number of minutes, from 0.001 on")
	}
	*m = minutes(n * float64(time.Minute))
	return nil
}

func (m *minutes) String() string { return "" }
func (m *minutes) Type() string   { return "m" }
