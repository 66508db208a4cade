package cli

import (
	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/command/autobaseline"
)

const autoBaselineHelp = `Run each case twice, or more often, and compare: does it measure the same again,
do two inputs take the same time? Without FILE these are the cases of the
configuration's suite, each against itself. FILE is YAML or JSON:

  cases:
    - name: qwen3-8B_auto
      description: decode, context 1536 against 1500
      tolerance: 5%
      baseline_input: {model_id: Qwen/Qwen3-8B, num_queries: 32, context_length: 1536, decode: true}
      compare_input: {model_id: Qwen/Qwen3-8B, num_queries: 32, context_length: 1500, decode: true}

  accelgate auto-baseline auto.yaml
  accelgate auto-baseline --aa --repeats 10              the noise floor of each case
  accelgate auto-baseline --promote --reason "new case"  record the times in the case files`

func (c *Command) autoBaselineCommand(code *int) *cobra.Command {
	var a autobaseline.Options
	cmd := &cobra.Command{
		Use:   "auto-baseline [FILE...]",
		Short: "Run model cases repeatedly and compare them with themselves or with another input",
		Long:  autoBaselineHelp,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			*code, err = autobaseline.Run(cmd.Context(), c.env(), &a, args)
			return err
		},
	}
	f := cmd.Flags()
	addConfig(&a.HostOptions, f)
	addLabel(&a.HostOptions, f)
	addSuites(&a.SelectOptions, f)
	addMeasure(&a.MeasureOptions, f)
	addDemonstration(&a.DemonstrationOptions, f)
	f.BoolVar(&a.Aa, "aa", false, "measure one input repeatedly (5 times unless --repeats is given) and report the noise floor")
	f.StringVar(&a.Tolerance, "tolerance", "", "difference in `percent` that passes (default: the case's, or 5)")
	f.BoolVar(&a.Promote, "promote", false, "record the measured times and operators in the case files; needs --reason")
	f.StringVar(&a.Reason, "reason", "", "why times are recorded; kept beside the case files")
	f.BoolVar(&a.Force, "force", false, "also record implausible changes; failed cases are never recorded")
	f.BoolVar(&a.Json, "json", false, "print the comparisons as JSON")
	return cmd
}
