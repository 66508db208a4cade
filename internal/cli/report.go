package cli

import (
	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/report"
)

const reportHelp = `Judge finished runs again and print the report: with another policy, in another
format, or for several hosts at once. Of a folder, every run.json below it is judged;
hosts that a cluster measures on must then have left theirs. docs/formats.md says who
reads each format.

  accelgate report .accelgate/run.json
  accelgate report --format markdown h100/run.json mi300x/run.json
  accelgate report runs
  accelgate report --format junit .accelgate/run.json > junit.xml
  accelgate report --format html --out report.html .accelgate/run.json`

func (c *Command) reportCommand(code *int) *cobra.Command {
	var o struct {
		measure.HostOptions
		measure.PolicyOptions
	}
	var format, out string
	cmd := &cobra.Command{
		Use:   "report RUN.json|FOLDER...",
		Short: "Judge finished runs again and print the report",
		Long:  reportHelp,
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := judge.Renderer(c.env(), format); err != nil {
				return err
			}
			options := measure.Options{HostOptions: o.HostOptions, PolicyOptions: o.PolicyOptions}
			j, err := judge.JudgeFiles(cmd.Context(), c.env(), &options, args, report.Input{Config: o.Config})
			if err != nil {
				return err
			}
			*code = j.Exit()
			if out != "" {
				return c.writeReport(out, format, j)
			}
			return judge.Render(c.env(), c.Stdout, format, j)
		},
	}
	f := cmd.Flags()
	addConfig(&o.HostOptions, f)
	f.StringVar(&o.Baseline, "baseline", "", "baseline `file`, for a single run (default: the configuration's of the run's host)")
	addHistory(&o.HostOptions, f)
	addPolicy(&o.PolicyOptions, f)
	f.StringVar(&format, "format", "terminal", "report `format`: "+judge.Formats())
	f.StringVar(&out, "out", "", "`file` for the report (default: print it); a page of many cells gets a folder beside it")
	addJSON(cmd, &format)
	return cmd
}
