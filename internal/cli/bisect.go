package cli

import (
	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/command/bisect"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/text"
)

const bisectHelp = `Find the commit that made one cell slower, by git bisect. Nothing happens in your
checkout: two temporary worktrees hold the good commit and the one under test, and
the cell is measured in both alternately, by the configuration as it is here.

  accelgate bisect --good v1.2.0 --bad HEAD --only 'tiny__cpu__short_text__baseline' -- make
  accelgate bisect --good HEAD~20 --only '*tg128*' --metric decode_tps

What stands after -- builds a checkout, in the folder that the configuration has in
it; commands of the configuration must name what is built by relative paths. First
the bad commit must be slower than the good one, beyond noise. Then a commit is bad
if it has more than half of that slow-down, good if that can be excluded, and
skipped if it cannot be built, does not pass, or stays open after --attempts times
ten pairs.

Exit codes: 0 the commit was found, 2 wrong usage, 3 the bad commit is not slower,
or skipped commits are in the way.`

func (c *Command) bisectCommand() *cobra.Command {
	var b bisect.Options
	cmd := &cobra.Command{
		Use:   "bisect --good REV --only CELL [-- BUILD...]",
		Short: "Find the commit that made a cell slower",
		Long:  bisectHelp,
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if n := cmd.ArgsLenAtDash(); len(args) > 0 && n != 0 {
				return exit.Usagef("bisect takes no argument %q: write the build command after --", text.OneLine(args[0]))
			}
			b.Build = args
			return bisect.Run(cmd.Context(), c.env(), &b)
		},
	}
	f := cmd.Flags()
	addConfig(&b.HostOptions, f)
	f.StringVar(&b.Good, "good", "", "`commit` before the slow-down (required)")
	f.StringVar(&b.Bad, "bad", "HEAD", "`commit` that has it")
	f.StringVar(&b.Only, "only", "", "the case `id`, or a glob that matches one (required)")
	f.StringVar(&b.Metric, "metric", "", "the `metric` to compare (default: the cell's only gated one)")
	f.IntVar(&b.Attempts, "attempts", 3, "up to `n` times ten pairs for a commit, before it is skipped")
	f.StringVar(&b.HostLabel, "host-label", "", "`label` of this host (default: as for run)")
	f.StringSliceVar(&b.Devices, "devices", nil, "`ids` of accelerators, of which the first is used (default: as for run)")
	f.StringVar(&b.Out, "out", "",
		"`folder` for the log of the bisection (default: "+measure.DefaultOut+"/bisect beside the configuration)")
	addModels(&b.HostOptions, f)
	return cmd
}

func (c *Command) bisectStepCommand(code *int) *cobra.Command {
	return &cobra.Command{
		Use:    "bisect-step FILE",
		Short:  "Judge one commit; git bisect runs this for accelgate bisect",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			answer, err := bisect.Step(cmd.Context(), c.env(), args[0])
			if err != nil {
				c.complain(err)
				answer = bisect.StepAbort
			}
			*code = answer
			return nil
		},
	}
}
