package cli

import (
	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/judge"
)

const diffHelp = `Compare two documents number by number: runs, baselines or InferenceBench's
envelopes, in any mix. No configuration and no baseline policy is involved.

  accelgate diff before/run.json .accelgate/run.json
  accelgate diff --strict --tolerance 5% baselines/baseline-h100.json .accelgate/run.json
  accelgate diff --compat inferencebench --tolerance 0.02 --format json base.json cand.json

Without --strict the exit code is 0 whatever changed. With it, a regression or
something that vanished is 1. Two documents that must not be compared, because
they were measured under other conditions or hold a number that cannot be, are
3, and so is an envelope that --verify finds edited. --verify KEY takes the
public key of 'accelgate sign' and verifies the signature of any document.`

func (c *Command) diffCommand(code *int) *cobra.Command {
	var d judge.Diff
	cmd := &cobra.Command{
		Use:   "diff BASELINE CANDIDATE",
		Short: "Compare two runs, baselines or envelopes",
		Long:  diffHelp,
		Args:  diffArgs,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := refuseEmpty(cmd, "verify"); err != nil {
				return err
			}
			if args, err = c.verification(&d, args); err != nil {
				return err
			}
			*code, err = d.Run(c.Stdout, args[0], args[1])
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&d.Tolerance, "tolerance", "2%", "relative `change` that is none, as in 2% or 0.02")
	f.BoolVar(&d.Strict, "strict", false, "fail on regressions, and on vanished cells or metrics")
	f.StringVar(&d.Compat, "compat", "", "compare and print as another tool does: `inferencebench`")
	f.StringVar(&d.Format, "format", "table", "`table`, markdown or json")
	addJSON(cmd, &d.Format)
	f.StringVar(&d.Verify, "verify", "",
		"hold envelopes against the hash in their names, or documents against their signatures by a public `key`")
	f.Lookup("verify").NoOptDefVal = judge.ByName
	f.BoolVar(&d.AllowContext, "allow-context", false,
		"compare under other conditions too, such as another model, engine, quantisation, hardware or load")
	f.StringArrayVar(&d.Context, "context", nil,
		"level of a difference in a condition, `NAME=LEVEL` with ignore, warn or refuse; may be repeated")
	return cmd
}

// diffArgs demands two documents, or a key and two: pflag leaves a key behind --verify and a
// space among them, because the flag needs none.
func diffArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 3 && cmd.Flags().Lookup("verify").Value.String() == judge.ByName {
		return nil
	}
	return cobra.ExactArgs(2)(cmd, args)
}

// verification settles how the documents are verified, and returns these.
func (c *Command) verification(d *judge.Diff, args []string) ([]string, error) {
	if len(args) == 3 {
		d.Verify, args = args[0], args[1:]
	}
	switch d.Verify {
	case "", judge.ByName:
		return args, nil
	case "true": // as a flag without a key is written out
		d.Verify = judge.ByName
		return args, nil
	case "false":
		d.Verify = ""
		return args, nil
	}
	var err error
	d.Key, err = c.publicKey("--verify", d.Verify)
	return args, err
}
