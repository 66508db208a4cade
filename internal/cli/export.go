package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/atomicfile"
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/formats/inferencebench"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/text"
)

const exportHelp = `Write cells of a run as InferenceBench envelopes, one file each, which are named
by the first digits of their content's hash as the original names them. What the
envelope demands and the run does not have is a placeholder, and listed in it.

  accelgate export .accelgate/run.json --out envelopes
  accelgate diff envelopes/0123456789ab.json envelopes/ba9876543210.json`

func (c *Command) exportCommand() *cobra.Command {
	var out string
	var only []string
	cmd := &cobra.Command{
		Use:   "export RUN.json",
		Short: "Write a run as InferenceBench envelopes",
		Long:  exportHelp,
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if out == "" {
				return exit.Usagef("--out is empty: name a folder for the envelopes")
			}
			run, err := measure.ReadRun(args[0])
			if err != nil {
				return err
			}
			return c.export(run, only, out)
		},
	}
	f := cmd.Flags()
	f.StringVar(&out, "out", "envelopes", "`folder` for the envelopes")
	f.StringArrayVar(&only, "only", nil, "write only this case `id` or glob; may be repeated")
	return cmd
}

// export writes the cells that passed; others have no numbers to exchange.
func (c *Command) export(run *bench.Run, only []string, out string) error {
	written := 0
	for i := range run.Results {
		r := &run.Results[i]
		id := r.Cell.ID()
		wanted := len(only) == 0 || matrix.GlobAny(only, id)
		if !wanted || r.Outcome != bench.Passed || len(r.Samples) == 0 {
			continue
		}
		path, err := exportCell(run, r, out, "")
		if err != nil {
			return fmt.Errorf("export %s: %w", text.OneLine(id), err)
		}
		written++
		fmt.Fprintf(c.Stdout, "%s: %s\n", path, text.OneLine(id))
	}
	if written == 0 {
		return exit.Usagef("no cell that passed and has numbers matches: list the cells with 'accelgate report'")
	}
	_, err := fmt.Fprintf(c.Stdout, "%s written\nNext: accelgate diff BEFORE.json AFTER.json\n", text.Plural(written, "envelope"))
	return err
}

func exportCell(run *bench.Run, r *bench.Result, out, prefix string) (path string, err error) {
	one := *run
	one.Results, one.Unselected, one.LeftOut, one.Shards = []bench.Result{*r}, nil, nil, nil
	data, err := inferencebench.FromRun(&one, inferencebench.Fields{})
	if err != nil {
		return "", err
	}
	hash, err := inferencebench.ContentHash(data)
	if err != nil {
		return "", err
	}
	path = filepath.Join(out, prefix+hash[:12]+".json")
	return path, atomicfile.Write(path, data)
}
