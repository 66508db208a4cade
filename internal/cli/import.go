package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/tensorsharp"
)

const importHelp = `Turn the results of another tool into a run.json, to judge it or to record a
baseline from it.

  accelgate import results --host-label linux-cuda
  accelgate report .accelgate/run.json
  accelgate baseline update --from .accelgate/run.json --reason "first baseline"

The folder is one that TensorSharp.TestMatrix writes, one JSON file a cell. What
is not such a file is left out with a warning.`

func (c *Command) importCommand() *cobra.Command {
	var label, out, revision string
	cmd := &cobra.Command{
		Use:   "import FOLDER",
		Short: "Turn another tool's results into a run.json",
		Long:  importHelp,
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if label == "" {
				return usagef("import: the folder does not say which host measured: add --host-label")
			}
			if err := bench.CheckLabel(label); err != nil {
				return usagef("--host-label: %w", err)
			}
			run, warnings, err := tensorsharp.ReadResults(args[0])
			c.warnAll(warnings)
			if err != nil {
				return err
			}
			run.Tool, run.Revision, run.Host.Label = tool(), revision, label
			return c.saveImport(run, filepath.Join(out, "run.json"))
		},
	}
	f := cmd.Flags()
	f.StringVar(&label, "host-label", "", "`label` of the host that measured (required)")
	f.StringVar(&revision, "revision", "", "`commit` that was measured")
	f.StringVar(&out, "out", defaultOut, "`folder` for run.json")
	return cmd
}

func (c *Command) saveImport(run *bench.Run, path string) error {
	if err := run.Validate(); err != nil {
		return fmt.Errorf("the results do not make a run: %w: remove the file that is wrong", err)
	}
	if err := saveRun(path, run); err != nil {
		return err
	}
	_, err := fmt.Fprintf(c.Stdout, "%s: %d cells imported\nNext: accelgate report %s\n", path, len(run.Results), path)
	return err
}
