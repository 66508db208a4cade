package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/detect/jsonl"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/text"
)

const judgeHelp = `Judge cells that another tool measured, by the statistics that accelgate judges its
own by, and by nothing else. Each line of the files, or of standard input, is a cell:

  {"id": "a", "better": "lower", "history": [[10.1], [10.0], [9.9]], "candidate": [10.6]}
  {"id": "b", "better": "higher", "baseline": [50, 51, 50], "candidate": [45, 46, 45], "paired": true}

history holds earlier runs, the oldest first, each with the values of its fresh
processes; baseline is what the old code did last, candidate the new code; null
stands for a missing value. Values that are paired were measured alternately. Lines of
one "group" are the cells of one run, and are judged as such.

  accelgate judge cells.jsonl > verdicts.jsonl
  convert results.csv | accelgate judge --min-effect 1% --exit-code

Each line of the output is the verdict on one cell, in the same order: unchanged,
improved, regressed or inconclusive, with the change (new/old - 1 in the sign of the
values) and whether it is better, its interval of 95 %, p, and q for its group. Exit codes: 0 all lines were judged, 1 with --exit-code:
a cell is regressed, 2 a line is wrong, 3 there is no line, or with --exit-code one that
has nothing to judge.`

// judgeFlags are the flags of judge.
type judgeFlags struct {
	minEffect, alpha, falseAlarms config.Percent
	fail                          bool
}

func (c *Command) judgeCommand(code *int) *cobra.Command {
	var o judgeFlags
	cmd := &cobra.Command{
		Use:   "judge [LINES.jsonl...]",
		Short: "Judge cells that another tool measured",
		Long:  judgeHelp,
		RunE: func(_ *cobra.Command, args []string) (err error) {
			*code, err = c.judgeLines(args, &o)
			return err
		},
	}
	o.add(cmd.Flags())
	return cmd
}

func (o *judgeFlags) add(f *pflag.FlagSet) {
	f.Var((*share)(&o.minEffect), "min-effect", "smallest change, in `percent`, that is worth an alarm (default: 2%, of pairs 0.5%)")
	f.Var((*share)(&o.alpha), "alpha",
		"rate of false alarms, in `percent`, of cells that are judged alone (default: 1% of pairs, the calibrated one of history)")
	f.Var((*share)(&o.falseAlarms), "false-alarms", "chance, in `percent`, that a group of unchanged cells has a regression (default: 2%)")
	f.BoolVar(&o.fail, "exit-code", false, "exit with 1 if any cell is regressed, with 3 if any has nothing to judge")
}

// share is a flag that takes a percentage above 0.
type share config.Percent

func (s *share) Set(text string) error {
	if err := (*config.Percent)(s).UnmarshalText([]byte(text)); err != nil {
		return err
	}
	if *s == 0 {
		return errors.New("use a percentage above 0%")
	}
	return nil
}

func (s *share) String() string { return "" }
func (s *share) Type() string   { return "percent" }

func (c *Command) judgeLines(paths []string, o *judgeFlags) (int, error) {
	set := jsonl.Set{
		Options: jsonl.Options{
			MinEffect:   float64(o.minEffect) / 100,
			Alpha:       float64(o.alpha) / 100,
			FalseAlarms: float64(o.falseAlarms) / 100,
		},
	}
	if len(paths) == 0 {
		paths = []string{"-"}
	}
	for _, path := range paths {
		if err := c.readTrials(&set, path); err != nil {
			return exit.Usage, err
		}
	}
	if set.Len() == 0 {
		return exit.NoMeasure, errors.New("there is no line to judge: write a line of JSON for each cell; see 'accelgate judge --help'")
	}
	verdicts := set.Judge()
	if err := jsonl.Write(c.Stdout, verdicts); err != nil {
		return exit.NoMeasure, err
	}
	if o.fail {
		return exitOfLines(verdicts)
	}
	return exit.Passed, nil
}

func (c *Command) readTrials(set *jsonl.Set, path string) error {
	in, name := c.Stdin, "standard input"
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return exit.Usagef("read lines to judge: %w: check the path", err)
		}
		defer f.Close()
		in, name = f, path
	}
	if err := set.Read(in, text.OneLine(name)); err != nil {
		return exit.AsUsage(err)
	}
	return nil
}

// exitOfLines is the exit code with --exit-code. A line without a number to judge is no
// success, as a cell that was not measured is none.
func exitOfLines(verdicts []jsonl.Verdict) (code int, err error) {
	for i := range verdicts {
		switch v := &verdicts[i]; {
		case v.Class == jsonl.Regressed:
			return exit.GateFailed, nil
		case v.Change == nil && err == nil:
			err = fmt.Errorf("line %q has nothing to judge: %s; add its numbers, or leave --exit-code out", text.OneLine(v.ID),
				text.OneLine(v.Reason))
		}
	}
	if err != nil {
		return exit.NoMeasure, err
	}
	return exit.Passed, nil
}
